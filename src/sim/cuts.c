#include "sim/cuts.h"

#include "sim/ports.h"

typedef struct {
    const CcsCommunicator *communicator;
    const CcsTopology *topology;
    uint32_t n_ranks;
    uint32_t *levels;      /* by vertex: links to the nearest GPU; UINT32_MAX if there is no way */
    CcsVertexId *by_level; /* the vertices that have a level, the lowest first */
    uint32_t n_by_level;
} Machine;

static CcsVertexId other_end(const CcsLink *link, CcsVertexId vertex)
{
    return link->from == vertex ? link->to : link->from;
}

/* Gives the neighbours of @vertex that have no level yet the one above its own. */
static void level_neighbours(Machine *machine, CcsVertexId vertex, const CcsLinkId *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        CcsVertexId other = other_end(ccs_topology_link(machine->topology, ids[i]), vertex);
        if (machine->levels[other] != UINT32_MAX)
            continue;
        machine->levels[other] = machine->levels[vertex] + 1;
        machine->by_level[machine->n_by_level++] = other;
    }
}

static void find_levels(Machine *machine)
{
    for (CcsVertexId i = 0; i < ccs_topology_n_vertices(machine->topology); i++) {
        bool is_gpu = ccs_topology_vertex(machine->topology, i)->kind == CCS_VERTEX_GPU;
        machine->levels[i] = is_gpu ? 0 : UINT32_MAX;
        if (is_gpu)
            machine->by_level[machine->n_by_level++] = i;
    }
    for (uint32_t i = 0; i < machine->n_by_level; i++) {
        CcsVertexId vertex = machine->by_level[i];
        uint32_t n = 0;
        const CcsLinkId *out = ccs_topology_links_out(machine->topology, vertex, &n);
        level_neighbours(machine, vertex, out, n);
        const CcsLinkId *in = ccs_topology_links_in(machine->topology, vertex, &n);
        level_neighbours(machine, vertex, in, n);
    }
}

/* Whether all that is linked to @vertex from below is in the set. */
static bool stands_on_set(const Machine *machine, CcsVertexId vertex, const bool *is_inside)
{
    uint32_t n_out = 0;
    uint32_t n_in = 0;
    const CcsLinkId *out = ccs_topology_links_out(machine->topology, vertex, &n_out);
    const CcsLinkId *in = ccs_topology_links_in(machine->topology, vertex, &n_in);

    for (uint32_t i = 0; i < n_out + n_in; i++) {
        CcsLinkId id = i < n_out ? out[i] : in[i - n_out];
        CcsVertexId other = other_end(ccs_topology_link(machine->topology, id), vertex);
        if (machine->levels[other] < machine->levels[vertex] && !is_inside[other])
            return false;
    }
    return true;
}

/* Adds the cut around the GPUs that are @is_inside, with the switches that only they stand
 * under, to @family. Whatever else was chosen for the switches would be a cut, too. */
static void add_cut(const Machine *machine, CcsCutFamily *family, bool *is_inside)
{
    CcsCut *cut = &family->cuts[family->n_cuts];

    *cut = (CcsCut){0};
    for (uint32_t i = 0; i < machine->n_by_level; i++) {
        CcsVertexId vertex = machine->by_level[i];
        if (machine->levels[vertex] > 0)
            is_inside[vertex] = stands_on_set(machine, vertex, is_inside);
    }
    for (CcsRank rank = 0; rank < machine->n_ranks; rank++) {
        if (!is_inside[ccs_communicator_gpu(machine->communicator, rank)])
            continue;
        family->cut_of[rank] = family->n_cuts;
        cut->n_ranks++;
    }
    for (CcsLinkId id = 0; id < ccs_topology_n_links(machine->topology); id++) {
        const CcsLink *link = ccs_topology_link(machine->topology, id);
        if (is_inside[link->from] && !is_inside[link->to])
            cut->egress += link->bandwidth;
        if (!is_inside[link->from] && is_inside[link->to])
            cut->ingress += link->bandwidth;
    }
    family->n_cuts++;
}

