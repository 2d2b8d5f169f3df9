/* fluid.c - flows share links max-min fairly and change rate at once
 *
 * Gives the same bits as the plain form in fluid_reference.c, but looks only at the flows
 * that a start or an end can have changed. An allocation is max-min fair if every flow has a
 * full link on which no flow is faster: its certificate, the link that limits it. So:
 *
 *   begin with the flows that start, and those limited by a link on which one starts or ends;
 *   give them new rates, as if all others kept theirs;
 *   whoever of the others has lost his certificate by that joins them, and again.
 *
 * A flow that is not asked to join could still differ from the plain form by one unit of
 * rate, because shares are rounded down over other sets of flows. Hence the rule for near
 * ties: a link's flows that are within one unit per flow of its new level join too. */
#include "engine/heap.h"
#include "models/maxmin.h"
#include "models/network_model.h"

/* So many links of a flow know their place in the link's list; those behind it are searched. */
#define KNOWN_PLACES 12U

typedef struct {
    CcsMaxminFlow share; /* rate: the current one; while being solved the new one */
    CcsRate rate;        /* the current one, kept while being solved */
    CcsLinkId limit;     /* likewise */
    CcsBytes bytes;
    CcsWork left; /* at `since` */
    CcsTime since;
    uint64_t number;               /* in the order of the starts */
    bool is_joined;                /* being solved */
    uint32_t places[KNOWN_PLACES]; /* by index in links: where it stands among the link's flows */
} Flow;

typedef struct {
    uint32_t slot;
    uint32_t index; /* of the link among the flow's links */
} Member;

typedef struct {
    Member *members; /* flows that use it now; only where its bandwidth is limited */
    uint32_t n_members;
    uint32_t n_members_max;
    uint64_t n_flows;   /* likewise, each with its weight */
    uint32_t n_bound;   /* flows that it limits and that are not being solved */
    CcsRate level;      /* when last solved */
    uint64_t n_solved;  /* n_flows then */
    bool is_dirty;      /* a flow on it has started or ended */
    uint32_t n_present; /* flows that use it now, unlimited or not */
    CcsTime present_since;
} Link;

struct CcsNetwork {
    const CcsTopology *topology;
    CcsMaxmin *solver;
    Flow *flows;       /* by slot */
    Link *links;       /* by link */
    CcsRate *taken;    /* by link: rates of the flows that are not being solved */
    CcsLinkUse *use;   /* by link */
    GArray *dirty;     /* of CcsLinkId */
    GArray *fresh;     /* of uint32_t: slots of flows that have no rate yet */
    GArray *joined;    /* of uint32_t: slots being solved */
    GPtrArray *shares; /* of CcsMaxminFlow: those of joined */
    GArray *ended;     /* of uint32_t */
    CcsHeap *ends;     /* slots by the time when their flows end */
    uint64_t n_started;
};

static CcsNetwork *create(const CcsTopology *topology, uint32_t n_slots)
{
    CcsNetwork *network = g_new0(CcsNetwork, 1);
    size_t n_links = (size_t)ccs_topology_n_links(topology) + 1;

    network->topology = topology;
    network->solver = ccs_maxmin_new(topology);
    network->flows = g_new0(Flow, (size_t)n_slots + 1);
    network->links = g_new0(Link, n_links);
    network->taken = g_new0(CcsRate, n_links);
    network->use = g_new0(CcsLinkUse, n_links);
    network->dirty = g_array_new(false, false, sizeof(CcsLinkId));
    network->fresh = g_array_new(false, false, sizeof(uint32_t));
    network->joined = g_array_new(false, false, sizeof(uint32_t));
    network->shares = g_ptr_array_new();
    network->ended = g_array_new(false, false, sizeof(uint32_t));
    network->ends = ccs_heap_new(n_slots);
    return network;
}

static void destroy(CcsNetwork *network)
{
    if (network == NULL)
        return;
    for (CcsLinkId link = 0; link < ccs_topology_n_links(network->topology); link++)
        g_free(network->links[link].members);
    ccs_maxmin_free(network->solver);
    g_free(network->flows);
    g_free(network->links);
    g_free(network->taken);
    g_free(network->use);
    g_array_unref(network->dirty);
    g_array_unref(network->fresh);
    g_array_unref(network->joined);
    g_ptr_array_unref(network->shares);
    g_array_unref(network->ended);
    ccs_heap_free(network->ends);
    g_free(network);
}

