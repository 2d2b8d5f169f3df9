#include "sim/reduction.h"

#include <string.h>

#include "base/hash.h"
#include "sim/symmetry.h"

/* Items by owner: those of owner i are at first[i] ... first[i + 1]. */
typedef struct {
    uint32_t *first;
    GArray *items;
} Lists;

struct CcsReduction {
    CcsSymmetry *symmetry;
    CcsSchedule *schedule;
    CcsBytes size;
    uint32_t n_links;
    uint32_t n_ranks;
    Lists links;         /* of CcsLinkId, by lane of the reduced schedule */
    GArray *weights;     /* of uint32_t, beside the items of links */
    CcsRank *first_rank; /* by rank: the first of its class */
    Lists ranks[2];      /* of CcsRankShare, by role and lane of the reduced schedule */
};

/* A share of a lane in something, before it is sorted by lane. */
typedef struct {
    uint32_t lane; /* class of lanes */
    uint32_t what;
    uint32_t n;
} Share;

static int compare_shares(const void *a, const void *b)
{
    const Share *first = a;
    const Share *second = b;

    if (first->lane != second->lane)
        return first->lane < second->lane ? -1 : 1;
    return first->what < second->what ? -1 : first->what > second->what;
}

/* Where the shares of each lane begin; @shares are sorted. */
static uint32_t *first_by_lane(const GArray *shares, uint32_t n_lanes)
{
    uint32_t *first = g_new0(uint32_t, n_lanes + 2);

    for (guint i = 0; i < shares->len; i++)
        first[g_array_index(shares, Share, i).lane + 1]++;
    for (uint32_t lane = 0; lane < n_lanes; lane++)
        first[lane + 1] += first[lane];
    return first;
}

/* Makes one of the shares of one lane in one thing. */
static void add_up_shares(GArray *shares)
{
    guint n = 0;

    if (shares->len > 1)
        g_array_sort(shares, compare_shares);
    for (guint i = 0; i < shares->len; i++) {
        Share *share = &g_array_index(shares, Share, i);
        Share *last = n == 0 ? NULL : &g_array_index(shares, Share, n - 1);
        if (last != NULL && compare_shares(last, share) == 0)
            last->n += share->n;
        else
            g_array_index(shares, Share, n++) = *share;
    }
    g_array_set_size(shares, n);
}

/* What the lanes have of the first link of each class. */
static GArray *link_shares(const CcsReduction *reduction, const CcsSchedule *whole, CcsPaths *paths)
{
    const CcsSymmetry *symmetry = reduction->symmetry;
    GArray *shares = g_array_new(false, false, sizeof(Share));

    for (CcsLaneId lane = 0; lane < ccs_schedule_n_lanes(whole); lane++) {
        const CcsRoute *route = ccs_paths_route(paths, lane, 0, NULL);
        for (uint32_t i = 0; i < route->n_links; i++) {
            CcsLinkId link = route->links[i];
            if (symmetry->links.first[symmetry->links.of[link]] != link)
                continue;
            g_array_append_vals(shares, &(Share){symmetry->lanes.of[lane], link, 1}, 1);
        }
    }
    add_up_shares(shares);
    return shares;
}

static void find_links(CcsReduction *reduction, const CcsSchedule *whole, CcsPaths *paths)
{
    g_autoptr(GArray) shares = link_shares(reduction, whole, paths);

    reduction->links.first = first_by_lane(shares, reduction->symmetry->lanes.n);
    reduction->links.items = g_array_new(false, false, sizeof(CcsLinkId));
    reduction->weights = g_array_new(false, false, sizeof(uint32_t));
    for (guint i = 0; i < shares->len; i++) {
        const Share *share = &g_array_index(shares, Share, i);
        g_array_append_val(reduction->links.items, share->what);
        g_array_append_val(reduction->weights, share->n);
    }
}

/* For each lane of the reduced schedule what it waits for, once. */
static int compare_dependencies(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(CcsDependency));
}

