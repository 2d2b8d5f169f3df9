#include "sim/sim.h"

#include <string.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "collectives/progress.h"
#include "engine/queue.h"
#include "sim/chains.h"
#include "sim/paths.h"

typedef enum {
    EVENT_READY,  /* a rank that comes late may send; subject: the rank */
    EVENT_ENTER,  /* the message cost is paid: the first byte may leave */
    EVENT_LEAVE,  /* the last byte of a message that needs no bandwidth leaves */
    EVENT_ARRIVE, /* the message is there and reduced; detail: its index, note: its chain */
} EventKind;

/* The message that a lane is busy with, and what the lane has done; with what the schedule says
 * of the lane, so that a message touches little memory. */
typedef struct {
    uint32_t message;
    CcsChainId chain; /* to what the message waited for; held while the lane is busy */
    CcsRank source;
    CcsRank peer; /* of the message */
    CcsBytes bytes;
    CcsRoute route;
    CcsTime started;
    CcsTime entered;
    CcsTime reduced;     /* until then the receiver reduces earlier messages of the queue */
    CcsBytes even_bytes; /* of every message, or CCS_UNEVEN */
    CcsBytes moved;      /* by all its messages */
    CcsTime left;        /* when the last of them left */
    CcsTime arrived;     /* when the last of them is there */
    uint32_t n_left;
    CcsLaneId reducer; /* whose queue its messages are reduced in */
    uint32_t n_reduced;
    bool has_fixed_peer;
    bool is_local;
    bool is_added_there;
} LaneState;

typedef struct {
    CcsTime ready;   /* before that the rank sends nothing */
    uint32_t n_busy; /* lanes of the rank */
    bool has_started;
    CcsTime since;
    CcsTime sending; /* time for which some lane was busy */
} RankState;

struct CcsSimulation {
    const CcsSchedule *schedule;
    const CcsTransport *transport;
    const CcsNetworkModel *model;
    const CcsTopology *topology;
    CcsObserver observer;
    uint32_t n_ranks;
    uint32_t n_lanes;
    CcsProgress *progress;
    CcsPaths *paths;
    CcsQueue *queue;
    CcsChains *chains;
    CcsNetwork *network;
    LaneState *lanes;
    RankState *rank_states;
    CcsRankTotal *ranks;
    CcsTime *critical_path;
    GArray *starts; /* of CcsFlowStart: flows that start in this moment */
    CcsBytes size;
    CcsTime now;
    CcsTime next_end;  /* when the first flow of the network ends */
    bool is_unsettled; /* a flow has started or ended in this moment */
    CcsTime last;      /* time of the latest arrival */
    CcsChainId last_chain;
    CcsChainId growing; /* the chain of the message that leaves: time will be added to it */
    uint64_t n_messages;
    uint32_t n_injecting; /* flows in the network */
    CcsWork link_bytes;   /* bytes of each message times its links */
    GRand *shuffle;       /* NULL: in the order of events */
    GArray *ended;        /* of uint32_t: flows that end now, shuffled */
};

CcsSimulation *ccs_simulation_new(const CcsSchedule *schedule, const CcsTransport *transport,
                                  const CcsNetworkModel *model, const CcsObserver *observer,
                                  GError **error)
{
    g_autoptr(CcsPaths) paths = ccs_paths_new(schedule, error);
    if (paths == NULL)
        return NULL;

    CcsSimulation *simulation = g_new0(CcsSimulation, 1);
    simulation->schedule = schedule;
    simulation->transport = transport;
    simulation->model = model;
    simulation->topology = ccs_communicator_topology(ccs_schedule_communicator(schedule));
    if (observer != NULL)
        simulation->observer = *observer;
    simulation->n_ranks = ccs_schedule_n_ranks(schedule);
    simulation->n_lanes = ccs_schedule_n_lanes(schedule);
    simulation->progress = ccs_progress_new(schedule);
    simulation->paths = g_steal_pointer(&paths);
    simulation->queue = ccs_queue_new();
    simulation->chains = ccs_chains_new(MAX(ccs_topology_n_classes(simulation->topology), 1));
    simulation->lanes = g_new0(LaneState, simulation->n_lanes + 1);
    simulation->rank_states = g_new0(RankState, simulation->n_ranks);
    simulation->ranks = g_new0(CcsRankTotal, simulation->n_ranks);
    simulation->critical_path =
        g_new0(CcsTime, CCS_N_CAUSES * MAX(ccs_topology_n_classes(simulation->topology), 1));
    simulation->starts = g_array_new(false, false, sizeof(CcsFlowStart));
    return simulation;
}

