/* Every algorithm written as an MSCCL file and read again: it does what it did, in the same time
 * to the picosecond. */
#include <string.h>

#include "collectives/verify.h"
#include "formats/msccl.h"
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

/* One GPU a node on one switch, a cluster with a rail for each GPU, one with one NIC a node, and
 * nodes of unequal size; some GPUs come late. */
#define FLAT                                                                                       \
    "nodes: 17\n"                                                                                  \
    "node: {gpus: 1, nics: {count: 1, bandwidth: 50 GB/s, latency: 1.5 us}}\n"                     \
    "fabric: {kind: switch}\n"
#define RAILS                                                                                      \
    "nodes: 4\n"                                                                                   \
    "node: {gpus: 4, nvlink: {bandwidth: 300 GB/s, latency: 1 us},"                                \
    " nics: {count: 4, bandwidth: 50 GB/s, latency: 2 us}}\n"                                      \
    "fabric: {kind: leaf-spine, rail_optimized: true, spines: 2, oversubscription: 1}\n"
#define ONE_NIC                                                                                    \
    "nodes: 3\n"                                                                                   \
    "node: {gpus: 4, nvlink: {bandwidth: 300 GB/s, latency: 1 us},"                                \
    " nics: {count: 1, bandwidth: 50 GB/s, latency: 2 us}}\n"                                      \
    "fabric: {kind: switch}\n"
#define UNEVEN                                                                                     \
    "nodes: [{gpus: 3}, {gpus: 1}, {gpus: 2}]\n"                                                   \
    "node: {gpus: 8, nvlink: {bandwidth: 300 GB/s, latency: 1 us},"                                \
    " nics: {count: 1, bandwidth: 50 GB/s, latency: 1 us}}\n"                                      \
    "fabric: {kind: switch}\n"
#define LATE(gpu, delay) "  - {kind: late-gpu, gpu: " gpu ", delay: " delay "}\n"
#define RAILS_LATE       RAILS "faults:\n" LATE("n0.gpu2", "20 us") LATE("n1.gpu1", "7 us")
#define UNEVEN_LATE      UNEVEN "faults:\n" LATE("n0.gpu0", "3 us") LATE("n2.gpu1", "50 us")

/* @machine and the members after it are those of CcsAsked. */
static const struct {
    const char *machine;
    uint32_t n_nodes;
    uint32_t n_ranks;
    uint32_t ranks_per_node;
    uint32_t n_channels;
    uint32_t n_chunks;
} shapes[] = {
    {FLAT, 0, 1, 0, 1, 1},
    {FLAT, 0, 2, 0, 1, 1},
    {FLAT, 0, 3, 0, 1, 4},
    {FLAT, 0, 4, 0, 2, 3},
    {FLAT, 0, 5, 0, 1, 2},
    {FLAT, 0, 7, 0, 3, 2},
    {FLAT, 0, 8, 0, 1, 8},
    {FLAT, 0, 16, 0, 1, 2},
    {FLAT, 0, 17, 0, 1, 1},
    {RAILS, 0, 8, 0, 4, 2},
    {RAILS, 0, 16, 0, 1, 2},
    {RAILS, 0, 12, 0, 1, 2},
    {ONE_NIC, 0, 8, 0, 1, 4},
    {ONE_NIC, 0, 12, 0, 1, 2},
    {UNEVEN, 0, 6, 0, 1, 3},
    {UNEVEN, 0, 6, 0, 3, 2},
    {"cluster32", 0, 13, 0, 1, 1},
    {"cluster32", 0, 7, 3, 2, 1},
    {"cluster32-1nic", 0, 13, 0, 1, 1},
    {"cluster32-1nic", 0, 12, 5, 1, 3},
    {"dgx-h100", 4, 13, 0, 1, 1},
    {"reference", 0, 4, 0, 2, 1},
    {"reference", 0, 3, 0, 1, 3},
    {"reference", 0, 4, 0, 1, 4},
    {RAILS_LATE, 0, 13, 0, 1, 1},
    {RAILS_LATE, 0, 7, 3, 2, 2},
    {UNEVEN_LATE, 0, 6, 0, 1, 3},
};

static const CcsBytes sizes[] = {0, 1000, 1048576, 1000003};

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

static CcsMsccl *write_and_read(const CcsSchedule *schedule, const char *what)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(CcsMsccl) written = ccs_msccl_from_schedule(schedule, "test", notes, &error);
    ck_assert_msg(written != NULL, "%s: %s", what, error == NULL ? "" : error->message);
    g_autofree char *text = ccs_msccl_text(written);
    CcsMsccl *read = ccs_msccl_read("test.xml", text, strlen(text), &error);
    ck_assert_msg(read != NULL, "%s: %s", what, error == NULL ? "" : error->message);
    return read;
}

/* The schedule of @msccl, which is right. */
static CcsSchedule *right_schedule(const CcsMsccl *msccl, const CcsCommunicator *communicator,
                                   bool is_by_letter, const char *what)
{
    g_autoptr(GError) error = NULL;
    CcsMscclUse use = {.root = msccl->root,
                       .n_loops = 1,
                       .is_in_place = msccl->is_in_place,
                       .is_by_letter = is_by_letter};
    CcsSchedule *schedule = ccs_msccl_schedule(msccl, communicator, &use, &error);
    bool is_right = schedule != NULL && ccs_verify(schedule, &error);

    ck_assert_msg(is_right, "%s: %s", what, error == NULL ? "" : error->message);
    return schedule;
}

static void check_round_trip(const CcsAlgorithm *algorithm, uint32_t shape, CcsRank root)
{
    CcsAsked asked = {.machine = shapes[shape].machine,
                      .n_nodes = shapes[shape].n_nodes,
                      .n_ranks = shapes[shape].n_ranks,
                      .ranks_per_node = shapes[shape].ranks_per_node,
                      .collective = ccs_collective_info(algorithm->collective)->name,
                      .algorithm = algorithm->name,
                      .n_channels = shapes[shape].n_channels,
                      .n_chunks = shapes[shape].n_chunks,
                      .root = root};
    g_autofree char *what =
        g_strdup_printf("%s %s, shape %u, root %u", asked.collective, asked.algorithm, shape, root);
    g_auto(CcsAnswer) answer;
    g_autoptr(CcsSchedule) letter = NULL;

    if (!ccs_ask_schedule(&asked, &answer))
        return;
    g_autoptr(CcsMsccl) msccl = write_and_read(answer.schedule, what);
    g_autoptr(CcsSchedule) again = right_schedule(msccl, answer.communicator, false, what);
    if (msccl->has_unordered)
        letter = right_schedule(msccl, answer.communicator, true, what);
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
    tcase_set_timeout(tcase, 300);
    suite_add_tcase(suite, tcase);
    return suite;
}
