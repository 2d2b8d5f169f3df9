#include "collectives/progress.h"

#include <string.h>

/* Lists of numbers by owner: those of owner i are at items[first[i]] ... items[first[i + 1]]. */
typedef struct {
    uint32_t *first;
    uint32_t *items;
} Lists;

struct CcsProgress {
    const CcsSchedule *schedule;
    uint32_t n_lanes;
    uint32_t n_left; /* messages that have not arrived */
    CcsLaneProgress *lanes;
    Lists needs;         /* by lane: indices of its dependencies */
    Lists waiters[2];    /* by event and lane: lanes that wait for it */
    CcsLaneId *family;   /* by lane: first lane of its family, if one waits by sender */
    uint64_t *arrived;   /* bits of the messages of all lanes in families */
    uint64_t *first_bit; /* by lane: of its messages in `arrived` */
    size_t n_words;
    GArray *found; /* of CcsLaneId: the answer of ccs_progress_waiters() where it is not a list */
};

/* Sorts @values by @owners into lists, keeping their order. */
static Lists make_lists(const GArray *owners, const GArray *values, uint32_t n_owners)
{
    Lists lists = {g_new0(uint32_t, n_owners + 2), g_new(uint32_t, owners->len + 1)};

    for (guint i = 0; i < owners->len; i++)
        lists.first[g_array_index(owners, uint32_t, i) + 2]++;
    for (uint32_t i = 2; i < n_owners + 2; i++)
        lists.first[i] += lists.first[i - 1];
    for (guint i = 0; i < owners->len; i++) {
        uint32_t owner = g_array_index(owners, uint32_t, i);
        lists.items[lists.first[owner + 1]++] = g_array_index(values, uint32_t, i);
    }
    return lists;
}

static void free_lists(Lists *lists)
{
    g_free(lists->first);
    g_free(lists->items);
}

static void index_needs(CcsProgress *progress)
{
    g_autoptr(GArray) owners = g_array_new(false, false, sizeof(uint32_t));
    g_autoptr(GArray) values = g_array_new(false, false, sizeof(uint32_t));

    for (uint32_t i = 0; i < ccs_schedule_n_dependencies(progress->schedule); i++) {
        CcsLaneId after = ccs_schedule_dependency(progress->schedule, i)->after;
        g_array_append_val(owners, after);
        g_array_append_val(values, i);
    }
    progress->needs = make_lists(owners, values, progress->n_lanes);
}

static void index_waiters(CcsProgress *progress, CcsEvent event)
{
    g_autoptr(GArray) owners = g_array_new(false, false, sizeof(uint32_t));
    g_autoptr(GArray) values = g_array_new(false, false, sizeof(uint32_t));

    for (uint32_t i = 0; i < ccs_schedule_n_dependencies(progress->schedule); i++) {
        const CcsDependency *dependency = ccs_schedule_dependency(progress->schedule, i);
        if (dependency->event != event || dependency->is_by_sender)
            continue;
        g_array_append_val(owners, dependency->before);
        g_array_append_val(values, dependency->after);
    }
    progress->waiters[event] = make_lists(owners, values, progress->n_lanes);
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
        if (!dependency->is_by_sender)
            continue;
        progress->family[dependency->after] = dependency->before;
        progress->first_bit[dependency->after] = n_bits;
        n_bits += ccs_schedule_lane(schedule, dependency->after)->n_messages;
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
    free_lists(&progress->needs);
    free_lists(&progress->waiters[CCS_SENT]);
    free_lists(&progress->waiters[CCS_ARRIVED]);
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
    return (progress->arrived[bit / 64] >> (bit % 64) & 1) != 0;
}

/* The lane whose message must have arrived before @message, by a dependency on the sender. */
static CcsLaneId sender_lane(const CcsProgress *progress, const CcsDependency *dependency,
                             uint32_t message)
{
    const CcsLane *lane = ccs_schedule_lane(progress->schedule, dependency->after);
    return dependency->before + ccs_lane_sender(lane, message - dependency->distance, lane->source,
                                                ccs_schedule_n_ranks(progress->schedule));
}

static bool is_met(const CcsProgress *progress, const CcsDependency *dependency, uint32_t message)
{
    if (dependency->is_by_sender) {
        if (message < dependency->from || message < dependency->distance)
            return true;
        return has_bit(progress, sender_lane(progress, dependency, message),
                       message - dependency->distance);
    }
    const CcsLaneProgress *before = &progress->lanes[dependency->before];
    uint32_t n_done = dependency->event == CCS_SENT ? before->n_sent : before->n_arrived;
    return n_done >= ccs_dependency_needs(dependency, message, before->n_messages);
}

/* The first dependency that keeps the lane's next message waiting; NULL if none does. */
static const CcsDependency *unmet(const CcsProgress *progress, CcsLaneId lane)
{
    uint32_t message = progress->lanes[lane].n_started;

    for (uint32_t i = progress->needs.first[lane]; i < progress->needs.first[lane + 1]; i++) {
        const CcsDependency *dependency =
            ccs_schedule_dependency(progress->schedule, progress->needs.items[i]);
        if (!is_met(progress, dependency, message))
            return dependency;
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
    *ret_n = progress->needs.first[lane + 1] - progress->needs.first[lane];
    return &progress->needs.items[progress->needs.first[lane]];
}

const CcsLaneId *ccs_progress_waiters(CcsProgress *progress, CcsLaneId lane, CcsEvent event,
                                      uint32_t message, uint32_t *ret_n)
{
    const Lists *lists = &progress->waiters[event];
    const CcsLaneId *waiters = &lists->items[lists->first[lane]];

    *ret_n = lists->first[lane + 1] - lists->first[lane];
    if (event == CCS_SENT || progress->family[lane] == CCS_NO_LANE)
        return waiters;
    CcsRank peer = ccs_lane_peer(ccs_schedule_lane(progress->schedule, lane), message,
                                 ccs_schedule_n_ranks(progress->schedule));
    CcsLaneId receiver = progress->family[lane] + peer;
    g_array_set_size(progress->found, 0);
    g_array_append_vals(progress->found, waiters, *ret_n);
    g_array_append_val(progress->found, receiver);
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
    const CcsDependency *dependency = unmet(progress, lane);
    if (dependency == NULL)
        return CCS_NO_LANE;
    return dependency->is_by_sender ? sender_lane(progress, dependency, of->n_started)
                                    : dependency->before;
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
