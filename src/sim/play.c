#include "sim/play_internal.h"

#include <string.h>

#include "base/interrupt.h"

#define MESSAGES_PER_PROGRESS 4096U

typedef enum {
    EVENT_READY,  /* a rank that comes late may send; subject: the rank */
    EVENT_ENTER,  /* the message cost is paid: the first byte may leave */
    EVENT_LEAVE,  /* the last byte of a message that needs no bandwidth leaves */
    EVENT_ARRIVE, /* the message is there and reduced; detail: its index, note: its chain */
} EventKind;

CcsPlay *ccs_play_new(const CcsPlayed *played)
{
    CcsPlay *play = g_new0(CcsPlay, 1);

    play->schedule = played->schedule;
    play->transport = played->transport;
    play->model = played->model;
    play->paths = played->paths;
    play->reduction = played->reduction;
    if (played->observer != NULL)
        play->observer = *played->observer;
    play->topology = ccs_communicator_topology(ccs_schedule_communicator(play->schedule));
    play->n_ranks = ccs_schedule_n_ranks(play->schedule);
    play->n_lanes = ccs_schedule_n_lanes(play->schedule);
    play->progress = ccs_progress_new(play->schedule);
    play->queue = ccs_queue_new();
    play->chains = ccs_chains_new(MAX(ccs_topology_n_classes(play->topology), 1));
    play->lanes = g_new0(PlayLane, play->n_lanes + 1);
    play->rank_states = g_new0(PlayRank, play->n_ranks);
    play->ranks = g_new0(CcsRankTotal, play->n_ranks);
    play->critical_path =
        g_new0(CcsTime, CCS_N_CAUSES * MAX(ccs_topology_n_classes(play->topology), 1));
    play->starts = g_array_new(false, false, sizeof(CcsFlowStart));
    return play;
}

void ccs_play_free(CcsPlay *play)
{
    if (play == NULL)
        return;
    ccs_progress_free(play->progress);
    ccs_queue_free(play->queue);
    ccs_chains_free(play->chains);
    if (play->network != NULL)
        play->model->destroy(play->network);
    g_free(play->lanes);
    g_free(play->rank_states);
    g_free(play->ranks);
    g_free(play->critical_path);
    g_array_unref(play->starts);
    g_clear_pointer(&play->shuffle, g_rand_free);
    g_clear_pointer(&play->ended, g_array_unref);
    g_free(play);
}

void ccs_play_shuffle(CcsPlay *play, uint32_t seed)
{
    ccs_queue_shuffle(play->queue, seed);
    g_clear_pointer(&play->shuffle, g_rand_free);
    g_clear_pointer(&play->ended, g_array_unref);
    play->shuffle = g_rand_new_with_seed(seed);
    play->ended = g_array_new(false, false, sizeof(uint32_t));
}

static void push(CcsPlay *play, EventKind kind, CcsTime time, CcsLaneId lane, uint32_t message,
                 CcsChainId chain)
{
    ccs_queue_push(
        play->queue,
        &(CcsEventRecord){
            .time = time, .kind = kind, .subject = lane, .detail = message, .note = chain});
}

static void delay_ranks(CcsPlay *play)
{
    const CcsCommunicator *communicator = ccs_schedule_communicator(play->schedule);

    for (CcsRank rank = 0; rank < play->n_ranks; rank++) {
        CcsVertexId gpu = ccs_communicator_gpu(communicator, rank);
        CcsTime delay = ccs_topology_vertex(play->topology, gpu)->start_delay;
        if (delay == 0)
            continue;
        play->rank_states[rank].ready = play->now + delay;
        push(play, EVENT_READY, play->now + delay, rank, 0, 0);
    }
}

