/* algorithm.h - the catalogue of algorithms
 *
 * An algorithm fills a schedule: it says who sends what to whom and what must have come
 * before. It never computes a time. Each is one file, <collective>_<name>.c, and one line
 * in collectives/meson.build, from which the table below is made. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "collectives/collective.h"
#include "collectives/schedule.h"

/* A time on one flat switch: ports of rate B in each direction, latency a from any rank to any
 * other, message cost o, reduction rate G, one channel:
 * T = latencies a + costs o + sizes S/B + reductions S/G. */
typedef struct {
    double latencies;
    double costs;
    double sizes;
    double reductions;
} CcsTerms;

typedef struct {
    CcsCollective collective;
    const char *name;
    const char *summary; /* one line */
    const char *idea;    /* how it works, in two sentences */
    const char *when;    /* when to choose it, in one */
    const char *formula; /* its time, in the letters above, n ranks and K chunks; NULL if there is
                            no closed form */
    const char *assumption; /* what the formula takes for granted, and its source */
    bool (*terms)(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms); /* the formula in
                               numbers, for at least 2 ranks; false where it does not hold */
    const char *holds_for; /* for which n and K it holds; NULL: for all */
    bool adds_in_passing; /* the formula of several chunks holds only where a chunk is added as fast
                             as it is sent */
    bool is_pipelined;    /* --chunks sets its depth */
    bool (*build)(CcsSchedule *schedule, GError **error);
} CcsAlgorithm;

/* All algorithms, in the order of the names of their files; NULL ends the list. */
extern const CcsAlgorithm *const ccs_algorithms[];

/* ccs_algorithm_find: CCS_ERROR_USAGE with a hint if @collective has none of that name. */
const CcsAlgorithm *ccs_algorithm_find(CcsCollective collective, const char *name, GError **error);

/* ccs_algorithm_fill:
 * Adds the lanes of @algorithm to @schedule, a new one of its collective, in which a distance
 * or weights may have been set. With one rank there is nothing to send.
 *
 * Returns: false with CCS_ERROR_INPUT where the algorithm cannot serve this communicator. */
bool ccs_algorithm_fill(const CcsAlgorithm *algorithm, CcsSchedule *schedule, GError **error);

/* ccs_algorithm_schedule:
 * A new schedule, filled. @pipeline is the number of chunks of a pipelined algorithm, and
 * without effect on the others.
 *
 * Returns: (transfer full), or NULL as above. */
CcsSchedule *ccs_algorithm_schedule(const CcsAlgorithm *algorithm,
                                    const CcsCommunicator *communicator, CcsRank root,
                                    uint32_t n_channels, uint32_t pipeline, GError **error);
