#include "commands/study.h"

#include <string.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "collectives/verify.h"
#include "config/config.h"
#include "sim/steps.h"

struct CcsStudy {
    const CcsMachine *machine;
    CcsTrace *trace;
    CcsTraceLevel level;
    int64_t topology_id;
    CcsSteps *steps;
    GArray *results;      /* of CcsStudyResult */
    CcsObserver observer; /* of the schedule at hand, from outside */
};

static void clear_result(gpointer data)
{
    g_free(((CcsStudyResult *)data)->classes);
}

static bool write_params(const CcsStudy *study, GError **error)
{
    for (guint i = 0; i < study->machine->params->len; i++) {
        const CcsParam *param = g_ptr_array_index(study->machine->params, i);
        CcsParamRow row = {param->path, param->value_text, param->kind, param->source};
        if (!ccs_trace_add_param(study->trace, &row, error))
            return false;
    }
    return true;
}

CcsStudy *ccs_study_new(const CcsMachine *machine, CcsTrace *trace, CcsTraceLevel level,
                        GError **error)
{
    g_autoptr(CcsStudy) study = g_new0(CcsStudy, 1);

    study->machine = machine;
    study->trace = trace;
    study->level = level;
    study->steps = ccs_steps_new();
    study->results = g_array_new(false, true, sizeof(CcsStudyResult));
    g_array_set_clear_func(study->results, clear_result);
    if (!ccs_trace_add_topology(trace, machine->topology, &study->topology_id, error) ||
        !write_params(study, error))
        return NULL;
    return g_steal_pointer(&study);
}

void ccs_study_free(CcsStudy *study)
{
    if (study == NULL)
        return;
    ccs_steps_free(study->steps);
    g_array_unref(study->results);
    g_free(study);
}

const CcsStudyResult *ccs_study_results(const CcsStudy *study, uint32_t *ret_n)
{
    *ret_n = study->results->len;
    return (const CcsStudyResult *)(const void *)study->results->data;
}

static bool observe_flow(void *data, const CcsFlow *flow, GError **error)
{
    CcsStudy *study = data;

    if (study->level >= CCS_TRACE_STEPS)
        ccs_steps_add(study->steps, flow);
    if (study->observer.flow != NULL && !study->observer.flow(study->observer.data, flow, error))
        return false;
    return study->level < CCS_TRACE_FLOWS || ccs_trace_add_flow(study->trace, flow, error);
}

static bool observe_local(void *data, const CcsFlow *work, GError **error)
{
    CcsStudy *study = data;

    return study->observer.local == NULL ||
           study->observer.local(study->observer.data, work, error);
}

uint32_t ccs_default_channels(const CcsCommunicator *communicator, CcsCollective collective)
{
    if (ccs_communicator_n_nodes(communicator) == 1 ||
        ccs_collective_info(collective)->is_without_data)
        return 1;
    return MIN(MAX(ccs_communicator_n_rails(communicator), 1), CCS_MAX_CHANNELS);
}

CcsSchedule *ccs_case_schedule(const CcsCase *of, const CcsMachine *machine, GError **error)
{
    CcsCollective collective = of->algorithm->collective;

    if (of->file != NULL)
        return ccs_msccl_schedule(of->file, machine->communicator, of->root, of->n_chunks,
                                  of->file->is_in_place, error);
    uint32_t n_channels = of->n_channels == 0
                              ? ccs_default_channels(machine->communicator, collective)
                              : of->n_channels;
    uint32_t n_chunks = of->n_chunks == 0 ? CCS_DEFAULT_CHUNKS : of->n_chunks;
    g_autoptr(CcsSchedule) schedule =
        ccs_schedule_new(collective, machine->communicator, of->root, n_channels, n_chunks);

    ccs_schedule_set_distance(schedule, MAX(of->distance, 1));
    ccs_schedule_set_weights(schedule, of->weights);
    return ccs_algorithm_fill(of->algorithm, schedule, error) ? g_steal_pointer(&schedule) : NULL;
}

