/* chains.h - where the time on the way to an event went
 *
 * A chain says for an event how much of the time before it passed for which cause, along the
 * messages that it had to wait for: the critical path, if it is the last event. Chains are
 * carried forward from event to event, so no history is kept. Events that have the same past
 * share a chain until time is added to it. */
#pragma once

#include <stdint.h>

#include <glib.h>

#include "base/units.h"
#include "sim/result.h"

typedef uint32_t CcsChainId;

#define CCS_NO_CHAIN UINT32_MAX

typedef struct CcsChains CcsChains;

/* ccs_chains_new: @n_classes link classes, at least 1. */
CcsChains *ccs_chains_new(uint32_t n_classes);
void ccs_chains_free(CcsChains *chains);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsChains, ccs_chains_free)

/* Forgets all chains. */
void ccs_chains_clear(CcsChains *chains);

CcsChainId ccs_chains_add(CcsChains *chains); /* one with no time in it */

/* Each holder of a chain drops it once. */
CcsChainId ccs_chains_share(CcsChains *chains, CcsChainId chain);
CcsChainId ccs_chains_copy(CcsChains *chains, CcsChainId chain);
void ccs_chains_drop(CcsChains *chains, CcsChainId chain);

/* ccs_chains_own: what a holder adds time to in the place of @chain, which it gives up: the same
 * one if nobody else holds it, else a copy. */
CcsChainId ccs_chains_own(CcsChains *chains, CcsChainId chain);

/* ccs_chains_spend: @link_class tells where, for bandwidth and latency; 0 for other causes. */
void ccs_chains_spend(CcsChains *chains, CcsChainId chain, CcsCause cause, uint32_t link_class,
                      CcsTime time);

/* ccs_chains_read: writes the times by cause, then link class, to @ret_times, which has room for
 * CCS_N_CAUSES times the number of classes. */
void ccs_chains_read(const CcsChains *chains, CcsChainId chain, CcsTime *ret_times);
CcsTime ccs_chains_total(const CcsChains *chains, CcsChainId chain);
