#include "collectives/schedule.h"

#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

static CcsTopology *topology;
static CcsCommunicator *communicator;
static CcsSchedule *schedule;

static void build(const char *text, uint32_t n_channels, uint32_t n_chunks)
{
    topology = ccs_ask_topology(&(CcsAsked){.machine = text});
    communicator = ccs_communicator_new(topology, 0, 0, NULL);
    schedule = ccs_schedule_new(CCS_ALLREDUCE, communicator, 0, n_channels, 1);
    ccs_schedule_set_n_chunks(schedule, n_chunks);
}

static void tear_down(void)
{
    g_clear_pointer(&schedule, ccs_schedule_free);
    g_clear_pointer(&communicator, ccs_communicator_free);
    g_clear_pointer(&topology, ccs_topology_free);
}

/* Message k of a box by rule begins with base + scale ((first + step k) mod modulus). */
static const struct {
    CcsBox box;
    uint32_t message;
    uint32_t begin;
} rules[] = {
    {{.base = 7}, 5, 7},
    {{.scale = 1, .first = 3, .step = -1, .modulus = 8}, 0, 3},
    {{.scale = 1, .first = 3, .step = -1, .modulus = 8}, 3, 0},
    {{.scale = 1, .first = 3, .step = -1, .modulus = 8}, 4, 7},
    {{.scale = 1, .first = 3, .step = -1, .modulus = 8}, 13, 6},
    {{.scale = 4, .base = 2, .first = 1, .step = 3, .modulus = 5}, 2, 10},
    {{.scale = 1, .step = 1, .modulus = 1}, 9, 0},
    {{.scale = 1, .first = 2, .step = -2147483647, .modulus = 3}, 4000000000U, 1},
    {{.kind = CCS_BOX_OF_PEER, .base = 1, .scale = 10}, 4, 61},
    {{.kind = CCS_BOX_OF_SOURCE, .base = 1, .scale = 10}, 4, 21},
};

START_TEST(a_box_begins_where_its_rule_says)
{
    CcsLane lane = {.source = 2, .peer = 6};
    ck_assert_uint_eq(ccs_box_begin(&rules[_i].box, &lane, rules[_i].message, lane.peer),
                      rules[_i].begin);
}
END_TEST

START_TEST(a_box_without_counts_is_one_chunk)
{
    CcsBox box = {0};

    ck_assert_uint_eq(ccs_box_n_chunks(&box), 1);
    ck_assert_uint_eq(ccs_box_chunk(&box, 5, 0), 5);
}
END_TEST

START_TEST(the_chunks_of_a_box_follow_by_its_strides)
{
    static const uint32_t expected[] = {5, 7, 9, 25, 27, 29};
    CcsBox box = {.n1 = 3, .stride1 = 2, .n2 = 2, .stride2 = 20};

    ck_assert_uint_eq(ccs_box_n_chunks(&box), 6);
    for (uint32_t i = 0; i < 6; i++)
        ck_assert_uint_eq(ccs_box_chunk(&box, 5, i), expected[i]);
}
END_TEST

static const struct {
    CcsBytes bytes;
    uint32_t count;
} layouts[] = {
    {0, 1},           {0, 5},
    {1, 1},           {1, 8},
    {7, 3},           {7, 7},
    {8, 3},           {1000, 7},
    {1000000, 72},    {(1ULL << 31) - 1, 72},
    {3, 10},          {999, 8},
    {1ULL << 40, 17}, {CCS_BYTES_MAX, 4096},
};

START_TEST(parts_differ_by_a_byte_at_most_and_make_up_the_whole)
{
    CcsBytes bytes = layouts[_i].bytes;
    uint32_t count = layouts[_i].count;
    CcsBytes before = 0;

    ck_assert_uint_eq(ccs_layout_offset(bytes, 0, count), 0);
    for (uint32_t i = 1; i <= count; i++) {
        CcsBytes at = ccs_layout_offset(bytes, i, count);
        CcsBytes expected = bytes / count + (i - 1 < bytes % count ? 1 : 0);
        ck_assert_uint_eq(at - before, expected);
        before = at;
    }
    ck_assert_uint_eq(before, bytes);
}
END_TEST