static bool is_limited(const CcsNetwork *network, CcsLinkId link)
{
    return ccs_topology_link(network->topology, link)->bandwidth < CCS_RATE_UNLIMITED;
}

static uint64_t weight_of(const Flow *flow, uint32_t index)
{
    return ccs_flow_weight(flow->share.weights, index);
}

static void mark_dirty(CcsNetwork *network, CcsLinkId link)
{
    if (network->links[link].is_dirty)
        return;
    network->links[link].is_dirty = true;
    g_array_append_val(network->dirty, link);
}

static void add_member(Link *link, uint32_t slot, uint32_t index, Flow *flow)
{
    if (link->n_members == link->n_members_max) {
        link->n_members_max = MAX(8, link->n_members_max * 2);
        link->members = g_renew(Member, link->members, link->n_members_max);
    }
    if (index < KNOWN_PLACES)
        flow->places[index] = link->n_members;
    link->members[link->n_members++] = (Member){slot, index};
    link->n_flows += weight_of(flow, index);
}

static uint32_t place_of(const Link *link, uint32_t slot, uint32_t index, const Flow *flow)
{
    uint32_t place = 0;

    if (index < KNOWN_PLACES)
        return flow->places[index];
    while (link->members[place].slot != slot || link->members[place].index != index)
        place++;
    return place;
}

/* The last member takes the place of the one that goes. */
static void remove_member(CcsNetwork *network, Link *link, uint32_t slot, uint32_t index)
{
    const Flow *flow = &network->flows[slot];
    uint32_t place = place_of(link, slot, index, flow);
    Member moved = link->members[--link->n_members];

    link->n_flows -= weight_of(flow, index);
    link->members[place] = moved;
    if (moved.index < KNOWN_PLACES)
        network->flows[moved.slot].places[moved.index] = place;
}

static void start_flow(CcsNetwork *network, CcsTime now, const CcsFlowStart *from)
{
    Flow *flow = &network->flows[from->slot];

    *flow =
        (Flow){.share = {.links = from->links, .weights = from->weights, .n_links = from->n_links},
               .limit = CCS_NO_LINK,
               .bytes = from->bytes,
               .left = (CcsWork)from->bytes * CCS_WORK_PER_BYTE,
               .since = now,
               .number = network->n_started++};
    g_array_append_val(network->fresh, from->slot);
    for (uint32_t j = 0; j < from->n_links; j++) {
        Link *link = &network->links[from->links[j]];
        if (link->n_present++ == 0)
            link->present_since = now;
        if (!is_limited(network, from->links[j]))
            continue;
        add_member(link, from->slot, j, flow);
        mark_dirty(network, from->links[j]);
    }
}

static void start(CcsNetwork *network, CcsTime now, const CcsFlowStart *starts, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        start_flow(network, now, &starts[i]);
}

/* The flow is to get a new rate: its old one no longer counts on its links. */
static void join(CcsNetwork *network, uint32_t slot)
{
    Flow *flow = &network->flows[slot];

    if (flow->is_joined)
        return;
    flow->is_joined = true;
    g_array_append_val(network->joined, slot);
    g_ptr_array_add(network->shares, &flow->share);
    for (uint32_t j = 0; j < flow->share.n_links && flow->rate > 0; j++) {
        if (is_limited(network, flow->share.links[j]))
            network->taken[flow->share.links[j]] -= flow->rate * weight_of(flow, j);
    }
    if (flow->limit != CCS_NO_LINK)
        network->links[flow->limit].n_bound--;
}

/* Whether the flow has all of its links to itself. */
static bool is_alone(const CcsNetwork *network, const Flow *flow)
{
    for (uint32_t j = 0; j < flow->share.n_links; j++) {
        if (network->links[flow->share.links[j]].n_members > 1)
            return false;
    }
    return true;
}

