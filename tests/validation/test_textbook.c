/* The figures that the shipped textbook machines must show: ideal transport, no latency. Each
 * is what a pencil gives; beside it stands the pencil's sum. */
#include <math.h>

#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

#define GB 1000000000U

typedef struct {
    const char *topology;
    const char *algorithm;
    uint32_t n_channels;
    double us;
    uint32_t n_messages;   /* that follow one another */
    const char *from, *to; /* ends of a link that is busy from beginning to end, or NULL */
} Allreduce;

static const Allreduce allreduces[] = {
    /* 2 (n - 1) / n S / B */
    {"nvlink8", "ring", 1, 2.0 * 7 / 8 * 1e9 / 300e3, 14, "n0.gpu0", "n0.nvswitch"},
    /* 2 (n - 1) S / B: seven messages share the root's port, in each half */
    {"nvlink8", "naive", 1, 14 * 1e9 / 300e3, 2, NULL, NULL},
    /* one NIC a node carries 2 (n - 1) / n S each way */
    {"cluster32", "ring", 1, 2.0 * 31 / 32 * 1e9 / 50e3, 62, "n0.nic0", "leaf0"},
    /* eight channels cross each GPU's port, the hand-over to the rail's NIC included */
    {"cluster32", "ring", 8, 2.0 * 31 / 32 * 1e9 / 300e3, 62, "n0.gpu0", "n0.nvswitch"},
    /* 2 (7/8) S / 300 in the node, and 2 (3/4) (S/8) / 50 between nodes */
    {"cluster32", "hierarchical", 1, 1e9 * (2 * 7.0 / 8 / 300e3 + 2 * 3.0 / 4 / 8 / 50e3), 20, NULL,
     NULL},
    {"cluster32-1nic", "ring", 1, 2.0 * 31 / 32 * 1e9 / 50e3, 62, "n0.nic0", "switch"},
    {"cluster32-1nic", "hierarchical", 1, 1e9 * (2 * 7.0 / 8 / 300e3 + 2 * 3.0 / 4 / 50e3), 20,
     NULL, NULL},
};

START_TEST(an_allreduce_of_one_gigabyte_takes_what_the_textbook_says)
{
    const Allreduce *of = &allreduces[_i];
    g_auto(CcsAnswer) answer;
    ccs_ask(&(CcsAsked){.machine = of->topology,
                        .algorithm = of->algorithm,
                        .n_channels = of->n_channels,
                        .size = GB},
            &answer);
    CcsOutcome outcome = answer.outcome;

    ccs_assert_time(outcome.time, of->us, of->n_messages);
    if (of->from == NULL)
        return;
    const CcsLinkUse *use = &outcome.links[ccs_find_link(answer.topology, of->from, of->to)];
    CcsRate rate =
        ccs_topology_link(answer.topology, ccs_find_link(answer.topology, of->from, of->to))
            ->bandwidth;
    ck_assert_int_ge(ccs_time_to_move(use->bytes, rate), outcome.time - of->n_messages);
}
END_TEST

