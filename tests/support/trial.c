#include "tests/support/trial.h"

#include <math.h>
#include <string.h>

#include <check.h>

#include "topology/topology_yaml.h"

static void must_work(bool is_ok, const GError *error)
{
    if (!is_ok)
        ck_abort_msg("%s", error == NULL ? "failed without a message" : error->message);
}

CcsTopology *ccs_trial_topology(const CcsTrialSpec *spec)
{
    g_autoptr(GError) error = NULL;
    CcsTopologyOptions options = {.overrides = spec->settings, .n_nodes = spec->n_nodes};
    bool is_name = strpbrk(spec->topology, ":\n") == NULL;
    CcsTopology *topology = is_name
                                ? ccs_topology_load(spec->topology, &options, NULL, &error)
                                : ccs_topology_read("test.yaml", spec->topology,
                                                    strlen(spec->topology), &options, NULL, &error);

    must_work(topology != NULL, error);
    return topology;
}

static const CcsAlgorithm *find_algorithm(const CcsTrialSpec *spec)
{
    g_autoptr(GError) error = NULL;
    CcsCollective collective = CCS_ALLREDUCE;
    bool is_ok =
        spec->collective == NULL || ccs_collective_parse(spec->collective, &collective, &error);

    must_work(is_ok, error);
    const char *name = spec->algorithm == NULL ? ccs_collective_info(collective)->default_algorithm
                                               : spec->algorithm;
    const CcsAlgorithm *algorithm = ccs_algorithm_find(collective, name, &error);
    must_work(algorithm != NULL, error);
    return algorithm;
}

CcsTrial *ccs_trial_new(const CcsTrialSpec *spec)
{
    g_autoptr(GError) error = NULL;
    const CcsAlgorithm *algorithm = find_algorithm(spec);
    CcsTrial *trial = g_new0(CcsTrial, 1);

    trial->transport = spec->transport;
    if (trial->transport.reduce_rate == 0)
        trial->transport.reduce_rate = CCS_RATE_UNLIMITED;
    trial->collective = algorithm->collective;
    trial->root = spec->root;
    trial->topology = ccs_trial_topology(spec);
    trial->communicator =
        ccs_communicator_new(trial->topology, spec->n_ranks, spec->ranks_per_node, &error);
    must_work(trial->communicator != NULL, error);
    trial->bounds = ccs_bounds_new(trial->communicator);
    trial->schedule =
        ccs_algorithm_schedule(algorithm, trial->communicator, spec->root, MAX(spec->n_channels, 1),
                               MAX(spec->n_chunks, 1), &error);
    must_work(trial->schedule != NULL, error);
    trial->simulation = ccs_simulation_new(trial->schedule, &trial->transport,
                                           ccs_network_models[0], spec->observer, &error);
    must_work(trial->simulation != NULL, error);
    return trial;
}

void ccs_trial_free(CcsTrial *trial)
{
    if (trial == NULL)
        return;
    ccs_simulation_free(trial->simulation);
    ccs_schedule_free(trial->schedule);
    ccs_bounds_free(trial->bounds);
    ccs_communicator_free(trial->communicator);
    ccs_topology_free(trial->topology);
    g_free(trial);
}

CcsOutcome ccs_trial_run(CcsTrial *trial, CcsBytes size)
{
    g_autoptr(GError) error = NULL;
    CcsOutcome outcome = {0};

    must_work(ccs_simulation_run(trial->simulation, size, &outcome, &error), error);
    return outcome;
}

CcsTime ccs_trial_bound(const CcsTrial *trial, CcsBytes size)
{
    return ccs_bounds_of(trial->bounds, trial->collective, trial->root, size,
                         ccs_schedule_n_channels(trial->schedule), &trial->transport)
        .time;
}

CcsTime ccs_trial_time(const CcsTrialSpec *spec, CcsBytes size)
{
    g_autoptr(CcsTrial) trial = ccs_trial_new(spec);
    return ccs_trial_run(trial, size).time;
}

CcsLinkId ccs_find_link(const CcsTopology *topology, const char *from, const char *to)
{
    CcsVertexId source = ccs_topology_find_vertex(topology, from);
    CcsVertexId target = ccs_topology_find_vertex(topology, to);

    for (CcsLinkId id = 0; id < ccs_topology_n_links(topology); id++) {
        const CcsLink *link = ccs_topology_link(topology, id);
        if (link->from == source && link->to == target)
            return id;
    }
    ck_abort_msg("no link leads from %s to %s", from, to);
    return CCS_NO_LINK;
}

void ccs_assert_time(CcsTime time, double expected_us, uint64_t n_messages)
{
    double expected = expected_us * (double)CCS_PS_PER_US;
    double slack = expected * 1e-15; /* of the double itself */

    ck_assert_msg((double)time >= floor(expected - slack) &&
                      (double)time <= ceil(expected + slack) + (double)n_messages,
                  "%.6f us, not %.6f us and at most %" G_GUINT64_FORMAT " ps more",
                  ccs_time_us(time), expected_us, n_messages);
}
