/* allreduce_tree.c - chunks climb a binary tree being summed, and come down again
 *
 * One tree: half of the ranks are leaves, and a rank with two children sends the buffer three
 * times. allreduce_double_tree.c mends that. */
#include "collectives/algorithm.h"
#include "collectives/order.h"
#include "collectives/tree.h"

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t up = ccs_schedule_add_phase(schedule, "reduce up the tree");
    uint32_t down = ccs_schedule_add_phase(schedule, "broadcast down the tree");

    (void)error;
    ccs_schedule_set_n_chunks(schedule, ccs_schedule_pipeline(schedule));
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        g_autofree CcsRank *parents = ccs_tree_parents(schedule, channel);
        ccs_schedule_add_tree(schedule, &(CcsTree){.parents = parents,
                                                   .channel = channel,
                                                   .up = up,
                                                   .down = down,
                                                   .n_chunks = ccs_schedule_pipeline(schedule)});
    }
    return true;
}

const CcsAlgorithm ccs_allreduce_tree = {
    .collective = CCS_ALLREDUCE,
    .name = "tree",
    .summary = "pipelined up and down a binary tree",
    .idea = "Chunks climb a binary tree, and every rank adds its own and those of its children. "
            "The top sends each finished chunk back down the same way.",
    .when = "For small buffers on many ranks: about 2 log2 n messages one after the other.",
    .assumption = "No closed form: two children share the port of their parent. A rank with "
                  "children sends the buffer three times, so that many chunks tend to 3 S/B.",
    .is_pipelined = true,
    .build = build,
};
