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

typedef struct {
    CcsCollective collective;
    const char *name;
    const char *summary;
    bool is_pipelined; /* --chunks sets its depth */
    bool (*build)(CcsSchedule *schedule, GError **error);
} CcsAlgorithm;

/* All algorithms, in the order of the names of their files; NULL ends the list. */
extern const CcsAlgorithm *const ccs_algorithms[];

/* ccs_algorithm_find: CCS_ERROR_USAGE with a hint if @collective has none of that name. */
const CcsAlgorithm *ccs_algorithm_find(CcsCollective collective, const char *name, GError **error);

/* ccs_algorithm_schedule:
 * Builds the schedule of @algorithm. @pipeline is the number of chunks of a pipelined
 * algorithm, and without effect on the others. With one rank there is nothing to send.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_INPUT where the algorithm cannot serve
 * this communicator. */
CcsSchedule *ccs_algorithm_schedule(const CcsAlgorithm *algorithm,
                                    const CcsCommunicator *communicator, CcsRank root,
                                    uint32_t n_channels, uint32_t pipeline, GError **error);
