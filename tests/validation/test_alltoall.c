/* All-to-all on clusters: figures that follow from what each NIC must carry, and questions that
 * users of real machines have asked. */
#include <string.h>

#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

#define GB      ((CcsBytes)1000000000)
#define CLUSTER "cluster32"
#define SWITCH  "fabric={kind: switch}"

static double algbw_of(const CcsAsked *asked)
{
    return ccs_bandwidth_GBps((double)asked->size, ccs_ask_time(asked));
}

/* nccl-tests issue 130: with a NIC for each GPU, an all-to-all on N nodes gets N/(N-1) times the
 * rate of a NIC. Exactly so for algbw; busbw is (n-1)/n of it. */
START_TEST(on_n_nodes_direct_gets_n_over_n_minus_1_times_the_nic)
{
    static const uint32_t counts[] = {2, 4, 16};
    const uint32_t n_nodes = counts[_i];
    double algbw = algbw_of(&(CcsAsked){.machine = CLUSTER,
                                        .set = {SWITCH},
                                        .n_nodes = n_nodes,
                                        .collective = "alltoall",
                                        .algorithm = "direct",
                                        .size = 8 * 16 * 1000000});

    ck_assert_double_eq_tol(algbw, 50.0 * n_nodes / (n_nodes - 1), 1e-6);
}
END_TEST

/* nccl issue 687: 8 GPUs that share one NIC of 24 GB/s get 3 GB/s each out of it. Half of the
 * buffer stays in the node, so algbw is 6; a ring enters and leaves each node once and gets 24. */
static const CcsAsked shared_nic = {.machine = "nodes: 2\n"
                                               "node: {gpus: 8, nvlink: {bandwidth: 300 GB/s},"
                                               " nics: {count: 1, bandwidth: 24 GB/s}}\n"
                                               "fabric: {kind: switch}\n",
                                    .size = 16 * 24000000};

START_TEST(gpus_that_share_a_nic_get_their_part_of_it)
{
    CcsAsked asked = shared_nic;

    asked.collective = "alltoall";
    asked.algorithm = "direct";
    ck_assert_double_eq_tol(algbw_of(&asked), 6, 1e-6);
    asked.collective = "allreduce";
    asked.algorithm = "ring";
    ck_assert_double_eq_tol(algbw_of(&asked) * 2 * 15 / 16, 24, 1e-6);
}
END_TEST

/* Issues nccl 918, 1189 and 1697 ask what crosses between rails. The target of 7 of 8 messages
 * to another node is on another rail. */
static void ask_rails(CcsAnswer *answer, const char *algorithm, const char *set)
{
    ccs_ask(&(CcsAsked){.machine = CLUSTER,
                        .set = {set},
                        .n_nodes = 4,
                        .collective = "alltoall",
                        .algorithm = algorithm,
                        .size = 32 * 1000000},
            answer);
}

START_TEST(seven_eighths_of_what_leaves_a_node_change_the_rail)
{
    g_auto(CcsAnswer) direct;
    ask_rails(&direct, "direct", NULL);

    CcsBytes across = ccs_answer_class_bytes(&direct, "nic") / 2;
    ck_assert_uint_eq(across, (CcsBytes)32 * 24 * 1000000);
    ck_assert_uint_eq(ccs_answer_class_bytes(&direct, "leaf-spine") / 2, across / 8 * 7);
}
END_TEST

/* A NIC carries 10 MB for each rank of another node. */
START_TEST(spines_never_limit_the_textbook_cluster)
{
    uint32_t n_ranks = 8 * (uint32_t)_i;
    CcsAsked asked = {.machine = CLUSTER,
                      .n_nodes = (uint32_t)_i,
                      .collective = "alltoall",
                      .algorithm = "direct",
                      .size = (CcsBytes)n_ranks * 10000000};

    ck_assert_double_eq_tol(ccs_ask_us(&asked), (n_ranks - 8) * 10e6 / 50e3, 0.001);
}
END_TEST

START_TEST(nothing_changes_the_rail_that_did_so_inside_its_node)
{
    g_auto(CcsAnswer) direct;
    g_auto(CcsAnswer) hierarchical;
    ask_rails(&direct, "direct", "fabric.oversubscription=4");
    ask_rails(&hierarchical, "hierarchical", "fabric.oversubscription=4");

    ck_assert_uint_eq(ccs_answer_class_bytes(&hierarchical, "leaf-spine"), 0);
    ck_assert_uint_eq(ccs_answer_class_bytes(&hierarchical, "nic") / 2,
                      (CcsBytes)32 * 24 * 1000000);
    ck_assert_int_lt(hierarchical.outcome.time, direct.outcome.time);
}
END_TEST

/* nccl-tests issue 209: 4 ranks as 2 + 2, or 3 as 2 + 1, with one NIC a node. Three ranks got half
 * of the busbw; what the NICs carry gives no reason for it. */
#define UNEVEN(gpus)                                                                               \
    "nodes: [{gpus: 2}, {gpus: " #gpus "}]\n"                                                      \
    "node: {gpus: 2, nvlink: {bandwidth: 300 GB/s}, nics: {count: 1, bandwidth: 25 GB/s}}\n"       \
    "fabric: {kind: switch}\n"

