#include "tests/support/simulate.h"

#include <math.h>
#include <string.h>

#include <check.h>

#include "topology/topology_yaml.h"

void ccs_answer_clear(CcsAnswer *answer)
{
    ccs_simulation_free(answer->simulation);
    ccs_schedule_free(answer->schedule);
    ccs_communicator_free(answer->communicator);
    ccs_topology_free(answer->topology);
}

static void must_work(bool is_ok, const GError *error)
{
    if (!is_ok)
        ck_abort_msg("%s", error == NULL ? "failed without a message" : error->message);
}

CcsTopology *ccs_ask_topology(const CcsAsked *asked)
{
    const char *overrides[G_N_ELEMENTS(asked->set) + 1] = {NULL};
    CcsTopologyOptions options = {.overrides = overrides, .n_nodes = asked->n_nodes};
    bool is_name = strpbrk(asked->machine, ":\n") == NULL;
    g_autoptr(GError) error = NULL;

    memcpy(overrides, asked->set, sizeof asked->set);
    CcsTopology *topology = is_name
                                ? ccs_topology_load(asked->machine, &options, NULL, &error)
                                : ccs_topology_read("machine.yaml", asked->machine,
                                                    strlen(asked->machine), &options, NULL, &error);
    must_work(topology != NULL, error);
    return topology;
}

void ccs_ask_machine(const CcsAsked *asked, CcsAnswer *ret_answer)
{
    g_autoptr(GError) error = NULL;

    *ret_answer = (CcsAnswer){.transport = asked->transport};
    if (ret_answer->transport.reduce_rate == 0)
        ret_answer->transport.reduce_rate = CCS_RATE_UNLIMITED;
    ret_answer->topology = ccs_ask_topology(asked);
    ret_answer->communicator =
        ccs_communicator_new(ret_answer->topology, asked->n_ranks, asked->ranks_per_node, &error);
    must_work(ret_answer->communicator != NULL, error);
}

static const CcsAlgorithm *find(const CcsAsked *asked)
{
    CcsCollective collective = CCS_ALLREDUCE;
    g_autoptr(GError) error = NULL;
    bool is_known =
        asked->collective == NULL || ccs_collective_parse(asked->collective, &collective, &error);

    must_work(is_known, error);
    const char *name = asked->algorithm == NULL ? ccs_collective_info(collective)->default_algorithm
                                                : asked->algorithm;
    const CcsAlgorithm *algorithm = ccs_algorithm_find(collective, name, &error);
    must_work(algorithm != NULL, error);
    return algorithm;
}

bool ccs_ask_schedule(const CcsAsked *asked, CcsAnswer *ret_answer)
{
    ccs_ask_machine(asked, ret_answer);
    const CcsAlgorithm *algorithm = find(asked);
    ret_answer->schedule =
        ccs_schedule_new(algorithm->collective, ret_answer->communicator, asked->root,
                         MAX(asked->n_channels, 1), MAX(asked->n_chunks, 1));
    ccs_schedule_set_distance(ret_answer->schedule, MAX(asked->distance, 1));
    ccs_schedule_set_weights(ret_answer->schedule, asked->weights);
    return ccs_algorithm_fill(algorithm, ret_answer->schedule, NULL);
}

void ccs_ask_size(CcsAnswer *answer, const CcsAsked *asked, CcsBytes size)
{
    g_autoptr(GError) error = NULL;
    bool is_ok = ccs_simulation_run(answer->simulation, size, &answer->outcome, &error);

    must_work(is_ok, error);
    g_autoptr(CcsBounds) bounds = ccs_bounds_new(answer->communicator);
    answer->bound =
        ccs_bounds_of(bounds, ccs_schedule_collective(answer->schedule), asked->root, size,
                      ccs_schedule_n_channels(answer->schedule), &answer->transport);
}

void ccs_ask(const CcsAsked *asked, CcsAnswer *ret_answer)
{
    g_autoptr(GError) error = NULL;

    ck_assert(ccs_ask_schedule(asked, ret_answer));
    ret_answer->simulation = ccs_simulation_new(
        ret_answer->schedule, &ret_answer->transport,
        ccs_network_model_find(asked->model == NULL ? "fluid" : asked->model, asked->engine, NULL),
        NULL, &error);
    must_work(ret_answer->simulation != NULL, error);
    ccs_ask_size(ret_answer, asked, asked->size);
}

CcsBytes ccs_answer_class_bytes(const CcsAnswer *answer, const char *name)
{
    CcsBytes bytes = 0;

    for (CcsLinkId id = 0; id < ccs_topology_n_links(answer->topology); id++) {
        uint32_t link_class = ccs_topology_link(answer->topology, id)->link_class;
        if (strcmp(ccs_topology_class_name(answer->topology, link_class), name) == 0)
            bytes += answer->outcome.links[id].bytes;
    }
    return bytes;
}

CcsTime ccs_ask_time(const CcsAsked *asked)
{
    g_auto(CcsAnswer) answer;
    ccs_ask(asked, &answer);
    return answer.outcome.time;
}

double ccs_ask_us(const CcsAsked *asked)
{
    return ccs_time_us(ccs_ask_time(asked));
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
