/* blocks.h - all-gather across the nodes, then inside each; or the reduce-scatter that goes back
 *
 * On N nodes of g ranks, the ranks of equal place in all nodes (a rail) pass their blocks round
 * a ring over the nodes, each by its own NIC. Then each rank has N blocks, and these go round
 * the ring inside its node.
 *
 * Nodes of unequal size: the blocks of each node, side by side, are cut into G slots, G being
 * the least common multiple of the sizes. In a node of g ranks, place l has G/g slots that
 * follow one another, from its own node (they are its block) and from all others; the ring of
 * a slot passes the rank that has it in each node. A run is a number of nodes of equal size
 * that follow one another; there is a lane for the blocks of each run, since messages of one
 * lane have one size. */
#pragma once

#include <stdbool.h>

#include "collectives/schedule.h"

/* ccs_schedule_add_block_levels:
 * The all-gather; if @is_reduced, the reduce-scatter: inside the nodes first.
 *
 * Returns: false with CCS_ERROR_INPUT if the blocks cannot be cut so. */
bool ccs_schedule_add_block_levels(CcsSchedule *schedule, bool is_reduced, GError **error);
