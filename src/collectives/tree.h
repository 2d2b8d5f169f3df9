/* tree.h - an allreduce in which chunks climb a tree being summed, and come down again
 *
 * Each chunk goes up as soon as all children have delivered theirs, and down as soon as the
 * top has all of it, so that with many chunks both directions are busy at once. */
#pragma once

#include "collectives/schedule.h"

typedef struct {
    const CcsRank *parents; /* by rank; CCS_NO_RANK for the top */
    uint32_t channel;
    uint32_t up; /* phases */
    uint32_t down;
    uint32_t first_chunk;
    uint32_t n_chunks;
} CcsTree;

void ccs_schedule_add_tree(CcsSchedule *schedule, const CcsTree *tree);
