#include "topology/route.h"

#include "base/error.h"
#include "base/mix.h"

/* A search state is a vertex and, for a NIC, the side it was entered from: data that came
 * from the fabric may only go on into the node, data from the node only to the fabric. */
typedef uint32_t State;

#define FROM_NODE   0U
#define FROM_FABRIC 1U

typedef struct {
    uint32_t *depth; /* by state; valid where mark == search */
    uint32_t *mark;
    GArray *order;  /* of State: all that were reached, level by level */
    guint level;    /* index in order of the first state of the deepest level */
    uint32_t reach; /* depth of that level */
} Wave;

/* A link that a route may take next, and where it leads. */
typedef struct {
    CcsLinkId link;
    State next;
} Choice;

struct CcsRouter {
    const CcsTopology *topology;
    Wave forward;
    Wave backward;
    uint32_t search;    /* number of the current search */
    uint32_t *on_route; /* by state: search number if it lies on a shortest route */
    uint32_t *key;      /* by vertex: what chooses among equal routes to it */
    GArray *choices;    /* of Choice */
};

static State state_of(CcsVertexId vertex, uint32_t side)
{
    return vertex * 2 + side;
}

static void wave_init(Wave *wave, uint32_t n_states)
{
    wave->depth = g_new0(uint32_t, n_states);
    wave->mark = g_new0(uint32_t, n_states);
    wave->order = g_array_new(false, false, sizeof(State));
}

static void wave_clear(Wave *wave)
{
    g_free(wave->depth);
    g_free(wave->mark);
    g_array_unref(wave->order);
}

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

CcsRouter *ccs_router_new(const CcsTopology *topology)
{
    CcsRouter *router = g_new0(CcsRouter, 1);
    uint32_t n_vertices = ccs_topology_n_vertices(topology);

    router->topology = topology;
    wave_init(&router->forward, n_vertices * 2);
    wave_init(&router->backward, n_vertices * 2);
    router->on_route = g_new0(uint32_t, n_vertices * 2);
    router->key = g_new(uint32_t, n_vertices);
    router->choices = g_array_new(false, false, sizeof(Choice));
    for (CcsVertexId vertex = 0; vertex < n_vertices; vertex++)
        router->key[vertex] = port_number(topology, vertex);
    return router;
}

void ccs_router_free(CcsRouter *router)
{
    if (router == NULL)
        return;
    wave_clear(&router->forward);
    wave_clear(&router->backward);
    g_free(router->on_route);
    g_free(router->key);
    g_array_unref(router->choices);
    g_free(router);
}

static bool is_fabric(CcsVertexKind kind)
{
    return kind == CCS_VERTEX_SWITCH || kind == CCS_VERTEX_NIC;
}

/* The state in which @link leaves a traveller that was in state @at, if he may take it. */
static bool step_forward(const CcsTopology *topology, State at, const CcsLink *link, State *ret_to)
{
    CcsVertexKind from = ccs_topology_vertex(topology, link->from)->kind;
    CcsVertexKind to = ccs_topology_vertex(topology, link->to)->kind;

    if (from == CCS_VERTEX_NIC && is_fabric(to) == (at % 2 == FROM_FABRIC))
        return false;
    *ret_to = state_of(link->to, to == CCS_VERTEX_NIC && is_fabric(from) ? FROM_FABRIC : FROM_NODE);
    return true;
}

/* The same against the direction of travel: the state before @link that leads to @at. */
static bool step_backward(const CcsTopology *topology, State at, const CcsLink *link,
                          State *ret_from)
{
    CcsVertexKind from = ccs_topology_vertex(topology, link->from)->kind;
    CcsVertexKind to = ccs_topology_vertex(topology, link->to)->kind;

    if (to == CCS_VERTEX_NIC && is_fabric(from) != (at % 2 == FROM_FABRIC))
        return false;
    *ret_from =
        state_of(link->from, from == CCS_VERTEX_NIC && !is_fabric(to) ? FROM_FABRIC : FROM_NODE);
    return true;
}

