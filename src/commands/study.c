#include "commands/study.h"

#include <string.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "collectives/verify.h"
#include "commands/estimates.h"
#include "commands/probe.h"
#include "config/config.h"
#include "sim/steps.h"

struct CcsStudy {
    const CcsMachine *machine;
    CcsTrace *trace;
    CcsTraceLevel level;
    int64_t topology_id;
    CcsSteps *steps;
    CcsProbe *probe;      /* NULL: none was asked for */
    GArray *results;      /* of CcsStudyResult */
    CcsObserver observer; /* of the schedule at hand, from outside */
    CcsBar *bar;          /* not owned; NULL: none */
    uint64_t n_played;    /* messages of the schedule at hand so far, in all runs of it */
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
    ccs_probe_free(study->probe);
    g_array_unref(study->results);
    g_free(study);
}

void ccs_study_probe(CcsStudy *study)
{
    if (study->probe == NULL)
        study->probe = ccs_probe_new(study->machine);
}

void ccs_study_show(CcsStudy *study, CcsBar *bar)
{
    study->bar = bar;
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

static void observe_progress(void *data, uint64_t n_more)
{
    CcsStudy *study = data;

    study->n_played += n_more;
    ccs_bar_set(study->bar, study->n_played);
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
        return ccs_msccl_schedule(of->file, machine->communicator,
                                  &(CcsMscclUse){.root = of->root,
                                                 .n_loops = of->n_chunks,
                                                 .is_in_place = of->file->is_in_place},
                                  error);
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
        .case_title = of->spec == NULL ? NULL : of->spec->title,
        .collective = info->name,
        .algorithm = of->algorithm->name,
        .protocol = "none",
        .transport = machine->transport.name,
        .model = machine->model->name,
        .topology = ccs_topology_name(machine->topology),
        .n_nodes = ccs_communicator_n_nodes(machine->communicator),
        .n_ranks = n_ranks,
        .n_channels = of->file == NULL ? ccs_schedule_n_channels(schedule)
                                       : MAX(of->file->n_channels, 1), /* only copies: none */
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

static bool check_bound(const CcsNetworkModel *model, const CcsStudyResult *of, GError **error)
{
    const CcsResult *result = &of->result;

    if (result->time >= result->bound || !model->shares_links)
        return true;
    g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK,
                "%s %s of %" G_GUINT64_FORMAT " bytes took %.6f us, less than the bound of its %s, "
                "%.6f us%s",
                result->collective, result->algorithm, result->size, ccs_time_us(result->time),
                result->bound_name, ccs_time_us(result->bound),
                of->asked.file == NULL ? "" : ": the file cannot do what its collective promises");
    return false;
}

static bool record(CcsStudy *study, const CcsSchedule *schedule, const CcsOutcome *outcome,
                   const CcsStudyResult *of, GError **error)
{
    const CcsResult *result = &of->result;
    g_autoptr(GArray) estimates = ccs_estimates_of(of->asked.spec, result->algorithm, result->size);
    CcsResultRows rows = {
        .result = result,
        .topology = study->machine->topology,
        .ranks = outcome->ranks,
        .rank_vertices = ccs_communicator_gpus(study->machine->communicator),
        .links = outcome->links,
        .critical_path = outcome->critical_path,
        .phases = ccs_schedule_phases(schedule),
        .n_phases = ccs_schedule_n_phases(schedule),
        .estimates = (const CcsEstimateRow *)(const void *)estimates->data,
        .n_estimates = estimates->len,
    };

    rows.steps = ccs_steps_totals(study->steps, &rows.n_steps);
    return ccs_trace_end_result(study->trace, &rows, error);
}

static bool probe(const CcsStudy *study, CcsTime time, CcsResult *result, GError **error)
{
    result->is_probed = study->probe != NULL;
    return study->probe == NULL ||
           ccs_probe_run(study->probe, result->size, time, &result->time_digits, error);
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
        !ccs_simulation_run(simulation, size, &outcome, error) ||
        !probe(study, outcome.time, &into.result, error))
        return false;
    fill_result(study->machine, of, &outcome, &into);
    g_array_append_val(study->results, into);
    return check_bound(study->machine->model, &into, error) &&
           record(study, schedule, &outcome, &into, error);
}

/* An algorithm that cannot serve this job: no fault where all were asked for. */
static bool pass_over(const CcsStudy *study, const CcsCase *study_case, GError *refusal,
                      GError **error)
{
    if (!study_case->is_optional) {
        g_propagate_error(error, refusal);
        return false;
    }
    ccs_bar_clear(study->bar);
    ccs_bar_begin_part(study->bar, 0);
    g_printerr("ccsim: note: '%s' is left out: %s\n", study_case->algorithm->name,
               refusal->message);
    g_error_free(refusal);
    return true;
}

