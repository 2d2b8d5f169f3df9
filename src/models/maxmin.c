#include "models/maxmin.h"

#include <string.h>

/* What is left of a link while rates are being raised. */
typedef struct {
    CcsRate room;      /* not yet given to frozen flows */
    uint64_t n_active; /* flows on it that are not frozen, each with its multiplicity */
    uint64_t n_frozen; /* of these, frozen at the current level */
    uint32_t first;    /* its flows are members[first] ... */
    uint32_t n_flows;
} Share;

typedef struct {
    CcsRate share;
    CcsLinkId link;
} HeapItem;

struct CcsMaxmin {
    const CcsTopology *topology;
    Share *shares;     /* by link */
    GArray *used;      /* of CcsLinkId: limited links with flows */
    uint32_t *members; /* indices of flows, link by link */
    uint32_t n_members_max;
    HeapItem *heap; /* by share, then link */
    uint32_t n_heap;
    GArray *level;   /* of CcsLinkId: links that are full at the current level */
    GArray *touched; /* of CcsLinkId: links that lost flows at the current level */
};

CcsMaxmin *ccs_maxmin_new(const CcsTopology *topology)
{
    CcsMaxmin *solver = g_new0(CcsMaxmin, 1);
    uint32_t n_links = ccs_topology_n_links(topology);

    solver->topology = topology;
    solver->shares = g_new0(Share, n_links + 1);
    solver->heap = g_new(HeapItem, n_links + 1);
    solver->used = g_array_new(false, false, sizeof(CcsLinkId));
    solver->level = g_array_new(false, false, sizeof(CcsLinkId));
    solver->touched = g_array_new(false, false, sizeof(CcsLinkId));
    return solver;
}

void ccs_maxmin_free(CcsMaxmin *solver)
{
    if (solver == NULL)
        return;
    g_free(solver->shares);
    g_free(solver->members);
    g_free(solver->heap);
    g_array_unref(solver->used);
    g_array_unref(solver->level);
    g_array_unref(solver->touched);
    g_free(solver);
}

static bool is_before(HeapItem a, HeapItem b)
{
    return a.share < b.share || (a.share == b.share && a.link < b.link);
}

static void sink(CcsMaxmin *solver, uint32_t at)
{
    HeapItem item = solver->heap[at];

    for (uint32_t child = 2 * at + 1; child < solver->n_heap; child = 2 * at + 1) {
        if (child + 1 < solver->n_heap && is_before(solver->heap[child + 1], solver->heap[child]))
            child++;
        if (!is_before(solver->heap[child], item))
            break;
        solver->heap[at] = solver->heap[child];
        at = child;
    }
    solver->heap[at] = item;
}

static void drop_top(CcsMaxmin *solver)
{
    solver->heap[0] = solver->heap[--solver->n_heap];
    sink(solver, 0);
}

static bool is_limited(const CcsMaxmin *solver, CcsLinkId link)
{
    return ccs_topology_link(solver->topology, link)->bandwidth < CCS_RATE_UNLIMITED;
}

/* Counts the flows of each link and lists the links. */
static void count_flows(CcsMaxmin *solver, CcsMaxminFlow *const *flows, uint32_t n_flows)
{
    g_array_set_size(solver->used, 0);
    for (uint32_t i = 0; i < n_flows; i++) {
        CcsMaxminFlow *flow = flows[i];
        flow->rate = 0;
        flow->limit = CCS_NO_LINK;
        for (uint32_t j = 0; j < flow->n_links; j++) {
            CcsLinkId link = flow->links[j];
            Share *share = &solver->shares[link];
            if (!is_limited(solver, link))
                continue;
            if (share->n_flows == 0)
                g_array_append_val(solver->used, link);
            share->n_flows++;
            share->n_active += flow->multiplicity;
        }
    }
}