static void reach(CcsRouter *router, Wave *wave, State state, uint32_t depth)
{
    if (wave->mark[state] == router->search)
        return;
    wave->mark[state] = router->search;
    wave->depth[state] = depth;
    g_array_append_val(wave->order, state);
}

/* Takes one wave one link further. A GPU is an end, never a way through, so the wave passes
 * over every GPU but the @goal. */
static void expand(CcsRouter *router, Wave *wave, bool is_forward, CcsVertexId goal)
{
    const CcsTopology *topology = router->topology;
    guint first = wave->level;
    guint end = wave->order->len;

    wave->level = end;
    wave->reach++;
    for (guint i = first; i < end; i++) {
        State at = g_array_index(wave->order, State, i);
        uint32_t n = 0;
        const CcsLinkId *ids = is_forward ? ccs_topology_links_out(topology, at / 2, &n)
                                          : ccs_topology_links_in(topology, at / 2, &n);
        for (uint32_t j = 0; j < n; j++) {
            const CcsLink *link = ccs_topology_link(topology, ids[j]);
            State next;
            if (!(is_forward ? step_forward(topology, at, link, &next)
                             : step_backward(topology, at, link, &next)))
                continue;
            if (next / 2 == goal || ccs_topology_vertex(topology, next / 2)->kind != CCS_VERTEX_GPU)
                reach(router, wave, next, wave->reach);
        }
    }
}

/* How many links the next step of the wave has to look at. */
static uint64_t n_links_ahead(const CcsTopology *topology, const Wave *wave, bool is_forward)
{
    uint64_t n_links = 0;

    for (guint i = wave->level; i < wave->order->len; i++) {
        CcsVertexId vertex = g_array_index(wave->order, State, i) / 2;
        uint32_t n = 0;
        if (is_forward)
            ccs_topology_links_out(topology, vertex, &n);
        else
            ccs_topology_links_in(topology, vertex, &n);
        n_links += n;
    }
    return n_links;
}

/* Marks the states of the deepest forward level that the backward wave has reached too. */
static bool meet(CcsRouter *router)
{
    Wave *forward = &router->forward;
    bool is_met = false;

    for (guint i = forward->level; i < forward->order->len; i++) {
        State state = g_array_index(forward->order, State, i);
        if (router->backward.mark[state] != router->search ||
            router->backward.depth[state] != router->backward.reach)
            continue;
        router->on_route[state] = router->search;
        is_met = true;
    }
    return is_met;
}

/* Spreads the marks from where the waves met back to the start: a state lies on a shortest
 * route if a link takes it to a marked state one level deeper. Looks at links of states that
 * were expanded only, for a switch may have thousands. */
static void mark_forward_half(CcsRouter *router)
{
    const CcsTopology *topology = router->topology;
    Wave *forward = &router->forward;

    for (guint i = forward->level; i-- > 0;) {
        State state = g_array_index(forward->order, State, i);
        uint32_t n = 0;
        const CcsLinkId *out = ccs_topology_links_out(topology, state / 2, &n);
        for (uint32_t j = 0; j < n && router->on_route[state] != router->search; j++) {
            State next;
            if (step_forward(topology, state, ccs_topology_link(topology, out[j]), &next) &&
                router->on_route[next] == router->search &&
                forward->depth[next] == forward->depth[state] + 1)
                router->on_route[state] = router->search;
        }
    }
}

static void add_choice(CcsRouter *router, CcsLinkId link, State next)
{
    g_array_append_vals(router->choices, &(Choice){link, next}, 1);
}

static int compare_choices(const void *a, const void *b)
{
    CcsLinkId first = ((const Choice *)a)->link;
    CcsLinkId second = ((const Choice *)b)->link;

    return first < second ? -1 : first > second;
}