/* Adds up the links between groups of vertices; @group_of gives the cut of a vertex. */
static void measure_groups(const Machine *machine, CcsCutFamily *family, const uint32_t *group_of)
{
    for (CcsLinkId id = 0; id < ccs_topology_n_links(machine->topology); id++) {
        const CcsLink *link = ccs_topology_link(machine->topology, id);
        uint32_t from = group_of[link->from];
        uint32_t to = group_of[link->to];
        if (from == to)
            continue;
        if (from != CCS_NO_CUT)
            family->cuts[from].egress += link->bandwidth;
        if (to != CCS_NO_CUT)
            family->cuts[to].ingress += link->bandwidth;
    }
}

static void family_init(CcsCutFamily *family, const Machine *machine, uint32_t n_cuts_max)
{
    family->cuts = g_new0(CcsCut, (size_t)n_cuts_max + 1);
    family->cut_of = g_new(uint32_t, machine->n_ranks);
    for (CcsRank rank = 0; rank < machine->n_ranks; rank++)
        family->cut_of[rank] = CCS_NO_CUT;
}

static void cut_ranks(const Machine *machine, CcsCutFamily *family)
{
    family_init(family, machine, machine->n_ranks);
    family->n_cuts = machine->n_ranks;
    for (CcsRank rank = 0; rank < machine->n_ranks; rank++)
        family->cut_of[rank] = rank;
    ccs_ports_measure(machine->communicator, family->cuts);
}

/* A GPU that belongs to no node is one of its own. */
static void cut_nodes(const Machine *machine, CcsCutFamily *family)
{
    uint32_t n_vertices = ccs_topology_n_vertices(machine->topology);
    g_autofree uint32_t *by_id =
        g_new(uint32_t, (size_t)ccs_topology_n_nodes(machine->topology) + 1);
    g_autofree uint32_t *group_of = g_new(uint32_t, n_vertices);

    family->n_cuts = ccs_communicator_n_nodes(machine->communicator);
    family_init(family, machine, family->n_cuts);
    for (uint32_t i = 0; i < ccs_topology_n_nodes(machine->topology); i++)
        by_id[i] = CCS_NO_CUT;
    for (CcsRank rank = 0; rank < machine->n_ranks; rank++) {
        CcsVertexId gpu = ccs_communicator_gpu(machine->communicator, rank);
        CcsNodeId id = ccs_topology_vertex(machine->topology, gpu)->node;
        family->cut_of[rank] = ccs_communicator_node(machine->communicator, rank);
        family->cuts[family->cut_of[rank]].n_ranks++;
        if (id != CCS_NO_NODE)
            by_id[id] = family->cut_of[rank];
    }
    for (CcsVertexId i = 0; i < n_vertices; i++) {
        CcsNodeId id = ccs_topology_vertex(machine->topology, i)->node;
        group_of[i] = id == CCS_NO_NODE ? CCS_NO_CUT : by_id[id];
    }
    for (CcsRank rank = 0; rank < machine->n_ranks; rank++)
        group_of[ccs_communicator_gpu(machine->communicator, rank)] = family->cut_of[rank];
    measure_groups(machine, family, group_of);
}

/* Whether @vertex is a switch that only switches are plugged into. */
static bool is_spine(const Machine *machine, CcsVertexId vertex)
{
    uint32_t n_in = 0;
    const CcsLinkId *in = ccs_topology_links_in(machine->topology, vertex, &n_in);

    if (ccs_topology_vertex(machine->topology, vertex)->kind != CCS_VERTEX_SWITCH)
        return false;
    for (uint32_t i = 0; i < n_in; i++) {
        CcsVertexId from = ccs_topology_link(machine->topology, in[i])->from;
        if (ccs_topology_vertex(machine->topology, from)->kind != CCS_VERTEX_SWITCH)
            return false;
    }
    return true;
}

