/* Every engine of a model gives the same bits: each message leaves and arrives at the same
 * picosecond, whatever is uneven about the machine. */
#include <string.h>

#include "collectives/algorithm.h"
#include "sim/sim.h"
#include "tests/property/machines.h"
#include "tests/support/check_main.h"
#include "topology/topology_yaml.h"

static const CcsBytes sizes[] = {1, 1048576, 100000007};

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

/* The same, but the order in which messages leave does not count. */
static bool hash_set(void *data, const CcsFlow *flow, GError **error)
{
    uint64_t *hash = data;
    uint64_t one = 0xcbf29ce484222325U;

    hash_flow(&one, flow, error);
    *hash += one;
    return true;
}

/* A hash over the times of all messages, whatever the order of what happens at one moment; with
 * @seed 0 that order is the usual one. */
static uint64_t play_shuffled(const CcsSchedule *schedule, CcsBytes size,
                              const CcsTransport *transport, uint32_t seed)
{
    uint64_t hash = 0;
    CcsObserver observer = {.flow = hash_set, .data = &hash, .local = hash_set};
    CcsOutcome outcome;
    const CcsNetworkModel *model = ccs_network_model_find("fluid", "incremental", NULL);
    g_autoptr(CcsSimulation) simulation =
        ccs_simulation_new(schedule, transport, model, &observer, NULL);

    if (seed != 0)
        ccs_simulation_shuffle(simulation, seed);
    ck_assert(ccs_simulation_run(simulation, size, &outcome, NULL));
    return hash;
}

static uint64_t play(const CcsSchedule *schedule, const char *engine, CcsBytes size,
                     const CcsTransport *transport)
{
    uint64_t hash = 0xcbf29ce484222325U;
    CcsObserver observer = {hash_flow, &hash};
    CcsOutcome outcome;
    g_autoptr(GError) error = NULL;
    const CcsNetworkModel *model = ccs_network_model_find("fluid", engine, NULL);
    g_autoptr(CcsSimulation) simulation =
        ccs_simulation_new(schedule, transport, model, &observer, &error);

    ck_assert_msg(simulation != NULL, "%s", error != NULL ? error->message : "");
    ck_assert_msg(ccs_simulation_run(simulation, size, &outcome, &error), "%s",
                  error != NULL ? error->message : "");
    for (CcsLinkId link = 0;
         link <
         ccs_topology_n_links(ccs_communicator_topology(ccs_schedule_communicator(schedule)));
         link++) {
        hash = (hash ^ outcome.links[link].bytes) * 0x100000001b3U;
        hash = (hash ^ (uint64_t)outcome.links[link].busy) * 0x100000001b3U;
        hash = (hash ^ outcome.links[link].peak) * 0x100000001b3U;
    }
    return hash;
}

static void compare(const CcsAlgorithm *algorithm, const CcsCommunicator *communicator,
                    uint32_t n_channels, const CcsTransport *transport, const char *machine)
{
    g_autoptr(CcsSchedule) schedule =
        ccs_algorithm_schedule(algorithm, communicator, 0, n_channels, 7, NULL);

    if (schedule == NULL) /* not for this shape */
        return;
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
        ck_assert_msg(play(schedule, "incremental", sizes[i], transport) ==
                          play(schedule, "reference", sizes[i], transport),
                      "%s %s of %" G_GUINT64_FORMAT " B on %u channels differs on\n%s",
                      ccs_collective_info(algorithm->collective)->name, algorithm->name, sizes[i],
                      n_channels, machine);
}

static const CcsTransport costly = {
    .name = "costly",
    .launch = 3000000,
    .message_cost = 1234567,
    .reduce_rate = 400 * (CCS_RATE_PER_BYTE * 1000000000U),
};

static void shuffle(const CcsAlgorithm *algorithm, const CcsCommunicator *communicator,
                    uint32_t n_channels, const CcsTransport *transport, const char *machine)
{
    g_autoptr(CcsSchedule) schedule =
        ccs_algorithm_schedule(algorithm, communicator, 0, n_channels, 7, NULL);

    if (schedule == NULL) /* not for this shape */
        return;
    uint64_t expected = play_shuffled(schedule, 1048576, transport, 0);
    for (uint32_t seed = 1; seed <= 3; seed++)
        ck_assert_msg(play_shuffled(schedule, 1048576, transport, seed) == expected,
                      "%s %s on %u channels differs with seed %u on\n%s",
                      ccs_collective_info(algorithm->collective)->name, algorithm->name, n_channels,
                      seed, machine);
}

START_TEST(the_order_of_what_happens_at_one_moment_changes_no_time)
{
    const char *machine = machines[_i];
    g_autoptr(CcsTopology) topology =
        ccs_topology_read("machine.yaml", machine, strlen(machine), NULL, NULL, NULL);
    g_autoptr(CcsCommunicator) communicator = ccs_communicator_new(topology, 0, 0, NULL);

    for (size_t i = 0; ccs_algorithms[i] != NULL; i++) {
        shuffle(ccs_algorithms[i], communicator, 1, &ccs_transport_ideal, machine);
        shuffle(ccs_algorithms[i], communicator, 4, &costly, machine);
    }
}
END_TEST

START_TEST(the_incremental_engine_gives_the_bits_of_the_reference)
{
    const char *machine = machines[_i];
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsTopology) topology =
        ccs_topology_read("machine.yaml", machine, strlen(machine), NULL, NULL, &error);
    ck_assert_msg(topology != NULL, "%s", error != NULL ? error->message : "");
    g_autoptr(CcsCommunicator) communicator = ccs_communicator_new(topology, 0, 0, NULL);
    CcsTransport synchronous = {.is_synchronous = true, .reduce_rate = CCS_RATE_UNLIMITED};

    for (size_t i = 0; ccs_algorithms[i] != NULL; i++) {
        compare(ccs_algorithms[i], communicator, 1, &ccs_transport_ideal, machine);
        compare(ccs_algorithms[i], communicator, 4, &ccs_transport_ideal, machine);
        compare(ccs_algorithms[i], communicator, 3, &costly, machine);
        compare(ccs_algorithms[i], communicator, 2, &synchronous, machine);
    }
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("engines");
    TCase *tcase = tcase_create("engines");

    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, the_incremental_engine_gives_the_bits_of_the_reference, 0,
                        G_N_ELEMENTS(machines));
    tcase_add_loop_test(tcase, the_order_of_what_happens_at_one_moment_changes_no_time, 0,
                        G_N_ELEMENTS(machines));
    suite_add_tcase(suite, tcase);
    return suite;
}
