/* Worked examples with their exact figures. */
#include <math.h>

#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

#define GB  1000000000U
#define GIB ((CcsBytes)1 << 30)

typedef struct {
    CcsAsked asked;
    double us;
} Figure;

/* A ring of nodes with one GPU each behind one switch. */
#define FLAT "flat8"

static const Figure figures[] = {
    {{.machine = "nvlink8", .collective = "allreduce", .size = GB}, 5833.333},
    {{.machine = "nvlink8", .collective = "allreduce", .algorithm = "naive", .size = GB},
     46666.667},
    {{.machine = "cluster32", .collective = "allreduce", .size = GB}, 38750},
    {{.machine = "cluster32", .collective = "allreduce", .size = GB, .n_channels = 8}, 6458.333},
    {{.machine = "cluster32", .collective = "allreduce", .algorithm = "hierarchical", .size = GB},
     9583.333},
    {{.machine = "cluster32",
      .collective = "allreduce",
      .algorithm = "hierarchical",
      .size = GB,
      .n_channels = 8},
     9583.333},
    {{.machine = "cluster32-1nic", .collective = "allreduce", .size = GB}, 38750},
    {{.machine = "cluster32-1nic",
      .collective = "allreduce",
      .algorithm = "hierarchical",
      .size = GB},
     35833.333},
    {{.machine = "cluster32-1nic",
      .set = {"node.nics.bandwidth=12.5 GB/s"},
      .collective = "allreduce",
      .size = GB},
     155000},
    /* 4 nodes x 8 GPUs, NVLink 900 GB/s, 8 NICs of 50 GB/s, 4 GiB: a flat ring over the rails,
     * and the hierarchical algorithm in series (ml-engineering's B200 nodes without latency) */
    {{.machine = "cluster32",
      .set = {"node.nvlink.bandwidth=900 GB/s"},
      .collective = "allreduce",
      .size = 4 * GIB,
      .n_channels = 8},
     20803.748},
    {{.machine = "cluster32",
      .set = {"node.nvlink.bandwidth=900 GB/s"},
      .collective = "allreduce",
      .algorithm = "hierarchical",
      .size = 4 * GIB},
     24457.453},
    /* 4 GiB through 50 GB/s is 85.899 ms, and 4 GB would be 80 */
    {{.machine = FLAT, .n_ranks = 2, .collective = "broadcast", .size = 4 * GIB}, 85899.346},
    {{.machine = FLAT, .n_ranks = 2, .collective = "sendrecv", .size = 4 * GIB}, 85899.346},
};

START_TEST(the_time_is_the_one_that_is_known)
{
    const Figure *figure = &figures[_i];
    double us = ccs_ask_us(&figure->asked);

    ck_assert_msg(fabs(us - figure->us) < 0.0006, "%.6f us, not %.3f us", us, figure->us);
}
END_TEST

/* nccl-tests doc/PERFORMANCE.md: on a flat switch the bus bandwidth is the port's, whatever the
 * number of ranks. */
static const char *const flat_collectives[] = {"allreduce", "allgather", "reducescatter",
                                               "alltoall"};
static const uint32_t flat_ranks[] = {2, 3, 5, 8, 64};

START_TEST(bus_bandwidth_is_that_of_the_port)
{
    CcsAsked asked = {.machine = FLAT,
                      .n_nodes = flat_ranks[_i % 5],
                      .collective = flat_collectives[_i / 5],
                      .size = GB};
    CcsCollective collective = CCS_ALLREDUCE;
    ck_assert(ccs_collective_parse(asked.collective, &collective, NULL));
    double algbw = ccs_bandwidth_GBps(GB, ccs_ask_time(&asked));
    double busbw = algbw * ccs_collective_busbw_factor(collective, asked.n_nodes);

    ck_assert_double_eq_tol(busbw, 50, 50 * 1e-7);
}
END_TEST

START_TEST(a_chain_is_a_pipeline_with_start_up_costs)
{
    uint32_t chunks = 1U << _i;
    CcsAsked asked = {.machine = "nvlink8",
                      .set = {"node.nvlink.latency=1 us"},
                      .collective = "broadcast",
                      .size = GB,
                      .n_chunks = chunks,
                      .transport = {.message_cost = 5000000, .reduce_rate = CCS_RATE_UNLIMITED}};
    double expected = 7 + (chunks + 6) * (5 + GB / 300e3 / chunks);

    /* chunks that differ by a byte, and a picosecond of rounding for each message */
    ck_assert_double_eq_tol(ccs_ask_us(&asked), expected, 1e-5 + chunks * 4e-6);
}
END_TEST