void ccs_simulation_free(CcsSimulation *simulation)
{
    if (simulation == NULL)
        return;
    ccs_progress_free(simulation->progress);
    ccs_paths_free(simulation->paths);
    ccs_queue_free(simulation->queue);
    ccs_chains_free(simulation->chains);
    if (simulation->network != NULL)
        simulation->model->destroy(simulation->network);
    g_free(simulation->lanes);
    g_free(simulation->rank_states);
    g_free(simulation->ranks);
    g_free(simulation->critical_path);
    g_array_unref(simulation->starts);
    g_clear_pointer(&simulation->shuffle, g_rand_free);
    g_clear_pointer(&simulation->ended, g_array_unref);
    g_free(simulation);
}

void ccs_simulation_shuffle(CcsSimulation *simulation, uint32_t seed)
{
    ccs_queue_shuffle(simulation->queue, seed);
    g_clear_pointer(&simulation->shuffle, g_rand_free);
    g_clear_pointer(&simulation->ended, g_array_unref);
    simulation->shuffle = g_rand_new_with_seed(seed);
    simulation->ended = g_array_new(false, false, sizeof(uint32_t));
}

static void push(CcsSimulation *simulation, EventKind kind, CcsTime time, CcsLaneId lane,
                 uint32_t message, CcsChainId chain)
{
    ccs_queue_push(
        simulation->queue,
        &(CcsEventRecord){
            .time = time, .kind = kind, .subject = lane, .detail = message, .note = chain});
}

static void delay_ranks(CcsSimulation *simulation)
{
    const CcsCommunicator *communicator = ccs_schedule_communicator(simulation->schedule);

    for (CcsRank rank = 0; rank < simulation->n_ranks; rank++) {
        CcsVertexId gpu = ccs_communicator_gpu(communicator, rank);
        CcsTime delay = ccs_topology_vertex(simulation->topology, gpu)->start_delay;
        if (delay == 0)
            continue;
        simulation->rank_states[rank].ready = simulation->now + delay;
        push(simulation, EVENT_READY, simulation->now + delay, rank, 0, 0);
    }
}

static bool reset_lane(CcsSimulation *simulation, CcsLaneId id, GError **error)
{
    const CcsLane *lane = ccs_schedule_lane(simulation->schedule, id);
    LaneState *state = &simulation->lanes[id];

    *state = (LaneState){
        .source = lane->source,
        .even_bytes = ccs_schedule_even_bytes(simulation->schedule, lane, simulation->size),
        .reducer = lane->queue == 0 ? id : lane->queue - 1,
        .n_reduced = lane->n_reduced,
        .has_fixed_peer = lane->peer_kind == CCS_PEER_FIXED,
        .is_local = ccs_lane_is_local(lane),
        .is_added_there = lane->is_added_there,
    };
    if (!state->has_fixed_peer)
        return true;
    const CcsRoute *route = ccs_paths_route(simulation->paths, id, 0, error);
    if (route == NULL)
        return false;
    state->peer = lane->peer;
    state->route = *route;
    return true;
}

static bool reset(CcsSimulation *simulation, CcsBytes size, GError **error)
{
    if (simulation->network != NULL)
        simulation->model->destroy(simulation->network);
    simulation->network = simulation->model->create(simulation->topology, simulation->n_lanes);
    ccs_progress_reset(simulation->progress);
    ccs_queue_clear(simulation->queue);
    ccs_chains_clear(simulation->chains);
    memset(simulation->rank_states, 0, simulation->n_ranks * sizeof(RankState));
    memset(simulation->ranks, 0, simulation->n_ranks * sizeof(CcsRankTotal));
    g_array_set_size(simulation->starts, 0);
    simulation->size = size;
    simulation->now = simulation->transport->launch;
    simulation->next_end = CCS_TIME_MAX;
    simulation->is_unsettled = false;
    simulation->last = simulation->now;
    simulation->last_chain = ccs_chains_add(simulation->chains);
    simulation->growing = CCS_NO_CHAIN;
    simulation->n_messages = 0;
    simulation->n_injecting = 0;
    simulation->link_bytes = 0;
    ccs_chains_spend(simulation->chains, simulation->last_chain, CCS_CAUSE_LAUNCH, 0,
                     simulation->now);
    delay_ranks(simulation);
    for (CcsLaneId lane = 0; lane < simulation->n_lanes; lane++) {
        if (!reset_lane(simulation, lane, error))
            return false;
    }
    return true;
}