static bool reset_lane(CcsPlay *play, CcsLaneId id, GError **error)
{
    const CcsLane *lane = ccs_schedule_lane(play->schedule, id);
    PlayLane *state = &play->lanes[id];

    *state = (PlayLane){
        .source = lane->source,
        .even_bytes = ccs_schedule_even_bytes(play->schedule, lane, play->size),
        .reducer = lane->queue == 0 ? id : lane->queue - 1,
        .n_reduced = lane->n_reduced,
        .has_fixed_peer = lane->peer_kind == CCS_PEER_FIXED,
        .is_local = ccs_lane_is_local(lane),
        .is_added_there = lane->is_added_there,
        .is_early = lane->is_early,
    };
    if (!state->has_fixed_peer)
        return true;
    const CcsRoute *route = ccs_paths_route(play->paths, id, 0, error);
    if (route == NULL)
        return false;
    state->peer = lane->peer;
    state->route = *route;
    return true;
}

static bool reset(CcsPlay *play, CcsBytes size, GError **error)
{
    if (play->network != NULL)
        play->model->destroy(play->network);
    play->network = play->model->create(play->topology, play->n_lanes);
    ccs_progress_reset(play->progress);
    ccs_queue_clear(play->queue);
    ccs_chains_clear(play->chains);
    memset(play->rank_states, 0, play->n_ranks * sizeof(PlayRank));
    memset(play->ranks, 0, play->n_ranks * sizeof(CcsRankTotal));
    g_array_set_size(play->starts, 0);
    play->size = size;
    play->now = play->transport->launch;
    play->next_end = CCS_TIME_MAX;
    play->is_unsettled = false;
    play->last = play->now;
    play->last_chain = ccs_chains_add(play->chains);
    play->growing = CCS_NO_CHAIN;
    play->n_messages = 0;
    play->n_gone = 0;
    play->n_injecting = 0;
    play->link_bytes = 0;
    ccs_chains_spend(play->chains, play->last_chain, CCS_CAUSE_LAUNCH, 0, play->now);
    delay_ranks(play);
    for (CcsLaneId lane = 0; lane < play->n_lanes; lane++) {
        if (!reset_lane(play, lane, error))
            return false;
    }
    return true;
}

static void rank_becomes_busy(CcsPlay *play, const CcsRankShare *share)
{
    PlayRank *state = &play->rank_states[share->rank];

    if (state->n_busy == 0)
        state->since = play->now;
    state->n_busy += share->n_lanes;
    if (!state->has_started) {
        state->has_started = true;
        play->ranks[share->rank].started = play->now;
    }
}

static void rank_becomes_idle(CcsPlay *play, const CcsRankShare *share)
{
    PlayRank *state = &play->rank_states[share->rank];

    state->n_busy -= share->n_lanes;
    if (state->n_busy == 0)
        state->sending += play->now - state->since;
}

typedef void TellRank(CcsPlay *play, const CcsRankShare *share);

/* Tells the ranks that send the messages of @lane. */
static void tell_ranks(CcsPlay *play, CcsLaneId lane, TellRank *tell)
{
    CcsRankShare own = {play->lanes[lane].source, 1};
    uint32_t n = 0;
    const CcsRankShare *of = ccs_reduction_ranks(play->reduction, lane, CCS_SENDS, &own, &n);

    for (uint32_t i = 0; i < n; i++)
        tell(play, &of[i]);
}

/* The first byte of the lane's message leaves. */
static void enter(CcsPlay *play, CcsLaneId lane)
{
    PlayLane *state = &play->lanes[lane];

    state->entered = play->now;
    if (state->bytes == 0 || state->route.n_links == 0) {
        push(play, EVENT_LEAVE, play->now, lane, state->message, 0);
        return;
    }
    CcsLaneLinks links = ccs_reduction_links(play->reduction, lane, &state->route);
    CcsFlowStart start = {.slot = lane,
                          .links = links.links,
                          .weights = links.weights,
                          .n_links = links.n,
                          .bytes = state->bytes,
                          .keeps_links = state->has_fixed_peer};
    g_array_append_val(play->starts, start);
}

