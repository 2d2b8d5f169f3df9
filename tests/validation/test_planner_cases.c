/* What people who plan clusters ask, with answers that follow from the stated facts. Each
 * test names where the question comes from. */
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

#define GIB (1ULL << 30)
#define GB  1000000000ULL

/* ml-engineering network benchmarks: 4 nodes of 8, NVLink of 900 GB/s and eight NICs of 50 GB/s,
 * an allreduce of 4 GiB. */
static const char four_nodes[] = "nodes: 4\n"
                                 "node:\n"
                                 "  gpus: 8\n"
                                 "  nvlink: {bandwidth: 900 GB/s}\n"
                                 "  nics: {count: 8, bandwidth: 50 GB/s}\n"
                                 "fabric: {kind: leaf-spine, spines: 4}\n";

START_TEST(a_flat_ring_over_eight_rails_takes_20_804_ms)
{
    CcsTime time = ccs_ask_time(
        &(CcsAsked){.machine = four_nodes, .algorithm = "ring", .n_channels = 8, .size = 4 * GIB});

    /* 2 (31 / 32) S over eight NICs */
    ccs_assert_time(time, 2 * 31.0 / 32 * 4 * GIB / 400e3, 62);
    ck_assert_double_eq_tol(ccs_time_us(time) / 1000, 20.804, 0.0005);
}
END_TEST

START_TEST(hierarchical_in_series_takes_24_457_ms)
{
    CcsTime time = ccs_ask_time(&(CcsAsked){
        .machine = four_nodes, .algorithm = "hierarchical", .n_channels = 1, .size = 4 * GIB});

    /* 2 (7 / 8) S at 900 GB/s, then 2 (3 / 4) S / 8 at 50 GB/s */
    ccs_assert_time(time, 2 * 7.0 / 8 * 4 * GIB / 900e3 + 2 * 3.0 / 4 * 4 * GIB / 8 / 50e3, 20);
    ck_assert_double_eq_tol(ccs_time_us(time) / 1000, 24.4575, 0.0005);
}
END_TEST

/* The same study: busbw is above what a NIC can do, so what does the wire do? */
static double nic_rate(const CcsAnswer *answer)
{
    CcsLinkId link = ccs_find_link(answer->topology, "n0.nic0", "leaf0");
    return ccs_bandwidth_GBps((double)answer->outcome.links[link].bytes, answer->outcome.time);
}

static double busbw(const CcsOutcome *outcome, CcsBytes size, uint32_t n_ranks)
{
    return ccs_bandwidth_GBps((double)size, outcome->time) *
           ccs_collective_busbw_factor(CCS_ALLREDUCE, n_ranks);
}

START_TEST(the_rate_of_a_nic_follows_from_busbw_of_a_hierarchical_allreduce)
{
    g_auto(CcsAnswer) answer;
    ccs_ask(&(CcsAsked){.machine = four_nodes, .algorithm = "hierarchical", .size = 4 * GIB},
            &answer);
    CcsOutcome outcome = answer.outcome;

    double by_identity = busbw(&outcome, 4 * GIB, 32) * (4 - 1) / (32 - 1);
    ck_assert_double_eq_tol(nic_rate(&answer), by_identity, 1e-9 * by_identity);
}
END_TEST

START_TEST(the_rate_of_a_nic_does_not_follow_so_for_a_flat_ring)
{
    g_auto(CcsAnswer) answer;
    ccs_ask(
        &(CcsAsked){.machine = four_nodes, .algorithm = "ring", .n_channels = 8, .size = 4 * GIB},
        &answer);
    CcsOutcome outcome = answer.outcome;

    double by_identity = busbw(&outcome, 4 * GIB, 32) * (4 - 1) / (32 - 1);
    ck_assert_double_eq_tol(nic_rate(&answer), 50, 1e-6);
    ck_assert_double_lt(by_identity, 0.8 * 50);
}
END_TEST

