/* blocks.h - all-gather across the nodes, then inside each; or the reduce-scatter that goes back
 *
 * On N nodes of g ranks, the ranks of equal place in all nodes (a rail) pass their blocks round
 * a ring over the nodes, each by its own NIC. Then each rank has N blocks, and these go round
 * the ring inside its node.
 *
 * Nodes of unequal size: the block of place l goes by place l modulo g of every node. Messages
 * of one lane have one size, so there is a lane for the blocks of each run, that is a number of
 * nodes of equal size that follow one another; and inside a node one for as many blocks as
 * there are ranks, and one for those that are left over and do not begin at every rank. */
#pragma once

#include <stdbool.h>

#include "collectives/schedule.h"

/* ccs_schedule_add_block_levels: the all-gather; if @is_reduced, the reduce-scatter, inside the
 * nodes first. */
void ccs_schedule_add_block_levels(CcsSchedule *schedule, bool is_reduced);
