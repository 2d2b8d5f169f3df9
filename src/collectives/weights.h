/* weights.h - how much each rank of an alltoallv has for each other one
 *
 * A matrix of weights, one row per source, one column per target, without a unit: the largest
 * row is the size of the collective, as nccl-tests counts it for one rank, and everything else
 * is in proportion. Bytes are split exactly: each row's blocks add up to the row. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "base/units.h"
#include "topology/communicator.h"

typedef struct CcsWeights CcsWeights;

#define CCS_SKEW_ONE ((uint64_t)1000000)

/* ccs_weights_new_skewed:
 * Every rank sends alike: to rank 0 @skew (in millionths) times as much as goes to a rank on
 * average, and equally much to each of the others.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_USAGE if @skew is not from 1 to @n_ranks. */
CcsWeights *ccs_weights_new_skewed(uint32_t n_ranks, uint64_t skew, GError **error);

/* ccs_weights_read:
 * A line for each source and in it, with commas, a number for each target: not negative, with
 * up to 6 decimals, below 10^12. Empty lines, and what follows a #, do not count. Messages
 * call the text @label.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_INPUT. */
CcsWeights *ccs_weights_read(const char *label, const char *text, size_t n_bytes, uint32_t n_ranks,
                             GError **error);

/* ccs_weights_load: the same from a file. CCS_ERROR_IO if it cannot be read. */
CcsWeights *ccs_weights_load(const char *file, uint32_t n_ranks, GError **error);
void ccs_weights_free(CcsWeights *weights);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsWeights, ccs_weights_free)

/* ccs_weights_bytes: what @source has for @target when the largest row has @size bytes. */
CcsBytes ccs_weights_bytes(const CcsWeights *weights, CcsRank source, CcsRank target,
                           CcsBytes size);

/* ccs_weights_load_ratio:
 * What the busiest rank receives, its own block included, over what a rank receives on
 * average. @ret_busiest may be NULL. */
double ccs_weights_load_ratio(const CcsWeights *weights, CcsRank *ret_busiest);

/* ccs_weights_are_even: whether all blocks, those that stay where they are included, are of one
 * size. */
bool ccs_weights_are_even(const CcsWeights *weights);