/* Who gets the message that starts, by which links, and how large it is. */
static bool look_up_message(CcsPlay *play, CcsLaneId lane, GError **error)
{
    PlayLane *state = &play->lanes[lane];
    const CcsLane *of = ccs_schedule_lane(play->schedule, lane);

    if (state->even_bytes == CCS_UNEVEN)
        state->bytes = ccs_schedule_message_bytes(play->schedule, of, state->message, play->size);
    if (state->has_fixed_peer)
        return true;
    const CcsRoute *route = ccs_paths_route(play->paths, lane, state->message, error);
    if (route == NULL)
        return false;
    state->route = *route;
    state->peer = ccs_lane_peer(of, state->message, play->n_ranks);
    return true;
}

/* Starts the next message of a lane that may; @chain leads to the event that allows it. */
static bool start_message(CcsPlay *play, CcsLaneId lane, CcsChainId chain, GError **error)
{
    PlayLane *state = &play->lanes[lane];
    CcsTime cost = play->transport->message_cost;

    state->message = ccs_progress_start(play->progress, lane);
    state->bytes = state->even_bytes;
    if ((!state->has_fixed_peer || state->even_bytes == CCS_UNEVEN) &&
        !look_up_message(play, lane, error))
        return false;
    state->started = play->now;
    state->chain = chain == play->growing ? ccs_chains_copy(play->chains, chain)
                                          : ccs_chains_share(play->chains, chain);
    if (state->is_local)
        cost = ccs_schedule_lane(play->schedule, lane)->duration;
    else
        tell_ranks(play, lane, rank_becomes_busy);
    if (cost == 0) {
        enter(play, lane);
        return true;
    }
    if (play->now + cost >= CCS_TIME_MAX)
        return ccs_play_fail_too_long(play, lane, error);
    push(play, EVENT_ENTER, play->now + cost, lane, state->message, 0);
    return true;
}

static bool try_start(CcsPlay *play, CcsLaneId lane, CcsChainId chain, GError **error)
{
    const PlayLane *state = &play->lanes[lane];

    return !ccs_progress_may_start(play->progress, lane) ||
           (play->now < play->rank_states[state->source].ready && !state->is_early) ||
           start_message(play, lane, chain, error);
}

static bool wake(CcsPlay *play, CcsLaneId lane, CcsEvent event, uint32_t message, CcsChainId chain,
                 GError **error)
{
    uint32_t n = 0;
    const CcsLaneId *waiters = ccs_progress_waiters(play->progress, lane, event, message, &n);

    for (uint32_t i = 0; i < n; i++) {
        if (!try_start(play, waiters[i], chain, error))
            return false;
    }
    return true;
}

/* Its data are added up at the peer, at once or by local lanes. */
static bool is_reduced(const PlayLane *state)
{
    return state->message < state->n_reduced || state->is_added_there;
}

/* When the message that leaves now and is @there at some time is reduced: the receiver reduces one
 * of a queue after the other, and what needs no reduction does not overtake those, to the same
 * peer. */
static CcsTime reduce(CcsPlay *play, const PlayLane *state, CcsTime there)
{
    CcsTime *until = &play->lanes[state->reducer].reduced;

    if (there >= CCS_TIME_MAX || state->is_local ||
        play->transport->reduce_rate >= CCS_RATE_UNLIMITED)
        return there;
    if (!is_reduced(state))
        return state->has_fixed_peer ? MAX(there, *until) : there;
    *until = MAX(there, *until) + ccs_time_to_move(state->bytes, play->transport->reduce_rate);
    return *until;
}