/* A file that is timed otherwise than by the letter must be right by the letter, too. */
static bool verify_letter(const CcsCase *of, const CcsSchedule *schedule, GError **error)
{
    if (of->file == NULL || !of->file->has_unordered)
        return true;
    g_autoptr(CcsSchedule) literal =
        ccs_msccl_schedule(of->file, ccs_schedule_communicator(schedule),
                           &(CcsMscclUse){.root = of->root,
                                          .n_loops = of->n_chunks,
                                          .is_in_place = of->file->is_in_place,
                                          .is_by_letter = true},
                           error);
    return literal != NULL && ccs_verify(literal, error);
}

/* With many ranks the catalogue is taken as right, but a user's file is played in one order. */
static bool play_data(const CcsCase *of, const CcsSchedule *schedule, GError **error)
{
    if (ccs_schedule_n_ranks(schedule) <= CCS_VERIFIED_RANKS)
        return verify_letter(of, schedule, error) && ccs_verify(schedule, error);
    return of->file == NULL || ccs_verify_play(schedule, CCS_PLAY_DELIVER_FIRST, 0, error);
}

static bool verify(const CcsCase *of, const CcsSchedule *schedule, GError **error)
{
    g_autoptr(GError) failure = NULL;

    if (ccs_schedule_collective(schedule) == CCS_PROGRAM || play_data(of, schedule, &failure))
        return true;
    if (g_error_matches(failure, CCS_ERROR, CCS_ERROR_INPUT)) {
        g_printerr("ccsim: note: '%s' is not verified: %s\n", of->algorithm->name,
                   failure->message);
        return true;
    }
    if (g_error_matches(failure, CCS_ERROR, CCS_ERROR_CHECK))
        g_prefix_error(&failure, "algorithm '%s' is wrong: ", of->algorithm->name);
    g_propagate_error(error, g_steal_pointer(&failure));
    return false;
}

/* A new part of what the bar shows: @schedule, for @n_sizes. */
static void begin_part(CcsStudy *study, const CcsSchedule *schedule, uint32_t n_sizes)
{
    uint64_t n_runs = (uint64_t)n_sizes * (study->probe == NULL ? 1 : 1 + CCS_PROBE_RUNS);
    uint64_t n_messages = 0;

    study->n_played = 0;
    for (CcsLaneId id = 0; study->bar != NULL && id < ccs_schedule_n_lanes(schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(schedule, id);
        n_messages += ccs_lane_is_local(lane) ? 0 : lane->n_messages;
    }
    ccs_bar_begin_part(study->bar, n_messages * n_runs);
}

bool ccs_study_play(CcsStudy *study, const CcsCase *of, const CcsSchedule *schedule,
                    const CcsObserver *observer, const CcsBytes *sizes, uint32_t n_sizes,
                    GError **error)
{
    const CcsMachine *machine = study->machine;
    bool is_observed = observer != NULL || study->level >= CCS_TRACE_STEPS;
    const CcsObserver own = {.flow = is_observed ? observe_flow : NULL,
                             .local = is_observed ? observe_local : NULL,
                             .progress = study->bar == NULL ? NULL : observe_progress,
                             .takes_classes = observer == NULL && study->level == CCS_TRACE_STEPS,
                             .data = study};

    study->observer = observer == NULL ? (CcsObserver){0} : *observer;
    g_autoptr(CcsSimulation) simulation =
        ccs_simulation_new(schedule, &machine->transport, machine->model, &own, error);
    if (simulation == NULL)
        return false;
    begin_part(study, schedule, n_sizes);
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
    const CcsObserver in_probe = {.progress = observe_progress, .data = study};
    bool has_data = !ccs_collective_info(study_case->algorithm->collective)->is_without_data;
    g_autoptr(GError) refusal = NULL;
    g_autoptr(CcsSchedule) schedule = ccs_case_schedule(study_case, study->machine, &refusal);

    if (schedule == NULL)
        return pass_over(study, study_case, g_steal_pointer(&refusal), error);
    if (!verify(study_case, schedule, error) ||
        (study->probe != NULL && !ccs_probe_set_case(study->probe, study_case, &in_probe, error)))
        return false;
    return ccs_study_play(study, study_case, schedule, NULL, has_data ? sizes : &no_bytes,
                          has_data ? n_sizes : 1, error);
}
