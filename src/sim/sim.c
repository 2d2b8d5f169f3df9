#include "sim/sim.h"

#include <string.h>

#include "base/error.h"
#include "collectives/synchronous.h"
#include "sim/paths.h"
#include "sim/play.h"
#include "sim/reduction.h"
#include "sim/sweep.h"

/* Fewer messages are played in the time that the search for lanes that are alike takes. */
#define FEW_MESSAGES 100000U

/* To play more of them would take long, so what a sweep cannot tell is done without. */
#define MANY_MESSAGES 10000000U

/* Lanes, and what plays or sweeps them when they are first to be. */
typedef struct {
    const CcsSchedule *schedule;
    const CcsReduction *reduction; /* what the lanes stand for; NULL: themselves */
    CcsPaths *paths;
    CcsPlay *play;
    CcsSweep *sweep; /* the last one */
    uint64_t n_messages;
} Stage;

struct CcsSimulation {
    CcsSchedule *own_schedule; /* the one that is played, where it is not the caller's */
    const CcsTransport *transport;
    const CcsNetworkModel *model;
    const CcsTopology *topology;
    CcsObserver observer;
    Stage whole;
    Stage reduced; /* one lane for all that are alike; schedule is NULL where there is none */
    CcsReduction *reduction;
    char *reason_against[2]; /* reducing; of uneven and of even sizes. NULL: not tried */
    CcsRankTotal *ranks;     /* of the whole, by rank, where that was reduced */
    CcsLinkUse *links;       /* likewise, by link */
    char *engine_reason;
    uint32_t seed; /* 0: in the order of events */
};

static bool stage_init(Stage *stage, const CcsSchedule *schedule, const CcsReduction *reduction,
                       GError **error)
{
    stage->schedule = schedule;
    stage->reduction = reduction;
    stage->paths = ccs_paths_new(schedule, error);
    stage->n_messages = 0;
    for (CcsLaneId lane = 0; lane < ccs_schedule_n_lanes(schedule); lane++)
        stage->n_messages += ccs_schedule_lane(schedule, lane)->n_messages;
    return stage->paths != NULL;
}

static void stage_clear(Stage *stage)
{
    ccs_play_free(stage->play);
    ccs_sweep_free(stage->sweep);
    ccs_paths_free(stage->paths);
    *stage = (Stage){0};
}

CcsSimulation *ccs_simulation_new(const CcsSchedule *schedule, const CcsTransport *transport,
                                  const CcsNetworkModel *model, const CcsObserver *observer,
                                  GError **error)
{
    g_autoptr(CcsSimulation) simulation = g_new0(CcsSimulation, 1);

    simulation->transport = transport;
    simulation->model = model;
    simulation->topology = ccs_communicator_topology(ccs_schedule_communicator(schedule));
    if (observer != NULL)
        simulation->observer = *observer;
    if (transport->is_synchronous)
        simulation->own_schedule = ccs_schedule_synchronous(schedule);
    const CcsSchedule *played =
        simulation->own_schedule == NULL ? schedule : simulation->own_schedule;
    if (!stage_init(&simulation->whole, played, NULL, error))
        return NULL;
    return g_steal_pointer(&simulation);
}

static void drop_reduced(CcsSimulation *simulation)
{
    stage_clear(&simulation->reduced);
    g_clear_pointer(&simulation->reduction, ccs_reduction_free);
    g_clear_pointer(&simulation->ranks, g_free);
    g_clear_pointer(&simulation->links, g_free);
}

void ccs_simulation_free(CcsSimulation *simulation)
{
    if (simulation == NULL)
        return;
    drop_reduced(simulation);
    stage_clear(&simulation->whole);
    g_free(simulation->reason_against[false]);
    g_free(simulation->reason_against[true]);
    g_free(simulation->engine_reason);
    ccs_schedule_free(simulation->own_schedule); /* the stages look at it until they go */
    g_free(simulation);
}

void ccs_simulation_shuffle(CcsSimulation *simulation, uint32_t seed)
{
    simulation->seed = seed;
    g_clear_pointer(&simulation->whole.play, ccs_play_free);
    g_clear_pointer(&simulation->reduced.play, ccs_play_free);
}

