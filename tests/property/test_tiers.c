/* What plays fewer messages than there are gives the bits of all of them. */
#include <string.h>

#include "base/error.h"
#include "collectives/algorithm.h"
#include "sim/sim.h"
#include "sim/sweep.h"
#include "sim/sweep_kernels.h"
#include "sim/symmetry.h"
#include "tests/property/machines.h"
#include "tests/support/check_main.h"
#include "topology/topology_yaml.h"

/* Cuts into equal chunks for most numbers of ranks, channels and chunks here, and one that does
 * not. */
static const CcsBytes sizes_of_classes[] = {0, 967680, 100003};

static const CcsTransport costly = {
    .name = "costly",
    .launch = 3000000,
    .message_cost = 1234567,
    .reduce_rate = 400 * (CCS_RATE_PER_BYTE * 1000000000U),
};

/* FNV-1a over the times of all messages. */
static bool hash_flow(void *data, const CcsFlow *flow, GError **error)
{
    uint64_t *hash = data;
    const uint64_t parts[] = {flow->lane, flow->message, (uint64_t)flow->started,
                              (uint64_t)flow->injected, (uint64_t)flow->arrived};

    (void)error;
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        *hash = (*hash ^ parts[i]) * 0x100000001b3U;
    return true;
}

/* What each lane did, and what came of it for ranks and links. */
typedef struct {
    CcsOutcome outcome;
    uint64_t *hashes; /* by lane */
    CcsRankTotal *ranks;
    CcsLinkUse *links;
} Play;

static void play_clear(Play *play)
{
    g_free(play->hashes);
    g_free(play->ranks);
    g_free(play->links);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Play, play_clear)

static bool hash_by_lane(void *data, const CcsFlow *flow, GError **error)
{
    uint64_t *hashes = data;
    CcsFlow alone = *flow;

    alone.lane = 0;
    return hash_flow(&hashes[flow->lane], &alone, error);
}

/* Returns: false if the engine declines. */
static bool play_all(const CcsSchedule *schedule, const char *engine, CcsBytes size,
                     const CcsTransport *transport, Play *play)
{
    uint32_t n_links =
        ccs_topology_n_links(ccs_communicator_topology(ccs_schedule_communicator(schedule)));
    g_autoptr(GError) error = NULL;

    play->hashes = g_new0(uint64_t, ccs_schedule_n_lanes(schedule) + 1);
    CcsObserver observer = {.flow = hash_by_lane, .data = play->hashes, .takes_classes = true};
    g_autoptr(CcsSimulation) simulation = ccs_simulation_new(
        schedule, transport, ccs_network_model_find("fluid", engine, NULL), &observer, &error);
    g_assert_no_error(error);
    if (!ccs_simulation_run(simulation, size, &play->outcome, &error)) {
        ck_assert_msg(error->code == CCS_ERROR_USAGE, "%s", error->message);
        return false;
    }
    ck_assert_str_eq(play->outcome.engine, engine);
    play->ranks =
        g_memdup2(play->outcome.ranks, sizeof(CcsRankTotal) * ccs_schedule_n_ranks(schedule));
    play->links = g_memdup2(play->outcome.links, sizeof(CcsLinkUse) * n_links);
    return true;
}

/* Returns: whether there were lanes alike. */
static bool compare_classes(const CcsSchedule *schedule, CcsBytes size,
                            const CcsTransport *transport, const char *what)
{
    g_auto(Play) whole = {0};
    g_auto(Play) reduced = {0};
    uint32_t n_links =
        ccs_topology_n_links(ccs_communicator_topology(ccs_schedule_communicator(schedule)));

    if (!play_all(schedule, "quotient", size, transport, &reduced))
        return false;
    ck_assert(play_all(schedule, "incremental", size, transport, &whole));
    g_autofree char *reason = NULL;
    g_autoptr(CcsPaths) paths = ccs_paths_new(schedule, NULL);
    g_autoptr(CcsSymmetry) symmetry = ccs_symmetry_find(schedule, paths, size, &reason);
    for (CcsLaneId lane = 0; lane < ccs_schedule_n_lanes(schedule); lane++) {
        CcsLaneId first = symmetry->lanes.first[symmetry->lanes.of[lane]];
        ck_assert_msg(whole.hashes[lane] == reduced.hashes[first], "lane %u of %s", lane, what);
    }
    ck_assert_msg(whole.outcome.time == reduced.outcome.time, "%s", what);
    ck_assert_msg(whole.outcome.n_messages == reduced.outcome.n_messages, "%s", what);
    for (CcsRank rank = 0; rank < ccs_schedule_n_ranks(schedule); rank++)
        ck_assert_msg(memcmp(&whole.ranks[rank], &reduced.ranks[rank], sizeof(CcsRankTotal)) == 0,
                      "rank %u of %s", rank, what);
    for (CcsLinkId link = 0; link < n_links; link++)
        ck_assert_msg(memcmp(&whole.links[link], &reduced.links[link], sizeof(CcsLinkUse)) == 0,
                      "link %u of %s", link, what);
    return true;
}

