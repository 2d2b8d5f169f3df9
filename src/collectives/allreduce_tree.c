/* allreduce_tree.c - chunks climb a binary tree being summed, and come down again
 *
 * Each chunk goes up as soon as both children have delivered theirs, and down as soon as the
 * top has all of it, so that with many chunks both directions are busy at once. */
#include "collectives/algorithm.h"
#include "collectives/order.h"

static CcsLane edge(const CcsSchedule *schedule, CcsRank source, CcsRank peer, uint32_t channel)
{
    uint32_t depth = ccs_schedule_pipeline(schedule);
    CcsBox box = {.buffer = CCS_BUFFER_OUTPUT, .scale = 1, .step = 1, .modulus = depth};

    return (CcsLane){.source = source,
                     .peer = peer,
                     .channel = channel,
                     .n_messages = depth,
                     .from = box,
                     .to = box,
                     .path = ccs_schedule_rail_path(schedule, source, peer, channel)};
}

/* Adds the lanes between each rank and its parent: up[r] and down[r]. */
static void add_lanes(CcsSchedule *schedule, uint32_t channel, const CcsRank *parents,
                      CcsLaneId *up, CcsLaneId *down)
{
    for (CcsRank rank = 0; rank < ccs_schedule_n_ranks(schedule); rank++) {
        if (parents[rank] == CCS_NO_RANK)
            continue;
        CcsLane lane = edge(schedule, rank, parents[rank], channel);
        lane.phase = 0;
        lane.n_reduced = lane.n_messages;
        up[rank] = ccs_schedule_add_lane(schedule, &lane);
        lane = edge(schedule, parents[rank], rank, channel);
        lane.phase = 1;
        down[rank] = ccs_schedule_add_lane(schedule, &lane);
    }
}

/* What a rank's parent passes on next waits for what the rank has delivered: upwards if the
 * parent has a parent, else it turns round to every child of the top. */
static void add_waits(CcsSchedule *schedule, const CcsRank *parents, const CcsLaneId *up,
                      const CcsLaneId *down)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);

    for (CcsRank rank = 0; rank < n; rank++) {
        CcsRank parent = parents[rank];
        if (parent == CCS_NO_RANK)
            continue;
        if (parents[parent] != CCS_NO_RANK) {
            ccs_schedule_wait(schedule, up[parent], up[rank], 0);
            ccs_schedule_wait(schedule, down[rank], down[parent], 0);
            continue;
        }
        for (CcsRank sibling = 0; sibling < n; sibling++) {
            if (parents[sibling] == parent)
                ccs_schedule_wait(schedule, down[sibling], up[rank], 0);
        }
    }
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);

    (void)error;
    ccs_schedule_add_phase(schedule, "reduce up the tree");
    ccs_schedule_add_phase(schedule, "broadcast down the tree");
    ccs_schedule_set_n_chunks(schedule, ccs_schedule_pipeline(schedule));
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        g_autofree CcsRank *parents = ccs_tree_parents(schedule, channel);
        g_autofree CcsLaneId *up = g_new(CcsLaneId, n);
        g_autofree CcsLaneId *down = g_new(CcsLaneId, n);
        add_lanes(schedule, channel, parents, up, down);
        add_waits(schedule, parents, up, down);
    }
    return true;
}

const CcsAlgorithm ccs_allreduce_tree = {
    .collective = CCS_ALLREDUCE,
    .name = "tree",
    .summary = "pipelined up and down a binary tree",
    .idea =
        "Chunks climb a binary tree being summed, and come down again from its top as soon as they "
        "are complete. With many chunks both directions are busy at once.",
    .when = "For small and middle messages on many nodes: its latency grows with the logarithm of "
            "their number, the ring's with the number.",
    .assumption = "The children of a rank share its port, so there is no closed form.",
    .is_pipelined = true,
    .build = build,
};