static bool play(CcsSimulation *simulation, Stage *stage, CcsBytes size, CcsOutcome *ret_outcome,
                 GError **error)
{
    if (stage->play == NULL) {
        stage->play = ccs_play_new(&(CcsPlayed){.schedule = stage->schedule,
                                                .transport = simulation->transport,
                                                .model = simulation->model,
                                                .paths = stage->paths,
                                                .reduction = stage->reduction,
                                                .observer = &simulation->observer});
        if (simulation->seed != 0)
            ccs_play_shuffle(stage->play, simulation->seed);
    }
    return ccs_play_run(stage->play, size, ret_outcome, error);
}

static bool is_observed(const CcsSimulation *simulation)
{
    return simulation->observer.flow != NULL || simulation->observer.local != NULL;
}

/* Returns: false, with @ret_reason if that is not possible, else with @error. */
static bool sweep(CcsSimulation *simulation, Stage *stage, CcsBytes size, CcsOutcome *ret_outcome,
                  char **ret_reason, GError **error)
{
    if (is_observed(simulation)) {
        *ret_reason = g_strdup("every message is recorded");
        return false;
    }
    ccs_sweep_free(stage->sweep);
    stage->sweep = ccs_sweep_run(&(CcsSwept){.schedule = stage->schedule,
                                             .transport = simulation->transport,
                                             .paths = stage->paths,
                                             .reduction = stage->reduction,
                                             .shares_links = simulation->model->shares_links},
                                 size, ret_reason, error);
    if (stage->sweep == NULL)
        return false;
    if (simulation->observer.progress != NULL)
        simulation->observer.progress(simulation->observer.data, stage->sweep->n_messages);
    *ret_outcome = (CcsOutcome){
        .time = stage->sweep->time,
        .n_messages = stage->sweep->n_messages,
        .ranks = stage->sweep->ranks,
        .links = stage->sweep->links,
        .n_classes = MAX(ccs_topology_n_classes(simulation->topology), 1),
        .engine = "sweep",
    };
    return true;
}

/* Sweeps over the lanes where they are many, if that is possible, else plays them. @ret_reason:
 * why it was not swept, NULL if it was or was not tried. */
static bool play_or_sweep(CcsSimulation *simulation, Stage *stage, CcsBytes size,
                          CcsOutcome *ret_outcome, char **ret_reason, GError **error)
{
    *ret_reason = NULL;
    if (simulation->model->tier == CCS_TIER_AUTO && stage->n_messages > MANY_MESSAGES) {
        if (sweep(simulation, stage, size, ret_outcome, ret_reason, error))
            return true;
        if (*ret_reason == NULL)
            return false;
    }
    if (!play(simulation, stage, size, ret_outcome, error))
        return false;
    ret_outcome->engine = stage->reduction == NULL ? simulation->model->plain : "quotient";
    return true;
}

static bool is_swept(const CcsOutcome *outcome)
{
    return strcmp(outcome->engine, "sweep") == 0;
}

/* Keeps the @reason, which it takes, for the outcome. */
static void explain_engine(CcsSimulation *simulation, char *reason, CcsOutcome *outcome)
{
    g_free(simulation->engine_reason);
    simulation->engine_reason = reason;
    outcome->engine_reason = reason;
}

/* Returns: NULL with the reason why every lane is to be played. */
static CcsReduction *try_to_reduce(CcsSimulation *simulation, CcsBytes size, char **ret_reason)
{
    Stage *whole = &simulation->whole;

    if (simulation->model->tier == CCS_TIER_AUTO && whole->n_messages < FEW_MESSAGES)
        *ret_reason = g_strdup("there are few messages");
    else if (is_observed(simulation) && !simulation->observer.takes_classes)
        *ret_reason = g_strdup("every message is recorded");
    else
        return ccs_reduction_new(whole->schedule, whole->paths, size, ret_reason);
    return NULL;
}

/* Makes the reduced stage, if there can be one for this size, unless that was tried for sizes
 * like it before. Returns: the reason if there is none. */
static const char *reduce(CcsSimulation *simulation, CcsBytes size)
{
    bool is_even = ccs_schedule_is_even(simulation->whole.schedule, size);
    char **reason = &simulation->reason_against[is_even];

    if (simulation->reduction != NULL && ccs_reduction_serves(simulation->reduction, size))
        return NULL;
    drop_reduced(simulation);
    if (*reason != NULL)
        return *reason;
    simulation->reduction = try_to_reduce(simulation, size, reason);
    if (simulation->reduction == NULL)
        return *reason;
    bool has_paths = stage_init(&simulation->reduced, ccs_reduction_schedule(simulation->reduction),
                                simulation->reduction, NULL);
    g_assert(has_paths); /* its lanes are among those of the whole */
    simulation->ranks =
        g_new0(CcsRankTotal, (size_t)ccs_schedule_n_ranks(simulation->whole.schedule) + 1);
    simulation->links = g_new0(CcsLinkUse, (size_t)ccs_topology_n_links(simulation->topology) + 1);
    return NULL;
}

