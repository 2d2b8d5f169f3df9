/* binomial.h - the edges of a binomial tree
 *
 * Positions are counted from the root, which is 0. In each round the distance d halves:
 * every position that is a multiple of 2 d is joined to the one d further on, if there is
 * one. With six ranks:
 *
 *     0 - 4;   0 - 2;   0 - 1, 2 - 3, 4 - 5
 *
 * A position p hangs under p without its lowest bit, and the positions under it follow it,
 * so that the blocks of a subtree lie side by side. */
#pragma once

#include <glib.h>

#include "collectives/schedule.h"

typedef struct {
    uint32_t upper;
    uint32_t lower;
    uint32_t n_below; /* positions of the subtree of lower: lower ... lower + n_below - 1 */
} CcsBinomialEdge;

/* ccs_binomial_edges:
 * All n - 1 of them in the order of rounds, the long distances first, so that few messages
 * cross between nodes.
 *
 * Returns: (transfer full) (element-type CcsBinomialEdge). */
GArray *ccs_binomial_edges(uint32_t n_ranks);

/* The number of rounds: log2 n, rounded up. */
uint32_t ccs_binomial_rounds(uint32_t n_ranks);

/* ccs_binomial_hops:
 * How many edges lie one behind the other at most on a way from the root that takes as many
 * rounds as there are: log2 n, rounded down. */
uint32_t ccs_binomial_hops(uint32_t n_ranks);

/* ccs_schedule_add_scatter:
 * Lanes that hand the blocks of each subtree down the tree in one message; position i is
 * rank @order[i], and its block is chunk i. The root sends them from its output; everywhere
 * else they arrive in @buffer. @ret_last has, by position, the lane that brings the blocks, and
 * the one that sends last; CCS_NO_LANE where there is none. */
void ccs_schedule_add_scatter(CcsSchedule *schedule, uint32_t channel, uint32_t phase,
                              const CcsRank *order, CcsBuffer buffer, CcsLaneId *ret_inbound,
                              CcsLaneId *ret_last);
