/* progress.h - how far each lane of a schedule has come, and what may start next
 *
 * Shared by everything that plays a schedule: the simulation, which adds time, and the
 * verifier, which adds data. Counters only grow, so the order in which simultaneous events
 * are told does not matter. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "collectives/schedule.h"

typedef struct {
    uint32_t n_started;
    uint32_t n_sent;
    uint32_t n_arrived;
    uint32_t n_messages;
} CcsLaneProgress;

typedef struct CcsProgress CcsProgress;

/* ccs_progress_new: keeps @schedule, which must outlive it. */
CcsProgress *ccs_progress_new(const CcsSchedule *schedule);
void ccs_progress_free(CcsProgress *progress);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsProgress, ccs_progress_free)

/* Back to the beginning. */
void ccs_progress_reset(CcsProgress *progress);

/* Whether the lane is free, has a message left, and all that this one waits for has come. */
bool ccs_progress_may_start(const CcsProgress *progress, CcsLaneId lane);

/* Takes the lane's next message. Returns: its index. */
uint32_t ccs_progress_start(CcsProgress *progress, CcsLaneId lane);

/* The message under way has left: the lane is free again. */
void ccs_progress_sent(CcsProgress *progress, CcsLaneId lane);
void ccs_progress_arrived(CcsProgress *progress, CcsLaneId lane, uint32_t message);

const CcsLaneProgress *ccs_progress_of(const CcsProgress *progress, CcsLaneId lane);

/* The dependencies of @lane: their indices in the schedule. */
const uint32_t *ccs_progress_dependencies(const CcsProgress *progress, CcsLaneId lane,
                                          uint32_t *ret_n);

/* The lanes that may be able to start because of @event of message @message of @lane, which has
 * been told; the array is valid until the next call. The lane itself is not among them. */
const CcsLaneId *ccs_progress_waiters(CcsProgress *progress, CcsLaneId lane, CcsEvent event,
                                      uint32_t message, uint32_t *ret_n);

/* All messages of all lanes have arrived. */
bool ccs_progress_is_done(const CcsProgress *progress);

typedef struct {
    CcsLaneId lane;
    uint32_t message;
} CcsMessage;

/* ccs_progress_any_order:
 * All messages in one of the orders in which each arrives before the next one starts; starts
 * from the beginning.
 *
 * Returns: (transfer full) (element-type CcsMessage); NULL if some wait for ever. */
GArray *ccs_progress_any_order(CcsProgress *progress);

/* ccs_progress_describe_wait:
 * For when nothing is under way and the end is not reached: follows who waits for whom until
 * a lane repeats.
 *
 * Returns: (transfer full): "rank 1 (message 0 to rank 2) waits for rank 0 (...), ...". */
char *ccs_progress_describe_wait(const CcsProgress *progress);