static void rank_becomes_busy(CcsSimulation *simulation, CcsRank rank)
{
    RankState *state = &simulation->rank_states[rank];

    if (state->n_busy++ == 0)
        state->since = simulation->now;
    if (!state->has_started) {
        state->has_started = true;
        simulation->ranks[rank].started = simulation->now;
    }
}

static void rank_becomes_idle(CcsSimulation *simulation, CcsRank rank)
{
    RankState *state = &simulation->rank_states[rank];

    if (--state->n_busy == 0)
        state->sending += simulation->now - state->since;
}

/* The first byte of the lane's message leaves. */
static void enter(CcsSimulation *simulation, CcsLaneId lane)
{
    LaneState *state = &simulation->lanes[lane];

    state->entered = simulation->now;
    if (state->bytes == 0 || state->route.n_links == 0) {
        push(simulation, EVENT_LEAVE, simulation->now, lane, state->message, 0);
        return;
    }
    g_array_append_vals(simulation->starts,
                        &(CcsFlowStart){.slot = lane,
                                        .links = state->route.links,
                                        .n_links = state->route.n_links,
                                        .bytes = state->bytes,
                                        .keeps_links = state->has_fixed_peer},
                        1);
}

static bool fail_too_long(GError **error)
{
    g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT,
                "simulated time runs over: the collective takes longer than 50 days");
    return false;
}

/* Who gets the message that starts, by which links, and how large it is. */
static bool look_up_message(CcsSimulation *simulation, CcsLaneId lane, GError **error)
{
    LaneState *state = &simulation->lanes[lane];
    const CcsLane *of = ccs_schedule_lane(simulation->schedule, lane);

    if (state->even_bytes == CCS_UNEVEN)
        state->bytes =
            ccs_schedule_message_bytes(simulation->schedule, of, state->message, simulation->size);
    if (state->has_fixed_peer)
        return true;
    const CcsRoute *route = ccs_paths_route(simulation->paths, lane, state->message, error);
    if (route == NULL)
        return false;
    state->route = *route;
    state->peer = ccs_lane_peer(of, state->message, simulation->n_ranks);
    return true;
}

/* Starts the next message of a lane that may; @chain leads to the event that allows it. */
static bool start_message(CcsSimulation *simulation, CcsLaneId lane, CcsChainId chain,
                          GError **error)
{
    LaneState *state = &simulation->lanes[lane];
    CcsTime cost = simulation->transport->message_cost;

    state->message = ccs_progress_start(simulation->progress, lane);
    state->bytes = state->even_bytes;
    if ((!state->has_fixed_peer || state->even_bytes == CCS_UNEVEN) &&
        !look_up_message(simulation, lane, error))
        return false;
    state->started = simulation->now;
    state->chain = chain == simulation->growing ? ccs_chains_copy(simulation->chains, chain)
                                                : ccs_chains_share(simulation->chains, chain);
    if (state->is_local)
        cost = ccs_schedule_lane(simulation->schedule, lane)->duration;
    else
        rank_becomes_busy(simulation, state->source);
    if (cost == 0) {
        enter(simulation, lane);
        return true;
    }
    if (simulation->now + cost >= CCS_TIME_MAX)
        return fail_too_long(error);
    push(simulation, EVENT_ENTER, simulation->now + cost, lane, state->message, 0);
    return true;
}

static bool try_start(CcsSimulation *simulation, CcsLaneId lane, CcsChainId chain, GError **error)
{
    return !ccs_progress_may_start(simulation->progress, lane) ||
           simulation->now < simulation->rank_states[simulation->lanes[lane].source].ready ||
           start_message(simulation, lane, chain, error);
}

static bool wake(CcsSimulation *simulation, CcsLaneId lane, CcsEvent event, uint32_t message,
                 CcsChainId chain, GError **error)
{
    uint32_t n = 0;
    const CcsLaneId *waiters = ccs_progress_waiters(simulation->progress, lane, event, message, &n);

    for (uint32_t i = 0; i < n; i++) {
        if (!try_start(simulation, waiters[i], chain, error))
            return false;
    }
    return true;
}

/* What is counted at once because the next message of the lane goes elsewhere. */
static void count_at_receiver(CcsSimulation *simulation, const LaneState *state, CcsTime arrival)
{
    CcsRankTotal *receiver = &simulation->ranks[state->peer];

    receiver->bytes_received += state->bytes;
    receiver->messages_received++;
    receiver->finished = MAX(receiver->finished, arrival);
    simulation->link_bytes += (CcsWork)state->bytes * state->route.n_links;
}

