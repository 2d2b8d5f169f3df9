#include "collectives/blocks.h"

#include "base/error.h"
#include "collectives/order.h"
#include "collectives/two_level.h"

#define MAX_LANES ((uint64_t)1 << 24)

/* Nodes of equal size that follow one another. */
typedef struct {
    uint32_t first;
    uint32_t n;
    uint32_t n_local;     /* ranks in each */
    uint32_t first_chunk; /* of the first node */
    uint32_t slot_chunks; /* of one slot of one node */
} Run;

typedef struct {
    CcsSchedule *schedule;
    bool is_reduced;
    const CcsGroup *nodes;
    uint32_t n_nodes;
    uint32_t n_slots;
    uint32_t block_chunks; /* of one rank's block */
    GArray *runs;          /* of Run */
    uint32_t channel;
    CcsLaneId *across; /* by run, slot and node: the lane between the node and the next one; or
                          CCS_NO_LANE */
} Builder;

static const Run *run_at(const Builder *builder, guint u)
{
    return &g_array_index(builder->runs, Run, u);
}

static bool contains(const Run *run, uint32_t node)
{
    return node >= run->first && node < run->first + run->n;
}

static CcsRank member(const Builder *builder, uint32_t node, uint32_t slot)
{
    const CcsGroup *group = &builder->nodes[node];
    return group->first + slot / (builder->n_slots / group->n);
}

static CcsLaneId *across_of(const Builder *builder, guint u, uint32_t slot, uint32_t node)
{
    size_t row = (size_t)u * builder->n_slots + slot;
    return &builder->across[row * builder->n_nodes + node];
}

/* The lane that takes the slots of a run from @node to the next one: its own node's first if
 * it is of the run, then the node's before it and so on. The reduce-scatter's goes back from
 * the next one, in the opposite order. */
static CcsLaneId add_across(const Builder *builder, const Run *run, uint32_t slot, uint32_t node)
{
    uint32_t next = (node + 1) % builder->n_nodes;
    uint32_t n_messages = run->n - (contains(run, next) ? 1 : 0);
    uint32_t first = contains(run, node) ? node - run->first : run->n - 1;

    if (n_messages == 0)
        return CCS_NO_LANE;
    CcsBox box = {.buffer = CCS_BUFFER_OUTPUT,
                  .base = run->first_chunk + slot * run->slot_chunks,
                  .scale = run->n_local * builder->block_chunks,
                  .first = first,
                  .step = -1,
                  .modulus = run->n,
                  .n1 = run->slot_chunks,
                  .stride1 = 1};
    CcsLane lane = {.source = member(builder, node, slot),
                    .peer = member(builder, next, slot),
                    .channel = builder->channel,
                    .phase = builder->is_reduced ? 1 : 0,
                    .n_messages = n_messages};
    if (builder->is_reduced) {
        lane.source = member(builder, next, slot);
        lane.peer = member(builder, node, slot);
        lane.n_reduced = n_messages;
        box.first = (first + run->n - (n_messages - 1)) % run->n;
        box.step = 1;
    }
    lane.from = lane.to = box;
    lane.path = ccs_schedule_path(builder->schedule, lane.source, lane.peer, builder->channel);
    return ccs_schedule_add_lane(builder->schedule, &lane);
}

/* What comes in from one side goes out to the other: of the all-gather a message later in the
 * node that begins with its own, of the reduce-scatter one later where the own one is left out. */
static void add_across_waits(const Builder *builder, guint u, uint32_t slot, uint32_t node)
{
    const Run *run = run_at(builder, u);
    CcsLaneId before =
        *across_of(builder, u, slot, (node + builder->n_nodes - 1) % builder->n_nodes);
    CcsLaneId after = *across_of(builder, u, slot, node);

    if (before == CCS_NO_LANE || after == CCS_NO_LANE)
        return;
    if (builder->is_reduced)
        ccs_schedule_wait(builder->schedule, before, after,
                          contains(run, (node + 1) % builder->n_nodes) ? 1 : 0);
    else
        ccs_schedule_wait(builder->schedule, after, before, contains(run, node) ? 1 : 0);
}

static void add_slot_rings(const Builder *builder, guint u, uint32_t slot)
{
    for (uint32_t node = 0; node < builder->n_nodes; node++)
        *across_of(builder, u, slot, node) =
            builder->n_nodes == 1 ? CCS_NO_LANE
                                  : add_across(builder, run_at(builder, u), slot, node);
    for (uint32_t node = 0; node < builder->n_nodes; node++)
        add_across_waits(builder, u, slot, node);
}

