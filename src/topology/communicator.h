/* communicator.h - a job's ranks and where they sit
 *
 * Ranks 0 ... n - 1 are GPUs, counted node by node. Nodes are counted here as the
 * communicator sees them, 0 ... N - 1, so that a node without ranks has no number. A GPU
 * that belongs to no node is a node of its own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "topology/topology.h"

typedef uint32_t CcsRank;

#define CCS_NO_RANK UINT32_MAX

typedef struct CcsCommunicator CcsCommunicator;

/* ccs_communicator_new:
 * The first @ranks_per_node GPUs of each node (0: all of them), and of these the first
 * @n_ranks (0: all). Keeps @topology, which must be sealed and outlive the communicator.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_INPUT if there are fewer GPUs. */
CcsCommunicator *ccs_communicator_new(const CcsTopology *topology, uint32_t n_ranks,
                                      uint32_t ranks_per_node, GError **error);
void ccs_communicator_free(CcsCommunicator *communicator);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsCommunicator, ccs_communicator_free)

const CcsTopology *ccs_communicator_topology(const CcsCommunicator *communicator);
uint32_t ccs_communicator_n_ranks(const CcsCommunicator *communicator);
uint32_t ccs_communicator_n_nodes(const CcsCommunicator *communicator);
CcsVertexId ccs_communicator_gpu(const CcsCommunicator *communicator, CcsRank rank);
const CcsVertexId *ccs_communicator_gpus(const CcsCommunicator *communicator);

/* The node of a rank, and the rank's place among the ranks of that node. */
uint32_t ccs_communicator_node(const CcsCommunicator *communicator, CcsRank rank);
uint32_t ccs_communicator_local(const CcsCommunicator *communicator, CcsRank rank);

/* The ranks of a node follow one another: the first of them, and how many there are. */
CcsRank ccs_communicator_first(const CcsCommunicator *communicator, uint32_t node);
uint32_t ccs_communicator_n_local(const CcsCommunicator *communicator, uint32_t node);

/* Where a channel enters and leaves a node: a NIC, and a rank whose GPU it serves. */
typedef struct {
    CcsVertexId nic; /* CCS_NO_VERTEX if no rank of the node has a NIC */
    CcsRank rank;
} CcsRail;

/* ccs_communicator_rail:
 * Channel c uses the c-th of the node's NICs that serve a rank, modulo their number, and
 * takes turns among the ranks that this NIC serves. With one NIC per GPU that is the GPU
 * c modulo the local ranks. */
CcsRail ccs_communicator_rail(const CcsCommunicator *communicator, uint32_t node, uint32_t channel);

/* The largest number of such NICs in any node. */
uint32_t ccs_communicator_n_rails(const CcsCommunicator *communicator);