static bool tell_observer(CcsPlay *play, CcsLaneId lane, CcsTime arrival, GError **error)
{
    const PlayLane *state = &play->lanes[lane];
    const CcsObserver *observer = &play->observer;
    bool (*tell)(void *data, const CcsFlow *flow, GError **error) =
        state->is_local ? observer->local : observer->flow;

    if (tell == NULL)
        return true;
    const CcsLane *of = ccs_schedule_lane(play->schedule, lane);
    return tell(observer->data,
                &(CcsFlow){.lane = ccs_reduction_first_member(play->reduction, lane),
                           .n_alike = ccs_reduction_n_members(play->reduction, lane),
                           .message = state->message,
                           .channel = of->channel,
                           .phase = of->phase,
                           .src = of->source,
                           .dst = state->peer,
                           .bytes = state->bytes,
                           .is_reduced = is_reduced(state),
                           .started = state->started,
                           .entered = state->entered,
                           .injected = play->now,
                           .arrived = arrival},
                error);
}

/* Adds the time until the message leaves to @chain: its cost, and the injection, which went to
 * the class of the link that set its rate last. */
static void spend_sending(CcsPlay *play, CcsLaneId lane, CcsChainId chain)
{
    const PlayLane *state = &play->lanes[lane];
    CcsTime cost = state->entered - state->started;
    CcsTime time = play->now - state->entered;

    if (cost > 0)
        ccs_chains_spend(play->chains, chain,
                         state->is_local ? CCS_CAUSE_LOCAL : CCS_CAUSE_MESSAGE_COST, 0, cost);
    if (time == 0)
        return;
    CcsLinkId limit = play->model->limit(play->network, lane);
    uint32_t link_class =
        limit == CCS_NO_LINK ? 0 : ccs_topology_link(play->topology, limit)->link_class;
    ccs_chains_spend(play->chains, chain, CCS_CAUSE_BANDWIDTH, link_class, time);
}

/* Adds the time from leaving to arrival to @chain. */
static void spend_travel(CcsPlay *play, const CcsRoute *route, CcsTime reduction, CcsChainId chain)
{
    for (uint32_t i = 0; i < route->n_latencies; i++)
        ccs_chains_spend(play->chains, chain, CCS_CAUSE_LATENCY, route->latencies[i].link_class,
                         route->latencies[i].time);
    if (reduction > 0)
        ccs_chains_spend(play->chains, chain, CCS_CAUSE_REDUCTION, 0, reduction);
}

/* The last byte of the lane's message leaves: it travels on, and the lane is free. Its chain
 * grows by the way there only when those are started that waited for its leaving. */
static bool leave(CcsPlay *play, CcsLaneId lane, GError **error)
{
    PlayLane *state = &play->lanes[lane];
    CcsChainId chain = ccs_chains_own(play->chains, state->chain);
    const CcsRoute route = state->route;
    CcsTime there = play->now + route.latency;
    CcsTime arrival = reduce(play, state, there);

    if (arrival >= CCS_TIME_MAX)
        return ccs_play_fail_too_long(play, lane, error);
    spend_sending(play, lane, chain);
    push(play, EVENT_ARRIVE, arrival, lane, state->message, chain);
    if (!state->is_local)
        tell_ranks(play, lane, rank_becomes_idle);
    ccs_play_count_message(play, state, arrival);
    play->n_gone += state->is_local ? 0 : ccs_reduction_n_members(play->reduction, lane);
    if (!tell_observer(play, lane, arrival, error))
        return false;
    ccs_progress_sent(play->progress, lane);
    play->growing = chain;
    if (!wake(play, lane, CCS_SENT, state->message, chain, error) ||
        !try_start(play, lane, chain, error))
        return false;
    play->growing = CCS_NO_CHAIN;
    spend_travel(play, &route, arrival - there, chain);
    return true;
}

static bool arrive(CcsPlay *play, const CcsEventRecord *event, GError **error)
{
    ccs_progress_arrived(play->progress, event->subject, event->detail);
    play->last = play->now; /* of all arrivals so far, and its chain is kept */
    ccs_chains_drop(play->chains, play->last_chain);
    play->last_chain = event->note;
    return wake(play, event->subject, CCS_ARRIVED, event->detail, event->note, error);
}