/* The part of a result that is known before the run. */
static CcsResult describe(const CcsStudy *study, const CcsCase *of, const CcsSchedule *schedule,
                          CcsBytes size)
{
    const CcsMachine *machine = study->machine;
    const CcsCollectiveInfo *info = ccs_collective_info(of->algorithm->collective);
    uint32_t n_ranks = ccs_schedule_n_ranks(schedule);

    return (CcsResult){
        .collective = info->name,
        .algorithm = of->algorithm->name,
        .protocol = "none",
        .transport = machine->transport.name,
        .model = machine->model->name,
        .topology = ccs_topology_name(machine->topology),
        .n_nodes = ccs_communicator_n_nodes(machine->communicator),
        .n_ranks = n_ranks,
        .n_channels = of->file == NULL ? ccs_schedule_n_channels(schedule) : of->file->n_channels,
        .n_chunks = of->algorithm->is_pipelined ? ccs_schedule_pipeline(schedule) : 0,
        .size = size,
        .count = ccs_collective_count(of->algorithm->collective, size, n_ranks, of->type),
        .dtype = of->type->name,
        .op = info->has_op ? of->op : "none",
        .root = info->has_root ? (int64_t)of->root : -1,
        .bottleneck = CCS_NO_LINK,
    };
}

/* What each link class carried; the busiest link of all becomes the bottleneck. */
static void weigh_links(const CcsMachine *machine, const CcsOutcome *outcome, CcsStudyResult *into)
{
    CcsResult *result = &into->result;

    into->classes = g_new0(CcsClassUse, ccs_topology_n_classes(machine->topology) + 1);
    for (uint32_t i = 0; i < ccs_topology_n_classes(machine->topology); i++)
        into->classes[i].busiest = CCS_NO_LINK;
    for (CcsLinkId id = 0; id < ccs_topology_n_links(machine->topology); id++) {
        const CcsLink *link = ccs_topology_link(machine->topology, id);
        const CcsLinkUse *use = &outcome->links[id];
        CcsClassUse *of_class = &into->classes[link->link_class];
        if (use->bytes == 0)
            continue;
        of_class->n_links++;
        of_class->bytes_max = MAX(of_class->bytes_max, use->bytes);
        if (link->bandwidth >= CCS_RATE_UNLIMITED)
            continue;
        double utilisation =
            ccs_bandwidth_GBps((double)use->bytes, outcome->time) / ccs_rate_GBps(link->bandwidth);
        of_class->mean += utilisation;
        if (of_class->busiest == CCS_NO_LINK || utilisation > of_class->utilisation) {
            of_class->busiest = id;
            of_class->utilisation = utilisation;
        }
        if (result->bottleneck == CCS_NO_LINK || utilisation > result->bottleneck_utilisation) {
            result->bottleneck = id;
            result->bottleneck_utilisation = utilisation;
        }
    }
    for (uint32_t i = 0; i < ccs_topology_n_classes(machine->topology); i++)
        into->classes[i].mean /= MAX(into->classes[i].n_links, 1);
}

static void fill_result(const CcsMachine *machine, const CcsCase *of, const CcsOutcome *outcome,
                        CcsStudyResult *into)
{
    CcsResult *result = &into->result;
    CcsCollective collective = of->algorithm->collective;
    uint32_t n_parts = of->file == NULL
                           ? result->n_channels
                           : (of->file->n_chunks * result->n_chunks - 1) / result->n_ranks + 1;
    CcsBound bound = ccs_bounds_of(machine->bounds, collective, of->root, result->size, n_parts,
                                   &machine->transport);
    if (of->weights != NULL)
        ccs_bounds_raise_by_weights(machine->bounds, of->weights, result->size, &machine->transport,
                                    &bound);

    result->time = outcome->time;
    result->algbw_GBps = ccs_bandwidth_GBps((double)result->size, outcome->time);
    result->busbw_GBps =
        result->algbw_GBps * ccs_collective_busbw_factor(collective, result->n_ranks);
    result->bound = bound.time;
    result->bound_name = bound.name;
    result->efficiency = outcome->time == 0 ? 1 : (double)bound.time / (double)outcome->time;
    result->n_flows = outcome->n_messages;
    result->engine = outcome->engine;
    result->engine_reason = g_intern_string(outcome->engine_reason);
    for (CcsRank rank = 0; rank < result->n_ranks; rank++)
        result->bytes_sent_max = MAX(result->bytes_sent_max, outcome->ranks[rank].bytes_sent);
    weigh_links(machine, outcome, into);
}

static bool check_bound(const CcsNetworkModel *model, const CcsResult *result, GError **error)
{
    if (result->time >= result->bound || !model->shares_links)
        return true;
    g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK,
                "%s %s of %" G_GUINT64_FORMAT " bytes took %.6f us, less than the bound of its %s, "
                "%.6f us",
                result->collective, result->algorithm, result->size, ccs_time_us(result->time),
                result->bound_name, ccs_time_us(result->bound));
    return false;
}

