/* What must hold for every algorithm on every shape of machine. */
#include <string.h>

#include "collectives/verify.h"
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

#define GPU_NODE(gpus, nics)                                                                       \
    "node: {gpus: " #gpus ", nvlink: {bandwidth: 300 GB/s, latency: 0.7 us}, nics: {count: " #nics \
    ", bandwidth: 50 GB/s, latency: 1 us}}\n"

typedef struct {
    const char *machine;
    uint32_t n_ranks; /* 0: all */
} Shape;

static const Shape shapes[] = {
    {"node: {gpus: 1}\n", 0},
    {"node: {gpus: 2, nvlink: {bandwidth: 300 GB/s}}\n", 0},
    {"node: {gpus: 3, nvlink: {kind: mesh, bandwidth: 48 GB/s, latency: 1 us}}\n", 0},
    {"node: {gpus: 7, nvlink: {bandwidth: 300 GB/s, latency: 0.7 us}}\n", 0},
    {"node: {gpus: 16, nvlink: {bandwidth: 300 GB/s}}\n", 0},
    {"nodes: 5\nnode: {gpus: 1, nics: {count: 1, bandwidth: 50 GB/s, latency: 1 us}}\n"
     "fabric: {kind: switch}\n",
     0},
    {"nodes: 2\n" GPU_NODE(8, 8) "fabric: {kind: leaf-spine, spines: 4, latency: 0.3 us}\n", 12},
    {"nodes: 3\n" GPU_NODE(2, 1) "fabric: {kind: switch}\n", 0},
    {"nodes: 2\n" GPU_NODE(8, 4) "fabric: {kind: switch}\n", 0},
    {"nodes: 2\n" GPU_NODE(2, 4) "fabric: {kind: switch}\n", 0},
    {"nodes: 6\n" GPU_NODE(
         12, 12) "fabric: {kind: leaf-spine, spines: 3, ports_per_leaf: 2, latency: 0.3 us,"
                 " oversubscription: 4}\n",
     0},
    {"nodes: 3\n" GPU_NODE(2, 2) "fabric: {kind: leaf-spine, spines: 2, rail_optimized: false,"
                                 " ports_per_leaf: 3, latency: 0.3 us}\n",
     0},
    {"nodes: [{gpus: 8, nics: {count: 8}}, {}]\n" GPU_NODE(4, 4) "fabric: {kind: switch}\n", 0},
    {"nodes: [{gpus: 3}, {gpus: 1}, {}]\n" GPU_NODE(2, 1) "fabric: {kind: switch}\n", 0},
    {"nodes: [{}, {}, {gpus: 3, nics: {count: 3}}]\n" GPU_NODE(5, 5) "fabric: {kind: switch}\n", 0},
    {"nodes: 2\nnode: {gpus: 3, nics: {count: 3, bandwidth: 50 GB/s, latency: 1 us}}\n"
     "fabric: {kind: switch}\n",
     0}, /* no NVLink */
    {"nodes: 2\nnode: {gpus: 3, nics: {count: 1, bandwidth: 50 GB/s, latency: 1 us}}\n"
     "fabric: {kind: switch}\n",
     0}, /* not even a NIC of its own for each GPU */
};

static const CcsBytes sizes[] = {
    0, 1, 7, 1000, 2147483647, (CcsBytes)1 << 31, (CcsBytes)1 << 32, (CcsBytes)1 << 40};

static const uint32_t channels[] = {1, 2, 3, 8};

typedef void Check(const CcsAsked *asked);

/* Calls @check for every algorithm, with several channels and roots, on shape @index. */
static void for_each(int index, Check *check)
{
    for (size_t a = 0; ccs_algorithms[a] != NULL; a++) {
        for (size_t c = 0; c < G_N_ELEMENTS(channels); c++) {
            const CcsCollectiveInfo *info = ccs_collective_info(ccs_algorithms[a]->collective);
            CcsAsked asked = {.machine = shapes[index].machine,
                              .n_ranks = shapes[index].n_ranks,
                              .collective = info->name,
                              .algorithm = ccs_algorithms[a]->name,
                              .n_channels = channels[c],
                              .n_chunks = 1 + 3 * channels[c]};
            g_auto(CcsAnswer) answer;
            ccs_ask_machine(&asked, &answer);
            uint32_t n_ranks = ccs_communicator_n_ranks(answer.communicator);
            if (info->has_root) /* another one each time */
                asked.root = (CcsRank)(c * 7 + a) % n_ranks;
            if (n_ranks <= 32 || asked.n_channels == 1) /* the large one once */
                check(&asked);
        }
    }
}

