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
#include <stdlib.h>

#include "engine/heap.h"
#include "models/maxmin.h"
#include "models/network_model.h"

/* So many links of a flow know their place in the link's list; those behind it are searched. */
#define KNOWN_PLACES 10U

#define LEAST_SHARES 64U
#define CACHE_LINE   64U
#define AHEAD        4U /* so many flows before one is looked at its memory is asked for */

/* Two cache lines. What `done` counts is added to the links at the end. */
typedef struct {
    CcsWork left; /* at `since` */
    CcsTime since;
    CcsRate rate;
    const CcsLinkId *links;
    const uint32_t *weights;
    CcsBytes bytes;
    uint64_t number;     /* in the order of the starts */
    CcsBytes bytes_done; /* by flows of the slot that keep their links */
    uint32_t n_done;     /* such flows */
    uint32_t n_links;
    CcsLinkId limit;
    bool is_joined; /* being solved */
    bool keeps_links;
    uint32_t places[KNOWN_PLACES]; /* by index in links: where it stands among the link's flows */
} Flow;

typedef struct {
    uint32_t slot;
    uint32_t index; /* of the link among the flow's links */
} Member;

/* One cache line. */
typedef struct {
    Member *members; /* flows that use it now; not listed where its bandwidth is unlimited */
    uint32_t n_members;
    uint32_t n_members_max;
    uint64_t n_flows;  /* those listed, each with its weight */
    uint64_t n_solved; /* n_flows when last solved */
    CcsRate level;     /* likewise */
    CcsRate peak;
    CcsTime used_since; /* while a flow uses it */
    uint32_t n_bound;   /* flows that it limits and that are not being solved */
    bool is_dirty;      /* a flow on it has started or ended */
} Link;

typedef struct {
    uint64_t number;
    uint32_t slot;
} Ended;

/* Numbers of slots or links, with room for all there are. */
typedef struct {
    uint32_t *items;
    uint32_t n;
} Numbers;

struct CcsNetwork {
    const CcsTopology *topology;
    uint32_t n_slots;
    CcsMaxmin *solver;
    Flow *flows;           /* by slot */
    Link *links;           /* by link */
    CcsMaxminLink *shared; /* by link; of the solver */
    CcsLinkUse *use;       /* by link */
    Numbers dirty;         /* links */
    Numbers fresh;         /* slots of flows that have no rate yet */
    Numbers joined;        /* slots being solved */
    Numbers ended;         /* slots */
    CcsMaxminFlow *shares; /* those of joined */
    uint32_t n_shares_max;
    GArray *ending; /* of Ended */
    CcsHeap *ends;  /* slots by the time when their flows end */
    uint64_t n_started;
};

static CcsNetwork *create(const CcsTopology *topology, uint32_t n_slots)
{
    CcsNetwork *network = g_new0(CcsNetwork, 1);
    size_t n_links = (size_t)ccs_topology_n_links(topology) + 1;

    network->topology = topology;
    network->n_slots = n_slots;
    network->solver = ccs_maxmin_new(topology);
    network->shared = ccs_maxmin_links(network->solver);
    network->flows = g_aligned_alloc0((size_t)n_slots + 1, sizeof(Flow), CACHE_LINE);
    network->links = g_aligned_alloc0(n_links, sizeof(Link), CACHE_LINE);
    network->use = g_new0(CcsLinkUse, n_links);
    network->dirty.items = g_new(uint32_t, n_links);
    network->fresh.items = g_new(uint32_t, (size_t)n_slots + 1);
    network->joined.items = g_new(uint32_t, (size_t)n_slots + 1);
    network->ended.items = g_new(uint32_t, (size_t)n_slots + 1);
    network->ending = g_array_new(false, false, sizeof(Ended));
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
    g_aligned_free(network->flows);
    g_aligned_free(network->links);
    g_free(network->use);
    g_free(network->dirty.items);
    g_free(network->fresh.items);
    g_free(network->joined.items);
    g_free(network->ended.items);
    g_free(network->shares);
    g_array_unref(network->ending);
    ccs_heap_free(network->ends);
    g_free(network);
}

static void add(Numbers *numbers, uint32_t number)
{
    numbers->items[numbers->n++] = number;
}

/* Asks for the memory of a flow, or of its links, some time before it is looked at. */
static void expect_flow(const CcsNetwork *network, uint32_t slot)
{
    __builtin_prefetch(&network->flows[slot], 1);
    __builtin_prefetch((const char *)&network->flows[slot] + CACHE_LINE, 1);
}