/* NVIDIA/nccl#709: how much does a NIC at a quarter of its rate cost? */
START_TEST(a_throttled_nic_costs_large_messages_its_factor_and_small_ones_nothing)
{
    static const char topology[] = "nodes: 8\n"
                                   "node: {gpus: 1, nics: {count: 1, bandwidth: 100 Gb/s}}\n"
                                   "fabric: {kind: switch}\n";
    CcsAsked before = {.machine = topology, .set = {"node.nics.latency=2.5 us"}};
    CcsAsked after = {.machine = topology,
                      .set = {"node.nics.latency=2.5 us", "node.nics.bandwidth=25 Gb/s"}};

    before.size = after.size = 8 * GIB;
    double large = ccs_ask_us(&after) / ccs_ask_us(&before);
    before.size = after.size = 1024;
    double small = ccs_ask_us(&after) / ccs_ask_us(&before);
    ck_assert_double_eq_tol(large, 4, 0.001);
    ck_assert_double_eq_tol(small, 1, 0.01);
}
END_TEST

/* NVIDIA/nccl-tests#130: alltoall where each GPU has a NIC. Of n - 1 rounds, those to other
 * nodes take the time of a block on a NIC, the others on NVLink; if that counts for nothing,
 * algbw is B N / (N - 1). */
START_TEST(an_alltoall_is_limited_by_what_leaves_the_node)
{
    static const uint32_t n_nodes[] = {2, 4, 16};

    for (size_t i = 0; i < G_N_ELEMENTS(n_nodes); i++) {
        uint32_t n = n_nodes[i];
        CcsBytes size = 8 * n * 10 * GB / 8;
        CcsTime time = ccs_ask_time(
            &(CcsAsked){.machine = four_nodes,
                        .n_nodes = n,
                        .set = {"fabric={kind: switch}", "node.nvlink.bandwidth=50 TB/s"},
                        .collective = "alltoall",
                        .size = size});
        double block_us = (double)size / (8 * n);
        ccs_assert_time(time, block_us * ((n - 1) * 8 / 50e3 + 7 / 50e6), 8 * n - 1);
        ck_assert_double_eq_tol(ccs_bandwidth_GBps((double)size, time), 50.0 * n / (n - 1), 0.2);
    }
}
END_TEST

/* NVIDIA/nccl#569: the same eight GPUs over 8, 4 or 2 nodes, one NIC a GPU. */
START_TEST(more_nics_at_the_border_of_a_node_make_it_faster)
{
    CcsTime times[3];

    for (uint32_t i = 0; i < 3; i++) {
        uint32_t n_gpus = 1U << i;
        g_autofree char *topology = g_strdup_printf("nodes: %u\n"
                                                    "node:\n"
                                                    "  gpus: %u\n"
                                                    "  nvlink: {bandwidth: 100 GB/s}\n"
                                                    "  nics: {count: %u, bandwidth: 7.71 GB/s}\n"
                                                    "fabric: {kind: switch}\n",
                                                    8 / n_gpus, n_gpus, n_gpus);
        times[i] = ccs_ask_time(&(CcsAsked){
            .machine = topology, .algorithm = "ring", .n_channels = n_gpus, .size = 1600000000U});
    }
    ck_assert_double_eq_tol(ccs_time_us(times[0]) / 1000, 363, 1);
    ck_assert_double_eq_tol((double)times[1] / (double)times[0], 0.5, 1e-6);
    ck_assert_double_eq_tol((double)times[2] / (double)times[0], 0.25, 1e-6);
}
END_TEST

/* Units that were mixed up in the formulas of other simulators. */
static const char *const fifty[] = {
    "node.nics.bandwidth=50 GB/s",     "node.nics.bandwidth=400 Gb/s",
    "node.nics.bandwidth=400 Gbit/s",  "node.nics.bandwidth=400 Gbps",
    "node.nics.bandwidth=0.05 TB/s",   "node.nics.bandwidth=50000 MB/s",
    "node.nics.bandwidth=400000 Mb/s", "node.nics.bandwidth=46.566128730773925 GiB/s",
};

START_TEST(however_fifty_gigabytes_a_second_are_written_they_are_the_same)
{
    CcsTime time = ccs_ask_time(&(CcsAsked){.machine = "flat8", .set = {fifty[_i]}, .size = GB});

    ck_assert_int_eq(time, ccs_ask_time(&(CcsAsked){.machine = "flat8", .size = GB}));
    ccs_assert_time(time, 35000, 14);
}
END_TEST

