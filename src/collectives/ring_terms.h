/* ring_terms.h - the formulas of rings, which are also those of hierarchies with a rank a node */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collectives/algorithm.h"

/* Each is a CcsAlgorithm.terms: one time round that copies, one that adds, and both of them. */
bool ccs_ring_terms_copying(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms);
bool ccs_ring_terms_adding(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms);
bool ccs_ring_terms_both(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms);
