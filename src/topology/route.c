#include "topology/route.h"

#include "base/error.h"
#include "base/hash.h"
#include "topology/search.h"

/* So many branches are kept, or an eighth as many pairs of states. */
#define MAX_KEPT     1048576U
#define COST_OF_WAYS 8U
#define UNKNOWN_LINK (CCS_NO_LINK - 1)
#define LEAST_SLOTS  1024U

/* The one link out of a state, or into it, and the state at the other end. */
typedef struct {
    CcsLinkId link; /* CCS_NO_LINK if there are more */
    CcsState other;
} Only;

/* A place of the table of known ways. */
typedef struct {
    uint64_t key;
    CcsWays *ways; /* owned; NULL: free */
} Slot;

struct CcsRouter {
    const CcsTopology *topology;
    CcsSearch *search;
    Slot *slots; /* known ways: at the place that their key says, or behind it */
    uint32_t n_slots;
    uint32_t n_known;
    uint32_t n_kept; /* what they hold */
    Only *only_out;  /* by state */
    Only *only_in;   /* by state */
    uint32_t *key;   /* by vertex: what chooses among equal routes to it */
};

/* The place of @vertex among those that share its first link's other end: the port number
 * at the switch, for a NIC. */
static uint32_t port_number(const CcsTopology *topology, CcsVertexId vertex)
{
    uint32_t n_in = 0;
    const CcsLinkId *in = ccs_topology_links_in(topology, vertex, &n_in);

    for (uint32_t i = 0; i < n_in; i++) {
        CcsVertexId hub = ccs_topology_link(topology, in[i])->from;
        if (ccs_topology_vertex(topology, hub)->kind != CCS_VERTEX_SWITCH)
            continue;
        uint32_t n_out = 0;
        const CcsLinkId *out = ccs_topology_links_out(topology, hub, &n_out);
        uint32_t low = 0;
        for (uint32_t high = n_out; low < high;) {
            uint32_t middle = low + (high - low) / 2;
            if (out[middle] < in[i])
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }
    return vertex;
}
static Only *unknown_links(uint32_t n)
{
    Only *only = g_new(Only, n);

    for (uint32_t i = 0; i < n; i++)
        only[i] = (Only){UNKNOWN_LINK, 0};
    return only;
}

CcsRouter *ccs_router_new(const CcsTopology *topology)
{
    CcsRouter *router = g_new0(CcsRouter, 1);
    uint32_t n_vertices = ccs_topology_n_vertices(topology);

    router->topology = topology;
    router->search = ccs_search_new(topology);
    router->n_slots = LEAST_SLOTS;
    router->slots = g_new0(Slot, router->n_slots);
    router->only_out = unknown_links(n_vertices * 2);
    router->only_in = unknown_links(n_vertices * 2);
    router->key = g_new(uint32_t, n_vertices);
    for (CcsVertexId vertex = 0; vertex < n_vertices; vertex++)
        router->key[vertex] = port_number(topology, vertex);
    return router;
}

static void forget_ways(CcsRouter *router)
{
    for (uint32_t i = 0; i < router->n_slots; i++) {
        g_free(router->slots[i].ways);
        router->slots[i].ways = NULL;
    }
    router->n_known = 0;
    router->n_kept = 0;
}

void ccs_router_free(CcsRouter *router)
{
    if (router == NULL)
        return;
    ccs_search_free(router->search);
    forget_ways(router);
    g_free(router->slots);
    g_free(router->only_out);
    g_free(router->only_in);
    g_free(router->key);
    g_free(router);
}

/* A number that says which of several choices a message from @from to @to takes at each fork. */
static uint64_t choice_key(const CcsRouter *router, CcsVertexId from, CcsVertexId to)
{
    CcsRouting routing = ccs_topology_routing(router->topology);

    if (routing.kind == CCS_ROUTING_ECMP)
        return ccs_mix(ccs_mix((uint64_t)from << 32 | to) ^ routing.seed);
    return router->key[to];
}

/* The slot of @key, or the free one where it belongs. */
static Slot *slot_of(const CcsRouter *router, uint64_t key)
{
    uint32_t at = ccs_spread(key) & (router->n_slots - 1);

    while (router->slots[at].ways != NULL && router->slots[at].key != key)
        at = (at + 1) & (router->n_slots - 1);
    return &router->slots[at];
}

static void grow(CcsRouter *router)
{
    g_autofree Slot *before = router->slots;
    uint32_t n_before = router->n_slots;

    router->n_slots *= 2;
    router->slots = g_new0(Slot, router->n_slots);
    for (uint32_t i = 0; i < n_before; i++) {
        if (before[i].ways != NULL)
            *slot_of(router, before[i].key) = before[i];
    }
}

static void keep_ways(CcsRouter *router, uint64_t key, CcsWays *ways)
{
    uint32_t n = COST_OF_WAYS + ways->n_branches;

    if (router->n_kept + n > MAX_KEPT)
        forget_ways(router);
    if (router->n_known >= router->n_slots / 2)
        grow(router);
    *slot_of(router, key) = (Slot){key, ways};
    router->n_known++;
    router->n_kept += n;
}

/* Returns: NULL if there is no way. */
static const CcsWays *find_ways(CcsRouter *router, CcsState first, CcsState last)
{
    uint64_t key = (uint64_t)first << 32 | last;
    CcsWays *ways = slot_of(router, key)->ways;

    if (ways != NULL)
        return ways;
    ways = ccs_search_ways(router->search, first, last);
    if (ways != NULL)
        keep_ways(router, key, ways);
    return ways;
}

/* The link by which every route out of (into) @state begins (ends); CCS_NO_LINK if there may be
 * several, or a GPU is at its other end, through which there is no way. */
static Only find_only(const CcsTopology *topology, CcsState state, bool is_out)
{
    Only only = {CCS_NO_LINK, 0};
    uint32_t n = 0;
    const CcsLinkId *ids = is_out ? ccs_topology_links_out(topology, state / 2, &n)
                                  : ccs_topology_links_in(topology, state / 2, &n);

    for (uint32_t i = 0; i < n; i++) {
        const CcsLink *link = ccs_topology_link(topology, ids[i]);
        CcsState other;
        if (!(is_out ? ccs_search_step(topology, state, link, &other)
                     : ccs_search_step_back(topology, state, link, &other)))
            continue;
        if (only.link != CCS_NO_LINK ||
            ccs_topology_vertex(topology, other / 2)->kind == CCS_VERTEX_GPU)
            return (Only){CCS_NO_LINK, 0};
        only = (Only){ids[i], other};
    }
    return only;
}

/* The same, moving @state to the other end of the link. */
static CcsLinkId take_only(CcsRouter *router, CcsState *state, bool is_out)
{
    Only *known = &(is_out ? router->only_out : router->only_in)[*state];

    if (known->link == UNKNOWN_LINK)
        *known = find_only(router->topology, *state, is_out);
    if (known->link != CCS_NO_LINK)
        *state = known->other;
    return known->link;
}

static void walk(const CcsWays *ways, uint64_t key, GArray *links)
{
    uint32_t first = 0;
    uint32_t n = ways->n;

    for (uint32_t i = 0; i < ways->length; i++) {
        const CcsBranch *taken = &ways->branches[first + (n == 1 ? 0 : key % n)];
        g_array_append_val(links, taken->link);
        first = taken->first;
        n = taken->n;
    }
}

/* Many have but one link to the fabric: then what is searched for, and known, is the way between
 * the switches that they are plugged into. */
static bool append_ways(CcsRouter *router, CcsState first, CcsState last, uint64_t key,
                        GArray *links)
{
    CcsLinkId first_link = take_only(router, &first, true);

    if (first_link != CCS_NO_LINK)
        g_array_append_val(links, first_link);
    if (first == last)
        return true;
    CcsLinkId last_link = take_only(router, &last, false);
    const CcsWays *ways = first == last ? NULL : find_ways(router, first, last);
    if (first != last && ways == NULL)
        return false;
    if (ways != NULL)
        walk(ways, key, links);
    if (last_link != CCS_NO_LINK)
        g_array_append_val(links, last_link);
    return true;
}

static bool fail_no_path(const CcsTopology *topology, CcsVertexId from, CcsVertexId to,
                         GError **error)
{
    g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT,
                "no path leads from '%s' to '%s' in topology '%s': GPUs of a node need 'nvlink' or"
                " NICs, nodes need 'nics' and a 'fabric' (a path passes through no GPU, and through"
                " a NIC only between its node and the fabric)",
                ccs_topology_vertex(topology, from)->name, ccs_topology_vertex(topology, to)->name,
                ccs_topology_name(topology));
    return false;
}

bool ccs_router_append(CcsRouter *router, CcsVertexId from, CcsVertexId to, GArray *links,
                       GError **error)
{
    const CcsTopology *topology = router->topology;
    const CcsVertex *source = ccs_topology_vertex(topology, from);
    const CcsVertex *target = ccs_topology_vertex(topology, to);
    guint n_before = links->len;

    if (from == to)
        return true;
    bool is_inward = source->kind == CCS_VERTEX_NIC && !ccs_is_fabric(target->kind) &&
                     source->node == target->node;
    bool is_outward = target->kind == CCS_VERTEX_NIC && !ccs_is_fabric(source->kind) &&
                      source->node == target->node;
    CcsState first = ccs_state_of(from, is_inward ? CCS_FROM_FABRIC : CCS_FROM_NODE);
    CcsState last = ccs_state_of(to, target->kind == CCS_VERTEX_NIC && !is_outward ? CCS_FROM_FABRIC
                                                                                   : CCS_FROM_NODE);
    if (append_ways(router, first, last, choice_key(router, from, to), links))
        return true;
    g_array_set_size(links, n_before);
    return fail_no_path(topology, from, to, error);
}