static uint32_t find_root(uint32_t *joined, uint32_t vertex)
{
    while (joined[vertex] != vertex) {
        joined[vertex] = joined[joined[vertex]];
        vertex = joined[vertex];
    }
    return vertex;
}

/* Joins what is linked without a spine in between. */
static uint32_t *join_without_spines(const Machine *machine)
{
    uint32_t n_vertices = ccs_topology_n_vertices(machine->topology);
    g_autofree bool *is_above = g_new(bool, n_vertices);
    uint32_t *joined = g_new(uint32_t, n_vertices);

    for (CcsVertexId i = 0; i < n_vertices; i++) {
        joined[i] = i;
        is_above[i] = is_spine(machine, i);
    }
    for (CcsLinkId id = 0; id < ccs_topology_n_links(machine->topology); id++) {
        const CcsLink *link = ccs_topology_link(machine->topology, id);
        if (!is_above[link->from] && !is_above[link->to])
            joined[find_root(joined, link->from)] = find_root(joined, link->to);
    }
    return joined;
}

static void cut_leaf_groups(const Machine *machine, CcsCutFamily *family)
{
    uint32_t n_vertices = ccs_topology_n_vertices(machine->topology);
    g_autofree uint32_t *joined = join_without_spines(machine);
    g_autofree uint32_t *cut_at = g_new(uint32_t, n_vertices);
    g_autofree uint32_t *group_of = g_new(uint32_t, n_vertices);

    family_init(family, machine, machine->n_ranks);
    for (CcsVertexId i = 0; i < n_vertices; i++)
        cut_at[i] = CCS_NO_CUT;
    for (CcsRank rank = 0; rank < machine->n_ranks; rank++) {
        uint32_t root = find_root(joined, ccs_communicator_gpu(machine->communicator, rank));
        if (cut_at[root] == CCS_NO_CUT)
            cut_at[root] = family->n_cuts++;
        family->cut_of[rank] = cut_at[root];
        family->cuts[cut_at[root]].n_ranks++;
    }
    for (CcsVertexId i = 0; i < n_vertices; i++)
        group_of[i] = cut_at[find_root(joined, i)];
    measure_groups(machine, family, group_of);
}

/* Whether all NICs of @gpu are the one with this index in their node; it must have one. */
static bool is_on_rail(const Machine *machine, CcsVertexId gpu, uint32_t rail)
{
    uint32_t n_own = 0;
    uint32_t n_nics = 0;
    const CcsVertexId *own = ccs_topology_gpu_nics(machine->topology, gpu, &n_own);
    CcsNodeId node = ccs_topology_vertex(machine->topology, gpu)->node;

    if (node == CCS_NO_NODE)
        return false;
    const CcsVertexId *nics = ccs_topology_node_nics(machine->topology, node, &n_nics);
    return n_own == 1 && rail < n_nics && own[0] == nics[rail];
}

static void cut_rails(const Machine *machine, CcsCutFamily *family)
{
    uint32_t n_rails = ccs_communicator_n_rails(machine->communicator);
    g_autofree bool *is_inside = g_new(bool, ccs_topology_n_vertices(machine->topology));

    family_init(family, machine, n_rails);
    for (uint32_t rail = 0; rail < n_rails && n_rails > 1; rail++) {
        for (CcsVertexId i = 0; i < ccs_topology_n_vertices(machine->topology); i++)
            is_inside[i] = machine->levels[i] == 0 && is_on_rail(machine, i, rail);
        add_cut(machine, family, is_inside);
    }
}

static bool is_in_half(uint32_t index, uint32_t n, bool is_every_other)
{
    return is_every_other ? index % 2 == 0 : index < n / 2;
}

