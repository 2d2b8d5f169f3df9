#include "topology/search.h"

typedef struct {
    uint32_t *depth; /* by state; valid where mark == search */
    uint32_t *mark;
    GArray *order;  /* of CcsState: all that were reached, level by level */
    guint level;    /* index in order of the first state of the deepest level */
    uint32_t reach; /* depth of that level */
} Wave;

/* A link that a route may take next, and where it leads. */
typedef struct {
    CcsLinkId link;
    CcsState next;
} Choice;
/* Where shortest ways part. */
typedef struct {
    CcsState state;
    uint32_t first; /* of its branches */
    uint32_t n;
} Fork;

/* A choice at a fork, with the number of the fork that it leads to. */
typedef struct {
    CcsLinkId link;
    uint32_t fork;
} Turn;

struct CcsSearch {
    const CcsTopology *topology;
    Wave forward;
    Wave backward;
    uint32_t number;    /* of the current search */
    uint32_t *on_route; /* by state: search number if it lies on a shortest route */
    GArray *choices;    /* of Choice */
    uint32_t *fork;     /* by state: its number, while ways are being noted */
    uint32_t *noted;    /* by state: search number if it has one */
    GArray *forks;      /* of Fork, likewise */
    GArray *turns;      /* of Turn, likewise */
};

static void wave_init(Wave *wave, uint32_t n_states)
{
    wave->depth = g_new0(uint32_t, n_states);
    wave->mark = g_new0(uint32_t, n_states);
    wave->order = g_array_new(false, false, sizeof(CcsState));
}

static void wave_clear(Wave *wave)
{
    g_free(wave->depth);
    g_free(wave->mark);
    g_array_unref(wave->order);
}
CcsSearch *ccs_search_new(const CcsTopology *topology)
{
    CcsSearch *search = g_new0(CcsSearch, 1);
    uint32_t n_states = ccs_topology_n_vertices(topology) * 2;

    search->topology = topology;
    wave_init(&search->forward, n_states);
    wave_init(&search->backward, n_states);
    search->on_route = g_new0(uint32_t, n_states);
    search->choices = g_array_new(false, false, sizeof(Choice));
    search->fork = g_new(uint32_t, n_states);
    search->noted = g_new0(uint32_t, n_states);
    search->forks = g_array_new(false, false, sizeof(Fork));
    search->turns = g_array_new(false, false, sizeof(Turn));
    return search;
}

void ccs_search_free(CcsSearch *search)
{
    if (search == NULL)
        return;
    wave_clear(&search->forward);
    wave_clear(&search->backward);
    g_free(search->on_route);
    g_array_unref(search->choices);
    g_free(search->fork);
    g_free(search->noted);
    g_array_unref(search->forks);
    g_array_unref(search->turns);
    g_free(search);
}

bool ccs_is_fabric(CcsVertexKind kind)
{
    return kind == CCS_VERTEX_SWITCH || kind == CCS_VERTEX_NIC;
}

/* The state in which @link leaves a traveller that was in state @at, if he may take it. */
bool ccs_search_step(const CcsTopology *topology, CcsState at, const CcsLink *link,
                     CcsState *ret_to)
{
    CcsVertexKind from = ccs_topology_vertex(topology, link->from)->kind;
    CcsVertexKind to = ccs_topology_vertex(topology, link->to)->kind;

    if (from == CCS_VERTEX_NIC && ccs_is_fabric(to) == (at % 2 == CCS_FROM_FABRIC))
        return false;
    *ret_to = ccs_state_of(link->to, to == CCS_VERTEX_NIC && ccs_is_fabric(from) ? CCS_FROM_FABRIC
                                                                                 : CCS_FROM_NODE);
    return true;
}

/* The same against the direction of travel: the state before @link that leads to @at. */
bool ccs_search_step_back(const CcsTopology *topology, CcsState at, const CcsLink *link,
                          CcsState *ret_from)
{
    CcsVertexKind from = ccs_topology_vertex(topology, link->from)->kind;
    CcsVertexKind to = ccs_topology_vertex(topology, link->to)->kind;

    if (to == CCS_VERTEX_NIC && ccs_is_fabric(from) != (at % 2 == CCS_FROM_FABRIC))
        return false;
    *ret_from = ccs_state_of(
        link->from, from == CCS_VERTEX_NIC && !ccs_is_fabric(to) ? CCS_FROM_FABRIC : CCS_FROM_NODE);
    return true;
}

