/* traffic.h - what a user may say of who sends how much to whom: the distance of sendrecv, the
 * blocks of alltoallv */
#pragma once

#include <glib.h>

#include "collectives/collective.h"
#include "collectives/weights.h"

/* Returns: false with CCS_ERROR_USAGE if every rank would send to itself. */
bool ccs_traffic_check_distance(uint32_t distance, uint32_t n_ranks, GError **error);

/* ccs_traffic_weights:
 * Those of a skew (in millionths; 0: not given) or of a matrix file (NULL: not given), of which
 * one may be given; balanced ones without.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_USAGE, _INPUT or _IO. */
CcsWeights *ccs_traffic_weights(uint64_t skew, const char *matrix, uint32_t n_ranks,
                                GError **error);

/* ccs_traffic_note: says on stderr how much more than the mean the busiest rank receives; nothing
 * if @weights is NULL. */
void ccs_traffic_note(const char *where, const CcsWeights *weights);
