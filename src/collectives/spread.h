/* spread.h - what every rank has heard of for certain, where word only spreads
 *
 * In a barrier a contribution may arrive many times, and a message that starts late carries
 * more than one that starts early. So no order is like another, but the least that a message
 * can carry is known: its source's own word, and the least that those messages carry which
 * must have arrived at its source before. It is enough to look at the least. */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "collectives/schedule.h"

/* ccs_spread_check:
 * Returns: false with CCS_ERROR_CHECK if the least that a rank may end with is not what was
 * promised. Where contributions must not come twice, true; likewise if the schedule cannot come
 * to its end or leaves its buffers. */
bool ccs_spread_check(const CcsSchedule *schedule, GError **error);
