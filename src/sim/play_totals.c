/* play_totals.c - what the messages of a play come to, and what must be true of that */
#include "base/error.h"
#include "sim/play_internal.h"

/* What is counted at once because the next message of the lane goes elsewhere. */
static void count_at_receiver(CcsPlay *play, const PlayLane *state, CcsTime arrival)
{
    CcsRankTotal *receiver = &play->ranks[state->peer];

    receiver->bytes_received += state->bytes;
    receiver->messages_received++;
    receiver->finished = MAX(receiver->finished, arrival);
    play->link_bytes += (CcsWork)state->bytes * state->route.n_links;
}

void ccs_play_count_message(CcsPlay *play, PlayLane *state, CcsTime arrival)
{
    state->moved += state->bytes;
    state->n_left++;
    state->left = play->now;
    state->arrived = MAX(state->arrived, arrival);
    if (!state->has_fixed_peer)
        count_at_receiver(play, state, arrival);
}

static void count_sender(CcsPlay *play, const PlayLane *state, const CcsRankShare *share)
{
    CcsRankTotal *total = &play->ranks[share->rank];

    total->bytes_sent += state->moved * share->n_lanes;
    total->messages_sent += (uint64_t)state->n_left * share->n_lanes;
    total->finished = MAX(total->finished, state->left);
}

static void count_receiver(CcsPlay *play, const PlayLane *state, const CcsRankShare *share)
{
    CcsRankTotal *total = &play->ranks[share->rank];

    total->bytes_received += state->moved * share->n_lanes;
    total->messages_received += (uint64_t)state->n_left * share->n_lanes;
    total->finished = MAX(total->finished, state->arrived);
}

/* Adds up at the end what a lane has done. */
static void count_lane(CcsPlay *play, CcsLaneId lane)
{
    const PlayLane *state = &play->lanes[lane];
    CcsRankShare sender = {state->source, 1};
    CcsRankShare receiver = {state->peer, 1};
    uint32_t n = 0;

    if (state->is_local || state->n_left == 0)
        return;
    const CcsRankShare *senders =
        ccs_reduction_ranks(play->reduction, lane, CCS_SENDS, &sender, &n);
    for (uint32_t i = 0; i < n; i++)
        count_sender(play, state, &senders[i]);
    play->n_messages += (uint64_t)state->n_left * ccs_reduction_n_members(play->reduction, lane);
    if (!state->has_fixed_peer)
        return;
    const CcsRankShare *receivers =
        ccs_reduction_ranks(play->reduction, lane, CCS_RECEIVES, &receiver, &n);
    for (uint32_t i = 0; i < n; i++)
        count_receiver(play, state, &receivers[i]);
    play->link_bytes += (CcsWork)state->moved * state->route.n_links *
                        ccs_reduction_n_members(play->reduction, lane);
}

static void count_all(CcsPlay *play)
{
    for (CcsLaneId lane = 0; lane < play->n_lanes; lane++)
        count_lane(play, lane);
    for (CcsRank rank = 0; rank < play->n_ranks; rank++)
        play->ranks[rank].sending = play->rank_states[rank].sending;
}

bool ccs_play_fail_too_long(const CcsPlay *play, CcsLaneId lane, GError **error)
{
    const char *label =
        lane == CCS_NO_LANE
            ? NULL
            : ccs_schedule_label(play->schedule, ccs_schedule_lane(play->schedule, lane)->label);

    g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT,
                "simulated time runs over%s%s: the %s takes longer than 50 days",
                label == NULL ? "" : " at ", label == NULL ? "" : label,
                ccs_schedule_collective(play->schedule) == CCS_PROGRAM ? "program" : "collective");
    return false;
}

static bool check_bytes(const CcsPlay *play, GError **error)
{
    const CcsLinkUse *links = play->model->link_use(play->network);
    CcsWork link_bytes = 0;

    for (CcsLaneId id = 0; id < play->n_lanes; id++) {
        CcsBytes bytes = ccs_schedule_lane_bytes(play->schedule,
                                                 ccs_schedule_lane(play->schedule, id), play->size);
        if (bytes == play->lanes[id].moved)
            continue;
        g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK,
                    "bytes are lost: lane %u of rank %u moved %" G_GUINT64_FORMAT
                    " of %" G_GUINT64_FORMAT " bytes",
                    id, play->lanes[id].source, play->lanes[id].moved, bytes);
        return false;
    }
    for (CcsLinkId link = 0; link < ccs_topology_n_links(play->topology); link++)
        link_bytes +=
            (CcsWork)links[link].bytes * ccs_reduction_n_link_members(play->reduction, link);
    if (link_bytes == play->link_bytes)
        return true;
    g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK,
                "bytes are lost: the links carried other bytes than the messages on them");
    return false;
}

static bool check(const CcsPlay *play, GError **error)
{
    CcsTime explained = ccs_chains_total(play->chains, play->last_chain);

    if (play->n_injecting > 0)
        return ccs_play_fail_too_long(play, CCS_NO_LANE, error);
    if (!ccs_progress_is_done(play->progress)) {
        g_autofree char *wait = ccs_progress_describe_wait(play->progress);
        g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK, "deadlock at %.3f us: %s",
                    ccs_time_us(play->now), wait);
        return false;
    }
    if (explained != play->last) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK, "the critical path explains %.6f of %.6f us",
                    ccs_time_us(explained), ccs_time_us(play->last));
        return false;
    }
    return check_bytes(play, error);
}

static void fill_outcome(const CcsPlay *play, CcsOutcome *outcome)
{
    ccs_chains_read(play->chains, play->last_chain, play->critical_path);
    *outcome = (CcsOutcome){
        .time = play->last,
        .n_messages = play->n_messages,
        .ranks = play->ranks,
        .links = play->model->link_use(play->network),
        .critical_path = play->critical_path,
        .n_classes = MAX(ccs_topology_n_classes(play->topology), 1),
    };
}

bool ccs_play_total(CcsPlay *play, CcsOutcome *ret_outcome, GError **error)
{
    count_all(play);
    if (!check(play, error))
        return false;
    fill_outcome(play, ret_outcome);
    return true;
}
