/* contract.h - what a collective promises: the data before it and the data after it
 *
 * A chunk's data are described by the chunk of the buffer that they come from and by the set
 * of ranks whose contributions have been added up in it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collectives/schedule.h"

/* ccs_contract_holds_at_start:
 * Whether @rank holds its own contribution to a chunk in @buffer before the collective
 * starts, by the schedule's placing. */
bool ccs_contract_holds_at_start(const CcsSchedule *schedule, CcsBuffer buffer, CcsRank rank,
                                 uint32_t channel, uint32_t chunk);

/* What a chunk of the output must hold in the end. */
typedef struct {
    uint32_t origin; /* the chunk that the data come from */
    CcsRank only;    /* the one rank they come from; CCS_NO_RANK for the sum over all */
} CcsPromise;

/* Returns: false if the collective promises nothing about this chunk at @rank. */
bool ccs_contract_promises(const CcsSchedule *schedule, CcsRank rank, uint32_t channel,
                           uint32_t chunk, CcsPromise *ret_promise);

/* Whether a contribution may be added twice: a barrier only spreads word. */
bool ccs_contract_allows_repeats(CcsCollective collective);