static void count_message(CcsSimulation *simulation, LaneState *state, CcsTime arrival)
{
    state->moved += state->bytes;
    state->n_left++;
    state->left = simulation->now;
    state->arrived = MAX(state->arrived, arrival);
    if (!state->has_fixed_peer)
        count_at_receiver(simulation, state, arrival);
}

/* Adds up at the end what a lane has done. */
static void count_lane(CcsSimulation *simulation, const LaneState *state)
{
    CcsRankTotal *sender = &simulation->ranks[state->source];

    if (state->is_local || state->n_left == 0)
        return;
    sender->bytes_sent += state->moved;
    sender->messages_sent += state->n_left;
    sender->finished = MAX(sender->finished, state->left);
    simulation->n_messages += state->n_left;
    if (!state->has_fixed_peer)
        return;
    CcsRankTotal *receiver = &simulation->ranks[state->peer];
    receiver->bytes_received += state->moved;
    receiver->messages_received += state->n_left;
    receiver->finished = MAX(receiver->finished, state->arrived);
    simulation->link_bytes += (CcsWork)state->moved * state->route.n_links;
}

static void count_all(CcsSimulation *simulation)
{
    for (CcsLaneId lane = 0; lane < simulation->n_lanes; lane++)
        count_lane(simulation, &simulation->lanes[lane]);
    for (CcsRank rank = 0; rank < simulation->n_ranks; rank++)
        simulation->ranks[rank].sending = simulation->rank_states[rank].sending;
}

/* Its data are added up at the peer, at once or by local lanes. */
static bool is_reduced(const LaneState *state)
{
    return state->message < state->n_reduced || state->is_added_there;
}

/* When the message that leaves now and is @there at some time is reduced. */
static CcsTime reduce(CcsSimulation *simulation, const LaneState *state, CcsTime there)
{
    CcsTime *until = &simulation->lanes[state->reducer].reduced;

    if (there >= CCS_TIME_MAX || !is_reduced(state) || state->is_local ||
        simulation->transport->reduce_rate >= CCS_RATE_UNLIMITED)
        return there;
    *until =
        MAX(there, *until) + ccs_time_to_move(state->bytes, simulation->transport->reduce_rate);
    return *until;
}

static bool tell_observer(CcsSimulation *simulation, CcsLaneId lane, CcsTime arrival,
                          GError **error)
{
    const LaneState *state = &simulation->lanes[lane];
    const CcsObserver *observer = &simulation->observer;
    bool (*tell)(void *data, const CcsFlow *flow, GError **error) =
        state->is_local ? observer->local : observer->flow;

    if (tell == NULL)
        return true;
    const CcsLane *of = ccs_schedule_lane(simulation->schedule, lane);
    return tell(observer->data,
                &(CcsFlow){.lane = lane,
                           .message = state->message,
                           .channel = of->channel,
                           .phase = of->phase,
                           .src = of->source,
                           .dst = state->peer,
                           .bytes = state->bytes,
                           .is_reduced = is_reduced(state),
                           .started = state->started,
                           .entered = state->entered,
                           .injected = simulation->now,
                           .arrived = arrival},
                error);
}

/* Adds the time until the message leaves to @chain: its cost, and the injection, which went to
 * the class of the link that set its rate last. */
static void spend_sending(CcsSimulation *simulation, CcsLaneId lane, CcsChainId chain)
{
    const LaneState *state = &simulation->lanes[lane];
    CcsTime cost = state->entered - state->started;
    CcsTime time = simulation->now - state->entered;

    if (cost > 0)
        ccs_chains_spend(simulation->chains, chain,
                         state->is_local ? CCS_CAUSE_LOCAL : CCS_CAUSE_MESSAGE_COST, 0, cost);
    if (time == 0)
        return;
    CcsLinkId limit = simulation->model->limit(simulation->network, lane);
    uint32_t link_class =
        limit == CCS_NO_LINK ? 0 : ccs_topology_link(simulation->topology, limit)->link_class;
    ccs_chains_spend(simulation->chains, chain, CCS_CAUSE_BANDWIDTH, link_class, time);
}

/* Adds the time from leaving to arrival to @chain. */
static void spend_travel(CcsSimulation *simulation, const CcsRoute *route, CcsTime reduction,
                         CcsChainId chain)
{
    for (uint32_t i = 0; i < route->n_latencies; i++)
        ccs_chains_spend(simulation->chains, chain, CCS_CAUSE_LATENCY,
                         route->latencies[i].link_class, route->latencies[i].time);
    if (reduction > 0)
        ccs_chains_spend(simulation->chains, chain, CCS_CAUSE_REDUCTION, 0, reduction);
}