/* The ring inside @node for the blocks of a run. Returns: the lane of its first rank. */
static CcsLaneId add_inside(const Builder *builder, const Run *run, const CcsGroup *node)
{
    uint32_t n_chunks = builder->n_slots / node->n * run->slot_chunks; /* of one place */
    g_autofree CcsRank *ranks = g_new(CcsRank, node->n);

    for (uint32_t i = 0; i < node->n; i++)
        ranks[i] = node->first + i;
    return ccs_schedule_add_ring(
        builder->schedule, &(CcsRing){.ranks = ranks,
                                      .n_ranks = node->n,
                                      .channel = builder->channel,
                                      .phase = builder->is_reduced ? 0 : 1,
                                      .n_messages = node->n - 1,
                                      .n_reduced = builder->is_reduced ? node->n - 1 : 0,
                                      .first = builder->is_reduced ? node->n - 1 : 0,
                                      .block = {.buffer = CCS_BUFFER_OUTPUT,
                                                .base = run->first_chunk,
                                                .scale = n_chunks,
                                                .n1 = n_chunks,
                                                .stride1 = 1,
                                                .n2 = run->n,
                                                .stride2 = run->n_local * builder->block_chunks}});
}

/* The second level begins at a rank when the first is over there. */
static void join_levels(const Builder *builder, guint u, uint32_t node, CcsLaneId inside)
{
    uint32_t n_local = builder->nodes[node].n;
    uint32_t before = (node + builder->n_nodes - 1) % builder->n_nodes;

    for (uint32_t slot = 0; slot < builder->n_slots; slot++) {
        uint32_t place = slot / (builder->n_slots / n_local);
        CcsLaneId across = *across_of(builder, u, slot, before);
        if (across == CCS_NO_LANE)
            continue;
        if (builder->is_reduced)
            ccs_schedule_gate(builder->schedule, across, inside + (place + n_local - 1) % n_local);
        else
            ccs_schedule_gate(builder->schedule, inside + place, across);
    }
}

static void add_channel(const Builder *builder)
{
    for (guint u = 0; u < builder->runs->len; u++) {
        for (uint32_t slot = 0; slot < builder->n_slots; slot++)
            add_slot_rings(builder, u, slot);
        for (uint32_t node = 0; node < builder->n_nodes; node++) {
            if (builder->nodes[node].n > 1)
                join_levels(builder, u, node,
                            add_inside(builder, run_at(builder, u), &builder->nodes[node]));
        }
    }
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
    return b == 0 ? a : gcd(b, a % b);
}

/* Cuts the blocks into chunks such that every node's slots have whole ones. */
static void find_runs(Builder *builder)
{
    uint32_t common = 0;

    for (uint32_t node = 0; node < builder->n_nodes; node++)
        common = gcd(builder->nodes[node].n, common);
    builder->block_chunks = builder->n_slots / common;
    for (uint32_t node = 0; node < builder->n_nodes; node++) {
        const CcsGroup *group = &builder->nodes[node];
        Run *last = node == 0 ? NULL : &g_array_index(builder->runs, Run, builder->runs->len - 1);
        if (last != NULL && last->n_local == group->n) {
            last->n++;
            continue;
        }
        Run run = {.first = node,
                   .n = 1,
                   .n_local = group->n,
                   .first_chunk = group->first * builder->block_chunks,
                   .slot_chunks = group->n / common};
        g_array_append_val(builder->runs, run);
    }
}

static bool check_size(const Builder *builder, GError **error)
{
    uint64_t n_lanes = (uint64_t)builder->n_slots * builder->n_nodes * builder->runs->len;
    uint64_t n_chunks = (uint64_t)builder->block_chunks * ccs_schedule_n_ranks(builder->schedule);

    if (n_lanes <= MAX_LANES && n_chunks <= INT32_MAX)
        return true;
    g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT,
                "the hierarchical algorithm would have to cut the blocks into too many parts: the"
                " nodes have too many different numbers of ranks");
    return false;
}

bool ccs_schedule_add_block_levels(CcsSchedule *schedule, bool is_reduced, GError **error)
{
    g_autofree CcsGroup *nodes = ccs_schedule_node_groups(schedule);
    g_autoptr(GArray) runs = g_array_new(false, false, sizeof(Run));
    Builder builder = {.schedule = schedule,
                       .is_reduced = is_reduced,
                       .nodes = nodes,
                       .n_nodes = ccs_communicator_n_nodes(ccs_schedule_communicator(schedule)),
                       .runs = runs};

    if (!ccs_groups_n_slots(nodes, builder.n_nodes, &builder.n_slots, error))
        return false;
    find_runs(&builder);
    if (!check_size(&builder, error))
        return false;
    g_autofree CcsLaneId *across =
        g_new(CcsLaneId, (size_t)runs->len * builder.n_slots * builder.n_nodes);
    builder.across = across;
    ccs_schedule_set_n_chunks(schedule, builder.block_chunks * ccs_schedule_n_ranks(schedule));
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        builder.channel = channel;
        add_channel(&builder);
    }
    return true;
}