/* K = 10 messages before; { p_before, p_after, distance, from, message, needed }. */
static const struct {
    CcsDependency of;
    uint32_t message;
    uint32_t needed;
} arithmetic[] = {
    {{.p_before = 1, .p_after = 1, .distance = 0}, 0, 1},
    {{.p_before = 1, .p_after = 1, .distance = 0}, 9, 10},
    {{.p_before = 1, .p_after = 1, .distance = 0}, 15, 10},
    {{.p_before = 1, .p_after = 1, .distance = 1}, 0, 0},
    {{.p_before = 1, .p_after = 1, .distance = 1}, 3, 3},
    {{.p_before = 1, .p_after = 1, .distance = 8}, 9, 2},
    {{.p_before = 10, .p_after = 4, .distance = 0}, 0, 10}, /* a gate */
    {{.p_before = 10, .p_after = 4, .distance = 0}, 3, 10},
    {{.p_before = 3, .p_after = 2, .distance = 1}, 1, 0}, /* loops of three and two */
    {{.p_before = 3, .p_after = 2, .distance = 1}, 2, 3},
    {{.p_before = 3, .p_after = 2, .distance = 1}, 5, 6},
    {{.p_before = 1, .p_after = 1, .distance = 0, .from = 4}, 3, 0},
    {{.p_before = 1, .p_after = 1, .distance = 0, .from = 4}, 4, 5},
    {{.p_before = 4000000000U, .p_after = 1, .distance = 0}, 4000000000U, 10},
};

START_TEST(a_dependency_needs_what_its_ratio_and_distance_say)
{
    ck_assert_uint_eq(ccs_dependency_needs(&arithmetic[_i].of, arithmetic[_i].message, 10),
                      arithmetic[_i].needed);
}
END_TEST

START_TEST(a_gate_waits_for_all_from_the_first_message_on)
{
    build("flat8", 1, 1);
    CcsLaneId before =
        ccs_schedule_add_lane(schedule, &(CcsLane){.source = 0, .peer = 1, .n_messages = 5});
    CcsLaneId after =
        ccs_schedule_add_lane(schedule, &(CcsLane){.source = 1, .peer = 2, .n_messages = 3});

    ccs_schedule_gate(schedule, after, before);

    for (uint32_t message = 0; message < 3; message++)
        ck_assert_uint_eq(ccs_dependency_needs(ccs_schedule_dependency(schedule, 0), message, 5),
                          5);
}
END_TEST

START_TEST(a_message_has_the_bytes_of_its_chunks)
{
    build("flat8", 3, 4);
    CcsLane lane = {
        .channel = 1, .peer = 1, .n_messages = 4, .from = {.scale = 1, .step = 1, .modulus = 4}};

    /* 100 bytes: channels have 34, 33 and 33; the chunks of channel 1 have 9, 8, 8 and 8. */
    ck_assert_uint_eq(ccs_schedule_message_bytes(schedule, &lane, 0, 100), 9);
    ck_assert_uint_eq(ccs_schedule_message_bytes(schedule, &lane, 3, 100), 8);
    lane.from = (CcsBox){.base = 0, .n1 = 2, .stride1 = 1};
    ck_assert_uint_eq(ccs_schedule_message_bytes(schedule, &lane, 0, 100), 17);
    lane.from = (CcsBox){.base = 0, .n1 = 2, .stride1 = 2};
    ck_assert_uint_eq(ccs_schedule_message_bytes(schedule, &lane, 0, 100), 17);
    lane.from = (CcsBox){.base = 1, .n2 = 2, .stride2 = 2};
    ck_assert_uint_eq(ccs_schedule_message_bytes(schedule, &lane, 0, 100), 16);
    ck_assert_uint_eq(ccs_schedule_message_bytes(schedule, &lane, 0, 0), 0);
    ck_assert_uint_eq(ccs_schedule_message_bytes(schedule, &lane, 0, 1), 0);
}
END_TEST

START_TEST(peers_follow_their_rule)
{
    CcsLane fixed = {.source = 3, .peer = 5};
    CcsLane shift = {.source = 6, .peer_kind = CCS_PEER_SHIFT, .peer = 1};
    CcsLane exclusive = {.source = 6, .peer_kind = CCS_PEER_XOR, .peer = 1};

    ck_assert_uint_eq(ccs_lane_peer(&fixed, 4, 8), 5);
    ck_assert_uint_eq(ccs_lane_peer(&shift, 0, 8), 7);
    ck_assert_uint_eq(ccs_lane_peer(&shift, 1, 8), 0);
    ck_assert_uint_eq(ccs_lane_peer(&exclusive, 0, 8), 7);
    ck_assert_uint_eq(ccs_lane_peer(&exclusive, 2, 8), 5);
}
END_TEST

