#include "models/maxmin.h"

#include <stdbool.h>

/* What is left of a link while rates are being raised. */
typedef struct {
    CcsRate room;      /* not yet given to frozen flows */
    uint64_t n_active; /* flows on it that are not frozen, each with its weight */
    uint64_t n_frozen; /* of these, frozen at the current level */
    uint32_t first;    /* its flows are members[first] ... */
    uint32_t n_flows;
    CcsRate level;  /* once it is full: the rate of the flows that it froze */
    bool is_full;   /* reached the end of its room at the current level, or before */
    bool has_risen; /* its share may be above that in the heap */
} Share;

typedef struct {
    CcsRate share;
    CcsLinkId link;
} HeapItem;

/* Has room for every link of the topology. */
typedef struct {
    CcsLinkId *links;
    uint32_t n;
} LinkList;

/* After so many levels the open links become a heap. */
#define SCANNED_LEVELS 12U

struct CcsMaxmin {
    const CcsTopology *topology;
    CcsRate *capacity; /* by link: its bandwidth */
    Share *shares;     /* by link */
    LinkList used;     /* limited links with flows */
    uint32_t *members; /* indices of flows, link by link */
    uint32_t n_members_max;
    HeapItem *open; /* links that are not full: a list, and a heap by share after some levels */
    uint32_t n_open;
    LinkList level;   /* links that become full at the current level */
    LinkList touched; /* links that lose flows at the current level */
};

CcsMaxmin *ccs_maxmin_new(const CcsTopology *topology)
{
    CcsMaxmin *solver = g_new0(CcsMaxmin, 1);
    uint32_t n_links = ccs_topology_n_links(topology);

    solver->topology = topology;
    solver->capacity = g_new(CcsRate, n_links + 1);
    for (CcsLinkId link = 0; link < n_links; link++)
        solver->capacity[link] = ccs_topology_link(topology, link)->bandwidth;
    solver->shares = g_new0(Share, n_links + 1);
    solver->open = g_new(HeapItem, n_links + 1);
    solver->used.links = g_new(CcsLinkId, n_links + 1);
    solver->level.links = g_new(CcsLinkId, n_links + 1);
    solver->touched.links = g_new(CcsLinkId, n_links + 1);
    return solver;
}

void ccs_maxmin_free(CcsMaxmin *solver)
{
    if (solver == NULL)
        return;
    g_free(solver->capacity);
    g_free(solver->shares);
    g_free(solver->members);
    g_free(solver->open);
    g_free(solver->used.links);
    g_free(solver->level.links);
    g_free(solver->touched.links);
    g_free(solver);
}

static void sink(CcsMaxmin *solver, uint32_t at)
{
    HeapItem item = solver->open[at];

    for (uint32_t child = 2 * at + 1; child < solver->n_open; child = 2 * at + 1) {
        if (child + 1 < solver->n_open && solver->open[child + 1].share < solver->open[child].share)
            child++;
        if (solver->open[child].share >= item.share)
            break;
        solver->open[at] = solver->open[child];
        at = child;
    }
    solver->open[at] = item;
}

static void make_heap(CcsMaxmin *solver)
{
    for (uint32_t at = solver->n_open / 2; at-- > 0;)
        sink(solver, at);
}

static void drop_top(CcsMaxmin *solver)
{
    solver->open[0] = solver->open[--solver->n_open];
    sink(solver, 0);
}

static bool is_limited(const CcsMaxmin *solver, CcsLinkId link)
{
    return solver->capacity[link] < CCS_RATE_UNLIMITED;
}

/* Counts the flows of each link and lists the links. */
static void count_flows(CcsMaxmin *solver, CcsMaxminFlow *const *flows, uint32_t n_flows)
{
    solver->used.n = 0;
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
                solver->used.links[solver->used.n++] = link;
            share->n_flows++;
            share->n_active += ccs_flow_weight(flow->weights, j);
        }
    }
}