/* Gives a flow that shares no link the least bandwidth on its way: what solving would come to. */
static void settle_alone(CcsNetwork *network, uint32_t slot, CcsTime now)
{
    Flow *flow = &network->flows[slot];
    CcsRate rate = CCS_RATE_UNLIMITED;

    for (uint32_t j = 0; j < flow->share.n_links; j++) {
        CcsRate bandwidth = ccs_topology_link(network->topology, flow->share.links[j])->bandwidth;
        if (bandwidth < CCS_RATE_UNLIMITED)
            rate = MIN(rate, bandwidth / weight_of(flow, j));
    }
    for (uint32_t j = 0; j < flow->share.n_links; j++) {
        CcsLinkId id = flow->share.links[j];
        Link *link = &network->links[id];
        CcsRate bandwidth = ccs_topology_link(network->topology, id)->bandwidth;
        if (bandwidth == CCS_RATE_UNLIMITED)
            continue;
        bool is_full = bandwidth / weight_of(flow, j) == rate;
        network->taken[id] = rate * weight_of(flow, j);
        network->use[id].peak = MAX(network->use[id].peak, network->taken[id]);
        link->level = is_full ? rate : CCS_RATE_UNLIMITED;
        link->n_solved = link->n_flows;
        link->is_dirty = false;
        if (is_full)
            flow->limit = MIN(flow->limit, id);
    }
    if (flow->limit != CCS_NO_LINK)
        network->links[flow->limit].n_bound++;
    flow->rate = rate;
    flow->share.rate = rate;
    ccs_heap_set(network->ends, slot, now + ccs_work_time(flow->left, rate));
}

static void join_first(CcsNetwork *network, CcsTime now)
{
    for (guint i = 0; i < network->fresh->len; i++) {
        uint32_t slot = g_array_index(network->fresh, uint32_t, i);
        if (is_alone(network, &network->flows[slot]))
            settle_alone(network, slot, now);
        else
            join(network, slot);
    }
    for (guint i = 0; i < network->dirty->len; i++) {
        CcsLinkId id = g_array_index(network->dirty, CcsLinkId, i);
        Link *link = &network->links[id];
        if (!link->is_dirty)
            continue;
        link->is_dirty = false;
        for (uint32_t j = 0; j < link->n_members && link->n_bound > 0; j++) {
            if (network->flows[link->members[j].slot].limit == id)
                join(network, link->members[j].slot);
        }
    }
    g_array_set_size(network->fresh, 0);
    g_array_set_size(network->dirty, 0);
}

/* Whether a flow that kept its rate has lost its certificate because @id is now full at
 * @level (CCS_RATE_UNLIMITED: not full), or is so near that rounding may tell. */
static bool must_join(const Flow *flow, CcsLinkId id, CcsRate level, uint64_t n_flows)
{
    if (flow->rate > level || (flow->limit == id && flow->rate != level))
        return true;
    return level < CCS_RATE_UNLIMITED && flow->rate != level && flow->rate + n_flows >= level;
}

/* Returns: whether any flow had to join. */
static bool join_more(CcsNetwork *network)
{
    uint32_t n_used = 0;
    const CcsLinkId *used = ccs_maxmin_used_links(network->solver, &n_used);
    guint n_before = network->joined->len;

    for (uint32_t i = 0; i < n_used; i++) {
        Link *link = &network->links[used[i]];
        CcsRate level = ccs_maxmin_level(network->solver, used[i]);
        bool is_as_before = level == link->level && link->n_flows <= link->n_solved;
        if (is_as_before || (level == CCS_RATE_UNLIMITED && link->n_bound == 0))
            continue;
        for (uint32_t j = 0; j < link->n_members; j++) {
            uint32_t slot = link->members[j].slot;
            const Flow *flow = &network->flows[slot];
            if (!flow->is_joined && must_join(flow, used[i], level, link->n_flows))
                join(network, slot);
        }
    }
    return network->joined->len > n_before;
}

static void commit_links(CcsNetwork *network)
{
    uint32_t n_used = 0;
    const CcsLinkId *used = ccs_maxmin_used_links(network->solver, &n_used);

    for (uint32_t i = 0; i < n_used; i++) {
        Link *link = &network->links[used[i]];
        CcsRate allocated = ccs_maxmin_allocated(network->solver, used[i]);
        network->taken[used[i]] = allocated;
        network->use[used[i]].peak = MAX(network->use[used[i]].peak, allocated);
        link->level = ccs_maxmin_level(network->solver, used[i]);
        link->n_solved = link->n_flows;
    }
}

