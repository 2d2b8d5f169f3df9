/* unrolled.h - the graph of all events of a small schedule, spelled out
 *
 * Each message starts, leaves and arrives: three events. Of any two it is known whether one
 * comes before the other in every order that the dependencies allow. Shares no code with the
 * verifier, so that the two can be held against each other. Memory grows with the square of
 * the number of messages. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "collectives/schedule.h"

typedef enum { CCS_STARTS, CCS_LEAVES, CCS_ARRIVES, CCS_N_EVENTS } CcsUnrolledEvent;

typedef struct CcsUnrolled CcsUnrolled;

/* ccs_unrolled_new: keeps @schedule. NULL if some messages wait for each other. */
CcsUnrolled *ccs_unrolled_new(const CcsSchedule *schedule);
void ccs_unrolled_free(CcsUnrolled *unrolled);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsUnrolled, ccs_unrolled_free)

/* Messages are counted over all lanes in order. */
uint32_t ccs_unrolled_n_messages(const CcsUnrolled *unrolled);

/* ccs_unrolled_is_before: whether event @a of message @m must come before event @b of message
 * @n. */
bool ccs_unrolled_is_before(const CcsUnrolled *unrolled, uint32_t m, CcsUnrolledEvent a, uint32_t n,
                            CcsUnrolledEvent b);

/* ccs_unrolled_does_same: whether both have the same messages: from the same cells to the same
 * cells with the same effect, in each lane. */
bool ccs_unrolled_does_same(const CcsUnrolled *a, const CcsUnrolled *b);

/* The following want that: whether both allow the same orders; whether @a allows only orders
 * that @b allows; whether any two events that touch a common cell, unless both read or both
 * add, come in one order, and in the same in @a as in @b. */
bool ccs_unrolled_allows_same(const CcsUnrolled *a, const CcsUnrolled *b);
bool ccs_unrolled_allows_less(const CcsUnrolled *a, const CcsUnrolled *b);
bool ccs_unrolled_agrees(const CcsUnrolled *a, const CcsUnrolled *b);

/* ccs_unrolled_spreads: for a barrier of up to 64 ranks: whether every rank ends with word of all,
 * however little the messages carry: each only what must have come to its source before. */
bool ccs_unrolled_spreads(const CcsUnrolled *unrolled);