static void reach(CcsSearch *search, Wave *wave, CcsState state, uint32_t depth)
{
    if (wave->mark[state] == search->number)
        return;
    wave->mark[state] = search->number;
    wave->depth[state] = depth;
    g_array_append_val(wave->order, state);
}

/* Takes one wave one link further. A GPU is an end, never a way through, so the wave passes
 * over every GPU but the @goal. */
static void expand(CcsSearch *search, Wave *wave, bool is_forward, CcsVertexId goal)
{
    const CcsTopology *topology = search->topology;
    guint first = wave->level;
    guint end = wave->order->len;

    wave->level = end;
    wave->reach++;
    for (guint i = first; i < end; i++) {
        CcsState at = g_array_index(wave->order, CcsState, i);
        uint32_t n = 0;
        const CcsLinkId *ids = is_forward ? ccs_topology_links_out(topology, at / 2, &n)
                                          : ccs_topology_links_in(topology, at / 2, &n);
        for (uint32_t j = 0; j < n; j++) {
            const CcsLink *link = ccs_topology_link(topology, ids[j]);
            CcsState next;
            if (!(is_forward ? ccs_search_step(topology, at, link, &next)
                             : ccs_search_step_back(topology, at, link, &next)))
                continue;
            if (next / 2 == goal || ccs_topology_vertex(topology, next / 2)->kind != CCS_VERTEX_GPU)
                reach(search, wave, next, wave->reach);
        }
    }
}

