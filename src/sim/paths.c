#include "sim/paths.h"

#include "topology/route.h"

/* Links live in blocks that never move, so that a flow under way may point into one. */
#define BLOCK_LINKS 65536U
#define MAX_KEPT    1048576U

struct CcsPaths {
    const CcsSchedule *schedule;
    const CcsTopology *topology;
    CcsRouter *router;
    CcsRoute *fixed;    /* by lane; n_links is 0 where the peer is not fixed, or is the source */
    GHashTable *others; /* of key (source, peer, channel) to an index in routes, plus 1 */
    GArray *routes;     /* of CcsRoute */
    GPtrArray *blocks;  /* of arrays of BLOCK_LINKS CcsLinkId */
    uint32_t n_in_block;
    GArray *scratch;   /* of CcsLinkId */
    CcsLinkId **links; /* by lane: owned links of its message whose route is not kept */
    CcsRoute passing;  /* the last such route */
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

/* The route along the links in the scratch, which are copied to @place. */
static CcsRoute make_route(const CcsPaths *paths, CcsLinkId *place)
{
    CcsRoute route = {.links = place, .n_links = paths->scratch->len};

    for (uint32_t i = 0; i < route.n_links; i++) {
        place[i] = g_array_index(paths->scratch, CcsLinkId, i);
        route.latency += ccs_topology_link(paths->topology, place[i])->alpha;
        route.latency = MIN(route.latency, CCS_TIME_MAX);
    }
    return route;
}

/* A place in the blocks for the links in the scratch. */
static CcsLinkId *reserve(CcsPaths *paths)
{
    uint32_t n = paths->scratch->len;

    g_assert(n <= BLOCK_LINKS);
    if (paths->blocks->len == 0 || paths->n_in_block + n > BLOCK_LINKS) {
        g_ptr_array_add(paths->blocks, g_new(CcsLinkId, BLOCK_LINKS));
        paths->n_in_block = 0;
    }
    CcsLinkId *block = g_ptr_array_index(paths->blocks, paths->blocks->len - 1);
    paths->n_in_block += n;
    return &block[paths->n_in_block - n];
}

static bool find_fixed(CcsPaths *paths, GError **error)
{
    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(paths->schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(paths->schedule, id);
        if (lane->peer_kind != CCS_PEER_FIXED || ccs_lane_is_local(lane))
            continue;
        if (!find_links(paths, lane->source, lane->peer, &lane->path, error))
            return false;
        paths->fixed[id] = make_route(paths, reserve(paths));
    }
    return true;
}

/* Keys differ in all of their bits, and tables take the low ones (Fibonacci hashing). */
static guint hash_key(gconstpointer key)
{
    return (guint)(*(const guint64 *)key * 0x9E3779B97F4A7C15U >> 32);
}

CcsPaths *ccs_paths_new(const CcsSchedule *schedule, GError **error)
{
    g_autoptr(CcsPaths) paths = g_new0(CcsPaths, 1);

    paths->schedule = schedule;
    paths->topology = ccs_communicator_topology(ccs_schedule_communicator(schedule));
    paths->router = ccs_router_new(paths->topology);
    paths->fixed = g_new0(CcsRoute, ccs_schedule_n_lanes(schedule) + 1);
    paths->others = g_hash_table_new_full(hash_key, g_int64_equal, g_free, NULL);
    paths->routes = g_array_new(false, false, sizeof(CcsRoute));
    paths->blocks = g_ptr_array_new_with_free_func(g_free);
    paths->scratch = g_array_new(false, false, sizeof(CcsLinkId));
    paths->links = g_new0(CcsLinkId *, ccs_schedule_n_lanes(schedule) + 1);
    if (!find_fixed(paths, error))
        return NULL;
    return g_steal_pointer(&paths);
}

void ccs_paths_free(CcsPaths *paths)
{
    if (paths == NULL)
        return;
    ccs_router_free(paths->router);
    g_free(paths->fixed);
    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(paths->schedule); id++)
        g_free(paths->links[id]);
    g_free(paths->links);
    g_hash_table_unref(paths->others);
    g_array_unref(paths->routes);
    g_ptr_array_unref(paths->blocks);
    g_array_unref(paths->scratch);
    g_free(paths);
}

/* Which of its NICs the GPU of @rank uses on @channel, or a number that stands for that. */
static uint64_t nic_choice(const CcsPaths *paths, CcsRank rank, uint32_t channel)
{
    const CcsCommunicator *communicator = ccs_schedule_communicator(paths->schedule);
    uint32_t n_nics = 0;

    ccs_topology_gpu_nics(paths->topology, ccs_communicator_gpu(communicator, rank), &n_nics);
    return n_nics == 0 ? 0 : channel % n_nics;
}

/* A number for all that the route depends on: channels that use the same NICs share it. */
static gint64 key_of(const CcsPaths *paths, const CcsLane *lane, CcsRank peer)
{
    uint64_t pair = (uint64_t)lane->source * ccs_schedule_n_ranks(paths->schedule) + peer;
    uint64_t leave = nic_choice(paths, lane->source, lane->channel);
    uint64_t enter = nic_choice(paths, peer, lane->channel);

    g_assert(pair < (uint64_t)1 << 40 && leave < 1U << 12 && enter < 1U << 12);
    return (gint64)(pair << 24 | leave << 12 | enter);
}

static const CcsRoute *keep(CcsPaths *paths, gint64 key)
{
    CcsRoute route = make_route(paths, reserve(paths));

    g_array_append_val(paths->routes, route);
    g_hash_table_insert(paths->others, g_memdup2(&key, sizeof key),
                        GUINT_TO_POINTER(paths->routes->len));
    return &g_array_index(paths->routes, CcsRoute, paths->routes->len - 1);
}

static const CcsRoute *find_other(CcsPaths *paths, CcsLaneId id, uint32_t message, GError **error)
{
    const CcsLane *lane = ccs_schedule_lane(paths->schedule, id);
    CcsRank peer = ccs_lane_peer(lane, message, ccs_schedule_n_ranks(paths->schedule));
    gint64 key = key_of(paths, lane, peer);
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(paths->others, &key));

    if (known != 0)
        return &g_array_index(paths->routes, CcsRoute, known - 1);
    CcsPath path = ccs_schedule_path(paths->schedule, lane->source, peer, lane->channel);
    if (!find_links(paths, lane->source, peer, &path, error))
        return NULL;
    if (paths->routes->len < MAX_KEPT)
        return keep(paths, key);
    paths->links[id] = g_renew(CcsLinkId, paths->links[id], paths->scratch->len);
    paths->passing = make_route(paths, paths->links[id]);
    return &paths->passing;
}

const CcsRoute *ccs_paths_route(CcsPaths *paths, CcsLaneId id, uint32_t message, GError **error)
{
    if (ccs_schedule_lane(paths->schedule, id)->peer_kind == CCS_PEER_FIXED)
        return &paths->fixed[id];
    return find_other(paths, id, message, error);
}