/* The last byte of the lane's message leaves: it travels on, and the lane is free. Its chain
 * grows by the way there only when those are started that waited for its leaving. */
static bool leave(CcsSimulation *simulation, CcsLaneId lane, GError **error)
{
    LaneState *state = &simulation->lanes[lane];
    CcsChainId chain = ccs_chains_own(simulation->chains, state->chain);
    const CcsRoute route = state->route;
    CcsTime there = simulation->now + route.latency;
    CcsTime arrival = reduce(simulation, state, there);

    if (arrival >= CCS_TIME_MAX)
        return fail_too_long(error);
    spend_sending(simulation, lane, chain);
    push(simulation, EVENT_ARRIVE, arrival, lane, state->message, chain);
    if (!state->is_local)
        rank_becomes_idle(simulation, state->source);
    count_message(simulation, state, arrival);
    if (!tell_observer(simulation, lane, arrival, error))
        return false;
    ccs_progress_sent(simulation->progress, lane);
    simulation->growing = chain;
    if (!wake(simulation, lane, CCS_SENT, state->message, chain, error) ||
        !try_start(simulation, lane, chain, error))
        return false;
    simulation->growing = CCS_NO_CHAIN;
    spend_travel(simulation, &route, arrival - there, chain);
    return true;
}

static bool arrive(CcsSimulation *simulation, const CcsEventRecord *event, GError **error)
{
    ccs_progress_arrived(simulation->progress, event->subject, event->detail);
    simulation->last = simulation->now; /* of all arrivals so far, and its chain is kept */
    ccs_chains_drop(simulation->chains, simulation->last_chain);
    simulation->last_chain = event->note;
    return wake(simulation, event->subject, CCS_ARRIVED, event->detail, event->note, error);
}

/* The lanes of a rank that comes late could not start until now, whatever they waited for. */
static bool make_ready(CcsSimulation *simulation, CcsRank rank, GError **error)
{
    CcsChainId chain = ccs_chains_add(simulation->chains);

    ccs_chains_spend(simulation->chains, chain, CCS_CAUSE_LAUNCH, 0, simulation->now);
    for (CcsLaneId lane = 0; lane < simulation->n_lanes; lane++) {
        if (simulation->lanes[lane].source == rank && !try_start(simulation, lane, chain, error))
            return false;
    }
    ccs_chains_drop(simulation->chains, chain);
    return true;
}

static bool handle(CcsSimulation *simulation, const CcsEventRecord *event, GError **error)
{
    switch ((EventKind)event->kind) {
    case EVENT_READY:
        return make_ready(simulation, event->subject, error);
    case EVENT_ENTER:
        enter(simulation, event->subject);
        return true;
    case EVENT_LEAVE:
        return leave(simulation, event->subject, error);
    case EVENT_ARRIVE:
        return arrive(simulation, event, error);
    }
    return false;
}

/* The same flows in an order that chance decides. */
static const uint32_t *shuffle_ended(CcsSimulation *simulation, const uint32_t *ended, uint32_t n)
{
    g_array_set_size(simulation->ended, 0);
    g_array_append_vals(simulation->ended, ended, n);
    uint32_t *slots = (uint32_t *)(void *)simulation->ended->data;
    for (uint32_t i = n; i > 1; i--) {
        uint32_t other = g_rand_int(simulation->shuffle) % i;
        uint32_t slot = slots[other];
        slots[other] = slots[i - 1];
        slots[i - 1] = slot;
    }
    return slots;
}

/* Ends the flows that end now. */
static bool end_flows(CcsSimulation *simulation, GError **error)
{
    uint32_t n = 0;
    const uint32_t *ended = simulation->model->take_ended(simulation->network, simulation->now, &n);

    simulation->next_end = CCS_TIME_MAX;
    simulation->is_unsettled = true;
    simulation->n_injecting -= n;
    if (simulation->shuffle != NULL)
        ended = shuffle_ended(simulation, ended, n);
    for (uint32_t i = 0; i < n; i++) {
        if (!leave(simulation, ended[i], error))
            return false;
    }
    return true;
}

/* All that happens at one moment: first flows end, then events come in the order in which
 * they were asked for, those that they cause at the same time included. */
