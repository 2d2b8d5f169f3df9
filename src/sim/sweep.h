/* sweep.h - message times from a recurrence, where no two flows ever compete
 *
 * If at every moment every link can carry the full rates of all lanes that are sending over it,
 * each as fast as the slowest link on its way allows, then each message takes the same time
 * whenever it is sent, and the times of all messages follow from those before:
 *
 *   start   = the latest of: the lane is free, its rank is ready, all that it waits for is done
 *   left    = start + message cost + bytes / rate        (then the lane is free)
 *   arrived = left + latency, and reduced
 *
 * (a recurrence in the maximum and the sum, as known from timed event graphs: Baccelli, Cohen,
 * Olsder and Quadrat 1992). No events are queued and no rates solved. Whether links can carry
 * that is found out afterwards, from the first start and the last end of each lane: as long as
 * they can, max-min fair rates are exactly these.
 *
 * Not known afterwards, since only sums are kept: where the time of the critical path went, and
 * for how long a link or a rank was busy where several of its lanes may have been at once. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "collectives/schedule.h"
#include "collectives/transport.h"
#include "sim/paths.h"
#include "sim/reduction.h"
#include "sim/result.h"

typedef struct {
    CcsTime time;
    uint64_t n_messages;
    CcsRankTotal *ranks; /* owned, by rank; sending may be CCS_TIME_UNKNOWN */
    CcsLinkUse *links;   /* owned, by link; busy may be CCS_TIME_UNKNOWN, peak is 0 then */
} CcsSweep;

/* What is swept over. */
typedef struct {
    const CcsSchedule *schedule;
    const CcsTransport *transport;
    CcsPaths *paths;
    const CcsReduction *reduction; /* what the lanes stand for; NULL: themselves */
    bool shares_links;             /* false for models in which flows never compete, so that
                                      nothing is to be found out */
} CcsSwept;

/* ccs_sweep_run:
 * For a collective of @size bytes. With a reduction, the totals are those of the first rank and
 * link of each class.
 *
 * Returns: (transfer full): NULL, with @ret_reason (transfer full) where some flows may compete, or
 * the form of the schedule does not allow it; with @error and no reason if it was interrupted. */
CcsSweep *ccs_sweep_run(const CcsSwept *swept, CcsBytes size, char **ret_reason, GError **error);
void ccs_sweep_free(CcsSweep *sweep);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsSweep, ccs_sweep_free)
