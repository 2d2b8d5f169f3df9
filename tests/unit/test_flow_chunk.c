#include "trace/flow_chunk.h"

#include <string.h>

#include <zstd.h>

#include "base/error.h"
#include "tests/support/check_main.h"

/* Owned by the test: what @flows come back as. */
static CcsFlow *there_and_back(const CcsFlow *flows, uint32_t n_flows)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) data = ccs_flow_chunk_pack(flows, n_flows);
    CcsFlow *back = g_new0(CcsFlow, n_flows + 1);

    bool is_good = ccs_flow_chunk_unpack(g_bytes_get_data(data, NULL), g_bytes_get_size(data),
                                         n_flows, back, &error);
    ck_assert_msg(is_good, "%s", is_good ? "" : error->message);
    return back;
}

static void assert_same(const CcsFlow *a, const CcsFlow *b)
{
    ck_assert_uint_eq(a->lane, b->lane);
    ck_assert_uint_eq(a->message, b->message);
    ck_assert_uint_eq(a->channel, b->channel);
    ck_assert_uint_eq(a->phase, b->phase);
    ck_assert_uint_eq(a->src, b->src);
    ck_assert_uint_eq(a->dst, b->dst);
    ck_assert_uint_eq(a->bytes, b->bytes);
    ck_assert_int_eq(a->is_reduced, b->is_reduced);
    for (uint32_t which = 0; which < CCS_N_FLOW_TIMES; which++)
        ck_assert_int_eq(ccs_flow_time(a, which), ccs_flow_time(b, which));
}

static void assert_comes_back(const CcsFlow *flows, uint32_t n_flows)
{
    g_autofree CcsFlow *back = there_and_back(flows, n_flows);

    for (uint32_t i = 0; i < n_flows; i++)
        assert_same(&flows[i], &back[i]);
}

#define LARGEST ((CcsTime)1 << 62)

static const CcsFlow odd_flows[] = {
    {0},
    {.lane = UINT32_MAX, .dst = UINT32_MAX, .bytes = UINT64_MAX, .arrived = LARGEST},
    {.message = UINT32_MAX, .src = UINT32_MAX, .started = LARGEST, .is_reduced = true},
    {.channel = UINT32_MAX, .phase = UINT32_MAX, .entered = LARGEST, .injected = 1},
    {.src = UINT32_MAX, .dst = UINT32_MAX, .started = -1, .arrived = INT64_MIN},
    {.started = INT64_MAX, .entered = INT64_MIN, .injected = INT64_MAX, .arrived = -LARGEST},
    {.lane = 1, .bytes = 1, .started = 5, .entered = 4, .injected = 3, .arrived = 2},
};

START_TEST(odd_values_come_back)
{
    assert_comes_back(odd_flows, G_N_ELEMENTS(odd_flows));
}
END_TEST

START_TEST(one_flow_comes_back)
{
    assert_comes_back(&odd_flows[_i], 1);
}
END_TEST

START_TEST(no_flow_is_a_chunk_too)
{
    assert_comes_back(NULL, 0);
}
END_TEST

static uint64_t any_number(GRand *random)
{
    uint64_t number = (uint64_t)g_rand_int(random) << 32 | g_rand_int(random);
    return number >> g_rand_int_range(random, 0, 64);
}

static CcsFlow any_flow(GRand *random)
{
    return (CcsFlow){.lane = (uint32_t)any_number(random),
                     .message = (uint32_t)any_number(random),
                     .channel = (uint32_t)any_number(random),
                     .phase = (uint32_t)any_number(random),
                     .src = (uint32_t)any_number(random),
                     .dst = (uint32_t)any_number(random),
                     .bytes = any_number(random),
                     .is_reduced = g_rand_boolean(random),
                     .started = (CcsTime)any_number(random),
                     .entered = (CcsTime)any_number(random),
                     .injected = (CcsTime)any_number(random),
                     .arrived = (CcsTime)any_number(random)};
}

START_TEST(a_full_chunk_of_any_values_comes_back)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(11);
    g_autofree CcsFlow *flows = g_new(CcsFlow, CCS_FLOW_CHUNK_FLOWS);

    for (uint32_t i = 0; i < CCS_FLOW_CHUNK_FLOWS; i++)
        flows[i] = any_flow(random);
    assert_comes_back(flows, CCS_FLOW_CHUNK_FLOWS);
}
END_TEST