static void expect_links(const CcsNetwork *network, const CcsLinkId *links, uint32_t n)
{
    for (uint32_t j = 0; j < n; j++)
        __builtin_prefetch(&network->links[links[j]], 1);
}

static bool is_limited(const CcsNetwork *network, CcsLinkId link)
{
    return network->shared[link].capacity < CCS_RATE_UNLIMITED;
}

static uint64_t weight_of(const Flow *flow, uint32_t index)
{
    return ccs_flow_weight(flow->weights, index);
}

/* The flows that the link limits will have to be solved anew; where there are none, what happens
 * on it changes nobody else's rate. */
static void mark_dirty(CcsNetwork *network, Link *link, CcsLinkId id)
{
    if (link->is_dirty || link->n_bound == 0)
        return;
    link->is_dirty = true;
    add(&network->dirty, id);
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
    if (place == link->n_members)
        return;
    link->members[place] = moved;
    if (moved.index < KNOWN_PLACES)
        network->flows[moved.slot].places[moved.index] = place;
}

static void enter_link(CcsNetwork *network, uint32_t slot, uint32_t index, CcsTime now)
{
    Flow *flow = &network->flows[slot];
    CcsLinkId id = flow->links[index];
    Link *link = &network->links[id];

    if (link->n_members == 0)
        link->used_since = now;
    if (!is_limited(network, id)) {
        link->n_members++;
        return;
    }
    add_member(link, slot, index, flow);
    mark_dirty(network, link, id);
}

static void start_flow(CcsNetwork *network, CcsTime now, const CcsFlowStart *from)
{
    Flow *flow = &network->flows[from->slot];

    flow->left = (CcsWork)from->bytes * CCS_WORK_PER_BYTE;
    flow->since = now;
    flow->rate = 0;
    flow->links = from->links;
    flow->weights = from->weights;
    flow->bytes = from->bytes;
    flow->number = network->n_started++;
    flow->n_links = from->n_links;
    flow->limit = CCS_NO_LINK;
    flow->keeps_links = from->keeps_links;
    add(&network->fresh, from->slot);
    for (uint32_t j = 0; j < from->n_links; j++)
        enter_link(network, from->slot, j, now);
}

static void start(CcsNetwork *network, CcsTime now, const CcsFlowStart *starts, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            expect_flow(network, starts[i + AHEAD].slot);
            expect_links(network, starts[i + AHEAD].links, starts[i + AHEAD].n_links);
        }
        start_flow(network, now, &starts[i]);
    }
}

/* The flow is to get a new rate: its old one no longer counts on its links. */
static void join(CcsNetwork *network, uint32_t slot)
{
    Flow *flow = &network->flows[slot];

    if (flow->is_joined)
        return;
    flow->is_joined = true;
    if (network->joined.n == network->n_shares_max) {
        network->n_shares_max = MAX(LEAST_SHARES, network->n_shares_max * 2);
        network->shares = g_renew(CcsMaxminFlow, network->shares, network->n_shares_max);
    }
    network->shares[network->joined.n] =
        (CcsMaxminFlow){.links = flow->links, .weights = flow->weights, .n_links = flow->n_links};
    add(&network->joined, slot);
    for (uint32_t j = 0; j < flow->n_links && flow->rate > 0; j++) {
        if (is_limited(network, flow->links[j]))
            network->shared[flow->links[j]].taken -= flow->rate * weight_of(flow, j);
    }
    if (flow->limit != CCS_NO_LINK)
        network->links[flow->limit].n_bound--;
}

/* Whether the flow has all of its links that limit it to itself. */
static bool is_alone(const CcsNetwork *network, const Flow *flow)
{
    for (uint32_t j = 0; j < flow->n_links; j++) {
        if (network->links[flow->links[j]].n_members > 1 && is_limited(network, flow->links[j]))
            return false;
    }
    return true;
}

/* The least bandwidth on the way of a flow that is alone there: what solving would come to. */
static CcsRate rate_alone(const CcsNetwork *network, const Flow *flow)
{
    CcsRate rate = CCS_RATE_UNLIMITED;

    for (uint32_t j = 0; j < flow->n_links; j++) {
        CcsRate bandwidth = network->shared[flow->links[j]].capacity;
        if (bandwidth < CCS_RATE_UNLIMITED)
            rate = MIN(rate, flow->weights == NULL ? bandwidth : bandwidth / flow->weights[j]);
    }
    return rate;
}