static double busbw_of(const char *machine, const char *collective, const char *algorithm,
                       uint32_t n_ranks)
{
    CcsCollective parsed = CCS_ALLREDUCE;
    ck_assert(ccs_collective_parse(collective, &parsed, NULL));

    return ccs_collective_busbw_factor(parsed, n_ranks) *
           algbw_of(&(CcsAsked){.machine = machine,
                                .collective = collective,
                                .algorithm = algorithm,
                                .size = 12 * 10000000});
}

START_TEST(three_ranks_on_two_nodes_are_not_slower_than_four)
{
    ck_assert_double_eq_tol(busbw_of(UNEVEN(2), "allreduce", "ring", 4), 25, 1e-6);
    ck_assert_double_eq_tol(busbw_of(UNEVEN(1), "allreduce", "ring", 3), 25, 1e-6);
    ck_assert_double_eq_tol(busbw_of(UNEVEN(2), "alltoall", "direct", 4), 18.75, 1e-6);
    ck_assert_double_eq_tol(busbw_of(UNEVEN(1), "alltoall", "direct", 3), 25, 1e-6);
}
END_TEST

START_TEST(every_algorithm_runs_on_three_ranks_of_two_nodes)
{
    for (size_t i = 0; ccs_algorithms[i] != NULL; i++) {
        g_auto(CcsAnswer) answer;
        if (ccs_ask_schedule(
                &(CcsAsked){.machine = UNEVEN(1),
                            .collective = ccs_collective_info(ccs_algorithms[i]->collective)->name,
                            .algorithm = ccs_algorithms[i]->name},
                &answer))
            ck_assert_uint_gt(ccs_schedule_n_lanes(answer.schedule), 0);
    }
}
END_TEST

/* sglang pull request 37741: a balanced load of experts that was none. */
START_TEST(balanced_blocks_take_the_time_of_equal_ones)
{
    const uint32_t n = (uint32_t)_i;
    g_autofree char *machine =
        g_strdup_printf("node: {gpus: %u, nvlink: {bandwidth: 450 GB/s, latency: 1 us}}\n", n);
    g_autoptr(CcsWeights) balanced = ccs_weights_new_skewed(n, CCS_SKEW_ONE, NULL);
    CcsAsked asked = {.machine = machine,
                      .collective = "alltoall",
                      .algorithm = "direct",
                      .size = (CcsBytes)n * 7168};
    CcsTime of_equal = ccs_ask_time(&asked);

    asked.collective = "alltoallv";
    asked.weights = balanced;
    ck_assert_int_eq(ccs_ask_time(&asked), of_equal);
    ck_assert_double_eq(ccs_weights_load_ratio(balanced, NULL), 1);
}
END_TEST

START_TEST(a_skew_of_x_takes_x_times_as_long)
{
    static const double skews[] = {1, 1.5, 3, 8};
    g_autoptr(CcsWeights) weights =
        ccs_weights_new_skewed(8, (uint64_t)(skews[_i] * (double)CCS_SKEW_ONE), NULL);
    double us = ccs_ask_us(&(CcsAsked){.machine = "nvlink8",
                                       .collective = "alltoallv",
                                       .algorithm = "direct",
                                       .weights = weights,
                                       .size = GB});

    ck_assert_double_eq_tol(us, skews[_i] * 7 / 8 * 1e9 / 300e3, 1e-3);
}
END_TEST

/* configs/alltoall-incast.yaml tells why. */
static const struct {
    const char *algorithm;
    double algbw;
} orders[] = {
    {"direct", 100},
    {"pairwise", 87.273},
    {"hierarchical", 77.419},
    {"pairwise_shift", 37.573},
    {"pairwise_eager", 21.459},
};

START_TEST(the_order_of_the_blocks_decides_how_busy_the_nics_are)
{
    double algbw = algbw_of(&(CcsAsked){.machine = CLUSTER,
                                        .set = {SWITCH},
                                        .n_nodes = 2,
                                        .collective = "alltoall",
                                        .algorithm = orders[_i].algorithm,
                                        .size = GB});

    ck_assert_double_eq_tol(algbw, orders[_i].algbw, 5e-4);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("alltoall");
    TCase *tcase = tcase_create("alltoall");

    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, on_n_nodes_direct_gets_n_over_n_minus_1_times_the_nic, 0, 3);
    tcase_add_test(tcase, gpus_that_share_a_nic_get_their_part_of_it);
    tcase_add_loop_test(tcase, spines_never_limit_the_textbook_cluster, 2, 10);
    tcase_add_test(tcase, seven_eighths_of_what_leaves_a_node_change_the_rail);
    tcase_add_test(tcase, nothing_changes_the_rail_that_did_so_inside_its_node);
    tcase_add_test(tcase, three_ranks_on_two_nodes_are_not_slower_than_four);
    tcase_add_test(tcase, every_algorithm_runs_on_three_ranks_of_two_nodes);
    tcase_add_loop_test(tcase, balanced_blocks_take_the_time_of_equal_ones, 2, 65);
    tcase_add_loop_test(tcase, a_skew_of_x_takes_x_times_as_long, 0, 4);
    tcase_add_loop_test(tcase, the_order_of_the_blocks_decides_how_busy_the_nics_are, 0,
                        G_N_ELEMENTS(orders));
    suite_add_tcase(suite, tcase);
    return suite;
}
