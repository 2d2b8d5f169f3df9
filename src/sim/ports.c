#include "sim/ports.h"

typedef struct {
    const CcsCommunicator *communicator;
    const CcsTopology *topology;
    uint32_t n_ranks;
    uint32_t *component; /* by vertex: the cluster of switches and NICs it belongs to */
    uint32_t *n_members; /* by component: ranks that have a link to it */
    bool *is_member;     /* by vertex: the GPU of a rank */
    bool is_nic_used;
} Ports;

static bool is_hub(const Ports *ports, CcsVertexId vertex)
{
    CcsVertexKind kind = ccs_topology_vertex(ports->topology, vertex)->kind;
    return kind != CCS_VERTEX_GPU && (kind != CCS_VERTEX_NIC || ports->is_nic_used);
}

static uint32_t find_component(uint32_t *component, uint32_t vertex)
{
    while (component[vertex] != vertex) {
        component[vertex] = component[component[vertex]];
        vertex = component[vertex];
    }
    return vertex;
}

/* Joins the switches and NICs that are linked, and counts the ranks linked to each cluster. */
static void find_components(Ports *ports)
{
    const CcsTopology *topology = ports->topology;

    for (CcsVertexId vertex = 0; vertex < ccs_topology_n_vertices(topology); vertex++) {
        ports->component[vertex] = vertex;
        ports->n_members[vertex] = 0;
    }
    for (CcsLinkId id = 0; id < ccs_topology_n_links(topology); id++) {
        const CcsLink *link = ccs_topology_link(topology, id);
        if (is_hub(ports, link->from) && is_hub(ports, link->to))
            ports->component[find_component(ports->component, link->from)] =
                find_component(ports->component, link->to);
    }
    for (CcsRank rank = 0; rank < ports->n_ranks; rank++) {
        uint32_t n = 0;
        const CcsLinkId *out =
            ccs_topology_links_out(topology, ccs_communicator_gpu(ports->communicator, rank), &n);
        uint32_t before = UINT32_MAX;
        for (uint32_t i = 0; i < n; i++) {
            CcsVertexId hub = ccs_topology_link(topology, out[i])->to;
            uint32_t component = find_component(ports->component, hub);
            if (is_hub(ports, hub) && component != before)
                ports->n_members[component]++;
            before = component;
        }
    }
}

/* Whether data of the collective can go by way of @vertex, the other end of a rank's link. */
static bool is_way(const Ports *ports, CcsVertexId vertex)
{
    if (ccs_topology_vertex(ports->topology, vertex)->kind == CCS_VERTEX_GPU)
        return ports->is_member[vertex];
    return is_hub(ports, vertex) && ports->n_members[find_component(ports->component, vertex)] > 1;
}

/* What a rank's link carries at most: no more than the NIC behind it. */
static CcsWork useful_rate(const Ports *ports, const CcsLink *link, bool is_out)
{
    const CcsTopology *topology = ports->topology;
    CcsVertexId hub = is_out ? link->to : link->from;
    CcsWork behind = 0;
    uint32_t n = 0;

    if (ccs_topology_vertex(topology, hub)->kind != CCS_VERTEX_NIC)
        return link->bandwidth;
    const CcsLinkId *ids = is_out ? ccs_topology_links_out(topology, hub, &n)
                                  : ccs_topology_links_in(topology, hub, &n);
    for (uint32_t i = 0; i < n; i++) {
        const CcsLink *next = ccs_topology_link(topology, ids[i]);
        CcsVertexId other = is_out ? next->to : next->from;
        if (ccs_topology_vertex(topology, other)->kind != CCS_VERTEX_GPU)
            behind += next->bandwidth;
    }
    return MIN(behind, (CcsWork)link->bandwidth);
}

static CcsWork port_rate(const Ports *ports, CcsVertexId gpu, bool is_out)
{
    const CcsTopology *topology = ports->topology;
    CcsWork rate = 0;
    uint32_t n = 0;
    const CcsLinkId *ids = is_out ? ccs_topology_links_out(topology, gpu, &n)
                                  : ccs_topology_links_in(topology, gpu, &n);

    for (uint32_t i = 0; i < n; i++) {
        const CcsLink *link = ccs_topology_link(topology, ids[i]);
        if (is_way(ports, is_out ? link->to : link->from))
            rate += useful_rate(ports, link, is_out);
    }
    return rate;
}

/* Whether @gpu reaches all other ranks by a link to each or by one cluster of switches. */
static bool reaches_all(const Ports *ports, CcsVertexId gpu)
{
    uint32_t n = 0;
    uint32_t n_peers = 0;
    const CcsLinkId *out = ccs_topology_links_out(ports->topology, gpu, &n);
    CcsVertexId before = CCS_NO_VERTEX;

    for (uint32_t i = 0; i < n; i++) {
        CcsVertexId to = ccs_topology_link(ports->topology, out[i])->to;
        if (is_hub(ports, to) &&
            ports->n_members[find_component(ports->component, to)] == ports->n_ranks)
            return true;
        if (ports->is_member[to] && to != before)
            n_peers++;
        before = to;
    }
    return n_peers + 1 == ports->n_ranks;
}

static bool all_reach_all(const Ports *ports)
{
    for (CcsRank rank = 0; rank < ports->n_ranks; rank++) {
        if (!reaches_all(ports, ccs_communicator_gpu(ports->communicator, rank)))
            return false;
    }
    return true;
}

static void measure(Ports *ports, CcsCut *cuts)
{
    find_components(ports);
    if (!ports->is_nic_used && !all_reach_all(ports)) {
        ports->is_nic_used = true;
        find_components(ports);
    }
    for (CcsRank rank = 0; rank < ports->n_ranks; rank++) {
        CcsVertexId gpu = ccs_communicator_gpu(ports->communicator, rank);
        cuts[rank] = (CcsCut){1, port_rate(ports, gpu, true), port_rate(ports, gpu, false)};
    }
}

void ccs_ports_measure(const CcsCommunicator *communicator, CcsCut *cuts)
{
    const CcsTopology *topology = ccs_communicator_topology(communicator);
    size_t n_vertices = ccs_topology_n_vertices(topology);
    g_autofree uint32_t *component = g_new(uint32_t, n_vertices);
    g_autofree uint32_t *n_members = g_new(uint32_t, n_vertices);
    g_autofree bool *is_member = g_new0(bool, n_vertices);
    Ports ports = {
        .communicator = communicator,
        .topology = topology,
        .n_ranks = ccs_communicator_n_ranks(communicator),
        .component = component,
        .n_members = n_members,
        .is_member = is_member,
        .is_nic_used = ccs_communicator_n_nodes(communicator) > 1,
    };

    for (CcsRank rank = 0; rank < ports.n_ranks; rank++)
        is_member[ccs_communicator_gpu(communicator, rank)] = true;
    measure(&ports, cuts);
}
