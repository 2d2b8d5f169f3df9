#include "sim/bound.h"

#include "engine/queue.h"
#include "sim/cuts.h"

struct CcsBounds {
    const CcsCommunicator *communicator;
    const CcsTopology *topology;
    uint32_t n_ranks;
    CcsCuts *cuts;
    CcsTime farthest;   /* from any rank to any other */
    CcsTime nearest;    /* likewise */
    CcsTime *from_rank; /* by rank: from it to the farthest other; -1 where not looked at */
    CcsTime *to_rank;   /* by rank: to it from the farthest other of those looked at */
};

/* Where more links than that would have to be looked at to find the distances of all ranks, only
 * those of a few are searched; what is not searched counts as 0. */
#define MAX_SEARCH ((uint64_t)20000000)
#define FEW_RANKS  2U

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
            CcsTime time = MIN(at.time + link->alpha, CCS_TIME_MAX);
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
    uint32_t n = bounds->n_ranks;
    bool is_whole = (uint64_t)ccs_topology_n_links(bounds->topology) * n <= MAX_SEARCH;
    uint32_t step = is_whole || n < FEW_RANKS ? 1 : (n - 1) / (FEW_RANKS - 1);

    for (CcsRank rank = 0; rank < n; rank++)
        bounds->from_rank[rank] = -1;
    bounds->nearest = n == 1 ? 0 : CCS_TIME_MAX;
    for (CcsRank rank = 0; rank < n; rank += step) {
        measure_distances(bounds, queue, ccs_communicator_gpu(communicator, rank), distance);
        bounds->from_rank[rank] = 0;
        for (CcsRank other = 0; other < bounds->n_ranks; other++) {
            CcsTime time = distance[ccs_communicator_gpu(communicator, other)];
            if (other == rank || time == CCS_TIME_MAX)
                continue;
            bounds->from_rank[rank] = MAX(bounds->from_rank[rank], time);
            bounds->to_rank[other] = MAX(bounds->to_rank[other], time);
            bounds->nearest = MIN(bounds->nearest, time);
        }
        bounds->farthest = MAX(bounds->farthest, bounds->from_rank[rank]);
    }
    if (step > 1) /* the nearest may be among the others */
        bounds->nearest = 0;
}

CcsBounds *ccs_bounds_new(const CcsCommunicator *communicator)
{
    CcsBounds *bounds = g_new0(CcsBounds, 1);

    bounds->communicator = communicator;
    bounds->topology = ccs_communicator_topology(communicator);
    bounds->n_ranks = ccs_communicator_n_ranks(communicator);
    bounds->cuts = ccs_cuts_new(communicator);
    bounds->from_rank = g_new0(CcsTime, bounds->n_ranks);
    bounds->to_rank = g_new0(CcsTime, bounds->n_ranks);
    measure_latencies(bounds);
    return bounds;
}

void ccs_bounds_free(CcsBounds *bounds)
{
    if (bounds == NULL)
        return;
    ccs_cuts_free(bounds->cuts);
    g_free(bounds->from_rank);
    g_free(bounds->to_rank);
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

/* What is asked of the bounds. */
typedef struct {
    CcsCollective collective;
    CcsRank root;
    CcsBytes size;
    CcsBytes slack;
} Question;

static void raise_by_family(CcsBound *bound, const CcsBounds *bounds, const CcsCutFamily *family,
                            const Question *asked)
{
    CcsWork egress = 0;
    uint32_t n_groups = 0;

    /* A shift may lead from each rank of a set to another one of it, if there are gaps in it. */
    if (asked->collective == CCS_SENDRECV && !family->is_in_sequence)
        return;
    for (uint32_t i = 0; i < family->n_cuts; i++) {
        const CcsCut *cut = &family->cuts[i];
        if (cut->n_ranks == 0 || cut->n_ranks == bounds->n_ranks)
            continue;
        Crossing over = crossing(asked->collective, asked->size, cut->n_ranks, bounds->n_ranks,
                                 i == family->cut_of[asked->root], asked->slack);
        raise_to(bound, least_time(over.out, cut->egress), family->name);
        raise_to(bound, least_time(over.in, cut->ingress), family->name);
        egress += cut->egress;
        n_groups++;
    }
    if (family->plural != NULL && n_groups > 1)
        raise_to(bound, least_time(total_sent(asked->collective, asked->size, n_groups), egress),
                 family->plural);
}

/* What is not known is taken to be the least there is. */
static CcsTime latency_of(const CcsBounds *bounds, CcsCollective collective, CcsRank root)
{
    switch (collective) {
    case CCS_BROADCAST:
    case CCS_SCATTER:
        return MAX(bounds->from_rank[root], bounds->nearest);
    case CCS_REDUCE:
    case CCS_GATHER:
        return MAX(bounds->to_rank[root], bounds->nearest);
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
    Question asked = {collective, root, size, is_even ? 0 : n_channels};

    if (bounds->n_ranks > 1 && collective != CCS_PROGRAM) { /* a program may send nothing */
        raise_to(&bound, latency_of(bounds, collective, root) + transport->message_cost, "latency");
        for (uint32_t i = 0; i < CCS_N_CUT_FAMILIES; i++)
            raise_by_family(&bound, bounds, &bounds->cuts->families[i], &asked);
    }
    bound.time += transport->launch;
    return bound;
}

/* Adds what @source has for @target to what must leave and enter the cuts between them. */
static void cross_by_block(const CcsCutFamily *family, CcsRank source, CcsRank target,
                           CcsBytes bytes, Crossing *crossings)
{
    uint32_t from = family->cut_of[source];
    uint32_t to = family->cut_of[target];

    if (from == to)
        return;
    if (from != CCS_NO_CUT)
        crossings[from].out += bytes;
    if (to != CCS_NO_CUT)
        crossings[to].in += bytes;
}

void ccs_bounds_raise_by_weights(const CcsBounds *bounds, const CcsWeights *weights, CcsBytes size,
                                 const CcsTransport *transport, CcsBound *bound)
{
    for (uint32_t i = 0; i < CCS_N_CUT_FAMILIES; i++) {
        const CcsCutFamily *family = &bounds->cuts->families[i];
        g_autofree Crossing *crossings = g_new0(Crossing, (size_t)family->n_cuts + 1);
        for (CcsRank source = 0; source < bounds->n_ranks; source++) {
            for (CcsRank target = 0; target < bounds->n_ranks; target++)
                cross_by_block(family, source, target,
                               ccs_weights_bytes(weights, source, target, size), crossings);
        }
        for (uint32_t c = 0; c < family->n_cuts; c++) {
            const CcsCut *cut = &family->cuts[c];
            CcsTime out = least_time(crossings[c].out, cut->egress);
            CcsTime in = least_time(crossings[c].in, cut->ingress);
            raise_to(bound, transport->launch + MAX(out, in), family->name);
        }
    }
}
