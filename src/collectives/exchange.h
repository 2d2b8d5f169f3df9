/* exchange.h - the plain ways in which every rank brings every other one its block
 *
 * For the all-to-all collectives: chunk r of a rank's input goes to rank r, and ends as the
 * chunk of the sender's number in its output. The block that a rank keeps is copied. */
#pragma once

#include <stdbool.h>

#include "collectives/algorithm.h"

/* ccs_schedule_add_rounds:
 * One lane per rank: message k goes to the k-th peer by the rule of @kind, a shift or an XOR
 * (which needs a power of two). If @is_waiting, a rank begins a round when it has sent and
 * received in the round before; else it only waits for its own port. */
void ccs_schedule_add_rounds(CcsSchedule *schedule, CcsPeerKind kind, bool is_waiting);

/* ccs_schedule_add_pairs:
 * A lane like @lane with one message for every pair of ranks on every channel, all at once.
 *
 * Returns: false with CCS_ERROR_INPUT where these would be too many to write down. */
bool ccs_schedule_add_pairs(CcsSchedule *schedule, const CcsLane *lane, GError **error);

/* ccs_schedule_add_all_pairs: one lane per pair of ranks, all at once. CCS_ERROR_INPUT where
 * these would be too many to write down. */
bool ccs_schedule_add_all_pairs(CcsSchedule *schedule, GError **error);

/* The copies that ranks make of the blocks which they keep. */
void ccs_schedule_add_own_blocks(CcsSchedule *schedule, uint32_t channel, uint32_t phase);

/* Terms of the above on a flat switch, where all blocks are equal. */
bool ccs_terms_of_rounds(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms);
bool ccs_terms_of_all_pairs(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms);
