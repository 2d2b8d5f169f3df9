/* single.h - lanes that carry one message, for algorithms whose steps differ too much for a rule */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collectives/schedule.h"

typedef struct {
    CcsRank source;
    CcsRank peer; /* the source itself: a local copy or sum */
    uint32_t channel;
    uint32_t phase;
    bool is_reduced;
    CcsBox from;
    CcsBox to;
} CcsSingle;

CcsLaneId ccs_schedule_add_single(CcsSchedule *schedule, const CcsSingle *single);

/* ccs_schedule_gate_on: like ccs_schedule_gate(), and nothing where @before is CCS_NO_LANE. */
void ccs_schedule_gate_on(CcsSchedule *schedule, CcsLaneId after, CcsLaneId before);

/* The largest power of two that is not above @n. */
uint32_t ccs_power_of_two(uint32_t n);
uint32_t ccs_log_of_two(uint32_t power);

/* The ranks of algorithms that pair off a power of two of them. Of 2 (n - p) first ranks the
 * even ones hand their part to the odd ones behind them, which take part for both. */
typedef struct {
    uint32_t n_ranks;
    uint32_t n_core;   /* p */
    uint32_t n_folded; /* n - p */
} CcsFold;

CcsFold ccs_fold(uint32_t n_ranks);
CcsRank ccs_fold_rank(const CcsFold *fold, uint32_t core); /* 0 ... p - 1 to ranks */

/* Rank that hands its part to core rank @core; CCS_NO_RANK where there is none. */
CcsRank ccs_fold_partner(const CcsFold *fold, uint32_t core);