START_TEST(one_lane_for_all_that_are_alike_gives_the_bits_of_all)
{
    const char *machine = machines[_i];
    g_autoptr(CcsTopology) topology =
        ccs_topology_read("machine.yaml", machine, strlen(machine), NULL, NULL, NULL);
    g_autoptr(CcsCommunicator) communicator = ccs_communicator_new(topology, 0, 0, NULL);
    uint32_t n_reduced = 0;

    for (size_t i = 0; ccs_algorithms[i] != NULL; i++) {
        for (size_t j = 0; j < 2 * G_N_ELEMENTS(sizes_of_classes); j++) {
            g_autoptr(CcsSchedule) schedule = ccs_algorithm_schedule(
                ccs_algorithms[i], communicator, 0, 1 + 3 * (uint32_t)(j % 2), 7, NULL);
            g_autofree char *what = g_strdup_printf(
                "%s %s on\n%s", ccs_collective_info(ccs_algorithms[i]->collective)->name,
                ccs_algorithms[i]->name, machine);
            if (schedule != NULL &&
                compare_classes(schedule, sizes_of_classes[j / 2],
                                j % 2 == 0 ? &ccs_transport_ideal : &costly, what))
                n_reduced++;
        }
    }
    ck_assert_uint_gt(n_reduced, 0);
}
END_TEST

/* Returns: whether the sweep took it. */
static bool compare_sweep(const CcsSchedule *schedule, const char *model, CcsBytes size,
                          const CcsTransport *transport, const char *what)
{
    uint32_t n_links =
        ccs_topology_n_links(ccs_communicator_topology(ccs_schedule_communicator(schedule)));
    bool is_fluid = strcmp(model, "fluid") == 0;
    g_autoptr(CcsPaths) paths = ccs_paths_new(schedule, NULL);
    g_autofree char *reason = NULL;
    g_autoptr(CcsSweep) sweep = ccs_sweep_run(
        &(CcsSwept){
            .schedule = schedule, .transport = transport, .paths = paths, .shares_links = is_fluid},
        size, &reason, NULL);
    if (sweep == NULL) {
        ck_assert_ptr_nonnull(reason);
        return false;
    }
    CcsOutcome played;
    g_autoptr(CcsSimulation) simulation = ccs_simulation_new(
        schedule, transport, ccs_network_model_find(model, is_fluid ? "incremental" : NULL, NULL),
        NULL, NULL);
    ck_assert(ccs_simulation_run(simulation, size, &played, NULL));
    ck_assert_msg(played.time == sweep->time && played.n_messages == sweep->n_messages, "%s", what);
    for (CcsRank rank = 0; rank < ccs_schedule_n_ranks(schedule); rank++) {
        CcsRankTotal total = sweep->ranks[rank];
        if (total.sending == CCS_TIME_UNKNOWN)
            total.sending = played.ranks[rank].sending;
        ck_assert_msg(memcmp(&played.ranks[rank], &total, sizeof total) == 0, "rank %u of %s", rank,
                      what);
    }
    for (CcsLinkId link = 0; link < n_links; link++) {
        CcsLinkUse use = sweep->links[link];
        if (use.busy == CCS_TIME_UNKNOWN) {
            use.busy = played.links[link].busy;
            use.peak = played.links[link].peak;
        }
        ck_assert_msg(memcmp(&played.links[link], &use, sizeof use) == 0, "link %u of %s", link,
                      what);
    }
    return true;
}