/* How many links the next step of the wave has to look at. */
static uint64_t n_links_ahead(const CcsTopology *topology, const Wave *wave, bool is_forward)
{
    uint64_t n_links = 0;

    for (guint i = wave->level; i < wave->order->len; i++) {
        CcsVertexId vertex = g_array_index(wave->order, CcsState, i) / 2;
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
static bool meet(CcsSearch *search)
{
    Wave *forward = &search->forward;
    bool is_met = false;

    for (guint i = forward->level; i < forward->order->len; i++) {
        CcsState state = g_array_index(forward->order, CcsState, i);
        if (search->backward.mark[state] != search->number ||
            search->backward.depth[state] != search->backward.reach)
            continue;
        search->on_route[state] = search->number;
        is_met = true;
    }
    return is_met;
}

/* Spreads the marks from where the waves met back to the start: a state lies on a shortest
 * route if a link takes it to a marked state one level deeper. Looks at links of states that
 * were expanded only, for a switch may have thousands. */
static void mark_forward_half(CcsSearch *search)
{
    const CcsTopology *topology = search->topology;
    Wave *forward = &search->forward;

    for (guint i = forward->level; i-- > 0;) {
        CcsState state = g_array_index(forward->order, CcsState, i);
        uint32_t n = 0;
        const CcsLinkId *out = ccs_topology_links_out(topology, state / 2, &n);
        for (uint32_t j = 0; j < n && search->on_route[state] != search->number; j++) {
            CcsState next;
            if (ccs_search_step(topology, state, ccs_topology_link(topology, out[j]), &next) &&
                search->on_route[next] == search->number &&
                forward->depth[next] == forward->depth[state] + 1)
                search->on_route[state] = search->number;
        }
    }
}

static void add_choice(CcsSearch *search, CcsLinkId link, CcsState next)
{
    g_array_append_vals(search->choices, &(Choice){link, next}, 1);
}

static int compare_choices(const void *a, const void *b)
{
    CcsLinkId first = ((const Choice *)a)->link;
    CcsLinkId second = ((const Choice *)b)->link;

    return first < second ? -1 : first > second;
}

/* Up to where the waves met. */
static void find_forward_choices(CcsSearch *search, CcsState at)
{
    const CcsTopology *topology = search->topology;
    uint32_t n = 0;
    const CcsLinkId *out = ccs_topology_links_out(topology, at / 2, &n);

    for (uint32_t i = 0; i < n; i++) {
        CcsState next;
        if (ccs_search_step(topology, at, ccs_topology_link(topology, out[i]), &next) &&
            search->on_route[next] == search->number &&
            search->forward.depth[next] == search->forward.depth[at] + 1)
            add_choice(search, out[i], next);
    }
}

/* From there on: the links into states that the backward wave reached at @depth. */
static void find_backward_choices(CcsSearch *search, CcsState at, uint32_t depth)
{
    const CcsTopology *topology = search->topology;
    const Wave *backward = &search->backward;

    for (guint i = 0; i < backward->order->len; i++) {
        CcsState next = g_array_index(backward->order, CcsState, i);
        uint32_t n = 0;
        if (backward->depth[next] != depth)
            continue;
        const CcsLinkId *in = ccs_topology_links_in(topology, next / 2, &n);
        for (uint32_t j = 0; j < n; j++) {
            const CcsLink *link = ccs_topology_link(topology, in[j]);
            CcsState from;
            if (link->from == at / 2 && ccs_search_step_back(topology, next, link, &from) &&
                from == at)
                add_choice(search, in[j], next);
        }
    }
    g_array_sort(search->choices, compare_choices);
}

/* Starts a wave of a search. */
static void start(CcsSearch *search, Wave *wave, CcsState state)
{
    g_array_set_size(wave->order, 0);
    wave->level = 0;
    wave->reach = 0;
    reach(search, wave, state, 0);
}

/* Marks the states on shortest routes up to where the waves meet. Returns: false if they do
 * not. */
static bool meet_between(CcsSearch *search, CcsState first, CcsState last)
{
    const CcsTopology *topology = search->topology;
    Wave *forward = &search->forward;
    Wave *backward = &search->backward;

    search->number++;
    start(search, forward, first);
    start(search, backward, last);
    while (!meet(search)) {
        uint64_t n_forward = n_links_ahead(topology, forward, true);
        uint64_t n_backward = n_links_ahead(topology, backward, false);
        if (forward->order->len == forward->level || backward->order->len == backward->level)
            return false;
        if (n_forward <= n_backward)
            expand(search, forward, true, last / 2);
        else
            expand(search, backward, false, first / 2);
    }
    mark_forward_half(search);
    return true;
}

/* The number of the fork at @state, which it gets if it is met for the first time. */
static uint32_t fork_at(CcsSearch *search, CcsState state)
{
    Fork fork = {.state = state};

    if (search->noted[state] == search->number)
        return search->fork[state];
    search->noted[state] = search->number;
    search->fork[state] = search->forks->len;
    g_array_append_val(search->forks, fork);
    return search->fork[state];
}

/* Notes the choices at the fork after @n_done links of the way. */
static void note_fork(CcsSearch *search, uint32_t number, uint32_t n_done, uint32_t length)
{
    CcsState at = g_array_index(search->forks, Fork, number).state;

    g_array_set_size(search->choices, 0);
    if (n_done < search->forward.reach)
        find_forward_choices(search, at);
    else
        find_backward_choices(search, at, length - n_done - 1);
    g_array_index(search->forks, Fork, number) =
        (Fork){at, search->turns->len, search->choices->len};
    for (guint i = 0; i < search->choices->len; i++) {
        const Choice *choice = &g_array_index(search->choices, Choice, i);
        Turn turn = {choice->link, fork_at(search, choice->next)};
        g_array_append_val(search->turns, turn);
    }
}

/* What was noted, in one piece. */
static CcsWays *make_ways(const CcsSearch *search, uint32_t length)
{
    uint32_t n_turns = search->turns->len;
    CcsWays *ways = g_malloc0(sizeof *ways + n_turns * sizeof ways->branches[0]);

    ways->length = length;
    ways->n = g_array_index(search->forks, Fork, 0).n;
    ways->n_branches = n_turns;
    for (uint32_t i = 0; i < n_turns; i++) {
        const Turn *turn = &g_array_index(search->turns, Turn, i);
        const Fork *next = &g_array_index(search->forks, Fork, turn->fork);
        ways->branches[i] = (CcsBranch){turn->link, next->first, next->n};
    }
    return ways;
}

CcsWays *ccs_search_ways(CcsSearch *search, CcsState first, CcsState last)
{
    if (!meet_between(search, first, last))
        return NULL;
    uint32_t length = search->forward.reach + search->backward.reach;
    g_array_set_size(search->forks, 0);
    g_array_set_size(search->turns, 0);
    fork_at(search, first);
    for (uint32_t n_done = 0, fork = 0; n_done < length; n_done++) {
        for (uint32_t end = search->forks->len; fork < end; fork++)
            note_fork(search, fork, n_done, length);
    }
    return make_ways(search, length);
}
