#include "sim/bound.h"

#include "engine/queue.h"

/* A set of ranks and what can flow out of it and into it. */
typedef struct {
    uint32_t n_ranks;
    CcsWork egress;
    CcsWork ingress;
} Group;

struct CcsBounds {
    const CcsCommunicator *communicator;
    const CcsTopology *topology;
    uint32_t n_ranks;
    Group *ranks;
    uint32_t n_nodes;
    Group *nodes;
    uint32_t *component; /* by vertex: the cluster of switches and NICs it belongs to */
    uint32_t *n_members; /* by component: ranks that have a link to it */
    bool is_nic_used;
    CcsTime farthest;   /* from any rank to any other */
    CcsTime *from_rank; /* by rank: from it to the farthest other; -1 where not looked at */
    CcsTime nearest;    /* from any rank to any other */
};

/* Larger than this, the distances are taken from the root's candidates only. */
#define MAX_SEARCH ((uint64_t)20000000)

static bool is_hub(const CcsBounds *bounds, CcsVertexId vertex)
{
    CcsVertexKind kind = ccs_topology_vertex(bounds->topology, vertex)->kind;
    return kind != CCS_VERTEX_GPU && (kind != CCS_VERTEX_NIC || bounds->is_nic_used);
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
static void find_components(CcsBounds *bounds)
{
    const CcsTopology *topology = bounds->topology;

    for (CcsVertexId vertex = 0; vertex < ccs_topology_n_vertices(topology); vertex++) {
        bounds->component[vertex] = vertex;
        bounds->n_members[vertex] = 0;
    }
    for (CcsLinkId id = 0; id < ccs_topology_n_links(topology); id++) {
        const CcsLink *link = ccs_topology_link(topology, id);
        if (is_hub(bounds, link->from) && is_hub(bounds, link->to))
            bounds->component[find_component(bounds->component, link->from)] =
                find_component(bounds->component, link->to);
    }
    for (CcsRank rank = 0; rank < bounds->n_ranks; rank++) {
        uint32_t n = 0;
        const CcsLinkId *out =
            ccs_topology_links_out(topology, ccs_communicator_gpu(bounds->communicator, rank), &n);
        uint32_t before = UINT32_MAX;
        for (uint32_t i = 0; i < n; i++) {
            CcsVertexId hub = ccs_topology_link(topology, out[i])->to;
            uint32_t component = find_component(bounds->component, hub);
            if (is_hub(bounds, hub) && component != before)
                bounds->n_members[component]++;
            before = component;
        }
    }
}

/* Whether data of the collective can go by way of @vertex, the other end of a rank's link. */
static bool is_way(CcsBounds *bounds, const bool *is_member, CcsVertexId vertex)
{
    if (ccs_topology_vertex(bounds->topology, vertex)->kind == CCS_VERTEX_GPU)
        return is_member[vertex];
    return is_hub(bounds, vertex) &&
           bounds->n_members[find_component(bounds->component, vertex)] > 1;
}

/* What a rank's link carries at most: no more than the NIC behind it. */
static CcsWork useful_rate(const CcsBounds *bounds, const CcsLink *link, bool is_out)
{
    const CcsTopology *topology = bounds->topology;
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

static CcsWork port_rate(CcsBounds *bounds, const bool *is_member, CcsVertexId gpu, bool is_out)
{
    const CcsTopology *topology = bounds->topology;
    CcsWork rate = 0;
    uint32_t n = 0;
    const CcsLinkId *ids = is_out ? ccs_topology_links_out(topology, gpu, &n)
                                  : ccs_topology_links_in(topology, gpu, &n);

    for (uint32_t i = 0; i < n; i++) {
        const CcsLink *link = ccs_topology_link(topology, ids[i]);
        if (is_way(bounds, is_member, is_out ? link->to : link->from))
            rate += useful_rate(bounds, link, is_out);
    }
    return rate;
}

/* Returns: false if some rank has no port at all. */
static bool measure_ranks(CcsBounds *bounds, const bool *is_member)
{
    bool is_complete = true;

    find_components(bounds);
    for (CcsRank rank = 0; rank < bounds->n_ranks; rank++) {
        CcsVertexId gpu = ccs_communicator_gpu(bounds->communicator, rank);
        bounds->ranks[rank] = (Group){1, port_rate(bounds, is_member, gpu, true),
                                      port_rate(bounds, is_member, gpu, false)};
        is_complete = is_complete && bounds->ranks[rank].egress > 0;
    }
    return is_complete;
}

static void measure_nodes(CcsBounds *bounds)
{
    const CcsCommunicator *communicator = bounds->communicator;
    g_autofree uint32_t *index = g_new(uint32_t, ccs_topology_n_nodes(bounds->topology) + 1);

    for (uint32_t i = 0; i < ccs_topology_n_nodes(bounds->topology); i++)
        index[i] = UINT32_MAX;
    for (CcsRank rank = 0; rank < bounds->n_ranks; rank++) {
        uint32_t node = ccs_communicator_node(communicator, rank);
        CcsVertexId gpu = ccs_communicator_gpu(communicator, rank);
        CcsNodeId id = ccs_topology_vertex(bounds->topology, gpu)->node;
        bounds->nodes[node].n_ranks++;
        if (id != CCS_NO_NODE)
            index[id] = node;
        else
            bounds->nodes[node] = bounds->ranks[rank];
    }
    for (CcsLinkId id = 0; id < ccs_topology_n_links(bounds->topology); id++) {
        const CcsLink *link = ccs_topology_link(bounds->topology, id);
        CcsNodeId from = ccs_topology_vertex(bounds->topology, link->from)->node;
        CcsNodeId to = ccs_topology_vertex(bounds->topology, link->to)->node;
        if (from == to)
            continue;
        if (from != CCS_NO_NODE && index[from] != UINT32_MAX)
            bounds->nodes[index[from]].egress += link->bandwidth;
        if (to != CCS_NO_NODE && index[to] != UINT32_MAX)
            bounds->nodes[index[to]].ingress += link->bandwidth;
    }
}

/* Least latencies from @gpu to every vertex, by whatever way (Dijkstra 1959). */
static void measure_distances(const CcsBounds *bounds, CcsQueue *queue, CcsVertexId gpu,
                              CcsTime *distance)
{
    CcsEventRecord at;

    for (CcsVertexId i = 0; i < ccs_topology_n_vertices(bounds->topology); i++)
        distance[i] = CCS_TIME_MAX;
    ccs_queue_clear(queue);
    distance[gpu] = 0;
    ccs_queue_push(queue, &(CcsEventRecord){.time = 0, .subject = gpu});
    while (ccs_queue_pop(queue, &at)) {
        uint32_t n = 0;
        const CcsLinkId *out = ccs_topology_links_out(bounds->topology, at.subject, &n);
        if (distance[at.subject] < at.time)
            continue;
        for (uint32_t i = 0; i < n; i++) {
            const CcsLink *link = ccs_topology_link(bounds->topology, out[i]);
            CcsTime time = at.time + link->alpha;
            if (time >= distance[link->to])
                continue;
            distance[link->to] = time;
            ccs_queue_push(queue, &(CcsEventRecord){.time = time, .subject = link->to});
        }
    }
}

static void measure_latencies(CcsBounds *bounds)
{
    const CcsCommunicator *communicator = bounds->communicator;
    g_autoptr(CcsQueue) queue = ccs_queue_new();
    g_autofree CcsTime *distance = g_new(CcsTime, ccs_topology_n_vertices(bounds->topology));
    uint64_t n_looked = 0;

    bounds->nearest = bounds->n_ranks == 1 ? 0 : CCS_TIME_MAX;
    for (CcsRank rank = 0; rank < bounds->n_ranks; rank++) {
        bounds->from_rank[rank] = -1;
        n_looked += ccs_topology_n_links(bounds->topology);
        if (n_looked > MAX_SEARCH && rank > 0) { /* the nearest may be among the rest */
            bounds->nearest = 0;
            continue;
        }
        measure_distances(bounds, queue, ccs_communicator_gpu(communicator, rank), distance);
        CcsTime farthest = 0;
        for (CcsRank other = 0; other < bounds->n_ranks; other++) {
            CcsTime time = distance[ccs_communicator_gpu(communicator, other)];
            if (other == rank || time == CCS_TIME_MAX)
                continue;
            farthest = MAX(farthest, time);
            bounds->nearest = MIN(bounds->nearest, time);
        }
        bounds->from_rank[rank] = farthest;
        bounds->farthest = MAX(bounds->farthest, farthest);
    }
}

CcsBounds *ccs_bounds_new(const CcsCommunicator *communicator)
{
    CcsBounds *bounds = g_new0(CcsBounds, 1);
    const CcsTopology *topology = ccs_communicator_topology(communicator);
    uint32_t n_vertices = ccs_topology_n_vertices(topology);
    g_autofree bool *is_member = g_new0(bool, n_vertices);

    bounds->communicator = communicator;
    bounds->topology = topology;
    bounds->n_ranks = ccs_communicator_n_ranks(communicator);
    bounds->n_nodes = ccs_communicator_n_nodes(communicator);
    bounds->ranks = g_new0(Group, bounds->n_ranks);
    bounds->nodes = g_new0(Group, bounds->n_nodes);
    bounds->component = g_new0(uint32_t, n_vertices);
    bounds->n_members = g_new0(uint32_t, n_vertices);
    bounds->from_rank = g_new0(CcsTime, bounds->n_ranks);
    for (CcsRank rank = 0; rank < bounds->n_ranks; rank++)
        is_member[ccs_communicator_gpu(communicator, rank)] = true;

    /* Inside one node the NICs count only where there is no other way. */
    bounds->is_nic_used = bounds->n_nodes > 1;
    if (!measure_ranks(bounds, is_member) && !bounds->is_nic_used) {
        bounds->is_nic_used = true;
        measure_ranks(bounds, is_member);
    }
    measure_nodes(bounds);
    measure_latencies(bounds);
    return bounds;
}

void ccs_bounds_free(CcsBounds *bounds)
{
    if (bounds == NULL)
        return;
    g_free(bounds->ranks);
    g_free(bounds->nodes);
    g_free(bounds->component);
    g_free(bounds->n_members);
    g_free(bounds->from_rank);
    g_free(bounds);
}

/* What must cross the border of a set of ranks. */
typedef struct {
    CcsWork out;
    CcsWork in;
} Crossing;

/* @n_in ranks are in the set, the root among them if @has_root. @slack: see ccs_bounds_of(). */
static Crossing crossing(CcsCollective collective, CcsBytes size, uint64_t n_in, uint64_t n,
                         bool has_root, CcsBytes slack)
{
    CcsWork inside = (CcsWork)size * n_in / n;
    CcsWork outside = (CcsWork)size * (n - n_in) / n;

    inside -= MIN(inside, (CcsWork)slack * n_in);
    outside -= MIN(outside, (CcsWork)slack * n_in);
    switch (collective) {
    case CCS_ALLREDUCE:
        return (Crossing){size, size};
    case CCS_ALLGATHER:
        return (Crossing){inside, outside};
    case CCS_REDUCESCATTER:
        return (Crossing){outside, inside};
    case CCS_ALLTOALL:
        return (Crossing){outside * n_in, outside * n_in};
    case CCS_BROADCAST:
        return (Crossing){has_root ? size : 0, has_root ? 0 : size};
    case CCS_REDUCE:
        return (Crossing){has_root ? 0 : size, has_root ? size : 0};
    case CCS_GATHER:
        return (Crossing){has_root ? 0 : inside, has_root ? outside : 0};
    case CCS_SCATTER:
        return (Crossing){has_root ? outside : 0, has_root ? 0 : inside};
    case CCS_SENDRECV: /* however far a shift goes, one rank of the group sends out of it */
        return (Crossing){size, size};
    case CCS_ALLTOALLV:
    case CCS_BARRIER:
    case CCS_PROGRAM:
        break;
    }
    return (Crossing){0, 0};
}

/* What @n_groups groups must send to each other, all together. */
static CcsWork total_sent(CcsCollective collective, CcsBytes size, uint64_t n_groups)
{
    switch (collective) {
    case CCS_ALLREDUCE:
        return (CcsWork)size * 2 * (n_groups - 1);
    case CCS_ALLGATHER:
    case CCS_REDUCESCATTER:
    case CCS_BROADCAST:
    case CCS_REDUCE:
        return (CcsWork)size * (n_groups - 1);
    case CCS_ALLTOALL:
    case CCS_ALLTOALLV:
    case CCS_GATHER:
    case CCS_SCATTER:
    case CCS_SENDRECV:
    case CCS_BARRIER:
    case CCS_PROGRAM:
        break;
    }
    return 0;
}

/* Rounded down, since a bound may not be too high. */
static CcsTime least_time(CcsWork bytes, CcsWork rate)
{
    CcsWork time = rate == 0 ? 0 : bytes * CCS_WORK_PER_BYTE / rate;
    return time > (CcsWork)CCS_TIME_MAX ? CCS_TIME_MAX : (CcsTime)time;
}

static void raise_to(CcsBound *bound, CcsTime time, const char *name)
{
    if (time > bound->time)
        *bound = (CcsBound){time, name};
}

static void raise_by_groups(CcsBound *bound, const CcsBounds *bounds, const Group *groups,
                            uint32_t n_groups, bool is_node, CcsCollective collective, CcsRank root,
                            CcsBytes size, CcsBytes slack)
{
    CcsWork egress = 0;
    uint32_t root_group = is_node ? ccs_communicator_node(bounds->communicator, root) : root;

    if (n_groups < 2)
        return;
    for (uint32_t i = 0; i < n_groups; i++) {
        Crossing over =
            crossing(collective, size, groups[i].n_ranks, bounds->n_ranks, i == root_group, slack);
        egress += groups[i].egress;
        raise_to(bound, least_time(over.out, groups[i].egress), is_node ? "node" : "rank");
        raise_to(bound, least_time(over.in, groups[i].ingress), is_node ? "node" : "rank");
    }
    raise_to(bound, least_time(total_sent(collective, size, n_groups), egress),
             is_node ? "nodes" : "ranks");
}

/* What is not known is taken to be the least there is. */
static CcsTime latency_of(const CcsBounds *bounds, CcsCollective collective, CcsRank root)
{
    switch (collective) {
    case CCS_BROADCAST:
    case CCS_SCATTER:
        return bounds->from_rank[root] < 0 ? bounds->nearest : bounds->from_rank[root];
    case CCS_REDUCE: /* distances are measured from ranks, not to them */
    case CCS_GATHER:
    case CCS_SENDRECV:
        return bounds->nearest;
    case CCS_PROGRAM:
        return 0;
    case CCS_ALLREDUCE:
    case CCS_ALLGATHER:
    case CCS_REDUCESCATTER:
    case CCS_ALLTOALL:
    case CCS_ALLTOALLV:
    case CCS_BARRIER:
        break;
    }
    return bounds->farthest;
}

CcsBound ccs_bounds_of(const CcsBounds *bounds, CcsCollective collective, CcsRank root,
                       CcsBytes size, uint32_t n_channels, const CcsTransport *transport)
{
    CcsBound bound = {0, "none"};
    bool is_even = size % ((uint64_t)bounds->n_ranks * n_channels) == 0;
    CcsBytes slack = is_even ? 0 : n_channels;

    if (bounds->n_ranks > 1 && collective != CCS_PROGRAM) { /* a program may send nothing */
        raise_to(&bound, latency_of(bounds, collective, root) + transport->message_cost, "latency");
        raise_by_groups(&bound, bounds, bounds->ranks, bounds->n_ranks, false, collective, root,
                        size, slack);
        raise_by_groups(&bound, bounds, bounds->nodes, bounds->n_nodes, true, collective, root,
                        size, slack);
    }
    bound.time += transport->launch;
    return bound;
}
