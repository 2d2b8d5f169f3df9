/* Every algorithm written as an MSCCL file and read again: it does what it did, in the same time
 * to the picosecond. */
#include <string.h>

#include "collectives/verify.h"
#include "formats/msccl.h"
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

/* One GPU a node on one switch, a cluster with a rail for each GPU, one with one NIC a node, and
 * nodes of unequal size. */
static const char *const machines[] = {
    "nodes: 17\n"
    "node: {gpus: 1, nics: {count: 1, bandwidth: 50 GB/s, latency: 1.5 us}}\n"
    "fabric: {kind: switch}\n",
    "nodes: 4\n"
    "node: {gpus: 4, nvlink: {bandwidth: 300 GB/s, latency: 1 us},"
    " nics: {count: 4, bandwidth: 50 GB/s, latency: 2 us}}\n"
    "fabric: {kind: leaf-spine, rail_optimized: true, spines: 2, oversubscription: 1}\n",
    "nodes: 3\n"
    "node: {gpus: 4, nvlink: {bandwidth: 300 GB/s, latency: 1 us},"
    " nics: {count: 1, bandwidth: 50 GB/s, latency: 2 us}}\n"
    "fabric: {kind: switch}\n",
    "nodes: [{gpus: 3}, {gpus: 1}, {gpus: 2}]\n"
    "node: {gpus: 8, nvlink: {bandwidth: 300 GB/s, latency: 1 us},"
    " nics: {count: 1, bandwidth: 50 GB/s, latency: 1 us}}\n"
    "fabric: {kind: switch}\n",
};

static const struct {
    uint32_t machine;
    uint32_t n_ranks;
    uint32_t n_channels;
    uint32_t n_chunks;
} shapes[] = {
    {0, 1, 1, 1}, {0, 2, 1, 1},  {0, 3, 1, 4},  {0, 4, 2, 3}, {0, 5, 1, 2},  {0, 7, 3, 5},
    {0, 8, 1, 8}, {0, 16, 1, 4}, {0, 17, 1, 3}, {1, 8, 4, 3}, {1, 16, 4, 4}, {1, 12, 2, 5},
    {2, 8, 1, 4}, {2, 12, 1, 2}, {3, 6, 1, 3},  {3, 6, 3, 2},
};

static const CcsBytes sizes[] = {0, 1, 1000, 1048576, 1000003};

static const CcsTransport transports[] = {
    {.reduce_rate = CCS_RATE_UNLIMITED},
    {.message_cost = 700000, .reduce_rate = 40000000000U * CCS_RATE_PER_BYTE},
};

static bool is_of_msccl(CcsCollective collective)
{
    return collective != CCS_ALLTOALLV && collective != CCS_SENDRECV && collective != CCS_BARRIER;
}

static CcsTime time_of(const CcsSchedule *schedule, const CcsTransport *transport, CcsBytes size)
{
    g_autoptr(GError) error = NULL;
    CcsOutcome outcome;
    g_autoptr(CcsSimulation) simulation = ccs_simulation_new(
        schedule, transport, ccs_network_model_find("fluid", NULL, NULL), NULL, &error);

    ck_assert_msg(simulation != NULL, "%s", error == NULL ? "" : error->message);
    bool is_done = ccs_simulation_run(simulation, size, &outcome, &error);
    ck_assert_msg(is_done, "%s", error == NULL ? "" : error->message);
    return outcome.time;
}

/* Writes and reads @schedule, @n_loops at once. */
static CcsSchedule *read_back(const CcsSchedule *schedule, const char *what)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(CcsMsccl) written = ccs_msccl_from_schedule(schedule, "test", notes, &error);
    ck_assert_msg(written != NULL, "%s: %s", what, error == NULL ? "" : error->message);
    g_autofree char *text = ccs_msccl_text(written);
    g_autoptr(CcsMsccl) read = ccs_msccl_read("test.xml", text, strlen(text), &error);
    ck_assert_msg(read != NULL, "%s: %s", what, error == NULL ? "" : error->message);
    CcsSchedule *result = ccs_msccl_schedule(read, ccs_schedule_communicator(schedule), read->root,
                                             1, read->is_in_place, &error);
    ck_assert_msg(result != NULL, "%s: %s", what, error == NULL ? "" : error->message);
    return result;
}

static void check_round_trip(const CcsAlgorithm *algorithm, uint32_t shape, CcsRank root)
{
    CcsAsked asked = {.machine = machines[shapes[shape].machine],
                      .n_ranks = shapes[shape].n_ranks,
                      .collective = ccs_collective_info(algorithm->collective)->name,
                      .algorithm = algorithm->name,
                      .n_channels = shapes[shape].n_channels,
                      .n_chunks = shapes[shape].n_chunks,
                      .root = root};
    g_autofree char *what =
        g_strdup_printf("%s %s, shape %u, root %u", asked.collective, asked.algorithm, shape, root);
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;

    if (!ccs_ask_schedule(&asked, &answer))
        return;
    g_autoptr(CcsSchedule) again = read_back(answer.schedule, what);
    bool is_right = ccs_verify(again, &error);
    ck_assert_msg(is_right, "%s: %s", what, error == NULL ? "" : error->message);
    for (size_t i = 0; i < G_N_ELEMENTS(transports); i++) {
        for (size_t j = 0; j < G_N_ELEMENTS(sizes); j++) {
            CcsTime expected = time_of(answer.schedule, &transports[i], sizes[j]);
            CcsTime time = time_of(again, &transports[i], sizes[j]);
            ck_assert_msg(time == expected,
                          "%s: %" G_GUINT64_FORMAT " B take %" G_GINT64_FORMAT
                          " ps with transport %zu, not %" G_GINT64_FORMAT,
                          what, sizes[j], time, i, expected);
        }
    }
}

START_TEST(an_algorithm_does_the_same_in_the_same_time_when_it_is_written_and_read)
{
    for (size_t i = 0; ccs_algorithms[i] != NULL; i++) {
        bool has_root = ccs_collective_info(ccs_algorithms[i]->collective)->has_root;
        uint32_t n_ranks = shapes[_i].n_ranks;
        if (!is_of_msccl(ccs_algorithms[i]->collective))
            continue;
        check_round_trip(ccs_algorithms[i], (uint32_t)_i, 0);
        if (has_root && n_ranks > 1)
            check_round_trip(ccs_algorithms[i], (uint32_t)_i, n_ranks - 1);
        if (has_root && n_ranks > 2)
            check_round_trip(ccs_algorithms[i], (uint32_t)_i, n_ranks / 2);
    }
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("msccl");
    TCase *tcase = tcase_create("round trip");

    tcase_add_loop_test(tcase,
                        an_algorithm_does_the_same_in_the_same_time_when_it_is_written_and_read, 0,
                        G_N_ELEMENTS(shapes));
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    return suite;
}