static void settle_alone(CcsNetwork *network, uint32_t slot, CcsTime now)
{
    Flow *flow = &network->flows[slot];
    CcsRate rate = rate_alone(network, flow);

    for (uint32_t j = 0; j < flow->n_links; j++) {
        CcsLinkId id = flow->links[j];
        Link *link = &network->links[id];
        CcsRate taken = rate * weight_of(flow, j);
        if (!is_limited(network, id))
            continue;
        /* As full as it can be with equal shares, which are rounded down. */
        bool is_full = network->shared[id].capacity - taken < weight_of(flow, j);
        network->shared[id].taken = taken;
        link->peak = MAX(link->peak, taken);
        link->level = is_full ? rate : CCS_RATE_UNLIMITED;
        link->n_solved = link->n_flows;
        link->is_dirty = false;
        if (is_full)
            flow->limit = MIN(flow->limit, id);
    }
    if (flow->limit != CCS_NO_LINK)
        network->links[flow->limit].n_bound++;
    flow->rate = rate;
    ccs_heap_set(network->ends, slot, now + ccs_work_time(flow->left, rate));
}

/* The flows that the link limits. */
static void join_bound(CcsNetwork *network, const Link *link, CcsLinkId id)
{
    for (uint32_t j = 0; j < link->n_members; j++)
        expect_flow(network, link->members[j].slot);
    for (uint32_t j = 0; j < link->n_members && link->n_bound > 0; j++) {
        if (network->flows[link->members[j].slot].limit == id)
            join(network, link->members[j].slot);
    }
}

static void join_first(CcsNetwork *network, CcsTime now)
{
    for (uint32_t i = 0; i < network->fresh.n; i++) {
        uint32_t slot = network->fresh.items[i];
        if (is_alone(network, &network->flows[slot]))
            settle_alone(network, slot, now);
        else
            join(network, slot);
    }
    for (uint32_t i = 0; i < network->dirty.n; i++) {
        CcsLinkId id = network->dirty.items[i];
        Link *link = &network->links[id];
        if (!link->is_dirty)
            continue;
        link->is_dirty = false;
        if (link->n_bound > 0)
            join_bound(network, link, id);
    }
    network->fresh.n = 0;
    network->dirty.n = 0;
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
    uint32_t n_before = network->joined.n;

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
    return network->joined.n > n_before;
}

static void commit_links(CcsNetwork *network)
{
    uint32_t n_used = 0;
    const CcsLinkId *used = ccs_maxmin_used_links(network->solver, &n_used);

    for (uint32_t i = 0; i < n_used; i++) {
        Link *link = &network->links[used[i]];
        CcsRate allocated = ccs_maxmin_allocated(network->solver, used[i]);
        network->shared[used[i]].taken = allocated;
        link->peak = MAX(link->peak, allocated);
        link->level = ccs_maxmin_level(network->solver, used[i]);
        link->n_solved = link->n_flows;
    }
}

static void commit_flow(CcsNetwork *network, uint32_t slot, const CcsMaxminFlow *share, CcsTime now)
{
    Flow *flow = &network->flows[slot];

    flow->is_joined = false;
    flow->limit = share->limit;
    if (flow->limit != CCS_NO_LINK)
        network->links[flow->limit].n_bound++;
    if (share->rate == flow->rate)
        return;
    CcsWork moved = (CcsWork)flow->rate * (CcsWork)(now - flow->since);
    flow->left = moved < flow->left ? flow->left - moved : 0;
    flow->since = now;
    flow->rate = share->rate;
    /* A share may round down to nothing; such a flow does not end. */
    ccs_heap_set(network->ends, slot,
                 flow->rate == 0 ? CCS_TIME_MAX : now + ccs_work_time(flow->left, flow->rate));
}

static CcsTime settle(CcsNetwork *network, CcsTime now)
{
    network->joined.n = 0;
    join_first(network, now);
    if (network->joined.n > 0) {
        do {
            ccs_maxmin_solve(network->solver, network->shares, network->joined.n);
        } while (join_more(network));
        commit_links(network);
        for (uint32_t i = 0; i < network->joined.n; i++)
            commit_flow(network, network->joined.items[i], &network->shares[i], now);
    }
    return ccs_heap_is_empty(network->ends) ? CCS_TIME_MAX : ccs_heap_least(network->ends);
}

static void leave_link(CcsNetwork *network, uint32_t slot, uint32_t index, CcsTime now)
{
    const Flow *flow = &network->flows[slot];
    CcsLinkId id = flow->links[index];
    Link *link = &network->links[id];

    if (is_limited(network, id)) {
        remove_member(network, link, slot, index);
        network->shared[id].taken -= flow->rate * weight_of(flow, index);
        mark_dirty(network, link, id);
    } else {
        link->n_members--;
    }
    if (link->n_members == 0)
        network->use[id].busy += now - link->used_since;
}