START_TEST(the_published_figures_are_these)
{
    static const struct {
        CcsAsked asked;
        const char *us;
    } rows[] = {
        {{.machine = "nvlink8", .algorithm = "ring"}, "5833.333"},
        {{.machine = "nvlink8", .algorithm = "naive"}, "46666.667"},
        {{.machine = "cluster32", .algorithm = "ring"}, "38750.000"},
        {{.machine = "cluster32", .algorithm = "ring", .n_channels = 8}, "6458.333"},
        {{.machine = "cluster32", .algorithm = "hierarchical"}, "9583.333"},
        {{.machine = "cluster32-1nic", .algorithm = "ring"}, "38750.000"},
        {{.machine = "cluster32-1nic", .algorithm = "hierarchical"}, "35833.333"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        CcsAsked asked = rows[i].asked;
        asked.size = GB;
        g_autofree char *us = g_strdup_printf("%.3f", ccs_ask_us(&asked));
        ck_assert_str_eq(us, rows[i].us);
    }
}
END_TEST

START_TEST(in_the_naive_allreduce_the_links_of_the_root_limit)
{
    g_auto(CcsAnswer) answer;
    ccs_ask(&(CcsAsked){.machine = "nvlink8", .algorithm = "naive", .size = GB}, &answer);
    CcsOutcome outcome = answer.outcome;

    CcsLinkId root = ccs_find_link(answer.topology, "n0.gpu0", "n0.nvswitch");
    for (CcsLinkId link = 0; link < ccs_topology_n_links(answer.topology); link++)
        ck_assert_uint_le(outcome.links[link].bytes, outcome.links[root].bytes);
    ck_assert_uint_eq(outcome.links[root].bytes, 7ULL * GB);
}
END_TEST

#define N          8U
#define LATENCY_US 1.0
#define COST_US    5.0
#define B_PER_US   300e3

/* (n-1)a + (K+n-2)(o + S/(KB)) where K divides S. Else the longest way through the grid of
 * chunks and hops takes every chunk once and the first, the longest, n - 2 times more. */
static double chain_us(uint32_t n_chunks)
{
    double longest = (double)((GB + n_chunks - 1) / n_chunks);
    return (N - 1) * LATENCY_US + (n_chunks + N - 2) * COST_US + GB / B_PER_US +
           (N - 2) * longest / B_PER_US;
}

static CcsTime chain_time(uint32_t n_chunks)
{
    return ccs_ask_time(&(CcsAsked){.machine = "nvlink8",
                                    .set = {"node.nvlink.latency=1 us"},
                                    .collective = "broadcast",
                                    .algorithm = "chain",
                                    .n_chunks = n_chunks,
                                    .transport.message_cost = 5 * CCS_PS_PER_US,
                                    .size = GB});
}

static const uint32_t depths[] = {1,  2,  3,  4,   7,   8,   16,  31,   32,   50,   62,
                                  63, 64, 65, 100, 128, 256, 512, 1000, 1024, 2048, 4096};

START_TEST(a_chain_broadcast_takes_its_closed_form)
{
    uint32_t n_chunks = depths[_i];
    double us = chain_us(n_chunks);

    ccs_assert_time(chain_time(n_chunks), us, n_chunks + N - 2);
    if (GB % n_chunks == 0)
        ck_assert_double_eq_tol(
            us, (N - 1) * LATENCY_US + (n_chunks + N - 2) * (COST_US + GB / B_PER_US / n_chunks),
            1e-6);
}
END_TEST

START_TEST(a_chain_broadcast_is_fastest_near_the_known_depth)
{
    double known = sqrt((N - 2) * (GB / B_PER_US) / COST_US);
    uint32_t best = 1;
    CcsTime least = chain_time(1);

    for (uint32_t n_chunks = 2; n_chunks <= 256; n_chunks++) {
        CcsTime time = chain_time(n_chunks);
        if (time < least) {
            least = time;
            best = n_chunks;
        }
    }
    ck_assert_double_eq_tol(best, known, 1);
    ck_assert_uint_eq(best, 63);
    ck_assert_int_gt(chain_time(4096), 2 * least);
    ck_assert_int_gt(chain_time(1), 2 * least);
}
END_TEST

START_TEST(a_quarter_of_the_nic_rate_makes_the_ring_four_times_as_long)
{
    CcsAsked spec = {.machine = "cluster32-1nic", .algorithm = "ring", .size = GB};

    CcsTime before = ccs_ask_time(&spec);
    spec.set[0] = "node.nics.bandwidth=12.5 GB/s";

    ck_assert_int_eq(ccs_ask_time(&spec), 4 * before);
}
END_TEST

START_TEST(a_quarter_of_the_nic_rate_hardly_matters_to_a_small_message)
{
    CcsAsked spec = {.machine = "cluster32-1nic",
                     .set = {"node.nics.latency=0.7 us", "node.nvlink.latency=0.7 us"},
                     .algorithm = "ring",
                     .size = 1024};

    CcsTime before = ccs_ask_time(&spec);
    spec.set[2] = "node.nics.bandwidth=12.5 GB/s";
    CcsTime after = ccs_ask_time(&spec);

    ck_assert_int_gt(after, before);
    ck_assert_double_lt((double)after / (double)before, 1.005);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("textbook");
    TCase *tcase = tcase_create("textbook");

    tcase_add_loop_test(tcase, an_allreduce_of_one_gigabyte_takes_what_the_textbook_says, 0,
                        G_N_ELEMENTS(allreduces));
    tcase_add_test(tcase, the_published_figures_are_these);
    tcase_add_test(tcase, in_the_naive_allreduce_the_links_of_the_root_limit);
    tcase_add_loop_test(tcase, a_chain_broadcast_takes_its_closed_form, 0, G_N_ELEMENTS(depths));
    tcase_add_test(tcase, a_chain_broadcast_is_fastest_near_the_known_depth);
    tcase_add_test(tcase, a_quarter_of_the_nic_rate_makes_the_ring_four_times_as_long);
    tcase_add_test(tcase, a_quarter_of_the_nic_rate_hardly_matters_to_a_small_message);
    suite_add_tcase(suite, tcase);
    return suite;
}
