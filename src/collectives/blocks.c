#include "collectives/blocks.h"

#include "collectives/two_level.h"

/* A ring of ranks in which blocks begin at some of them that follow one another. */
typedef struct {
    CcsRank *ranks; /* by position */
    uint32_t n;
    uint32_t first; /* where blocks begin: n_origins positions from here on */
    uint32_t n_origins;
    uint32_t phase;
    CcsBox block; /* the chunks of the first of them, and `scale` to the next */
} Ring;

/* Nodes of equal size that follow one another. */
typedef struct {
    uint32_t first;
    uint32_t n;
} Run;

typedef struct {
    CcsSchedule *schedule;
    bool is_reduced;
    const CcsGroup *nodes;
    uint32_t n_nodes;
    uint32_t channel;
    Ring ring;         /* the one to add next; room for all ranks */
    CcsLaneId *across; /* by place and node, of one run: the lane between node and next one */
    CcsLaneId *inside; /* by place, of one ring: the lane between it and the next one */
} Builder;

static bool begins_at(const Ring *ring, uint32_t position)
{
    return position >= ring->first && position < ring->first + ring->n_origins;
}

/* The lane that takes blocks from position @at to the next one: its own first if one begins
 * there, then that of the position before it and so on. The reduce-scatter's goes back from
 * the next one, in the opposite order. Returns: CCS_NO_LANE if there are none to take. */
static CcsLaneId add_lane(const Builder *builder, uint32_t at)
{
    const Ring *ring = &builder->ring;
    uint32_t next = (at + 1) % ring->n;
    uint32_t n_messages = ring->n_origins - (begins_at(ring, next) ? 1 : 0);
    uint32_t first = begins_at(ring, at) ? at - ring->first : ring->n_origins - 1;
    CcsBox box = ring->block;

    if (n_messages == 0)
        return CCS_NO_LANE;
    box.modulus = ring->n_origins;
    box.first =
        builder->is_reduced ? (first + ring->n_origins - (n_messages - 1)) % box.modulus : first;
    box.step = builder->is_reduced ? 1 : -1;
    CcsLane lane = {.source = ring->ranks[builder->is_reduced ? next : at],
                    .peer = ring->ranks[builder->is_reduced ? at : next],
                    .channel = builder->channel,
                    .phase = ring->phase,
                    .n_messages = n_messages,
                    .n_reduced = builder->is_reduced ? n_messages : 0,
                    .from = box,
                    .to = box};
    lane.path = ccs_schedule_path(builder->schedule, lane.source, lane.peer, builder->channel);
    return ccs_schedule_add_lane(builder->schedule, &lane);
}

/* What comes in from one side goes out to the other: of the all-gather a message later where
 * the own block goes first, of the reduce-scatter a message later where it is left out. */
static void add_wait(const Builder *builder, const CcsLaneId *lanes, uint32_t at)
{
    const Ring *ring = &builder->ring;
    CcsLaneId before = lanes[(at + ring->n - 1) % ring->n];
    CcsLaneId after = lanes[at];

    if (before == CCS_NO_LANE || after == CCS_NO_LANE)
        return;
    if (builder->is_reduced)
        ccs_schedule_wait(builder->schedule, before, after,
                          begins_at(ring, (at + 1) % ring->n) ? 1 : 0);
    else
        ccs_schedule_wait(builder->schedule, after, before, begins_at(ring, at) ? 1 : 0);
}

static void add_ring(const Builder *builder, CcsLaneId *ret_lanes)
{
    uint32_t n = builder->ring.n;

    for (uint32_t at = 0; at < n; at++)
        ret_lanes[at] = n == 1 ? CCS_NO_LANE : add_lane(builder, at);
    for (uint32_t at = 0; at < n; at++)
        add_wait(builder, ret_lanes, at);
}

/* Over the nodes, for the blocks of place @place of the nodes of @run. */
static void add_across(Builder *builder, const Run *run, uint32_t place)
{
    const CcsGroup *first = &builder->nodes[run->first];
    Ring *ring = &builder->ring;

    for (uint32_t node = 0; node < builder->n_nodes; node++)
        ring->ranks[node] = builder->nodes[node].first + place % builder->nodes[node].n;
    ring->n = builder->n_nodes;
    ring->first = run->first;
    ring->n_origins = run->n;
    ring->phase = builder->is_reduced ? 1 : 0;
    ring->block =
        (CcsBox){.buffer = CCS_BUFFER_OUTPUT, .base = first->first + place, .scale = first->n};
    add_ring(builder, &builder->across[place * builder->n_nodes]);
}

