/* waste.h - messages that nobody needs
 *
 * A message is needed if some chunk that it writes is read by another message before it is
 * overwritten, or is part of the result that was promised. A schedule that sends more than that
 * may be right, but a catalogue should hold none: more often than not a message too many is a
 * slip in a loop's bound. */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "collectives/schedule.h"

/* ccs_waste_check:
 * For schedules without races (races.h), for which it is exact.
 *
 * Returns: false with CCS_ERROR_CHECK, whose message names the first such message. A schedule
 * that cannot come to its end or leaves its buffers has no answer; true. */
bool ccs_waste_check(const CcsSchedule *schedule, GError **error);
