/* Closed forms on n GPUs behind one switch that never limits: every GPU has a port of B each
 * way, a message takes o (message cost), then its bytes over B, then a (latency of the path).
 * Sizes divide by n and by the depth unless a test says so. */
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

#define B_PER_US 50e3 /* 50 GB/s */
#define SIZE     960000000U
#define A_US     3.0
#define O_US     2.5

#define WITH_LATENCY "node.nics.latency=1.5 us" /* twice on a path */
static const uint32_t rank_counts[] = {2, 3, 5, 8, 64};

static CcsTime time_of(const char *collective, const char *algorithm, uint32_t n, uint32_t n_chunks,
                       CcsBytes size)
{
    return ccs_ask_time(&(CcsAsked){.machine = "flat8",
                                    .n_nodes = n,
                                    .set = {WITH_LATENCY},
                                    .collective = collective,
                                    .algorithm = algorithm,
                                    .n_chunks = n_chunks,
                                    .transport.message_cost = (CcsTime)(O_US * 1e6),
                                    .size = size});
}

/* Collectives in which every rank sends @rounds times (n - 1) blocks, one after the other. */
static const struct {
    const char *collective;
    const char *algorithm;
    uint32_t rounds;
} by_blocks[] = {
    {"allreduce", "ring", 2},
    {"allgather", "ring", 1},
    {"reducescatter", "ring", 1},
    {"alltoall", "pairwise", 1},
};

START_TEST(what_goes_block_by_block_takes_a_time_for_each_block)
{
    for (size_t i = 0; i < G_N_ELEMENTS(by_blocks); i++) {
        uint32_t n = rank_counts[_i];
        uint32_t n_messages = by_blocks[i].rounds * (n - 1);
        CcsTime time = time_of(by_blocks[i].collective, by_blocks[i].algorithm, n, 1, SIZE);
        ccs_assert_time(time, n_messages * (O_US + A_US + SIZE / B_PER_US / n), n_messages);
    }
}
END_TEST

/* A block is then a byte longer than another, so each step may take a byte's time more. */
START_TEST(a_size_that_the_ranks_do_not_divide_costs_at_most_a_byte_each_step)
{
    for (size_t i = 0; i < G_N_ELEMENTS(by_blocks); i++) {
        uint32_t n = rank_counts[_i];
        uint32_t n_messages = by_blocks[i].rounds * (n - 1);
        CcsBytes size = SIZE + 7;
        double us_per_byte = 1 / B_PER_US;
        double least = n_messages * (O_US + A_US + (double)(size / n) * us_per_byte);
        CcsTime time = time_of(by_blocks[i].collective, by_blocks[i].algorithm, n, 1, size);
        ck_assert_double_ge(ccs_time_us(time), least - 1e-6);
        ck_assert_double_le(ccs_time_us(time), least + n_messages * (us_per_byte + 1e-6) + 1e-6);
    }
}
END_TEST

/* nccl-tests doc/PERFORMANCE.md: the factors are made so that busbw is what a port moves. */
START_TEST(busbw_is_the_rate_of_a_port)
{
    for (size_t i = 0; i < G_N_ELEMENTS(by_blocks); i++) {
        uint32_t n = rank_counts[_i];
        CcsCollective collective = CCS_N_COLLECTIVES;
        ccs_collective_parse(by_blocks[i].collective, &collective, NULL);
        CcsTime time = ccs_ask_time(&(CcsAsked){.machine = "flat8",
                                                .n_nodes = n,
                                                .collective = by_blocks[i].collective,
                                                .algorithm = by_blocks[i].algorithm,
                                                .size = SIZE});
        double busbw = ccs_bandwidth_GBps(SIZE, time) * ccs_collective_busbw_factor(collective, n);
        ck_assert_double_eq_tol(busbw, 50, 1e-9 * 50);
    }
}
END_TEST

START_TEST(every_rank_sends_and_receives_the_same_exact_bytes)
{
    for (size_t i = 0; i < G_N_ELEMENTS(by_blocks); i++) {
        uint32_t n = rank_counts[_i];
        g_auto(CcsAnswer) answer;
        ccs_ask(&(CcsAsked){.machine = "flat8",
                            .n_nodes = n,
                            .collective = by_blocks[i].collective,
                            .algorithm = by_blocks[i].algorithm,
                            .size = SIZE},
                &answer);
        CcsOutcome outcome = answer.outcome;
        CcsBytes expected = (CcsBytes)by_blocks[i].rounds * (n - 1) * (SIZE / n);
        for (CcsRank rank = 0; rank < n; rank++) {
            ck_assert_uint_eq(outcome.ranks[rank].bytes_sent, expected);
            ck_assert_uint_eq(outcome.ranks[rank].bytes_received, expected);
        }
    }
}
END_TEST