START_TEST(a_sweep_gives_the_bits_of_the_events)
{
    const char *machine = machines[_i];
    g_autoptr(CcsTopology) topology =
        ccs_topology_read("machine.yaml", machine, strlen(machine), NULL, NULL, NULL);
    g_autoptr(CcsCommunicator) communicator = ccs_communicator_new(topology, 0, 0, NULL);
    uint32_t n_swept = 0;

    for (size_t i = 0; ccs_algorithms[i] != NULL; i++) {
        for (size_t j = 0; j < 4 * G_N_ELEMENTS(sizes_of_classes); j++) {
            const CcsTransport *transport = j % 4 < 2 ? &ccs_transport_ideal : &costly;
            const char *model = j % 2 == 0 ? "fluid" : "loggp";
            g_autoptr(CcsSchedule) schedule =
                ccs_algorithm_schedule(ccs_algorithms[i], communicator, 0, 1, 7, NULL);
            g_autofree char *what = g_strdup_printf(
                "%s %s under %s on\n%s", ccs_collective_info(ccs_algorithms[i]->collective)->name,
                ccs_algorithms[i]->name, model, machine);
            if (schedule != NULL &&
                compare_sweep(schedule, model, sizes_of_classes[j / 4], transport, what))
                n_swept++;
        }
    }
    ck_assert_uint_gt(n_swept, 0);
}
END_TEST

START_TEST(every_set_of_instructions_gives_the_same)
{
    const char *machine = machines[1];
    g_autoptr(CcsTopology) topology =
        ccs_topology_read("machine.yaml", machine, strlen(machine), NULL, NULL, NULL);
    g_autoptr(CcsCommunicator) communicator = ccs_communicator_new(topology, 0, 0, NULL);

    for (CcsKernel kernel = 0; kernel < CCS_N_KERNELS; kernel++) {
        if (!ccs_sweep_has_kernel(kernel))
            continue;
        ccs_sweep_choose_kernel(kernel);
        for (size_t i = 0; ccs_algorithms[i] != NULL; i++) {
            g_autoptr(CcsSchedule) schedule =
                ccs_algorithm_schedule(ccs_algorithms[i], communicator, 0, 1, 7, NULL);
            if (schedule == NULL || strcmp(ccs_algorithms[i]->name, "ring") != 0)
                continue;
            ck_assert(compare_sweep(schedule, "fluid", 967680, &ccs_transport_ideal, "ring"));
            ck_assert(compare_sweep(schedule, "fluid", 967680, &costly, "ring"));
        }
    }
}
END_TEST

/* Large rings are taken tile by tile. */
START_TEST(a_ring_of_many_tiles_gives_the_bits_of_the_events)
{
    g_autoptr(GString) machine = g_string_new(
        "nodes: 2051\nnode: {gpus: 1, nics: {count: 1, bandwidth: 25 GB/s, latency: 2 us}}\n"
        "fabric: {kind: switch}\nfaults:\n"
        "  - {kind: link, from: n1000.nic0, to: switch, bandwidth_factor: 0.7}\n");
    g_autoptr(GRand) random = g_rand_new_with_seed(5);

    for (uint32_t node = 0; node < 2051; node += 1 + (uint32_t)g_rand_int_range(random, 0, 40))
        g_string_append_printf(machine, "  - {kind: late-gpu, gpu: n%u.gpu0, delay: %d ns}\n", node,
                               g_rand_int_range(random, 1, 500000));
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsTopology) topology =
        ccs_topology_read("machine.yaml", machine->str, machine->len, NULL, NULL, &error);
    ck_assert_msg(topology != NULL, "%s", error != NULL ? error->message : "");
    g_autoptr(CcsCommunicator) communicator = ccs_communicator_new(topology, 0, 0, NULL);
    g_autoptr(CcsSchedule) schedule = ccs_algorithm_schedule(
        ccs_algorithm_find(CCS_REDUCESCATTER, "ring", NULL), communicator, 0, 1, 1, NULL);

    ck_assert(compare_sweep(schedule, "fluid", 2051 * 4096, &ccs_transport_ideal, "a large ring"));
    ck_assert(compare_sweep(schedule, "fluid", 2051 * 4096, &costly, "a large ring that adds"));
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("tiers");
    TCase *tcase = tcase_create("tiers");

    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, one_lane_for_all_that_are_alike_gives_the_bits_of_all, 0,
                        G_N_ELEMENTS(machines));
    tcase_add_loop_test(tcase, a_sweep_gives_the_bits_of_the_events, 0, G_N_ELEMENTS(machines));
    tcase_add_test(tcase, every_set_of_instructions_gives_the_same);
    tcase_add_test(tcase, a_ring_of_many_tiles_gives_the_bits_of_the_events);
    suite_add_tcase(suite, tcase);
    return suite;
}