static void commit_flow(CcsNetwork *network, uint32_t slot, CcsTime now)
{
    Flow *flow = &network->flows[slot];

    flow->is_joined = false;
    flow->limit = flow->share.limit;
    if (flow->limit != CCS_NO_LINK)
        network->links[flow->limit].n_bound++;
    if (flow->share.rate == flow->rate)
        return;
    CcsWork moved = (CcsWork)flow->rate * (CcsWork)(now - flow->since);
    flow->left = moved < flow->left ? flow->left - moved : 0;
    flow->since = now;
    flow->rate = flow->share.rate;
    /* A share may round down to nothing; such a flow does not end. */
    ccs_heap_set(network->ends, slot,
                 flow->rate == 0 ? CCS_TIME_MAX : now + ccs_work_time(flow->left, flow->rate));
}

static CcsTime settle(CcsNetwork *network, CcsTime now)
{
    g_array_set_size(network->joined, 0);
    g_ptr_array_set_size(network->shares, 0);
    join_first(network, now);
    if (network->joined->len > 0) {
        do {
            ccs_maxmin_solve(network->solver, (CcsMaxminFlow *const *)network->shares->pdata,
                             network->shares->len, network->taken);
        } while (join_more(network));
        commit_links(network);
        for (guint i = 0; i < network->joined->len; i++)
            commit_flow(network, g_array_index(network->joined, uint32_t, i), now);
    }
    return ccs_heap_is_empty(network->ends) ? CCS_TIME_MAX : ccs_heap_least(network->ends);
}

static void end_flow(CcsNetwork *network, uint32_t slot, CcsTime now)
{
    Flow *flow = &network->flows[slot];

    for (uint32_t j = 0; j < flow->share.n_links; j++) {
        CcsLinkId id = flow->share.links[j];
        Link *link = &network->links[id];
        CcsLinkUse *use = &network->use[id];
        use->bytes += flow->bytes * weight_of(flow, j);
        use->messages += weight_of(flow, j);
        if (--link->n_present == 0)
            use->busy += now - link->present_since;
        if (!is_limited(network, id))
            continue;
        remove_member(network, link, slot, j);
        network->taken[id] -= flow->rate * weight_of(flow, j);
        mark_dirty(network, id);
    }
    if (flow->limit != CCS_NO_LINK)
        network->links[flow->limit].n_bound--;
}

static int compare_starts(const void *a, const void *b, void *data)
{
    const CcsNetwork *network = data;
    uint64_t first = network->flows[*(const uint32_t *)a].number;
    uint64_t second = network->flows[*(const uint32_t *)b].number;

    return first < second ? -1 : first > second ? 1 : 0;
}

static const uint32_t *take_ended(CcsNetwork *network, CcsTime now, uint32_t *ret_n)
{
    g_array_set_size(network->ended, 0);
    while (!ccs_heap_is_empty(network->ends) && ccs_heap_least(network->ends) <= now) {
        uint32_t slot = ccs_heap_take(network->ends);
        g_array_append_val(network->ended, slot);
    }
    if (network->ended->len > 1)
        g_array_sort_with_data(network->ended, compare_starts, network);
    for (guint i = 0; i < network->ended->len; i++)
        end_flow(network, g_array_index(network->ended, uint32_t, i), now);
    *ret_n = network->ended->len;
    return (const uint32_t *)(const void *)network->ended->data;
}

static CcsLinkId limit(const CcsNetwork *network, uint32_t slot)
{
    return network->flows[slot].limit;
}

static const CcsLinkUse *link_use(const CcsNetwork *network)
{
    return network->use;
}

const CcsNetworkModel ccs_model_fluid = {
    .name = "fluid",
    .engine = "incremental",
    .summary = "max-min fair sharing of directed links, cut-through",
    .shares_links = true,
    .create = create,
    .destroy = destroy,
    .start = start,
    .settle = settle,
    .take_ended = take_ended,
    .limit = limit,
    .link_use = link_use,
};
