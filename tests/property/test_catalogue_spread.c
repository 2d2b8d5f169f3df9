/* The algorithms that spread data or deal it out: broadcast, gather, scatter, the all-to-alls,
 * sendrecv and barrier. */
#include "collectives/verify.h"
#include "tests/support/catalogue.h"
#include "tests/support/check_main.h"

static const CcsCollectives group[] = {CCS_BROADCAST, CCS_GATHER,   CCS_SCATTER, CCS_ALLTOALL,
                                       CCS_ALLTOALLV, CCS_SENDRECV, CCS_BARRIER, CCS_N_COLLECTIVES};

START_TEST(data_end_where_they_belong_on_a_flat_switch)
{
    uint32_t n = ccs_rank_counts[_i];
    g_autofree char *machine = ccs_flat_switch(n);

    ccs_try_all(group, (CcsAsked){.machine = machine, .n_channels = n < 20 ? 2 : 1, .n_chunks = 3},
                n, ccs_try_to_verify);
}
END_TEST

START_TEST(data_end_where_they_belong_on_uneven_nodes)
{
    ccs_try_all(group,
                (CcsAsked){.machine = ccs_uneven[_i].machine, .n_channels = 2, .n_chunks = 3},
                ccs_uneven[_i].n_ranks, ccs_try_to_verify);
}
END_TEST

START_TEST(no_time_is_below_the_bound)
{
    for (uint32_t n_channels = 1; n_channels < 4; n_channels += 2)
        ccs_try_all(
            group,
            (CcsAsked){.machine = ccs_uneven[_i].machine, .n_channels = n_channels, .n_chunks = 5},
            ccs_uneven[_i].n_ranks, ccs_try_bound);
}
END_TEST

START_TEST(the_time_on_a_flat_switch_is_that_of_the_formula)
{
    ccs_try_formulas(group);
}
END_TEST

START_TEST(every_algorithm_is_explained)
{
    ccs_try_explanations(group);
}
END_TEST

/* Whether @rank sends in phase @phase. */
static bool sends_in(const CcsSchedule *schedule, CcsRank rank, uint32_t phase)
{
    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(schedule, id);
        if (lane->source == rank && lane->phase == phase)
            return true;
    }
    return false;
}

START_TEST(only_the_root_of_the_double_tree_sends_in_both_trees)
{
    g_autofree char *machine = ccs_flat_switch(ccs_rank_counts[_i]);
    g_auto(CcsAnswer) answer;
    ck_assert(ccs_ask_schedule(&(CcsAsked){.machine = machine,
                                           .collective = "broadcast",
                                           .algorithm = "double_tree",
                                           .n_chunks = 2},
                               &answer));

    for (CcsRank rank = 1; rank < ccs_rank_counts[_i]; rank++)
        ck_assert(!sends_in(answer.schedule, rank, 0) || !sends_in(answer.schedule, rank, 1));
}
END_TEST

START_TEST(many_chunks_down_the_double_tree_take_the_time_of_one_buffer)
{
    g_autofree char *machine = ccs_flat_switch(ccs_rank_counts[_i]);
    double us = ccs_ask_us(&(CcsAsked){.machine = machine,
                                       .collective = "broadcast",
                                       .algorithm = "double_tree",
                                       .size = 50000000000, /* a second of the port */
                                       .n_chunks = 1024});

    ck_assert_double_ge(us / 1e6, 1);
    ck_assert_double_lt(us / 1e6, 1 + 30.0 / 1024);
}
END_TEST

/* When the rank at @at in the order has the whole buffer, if every rank sends it to both of its
 * children at once: the tree of one chunk, by recursion. */
static double single_tree_ps(uint32_t at, uint32_t n, double move_ps)
{
    if (at == 0)
        return 0;
    uint32_t bit = at & (~at + 1);
    uint32_t up = ((at ^ bit) | bit << 1) < n ? (at ^ bit) | bit << 1 : at ^ bit;
    uint32_t n_children = 0;
    for (uint32_t other = 1; other < n; other++) {
        uint32_t low = other & (~other + 1);
        uint32_t above = (other ^ low) | low << 1;
        n_children += (above < n ? above : other ^ low) == up;
    }
    return single_tree_ps(up, n, move_ps) + 3e6 + 7e5 + n_children * move_ps;
}

