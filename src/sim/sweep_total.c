/* sweep_total.c - what the messages of a sweep came to, and whether links could carry them */
#include <stdlib.h>

#include "sim/sweep_internal.h"

/* A lane on a link, or in a rank, for which it stands so many times. It sends from its first
 * message's entry until its last one has left. */
typedef struct {
    uint32_t owner; /* link or rank */
    CcsLaneId lane;
    uint64_t weight;
} Use;

/* What changes on a link at a moment. */
typedef struct {
    CcsTime time;
    CcsWork rate;
    uint64_t n_lanes;
    bool is_start;
} Change;

static CcsTime entered(const SweepLane *lane)
{
    return lane->started + lane->cost;
}

static uint32_t owner_of(const void *data, uint32_t use)
{
    return g_array_index((const GArray *)data, Use, use).owner;
}

static CcsLaneLinks links_of(const Sweep *sweep, CcsLaneId id)
{
    return ccs_reduction_links(sweep->reduction, id, ccs_paths_route(sweep->paths, id, 0, NULL));
}

static const CcsRankShare *ranks_of(const Sweep *sweep, CcsLaneId id, CcsRole role,
                                    CcsRankShare *own, uint32_t *ret_n)
{
    const CcsLane *lane = ccs_schedule_lane(sweep->schedule, id);

    *own = (CcsRankShare){role == CCS_SENDS ? lane->source : lane->peer, 1};
    return ccs_reduction_ranks(sweep->reduction, id, role, own, ret_n);
}