static CcsFlow flow_of_ring(uint32_t i)
{
    CcsTime started = (CcsTime)(i / 256) * 13981014;

    return (CcsFlow){.lane = i % 256,
                     .message = i / 256,
                     .src = i % 256,
                     .dst = (i + 1) % 256,
                     .bytes = 4194304,
                     .started = started,
                     .entered = started,
                     .injected = started + 13981014,
                     .arrived = started + 14981014};
}

static void assert_is_of_ring(const CcsFlow *flow, uint32_t i)
{
    CcsFlow expected = flow_of_ring(i);
    assert_same(flow, &expected);
}

static GBytes *pack_ring(uint32_t n_flows)
{
    g_autofree CcsFlow *flows = g_new(CcsFlow, n_flows);

    for (uint32_t i = 0; i < n_flows; i++)
        flows[i] = flow_of_ring(i);
    return ccs_flow_chunk_pack(flows, n_flows);
}

START_TEST(a_ring_takes_less_than_a_tenth_of_a_byte_for_each_flow)
{
    g_autoptr(GBytes) data = pack_ring(CCS_FLOW_CHUNK_FLOWS);

    ck_assert_uint_lt(g_bytes_get_size(data), CCS_FLOW_CHUNK_FLOWS / 10);
}
END_TEST

START_TEST(the_same_flows_make_the_same_bytes)
{
    g_autoptr(GBytes) one = pack_ring(1000);
    g_autoptr(GBytes) other = pack_ring(1000);

    ck_assert(g_bytes_equal(one, other));
}
END_TEST

START_TEST(the_span_goes_from_the_least_to_the_greatest_of_each_time)
{
    static const CcsFlow flows[] = {
        {.started = 5, .entered = 6, .injected = 9, .arrived = 10},
        {.started = -3, .entered = 7, .injected = 8, .arrived = LARGEST},
    };
    CcsFlowSpan span = ccs_flow_chunk_span(flows, G_N_ELEMENTS(flows));
    CcsFlowSpan none = ccs_flow_chunk_span(NULL, 0);

    ck_assert_int_eq(span.least[CCS_FLOW_STARTED], -3);
    ck_assert_int_eq(span.most[CCS_FLOW_STARTED], 5);
    ck_assert_int_eq(span.least[CCS_FLOW_INJECTED], 8);
    ck_assert_int_eq(span.most[CCS_FLOW_ARRIVED], LARGEST);
    ck_assert_int_eq(none.most[CCS_FLOW_ARRIVED], 0);
}
END_TEST

static void assert_refused(const void *data, size_t size, uint32_t n_flows, const char *part)
{
    g_autoptr(GError) error = NULL;
    g_autofree CcsFlow *flows = g_new(CcsFlow, MIN(n_flows, CCS_FLOW_CHUNK_FLOWS) + 1);

    ck_assert(!ccs_flow_chunk_unpack(data, size, n_flows, flows, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_IO));
    ck_assert_msg(strstr(error->message, part) != NULL, "%s", error->message);
}

START_TEST(a_chunk_cut_short_is_refused)
{
    g_autoptr(GBytes) data = pack_ring(300);

    for (size_t size = 0; size < g_bytes_get_size(data); size++)
        assert_refused(g_bytes_get_data(data, NULL), size, 300, "damaged flows: ");
}
END_TEST

/* Bits of the frame's head that say nothing may change; what is read is then the same. */
START_TEST(a_changed_bit_is_refused_or_changes_nothing)
{
    g_autoptr(GBytes) data = pack_ring(300);
    gsize size = 0;
    const uint8_t *bytes = g_bytes_get_data(data, &size);
    g_autofree CcsFlow *flows = g_new(CcsFlow, 300);
    uint32_t n_read = 0;

    for (size_t bit = 0; bit < size * 8; bit++) {
        g_autofree uint8_t *copy = g_memdup2(bytes, size);
        copy[bit / 8] = (uint8_t)(copy[bit / 8] ^ 1U << bit % 8);
        if (!ccs_flow_chunk_unpack(copy, size, 300, flows, NULL))
            continue;
        n_read++;
        for (uint32_t i = 0; i < 300; i++)
            assert_is_of_ring(&flows[i], i);
    }
    ck_assert_uint_lt(n_read, size);
}
END_TEST

