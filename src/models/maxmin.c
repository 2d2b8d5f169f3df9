#include "models/maxmin.h"

#include <stdbool.h>

/* What is left of a link while rates are being raised. */
typedef struct {
    CcsRate room;      /* not yet given to frozen flows */
    uint64_t n_active; /* flows on it that are not frozen, each with its weight */
    uint64_t n_frozen; /* of these, frozen at the current level */
    CcsLinkId link;
    uint32_t first; /* of its hops */
    bool is_full;   /* reached the end of its room at the current level, or before */
    bool has_risen; /* its share may be above that in the heap */
    CcsRate level;  /* once it is full: the rate of the flows that it froze */
} Share;

typedef struct {
    CcsRate share;
    uint32_t place; /* of the link's share */
} HeapItem;

#define NO_HOP UINT32_MAX

/* Flows with the very same list of links: they have one rate. */
typedef struct {
    const CcsLinkId *links;
    const uint32_t *weights;
    uint32_t n_links;
    uint32_t n_flows;
    uint32_t first_hop; /* of its hops, which end where those of the next bundle begin */
    CcsLinkId limit;
    CcsRate rate;
} Bundle;

/* A bundle on a limited link. */
typedef struct {
    uint64_t weight; /* of all its flows */
    uint32_t place;  /* of the link's share */
    uint32_t bundle;
    uint32_t next; /* on the same link */
} Hop;

/* So many of the last bundles are looked at for the one of a flow. */
#define MAX_PROBES 4U

/* After so many levels the open links become a heap. */
#define SCANNED_LEVELS 12U

/* While it solves it looks at the links that the flows use only, side by side: of each, `shares`
 * has what is left, in the order of first use. */
struct CcsMaxmin {
    uint32_t n_links;
    CcsMaxminLink *links; /* `place`: of its share; valid if that is the link's */
    Share *shares;        /* of limited links with flows */
    CcsLinkId *used;      /* their links */
    uint32_t n_used;
    uint32_t n_used_max;
    Bundle *bundles;
    uint32_t n_bundles;
    uint32_t *bundle_of; /* by flow */
    uint32_t n_flows_max;
    Hop *hops; /* bundle by bundle */
    uint32_t n_hops;
    uint32_t n_hops_max;
    HeapItem *open; /* links that are not full: a list, and a heap by share after some levels */
    uint32_t n_open;
    uint32_t *level; /* places of links that become full at the current level */
    uint32_t n_level;
    uint32_t *touched; /* places of links that lose flows at the current level */
    uint32_t n_touched;
    uint32_t n_left; /* bundles that some link may still limit */
};

CcsMaxmin *ccs_maxmin_new(const CcsTopology *topology)
{
    CcsMaxmin *solver = g_new0(CcsMaxmin, 1);

    solver->n_links = ccs_topology_n_links(topology);
    solver->links = g_new0(CcsMaxminLink, (size_t)solver->n_links + 1);
    for (CcsLinkId link = 0; link < solver->n_links; link++)
        solver->links[link].capacity = ccs_topology_link(topology, link)->bandwidth;
    return solver;
}

void ccs_maxmin_free(CcsMaxmin *solver)
{
    if (solver == NULL)
        return;
    g_free(solver->links);
    g_free(solver->shares);
    g_free(solver->used);
    g_free(solver->hops);
    g_free(solver->bundles);
    g_free(solver->bundle_of);
    g_free(solver->open);
    g_free(solver->level);
    g_free(solver->touched);
    g_free(solver);
}

static void make_room_for_flows(CcsMaxmin *solver, uint32_t n_flows)
{
    if (n_flows < solver->n_flows_max)
        return;
    solver->n_flows_max = n_flows * 2 + 1;
    solver->bundles = g_renew(Bundle, solver->bundles, solver->n_flows_max);
    solver->bundle_of = g_renew(uint32_t, solver->bundle_of, solver->n_flows_max);
}