/* The lanes of a rank that comes late could not start until now, whatever they waited for. */
static bool make_ready(CcsPlay *play, CcsRank rank, GError **error)
{
    CcsChainId chain = ccs_chains_add(play->chains);

    ccs_chains_spend(play->chains, chain, CCS_CAUSE_LAUNCH, 0, play->now);
    for (CcsLaneId lane = 0; lane < play->n_lanes; lane++) {
        if (play->lanes[lane].source == rank && !try_start(play, lane, chain, error))
            return false;
    }
    ccs_chains_drop(play->chains, chain);
    return true;
}

static bool handle(CcsPlay *play, const CcsEventRecord *event, GError **error)
{
    switch ((EventKind)event->kind) {
    case EVENT_READY:
        return make_ready(play, event->subject, error);
    case EVENT_ENTER:
        enter(play, event->subject);
        return true;
    case EVENT_LEAVE:
        return leave(play, event->subject, error);
    case EVENT_ARRIVE:
        return arrive(play, event, error);
    }
    return false;
}

/* The same flows in an order that chance decides. */
static const uint32_t *shuffle_ended(CcsPlay *play, const uint32_t *ended, uint32_t n)
{
    g_array_set_size(play->ended, 0);
    g_array_append_vals(play->ended, ended, n);
    uint32_t *slots = (uint32_t *)(void *)play->ended->data;
    for (uint32_t i = n; i > 1; i--) {
        uint32_t other = g_rand_int(play->shuffle) % i;
        uint32_t slot = slots[other];
        slots[other] = slots[i - 1];
        slots[i - 1] = slot;
    }
    return slots;
}

/* Ends the flows that end now. */
static bool end_flows(CcsPlay *play, GError **error)
{
    uint32_t n = 0;
    const uint32_t *ended = play->model->take_ended(play->network, play->now, &n);

    play->next_end = CCS_TIME_MAX;
    play->is_unsettled = true;
    play->n_injecting -= n;
    if (play->shuffle != NULL)
        ended = shuffle_ended(play, ended, n);
    for (uint32_t i = 0; i < n; i++) {
        if (!leave(play, ended[i], error))
            return false;
    }
    return true;
}

/* All that happens at one moment: first flows end, then events come in the order in which
 * they were asked for, those that they cause at the same time included. */
static bool play_moment(CcsPlay *play, GError **error)
{
    CcsEventRecord event;

    if (play->next_end == play->now && !end_flows(play, error))
        return false;
    while (ccs_queue_next_time(play->queue) == play->now) {
        ccs_queue_pop(play->queue, &event);
        if (!handle(play, &event, error))
            return false;
    }
    if (play->starts->len > 0) {
        play->model->start(play->network, play->now,
                           (const CcsFlowStart *)(const void *)play->starts->data,
                           play->starts->len);
        play->n_injecting += play->starts->len;
        g_array_set_size(play->starts, 0);
        play->is_unsettled = true;
    }
    if (play->is_unsettled)
        play->next_end = play->model->settle(play->network, play->now);
    play->is_unsettled = false;
    return true;
}

static void tell_progress(CcsPlay *play)
{
    if (play->observer.progress != NULL)
        play->observer.progress(play->observer.data, play->n_gone);
    play->n_gone = 0;
}

bool ccs_play_run(CcsPlay *play, CcsBytes size, CcsOutcome *ret_outcome, GError **error)
{
    if (!reset(play, size, error))
        return false;
    for (CcsLaneId lane = 0; lane < play->n_lanes; lane++) {
        if (!try_start(play, lane, play->last_chain, error))
            return false;
    }
    while (play_moment(play, error)) {
        CcsTime next = MIN(ccs_queue_next_time(play->queue), play->next_end);
        if (next >= CCS_TIME_MAX) {
            tell_progress(play);
            return ccs_play_total(play, ret_outcome, error);
        }
        play->now = next;
        if (play->n_gone >= MESSAGES_PER_PROGRESS)
            tell_progress(play);
        if (!ccs_interrupt_check(error))
            return false;
    }
    return false;
}
