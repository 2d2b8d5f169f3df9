/* allgather_hierarchical.c - blocks go round the nodes by rail, then round each node
 *
 * See blocks.h. Every block crosses into each node once, as in a ring, but all NICs of a node
 * are busy, and there are only N - 1 + g - 1 messages one after the other. */
#include "collectives/algorithm.h"
#include "collectives/blocks.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    double n_steps = n_ranks - 1.0;

    (void)n_chunks;
    *ret_terms = (CcsTerms){.latencies = n_steps, .costs = n_steps, .sizes = n_steps / n_ranks};
    return true;
}

static bool build(CcsSchedule *schedule, GError **error)
{
    ccs_schedule_add_phase(schedule, "all-gather across nodes");
    ccs_schedule_add_phase(schedule, "all-gather in the node");
    return ccs_schedule_add_block_levels(schedule, false, error);
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
    .terms = terms,
    .build = build,
};