START_TEST(the_sender_of_a_message_is_the_rank_whose_peer_one_is)
{
    static const CcsPeerKind kinds[] = {CCS_PEER_SHIFT, CCS_PEER_XOR};

    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        CcsLane lane = {.peer_kind = kinds[i], .peer = 1};
        for (uint32_t message = 0; message < 7; message++) {
            for (CcsRank receiver = 0; receiver < 8; receiver++) {
                lane.source = ccs_lane_sender(&lane, message, receiver, 8);
                ck_assert_uint_lt(lane.source, 8);
                ck_assert_uint_eq(ccs_lane_peer(&lane, message, 8), receiver);
            }
        }
    }
}
END_TEST

START_TEST(chunks_are_dealt_out_evenly_unless_owners_are_set)
{
    static const CcsRank owners[] = {7, 6, 5, 4, 3, 2, 1, 0, 7, 6, 5, 4, 3, 2, 1, 0};
    build("flat8", 2, 16);

    for (uint32_t chunk = 0; chunk < 16; chunk++)
        ck_assert_uint_eq(ccs_schedule_owner(schedule, 1, chunk), chunk / 2);
    ccs_schedule_set_owners(schedule, 1, owners);
    for (uint32_t chunk = 0; chunk < 16; chunk++) {
        ck_assert_uint_eq(ccs_schedule_owner(schedule, 0, chunk), chunk / 2);
        ck_assert_uint_eq(ccs_schedule_owner(schedule, 1, chunk), owners[chunk]);
    }
}
END_TEST

static const char *name_of(CcsVertexId id)
{
    return id == CCS_NO_VERTEX ? "-" : ccs_topology_vertex(topology, id)->name;
}

static void assert_path(CcsPath path, const char *expected)
{
    g_autofree char *text =
        g_strdup_printf("%s %s %s %s", name_of(path.leave_gpu), name_of(path.leave_nic),
                        name_of(path.enter_nic), name_of(path.enter_gpu));
    ck_assert_str_eq(text, expected);
}

START_TEST(a_message_leaves_and_enters_by_the_nics_of_its_ends)
{
    build("cluster32", 8, 1);

    assert_path(ccs_schedule_path(schedule, 0, 5, 3), "- - - -");
    assert_path(ccs_schedule_path(schedule, 2, 13, 3), "- n0.nic2 n1.nic5 -");
}
END_TEST

START_TEST(on_a_rail_it_is_handed_over_to_who_owns_the_nic)
{
    build("cluster32", 8, 1);

    assert_path(ccs_schedule_rail_path(schedule, 0, 5, 3), "- - - -");
    assert_path(ccs_schedule_rail_path(schedule, 2, 11, 3), "n0.gpu3 n0.nic3 n1.nic3 -");
    assert_path(ccs_schedule_rail_path(schedule, 3, 13, 3), "- n0.nic3 n1.nic3 n1.gpu3");
    assert_path(ccs_schedule_rail_path(schedule, 3, 11, 11), "- n0.nic3 n1.nic3 -");
}
END_TEST

START_TEST(without_nics_the_path_is_left_to_the_routes)
{
    build("nodes: 2\nnode: {gpus: 2}\n", 1, 1);

    assert_path(ccs_schedule_path(schedule, 0, 2, 0), "- - - -");
    assert_path(ccs_schedule_rail_path(schedule, 0, 2, 0), "- - - -");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("schedule");
    TCase *tcase = tcase_create("schedule");

    tcase_add_checked_fixture(tcase, NULL, tear_down);
    tcase_add_loop_test(tcase, a_box_begins_where_its_rule_says, 0, G_N_ELEMENTS(rules));
    tcase_add_test(tcase, a_box_without_counts_is_one_chunk);
    tcase_add_test(tcase, the_chunks_of_a_box_follow_by_its_strides);
    tcase_add_loop_test(tcase, parts_differ_by_a_byte_at_most_and_make_up_the_whole, 0,
                        G_N_ELEMENTS(layouts));
    tcase_add_loop_test(tcase, a_dependency_needs_what_its_ratio_and_distance_say, 0,
                        G_N_ELEMENTS(arithmetic));
    tcase_add_test(tcase, a_gate_waits_for_all_from_the_first_message_on);
    tcase_add_test(tcase, a_message_has_the_bytes_of_its_chunks);
    tcase_add_test(tcase, peers_follow_their_rule);
    tcase_add_test(tcase, the_sender_of_a_message_is_the_rank_whose_peer_one_is);
    tcase_add_test(tcase, chunks_are_dealt_out_evenly_unless_owners_are_set);
    tcase_add_test(tcase, a_message_leaves_and_enters_by_the_nics_of_its_ends);
    tcase_add_test(tcase, on_a_rail_it_is_handed_over_to_who_owns_the_nic);
    tcase_add_test(tcase, without_nics_the_path_is_left_to_the_routes);
    suite_add_tcase(suite, tcase);
    return suite;
}
