/* allreduce_hierarchical.c - reduce-scatter in each node, allreduce across nodes, all-gather
 *
 * With g ranks per node, local rank l ends the first phase with part l of the node's sum;
 * the second phase is a ring over the nodes for each part (a rail); the third spreads the
 * parts. Between nodes each rank sends only 2 (N - 1) / N of S / g.
 *
 * Nodes of unequal size: the buffer is cut into G slots, G being the least common multiple
 * of the sizes. In a node of g ranks, local rank l has the slots l, l + g, l + 2 g, ...; the
 * ring of a slot passes the rank that has it in each node. Each slot is cut into N chunks. */
#include "base/error.h"
#include "collectives/algorithm.h"
#include "collectives/order.h"

#define MAX_SLOTS 65536U

enum { REDUCE_SCATTER, ALLREDUCE, ALL_GATHER };

typedef struct {
    CcsSchedule *schedule;
    uint32_t channel;
    uint32_t n_nodes;
    uint32_t n_slots;
    CcsLaneId *scattered; /* by rank: the lane that brings the last part of its sum; or none */
    CcsLaneId *gathering; /* by rank: its lane of the third phase; or none */
} Builder;

static uint64_t gcd(uint64_t a, uint64_t b)
{
    return b == 0 ? a : gcd(b, a % b);
}

static bool count_slots(const CcsCommunicator *communicator, uint32_t *ret_n, GError **error)
{
    uint64_t n = 1;

    for (uint32_t node = 0; node < ccs_communicator_n_nodes(communicator); node++) {
        uint32_t n_local = ccs_communicator_n_local(communicator, node);
        n = n / gcd(n, n_local) * n_local;
        if (n > MAX_SLOTS) {
            g_set_error(
                error, CCS_ERROR, CCS_ERROR_INPUT,
                "the hierarchical algorithm cannot cut the buffer for these nodes: the least"
                " common multiple of their ranks is above %u",
                MAX_SLOTS);
            return false;
        }
    }
    *ret_n = (uint32_t)n;
    return true;
}

/* One of the two rings inside @node. Block l is what local rank l has: all chunks of its slots. */
static CcsLaneId add_local_ring(const Builder *builder, uint32_t node, uint32_t phase)
{
    const CcsCommunicator *communicator = ccs_schedule_communicator(builder->schedule);
    uint32_t n_local = ccs_communicator_n_local(communicator, node);
    g_autofree CcsRank *ranks = g_new(CcsRank, n_local);

    for (uint32_t i = 0; i < n_local; i++)
        ranks[i] = ccs_communicator_first(communicator, node) + i;
    return ccs_schedule_add_ring(builder->schedule,
                                 &(CcsRing){.ranks = ranks,
                                            .n_ranks = n_local,
                                            .channel = builder->channel,
                                            .phase = phase,
                                            .n_messages = n_local - 1,
                                            .n_reduced = phase == REDUCE_SCATTER ? n_local - 1 : 0,
                                            .first = phase == REDUCE_SCATTER ? n_local - 1 : 0,
                                            .block = {.buffer = CCS_BUFFER_OUTPUT,
                                                      .scale = builder->n_nodes,
                                                      .n1 = builder->n_nodes,
                                                      .stride1 = 1,
                                                      .n2 = builder->n_slots / n_local,
                                                      .stride2 = builder->n_nodes * n_local}});
}

static void add_local_rings(const Builder *builder, uint32_t phase)
{
    const CcsCommunicator *communicator = ccs_schedule_communicator(builder->schedule);

    for (uint32_t node = 0; node < builder->n_nodes; node++) {
        CcsRank first = ccs_communicator_first(communicator, node);
        uint32_t n_local = ccs_communicator_n_local(communicator, node);
        CcsLaneId base = n_local == 1 ? CCS_NO_LANE : add_local_ring(builder, node, phase);
        for (uint32_t i = 0; i < n_local; i++) {
            if (phase == REDUCE_SCATTER)
                builder->scattered[first + i] =
                    n_local == 1 ? CCS_NO_LANE : base + (i + n_local - 1) % n_local;
            else
                builder->gathering[first + i] = n_local == 1 ? CCS_NO_LANE : base + i;
        }
    }
}

