/* No simulated time lies below the bound of the machine, whatever the algorithm: on machines on
 * which each of the cuts is tight. */
#include <string.h>

#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

#define GPU_NODE(gpus, nics)                                                                       \
    "node: {gpus: " #gpus ", nvlink: {bandwidth: 300 GB/s, latency: 0.7 us}, nics: {count: " #nics \
    ", bandwidth: 50 GB/s, latency: 1 us}}\n"
#define CABLE(from, to) "  - {from: " from ", to: " to ", bandwidth: 50 GB/s, both_ways: true}\n"

static const char *const machines[] = {
    /* leaves for pods of two nodes, and little above them */
    "nodes: 6\n" GPU_NODE(4, 4) "fabric: {kind: leaf-spine, spines: 2, ports_per_leaf: 2, latency:"
                                " 0.3 us, oversubscription: 8}\n",
    /* nodes that are spread over two leaves */
    "nodes: 5\n" GPU_NODE(2, 2) "fabric: {kind: leaf-spine, spines: 3, rail_optimized: false,"
                                " ports_per_leaf: 3, oversubscription: 5}\n",
    /* one leaf for whole nodes */
    "nodes: 7\n" GPU_NODE(1, 1) "fabric: {kind: leaf-spine, spines: 1, rail_optimized: false,"
                                " ports_per_leaf: 2, oversubscription: 2, latency: 5 us}\n",
    /* rails that NVLink hardly joins */
    "nodes: 3\nnode: {gpus: 4, nvlink: {bandwidth: 1 GB/s}, nics: {count: 4, bandwidth: 50 GB/s}}\n"
    "fabric: {kind: leaf-spine, spines: 1, oversubscription: 100}\n",
    /* rails that nothing else joins */
    "nodes: 4\nnode: {gpus: 2, nics: {count: 2, bandwidth: 50 GB/s}}\n"
    "fabric: {kind: leaf-spine, spines: 2, oversubscription: 4}\n",
    /* two racks with a thin cable between */
    "vertices:\n  - {name: a, kind: gpu, node: 0}\n  - {name: b, kind: gpu, node: 1}\n"
    "  - {name: c, kind: gpu, node: 2}\n  - {name: d, kind: gpu, node: 3}\n"
    "  - {name: an, kind: nic, node: 0}\n  - {name: bn, kind: nic, node: 1}\n"
    "  - {name: cn, kind: nic, node: 2}\n  - {name: dn, kind: nic, node: 3}\n"
    "  - {name: left, kind: switch}\n  - {name: right, kind: switch}\nlinks:\n" CABLE("a", "an")
        CABLE("b", "bn") CABLE("c", "cn") CABLE("d", "dn") CABLE("an", "left") CABLE("cn", "left")
            CABLE("bn", "right") CABLE("dn", "right") CABLE("left", "right"),
    /* two sockets */
    "vertices:\n  - {name: a, kind: gpu}\n  - {name: b, kind: gpu}\n  - {name: c, kind: gpu}\n"
    "  - {name: d, kind: gpu}\n  - {name: left, kind: host}\n  - {name: right, kind: host}\n"
    "links:\n" CABLE("a", "left") CABLE("b", "left") CABLE("c", "right") CABLE("d", "right")
        CABLE("left", "right"),
    /* NVLink in pairs, and NICs from pair to pair */
    "vertices:\n  - {name: a, kind: gpu}\n  - {name: b, kind: gpu}\n  - {name: c, kind: gpu}\n"
    "  - {name: d, kind: gpu}\n  - {name: an, kind: nic}\n  - {name: bn, kind: nic}\n"
    "  - {name: cn, kind: nic}\n  - {name: dn, kind: nic}\n  - {name: hub, kind: switch}\n"
    "links:\n" CABLE("a", "b") CABLE("c", "d") CABLE("a", "an") CABLE("b", "bn") CABLE("c", "cn")
        CABLE("d", "dn") CABLE("an", "hub") CABLE("bn", "hub") CABLE("cn", "hub")
            CABLE("dn", "hub"),
    "nodes: [{gpus: 3}, {gpus: 1}, {}]\n" GPU_NODE(2, 1) "fabric: {kind: switch}\n",
    "nodes: 3\n" GPU_NODE(3,
                          3) "fabric: {kind: leaf-spine, spines: 2, latency: 0.3 us}\nfaults:\n"
                             "  - {kind: link, from: n1.nic1, to: leaf1, bandwidth_factor: 0.1}\n"
                             "  - {kind: late-gpu, gpu: n2.gpu1, delay: 4 us}\n",
};

static const CcsBytes sizes[] = {0, 1, 9, 1000, 1000003, 1 << 26, (CcsBytes)1 << 40};
static const uint32_t channels[] = {1, 3, 4};

/* All sizes of one algorithm, and with so much per message and in the beginning. */
static void check_algorithm(CcsAsked *asked)
{
    g_auto(CcsAnswer) answer;

    if (!ccs_ask_schedule(asked, &answer))
        return; /* not for this machine */
    answer.simulation = ccs_simulation_new(answer.schedule, &asked->transport,
                                           ccs_network_model_find("fluid", NULL, NULL), NULL, NULL);
    ck_assert_ptr_nonnull(answer.simulation);
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        ccs_ask_size(&answer, asked, sizes[i]);
        ck_assert_msg(answer.outcome.time >= answer.bound.time,
                      "%s %s of %" G_GUINT64_FORMAT " B, root %u, %u channels: %.6f us, %s bound"
                      " %.6f us on\n%s",
                      asked->collective, asked->algorithm, sizes[i], asked->root, asked->n_channels,
                      ccs_time_us(answer.outcome.time), answer.bound.name,
                      ccs_time_us(answer.bound.time), asked->machine);
    }
}

START_TEST(no_time_lies_below_the_bound)
{
    for (size_t a = 0; ccs_algorithms[a] != NULL; a++) {
        for (size_t c = 0; c < G_N_ELEMENTS(channels); c++) {
            const CcsCollectiveInfo *info = ccs_collective_info(ccs_algorithms[a]->collective);
            CcsAsked asked = {.machine = machines[_i],
                              .collective = info->name,
                              .algorithm = ccs_algorithms[a]->name,
                              .root = info->has_root ? (CcsRank)c : 0,
                              .distance = 1 + (uint32_t)c,
                              .n_channels = channels[c],
                              .n_chunks = 1 + 5 * (uint32_t)c,
                              .transport = {.reduce_rate = CCS_RATE_UNLIMITED}};
            check_algorithm(&asked);
            asked.transport.launch = 3000000;
            asked.transport.message_cost = 400000;
            if (c == 0)
                check_algorithm(&asked);
        }
    }
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("bounds");
    TCase *tcase = tcase_create("bounds");

    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, no_time_lies_below_the_bound, 0, G_N_ELEMENTS(machines));
    suite_add_tcase(suite, tcase);
    return suite;
}