START_TEST(another_number_of_flows_is_refused)
{
    g_autoptr(GBytes) data = pack_ring(300);
    const void *bytes = g_bytes_get_data(data, NULL);
    size_t size = g_bytes_get_size(data);

    assert_refused(bytes, size, 299, "300 flows where 299 were expected");
    assert_refused(bytes, size, 301, "300 flows where 301 were expected");
    assert_refused(bytes, size, 0, "300 flows where 0 were expected");
    assert_refused(bytes, size, CCS_FLOW_CHUNK_FLOWS + 1, "more than a chunk holds");
}
END_TEST

START_TEST(a_format_that_is_not_known_is_refused)
{
    assert_refused(NULL, 0, 0, "nothing is there");
    assert_refused("\x02", 1, 0, "the format 2 is not known");
    assert_refused("\x01", 1, 0, "no length that could be right");
    assert_refused("\x01plain text", 11, 0, "no length that could be right");
}
END_TEST

/* What a chunk of one flow holds before it is compressed: a head and the columns. */
static const struct {
    uint8_t contents[48];
    uint8_t size;
    const char *part;
} strange[] = {
    {{0}, 0, "no number of flows"},
    {{0x80}, 1, "no number of flows"},
    {{1, 1, 1}, 3, "a column without a length"},
    {{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, 11, "without a length"},
    {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 13, "too long"},
    {{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
     22,
     "too long"},
    {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, [25] = 7}, 26, "behind the last column"},
    {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0}, 24, "too short"},
    {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}, 26, "too long"},
    {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, [20] = 4}, 25, "too large"}, /* is_reduced 2 */
    {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, [13] = 1}, 25, "too large"}, /* lane -1 */
    {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, [18] = 1}, 25, "too large"}, /* dst -1 */
};

START_TEST(contents_that_no_flows_make_are_refused)
{
    uint8_t data[256] = {CCS_FLOW_CHUNK_FORMAT};
    size_t size =
        ZSTD_compress(data + 1, sizeof data - 1, strange[_i].contents, strange[_i].size, 1);

    assert_refused(data, 1 + size, 1, strange[_i].part);
}
END_TEST

START_TEST(a_frame_that_claims_too_much_is_refused)
{
    size_t n_zeros = (size_t)64 << 20;
    size_t room = ZSTD_compressBound(n_zeros);
    g_autofree uint8_t *zeros = g_malloc0(n_zeros);
    g_autofree uint8_t *data = g_malloc(1 + room);

    data[0] = CCS_FLOW_CHUNK_FORMAT;
    size_t size = ZSTD_compress(data + 1, room, zeros, n_zeros, 1);
    assert_refused(data, 1 + size, 1, "no length that could be right");
}
END_TEST

static TCase *round_trips(void)
{
    TCase *tcase = tcase_create("round trips");

    tcase_add_test(tcase, odd_values_come_back);
    tcase_add_loop_test(tcase, one_flow_comes_back, 0, G_N_ELEMENTS(odd_flows));
    tcase_add_test(tcase, no_flow_is_a_chunk_too);
    tcase_add_test(tcase, a_full_chunk_of_any_values_comes_back);
    tcase_add_test(tcase, a_ring_takes_less_than_a_tenth_of_a_byte_for_each_flow);
    tcase_add_test(tcase, the_same_flows_make_the_same_bytes);
    tcase_add_test(tcase, the_span_goes_from_the_least_to_the_greatest_of_each_time);
    return tcase;
}

static TCase *damage(void)
{
    TCase *tcase = tcase_create("damage");

    tcase_add_test(tcase, a_chunk_cut_short_is_refused);
    tcase_add_test(tcase, a_changed_bit_is_refused_or_changes_nothing);
    tcase_add_test(tcase, another_number_of_flows_is_refused);
    tcase_add_test(tcase, a_format_that_is_not_known_is_refused);
    tcase_add_loop_test(tcase, contents_that_no_flows_make_are_refused, 0, G_N_ELEMENTS(strange));
    tcase_add_test(tcase, a_frame_that_claims_too_much_is_refused);
    return tcase;
}

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("flow_chunk");

    suite_add_tcase(suite, round_trips());
    suite_add_tcase(suite, damage());
    return suite;
}