START_TEST(the_naive_way_is_limited_by_the_root)
{
    g_auto(CcsAnswer) answer;
    ccs_ask(
        &(CcsAsked){
            .machine = "nvlink8", .collective = "allreduce", .algorithm = "naive", .size = GB},
        &answer);

    CcsVertexId root = ccs_communicator_gpu(answer.communicator, 0);
    for (CcsLinkId id = 0; id < ccs_topology_n_links(answer.topology); id++) {
        const CcsLink *link = ccs_topology_link(answer.topology, id);
        bool is_at_root = link->from == root || link->to == root;
        ck_assert_uint_eq(answer.outcome.links[id].bytes, is_at_root ? 7UL * GB : GB);
    }
}
END_TEST

/* Rate of a NIC = busbw x (N - 1) / (n - 1) for a hierarchical run, and not for a flat ring. */
START_TEST(the_rate_of_a_nic_follows_from_busbw_for_hierarchical_runs_only)
{
    CcsAsked asked = {.machine = "cluster32",
                      .collective = "allreduce",
                      .algorithm = _i == 0 ? "hierarchical" : "ring",
                      .size = GB,
                      .n_channels = 8};
    g_auto(CcsAnswer) answer;
    ccs_ask(&asked, &answer);
    double busbw = ccs_bandwidth_GBps(GB, answer.outcome.time) * 2 * 31 / 32;
    CcsBytes most = 0;
    for (CcsLinkId id = 0; id < ccs_topology_n_links(answer.topology); id++) {
        const CcsLink *link = ccs_topology_link(answer.topology, id);
        if (ccs_topology_vertex(answer.topology, link->from)->kind == CCS_VERTEX_NIC)
            most = MAX(most, answer.outcome.links[id].bytes);
    }
    double rate = ccs_bandwidth_GBps((double)most, answer.outcome.time);

    if (_i == 0)
        ck_assert_double_eq_tol(rate, busbw * 3 / 31, 1e-6 * rate);
    else
        ck_assert_double_gt(rate, busbw * 3 / 31 * 1.2);
}
END_TEST

/* A NIC throttled to a quarter: large messages take four times as long, small ones do not. */
START_TEST(a_slower_nic_is_felt_by_large_messages_only)
{
    CcsAsked fast = {
        .machine = "dgx-h100", .n_nodes = 4, .ranks_per_node = 1, .collective = "allreduce"};
    CcsAsked slow = fast;
    slow.set[0] = "node.nics.bandwidth=100 Gb/s";

    fast.size = slow.size = 1024;
    ck_assert_double_eq_tol(ccs_ask_us(&slow) / ccs_ask_us(&fast), 1.0, 0.02);
    fast.size = slow.size = 8 * GIB;
    ck_assert_double_eq_tol(ccs_ask_us(&slow) / ccs_ask_us(&fast), 4.0, 0.01);
}
END_TEST

/* Bandwidth is per direction: both at once do not slow each other. */
START_TEST(a_cable_carries_both_directions_at_once)
{
    CcsTime one = ccs_ask_time(
        &(CcsAsked){.machine = FLAT, .n_ranks = 2, .collective = "broadcast", .size = GB});
    CcsTime both = ccs_ask_time(
        &(CcsAsked){.machine = FLAT, .n_ranks = 2, .collective = "sendrecv", .size = GB});

    ck_assert_int_eq(one, both);
    ck_assert_int_eq(one, 20000000000);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("figures");
    TCase *tcase = tcase_create("figures");

    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, the_time_is_the_one_that_is_known, 0, G_N_ELEMENTS(figures));
    tcase_add_loop_test(tcase, bus_bandwidth_is_that_of_the_port, 0, 20);
    tcase_add_loop_test(tcase, a_chain_is_a_pipeline_with_start_up_costs, 0, 13);
    tcase_add_test(tcase, the_naive_way_is_limited_by_the_root);
    tcase_add_loop_test(tcase, the_rate_of_a_nic_follows_from_busbw_for_hierarchical_runs_only, 0,
                        2);
    tcase_add_test(tcase, a_slower_nic_is_felt_by_large_messages_only);
    tcase_add_test(tcase, a_cable_carries_both_directions_at_once);
    suite_add_tcase(suite, tcase);
    return suite;
}