/* Lists the flows of each link, and opens the links with the share that each offers. */
static void list_members(CcsMaxmin *solver, CcsMaxminFlow *const *flows, uint32_t n_flows,
                         const CcsRate *taken)
{
    uint32_t n_members = 0;

    solver->n_open = 0;
    for (uint32_t i = 0; i < solver->used.n; i++) {
        CcsLinkId link = solver->used.links[i];
        Share *share = &solver->shares[link];
        share->room = solver->capacity[link] - (taken == NULL ? 0 : taken[link]);
        share->first = n_members;
        n_members += share->n_flows;
        share->n_flows = 0;
        solver->open[solver->n_open++] = (HeapItem){share->room / share->n_active, link};
    }
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

/* Shares only rise, so the share of a link that lost flows is looked at again. Returns: false
 * if the link has no flows left that could take it. */
static bool refresh(CcsMaxmin *solver, HeapItem *item)
{
    Share *share = &solver->shares[item->link];

    if (share->n_active == 0)
        return false;
    if (share->has_risen)
        item->share = share->room / share->n_active;
    share->has_risen = false;
    return true;
}

static void fill_up(CcsMaxmin *solver, CcsLinkId link, CcsRate level)
{
    solver->shares[link].is_full = true;
    solver->shares[link].level = level;
    solver->level.links[solver->level.n++] = link;
}

/* Takes all links with the least share out of the open ones, by looking at each: fast where
 * there are few levels. */
static CcsRate scan_level(CcsMaxmin *solver)
{
    CcsRate level = CCS_RATE_UNLIMITED;
    uint32_t n_open = 0;
    uint32_t n_kept = 0;

    for (uint32_t i = 0; i < solver->n_open; i++) {
        HeapItem item = solver->open[i];
        if (!refresh(solver, &item))
            continue;
        level = MIN(level, item.share);
        solver->open[n_open++] = item;
    }
    for (uint32_t i = 0; i < n_open; i++) {
        if (solver->open[i].share == level)
            fill_up(solver, solver->open[i].link, level);
        else
            solver->open[n_kept++] = solver->open[i];
    }
    solver->n_open = n_kept;
    return level;
}

/* The same where the open links are a heap: fast where there are many levels. */
static CcsRate pop_level(CcsMaxmin *solver)
{
    CcsRate level = CCS_RATE_UNLIMITED;

    while (solver->n_open > 0 && (solver->level.n == 0 || solver->open[0].share == level)) {
        CcsRate before = solver->open[0].share;
        if (!refresh(solver, &solver->open[0])) {
            drop_top(solver);
        } else if (solver->open[0].share > before) {
            sink(solver, 0);
        } else {
            level = before;
            fill_up(solver, solver->open[0].link, level);
            drop_top(solver);
        }
    }
    return level;
}

static CcsRate take_level(CcsMaxmin *solver, uint32_t n_levels)
{
    solver->level.n = 0;
    if (n_levels < SCANNED_LEVELS)
        return scan_level(solver);
    if (n_levels == SCANNED_LEVELS)
        make_heap(solver);
    return pop_level(solver);
}

/* Of its links that are full now, the flow names the one with the lowest number. */
static void freeze(CcsMaxmin *solver, CcsMaxminFlow *flow, CcsRate rate)
{
    flow->rate = rate;
    for (uint32_t j = 0; j < flow->n_links; j++) {
        Share *share = &solver->shares[flow->links[j]];
        if (!is_limited(solver, flow->links[j]))
            continue;
        if (share->is_full)
            flow->limit = MIN(flow->limit, flow->links[j]);
        if (share->n_frozen == 0)
            solver->touched.links[solver->touched.n++] = flow->links[j];
        share->n_frozen += ccs_flow_weight(flow->weights, j);
    }
}

/* Freezes the flows of all links of the level, then takes their rates off every link. */
static void freeze_level(CcsMaxmin *solver, CcsMaxminFlow *const *flows, CcsRate rate)
{
    solver->touched.n = 0;
    for (uint32_t i = 0; i < solver->level.n; i++) {
        const Share *share = &solver->shares[solver->level.links[i]];
        for (uint32_t j = 0; j < share->n_flows; j++) {
            CcsMaxminFlow *flow = flows[solver->members[share->first + j]];
            if (flow->limit == CCS_NO_LINK)
                freeze(solver, flow, rate);
        }
    }
    for (uint32_t i = 0; i < solver->touched.n; i++) {
        Share *share = &solver->shares[solver->touched.links[i]];
        g_assert(share->room >= share->n_frozen * rate);
        share->room -= share->n_frozen * rate;
        share->n_active -= share->n_frozen;
        share->n_frozen = 0;
        share->has_risen = true;
    }
}

void ccs_maxmin_solve(CcsMaxmin *solver, CcsMaxminFlow *const *flows, uint32_t n_flows,
                      const CcsRate *taken)
{
    for (uint32_t i = 0; i < solver->used.n; i++)
        solver->shares[solver->used.links[i]] = (Share){0};
    count_flows(solver, flows, n_flows);
    list_members(solver, flows, n_flows, taken);
    for (uint32_t n_levels = 0; solver->n_open > 0; n_levels++) {
        CcsRate rate = take_level(solver, n_levels);
        freeze_level(solver, flows, rate);
    }
    for (uint32_t i = 0; i < n_flows; i++) {
        if (flows[i]->limit == CCS_NO_LINK)
            flows[i]->rate = CCS_RATE_UNLIMITED;
    }
}

const CcsLinkId *ccs_maxmin_used_links(const CcsMaxmin *solver, uint32_t *ret_n)
{
    *ret_n = solver->used.n;
    return solver->used.links;
}

CcsRate ccs_maxmin_allocated(const CcsMaxmin *solver, CcsLinkId link)
{
    return solver->capacity[link] - solver->shares[link].room;
}

CcsRate ccs_maxmin_level(const CcsMaxmin *solver, CcsLinkId link)
{
    const Share *share = &solver->shares[link];
    return share->is_full ? share->level : CCS_RATE_UNLIMITED;
}