/* Adds what a flow has moved to its links. */
static void count_use(CcsNetwork *network, const Flow *flow, uint32_t n_flows, CcsBytes bytes)
{
    for (uint32_t j = 0; j < flow->n_links; j++) {
        CcsLinkUse *use = &network->use[flow->links[j]];
        use->bytes += bytes * weight_of(flow, j);
        use->messages += n_flows * weight_of(flow, j);
    }
}

static void end_flow(CcsNetwork *network, uint32_t slot, CcsTime now)
{
    Flow *flow = &network->flows[slot];

    if (flow->limit != CCS_NO_LINK)
        network->links[flow->limit].n_bound--;
    for (uint32_t j = 0; j < flow->n_links; j++)
        leave_link(network, slot, j, now);
    if (!flow->keeps_links) {
        count_use(network, flow, 1, flow->bytes);
        return;
    }
    flow->n_done++;
    flow->bytes_done += flow->bytes;
}

static int compare_starts(const void *a, const void *b)
{
    const Ended *first = a;
    const Ended *second = b;

    return first->number < second->number ? -1 : first->number > second->number;
}

/* Takes the slots of the flows that end now, in the order of their starts. */
static void take_ending(CcsNetwork *network, CcsTime now)
{
    uint64_t last = 0;
    bool is_sorted = true;

    g_array_set_size(network->ending, 0);
    while (!ccs_heap_is_empty(network->ends) && ccs_heap_least(network->ends) <= now) {
        Ended next = {.slot = ccs_heap_take(network->ends)};
        next.number = network->flows[next.slot].number;
        is_sorted = is_sorted && next.number >= last;
        last = next.number;
        g_array_append_val(network->ending, next);
    }
    if (!is_sorted)
        qsort(network->ending->data, network->ending->len, sizeof(Ended), compare_starts);
}

static const uint32_t *take_ended(CcsNetwork *network, CcsTime now, uint32_t *ret_n)
{
    take_ending(network, now);
    const Ended *ending = (const Ended *)(const void *)network->ending->data;
    network->ended.n = 0;
    for (guint i = 0; i < network->ending->len; i++) {
        if (i + AHEAD < network->ending->len) {
            const Flow *next = &network->flows[ending[i + AHEAD].slot];
            expect_links(network, next->links, next->n_links);
        }
        end_flow(network, ending[i].slot, now);
        add(&network->ended, ending[i].slot);
    }
    *ret_n = network->ended.n;
    return network->ended.items;
}

static CcsLinkId limit(const CcsNetwork *network, uint32_t slot)
{
    return network->flows[slot].limit;
}

static const CcsLinkUse *link_use(CcsNetwork *network)
{
    for (uint32_t slot = 0; slot < network->n_slots; slot++) {
        Flow *flow = &network->flows[slot];
        if (flow->n_done == 0)
            continue;
        count_use(network, flow, flow->n_done, flow->bytes_done);
        flow->n_done = 0;
        flow->bytes_done = 0;
    }
    for (CcsLinkId link = 0; link < ccs_topology_n_links(network->topology); link++)
        network->use[link].peak = network->links[link].peak;
    return network->use;
}

#define PLAIN   "incremental"
#define SUMMARY "max-min fair sharing of directed links, cut-through"

#define FUNCTIONS                                                                                  \
    .shares_links = true, .create = create, .destroy = destroy, .start = start, .settle = settle,  \
    .take_ended = take_ended, .limit = limit, .link_use = link_use

const CcsNetworkModel ccs_model_fluid = {.name = "fluid",
                                         .engine = "auto",
                                         .plain = PLAIN,
                                         .summary = SUMMARY,
                                         .tier = CCS_TIER_AUTO,
                                         FUNCTIONS};

const CcsNetworkModel ccs_model_fluid_incremental = {.name = "fluid",
                                                     .engine = PLAIN,
                                                     .plain = PLAIN,
                                                     .summary = SUMMARY "; plays every message",
                                                     .tier = CCS_TIER_PLAIN,
                                                     FUNCTIONS};

const CcsNetworkModel ccs_model_fluid_quotient = {.name = "fluid",
                                                  .engine = "quotient",
                                                  .plain = PLAIN,
                                                  .summary =
                                                      SUMMARY "; plays one of all that are alike",
                                                  .tier = CCS_TIER_QUOTIENT,
                                                  FUNCTIONS};

const CcsNetworkModel ccs_model_fluid_sweep = {.name = "fluid",
                                               .engine = "sweep",
                                               .plain = PLAIN,
                                               .summary = SUMMARY
                                               "; evaluates a recurrence where no flows compete",
                                               .tier = CCS_TIER_SWEEP,
                                               FUNCTIONS};