/* GPUs without a rank go with their node, where there is more than one. */
static void cut_half(const Machine *machine, CcsCutFamily *family, bool is_every_other)
{
    const CcsCommunicator *communicator = machine->communicator;
    uint32_t n_nodes = ccs_communicator_n_nodes(communicator);
    g_autofree bool *is_inside = g_new0(bool, ccs_topology_n_vertices(machine->topology));

    family_init(family, machine, 1);
    for (CcsRank rank = 0; rank < machine->n_ranks; rank++) {
        CcsVertexId gpu = ccs_communicator_gpu(communicator, rank);
        CcsNodeId id = ccs_topology_vertex(machine->topology, gpu)->node;
        uint32_t node = ccs_communicator_node(communicator, rank);
        uint32_t n_gpus = 0;
        is_inside[gpu] = n_nodes == 1 ? is_in_half(rank, machine->n_ranks, is_every_other)
                                      : is_in_half(node, n_nodes, is_every_other);
        if (id == CCS_NO_NODE || n_nodes == 1 || rank != ccs_communicator_first(communicator, node))
            continue;
        const CcsVertexId *gpus = ccs_topology_node_gpus(machine->topology, id, &n_gpus);
        for (uint32_t i = 0; i < n_gpus; i++)
            is_inside[gpus[i]] = is_inside[gpu];
    }
    add_cut(machine, family, is_inside);
}

static void note_sequence(const Machine *machine, CcsCutFamily *family)
{
    g_autofree bool *is_seen = g_new0(bool, (size_t)family->n_cuts + 1);
    uint32_t before = CCS_NO_CUT;

    family->is_in_sequence = true;
    for (CcsRank rank = 0; rank < machine->n_ranks; rank++) {
        uint32_t cut = family->cut_of[rank];
        if (cut != before && cut != CCS_NO_CUT) {
            family->is_in_sequence = family->is_in_sequence && !is_seen[cut];
            is_seen[cut] = true;
        }
        before = cut;
    }
}

CcsCuts *ccs_cuts_new(const CcsCommunicator *communicator)
{
    static const struct {
        const char *name;
        const char *plural;
    } names[CCS_N_CUT_FAMILIES] = {
        {"rank", "ranks"}, {"node", "nodes"},   {"leaf group", "leaf groups"},
        {"rail", NULL},    {"bisection", NULL}, {"bisection", NULL}};
    const CcsTopology *topology = ccs_communicator_topology(communicator);
    g_autofree uint32_t *levels = g_new(uint32_t, ccs_topology_n_vertices(topology));
    g_autofree CcsVertexId *by_level = g_new(CcsVertexId, ccs_topology_n_vertices(topology));
    CcsCuts *cuts = g_new0(CcsCuts, 1);
    Machine machine = {.communicator = communicator,
                       .topology = topology,
                       .n_ranks = ccs_communicator_n_ranks(communicator),
                       .levels = levels,
                       .by_level = by_level};

    find_levels(&machine);
    cut_ranks(&machine, &cuts->families[CCS_CUTS_RANKS]);
    cut_nodes(&machine, &cuts->families[CCS_CUTS_NODES]);
    cut_leaf_groups(&machine, &cuts->families[CCS_CUTS_LEAF_GROUPS]);
    cut_rails(&machine, &cuts->families[CCS_CUTS_RAILS]);
    cut_half(&machine, &cuts->families[CCS_CUTS_FIRST_HALF], false);
    cut_half(&machine, &cuts->families[CCS_CUTS_EVERY_OTHER], true);
    for (uint32_t i = 0; i < CCS_N_CUT_FAMILIES; i++) {
        cuts->families[i].name = names[i].name;
        cuts->families[i].plural = names[i].plural;
        note_sequence(&machine, &cuts->families[i]);
    }
    return cuts;
}

void ccs_cuts_free(CcsCuts *cuts)
{
    if (cuts == NULL)
        return;
    for (uint32_t i = 0; i < CCS_N_CUT_FAMILIES; i++) {
        g_free(cuts->families[i].cuts);
        g_free(cuts->families[i].cut_of);
    }
    g_free(cuts);
}