static bool record(CcsStudy *study, const CcsSchedule *schedule, const CcsOutcome *outcome,
                   const CcsResult *result, GError **error)
{
    CcsResultRows rows = {
        .result = result,
        .topology = study->machine->topology,
        .ranks = outcome->ranks,
        .rank_vertices = ccs_communicator_gpus(study->machine->communicator),
        .links = outcome->links,
        .critical_path = outcome->critical_path,
        .phases = ccs_schedule_phases(schedule),
        .n_phases = ccs_schedule_n_phases(schedule),
    };

    rows.steps = ccs_steps_totals(study->steps, &rows.n_steps);
    return ccs_trace_end_result(study->trace, &rows, error);
}

static bool run_size(CcsStudy *study, const CcsCase *of, const CcsSchedule *schedule,
                     CcsSimulation *simulation, CcsBytes size, GError **error)
{
    CcsOutcome outcome;
    CcsStudyResult into = {.asked = *of,
                           .topology = study->machine->topology,
                           .communicator = study->machine->communicator,
                           .run_id = ccs_trace_run_id(study->trace),
                           .result = describe(study, of, schedule, size)};

    ccs_steps_clear(study->steps);
    if (!ccs_interrupt_check(error) ||
        !ccs_trace_begin_result(study->trace, &into.result, study->topology_id, error) ||
        !ccs_simulation_run(simulation, size, &outcome, error))
        return false;
    fill_result(study->machine, of, &outcome, &into);
    g_array_append_val(study->results, into);
    return check_bound(study->machine->model, &into.result, error) &&
           record(study, schedule, &outcome, &into.result, error);
}

/* An algorithm that cannot serve this job: no fault where all were asked for. */
static bool pass_over(const CcsCase *study_case, GError *refusal, GError **error)
{
    if (!study_case->is_optional) {
        g_propagate_error(error, refusal);
        return false;
    }
    g_printerr("ccsim: note: '%s' is left out: %s\n", study_case->algorithm->name,
               refusal->message);
    g_error_free(refusal);
    return true;
}

static bool verify(const CcsCase *of, const CcsSchedule *schedule, GError **error)
{
    if (ccs_schedule_n_ranks(schedule) > CCS_VERIFIED_RANKS ||
        ccs_schedule_collective(schedule) == CCS_PROGRAM || ccs_verify(schedule, error))
        return true;
    if (ccs_interrupt_check(NULL))
        g_prefix_error(error, "algorithm '%s' is wrong: ", of->algorithm->name);
    return false;
}

bool ccs_study_play(CcsStudy *study, const CcsCase *of, const CcsSchedule *schedule,
                    const CcsObserver *observer, const CcsBytes *sizes, uint32_t n_sizes,
                    GError **error)
{
    const CcsMachine *machine = study->machine;
    const CcsObserver own = {.flow = observe_flow,
                             .local = observe_local,
                             .data = study,
                             .takes_classes = observer == NULL && study->level == CCS_TRACE_STEPS};
    bool is_observed = observer != NULL || study->level >= CCS_TRACE_STEPS;

    study->observer = observer == NULL ? (CcsObserver){0} : *observer;
    g_autoptr(CcsSimulation) simulation = ccs_simulation_new(
        schedule, &machine->transport, machine->model, is_observed ? &own : NULL, error);
    if (simulation == NULL)
        return false;
    for (uint32_t i = 0; i < n_sizes; i++) {
        if (!run_size(study, of, schedule, simulation, sizes[i], error))
            return false;
    }
    return true;
}

bool ccs_study_run(CcsStudy *study, const CcsCase *study_case, const CcsBytes *sizes,
                   uint32_t n_sizes, GError **error)
{
    static const CcsBytes no_bytes = 0;
    bool has_data = !ccs_collective_info(study_case->algorithm->collective)->is_without_data;
    g_autoptr(GError) refusal = NULL;
    g_autoptr(CcsSchedule) schedule = ccs_case_schedule(study_case, study->machine, &refusal);

    if (schedule == NULL)
        return pass_over(study_case, g_steal_pointer(&refusal), error);
    if (!verify(study_case, schedule, error))
        return false;
    return ccs_study_play(study, study_case, schedule, NULL, has_data ? sizes : &no_bytes,
                          has_data ? n_sizes : 1, error);
}
