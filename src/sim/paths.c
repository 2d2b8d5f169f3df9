#include "sim/paths.h"

#include <string.h>

#include "topology/route.h"

/* Links of fixed routes live in blocks that never move. */
#define BLOCK_LINKS 65536U

/* So many earlier lanes of a rank are looked at for the same route. */
#define MAX_PROBES 8U

/* The route of a message of a lane whose peers change. */
typedef struct {
    CcsRoute route;
    CcsLinkId *links;
    CcsClassLatency *latencies;
    uint32_t n_max;
} Passing;

struct CcsPaths {
    const CcsSchedule *schedule;
    const CcsTopology *topology;
    CcsRouter *router;
    CcsRoute *fixed;       /* by lane; n_links is 0 where the peer is not fixed, or is the source */
    GPtrArray *blocks;     /* of arrays of BLOCK_LINKS CcsLinkId */
    uint32_t n_in_block;   /* links used of the last one */
    GHashTable *latencies; /* of GBytes: the different ones of fixed routes */
    Passing *passing;      /* by lane: of its last message with an even and an odd index */
    GArray *scratch;       /* of CcsLinkId: the route being made */
    GArray *by_class;      /* of CcsClassLatency: likewise */
};

static bool append(CcsPaths *paths, CcsVertexId *at, CcsVertexId to, GError **error)
{
    if (to == CCS_NO_VERTEX)
        return true;
    bool is_found = ccs_router_append(paths->router, *at, to, paths->scratch, error);
    *at = to;
    return is_found;
}

/* Fills the scratch with the links from @source to @peer by way of @path. */
static bool find_links(CcsPaths *paths, CcsRank source, CcsRank peer, const CcsPath *path,
                       GError **error)
{
    const CcsCommunicator *communicator = ccs_schedule_communicator(paths->schedule);
    CcsVertexId at = ccs_communicator_gpu(communicator, source);

    g_array_set_size(paths->scratch, 0);
    return append(paths, &at, path->leave_gpu, error) &&
           append(paths, &at, path->leave_nic, error) &&
           append(paths, &at, path->enter_nic, error) &&
           append(paths, &at, path->enter_gpu, error) &&
           append(paths, &at, ccs_communicator_gpu(communicator, peer), error);
}

static void add_latency(CcsPaths *paths, const CcsLink *link)
{
    CcsClassLatency latency;

    if (link->alpha == 0)
        return;
    for (guint i = 0; i < paths->by_class->len; i++) {
        CcsClassLatency *known = &g_array_index(paths->by_class, CcsClassLatency, i);
        if (known->link_class != link->link_class)
            continue;
        known->time = MIN(known->time + link->alpha, CCS_TIME_MAX);
        return;
    }
    memset(&latency, 0, sizeof latency); /* its padding, too: it is compared byte by byte */
    latency.time = link->alpha;
    latency.link_class = link->link_class;
    g_array_append_val(paths->by_class, latency);
}

/* The route along the links in the scratch, with its latencies in by_class; neither is copied. */
static CcsRoute make_route(CcsPaths *paths)
{
    const CcsLinkId *links = (const CcsLinkId *)(const void *)paths->scratch->data;
    CcsRoute route = {.n_links = paths->scratch->len};

    g_array_set_size(paths->by_class, 0);
    for (uint32_t i = 0; i < route.n_links; i++) {
        const CcsLink *link = ccs_topology_link(paths->topology, links[i]);
        add_latency(paths, link);
        route.latency = MIN(route.latency + link->alpha, CCS_TIME_MAX);
    }
    route.n_latencies = paths->by_class->len;
    return route;
}

/* A copy of the links in the scratch that stays. */
static const CcsLinkId *keep_links(CcsPaths *paths)
{
    uint32_t n = paths->scratch->len;

    g_assert(n <= BLOCK_LINKS);
    if (paths->blocks->len == 0 || paths->n_in_block + n > BLOCK_LINKS) {
        g_ptr_array_add(paths->blocks, g_new(CcsLinkId, BLOCK_LINKS));
        paths->n_in_block = 0;
    }
    CcsLinkId *block = g_ptr_array_index(paths->blocks, paths->blocks->len - 1);
    CcsLinkId *place = &block[paths->n_in_block];
    if (n > 0)
        memcpy(place, paths->scratch->data, n * sizeof *place);
    paths->n_in_block += n;
    return place;
}

/* The same of the latencies; routes with equal ones share them. */
static const CcsClassLatency *keep_latencies(CcsPaths *paths)
{
    gsize size = paths->by_class->len * sizeof(CcsClassLatency);
    g_autoptr(GBytes) bytes = g_bytes_new(paths->by_class->data, size);
    GBytes *known = g_hash_table_lookup(paths->latencies, bytes);

    if (known == NULL) {
        known = g_bytes_ref(bytes);
        g_hash_table_add(paths->latencies, known);
    }
    return g_bytes_get_data(known, NULL);
}

/* Lanes of each rank, the last one first. */
typedef struct {
    CcsLaneId *last;   /* by rank */
    CcsLaneId *before; /* by lane: the one before it of the same rank */
} LanesOfRank;

static bool is_same_way(const CcsLane *a, const CcsLane *b)
{
    return a->peer == b->peer && a->path.leave_gpu == b->path.leave_gpu &&
           a->path.leave_nic == b->path.leave_nic && a->path.enter_nic == b->path.enter_nic &&
           a->path.enter_gpu == b->path.enter_gpu;
}