static const uint32_t depths[] = {1, 2, 5, 8, 60, 64, 100, 1024, 4096};

START_TEST(a_chain_takes_a_time_for_each_chunk_and_each_further_hop)
{
    uint32_t n = rank_counts[_i];

    for (size_t i = 0; i < G_N_ELEMENTS(depths); i++) {
        uint32_t k = depths[i];
        /* Where the depth does not divide the size, the longest chunk goes the further hops. */
        double longest = (double)((SIZE + k - 1) / k);
        double us =
            (n - 1) * A_US + (k + n - 2) * O_US + SIZE / B_PER_US + (n - 2) * longest / B_PER_US;
        ccs_assert_time(time_of("broadcast", "chain", n, k, SIZE), us, k + n - 2);
    }
}
END_TEST

START_TEST(a_binomial_broadcast_takes_a_time_for_each_doubling)
{
    uint32_t n = 1U << _i;

    ccs_assert_time(time_of("broadcast", "binomial", n, 1, SIZE),
                    (double)_i * (O_US + A_US + SIZE / B_PER_US), (uint64_t)_i);
}
END_TEST

START_TEST(sending_to_the_next_takes_one_message)
{
    ccs_assert_time(time_of("sendrecv", "shift", rank_counts[_i], 1, SIZE),
                    O_US + A_US + SIZE / B_PER_US, 1);
}
END_TEST

START_TEST(in_a_naive_allreduce_all_messages_share_the_port_of_the_root)
{
    uint32_t n = rank_counts[_i];

    /* Each share is rounded down to 2^-16 bytes per second: far less than a picosecond. */
    ccs_assert_time(time_of("allreduce", "naive", n, 1, SIZE),
                    2 * (O_US + A_US + (n - 1) * (SIZE / B_PER_US)), 2);
}
END_TEST

START_TEST(a_tree_of_two_or_three_ranks_is_a_pipeline_up_and_down)
{
    uint32_t n = (uint32_t)_i;
    uint32_t k = 8;
    double chunk_us = SIZE / B_PER_US / k * (n - 1); /* the children share the root's port */

    ccs_assert_time(time_of("allreduce", "tree", n, k, SIZE),
                    (k + 1) * (O_US + chunk_us) + 2 * A_US, k + 1);
}
END_TEST

START_TEST(hierarchical_takes_its_phases_in_series)
{
    static const char topology[] = "nodes: 3\n"
                                   "node:\n"
                                   "  gpus: 4\n"
                                   "  nvlink: {bandwidth: 200 GB/s, latency: 1 us}\n"
                                   "  nics: {count: 4, bandwidth: 50 GB/s, latency: 1.5 us}\n"
                                   "fabric: {kind: switch}\n";
    CcsTime time = ccs_ask_time(&(CcsAsked){.machine = topology,
                                            .algorithm = "hierarchical",
                                            .transport.message_cost = (CcsTime)(O_US * 1e6),
                                            .size = SIZE});
    double inside = 3 * (O_US + 1 + SIZE / 4.0 / 200e3);
    double between = 2 * 2 * (O_US + A_US + SIZE / 12.0 / 50e3);

    ccs_assert_time(time, 2 * inside + between, 2 * 3 + 4);
}
END_TEST

/* Independent of the order of the dimensions: 2 (ab - 1) / (ab) S / B for a x b ranks with the
 * same rate everywhere. */
START_TEST(hierarchical_does_not_depend_on_which_dimension_is_inner)
{
    static const uint32_t inner[] = {2, 4, 8};

    for (size_t i = 0; i < G_N_ELEMENTS(inner); i++) {
        g_autofree char *topology = g_strdup_printf("nodes: %u\n"
                                                    "node:\n"
                                                    "  gpus: %u\n"
                                                    "  nvlink: {bandwidth: 50 GB/s}\n"
                                                    "  nics: {count: %u, bandwidth: 50 GB/s}\n"
                                                    "fabric: {kind: switch}\n",
                                                    16 / inner[i], inner[i], inner[i]);
        CcsTime time = ccs_ask_time(
            &(CcsAsked){.machine = topology, .algorithm = "hierarchical", .size = SIZE});
        ccs_assert_time(time, 1.875 * SIZE / B_PER_US, 2 * (inner[i] + 16 / inner[i] - 2));
    }
}
END_TEST

