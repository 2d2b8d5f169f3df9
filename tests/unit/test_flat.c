#include "topology/flat.h"

#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

#define NODES(n, more)                                                                             \
    "nodes: " n "\nnode: {gpus: 1, nics: {count: 1, bandwidth: 50 GB/s, latency: 1 us}}\n" more
#define SWITCH "fabric: {kind: switch}\n"

typedef struct {
    const char *machine;
    uint32_t n_ranks;
    double latency_us;
    double bandwidth_GBps; /* 0: it is not flat */
} Row;

static const Row rows[] = {
    {"nvlink8", 0, 0, 300},
    {"nvlink8", 3, 0, 300},
    {"flat8", 0, 0, 50},
    {NODES("5", SWITCH), 0, 2, 50},
    /* so many that not every pair is looked at */
    {NODES("1024", SWITCH), 0, 2, 50},
    {NODES("1025", SWITCH), 0, 2, 50},
    {NODES("5000", SWITCH), 0, 2, 50},
    {NODES("5000", SWITCH), 600, 2, 50},
    {"node: {gpus: 600, nvlink: {kind: switch, bandwidth: 300 GB/s, latency: 1 us}}\n", 0, 1, 300},
    {"nodes: 600\nnode: {gpus: 2, nics: {count: 1, bandwidth: 50 GB/s}}\n" SWITCH, 0, 0, 0},
    {NODES("600",
           SWITCH "faults: [{kind: link, from: n599.nic0, to: switch, bandwidth_factor: 0.5}]\n"),
     0, 0, 0},
    {NODES("600", "fabric: {kind: leaf-spine, spines: 1, ports_per_leaf: 20}\n"), 0, 0, 0},
    /* one rank has nobody to talk to */
    {"nvlink8", 1, 0, 0},
    /* NVLink and NICs; a cable for each pair; one port for two ranks */
    {"cluster32", 0, 0, 0},
    {"node: {gpus: 3, nvlink: {kind: mesh, bandwidth: 50 GB/s}}\n", 0, 0, 0},
    {"nodes: 2\nnode: {gpus: 2, nics: {count: 1, bandwidth: 50 GB/s}}\n" SWITCH, 0, 0, 0},
    /* one port is slower, one way longer, the spines slower than the ports */
    {NODES("[{}, {nics: {bandwidth: 25 GB/s}}, {}]", SWITCH), 0, 0, 0},
    {NODES("[{}, {nics: {latency: 2 us}}, {}]", SWITCH), 0, 0, 0},
    {NODES("4", "fabric: {kind: leaf-spine, spines: 1, ports_per_leaf: 2}\n"), 0, 0, 0},
};

START_TEST(ranks_around_one_switch_are_told_from_others)
{
    const Row *row = &rows[_i];
    CcsAsked asked = {.machine = row->machine, .n_ranks = row->n_ranks};
    g_auto(CcsAnswer) answer;
    CcsFlatSwitch flat = {0};

    ccs_ask_machine(&asked, &answer);
    ck_assert_int_eq(ccs_communicator_is_flat(answer.communicator, &flat), row->bandwidth_GBps > 0);
    ck_assert_double_eq(ccs_time_us(flat.latency), row->latency_us);
    ck_assert_double_eq(ccs_rate_GBps(flat.bandwidth), row->bandwidth_GBps);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("flat");
    TCase *tcase = tcase_create("flat");

    tcase_add_loop_test(tcase, ranks_around_one_switch_are_told_from_others, 0, G_N_ELEMENTS(rows));
    suite_add_tcase(suite, tcase);
    return suite;
}