/* The ring of one slot over the nodes, between the phases inside them. */
static void add_slot_ring(const Builder *builder, uint32_t slot)
{
    CcsSchedule *schedule = builder->schedule;
    const CcsCommunicator *communicator = ccs_schedule_communicator(schedule);
    uint32_t n = builder->n_nodes;
    g_autofree CcsRank *ranks = g_new(CcsRank, n);

    for (uint32_t node = 0; node < n; node++)
        ranks[node] = ccs_communicator_first(communicator, node) +
                      slot % ccs_communicator_n_local(communicator, node);
    CcsLaneId base = ccs_schedule_add_ring(
        schedule, &(CcsRing){.ranks = ranks,
                             .n_ranks = n,
                             .channel = builder->channel,
                             .phase = ALLREDUCE,
                             .n_messages = 2 * (n - 1),
                             .n_reduced = n - 1,
                             .block = {.buffer = CCS_BUFFER_OUTPUT, .base = slot * n, .scale = 1}});
    for (uint32_t i = 0; i < n; i++) {
        if (builder->scattered[ranks[i]] != CCS_NO_LANE)
            ccs_schedule_gate(schedule, base + i, builder->scattered[ranks[i]]);
        if (builder->gathering[ranks[i]] != CCS_NO_LANE)
            ccs_schedule_gate(schedule, builder->gathering[ranks[i]], base + (i + n - 1) % n);
    }
}

/* With one node the third phase follows the first. */
static void join_phases(const Builder *builder)
{
    for (CcsRank rank = 0; rank < ccs_schedule_n_ranks(builder->schedule); rank++)
        ccs_schedule_gate(builder->schedule, builder->gathering[rank], builder->scattered[rank]);
}

static bool build(CcsSchedule *schedule, GError **error)
{
    const CcsCommunicator *communicator = ccs_schedule_communicator(schedule);
    uint32_t n = ccs_schedule_n_ranks(schedule);
    g_autofree CcsLaneId *scattered = g_new(CcsLaneId, n);
    g_autofree CcsLaneId *gathering = g_new(CcsLaneId, n);
    Builder builder = {.schedule = schedule,
                       .n_nodes = ccs_communicator_n_nodes(communicator),
                       .scattered = scattered,
                       .gathering = gathering};

    if (!count_slots(communicator, &builder.n_slots, error))
        return false;
    ccs_schedule_add_phase(schedule, "reduce-scatter in the node");
    ccs_schedule_add_phase(schedule, "allreduce across nodes");
    ccs_schedule_add_phase(schedule, "all-gather in the node");
    ccs_schedule_set_n_chunks(schedule, builder.n_slots * builder.n_nodes);
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        builder.channel = channel;
        add_local_rings(&builder, REDUCE_SCATTER);
        add_local_rings(&builder, ALL_GATHER);
        for (uint32_t slot = 0; slot < builder.n_slots && builder.n_nodes > 1; slot++)
            add_slot_ring(&builder, slot);
        if (builder.n_nodes == 1)
            join_phases(&builder);
    }
    return true;
}

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    double steps = 2 * (n_ranks - 1.0);

    (void)n_chunks; /* one rank per node: only the ring between nodes is left */
    *ret_terms = (CcsTerms){steps, steps, steps / n_ranks, steps / 2 / n_ranks};
    return true;
}

const CcsAlgorithm ccs_allreduce_hierarchical = {
    .collective = CCS_ALLREDUCE,
    .name = "hierarchical",
    .summary = "reduce-scatter in the node, allreduce across nodes by rail, all-gather in the node",
    .idea =
        "A reduce-scatter inside each node leaves every rank with its part of the node's sum; the "
        "ranks with the same part allreduce it across nodes; an all-gather inside each node "
        "ends it. Between nodes each rank sends only its part.",
    .when =
        "Where the network between nodes is the bottleneck, or many nodes make a ring too long.",
    .formula = "2 (n-1) (a + o + S/(n B)) + (n-1)/n S/G with one rank per node; else the sum over "
               "the three phases",
    .assumption = "On a flat switch each rank is a node of its own; the phases do not overlap.",
    .terms = terms,
    .build = build,
};
