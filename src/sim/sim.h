/* sim.h - plays a schedule on a network model, and says what happened when
 *
 * The simulation is made once for a schedule and then run for as many sizes as wanted; a run
 * begins from nothing and gives the same outcome every time. Where the model allows it and there is
 * much to play, lanes that are alike (sim/symmetry.h) are played as one; the outcome is the same.
 *
 * A message occupies its lane for the transport's message cost and then while it is being
 * injected; then it travels for the latency of its path while the next one may start, unless
 * the transport is synchronous. At the receiver it is reduced, one message of a lane after the
 * other.
 *
 * What every run checks: all messages arrive; each lane moves the bytes that the schedule
 * gives it; the bytes on all links are those of all messages times their links; no link
 * carries more than its bandwidth; the critical path adds up to the time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "collectives/schedule.h"
#include "collectives/transport.h"
#include "models/network_model.h"
#include "sim/result.h"

/* Is told of each message when it leaves its source, in the order of leaving, and of each piece
 * of local work when it ends. Functions may be NULL. */
typedef struct {
    bool (*flow)(void *data, const CcsFlow *flow, GError **error);
    void *data;
    bool (*local)(void *data, const CcsFlow *work, GError **error); /* from started to arrived */
    void (*progress)(void *data, uint64_t n_more); /* now and then: so many more have left */
    bool takes_classes; /* may be told once of all messages of lanes that are alike */
} CcsObserver;

/* What a run came to. The arrays belong to the simulation and last until its next run. */
typedef struct {
    CcsTime time;
    uint64_t n_messages;          /* without local ones */
    const CcsRankTotal *ranks;    /* by rank */
    const CcsLinkUse *links;      /* by link of the topology */
    const CcsTime *critical_path; /* by cause, then link class: cause * n_classes + class; NULL
                                     where it is not known */
    uint32_t n_classes;
    const char *engine;        /* that computed it: "incremental", "quotient", "sweep", ... */
    const char *engine_reason; /* why: a sentence without its full stop */
} CcsOutcome;

typedef struct CcsSimulation CcsSimulation;

/* ccs_simulation_new:
 * Keeps the schedule, the transport and the model. @observer may be NULL.
 *
 * Returns: NULL with CCS_ERROR_INPUT if some rank cannot reach its peer. */
CcsSimulation *ccs_simulation_new(const CcsSchedule *schedule, const CcsTransport *transport,
                                  const CcsNetworkModel *model, const CcsObserver *observer,
                                  GError **error);
void ccs_simulation_free(CcsSimulation *simulation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsSimulation, ccs_simulation_free)

/* ccs_simulation_shuffle:
 * For tests: in later runs, what happens at one moment happens in an order that only chance and
 * @seed decide. Messages take the same times; the observer is told in that order, and the critical
 * path may be another of equal ones. */
void ccs_simulation_shuffle(CcsSimulation *simulation, uint32_t seed);

/* ccs_simulation_run:
 * Plays the collective on @size bytes.
 *
 * Returns: false with CCS_ERROR_CHECK if an invariant is broken, with CCS_ERROR_INPUT if time
 * runs over, with CCS_ERROR_INTERRUPTED, or with the observer's error. */
bool ccs_simulation_run(CcsSimulation *simulation, CcsBytes size, CcsOutcome *ret_outcome,
                        GError **error);