/* Eight ranks, 1 GiB, start-up 5 us, 100 GB/s, reduction at 500 GB/s: known sums of the
 * textbook formulas, to the nanosecond. */
static const struct {
    const char *collective;
    const char *algorithm;
    uint32_t n_chunks;
    double us;
} worked[] = {
    {"broadcast", "chain", 1024, 15950.333}, {"broadcast", "binomial", 1, 32227.255},
    {"allreduce", "ring", 1, 20739.530},     {"allgather", "ring", 1, 9430.241},
    {"reducescatter", "ring", 1, 11309.289}, {"alltoall", "pairwise", 1, 9430.241},
};

START_TEST(worked_numbers_are_met_to_the_nanosecond)
{
    CcsTime time =
        ccs_ask_time(&(CcsAsked){.machine = "flat8",
                                 .set = {"node.nics.bandwidth=100 GB/s"},
                                 .collective = worked[_i].collective,
                                 .algorithm = worked[_i].algorithm,
                                 .n_chunks = worked[_i].n_chunks,
                                 .transport = {.message_cost = 5 * CCS_PS_PER_US,
                                               .reduce_rate = CCS_RATE_PER_BYTE * 500000000000U},
                                 .size = 1ULL << 30});

    ck_assert_double_eq_tol(ccs_time_us(time), worked[_i].us, 0.000501);
}
END_TEST

static const char *const sole[] = {"flat8", "nvlink8", "cluster32"};

START_TEST(one_rank_takes_the_launch_and_nothing_more)
{
    for (size_t i = 0; ccs_algorithms[i] != NULL; i++) {
        const CcsAlgorithm *algorithm = ccs_algorithms[i];
        CcsAsked spec = {.machine = sole[_i],
                         .n_ranks = 1,
                         .collective = ccs_collective_info(algorithm->collective)->name,
                         .algorithm = algorithm->name,
                         .n_channels = 3,
                         .n_chunks = 4,
                         .size = SIZE};
        ck_assert_int_eq(ccs_ask_time(&spec), 0);
        spec.transport.launch = 7 * CCS_PS_PER_US;
        ck_assert_int_eq(ccs_ask_time(&spec), 7 * CCS_PS_PER_US);
        ck_assert_double_eq(ccs_collective_busbw_factor(algorithm->collective, 1), 0);
    }
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("closed_forms");
    TCase *tcase = tcase_create("closed_forms");
    int n_counts = G_N_ELEMENTS(rank_counts);

    tcase_add_loop_test(tcase, what_goes_block_by_block_takes_a_time_for_each_block, 0, n_counts);
    tcase_add_loop_test(tcase, a_size_that_the_ranks_do_not_divide_costs_at_most_a_byte_each_step,
                        0, n_counts);
    tcase_add_loop_test(tcase, busbw_is_the_rate_of_a_port, 0, n_counts);
    tcase_add_loop_test(tcase, every_rank_sends_and_receives_the_same_exact_bytes, 0, n_counts);
    tcase_add_loop_test(tcase, a_chain_takes_a_time_for_each_chunk_and_each_further_hop, 0,
                        n_counts);
    tcase_add_loop_test(tcase, a_binomial_broadcast_takes_a_time_for_each_doubling, 1, 7);
    tcase_add_loop_test(tcase, sending_to_the_next_takes_one_message, 0, n_counts);
    tcase_add_loop_test(tcase, in_a_naive_allreduce_all_messages_share_the_port_of_the_root, 0,
                        n_counts);
    tcase_add_loop_test(tcase, a_tree_of_two_or_three_ranks_is_a_pipeline_up_and_down, 2, 4);
    tcase_add_test(tcase, hierarchical_takes_its_phases_in_series);
    tcase_add_test(tcase, hierarchical_does_not_depend_on_which_dimension_is_inner);
    tcase_add_loop_test(tcase, worked_numbers_are_met_to_the_nanosecond, 0, G_N_ELEMENTS(worked));
    tcase_add_loop_test(tcase, one_rank_takes_the_launch_and_nothing_more, 0, G_N_ELEMENTS(sole));
    suite_add_tcase(suite, tcase);
    return suite;
}