/* The route of a lane of the same rank that goes the same way, if one of the last few does: they
 * share it, so that their flows can be known to be alike. */
static const CcsRoute *find_same(const CcsPaths *paths, const LanesOfRank *lanes,
                                 const CcsLane *lane)
{
    CcsLaneId other = lanes->last[lane->source];

    for (uint32_t i = 0; i < MAX_PROBES && other != CCS_NO_LANE; i++) {
        if (is_same_way(ccs_schedule_lane(paths->schedule, other), lane))
            return &paths->fixed[other];
        other = lanes->before[other];
    }
    return NULL;
}

static bool find_route(CcsPaths *paths, const LanesOfRank *lanes, CcsLaneId id, GError **error)
{
    const CcsLane *lane = ccs_schedule_lane(paths->schedule, id);
    const CcsRoute *same = find_same(paths, lanes, lane);

    if (same != NULL) {
        paths->fixed[id] = *same;
        return true;
    }
    if (!find_links(paths, lane->source, lane->peer, &lane->path, error))
        return false;
    paths->fixed[id] = make_route(paths);
    paths->fixed[id].links = keep_links(paths);
    paths->fixed[id].latencies = keep_latencies(paths);
    return true;
}

static bool find_fixed(CcsPaths *paths, GError **error)
{
    uint32_t n_ranks = ccs_schedule_n_ranks(paths->schedule);
    uint32_t n_lanes = ccs_schedule_n_lanes(paths->schedule);
    g_autofree CcsLaneId *last = g_new(CcsLaneId, n_ranks);
    g_autofree CcsLaneId *before = g_new(CcsLaneId, n_lanes + 1);
    const LanesOfRank lanes = {last, before};

    memset(last, 0xff, n_ranks * sizeof(CcsLaneId)); /* CCS_NO_LANE */
    for (CcsLaneId id = 0; id < n_lanes; id++) {
        const CcsLane *lane = ccs_schedule_lane(paths->schedule, id);
        if (lane->peer_kind != CCS_PEER_FIXED || ccs_lane_is_local(lane))
            continue;
        if (!find_route(paths, &lanes, id, error))
            return false;
        before[id] = last[lane->source];
        last[lane->source] = id;
    }
    return true;
}

CcsPaths *ccs_paths_new(const CcsSchedule *schedule, GError **error)
{
    g_autoptr(CcsPaths) paths = g_new0(CcsPaths, 1);

    paths->schedule = schedule;
    paths->topology = ccs_communicator_topology(ccs_schedule_communicator(schedule));
    paths->router = ccs_router_new(paths->topology);
    paths->fixed = g_new0(CcsRoute, ccs_schedule_n_lanes(schedule) + 1);
    paths->blocks = g_ptr_array_new_with_free_func(g_free);
    paths->latencies =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    paths->scratch = g_array_new(false, false, sizeof(CcsLinkId));
    paths->by_class = g_array_new(false, false, sizeof(CcsClassLatency));
    if (!find_fixed(paths, error))
        return NULL;
    return g_steal_pointer(&paths);
}

static void free_passing(CcsPaths *paths)
{
    if (paths->passing == NULL)
        return;
    for (size_t i = 0; i < 2 * (size_t)ccs_schedule_n_lanes(paths->schedule); i++) {
        g_free(paths->passing[i].links);
        g_free(paths->passing[i].latencies);
    }
    g_free(paths->passing);
}

void ccs_paths_free(CcsPaths *paths)
{
    if (paths == NULL)
        return;
    ccs_router_free(paths->router);
    free_passing(paths);
    g_free(paths->fixed);
    g_ptr_array_unref(paths->blocks);
    g_hash_table_unref(paths->latencies);
    g_array_unref(paths->scratch);
    g_array_unref(paths->by_class);
    g_free(paths);
}

/* Makes the links in the scratch the route in @passing. */
static const CcsRoute *pass(CcsPaths *paths, Passing *passing)
{
    CcsRoute route = make_route(paths);

    if (route.n_links > passing->n_max) {
        passing->n_max = route.n_links;
        passing->links = g_renew(CcsLinkId, passing->links, passing->n_max);
        passing->latencies = g_renew(CcsClassLatency, passing->latencies, passing->n_max);
    }
    if (route.n_links > 0)
        memcpy(passing->links, paths->scratch->data, route.n_links * sizeof(CcsLinkId));
    if (route.n_latencies > 0)
        memcpy(passing->latencies, paths->by_class->data,
               route.n_latencies * sizeof(CcsClassLatency));
    route.links = passing->links;
    route.latencies = passing->latencies;
    passing->route = route;
    return &passing->route;
}

const CcsRoute *ccs_paths_route(CcsPaths *paths, CcsLaneId id, uint32_t message, GError **error)
{
    const CcsLane *lane = ccs_schedule_lane(paths->schedule, id);

    if (lane->peer_kind == CCS_PEER_FIXED)
        return &paths->fixed[id];
    if (paths->passing == NULL)
        paths->passing = g_new0(Passing, 2 * (size_t)ccs_schedule_n_lanes(paths->schedule));
    CcsRank peer = ccs_lane_peer(lane, message, ccs_schedule_n_ranks(paths->schedule));
    CcsPath path = ccs_schedule_path(paths->schedule, lane->source, peer, lane->channel);
    if (!find_links(paths, lane->source, peer, &path, error))
        return NULL;
    return pass(paths, &paths->passing[2 * (size_t)id + message % 2]);
}
