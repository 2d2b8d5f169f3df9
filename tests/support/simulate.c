#include "tests/support/simulate.h"

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

void ccs_ask_machine(const CcsAsked *asked, CcsAnswer *ret_answer)
{
    const char *overrides[] = {asked->set, NULL};
    CcsTopologyOptions options = {.overrides = overrides, .n_nodes = asked->n_nodes};
    g_autoptr(GError) error = NULL;

    *ret_answer = (CcsAnswer){0};
    ret_answer->topology = strpbrk(asked->machine, ":\n") == NULL
                               ? ccs_topology_load(asked->machine, &options, NULL, &error)
                               : ccs_topology_read("machine.yaml", asked->machine,
                                                   strlen(asked->machine), &options, NULL, &error);
    ck_assert_msg(ret_answer->topology != NULL, "%s", error == NULL ? "" : error->message);
    ret_answer->communicator =
        ccs_communicator_new(ret_answer->topology, asked->n_ranks, asked->ranks_per_node, &error);
    ck_assert_msg(ret_answer->communicator != NULL, "%s", error == NULL ? "" : error->message);
}

static const CcsAlgorithm *find(const CcsAsked *asked)
{
    CcsCollective collective = CCS_ALLREDUCE;

    ck_assert(ccs_collective_parse(asked->collective, &collective, NULL));
    const CcsAlgorithm *algorithm = ccs_algorithm_find(
        collective,
        asked->algorithm == NULL ? ccs_collective_info(collective)->default_algorithm
                                 : asked->algorithm,
        NULL);
    ck_assert_ptr_nonnull(algorithm);
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

static const CcsTransport *transport_of(const CcsAsked *asked)
{
    return asked->transport.reduce_rate == 0 ? &ccs_transport_ideal : &asked->transport;
}

void ccs_ask_size(CcsAnswer *answer, const CcsAsked *asked, CcsBytes size)
{
    g_autoptr(GError) error = NULL;
    bool is_ok = ccs_simulation_run(answer->simulation, size, &answer->outcome, &error);

    ck_assert_msg(is_ok, "%s", error == NULL ? "" : error->message);
    g_autoptr(CcsBounds) bounds = ccs_bounds_new(answer->communicator);
    answer->bound =
        ccs_bounds_of(bounds, ccs_schedule_collective(answer->schedule), asked->root, size,
                      ccs_schedule_n_channels(answer->schedule), transport_of(asked));
}

void ccs_ask(const CcsAsked *asked, CcsAnswer *ret_answer)
{
    g_autoptr(GError) error = NULL;

    ck_assert(ccs_ask_schedule(asked, ret_answer));
    ret_answer->simulation = ccs_simulation_new(
        ret_answer->schedule, transport_of(asked),
        ccs_network_model_find(asked->model == NULL ? "fluid" : asked->model, asked->engine, NULL),
        NULL, &error);
    ck_assert_msg(ret_answer->simulation != NULL, "%s", error == NULL ? "" : error->message);
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