static bool play_moment(CcsSimulation *simulation, GError **error)
{
    CcsEventRecord event;

    if (simulation->next_end == simulation->now && !end_flows(simulation, error))
        return false;
    while (ccs_queue_next_time(simulation->queue) == simulation->now) {
        ccs_queue_pop(simulation->queue, &event);
        if (!handle(simulation, &event, error))
            return false;
    }
    if (simulation->starts->len > 0) {
        simulation->model->start(simulation->network, simulation->now,
                                 (const CcsFlowStart *)(const void *)simulation->starts->data,
                                 simulation->starts->len);
        simulation->n_injecting += simulation->starts->len;
        g_array_set_size(simulation->starts, 0);
        simulation->is_unsettled = true;
    }
    if (simulation->is_unsettled)
        simulation->next_end = simulation->model->settle(simulation->network, simulation->now);
    simulation->is_unsettled = false;
    return true;
}

/* The bytes that the schedule gives to a lane. */
static CcsBytes bytes_of_lane(const CcsSimulation *simulation, CcsLaneId id)
{
    const CcsLane *lane = ccs_schedule_lane(simulation->schedule, id);
    CcsBytes even = ccs_schedule_even_bytes(simulation->schedule, lane, simulation->size);
    CcsBytes bytes = 0;

    if (even != CCS_UNEVEN)
        return even * lane->n_messages;
    for (uint32_t k = 0; k < lane->n_messages; k++)
        bytes += ccs_schedule_message_bytes(simulation->schedule, lane, k, simulation->size);
    return bytes;
}

static bool check_bytes(const CcsSimulation *simulation, GError **error)
{
    const CcsLinkUse *links = simulation->model->link_use(simulation->network);
    CcsWork link_bytes = 0;

    for (CcsLaneId id = 0; id < simulation->n_lanes; id++) {
        CcsBytes bytes = bytes_of_lane(simulation, id);
        if (bytes == simulation->lanes[id].moved)
            continue;
        g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK,
                    "bytes are lost: lane %u of rank %u moved %" G_GUINT64_FORMAT
                    " of %" G_GUINT64_FORMAT " bytes",
                    id, simulation->lanes[id].source, simulation->lanes[id].moved, bytes);
        return false;
    }
    for (CcsLinkId link = 0; link < ccs_topology_n_links(simulation->topology); link++)
        link_bytes += links[link].bytes;
    if (link_bytes == simulation->link_bytes)
        return true;
    g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK,
                "bytes are lost: the links carried other bytes than the messages on them");
    return false;
}

static bool check(const CcsSimulation *simulation, GError **error)
{
    CcsTime explained = ccs_chains_total(simulation->chains, simulation->last_chain);

    if (simulation->n_injecting > 0)
        return fail_too_long(error);
    if (!ccs_progress_is_done(simulation->progress)) {
        g_autofree char *wait = ccs_progress_describe_wait(simulation->progress);
        g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK, "deadlock at %.3f us: %s",
                    ccs_time_us(simulation->now), wait);
        return false;
    }
    if (explained != simulation->last) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK, "the critical path explains %.6f of %.6f us",
                    ccs_time_us(explained), ccs_time_us(simulation->last));
        return false;
    }
    return check_bytes(simulation, error);
}

static void fill_outcome(const CcsSimulation *simulation, CcsOutcome *outcome)
{
    ccs_chains_read(simulation->chains, simulation->last_chain, simulation->critical_path);
    *outcome = (CcsOutcome){
        .time = simulation->last,
        .n_messages = simulation->n_messages,
        .ranks = simulation->ranks,
        .links = simulation->model->link_use(simulation->network),
        .critical_path = simulation->critical_path,
        .n_classes = MAX(ccs_topology_n_classes(simulation->topology), 1),
    };
}

bool ccs_simulation_run(CcsSimulation *simulation, CcsBytes size, CcsOutcome *ret_outcome,
                        GError **error)
{
    if (!reset(simulation, size, error))
        return false;
    for (CcsLaneId lane = 0; lane < simulation->n_lanes; lane++) {
        if (!try_start(simulation, lane, simulation->last_chain, error))
            return false;
    }
    while (play_moment(simulation, error)) {
        CcsTime next = MIN(ccs_queue_next_time(simulation->queue), simulation->next_end);
        if (next >= CCS_TIME_MAX) {
            count_all(simulation);
            if (!check(simulation, error))
                return false;
            fill_outcome(simulation, ret_outcome);
            return true;
        }
        simulation->now = next;
        if (!ccs_interrupt_check(error))
            return false;
    }
    return false;
}
