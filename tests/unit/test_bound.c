#include "sim/bound.h"

#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

#define SIZE            ((CcsBytes)48000000) /* divides by all counts of ranks below */
#define CABLE(from, to) "  - {from: " from ", to: " to ", bandwidth: 10 GB/s, both_ways: true}\n"

/* Two GPUs a node, NVLink 100 GB/s, two NICs of 10 GB/s; more as the test needs. */
#define NODE(more)                                                                                 \
    "node: {gpus: 2, nvlink: {bandwidth: 100 GB/s" more "}, nics: {count: 2,"                      \
    " bandwidth: 10 GB/s}}\n"
#define SWITCH "fabric: {kind: switch}\n"
#define PODS   "fabric: {kind: leaf-spine, spines: 1, ports_per_leaf: 2, oversubscription: 10}\n"
#define FLAT   "nodes: 4\nnode: {gpus: 1, nics: {count: 1, bandwidth: 10 GB/s}}\n" SWITCH
#define FAR                                                                                        \
    "nodes: [{}, {nics: {latency: 7 us}}, {}]\nnode: {gpus: 1, nics: {count: 1, bandwidth: 10"     \
    " GB/s, latency: 1 us}}\n" SWITCH
#define RACKS                                                                                      \
    "vertices:\n  - {name: a, kind: gpu, node: 0}\n  - {name: b, kind: gpu, node: 1}\n"            \
    "  - {name: c, kind: gpu, node: 2}\n  - {name: d, kind: gpu, node: 3}\n"                       \
    "  - {name: left, kind: switch}\n  - {name: right, kind: switch}\nlinks:\n" CABLE("a", "left") \
        CABLE("left", "right")

typedef struct {
    const char *machine;
    const char *collective;
    CcsRank root;
    CcsBytes size;
    const char *name;
    double us;
} Row;

static const Row rows[] = {
    /* S/n (n-1) over one port; all ports together for those that move S to or from everybody */
    {FLAT, "allgather", 0, SIZE, "rank", 3600},
    {FLAT, "reducescatter", 0, SIZE, "rank", 3600},
    {FLAT, "alltoall", 0, SIZE, "rank", 3600},
    {FLAT, "gather", 1, SIZE, "rank", 3600},
    {FLAT, "scatter", 1, SIZE, "rank", 3600},
    {FLAT, "broadcast", 1, SIZE, "rank", 4800},
    {FLAT, "reduce", 1, SIZE, "rank", 4800},
    {FLAT, "sendrecv", 0, SIZE, "rank", 4800},
    {FLAT, "allreduce", 0, SIZE, "ranks", 7200},
    {FLAT, "barrier", 0, 0, "none", 0},
    /* a node's NICs */
    {"nodes: 2\n" NODE("") SWITCH, "alltoall", 0, SIZE, "node", 2400},
    {"nodes: 2\n" NODE("") SWITCH, "allgather", 0, SIZE, "node", 1200},
    {"nodes: 2\n" NODE("") SWITCH, "broadcast", 3, SIZE, "node", 2400},
    {"nodes: 3\n" NODE("") SWITCH, "allreduce", 0, SIZE, "nodes", 3200},
    /* pods of two nodes: each of the four leaves has 2 GB/s upwards */
    {"nodes: 4\n" NODE("") PODS, "alltoall", 0, SIZE, "leaf group", 24000},
    {"nodes: 4\n" NODE("") PODS, "allreduce", 0, SIZE, "leaf group", 12000},
    {"nodes: 6\n" NODE("") PODS, "allreduce", 0, SIZE, "leaf groups", 16000},
    {"nodes: 6\n" NODE("") PODS, "gather", 11, SIZE, "leaf group", 8000},
    /* rails: two GPUs with 1 GB/s to the rest of their node, a leaf with 2 GB/s upwards */
    {"nodes: 2\nnode: {gpus: 2, nvlink: {bandwidth: 1 GB/s}, nics: {count: 2, bandwidth: 10 "
     "GB/s}}\n"
     "fabric: {kind: leaf-spine, spines: 1, oversubscription: 10}\n",
     "allreduce", 0, SIZE, "rail", 12000},
    /* a cable between two racks of two nodes each, in order and not */
    {RACKS CABLE("b", "left") CABLE("c", "right") CABLE("d", "right"), "alltoall", 0, SIZE,
     "bisection", 4800},
    {RACKS CABLE("c", "left") CABLE("b", "right") CABLE("d", "right"), "alltoall", 0, SIZE,
     "bisection", 4800},
    /* the longest way that some data must go: 1 + 7 us */
    {FAR, "allreduce", 0, 8, "latency", 8},
    {FAR, "barrier", 0, 0, "latency", 8},
    {FAR, "broadcast", 0, 8, "latency", 8},
    {FAR, "gather", 0, 8, "latency", 8},
    {FAR, "reduce", 2, 8, "latency", 8},
    {FAR, "sendrecv", 0, 8, "latency", 2},
};

START_TEST(the_bound_that_binds_is_named)
{
    const Row *row = &rows[_i];
    CcsAsked asked = {.machine = row->machine};
    g_auto(CcsAnswer) answer;
    CcsCollective collective = CCS_ALLREDUCE;

    ccs_ask_machine(&asked, &answer);
    ck_assert(ccs_collective_parse(row->collective, &collective, NULL));
    g_autoptr(CcsBounds) bounds = ccs_bounds_new(answer.communicator);
    CcsBound bound =
        ccs_bounds_of(bounds, collective, row->root, row->size, 1, &ccs_transport_ideal);
    ck_assert_msg(g_str_equal(bound.name, row->name) &&
                      ABS(ccs_time_us(bound.time) - row->us) < 1e-5,
                  "row %d: %s %.6f us", _i, bound.name, ccs_time_us(bound.time));
}
END_TEST

START_TEST(what_every_message_and_the_launch_cost_comes_on_top_of_latency)
{
    CcsAsked asked = {.machine = FAR};
    CcsTransport transport = {.launch = 3000000, .message_cost = 500000};
    g_auto(CcsAnswer) answer;

    ccs_ask_machine(&asked, &answer);
    g_autoptr(CcsBounds) bounds = ccs_bounds_new(answer.communicator);
    ck_assert_int_eq(ccs_bounds_of(bounds, CCS_BARRIER, 0, 0, 1, &transport).time, 11500000);
}
END_TEST

START_TEST(one_rank_is_bound_by_the_launch_only)
{
    CcsAsked asked = {.machine = FLAT, .n_ranks = 1};
    CcsTransport transport = {.launch = 3000000, .message_cost = 500000};
    g_auto(CcsAnswer) answer;

    ccs_ask_machine(&asked, &answer);
    g_autoptr(CcsBounds) bounds = ccs_bounds_new(answer.communicator);
    CcsBound bound = ccs_bounds_of(bounds, CCS_ALLREDUCE, 0, SIZE, 1, &transport);
    ck_assert_int_eq(bound.time, 3000000);
    ck_assert_str_eq(bound.name, "none");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("bound");
    TCase *tcase = tcase_create("bound");

    tcase_add_loop_test(tcase, the_bound_that_binds_is_named, 0, G_N_ELEMENTS(rows));
    tcase_add_test(tcase, what_every_message_and_the_launch_cost_comes_on_top_of_latency);
    tcase_add_test(tcase, one_rank_is_bound_by_the_launch_only);
    suite_add_tcase(suite, tcase);
    return suite;
}
