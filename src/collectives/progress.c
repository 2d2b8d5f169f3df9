#include "collectives/progress.h"

#include <string.h>

/* What a lane needs of another one: a dependency without what is known of its place. */
typedef struct {
    CcsLaneId before;
    uint32_t p_before;
    uint32_t p_after;
    uint32_t distance;
    uint32_t from;
    bool is_by_sender;
    bool is_for_sent;
    bool is_one_to_one; /* p_before and p_after are 1 */
} Need;

struct CcsProgress {
    const CcsSchedule *schedule;
    uint32_t n_lanes;
    uint32_t n_left; /* messages that have not arrived */
    CcsLaneProgress *lanes;
    CcsLists dependencies; /* by lane: indices of its dependencies */
    Need *needs;           /* in the order of the items of `dependencies` */
    CcsLists waiters[2];   /* by event and lane: lanes that wait for it */
    uint32_t *periods[2];  /* of each waiter: only every so many messages can matter to it */
    bool *is_gate[2];      /* by event and lane: some waiter's period is above 1 */
    CcsLaneId *family;     /* by lane: first lane of its family, if one waits by sender */
    uint64_t *arrived;     /* bits of the messages of all lanes in families */
    uint64_t *first_bit;   /* by lane: of its messages in `arrived` */
    size_t n_words;
    GArray *found; /* of CcsLaneId: the answer of ccs_progress_waiters() where it is not a list */
};

static Need need_of(const CcsDependency *dependency)
{
    return (Need){
        .before = dependency->before,
        .p_before = dependency->p_before,
        .p_after = dependency->p_after,
        .distance = dependency->distance,
        .from = dependency->from,
        .is_by_sender = dependency->is_by_sender,
        .is_for_sent = dependency->event == CCS_SENT,
        .is_one_to_one = dependency->p_before == 1 && dependency->p_after == 1,
    };
}