/* Lists the flows of each link, and starts the heap with the share that each link offers. */
static void list_members(CcsMaxmin *solver, CcsMaxminFlow *const *flows, uint32_t n_flows)
{
    uint32_t n_members = 0;

    solver->n_heap = 0;
    for (guint i = 0; i < solver->used->len; i++) {
        CcsLinkId link = g_array_index(solver->used, CcsLinkId, i);
        Share *share = &solver->shares[link];
        share->room = ccs_topology_link(solver->topology, link)->bandwidth;
        share->first = n_members;
        n_members += share->n_flows;
        share->n_flows = 0;
        solver->heap[solver->n_heap++] = (HeapItem){share->room / share->n_active, link};
    }
    for (uint32_t at = solver->n_heap / 2; at-- > 0;)
        sink(solver, at);
    if (n_members > solver->n_members_max) {
        solver->n_members_max = n_members * 2;
        solver->members = g_renew(uint32_t, solver->members, solver->n_members_max);
    }
    for (uint32_t i = 0; i < n_flows; i++) {
        for (uint32_t j = 0; j < flows[i]->n_links; j++) {
            Share *share = &solver->shares[flows[i]->links[j]];
            if (is_limited(solver, flows[i]->links[j]))
                solver->members[share->first + share->n_flows++] = i;
        }
    }
}

/* Takes all links with the least share off the heap, in ascending order. Shares only rise, so
 * an item whose share has risen sinks to its new place. Returns: the share; 0 at the end. */
static CcsRate take_level(CcsMaxmin *solver)
{
    CcsRate level = 0;

    g_array_set_size(solver->level, 0);
    while (solver->n_heap > 0 && (level == 0 || solver->heap[0].share == level)) {
        CcsLinkId link = solver->heap[0].link;
        const Share *share = &solver->shares[link];
        if (share->n_active == 0) {
            drop_top(solver);
            continue;
        }
        CcsRate now = share->room / share->n_active;
        if (now > solver->heap[0].share) {
            solver->heap[0].share = now;
            sink(solver, 0);
            continue;
        }
        level = now;
        g_array_append_val(solver->level, link);
        drop_top(solver);
    }
    return level;
}

static void freeze(CcsMaxmin *solver, CcsMaxminFlow *flow, CcsRate rate, CcsLinkId limit)
{
    flow->rate = rate;
    flow->limit = limit;
    for (uint32_t j = 0; j < flow->n_links; j++) {
        Share *share = &solver->shares[flow->links[j]];
        if (!is_limited(solver, flow->links[j]))
            continue;
        if (share->n_frozen == 0)
            g_array_append_val(solver->touched, flow->links[j]);
        share->n_frozen += flow->multiplicity;
    }
}

/* Freezes the flows of all links of the level, then takes their rates off every link. */
static void freeze_level(CcsMaxmin *solver, CcsMaxminFlow *const *flows, CcsRate rate)
{
    g_array_set_size(solver->touched, 0);
    for (guint i = 0; i < solver->level->len; i++) {
        CcsLinkId link = g_array_index(solver->level, CcsLinkId, i);
        const Share *share = &solver->shares[link];
        for (uint32_t j = 0; j < share->n_flows; j++) {
            CcsMaxminFlow *flow = flows[solver->members[share->first + j]];
            if (flow->limit == CCS_NO_LINK)
                freeze(solver, flow, rate, link);
        }
    }
    for (guint i = 0; i < solver->touched->len; i++) {
        Share *share = &solver->shares[g_array_index(solver->touched, CcsLinkId, i)];
        g_assert(share->room >= share->n_frozen * rate);
        share->room -= share->n_frozen * rate;
        share->n_active -= share->n_frozen;
        share->n_frozen = 0;
    }
}

void ccs_maxmin_solve(CcsMaxmin *solver, CcsMaxminFlow *const *flows, uint32_t n_flows)
{
    for (guint i = 0; i < solver->used->len; i++)
        solver->shares[g_array_index(solver->used, CcsLinkId, i)] = (Share){0};
    count_flows(solver, flows, n_flows);
    list_members(solver, flows, n_flows);
    for (CcsRate rate = take_level(solver); solver->level->len > 0; rate = take_level(solver))
        freeze_level(solver, flows, rate);
    for (uint32_t i = 0; i < n_flows; i++) {
        if (flows[i]->limit == CCS_NO_LINK)
            flows[i]->rate = CCS_RATE_UNLIMITED;
    }
}

const CcsLinkId *ccs_maxmin_used_links(const CcsMaxmin *solver, uint32_t *ret_n)
{
    *ret_n = solver->used->len;
    return (const CcsLinkId *)(const void *)solver->used->data;
}

CcsRate ccs_maxmin_allocated(const CcsMaxmin *solver, CcsLinkId link)
{
    return ccs_topology_link(solver->topology, link)->bandwidth - solver->shares[link].room;
}