START_TEST(one_chunk_goes_down_one_tree)
{
    const uint32_t n = ccs_rank_counts[_i];
    g_autofree char *machine = ccs_flat_switch(n);
    double longest = 0;
    CcsTime time = ccs_ask_time(&(CcsAsked){.machine = machine,
                                            .collective = "broadcast",
                                            .algorithm = "double_tree",
                                            .size = 1000000,
                                            .transport = ccs_costly});

    for (uint32_t at = 0; at < n; at++)
        longest = MAX(longest, single_tree_ps(at, n, 20e6));
    ck_assert_double_eq_tol((double)time, longest, n);
}
END_TEST

START_TEST(a_message_of_a_barrier_is_empty)
{
    g_autofree char *machine = ccs_flat_switch(6);
    g_auto(CcsAnswer) answer;
    ccs_ask(&(CcsAsked){.machine = machine, .collective = "barrier", .size = 1000000}, &answer);

    ck_assert_int_eq(answer.outcome.time, 3 * 3000000);
    ck_assert_uint_eq(answer.outcome.n_messages, 3 * 6);
    ck_assert_uint_eq(ccs_answer_class_bytes(&answer, "nic"), 0);
}
END_TEST

START_TEST(a_rail_of_the_hierarchical_alltoall_gets_one_message_from_each_other_node)
{
    CcsAsked asked = {.machine = "nodes: 3\n"
                                 "node: {gpus: 4, nvlink: {bandwidth: 300 GB/s},"
                                 " nics: {count: 4, bandwidth: 50 GB/s}}\n"
                                 "fabric: {kind: leaf-spine, spines: 2}\n",
                      .collective = "alltoall",
                      .algorithm = "hierarchical"};
    g_auto(CcsAnswer) answer;
    uint32_t n_across = 0;
    ck_assert(ccs_ask_schedule(&asked, &answer));

    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(answer.schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(answer.schedule, id);
        if (lane->source / 4 == lane->peer / 4)
            continue;
        n_across++;
        ck_assert_uint_eq(lane->source % 4, lane->peer % 4);
        ck_assert_uint_eq(ccs_box_n_chunks(&lane->from), 4);
    }
    ck_assert_uint_eq(n_across, 3 * 2 * 4);
}
END_TEST

START_TEST(data_go_any_distance)
{
    uint32_t distance = (uint32_t)_i;
    g_autofree char *machine = ccs_flat_switch(7);
    g_autoptr(GError) error = NULL;
    g_auto(CcsAnswer) answer;
    ck_assert(ccs_ask_schedule(
        &(CcsAsked){.machine = machine, .collective = "sendrecv", .distance = distance}, &answer));

    ck_assert_msg(ccs_verify(answer.schedule, &error), "%s", error == NULL ? "" : error->message);
    ck_assert_uint_eq(ccs_schedule_lane(answer.schedule, 0)->peer, distance % 7);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("catalogue_spread");
    TCase *tcase = tcase_create("catalogue_spread");
    const int n_counts = ccs_n_rank_counts;

    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, data_end_where_they_belong_on_a_flat_switch, 0, n_counts);
    tcase_add_loop_test(tcase, data_end_where_they_belong_on_uneven_nodes, 0, ccs_n_uneven);
    tcase_add_loop_test(tcase, no_time_is_below_the_bound, 0, ccs_n_uneven);
    tcase_add_test(tcase, the_time_on_a_flat_switch_is_that_of_the_formula);
    tcase_add_test(tcase, every_algorithm_is_explained);
    tcase_add_loop_test(tcase, only_the_root_of_the_double_tree_sends_in_both_trees, 1, n_counts);
    tcase_add_loop_test(tcase, many_chunks_down_the_double_tree_take_the_time_of_one_buffer, 1,
                        n_counts);
    tcase_add_loop_test(tcase, one_chunk_goes_down_one_tree, 1, n_counts);
    tcase_add_test(tcase, a_message_of_a_barrier_is_empty);
    tcase_add_loop_test(tcase, data_go_any_distance, 1, 7);
    tcase_add_loop_test(tcase, data_go_any_distance, 8, 10);
    tcase_add_test(tcase,
                   a_rail_of_the_hierarchical_alltoall_gets_one_message_from_each_other_node);
    suite_add_tcase(suite, tcase);
    return suite;
}