static void index_needs(CcsProgress *progress)
{
    uint32_t n = ccs_schedule_n_dependencies(progress->schedule);

    progress->dependencies = ccs_schedule_needs(progress->schedule);
    progress->needs = g_new(Need, (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++)
        progress->needs[i] =
            need_of(ccs_schedule_dependency(progress->schedule, progress->dependencies.items[i]));
}

static uint32_t before_of(const CcsSchedule *schedule, uint32_t index, CcsEvent event)
{
    const CcsDependency *dependency = ccs_schedule_dependency(schedule, index);
    bool is_meant = dependency->event == event && !dependency->is_by_sender;

    return is_meant ? dependency->before : CCS_NO_OWNER;
}

static uint32_t before_of_sent(const void *data, uint32_t index)
{
    return before_of(data, index, CCS_SENT);
}

static uint32_t before_of_arrived(const void *data, uint32_t index)
{
    return before_of(data, index, CCS_ARRIVED);
}

static void index_waiters(CcsProgress *progress, CcsEvent event)
{
    CcsLists *waiters = &progress->waiters[event];

    *waiters =
        ccs_lists_new(progress->n_lanes, ccs_schedule_n_dependencies(progress->schedule),
                      event == CCS_SENT ? before_of_sent : before_of_arrived, progress->schedule);
    uint32_t n = waiters->first[progress->n_lanes];
    progress->periods[event] = g_new(uint32_t, (size_t)n + 1);
    progress->is_gate[event] = g_new0(bool, progress->n_lanes + 1);
    for (uint32_t i = 0; i < n; i++) {
        const CcsDependency *dependency =
            ccs_schedule_dependency(progress->schedule, waiters->items[i]);
        progress->periods[event][i] = dependency->p_before;
        if (dependency->p_before > 1)
            progress->is_gate[event][dependency->before] = true;
        waiters->items[i] = dependency->after;
    }
}

/* Gives every lane of a family its bits. */
static void index_families(CcsProgress *progress)
{
    const CcsSchedule *schedule = progress->schedule;
    uint64_t n_bits = 0;

    for (CcsLaneId lane = 0; lane < progress->n_lanes; lane++)
        progress->family[lane] = CCS_NO_LANE;
    for (uint32_t i = 0; i < ccs_schedule_n_dependencies(schedule); i++) {
        const CcsDependency *dependency = ccs_schedule_dependency(schedule, i);
        CcsLaneId first = dependency->before;
        if (!dependency->is_by_sender || progress->family[first] != CCS_NO_LANE)
            continue;
        for (CcsLaneId lane = first; lane < first + ccs_schedule_n_ranks(schedule); lane++) {
            progress->family[lane] = first;
            progress->first_bit[lane] = n_bits;
            n_bits += ccs_schedule_lane(schedule, lane)->n_messages;
        }
    }
    progress->n_words = n_bits / 64 + 1;
    progress->arrived = g_new0(uint64_t, progress->n_words);
}

CcsProgress *ccs_progress_new(const CcsSchedule *schedule)
{
    CcsProgress *progress = g_new0(CcsProgress, 1);

    progress->schedule = schedule;
    progress->n_lanes = ccs_schedule_n_lanes(schedule);
    progress->lanes = g_new0(CcsLaneProgress, progress->n_lanes + 1);
    progress->family = g_new(CcsLaneId, progress->n_lanes + 1);
    progress->first_bit = g_new0(uint64_t, progress->n_lanes + 1);
    progress->found = g_array_new(false, false, sizeof(CcsLaneId));
    index_needs(progress);
    index_waiters(progress, CCS_SENT);
    index_waiters(progress, CCS_ARRIVED);
    index_families(progress);
    ccs_progress_reset(progress);
    return progress;
}

void ccs_progress_free(CcsProgress *progress)
{
    if (progress == NULL)
        return;
    g_free(progress->lanes);
    g_free(progress->family);
    g_free(progress->first_bit);
    g_free(progress->arrived);
    g_free(progress->needs);
    ccs_lists_clear(&progress->dependencies);
    for (int event = CCS_SENT; event <= CCS_ARRIVED; event++) {
        ccs_lists_clear(&progress->waiters[event]);
        g_free(progress->periods[event]);
        g_free(progress->is_gate[event]);
    }
    g_array_unref(progress->found);
    g_free(progress);
}

void ccs_progress_reset(CcsProgress *progress)
{
    progress->n_left = 0;
    for (CcsLaneId lane = 0; lane < progress->n_lanes; lane++) {
        uint32_t n = ccs_schedule_lane(progress->schedule, lane)->n_messages;
        progress->lanes[lane] = (CcsLaneProgress){.n_messages = n};
        progress->n_left += n;
    }
    memset(progress->arrived, 0, progress->n_words * sizeof(uint64_t));
}

static bool has_bit(const CcsProgress *progress, CcsLaneId lane, uint32_t message)
{
    uint64_t bit = progress->first_bit[lane] + message;
    return message < progress->lanes[lane].n_messages &&
           (progress->arrived[bit / 64] >> (bit % 64) & 1) != 0;
}

/* The lane whose message must have arrived before @message of @lane, by a dependency on the
 * sender; CCS_NO_LANE where no rank sends it. */
static CcsLaneId sender_lane(const CcsProgress *progress, const Need *need, CcsLaneId id,
                             uint32_t message)
{
    const CcsLane *lane = ccs_schedule_lane(progress->schedule, id);
    uint32_t n = ccs_schedule_n_ranks(progress->schedule);
    CcsRank sender = ccs_lane_sender(lane, message - need->distance, lane->source, n);

    return sender < n ? need->before + sender : CCS_NO_LANE;
}

static bool is_met_by_sender(const CcsProgress *progress, const Need *need, CcsLaneId lane,
                             uint32_t message)
{
    if (message < need->from || message < need->distance)
        return true;
    CcsLaneId sender = sender_lane(progress, need, lane, message);
    return sender != CCS_NO_LANE && has_bit(progress, sender, message - need->distance);
}

static bool is_met(const CcsProgress *progress, const Need *need, CcsLaneId lane, uint32_t message)
{
    if (need->is_by_sender)
        return is_met_by_sender(progress, need, lane, message);
    const CcsLaneProgress *before = &progress->lanes[need->before];
    uint32_t n_done = need->is_for_sent ? before->n_sent : before->n_arrived;
    if (n_done == before->n_messages || message < need->from)
        return true;
    if (need->is_one_to_one)
        return (uint64_t)n_done + need->distance > message;
    int64_t turns = (int64_t)(message / need->p_after) + 1 - need->distance;
    return turns <= 0 || n_done >= (uint64_t)turns * need->p_before;
}

/* The first of its needs that keeps the lane's next message waiting; NULL if none does. */
static const Need *unmet(const CcsProgress *progress, CcsLaneId lane)
{
    uint32_t message = progress->lanes[lane].n_started;
    const uint32_t *first = &progress->dependencies.first[lane];

    for (uint32_t i = first[0]; i < first[1]; i++) {
        if (!is_met(progress, &progress->needs[i], lane, message))
            return &progress->needs[i];
    }
    return NULL;
}

bool ccs_progress_may_start(const CcsProgress *progress, CcsLaneId lane)
{
    const CcsLaneProgress *of = &progress->lanes[lane];

    return of->n_started == of->n_sent && of->n_started < of->n_messages &&
           unmet(progress, lane) == NULL;
}

uint32_t ccs_progress_start(CcsProgress *progress, CcsLaneId lane)
{
    return progress->lanes[lane].n_started++;
}

void ccs_progress_sent(CcsProgress *progress, CcsLaneId lane)
{
    progress->lanes[lane].n_sent++;
}

void ccs_progress_arrived(CcsProgress *progress, CcsLaneId lane, uint32_t message)
{
    progress->lanes[lane].n_arrived++;
    progress->n_left--;
    if (progress->family[lane] != CCS_NO_LANE) {
        uint64_t bit = progress->first_bit[lane] + message;
        progress->arrived[bit / 64] |= (uint64_t)1 << (bit % 64);
    }
}

const CcsLaneProgress *ccs_progress_of(const CcsProgress *progress, CcsLaneId lane)
{
    return &progress->lanes[lane];
}

const uint32_t *ccs_progress_dependencies(const CcsProgress *progress, CcsLaneId lane,
                                          uint32_t *ret_n)
{
    const CcsLists *lists = &progress->dependencies;

    *ret_n = lists->first[lane + 1] - lists->first[lane];
    return &lists->items[lists->first[lane]];
}

/* Adds the waiters to `found` for which the number of messages done can be the one awaited. */
static void find_waiters(CcsProgress *progress, CcsLaneId lane, CcsEvent event)
{
    const CcsLaneProgress *of = &progress->lanes[lane];
    const uint32_t *first = &progress->waiters[event].first[lane];
    uint32_t n_done = event == CCS_SENT ? of->n_sent : of->n_arrived;

    for (uint32_t i = first[0]; i < first[1]; i++) {
        if (n_done == of->n_messages || n_done % progress->periods[event][i] == 0)
            g_array_append_val(progress->found, progress->waiters[event].items[i]);
    }
}

const CcsLaneId *ccs_progress_waiters(CcsProgress *progress, CcsLaneId lane, CcsEvent event,
                                      uint32_t message, uint32_t *ret_n)
{
    const CcsLists *lists = &progress->waiters[event];
    bool is_in_family = event == CCS_ARRIVED && progress->family[lane] != CCS_NO_LANE;

    if (!is_in_family && !progress->is_gate[event][lane]) {
        *ret_n = lists->first[lane + 1] - lists->first[lane];
        return &lists->items[lists->first[lane]];
    }
    g_array_set_size(progress->found, 0);
    find_waiters(progress, lane, event);
    if (is_in_family) {
        uint32_t n_ranks = ccs_schedule_n_ranks(progress->schedule);
        CcsRank peer = ccs_lane_peer(ccs_schedule_lane(progress->schedule, lane), message, n_ranks);
        CcsLaneId receiver = progress->family[lane] + peer;
        if (peer < n_ranks)
            g_array_append_val(progress->found, receiver);
    }
    *ret_n = progress->found->len;
    return (const CcsLaneId *)(const void *)progress->found->data;
}

bool ccs_progress_is_done(const CcsProgress *progress)
{
    return progress->n_left == 0;
}

static void append_waiters(CcsProgress *progress, const CcsMessage *of, CcsEvent event,
                           GArray *ready)
{
    uint32_t n = 0;
    const CcsLaneId *waiters = ccs_progress_waiters(progress, of->lane, event, of->message, &n);

    if (n > 0)
        g_array_append_vals(ready, waiters, n);
}

GArray *ccs_progress_any_order(CcsProgress *progress)
{
    g_autoptr(GArray) order = g_array_new(false, false, sizeof(CcsMessage));
    g_autoptr(GArray) ready = g_array_new(false, false, sizeof(CcsLaneId));

    ccs_progress_reset(progress);
    for (CcsLaneId lane = 0; lane < progress->n_lanes; lane++)
        g_array_append_val(ready, lane);
    while (ready->len > 0) {
        CcsMessage next = {.lane = g_array_index(ready, CcsLaneId, ready->len - 1)};
        if (!ccs_progress_may_start(progress, next.lane)) {
            g_array_set_size(ready, ready->len - 1);
            continue;
        }
        next.message = ccs_progress_start(progress, next.lane);
        g_array_append_val(order, next);
        ccs_progress_sent(progress, next.lane);
        ccs_progress_arrived(progress, next.lane, next.message);
        append_waiters(progress, &next, CCS_SENT, ready);
        append_waiters(progress, &next, CCS_ARRIVED, ready);
    }
    return ccs_progress_is_done(progress) ? g_steal_pointer(&order) : NULL;
}

static void describe_lane(const CcsProgress *progress, CcsLaneId id, GString *text)
{
    const CcsLane *lane = ccs_schedule_lane(progress->schedule, id);
    const CcsLaneProgress *of = &progress->lanes[id];
    uint32_t message = MIN(of->n_started, of->n_messages - 1);

    g_string_append_printf(
        text, "rank %u (message %u to rank %u on channel %u)", lane->source, message,
        ccs_lane_peer(lane, message, ccs_schedule_n_ranks(progress->schedule)), lane->channel);
}

/* The lane that @lane waits for; CCS_NO_LANE if it waits for nothing. */
static CcsLaneId waits_for(const CcsProgress *progress, CcsLaneId lane)
{
    const CcsLaneProgress *of = &progress->lanes[lane];
    if (of->n_started == of->n_messages)
        return CCS_NO_LANE;
    const Need *need = unmet(progress, lane);
    if (need == NULL)
        return CCS_NO_LANE;
    return need->is_by_sender ? sender_lane(progress, need, lane, of->n_started) : need->before;
}

char *ccs_progress_describe_wait(const CcsProgress *progress)
{
    GString *text = g_string_new(NULL);
    g_autofree bool *is_seen = g_new0(bool, progress->n_lanes + 1);
    CcsLaneId lane = 0;

    while (lane < progress->n_lanes && waits_for(progress, lane) == CCS_NO_LANE)
        lane++;
    if (lane == progress->n_lanes) {
        g_string_append(text, "no lane waits");
        return g_string_free(text, false);
    }
    describe_lane(progress, lane, text);
    for (uint32_t n = 0; n < 16 && !is_seen[lane]; n++) {
        is_seen[lane] = true;
        CcsLaneId next = waits_for(progress, lane);
        if (next == CCS_NO_LANE)
            break;
        g_string_append(text, " waits for ");
        describe_lane(progress, next, text);
        lane = next;
    }
    return g_string_free(text, false);
}