static void check_data(const CcsAsked *asked)
{
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;

    if (!ccs_ask_schedule(asked, &answer))
        return; /* not for this shape */
    bool is_right = ccs_verify(answer.schedule, &error);
    for (uint32_t seed = 2; seed < 5 && is_right; seed++)
        is_right = ccs_verify_play(answer.schedule, CCS_PLAY_RANDOM, seed, &error);
    ck_assert_msg(is_right, "%s %s, %u channels on\n%s%s", asked->collective, asked->algorithm,
                  asked->n_channels, asked->machine, error == NULL ? "" : error->message);
}

START_TEST(every_rank_ends_with_what_the_collective_promises)
{
    for_each(_i, check_data);
}
END_TEST

static void check_bytes(const CcsAnswer *answer)
{
    CcsBytes sent = 0;
    CcsBytes received = 0;

    for (CcsRank rank = 0; rank < ccs_communicator_n_ranks(answer->communicator); rank++) {
        sent += answer->outcome.ranks[rank].bytes_sent;
        received += answer->outcome.ranks[rank].bytes_received;
    }
    ck_assert_uint_eq(sent, received);
    for (CcsLinkId id = 0; id < ccs_topology_n_links(answer->topology); id++)
        ck_assert_uint_le(answer->outcome.links[id].peak,
                          ccs_topology_link(answer->topology, id)->bandwidth);
}

/* One byte more can make chunks equal that were not, and messages that shared a link unevenly
 * share it evenly then; so much may be won by it. */
#define UNEVENNESS 1e-7

/* Where rounds of an all-to-all meet on shared links, or chunks that go up a chain and others
 * that come down, who comes first decides who is late in all rounds to come, and a byte can
 * decide who comes first: such times have few digits that mean anything. */
#define CHAOS 0.15

/* Pipelines whose directions share ports settle into one rhythm or another. */
#define RHYTHM 0.02

static double slack_of(const CcsAsked *asked)
{
    CcsCollective collective = CCS_ALLREDUCE;

    if (g_str_has_prefix(asked->collective, "alltoall"))
        return CHAOS;
    ck_assert(ccs_collective_parse(asked->collective, &collective, NULL));
    if (collective == CCS_ALLREDUCE && strcmp(asked->algorithm, "chain") == 0)
        return CHAOS;
    return ccs_algorithm_find(collective, asked->algorithm, NULL)->is_pipelined ? RHYTHM
                                                                                : UNEVENNESS;
}

/* Runs all sizes on one simulation: time never falls, is never below the bound, and a size twice
 * as large takes twice as long where only bandwidth counts. */
static void check_times(const CcsAsked *asked)
{
    g_auto(CcsAnswer) answer;
    CcsTime before = 0;
    CcsTime of_half = 0;
    double slack = slack_of(asked);

    if (!ccs_ask_schedule(asked, &answer))
        return;
    answer.simulation = ccs_simulation_new(answer.schedule, &ccs_transport_ideal,
                                           ccs_network_model_find("fluid", NULL, NULL), NULL, NULL);
    ck_assert_ptr_nonnull(answer.simulation);
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        ccs_ask_size(&answer, asked, sizes[i]);
        CcsTime time = answer.outcome.time;
        ck_assert_msg((double)time * (1 + slack) >= (double)before && time >= answer.bound.time,
                      "%s %s of %" G_GUINT64_FORMAT " B on %u channels: %.6f us, %s bound %.6f us,"
                      " the size before %.6f us on\n%s",
                      asked->collective, asked->algorithm, sizes[i], asked->n_channels,
                      ccs_time_us(time), answer.bound.name, ccs_time_us(answer.bound.time),
                      ccs_time_us(before), asked->machine);
        check_bytes(&answer);
        before = time;
        if (sizes[i] == (CcsBytes)1 << 31 && strcmp(asked->collective, "barrier") != 0)
            of_half = time;
        if (sizes[i] == (CcsBytes)1 << 32 && of_half > 0)
            ck_assert_double_eq_tol((double)time / (double)of_half, 2, 4 * MAX(slack, 0.005));
    }
}

START_TEST(time_never_falls_with_size_nor_below_the_bound)
{
    for_each(_i, check_times);
}
END_TEST