/* What ranks sent and received, each by its class, must be what all lanes of all classes moved. */
static bool check_lift(const CcsSimulation *simulation, CcsBytes size, GError **error)
{
    const CcsSchedule *schedule = simulation->whole.schedule;
    CcsWork sent = 0;
    CcsWork received = 0;
    CcsWork moved = 0;

    for (CcsRank rank = 0; rank < ccs_schedule_n_ranks(schedule); rank++) {
        sent += simulation->ranks[rank].bytes_sent;
        received += simulation->ranks[rank].bytes_received;
    }
    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(schedule, id);
        moved += ccs_lane_is_local(lane) ? 0 : ccs_schedule_lane_bytes(schedule, lane, size);
    }
    if (sent == moved && received == moved)
        return true;
    g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK,
                "bytes are lost: the ranks sent or received other bytes than the lanes moved");
    return false;
}

static bool run_reduced(CcsSimulation *simulation, CcsBytes size, CcsOutcome *ret_outcome,
                        GError **error)
{
    g_autofree char *against = NULL;

    if (!play_or_sweep(simulation, &simulation->reduced, size, ret_outcome, &against, error))
        return false;
    ccs_reduction_lift_ranks(simulation->reduction, ret_outcome->ranks, simulation->ranks);
    ccs_reduction_lift_links(simulation->reduction, ret_outcome->links, simulation->links);
    ret_outcome->ranks = simulation->ranks;
    ret_outcome->links = simulation->links;
    char *reason = g_strdup_printf("%u lanes stand for %u%s",
                                   ccs_schedule_n_lanes(simulation->reduced.schedule),
                                   ccs_schedule_n_lanes(simulation->whole.schedule),
                                   is_swept(ret_outcome) ? ", and no two flows ever compete" : "");
    explain_engine(simulation, reason, ret_outcome);
    return check_lift(simulation, size, error);
}

static bool run_whole(CcsSimulation *simulation, CcsBytes size, const char *reason,
                      CcsOutcome *ret_outcome, GError **error)
{
    g_autofree char *against = NULL;

    if (!play_or_sweep(simulation, &simulation->whole, size, ret_outcome, &against, error))
        return false;
    bool is_short = !is_swept(ret_outcome) && against == NULL;
    const char *more = is_short                ? ""
                       : is_swept(ret_outcome) ? "no two flows ever compete"
                                               : against;
    explain_engine(simulation, g_strconcat(reason, is_short ? "" : ", and ", more, NULL),
                   ret_outcome);
    return true;
}

static bool fail_tier(const CcsSimulation *simulation, const char *reason, GError **error)
{
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "engine '%s' cannot play this: %s",
                simulation->model->engine, reason);
    return false;
}

static bool run_sweep(CcsSimulation *simulation, CcsBytes size, CcsOutcome *ret_outcome,
                      GError **error)
{
    g_autofree char *reason = NULL;

    if (sweep(simulation, &simulation->whole, size, ret_outcome, &reason, error)) {
        explain_engine(simulation, g_strdup("no two flows ever compete"), ret_outcome);
        return true;
    }
    return reason == NULL ? false : fail_tier(simulation, reason, error);
}

bool ccs_simulation_run(CcsSimulation *simulation, CcsBytes size, CcsOutcome *ret_outcome,
                        GError **error)
{
    CcsTier tier = simulation->model->tier;

    if (tier == CCS_TIER_PLAIN)
        return run_whole(simulation, size, "as was asked for", ret_outcome, error);
    if (tier == CCS_TIER_SWEEP)
        return run_sweep(simulation, size, ret_outcome, error);
    const char *reason = reduce(simulation, size);
    if (reason == NULL)
        return run_reduced(simulation, size, ret_outcome, error);
    if (tier == CCS_TIER_QUOTIENT)
        return fail_tier(simulation, reason, error);
    return run_whole(simulation, size, reason, ret_outcome, error);
}
