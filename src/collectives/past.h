/* past.h - what must have happened before a message starts, whatever the order
 *
 * Follows the dependencies backwards from the messages of one lane. Messages to one rank on one
 * lane arrive in order. The past of a lane's messages is found in time proportional to the
 * messages in it that are looked for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "collectives/progress.h"

typedef struct CcsPast CcsPast;

/* ccs_past_new: keeps both, which must outlive it; the progress is only asked for the
 * dependencies of lanes. */
CcsPast *ccs_past_new(const CcsSchedule *schedule, const CcsProgress *progress);
void ccs_past_free(CcsPast *past);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsPast, ccs_past_free)

/* ccs_past_look_at: from now on it is about @lane, and as yet about none of its messages. */
void ccs_past_look_at(CcsPast *past, CcsLaneId lane);

/* ccs_past_look_since: the same, but what comes before number @earliest in one of the orders that
 * the dependencies allow need not be found. @numbers, by lane and message in one row of all, says
 * where each comes in it; it must last as long as the look. */
void ccs_past_look_since(CcsPast *past, CcsLaneId lane, const uint32_t *numbers, uint32_t earliest);

/* ccs_past_extend: from now on it is about this message, which must not come before the one
 * that it was about. */
void ccs_past_extend(CcsPast *past, uint32_t message);

/* Whether that message has left, or has arrived, before the one it is about starts; the message
 * itself counts as having left. Where a lane has several peers and only a number of its
 * arrivals is awaited, it is not known which, and the answer is no. */
bool ccs_past_has_left(const CcsPast *past, CcsLaneId lane, uint32_t message);
bool ccs_past_has_arrived(const CcsPast *past, CcsLaneId lane, uint32_t message);
