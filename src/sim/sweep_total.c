/* sweep_total.c - what the messages of a sweep came to, and whether links could carry them */
#include <stdlib.h>

#include "sim/sweep_internal.h"

/* A lane on a link; it sends from its first message's entry until its last one has left. */
typedef struct {
    CcsLinkId link;
    CcsLaneId lane;
} Use;

/* What changes on a link at a moment. */
typedef struct {
    CcsTime time;
    CcsRate rate;
    bool is_start;
} Change;

static CcsTime entered(const SweepLane *lane)
{
    return lane->started + lane->cost;
}

static uint32_t link_of(const void *data, uint32_t use)
{
    return g_array_index((const GArray *)data, Use, use).link;
}

/* Lanes that move bytes, on each of their links. */
static GArray *find_uses(const Sweep *sweep)
{
    GArray *uses = g_array_new(false, false, sizeof(Use));

    for (CcsLaneId id = 0; id < sweep->n_lanes; id++) {
        const CcsRoute *route = ccs_paths_route(sweep->paths, id, 0, NULL);
        if (sweep->lanes[id].moving == 0)
            continue;
        for (uint32_t i = 0; i < route->n_links; i++)
            g_array_append_vals(uses, &(Use){route->links[i], id}, 1);
    }
    return uses;
}

static int compare_changes(const void *a, const void *b)
{
    const Change *first = a;
    const Change *second = b;

    if (first->time != second->time)
        return first->time < second->time ? -1 : 1;
    return (first->is_start ? 1 : 0) - (second->is_start ? 1 : 0); /* ends come first */
}

/* The most that lanes may send over a link at once, and whether never two do. */
typedef struct {
    CcsWork most;
    bool is_one_at_a_time;
} Load;

static Load measure_load(GArray *changes)
{
    Load load = {0, true};
    CcsWork now = 0;
    uint32_t n = 0;

    g_array_sort(changes, compare_changes);
    for (guint i = 0; i < changes->len; i++) {
        const Change *change = &g_array_index(changes, Change, i);
        n += change->is_start ? 1 : (uint32_t)-1;
        now = change->is_start ? now + change->rate : now - change->rate;
        load.most = MAX(load.most, now);
        load.is_one_at_a_time = load.is_one_at_a_time && n <= 1;
    }
    return load;
}

static char *refuse_link(const Sweep *sweep, CcsLinkId link)
{
    g_autofree char *name = ccs_topology_link_name(sweep->topology, link);
    return g_strdup_printf("flows may compete for link %s", name);
}

/* Fills in what is known of a link. Returns: NULL if it can carry its lanes. */
static char *total_link(const Sweep *sweep, CcsLinkId link, const Use *const *uses, uint32_t n,
                        bool shares_links, CcsLinkUse *total)
{
    g_autoptr(GArray) changes = g_array_new(false, false, sizeof(Change));
    CcsRate bandwidth = ccs_topology_link(sweep->topology, link)->bandwidth;
    CcsTime moving = 0;

    for (uint32_t i = 0; i < n; i++) {
        const SweepLane *lane = &sweep->lanes[uses[i]->lane];
        moving += lane->moving;
        g_array_append_vals(changes, &(Change){entered(lane), lane->rate, true}, 1);
        g_array_append_vals(changes, &(Change){lane->last_left, lane->rate, false}, 1);
    }
    Load load = measure_load(changes);
    if (shares_links && bandwidth < CCS_RATE_UNLIMITED && load.most > bandwidth)
        return refuse_link(sweep, link);
    total->busy = load.is_one_at_a_time ? moving : CCS_TIME_UNKNOWN;
    if (load.is_one_at_a_time && bandwidth < CCS_RATE_UNLIMITED)
        total->peak = (CcsRate)load.most;
    return NULL;
}

static char *total_busy(const Sweep *sweep, bool shares_links, CcsLinkUse *links)
{
    uint32_t n_links = ccs_topology_n_links(sweep->topology);
    g_autoptr(GArray) uses = find_uses(sweep);
    CcsLists by_link = ccs_lists_new(n_links, uses->len, link_of, uses);
    g_autoptr(GPtrArray) of_link = g_ptr_array_new();
    char *reason = NULL;

    for (CcsLinkId link = 0; link < n_links && reason == NULL; link++) {
        g_ptr_array_set_size(of_link, 0);
        for (uint32_t i = by_link.first[link]; i < by_link.first[link + 1]; i++)
            g_ptr_array_add(of_link, &g_array_index(uses, Use, by_link.items[i]));
        if (of_link->len > 0)
            reason = total_link(sweep, link, (const Use *const *)of_link->pdata, of_link->len,
                                shares_links, &links[link]);
    }
    ccs_lists_clear(&by_link);
    return reason;
}

