/* queue.h - events in the order of their time
 *
 * A monotone radix heap (Ahuja, Mehlhorn, Orlin and Tarjan 1990) on integer time: an event
 * may not be earlier than the last one taken. Events of one time come out in the order in
 * which they were put in. Cost per event: the number of times it moves to a lower bucket,
 * at most 63, on average a few. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/units.h"

typedef struct {
    CcsTime time;
    uint32_t kind; /* what these mean is the affair of whoever puts it in */
    uint32_t subject;
    uint32_t detail;
    uint32_t note;
} CcsEventRecord;

typedef struct CcsQueue CcsQueue;

CcsQueue *ccs_queue_new(void);
void ccs_queue_free(CcsQueue *queue);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsQueue, ccs_queue_free)

/* ccs_queue_clear: empties it and goes back to time 0. */
void ccs_queue_clear(CcsQueue *queue);

/* ccs_queue_shuffle:
 * For tests: from now on events of one time come out in an order that only chance and @seed
 * decide, as nothing may depend on it. */
void ccs_queue_shuffle(CcsQueue *queue, uint32_t seed);

/* ccs_queue_push: @event->time must be at least that of the last event taken. */
void ccs_queue_push(CcsQueue *queue, const CcsEventRecord *event);

/* The time of the next event, which stays where it is; CCS_TIME_MAX if there is none. */
CcsTime ccs_queue_next_time(CcsQueue *queue);

/* Returns: false if there is none. */
bool ccs_queue_pop(CcsQueue *queue, CcsEventRecord *ret_event);
