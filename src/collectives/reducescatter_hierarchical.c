/* reducescatter_hierarchical.c - blocks are summed round each node, then round the nodes by rail
 *
 * See blocks.h: the all-gather backwards. What crosses between nodes has been summed inside
 * the node before. */
#include "collectives/algorithm.h"
#include "collectives/blocks.h"
#include "collectives/ring_terms.h"

static bool build(CcsSchedule *schedule, GError **error)
{
    (void)error;
    ccs_schedule_add_phase(schedule, "reduce-scatter in the node");
    ccs_schedule_add_phase(schedule, "reduce-scatter across nodes");
    ccs_schedule_add_block_levels(schedule, true);
    return true;
}

const CcsAlgorithm ccs_reducescatter_hierarchical = {
    .collective = CCS_REDUCESCATTER,
    .name = "hierarchical",
    .summary = "blocks are summed round each node, then round the nodes by rail",
    .idea = "Inside each node the blocks go round being summed, until every GPU has the node's sum "
            "for the GPUs of its own place in all nodes. These then finish their blocks round a "
            "ring over the nodes.",
    .when = "On nodes with fast NVLink and a NIC for each GPU: N + g - 2 messages in place of "
            "n - 1.",
    .formula = "(n-1) (a + o) + (n-1)/n (S/B + S/G)",
    .assumption = "One rank per node, or one node: then it is a ring. With g ranks on each of N "
                  "nodes it is g-1 steps of S/g on NVLink and N-1 of S/n across.",
    .terms = ccs_ring_terms_adding,
    .build = build,
};