static CcsBytes bytes_of_all(const Sweep *sweep, CcsLaneId id)
{
    const CcsLane *lane = ccs_schedule_lane(sweep->schedule, id);
    uint32_t n = sweep->lanes[id].is_constant ? MIN(lane->n_messages, 1) : lane->n_messages;
    CcsBytes bytes = 0;

    for (uint32_t k = 0; k < n; k++)
        bytes += ccs_schedule_message_bytes(sweep->schedule, lane, k, sweep->size);
    return sweep->lanes[id].is_constant ? bytes * lane->n_messages : bytes;
}

static void total_lane(const Sweep *sweep, CcsLaneId id, CcsSweep *total)
{
    const SweepLane *lane = &sweep->lanes[id];
    const CcsLane *of = ccs_schedule_lane(sweep->schedule, id);
    CcsBytes bytes = bytes_of_all(sweep, id);
    const CcsRoute *route = ccs_paths_route(sweep->paths, id, 0, NULL);

    if (lane->n == 0)
        return;
    total->time = MAX(total->time, lane->last_arrived);
    if (ccs_lane_is_local(of))
        return;
    total->n_messages += lane->n;
    CcsRankTotal *sender = &total->ranks[of->source];
    sender->started =
        sender->messages_sent == 0 ? lane->started : MIN(sender->started, lane->started);
    sender->bytes_sent += bytes;
    sender->messages_sent += lane->n;
    sender->finished = MAX(sender->finished, lane->last_left);
    CcsRankTotal *receiver = &total->ranks[of->peer];
    receiver->bytes_received += bytes;
    receiver->messages_received += lane->n;
    receiver->finished = MAX(receiver->finished, lane->last_arrived);
    for (uint32_t i = 0; i < route->n_links && bytes > 0; i++)
        total->links[route->links[i]].bytes += bytes;
}

/* Empty messages use no link. */
static void count_on_links(const Sweep *sweep, CcsLaneId id, CcsLinkUse *links)
{
    const CcsLane *lane = ccs_schedule_lane(sweep->schedule, id);
    const CcsRoute *route = ccs_paths_route(sweep->paths, id, 0, NULL);
    uint64_t n = 0;

    if (sweep->lanes[id].is_constant)
        n = lane->n_messages > 0 &&
                    ccs_schedule_message_bytes(sweep->schedule, lane, 0, sweep->size)
                ? lane->n_messages
                : 0;
    for (uint32_t k = 0; k < lane->n_messages && !sweep->lanes[id].is_constant; k++)
        n += ccs_schedule_message_bytes(sweep->schedule, lane, k, sweep->size) > 0 ? 1 : 0;
    for (uint32_t i = 0; i < route->n_links; i++)
        links[route->links[i]].messages += n;
}

static uint32_t source_of(const void *data, uint32_t lane)
{
    return ccs_schedule_lane(data, lane)->source;
}

/* The time during which a rank sends is known where its lanes send one after the other. */
static void total_sending(const Sweep *sweep, CcsRankTotal *ranks)
{
    uint32_t n_ranks = ccs_schedule_n_ranks(sweep->schedule);
    CcsLists by_rank = ccs_lists_new(n_ranks, sweep->n_lanes, source_of, sweep->schedule);
    g_autoptr(GArray) changes = g_array_new(false, false, sizeof(Change));

    for (CcsRank rank = 0; rank < n_ranks; rank++) {
        g_array_set_size(changes, 0);
        for (uint32_t i = by_rank.first[rank]; i < by_rank.first[rank + 1]; i++) {
            CcsLaneId id = by_rank.items[i];
            const SweepLane *lane = &sweep->lanes[id];
            if (lane->started == lane->last_left ||
                ccs_lane_is_local(ccs_schedule_lane(sweep->schedule, id)))
                continue;
            ranks[rank].sending += lane->moving + lane->cost * (CcsTime)lane->n;
            g_array_append_vals(changes, &(Change){lane->started, 1, true}, 1);
            g_array_append_vals(changes, &(Change){lane->last_left, 1, false}, 1);
        }
        if (!measure_load(changes).is_one_at_a_time)
            ranks[rank].sending = CCS_TIME_UNKNOWN;
    }
    ccs_lists_clear(&by_rank);
}

CcsSweep *ccs_sweep_total(const Sweep *sweep, bool shares_links, char **ret_reason)
{
    g_autoptr(CcsSweep) total = g_new0(CcsSweep, 1);

    total->time = sweep->transport->launch;
    total->ranks = g_new0(CcsRankTotal, (size_t)ccs_schedule_n_ranks(sweep->schedule) + 1);
    total->links = g_new0(CcsLinkUse, (size_t)ccs_topology_n_links(sweep->topology) + 1);
    *ret_reason = total_busy(sweep, shares_links, total->links);
    if (*ret_reason != NULL)
        return NULL;
    for (CcsLaneId id = 0; id < sweep->n_lanes; id++) {
        total_lane(sweep, id, total);
        count_on_links(sweep, id, total->links);
    }
    total_sending(sweep, total->ranks);
    return g_steal_pointer(&total);
}
