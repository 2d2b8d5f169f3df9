/* pat.h - parallel aggregated trees: a binomial tree for each block, all in step
 *
 * The block of rank r is spread by a binomial tree over r, r + 1, ..., counted round: in the
 * round of distance d those that have it send it d further on, the long distances first
 * (binomial.h). The trees of all ranks are the same but for where they begin, so in each
 * round a rank has one message to send, with a block of every (2 d)-th tree. The far
 * messages have one block, and only the near ones grow. (NCCL's PAT, arXiv 2506.20252, with
 * staging buffers that hold all blocks of a message.) */
#pragma once

#include "collectives/algorithm.h"

/* ccs_schedule_add_pat: all rounds; if @is_reduced, backwards, from all ranks to the owner. */
void ccs_schedule_add_pat(CcsSchedule *schedule, bool is_reduced);