static void add_dependencies(CcsReduction *reduction, const CcsSchedule *whole)
{
    const CcsClasses *lanes = &reduction->symmetry->lanes;
    g_autoptr(GArray) kept = g_array_new(false, true, sizeof(CcsDependency));

    for (uint32_t i = 0; i < ccs_schedule_n_dependencies(whole); i++) {
        const CcsDependency *dependency = ccs_schedule_dependency(whole, i);
        if (lanes->first[lanes->of[dependency->after]] != dependency->after)
            continue;
        g_array_set_size(kept, kept->len + 1); /* with cleared padding, as it is compared */
        CcsDependency *copy = &g_array_index(kept, CcsDependency, kept->len - 1);
        copy->after = lanes->of[dependency->after];
        copy->before = lanes->of[dependency->before];
        copy->event = dependency->event;
        copy->p_before = dependency->p_before;
        copy->p_after = dependency->p_after;
        copy->distance = dependency->distance;
        copy->from = dependency->from;
    }
    if (kept->len > 1)
        g_array_sort(kept, compare_dependencies);
    for (guint i = 0; i < kept->len; i++) {
        const CcsDependency *dependency = &g_array_index(kept, CcsDependency, i);
        if (i == 0 || compare_dependencies(dependency - 1, dependency) != 0)
            ccs_schedule_depend(reduction->schedule, dependency);
    }
}

static void make_schedule(CcsReduction *reduction, const CcsSchedule *whole)
{
    const CcsClasses *lanes = &reduction->symmetry->lanes;

    reduction->schedule = ccs_schedule_copy_empty(whole);
    for (uint32_t i = 0; i < lanes->n; i++)
        ccs_schedule_add_lane(reduction->schedule, ccs_schedule_lane(whole, lanes->first[i]));
    add_dependencies(reduction, whole);
}

static CcsRank rank_of(const CcsLane *lane, CcsRole role)
{
    return role == CCS_SENDS ? lane->source : lane->peer;
}

/* A number for the lanes that each rank has, the same for ranks that have the same numbers of
 * alike lanes. */
static uint64_t *rank_colours(const CcsReduction *reduction, const CcsSchedule *whole)
{
    uint64_t *colours = g_new0(uint64_t, reduction->n_ranks + 1);

    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(whole); id++) {
        const CcsLane *lane = ccs_schedule_lane(whole, id);
        uint64_t number = (uint64_t)reduction->symmetry->lanes.of[id] * 2;
        if (ccs_lane_is_local(lane))
            continue;
        colours[lane->source] += ccs_mix(number + CCS_SENDS);
        colours[lane->peer] += ccs_mix(number + CCS_RECEIVES);
    }
    return colours;
}

static void find_first_ranks(CcsReduction *reduction, const CcsSchedule *whole)
{
    g_autofree uint64_t *colours = rank_colours(reduction, whole);
    g_autoptr(GHashTable) known = g_hash_table_new(ccs_int64_hash, g_int64_equal);

    reduction->first_rank = g_new(CcsRank, reduction->n_ranks + 1);
    for (CcsRank rank = 0; rank < reduction->n_ranks; rank++) {
        gpointer first = NULL;
        if (!g_hash_table_lookup_extended(known, &colours[rank], NULL, &first)) {
            first = GUINT_TO_POINTER(rank);
            g_hash_table_insert(known, &colours[rank], first);
        }
        reduction->first_rank[rank] = GPOINTER_TO_UINT(first);
    }
}

static void find_ranks(CcsReduction *reduction, const CcsSchedule *whole, CcsRole role)
{
    g_autoptr(GArray) shares = g_array_new(false, false, sizeof(Share));
    Lists *lists = &reduction->ranks[role];

    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(whole); id++) {
        const CcsLane *lane = ccs_schedule_lane(whole, id);
        CcsRank rank = rank_of(lane, role);
        if (reduction->first_rank[rank] != rank || ccs_lane_is_local(lane))
            continue;
        g_array_append_vals(shares, &(Share){reduction->symmetry->lanes.of[id], rank, 1}, 1);
    }
    add_up_shares(shares);
    lists->first = first_by_lane(shares, reduction->symmetry->lanes.n);
    lists->items = g_array_new(false, false, sizeof(CcsRankShare));
    for (guint i = 0; i < shares->len; i++) {
        const Share *share = &g_array_index(shares, Share, i);
        g_array_append_vals(lists->items, &(CcsRankShare){share->what, share->n}, 1);
    }
}