START_TEST(four_gib_at_fifty_gigabytes_a_second_take_85_899_ms)
{
    CcsTime time = ccs_ask_time(
        &(CcsAsked){.machine = "flat8", .n_nodes = 2, .collective = "sendrecv", .size = 4 * GIB});

    ccs_assert_time(time, 4.0 * GIB / 50e3, 1);
    ck_assert_double_eq_tol(ccs_time_us(time) / 1000, 85.899, 0.0005);
}
END_TEST

/* A bandwidth is per direction, and a cable has both at once. */
START_TEST(both_directions_at_once_do_not_slow_each_other)
{
    CcsAsked one_way = {.machine = "flat8",
                        .n_nodes = 2,
                        .collective = "broadcast",
                        .algorithm = "chain",
                        .size = GB};
    CcsAsked both_ways = {.machine = "flat8", .n_nodes = 2, .collective = "sendrecv", .size = GB};

    ck_assert_int_eq(ccs_ask_time(&both_ways), ccs_ask_time(&one_way));
}
END_TEST

START_TEST(a_half_duplex_ring_would_take_twice_as_long)
{
    /* All four GPUs hang on one bus, which is one link of 50 GB/s for both directions. */
    static const char bus[] = "vertices:\n"
                              "  - {name: a, kind: gpu, node: 0}\n"
                              "  - {name: b, kind: gpu, node: 0}\n"
                              "  - {name: in, kind: host, node: 0}\n"
                              "  - {name: out, kind: host, node: 0}\n"
                              "links:\n"
                              "  - {from: a, to: in, bandwidth: 10 TB/s}\n"
                              "  - {from: b, to: in, bandwidth: 10 TB/s}\n"
                              "  - {from: in, to: out, bandwidth: 50 GB/s}\n"
                              "  - {from: out, to: a, bandwidth: 10 TB/s}\n"
                              "  - {from: out, to: b, bandwidth: 10 TB/s}\n";
    CcsAsked full = {.machine = "flat8", .n_nodes = 2, .size = GB};
    CcsAsked half = {.machine = bus, .size = GB};

    ck_assert_int_eq(ccs_ask_time(&half), 2 * ccs_ask_time(&full));
}
END_TEST

/* Sizes at which other libraries' 32-bit counts ran over. */
static const CcsBytes large[] = {(1ULL << 31) - 1, 1ULL << 31, 1ULL << 32, 1ULL << 40};

START_TEST(bytes_beyond_32_bits_are_counted)
{
    CcsBytes size = large[_i];
    g_auto(CcsAnswer) answer;
    ccs_ask(&(CcsAsked){.machine = "flat8", .size = size}, &answer);
    CcsOutcome outcome = answer.outcome;

    double block_us = (double)size / 8 / 50e3;
    ck_assert_double_eq_tol(ccs_time_us(outcome.time), 14 * block_us, 14 * 1.5 / 50e3);
    CcsBytes total = 0;
    for (CcsRank rank = 0; rank < 8; rank++)
        total += outcome.ranks[rank].bytes_sent;
    ck_assert_uint_eq(total, 14 * size);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("planner_cases");
    TCase *tcase = tcase_create("planner_cases");

    tcase_add_test(tcase, a_flat_ring_over_eight_rails_takes_20_804_ms);
    tcase_add_test(tcase, hierarchical_in_series_takes_24_457_ms);
    tcase_add_test(tcase, the_rate_of_a_nic_follows_from_busbw_of_a_hierarchical_allreduce);
    tcase_add_test(tcase, the_rate_of_a_nic_does_not_follow_so_for_a_flat_ring);
    tcase_add_test(tcase, a_throttled_nic_costs_large_messages_its_factor_and_small_ones_nothing);
    tcase_add_test(tcase, an_alltoall_is_limited_by_what_leaves_the_node);
    tcase_add_test(tcase, more_nics_at_the_border_of_a_node_make_it_faster);
    tcase_add_loop_test(tcase, however_fifty_gigabytes_a_second_are_written_they_are_the_same, 0,
                        G_N_ELEMENTS(fifty));
    tcase_add_test(tcase, four_gib_at_fifty_gigabytes_a_second_take_85_899_ms);
    tcase_add_test(tcase, both_directions_at_once_do_not_slow_each_other);
    tcase_add_test(tcase, a_half_duplex_ring_would_take_twice_as_long);
    tcase_add_loop_test(tcase, bytes_beyond_32_bits_are_counted, 0, G_N_ELEMENTS(large));
    suite_add_tcase(suite, tcase);
    return suite;
}