/* Lanes that move bytes, on each of their links. */
static GArray *find_uses(const Sweep *sweep)
{
    GArray *uses = g_array_new(false, false, sizeof(Use));

    for (CcsLaneId id = 0; id < sweep->n_lanes; id++) {
        CcsLaneLinks links = links_of(sweep, id);
        if (sweep->lanes[id].moving == 0)
            continue;
        for (uint32_t i = 0; i < links.n; i++)
            g_array_append_vals(uses, &(Use){links.links[i], id, ccs_flow_weight(links.weights, i)},
                                1);
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
    uint64_t n = 0;

    g_array_sort(changes, compare_changes);
    for (guint i = 0; i < changes->len; i++) {
        const Change *change = &g_array_index(changes, Change, i);
        n += change->is_start ? change->n_lanes : -change->n_lanes;
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
        CcsWork rate = (CcsWork)lane->rate * uses[i]->weight;
        g_array_append_vals(changes, &(Change){entered(lane), rate, 1, true}, 1);
        g_array_append_vals(changes, &(Change){lane->last_left, rate, 1, false}, 1);
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
    CcsLists by_link = ccs_lists_new(n_links, uses->len, owner_of, uses);
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
    return ccs_schedule_lane_bytes(sweep->schedule, ccs_schedule_lane(sweep->schedule, id),
                                   sweep->size);
}

static void total_sender(const SweepLane *lane, CcsBytes bytes, uint32_t n_lanes,
                         CcsRankTotal *sender)
{
    sender->started =
        sender->messages_sent == 0 ? lane->started : MIN(sender->started, lane->started);
    sender->bytes_sent += bytes * n_lanes;
    sender->messages_sent += (uint64_t)lane->n * n_lanes;
    sender->finished = MAX(sender->finished, lane->last_left);
}

static void total_receiver(const SweepLane *lane, CcsBytes bytes, uint32_t n_lanes,
                           CcsRankTotal *receiver)
{
    receiver->bytes_received += bytes * n_lanes;
    receiver->messages_received += (uint64_t)lane->n * n_lanes;
    receiver->finished = MAX(receiver->finished, lane->last_arrived);
}

static void total_lane(const Sweep *sweep, CcsLaneId id, CcsSweep *total)
{
    const SweepLane *lane = &sweep->lanes[id];
    CcsBytes bytes = bytes_of_all(sweep, id);
    CcsRankShare own;
    uint32_t n = 0;

    if (lane->n == 0)
        return;
    total->time = MAX(total->time, lane->last_arrived);
    if (ccs_lane_is_local(ccs_schedule_lane(sweep->schedule, id)))
        return;
    total->n_messages += (uint64_t)lane->n * ccs_reduction_n_members(sweep->reduction, id);
    const CcsRankShare *senders = ranks_of(sweep, id, CCS_SENDS, &own, &n);
    for (uint32_t i = 0; i < n; i++)
        total_sender(lane, bytes, senders[i].n_lanes, &total->ranks[senders[i].rank]);
    const CcsRankShare *receivers = ranks_of(sweep, id, CCS_RECEIVES, &own, &n);
    for (uint32_t i = 0; i < n; i++)
        total_receiver(lane, bytes, receivers[i].n_lanes, &total->ranks[receivers[i].rank]);
}

/* Empty messages use no link. */
static uint64_t n_full_messages(const Sweep *sweep, CcsLaneId id)
{
    const CcsLane *lane = ccs_schedule_lane(sweep->schedule, id);
    bool is_constant = sweep->lanes[id].is_constant;
    uint32_t n = is_constant ? MIN(lane->n_messages, 1) : lane->n_messages;
    uint64_t n_full = 0;

    for (uint32_t k = 0; k < n; k++)
        n_full += ccs_schedule_message_bytes(sweep->schedule, lane, k, sweep->size) > 0 ? 1 : 0;
    return is_constant ? n_full * lane->n_messages : n_full;
}

static void total_on_links(const Sweep *sweep, CcsLaneId id, CcsLinkUse *links)
{
    CcsLaneLinks of = links_of(sweep, id);
    CcsBytes bytes = of.n == 0 ? 0 : bytes_of_all(sweep, id);
    uint64_t n = of.n == 0 ? 0 : n_full_messages(sweep, id);

    for (uint32_t i = 0; i < of.n; i++) {
        links[of.links[i]].bytes += bytes * ccs_flow_weight(of.weights, i);
        links[of.links[i]].messages += n * ccs_flow_weight(of.weights, i);
    }
}

static GArray *find_senders(const Sweep *sweep)
{
    GArray *uses = g_array_new(false, false, sizeof(Use));

    for (CcsLaneId id = 0; id < sweep->n_lanes; id++) {
        CcsRankShare own;
        uint32_t n = 0;
        const CcsRankShare *ranks = ranks_of(sweep, id, CCS_SENDS, &own, &n);
        bool is_nothing = sweep->lanes[id].started == sweep->lanes[id].last_left;
        if (is_nothing || ccs_lane_is_local(ccs_schedule_lane(sweep->schedule, id)))
            continue;
        for (uint32_t i = 0; i < n; i++)
            g_array_append_vals(uses, &(Use){ranks[i].rank, id, ranks[i].n_lanes}, 1);
    }
    return uses;
}

/* The time during which a rank sends is known where its lanes send one after the other. */
static void total_sending(const Sweep *sweep, CcsRankTotal *ranks)
{
    uint32_t n_ranks = ccs_schedule_n_ranks(sweep->schedule);
    g_autoptr(GArray) uses = find_senders(sweep);
    CcsLists by_rank = ccs_lists_new(n_ranks, uses->len, owner_of, uses);
    g_autoptr(GArray) changes = g_array_new(false, false, sizeof(Change));

    for (CcsRank rank = 0; rank < n_ranks; rank++) {
        g_array_set_size(changes, 0);
        for (uint32_t i = by_rank.first[rank]; i < by_rank.first[rank + 1]; i++) {
            const Use *use = &g_array_index(uses, Use, by_rank.items[i]);
            const SweepLane *lane = &sweep->lanes[use->lane];
            ranks[rank].sending += lane->moving + lane->cost * (CcsTime)lane->n;
            g_array_append_vals(changes, &(Change){lane->started, 1, use->weight, true}, 1);
            g_array_append_vals(changes, &(Change){lane->last_left, 1, use->weight, false}, 1);
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
        total_on_links(sweep, id, total->links);
    }
    total_sending(sweep, total->ranks);
    return g_steal_pointer(&total);
}
