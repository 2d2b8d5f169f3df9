/* alltoall_hierarchical.c - blocks change the rail inside their node, then cross to the other
 *
 * With g ranks in a node, its local rank h serves the ranks of rail h in all other nodes: the
 * ranks h + g, h + 2 g, ... places after the first of the node, counted round. First
 * everyone in the node hands it the blocks for these ranks, one message for each pair of
 * local ranks. Then it sends each of them one message, with the blocks of the whole node. So
 * there is one message per pair of nodes and rail, g times as large and g times fewer than
 * without, and no message changes rails in the fabric. Blocks for the own node go straight.
 *
 * Nodes of unequal size: what is one rail to one of two nodes need not be to the other, so
 * only the sender's node has all rails busy.
 *
 * Blocks on their way lie in scratch cells, sorted by target, then by local rank. One is
 * counted with the size of its cell, up to one byte off where n does not divide the size. */
#include "collectives/algorithm.h"
#include "collectives/exchange.h"

enum { INSIDE, REGROUP, ACROSS };

typedef struct {
    CcsSchedule *schedule;
    uint32_t n;
    uint32_t channel;
    CcsRank first;    /* of the node */
    uint32_t n_local; /* ranks of the node */
} Builder;

static CcsLaneId add_lane(const Builder *builder, uint32_t phase, CcsRank source, CcsRank peer,
                          CcsBox from, CcsBox to)
{
    return ccs_schedule_add_lane(
        builder->schedule,
        &(CcsLane){.source = source,
                   .peer = peer,
                   .channel = builder->channel,
                   .phase = phase,
                   .n_messages = 1,
                   .from = from,
                   .to = to,
                   .path = ccs_schedule_path(builder->schedule, source, peer, builder->channel)});
}

static void add_inside(const Builder *builder)
{
    CcsRank end = builder->first + builder->n_local;

    for (CcsRank source = builder->first; source < end; source++) {
        for (CcsRank peer = builder->first; peer < end; peer++)
            add_lane(builder, INSIDE, source, peer,
                     (CcsBox){.buffer = CCS_BUFFER_INPUT, .base = peer},
                     (CcsBox){.buffer = CCS_BUFFER_OUTPUT, .base = source});
    }
}

/* All blocks for the @n_targets ranks that local rank @local serves come to it. Returns: the
 * lane after which it has them. */
static CcsLaneId add_regroup(const Builder *builder, uint32_t local, uint32_t n_targets)
{
    uint32_t g = builder->n_local;
    CcsBox from = {.buffer = CCS_BUFFER_INPUT,
                   .base = builder->first + local + g,
                   .n1 = n_targets,
                   .stride1 = g,
                   .wrap = builder->n};
    CcsBox to = {.buffer = CCS_BUFFER_SCRATCH, .base = local, .n1 = n_targets, .stride1 = g};
    CcsRank peer = builder->first + local;
    CcsLaneId own = add_lane(builder, REGROUP, peer, peer, from, to);

    for (uint32_t other = 0; other < g; other++) {
        if (other == local)
            continue;
        to.base = other;
        ccs_schedule_gate(builder->schedule, own,
                          add_lane(builder, REGROUP, builder->first + other, peer, from, to));
    }
    return own;
}

static void add_across(const Builder *builder, uint32_t local, uint32_t n_targets,
                       CcsLaneId regrouped)
{
    uint32_t g = builder->n_local;
    CcsBox to = {.buffer = CCS_BUFFER_OUTPUT, .base = builder->first, .n1 = g, .stride1 = 1};

    for (uint32_t i = 0; i < n_targets; i++) {
        CcsRank peer = (builder->first + local + (i + 1) * g) % builder->n;
        CcsBox from = {.buffer = CCS_BUFFER_SCRATCH, .base = i * g, .n1 = g, .stride1 = 1};
        CcsLaneId lane = add_lane(builder, ACROSS, builder->first + local, peer, from, to);
        ccs_schedule_gate(builder->schedule, lane, regrouped);
    }
}

static void add_node(const Builder *builder)
{
    add_inside(builder);
    for (uint32_t local = 0; local < builder->n_local; local++) {
        uint32_t n_targets = (builder->n - local - 1) / builder->n_local;
        if (n_targets > 0)
            add_across(builder, local, n_targets, add_regroup(builder, local, n_targets));
    }
}

static bool build(CcsSchedule *schedule, GError **error)
{
    const CcsCommunicator *communicator = ccs_schedule_communicator(schedule);
    Builder builder = {.schedule = schedule, .n = ccs_schedule_n_ranks(schedule)};

    (void)error;
    ccs_schedule_add_phase(schedule, "inside the node");
    ccs_schedule_add_phase(schedule, "regroup by rail");
    ccs_schedule_add_phase(schedule, "across nodes");
    ccs_schedule_set_n_chunks(schedule, builder.n);
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        builder.channel = channel;
        for (uint32_t node = 0; node < ccs_communicator_n_nodes(communicator); node++) {
            builder.first = ccs_communicator_first(communicator, node);
            builder.n_local = ccs_communicator_n_local(communicator, node);
            add_node(&builder);
        }
    }
    return true;
}

const CcsAlgorithm ccs_alltoall_hierarchical = {
    .collective = CCS_ALLTOALL,
    .name = "hierarchical",
    .summary = "blocks change rails inside their node, then one message per node pair and rail",
    .idea = "Inside a node, each GPU first collects the blocks that all its neighbours have for "
            "the GPUs of its rail in other nodes. Then it sends each of these GPUs one message "
            "with the blocks of the whole node.",
    .when = "For small blocks on many nodes, or where the fabric between rails is thin.",
    .formula = "a + o + (n-1)/n S/B",
    .assumption = "One rank per node, where it is the same as direct. With g ranks per node the "
                  "regrouping moves (n-g)/n (g-1)/g S over NVLink before.",
    .terms = ccs_terms_of_all_pairs,
    .build = build,
};
