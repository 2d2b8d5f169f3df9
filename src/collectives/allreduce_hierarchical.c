/* allreduce_hierarchical.c - reduce-scatter in each node, allreduce across nodes, all-gather
 *
 * The two levels of two_level.h, with nodes as groups: between nodes each rank sends only
 * 2 (N - 1) / N of S / g, by its own NIC. */
#include "collectives/algorithm.h"
#include "collectives/ring_terms.h"
#include "collectives/two_level.h"

static bool build(CcsSchedule *schedule, GError **error)
{
    static const char *const phases[] = {"reduce-scatter in the node", "allreduce across nodes",
                                         "all-gather in the node"};
    g_autofree CcsGroup *nodes = ccs_schedule_node_groups(schedule);
    uint32_t n_nodes = ccs_communicator_n_nodes(ccs_schedule_communicator(schedule));

    return ccs_schedule_add_two_level(schedule, nodes, n_nodes, phases, error);
}

const CcsAlgorithm ccs_allreduce_hierarchical = {
    .collective = CCS_ALLREDUCE,
    .name = "hierarchical",
    .summary = "reduce-scatter in the node, allreduce across nodes by rail, all-gather in the node",
    .idea = "The GPUs of a node first split the sum over the node between them. Then GPUs of equal "
            "place in all nodes finish their part in a ring over the nodes, and at last every "
            "node puts its parts together.",
    .when = "For large buffers on nodes with fast NVLink and a NIC for each GPU: a ring over N "
            "nodes in place of n ranks.",
    .formula = "2(n-1) (a + o) + 2 (n-1)/n S/B + (n-1)/n S/G",
    .assumption = "One rank per node, or one node: then it is a ring. With g ranks on each of N "
                  "nodes it is 2(g-1) steps of S/g on NVLink and 2(N-1) of S/(g N) across.",
    .terms = ccs_ring_terms_both,
    .build = build,
};