CcsReduction *ccs_reduction_new(const CcsSchedule *schedule, CcsPaths *paths, CcsBytes size,
                                char **ret_reason)
{
    g_autoptr(CcsSymmetry) symmetry = ccs_symmetry_find(schedule, paths, size, ret_reason);
    if (symmetry == NULL)
        return NULL;

    CcsReduction *reduction = g_new0(CcsReduction, 1);
    reduction->symmetry = g_steal_pointer(&symmetry);
    reduction->size = size;
    reduction->n_links =
        ccs_topology_n_links(ccs_communicator_topology(ccs_schedule_communicator(schedule)));
    reduction->n_ranks = ccs_schedule_n_ranks(schedule);
    find_links(reduction, schedule, paths);
    make_schedule(reduction, schedule);
    find_first_ranks(reduction, schedule);
    find_ranks(reduction, schedule, CCS_SENDS);
    find_ranks(reduction, schedule, CCS_RECEIVES);
    return reduction;
}

static void lists_clear(Lists *lists)
{
    g_free(lists->first);
    g_array_unref(lists->items);
}

void ccs_reduction_free(CcsReduction *reduction)
{
    if (reduction == NULL)
        return;
    ccs_symmetry_free(reduction->symmetry);
    ccs_schedule_free(reduction->schedule);
    lists_clear(&reduction->links);
    g_array_unref(reduction->weights);
    g_free(reduction->first_rank);
    lists_clear(&reduction->ranks[CCS_SENDS]);
    lists_clear(&reduction->ranks[CCS_RECEIVES]);
    g_free(reduction);
}

bool ccs_reduction_serves(const CcsReduction *reduction, CcsBytes size)
{
    return size == reduction->size ||
           (reduction->symmetry->is_even && ccs_schedule_is_even(reduction->schedule, size));
}

const CcsSchedule *ccs_reduction_schedule(const CcsReduction *reduction)
{
    return reduction->schedule;
}

CcsLaneId ccs_reduction_first_member(const CcsReduction *reduction, CcsLaneId lane)
{
    return reduction == NULL ? lane : reduction->symmetry->lanes.first[lane];
}

uint32_t ccs_reduction_n_members(const CcsReduction *reduction, CcsLaneId lane)
{
    return reduction == NULL ? 1 : reduction->symmetry->lanes.count[lane];
}

uint32_t ccs_reduction_n_link_members(const CcsReduction *reduction, CcsLinkId link)
{
    if (reduction == NULL)
        return 1;
    const CcsClasses *links = &reduction->symmetry->links;
    return links->count[links->of[link]];
}

CcsLaneLinks ccs_reduction_links(const CcsReduction *reduction, CcsLaneId lane, const CcsRoute *own)
{
    if (reduction == NULL)
        return (CcsLaneLinks){own->links, NULL, own->n_links};
    uint32_t first = reduction->links.first[lane];
    uint32_t n = reduction->links.first[lane + 1] - first;

    if (n == 0)
        return (CcsLaneLinks){NULL, NULL, 0};
    return (CcsLaneLinks){&g_array_index(reduction->links.items, CcsLinkId, first),
                          &g_array_index(reduction->weights, uint32_t, first), n};
}

const CcsRankShare *ccs_reduction_ranks(const CcsReduction *reduction, CcsLaneId lane, CcsRole role,
                                        const CcsRankShare *own, uint32_t *ret_n)
{
    if (reduction == NULL) {
        *ret_n = 1;
        return own;
    }
    const Lists *lists = &reduction->ranks[role];
    uint32_t first = lists->first[lane];

    *ret_n = lists->first[lane + 1] - first;
    return *ret_n == 0 ? NULL : &g_array_index(lists->items, CcsRankShare, first);
}

void ccs_reduction_lift_ranks(const CcsReduction *reduction, const CcsRankTotal *of_first,
                              CcsRankTotal *ret_ranks)
{
    for (CcsRank rank = 0; rank < reduction->n_ranks; rank++)
        ret_ranks[rank] = of_first[reduction->first_rank[rank]];
}

void ccs_reduction_lift_links(const CcsReduction *reduction, const CcsLinkUse *of_first,
                              CcsLinkUse *ret_links)
{
    const CcsClasses *links = &reduction->symmetry->links;

    for (CcsLinkId link = 0; link < reduction->n_links; link++)
        ret_links[link] = of_first[links->first[links->of[link]]];
}
