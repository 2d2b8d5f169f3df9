/* allgather_hierarchical.c - blocks go round the nodes by rail, then round each node
 *
 * See blocks.h. Every block crosses into each node once, as in a ring, but all NICs of a node
 * are busy, and there are only N - 1 + g - 1 messages one after the other. */
#include "collectives/algorithm.h"
#include "collectives/blocks.h"
#include "collectives/ring_terms.h"

static bool build(CcsSchedule *schedule, GError **error)
{
    (void)error;
    ccs_schedule_add_phase(schedule, "all-gather across nodes");
    ccs_schedule_add_phase(schedule, "all-gather in the node");
    ccs_schedule_add_block_levels(schedule, false);
    return true;
}

const CcsAlgorithm ccs_allgather_hierarchical = {
    .collective = CCS_ALLGATHER,
    .name = "hierarchical",
    .summary = "blocks go round the nodes by rail, then round each node",
    .idea = "GPUs of equal place in all nodes pass their blocks round a ring over the nodes. Then "
            "every GPU has one block of each node, and these go round inside the node.",
    .when = "On nodes with fast NVLink and a NIC for each GPU: N + g - 2 messages in place of "
            "n - 1.",
    .formula = "(n-1) (a + o) + (n-1)/n S/B",
    .assumption = "One rank per node, or one node: then it is a ring. With g ranks on each of N "
                  "nodes it is N-1 steps of S/n across and g-1 of S/g on NVLink.",
    .terms = ccs_ring_terms_copying,
    .build = build,
};
