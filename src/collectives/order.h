/* order.h - the orders in which rings, chains and trees pass the ranks
 *
 * All keep the ranks of a node together and enter each node at the rank that owns the
 * channel's rail, so that a pattern crosses between nodes only by that rail. */
#pragma once

#include <glib.h>

#include "collectives/schedule.h"

/* ccs_ring_order:
 * Node by node; in each node from the owner of the rail upwards, round to the one below it.
 *
 * Returns: (transfer full): the ranks, as many as the communicator has. */
CcsRank *ccs_ring_order(const CcsSchedule *schedule, uint32_t channel);

/* ccs_chain_order:
 * The same, but it begins with the node of the schedule's root, and there with the root. */
CcsRank *ccs_chain_order(const CcsSchedule *schedule, uint32_t channel);

/* ccs_tree_parents:
 * A binary heap over the nodes, joining the owners of the rail, and in each node a binary
 * heap over its ranks in ring order. On one node, or with one rank per node, that is the
 * heap in which position i hangs under position (i - 1) / 2.
 *
 * Returns: (transfer full): the parent of each rank; CCS_NO_RANK for the top. */
CcsRank *ccs_tree_parents(const CcsSchedule *schedule, uint32_t channel);

/* ccs_double_tree_parents:
 * One of two trees (@tree is 0 or 1) over the nodes, joining the owners of the rail, and in
 * each node a binary heap over its ranks, whose order the second tree turns round. Over the
 * nodes they are NCCL's (src/graph/trees.cc): the lowest set bit of a node's number is its
 * height in the first tree; the second is its mirror image, or is shifted by one if the number
 * of nodes is odd, so that a node with two children in one tree is a leaf of the other. On one
 * node the ranks take the place of nodes.
 *
 * Returns: (transfer full): the parent of each rank; CCS_NO_RANK for the top. */
CcsRank *ccs_double_tree_parents(const CcsSchedule *schedule, uint32_t channel, uint32_t tree);

/* A ring of lanes over some ranks: the lane of position i sends to position i + 1, and its
 * message k waits for message k - 1 from position i - 1. */
typedef struct {
    const CcsRank *ranks;
    uint32_t n_ranks; /* at least 2 */
    uint32_t channel;
    uint32_t phase;
    uint32_t n_messages;
    uint32_t n_reduced;
    uint32_t first;  /* message k of position i carries block (i + first - k) mod n_ranks */
    CcsBox block;    /* the chunks of block 0, and `scale` from one block to the next */
    bool is_on_rail; /* between nodes by the rail of the channel, not by the rank's own NIC */
} CcsRing;

/* Returns: the lane of position 0; those of the others follow it. */
CcsLaneId ccs_schedule_add_ring(CcsSchedule *schedule, const CcsRing *ring);