/* Twice the bandwidth of all links of a kind. */
START_TEST(more_bandwidth_is_never_slower)
{
    static const char *const keys[] = {"node.nvlink.bandwidth=600 GB/s",
                                       "node.nics.bandwidth=100 GB/s"};
    for (size_t a = 0; ccs_algorithms[a] != NULL; a++) {
        CcsAsked asked = {.machine = "cluster32",
                          .n_nodes = 2,
                          .collective = ccs_collective_info(ccs_algorithms[a]->collective)->name,
                          .algorithm = ccs_algorithms[a]->name,
                          .n_channels = 8,
                          .n_chunks = 16,
                          .size = 1 << 26};
        if (g_str_has_prefix(asked.algorithm, "pairwise_"))
            continue; /* faster ranks run ahead into worse incast */
        CcsTime plain = ccs_ask_time(&asked);
        asked.set[0] = keys[_i];
        CcsTime faster = ccs_ask_time(&asked);
        ck_assert_msg((double)faster <= (double)plain * (1 + RHYTHM), "%s %s", asked.collective,
                      asked.algorithm);
    }
}
END_TEST

/* Each parameter changes the result in the right direction. */
typedef struct {
    const char *set;
    CcsTransport transport;
} Worse;

static const Worse worse[] = {
    {"node.nvlink.bandwidth=150 GB/s", {.reduce_rate = 0}},
    {"node.nvlink.latency=5 us", {.reduce_rate = 0}},
    {"node.nics.bandwidth=10 GB/s", {.reduce_rate = 0}},
    {"node.nics.latency=20 us", {.reduce_rate = 0}},
    {"fabric.latency=20 us", {.reduce_rate = 0}},
    {"fabric.oversubscription=16", {.reduce_rate = 0}},
    {NULL, {.launch = 1000000, .reduce_rate = CCS_RATE_UNLIMITED}},
    {NULL, {.message_cost = 1000000, .reduce_rate = CCS_RATE_UNLIMITED}},
    {NULL, {.reduce_rate = 10 * (CCS_RATE_PER_BYTE * 1000000000U)}},
};

START_TEST(what_makes_the_machine_worse_makes_an_allreduce_slower)
{
    CcsAsked asked = {
        .machine = "nodes: 4\n" GPU_NODE(
            4, 4) "fabric: {kind: leaf-spine, spines: 2, ports_per_leaf: 2, latency: 0.3 us}\n",
        .collective = "allreduce",
        .n_channels = 4,
        .size = 1 << 24};
    CcsTime plain = ccs_ask_time(&asked);

    asked.set[0] = worse[_i].set;
    asked.transport = worse[_i].transport;
    ck_assert_int_gt(ccs_ask_time(&asked), plain);
}
END_TEST

START_TEST(the_order_of_keys_changes_nothing)
{
    CcsAsked one = {.machine =
                        "nodes: 3\nnode: {gpus: 2, nvlink: {bandwidth: 300 GB/s, latency: 1"
                        " us}, nics: {count: 2, bandwidth: 50 GB/s}}\nfabric: {kind: switch}\n",
                    .collective = "allreduce",
                    .algorithm = "tree",
                    .n_chunks = 9,
                    .n_channels = 2,
                    .size = 12345678};
    CcsAsked other = one;
    other.machine = "fabric: {kind: switch}\nnode: {nics: {bandwidth: 50 GB/s, count: 2}, nvlink:"
                    " {latency: 1 us, bandwidth: 300 GB/s}, gpus: 2}\nnodes: 3\n";

    ck_assert_int_eq(ccs_ask_time(&one), ccs_ask_time(&other));
    ck_assert_int_eq(ccs_ask_time(&one), ccs_ask_time(&one));
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("shapes");
    TCase *tcase = tcase_create("shapes");

    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, every_rank_ends_with_what_the_collective_promises, 0,
                        G_N_ELEMENTS(shapes));
    tcase_add_loop_test(tcase, time_never_falls_with_size_nor_below_the_bound, 0,
                        G_N_ELEMENTS(shapes));
    tcase_add_loop_test(tcase, more_bandwidth_is_never_slower, 0, 2);
    tcase_add_loop_test(tcase, what_makes_the_machine_worse_makes_an_allreduce_slower, 0,
                        G_N_ELEMENTS(worse));
    tcase_add_test(tcase, the_order_of_keys_changes_nothing);
    suite_add_tcase(suite, tcase);
    return suite;
}
