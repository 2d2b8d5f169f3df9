/* allreduce_double_tree.c - two trees at once; who has children in one is a leaf of the other
 *
 * Half of every channel goes up and down the first tree, half the second (order.h). So a rank
 * sends half the buffer up and twice down where it is interior, half of it up where it is a
 * leaf: 2 S at most, and S on two ranks (Sanders, Speck and Traff 2009). */
#include "collectives/algorithm.h"
#include "collectives/order.h"
#include "collectives/tree.h"

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t depth = ccs_schedule_pipeline(schedule);

    (void)error;
    ccs_schedule_add_phase(schedule, "up the first tree");
    ccs_schedule_add_phase(schedule, "down the first tree");
    ccs_schedule_add_phase(schedule, "up the second tree");
    ccs_schedule_add_phase(schedule, "down the second tree");
    ccs_schedule_set_n_chunks(schedule, 2 * depth);
    for (uint32_t i = 0; i < 2 * ccs_schedule_n_channels(schedule); i++) {
        uint32_t tree = i % 2;
        g_autofree CcsRank *parents = ccs_double_tree_parents(schedule, i / 2, tree);
        ccs_schedule_add_tree(schedule, &(CcsTree){.parents = parents,
                                                   .channel = i / 2,
                                                   .up = 2 * tree,
                                                   .down = 2 * tree + 1,
                                                   .first_chunk = tree * depth,
                                                   .n_chunks = depth});
    }
    return true;
}

const CcsAlgorithm ccs_allreduce_double_tree = {
    .collective = CCS_ALLREDUCE,
    .name = "double_tree",
    .summary = "half up and down one binary tree, half another, leaves of one inside the other",
    .idea = "One half of the buffer climbs a binary tree being summed and comes down again, the "
            "other half does so on a second tree. Ranks that have children in one tree are leaves "
            "of the other, so that all ports are busy.",
    .when = "For all but the largest buffers on many nodes; on two or three nodes also for those, "
            "since their NICs carry less than in a ring.",
    .assumption = "No closed form: children share the port of their parent. K chunks go through "
                  "each tree; with many the time tends to S/B on 2 ranks, 1.5 S/B on 3, 2 S/B on "
                  "more (trees as in NCCL, src/graph/trees.cc).",
    .is_pipelined = true,
    .build = build,
};
