#include "collectives/past.h"

struct CcsPast {
    const CcsSchedule *schedule;
    const CcsProgress *progress;
    CcsLaneId lane;
    const uint32_t *numbers; /* by message: where it comes in one of the orders; not owned; NULL */
    uint32_t earliest;       /* that matters of them */
    uint32_t *first;         /* by lane: the number of its first message in one row of all */
    uint32_t *n_left;        /* by lane: so many messages have left */
    uint32_t *n_followed;    /* by lane: of these, what they wait for has been added */
    uint32_t *arrived;       /* by message: it has arrived, if this is `now` */
    uint32_t now;            /* a number for this look */
    GArray *touched;         /* of CcsLaneId: those whose n_left is not 0 */
    GArray *open;            /* of CcsLaneId: those whose n_followed is not n_left */
};

CcsPast *ccs_past_new(const CcsSchedule *schedule, const CcsProgress *progress)
{
    CcsPast *past = g_new0(CcsPast, 1);
    uint32_t n_lanes = ccs_schedule_n_lanes(schedule);
    uint32_t n_messages = 0;

    past->schedule = schedule;
    past->progress = progress;
    past->first = g_new(uint32_t, n_lanes + 1);
    past->n_left = g_new0(uint32_t, n_lanes + 1);
    past->n_followed = g_new0(uint32_t, n_lanes + 1);
    for (CcsLaneId lane = 0; lane < n_lanes; lane++) {
        past->first[lane] = n_messages;
        n_messages += ccs_schedule_lane(schedule, lane)->n_messages;
    }
    past->arrived = g_new0(uint32_t, n_messages + 1);
    past->touched = g_array_new(false, false, sizeof(CcsLaneId));
    past->open = g_array_new(false, false, sizeof(CcsLaneId));
    return past;
}

void ccs_past_free(CcsPast *past)
{
    if (past == NULL)
        return;
    g_free(past->first);
    g_free(past->n_left);
    g_free(past->n_followed);
    g_free(past->arrived);
    g_array_unref(past->touched);
    g_array_unref(past->open);
    g_free(past);
}

void ccs_past_look_at(CcsPast *past, CcsLaneId lane)
{
    for (guint i = 0; i < past->touched->len; i++) {
        CcsLaneId touched = g_array_index(past->touched, CcsLaneId, i);
        past->n_left[touched] = past->n_followed[touched] = 0;
    }
    g_array_set_size(past->touched, 0);
    past->lane = lane;
    past->numbers = NULL;
    past->now++;
}

void ccs_past_look_since(CcsPast *past, CcsLaneId lane, const uint32_t *numbers, uint32_t earliest)
{
    ccs_past_look_at(past, lane);
    past->numbers = numbers;
    past->earliest = earliest;
}

static bool is_in_order(const CcsLane *lane)
{
    return lane->peer_kind == CCS_PEER_FIXED;
}

/* The first @n messages of @lane must have left. */
static void need_left(CcsPast *past, CcsLaneId lane, uint32_t n)
{
    if (past->n_left[lane] >= n)
        return;
    if (past->n_left[lane] == 0)
        g_array_append_val(past->touched, lane);
    if (past->n_left[lane] == past->n_followed[lane])
        g_array_append_val(past->open, lane);
    past->n_left[lane] = n;
}

/* Message @message of @id must have arrived, and with it those that it cannot pass. */
static void need_arrived(CcsPast *past, CcsLaneId id, uint32_t message)
{
    uint32_t *arrived = &past->arrived[past->first[id]];
    bool has_passed_none = is_in_order(ccs_schedule_lane(past->schedule, id));

    need_left(past, id, message + 1);
    arrived[message] = past->now;
    for (uint32_t i = message; has_passed_none && i > 0 && arrived[i - 1] != past->now; i--)
        arrived[i - 1] = past->now;
}

/* @n messages of the lane before must have arrived, if message @message is to start. Where that
 * lane has several peers, it is known which only if they are all that there are, or all that
 * have started: those before message @message of the lane itself. */
static void need_count(CcsPast *past, const CcsDependency *dependency, uint32_t message, uint32_t n)
{
    const CcsLane *before = ccs_schedule_lane(past->schedule, dependency->before);
    bool is_all =
        n == before->n_messages || (dependency->before == dependency->after && n == message);

    if (dependency->event == CCS_SENT || (!is_in_order(before) && !is_all)) {
        need_left(past, dependency->before, n);
        return;
    }
    for (uint32_t i = is_in_order(before) ? n - 1 : 0; i < n; i++)
        need_arrived(past, dependency->before, i);
}

static void need_from_sender(CcsPast *past, const CcsDependency *dependency, uint32_t message)
{
    const CcsLane *lane = ccs_schedule_lane(past->schedule, dependency->after);
    uint32_t awaited = message - dependency->distance;
    CcsRank sender =
        ccs_lane_sender(lane, awaited, lane->source, ccs_schedule_n_ranks(past->schedule));

    need_arrived(past, dependency->before + sender, awaited);
}

/* Adds all that message @message of @lane waits for. */
static void follow(CcsPast *past, CcsLaneId lane, uint32_t message)
{
    uint32_t n_dependencies = 0;
    const uint32_t *dependencies = ccs_progress_dependencies(past->progress, lane, &n_dependencies);

    for (uint32_t i = 0; i < n_dependencies; i++) {
        const CcsDependency *dependency = ccs_schedule_dependency(past->schedule, dependencies[i]);
        uint32_t n_before = ccs_schedule_lane(past->schedule, dependency->before)->n_messages;
        uint32_t n = ccs_dependency_needs(dependency, message, n_before);
        if (!dependency->is_by_sender && n > 0)
            need_count(past, dependency, message, n);
        if (dependency->is_by_sender && message >= dependency->from &&
            message >= dependency->distance)
            need_from_sender(past, dependency, message);
    }
}

/* All that a message waits for comes before it. */
static bool is_too_early(const CcsPast *past, CcsLaneId lane, uint32_t message)
{
    return past->numbers != NULL && past->numbers[past->first[lane] + message] < past->earliest;
}

void ccs_past_extend(CcsPast *past, uint32_t message)
{
    need_left(past, past->lane, message + 1);
    while (past->open->len > 0) {
        CcsLaneId open = g_array_index(past->open, CcsLaneId, past->open->len - 1);
        if (past->n_followed[open] == past->n_left[open]) {
            g_array_set_size(past->open, past->open->len - 1);
            continue;
        }
        uint32_t next = past->n_followed[open]++;
        if (!is_too_early(past, open, next))
            follow(past, open, next);
    }
}

bool ccs_past_has_left(const CcsPast *past, CcsLaneId lane, uint32_t message)
{
    return past->n_left[lane] > message;
}

bool ccs_past_has_arrived(const CcsPast *past, CcsLaneId lane, uint32_t message)
{
    return past->arrived[past->first[lane] + message] == past->now;
}
