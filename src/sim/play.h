/* play.h - plays all messages of a schedule on a network model, event by event
 *
 * A message occupies its lane for the transport's message cost and then while it is being
 * injected; then it travels for the latency of its path while the next one may start. At
 * the receiver it is reduced, one message of a lane after the other. */
#pragma once

#include "sim/paths.h"
#include "sim/reduction.h"
#include "sim/sim.h"

/* What is played. All of it is kept, not copied, but for the observer. */
typedef struct {
    const CcsSchedule *schedule;
    const CcsTransport *transport;
    const CcsNetworkModel *model;
    CcsPaths *paths;
    const CcsReduction *reduction; /* what the lanes stand for; NULL: themselves */
    const CcsObserver *observer;   /* may be NULL */
} CcsPlayed;

typedef struct CcsPlay CcsPlay;

CcsPlay *ccs_play_new(const CcsPlayed *played);
void ccs_play_free(CcsPlay *play);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsPlay, ccs_play_free)

/* ccs_play_shuffle: see ccs_simulation_shuffle(). */
void ccs_play_shuffle(CcsPlay *play, uint32_t seed);

/* ccs_play_run:
 * Plays the collective on @size bytes, from the beginning. With a reduction, the totals are those
 * of the first rank and link of each class. Nothing is said of the engine.
 *
 * Returns: false as ccs_simulation_run() does. */
bool ccs_play_run(CcsPlay *play, CcsBytes size, CcsOutcome *ret_outcome, GError **error);