/* Room for @n_hops, on at most as many different links. */
static void make_room_for_hops(CcsMaxmin *solver, uint32_t n_hops)
{
    uint32_t n_used = MIN(n_hops, solver->n_links);

    if (n_hops > solver->n_hops_max) {
        solver->n_hops_max = n_hops * 2;
        solver->hops = g_renew(Hop, solver->hops, solver->n_hops_max);
    }
    if (n_used > solver->n_used_max) {
        solver->n_used_max = n_used * 2;
        solver->shares = g_renew(Share, solver->shares, solver->n_used_max);
        solver->used = g_renew(CcsLinkId, solver->used, solver->n_used_max);
        solver->open = g_renew(HeapItem, solver->open, solver->n_used_max);
        solver->level = g_renew(uint32_t, solver->level, solver->n_used_max);
        solver->touched = g_renew(uint32_t, solver->touched, solver->n_used_max);
    }
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

/* The place of the share of @link, which gets one if this is the first flow on it. */
static uint32_t place_of(CcsMaxmin *solver, CcsLinkId link)
{
    CcsMaxminLink *of = &solver->links[link];
    uint32_t place = of->place;

    if (place < solver->n_used && solver->used[place] == link)
        return place;
    place = solver->n_used++;
    of->place = place;
    solver->used[place] = link;
    solver->shares[place] = (Share){
        .link = link,
        .first = NO_HOP,
        .room = of->capacity - of->taken,
    };
    return place;
}

static void add_hops(CcsMaxmin *solver, uint32_t index)
{
    const Bundle *bundle = &solver->bundles[index];

    for (uint32_t j = 0; j < bundle->n_links; j++) {
        CcsLinkId link = bundle->links[j];
        if (solver->links[link].capacity == CCS_RATE_UNLIMITED)
            continue;
        uint64_t weight = ccs_flow_weight(bundle->weights, j) * bundle->n_flows;
        uint32_t place = place_of(solver, link);
        Share *share = &solver->shares[place];
        solver->hops[solver->n_hops] = (Hop){weight, place, index, share->first};
        share->first = solver->n_hops++;
        share->n_active += weight;
    }
}

static uint32_t bundle_for(CcsMaxmin *solver, const CcsMaxminFlow *flow)
{
    uint32_t n = solver->n_bundles;

    for (uint32_t i = n; i > 0 && i + MAX_PROBES > n; i--) {
        const Bundle *bundle = &solver->bundles[i - 1];
        if (bundle->links == flow->links && bundle->weights == flow->weights &&
            bundle->n_links == flow->n_links)
            return i - 1;
    }
    solver->bundles[n] = (Bundle){.links = flow->links,
                                  .weights = flow->weights,
                                  .n_links = flow->n_links,
                                  .limit = CCS_NO_LINK,
                                  .rate = CCS_RATE_UNLIMITED};
    return solver->n_bundles++;
}

/* Bundles the flows. Returns: the number of links of all bundles. */
static uint32_t bundle_flows(CcsMaxmin *solver, const CcsMaxminFlow *flows, uint32_t n_flows)
{
    uint32_t n_hops = 0;

    make_room_for_flows(solver, n_flows);
    solver->n_bundles = 0;
    for (uint32_t i = 0; i < n_flows; i++) {
        uint32_t index = bundle_for(solver, &flows[i]);
        n_hops += solver->bundles[index].n_flows++ == 0 ? flows[i].n_links : 0;
        solver->bundle_of[i] = index;
    }
    return n_hops;
}

/* Finds the links of each bundle, and counts the flows of each link. */
static void count_flows(CcsMaxmin *solver, const CcsMaxminFlow *flows, uint32_t n_flows)
{
    make_room_for_hops(solver, bundle_flows(solver, flows, n_flows));
    solver->n_used = 0;
    solver->n_hops = 0;
    solver->n_left = 0;
    for (uint32_t i = 0; i < solver->n_bundles; i++) {
        solver->bundles[i].first_hop = solver->n_hops;
        add_hops(solver, i);
        solver->n_left += solver->n_hops > solver->bundles[i].first_hop ? 1 : 0;
    }
    solver->bundles[solver->n_bundles].first_hop = solver->n_hops;
}

/* Opens the links with the share that each offers. */
static void open_links(CcsMaxmin *solver)
{
    for (uint32_t place = 0; place < solver->n_used; place++) {
        const Share *share = &solver->shares[place];
        solver->open[place] = (HeapItem){share->room / share->n_active, place};
    }
    solver->n_open = solver->n_used;
}

/* Shares only rise, so the share of a link that lost flows is looked at again. Returns: false
 * if the link has no flows left that could take it. */
static bool refresh(CcsMaxmin *solver, HeapItem *item)
{
    Share *share = &solver->shares[item->place];

    if (share->n_active == 0)
        return false;
    if (share->has_risen)
        item->share = share->room / share->n_active;
    share->has_risen = false;
    return true;
}

static void fill_up(CcsMaxmin *solver, uint32_t place, CcsRate level)
{
    solver->shares[place].is_full = true;
    solver->shares[place].level = level;
    solver->level[solver->n_level++] = place;
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
            fill_up(solver, solver->open[i].place, level);
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

    while (solver->n_open > 0 && (solver->n_level == 0 || solver->open[0].share == level)) {
        CcsRate before = solver->open[0].share;
        if (!refresh(solver, &solver->open[0])) {
            drop_top(solver);
        } else if (solver->open[0].share > before) {
            sink(solver, 0);
        } else {
            level = before;
            fill_up(solver, solver->open[0].place, level);
            drop_top(solver);
        }
    }
    return level;
}

static CcsRate take_level(CcsMaxmin *solver, uint32_t n_levels)
{
    solver->n_level = 0;
    if (n_levels < SCANNED_LEVELS)
        return scan_level(solver);
    if (n_levels == SCANNED_LEVELS)
        make_heap(solver);
    return pop_level(solver);
}

/* Of its links that are full now, the bundle names the one with the lowest number. */
static void freeze(CcsMaxmin *solver, Bundle *bundle, CcsRate rate)
{
    CcsLinkId limit = CCS_NO_LINK;
    const Hop *end = &solver->hops[(bundle + 1)->first_hop];

    for (const Hop *hop = &solver->hops[bundle->first_hop]; hop < end; hop++) {
        Share *share = &solver->shares[hop->place];
        if (share->is_full)
            limit = MIN(limit, share->link);
        if (share->n_frozen == 0)
            solver->touched[solver->n_touched++] = hop->place;
        share->n_frozen += hop->weight;
    }
    bundle->rate = rate;
    bundle->limit = limit;
    solver->n_left--;
}

/* Freezes the flows of all links of the level, then takes their rates off every link. */
static void freeze_level(CcsMaxmin *solver, CcsRate rate)
{
    solver->n_touched = 0;
    for (uint32_t i = 0; i < solver->n_level; i++) {
        uint32_t hop = solver->shares[solver->level[i]].first;
        for (; hop != NO_HOP; hop = solver->hops[hop].next) {
            Bundle *bundle = &solver->bundles[solver->hops[hop].bundle];
            if (bundle->limit == CCS_NO_LINK)
                freeze(solver, bundle, rate);
        }
    }
    for (uint32_t i = 0; i < solver->n_touched; i++) {
        Share *share = &solver->shares[solver->touched[i]];
        g_assert(share->room >= share->n_frozen * rate);
        share->room -= share->n_frozen * rate;
        share->n_active -= share->n_frozen;
        share->n_frozen = 0;
        share->has_risen = true;
    }
}

CcsMaxminLink *ccs_maxmin_links(CcsMaxmin *solver)
{
    return solver->links;
}

void ccs_maxmin_solve(CcsMaxmin *solver, CcsMaxminFlow *flows, uint32_t n_flows)
{
    count_flows(solver, flows, n_flows);
    open_links(solver);
    for (uint32_t n_levels = 0; solver->n_left > 0; n_levels++) {
        CcsRate rate = take_level(solver, n_levels);
        freeze_level(solver, rate);
    }
    for (uint32_t i = 0; i < n_flows; i++) {
        const Bundle *bundle = &solver->bundles[solver->bundle_of[i]];
        flows[i].rate = bundle->rate;
        flows[i].limit = bundle->limit;
    }
}

const CcsLinkId *ccs_maxmin_used_links(const CcsMaxmin *solver, uint32_t *ret_n)
{
    *ret_n = solver->n_used;
    return solver->used;
}

CcsRate ccs_maxmin_allocated(const CcsMaxmin *solver, CcsLinkId link)
{
    return solver->links[link].capacity - solver->shares[solver->links[link].place].room;
}

CcsRate ccs_maxmin_level(const CcsMaxmin *solver, CcsLinkId link)
{
    const Share *share = &solver->shares[solver->links[link].place];
    return share->is_full ? share->level : CCS_RATE_UNLIMITED;
}