/* Up to where the waves met. */
static void find_forward_choices(CcsRouter *router, State at)
{
    const CcsTopology *topology = router->topology;
    uint32_t n = 0;
    const CcsLinkId *out = ccs_topology_links_out(topology, at / 2, &n);

    for (uint32_t i = 0; i < n; i++) {
        State next;
        if (step_forward(topology, at, ccs_topology_link(topology, out[i]), &next) &&
            router->on_route[next] == router->search &&
            router->forward.depth[next] == router->forward.depth[at] + 1)
            add_choice(router, out[i], next);
    }
}

/* From there on: the links into states that the backward wave reached at @depth. */
static void find_backward_choices(CcsRouter *router, State at, uint32_t depth)
{
    const CcsTopology *topology = router->topology;
    const Wave *backward = &router->backward;

    for (guint i = 0; i < backward->order->len; i++) {
        State next = g_array_index(backward->order, State, i);
        uint32_t n = 0;
        if (backward->depth[next] != depth)
            continue;
        const CcsLinkId *in = ccs_topology_links_in(topology, next / 2, &n);
        for (uint32_t j = 0; j < n; j++) {
            const CcsLink *link = ccs_topology_link(topology, in[j]);
            State from;
            if (link->from == at / 2 && step_backward(topology, next, link, &from) && from == at)
                add_choice(router, in[j], next);
        }
    }
    g_array_sort(router->choices, compare_choices);
}

/* A number that says which of several choices a message from @from to @to takes at each fork. */
static uint64_t choice_key(const CcsRouter *router, CcsVertexId from, CcsVertexId to)
{
    CcsRouting routing = ccs_topology_routing(router->topology);

    if (routing.kind == CCS_ROUTING_ECMP)
        return ccs_mix(ccs_mix((uint64_t)from << 32 | to) ^ routing.seed);
    return router->key[to];
}

static void walk(CcsRouter *router, State from, CcsVertexId to, uint32_t length, GArray *links)
{
    State at = from;
    uint64_t key = choice_key(router, from / 2, to);

    for (uint32_t n_done = 1; n_done <= length; n_done++) {
        g_array_set_size(router->choices, 0);
        if (n_done <= router->forward.reach)
            find_forward_choices(router, at);
        else
            find_backward_choices(router, at, length - n_done);
        const Choice *taken = &g_array_index(router->choices, Choice, key % router->choices->len);
        g_array_append_val(links, taken->link);
        at = taken->next;
    }
}

static void start(CcsRouter *router, Wave *wave, State state)
{
    g_array_set_size(wave->order, 0);
    wave->level = 0;
    wave->reach = 0;
    reach(router, wave, state, 0);
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

    if (from == to)
        return true;
    bool is_inward =
        source->kind == CCS_VERTEX_NIC && !is_fabric(target->kind) && source->node == target->node;
    bool is_outward =
        target->kind == CCS_VERTEX_NIC && !is_fabric(source->kind) && source->node == target->node;
    State first = state_of(from, is_inward ? FROM_FABRIC : FROM_NODE);
    State last =
        state_of(to, target->kind == CCS_VERTEX_NIC && !is_outward ? FROM_FABRIC : FROM_NODE);
    router->search++;
    start(router, &router->forward, first);
    start(router, &router->backward, last);
    while (!meet(router)) {
        Wave *forward = &router->forward;
        Wave *backward = &router->backward;
        uint64_t n_forward = n_links_ahead(topology, forward, true);
        uint64_t n_backward = n_links_ahead(topology, backward, false);
        if (forward->order->len == forward->level || backward->order->len == backward->level)
            return fail_no_path(topology, from, to, error);
        if (n_forward <= n_backward)
            expand(router, forward, true, to);
        else
            expand(router, backward, false, from);
    }
    mark_forward_half(router);
    walk(router, first, to, router->forward.reach + router->backward.reach, links);
    return true;
}
