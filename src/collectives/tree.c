#include "collectives/tree.h"

static CcsLaneId add_edge(CcsSchedule *schedule, const CcsTree *tree, CcsRank source, CcsRank peer,
                          bool is_up)
{
    CcsBox box = {.buffer = CCS_BUFFER_OUTPUT,
                  .base = tree->first_chunk,
                  .scale = 1,
                  .step = 1,
                  .modulus = tree->n_chunks};

    return ccs_schedule_add_lane(schedule, &(CcsLane){.source = source,
                                                      .peer = peer,
                                                      .channel = tree->channel,
                                                      .phase = is_up ? tree->up : tree->down,
                                                      .n_messages = tree->n_chunks,
                                                      .n_reduced = is_up ? tree->n_chunks : 0,
                                                      .from = box,
                                                      .to = box,
                                                      .path = ccs_schedule_rail_path(
                                                          schedule, source, peer, tree->channel)});
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

void ccs_schedule_add_tree(CcsSchedule *schedule, const CcsTree *tree)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    g_autofree CcsLaneId *up = g_new(CcsLaneId, n);
    g_autofree CcsLaneId *down = g_new(CcsLaneId, n);

    for (CcsRank rank = 0; rank < n; rank++) {
        CcsRank parent = tree->parents[rank];
        if (parent == CCS_NO_RANK)
            continue;
        up[rank] = add_edge(schedule, tree, rank, parent, true);
        down[rank] = add_edge(schedule, tree, parent, rank, false);
    }
    add_waits(schedule, tree->parents, up, down);
}