/* The second level begins at a rank when the first is over there: with the block of place
 * @place of the run, which in @node comes to place @local. */
static void join(const Builder *builder, uint32_t node, uint32_t place, uint32_t local)
{
    uint32_t before = (node + builder->n_nodes - 1) % builder->n_nodes;
    CcsLaneId across = builder->across[place * builder->n_nodes + before];
    CcsLaneId inside = builder->inside[local];

    if (across == CCS_NO_LANE || inside == CCS_NO_LANE)
        return;
    if (builder->is_reduced)
        ccs_schedule_gate(builder->schedule, across, inside);
    else
        ccs_schedule_gate(builder->schedule, inside, across);
}

/* Inside @node, for the blocks of @n_layers x @n_origins places of the nodes of @run, beginning
 * with place @first. */
static void add_inside(Builder *builder, const Run *run, uint32_t node, uint32_t first,
                       uint32_t n_layers, uint32_t n_origins)
{
    const CcsGroup *group = &builder->nodes[node];
    const CcsGroup *of_run = &builder->nodes[run->first];
    Ring *ring = &builder->ring;

    for (uint32_t i = 0; i < group->n; i++)
        ring->ranks[i] = group->first + i;
    ring->n = group->n;
    ring->first = 0;
    ring->n_origins = n_origins;
    ring->phase = builder->is_reduced ? 0 : 1;
    ring->block = (CcsBox){.buffer = CCS_BUFFER_OUTPUT,
                           .base = of_run->first + first,
                           .scale = 1,
                           .n1 = n_layers,
                           .stride1 = group->n,
                           .n2 = run->n,
                           .stride2 = of_run->n};
    add_ring(builder, builder->inside);
    for (uint32_t i = 0; i < n_layers * n_origins; i++)
        join(builder, node, first + i, i % n_origins);
}

static void add_run(Builder *builder, const Run *run)
{
    uint32_t n_places = builder->nodes[run->first].n;

    for (uint32_t place = 0; place < n_places; place++)
        add_across(builder, run, place);
    for (uint32_t node = 0; node < builder->n_nodes; node++) {
        uint32_t n_local = builder->nodes[node].n;
        uint32_t n_layers = n_places / n_local;
        uint32_t n_left = n_places % n_local;
        if (n_layers > 0)
            add_inside(builder, run, node, 0, n_layers, n_local);
        if (n_left > 0)
            add_inside(builder, run, node, n_layers * n_local, 1, n_left);
    }
}

static void add_channel(Builder *builder)
{
    Run run = {0, 0};

    for (uint32_t node = 0; node < builder->n_nodes; node++) {
        run.n++;
        if (node + 1 < builder->n_nodes && builder->nodes[node + 1].n == builder->nodes[node].n)
            continue;
        add_run(builder, &run);
        run = (Run){node + 1, 0};
    }
}

void ccs_schedule_add_block_levels(CcsSchedule *schedule, bool is_reduced)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    uint32_t n_nodes = ccs_communicator_n_nodes(ccs_schedule_communicator(schedule));
    g_autofree CcsGroup *nodes = ccs_schedule_node_groups(schedule);
    g_autofree CcsRank *ranks = g_new(CcsRank, n);
    g_autofree CcsLaneId *inside = g_new(CcsLaneId, n);
    uint32_t most_local = 0;
    for (uint32_t node = 0; node < n_nodes; node++)
        most_local = MAX(most_local, nodes[node].n);
    g_autofree CcsLaneId *across = g_new(CcsLaneId, (size_t)most_local * n_nodes);
    Builder builder = {.schedule = schedule,
                       .is_reduced = is_reduced,
                       .nodes = nodes,
                       .n_nodes = n_nodes,
                       .ring = {.ranks = ranks},
                       .across = across,
                       .inside = inside};

    ccs_schedule_set_n_chunks(schedule, n);
    for (; builder.channel < ccs_schedule_n_channels(schedule); builder.channel++)
        add_channel(&builder);
}
