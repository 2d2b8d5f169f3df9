/* races.h - whether an order that the schedule leaves open could change the data
 *
 * A message reads its source from its start until it has left, and writes its target when it
 * arrives. Two messages race if one of them writes a chunk that the other reads or writes and
 * neither has to wait for the other. Additions to one chunk do not race with each other.
 *
 * Dependencies are counters that only grow, so all orders that they allow consist of the same
 * messages. If no two of these race, then every order leaves the same data, and it is enough
 * to look at the data of one. The answer is exact: no order is tried.
 *
 * For each lane all that must come before its messages is found once, which takes time
 * proportional to the messages in it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "collectives/schedule.h"

/* ccs_races_check:
 * Returns: true if there is no race. False with CCS_ERROR_CHECK, whose message names both
 * messages and the chunk. A schedule that cannot come to its end or leaves its buffers has no
 * answer; true. */
bool ccs_races_check(const CcsSchedule *schedule, GError **error);

/* ccs_races_memory: the bytes that ccs_races_check() takes at the least for so many messages, which
 * move so many chunks together, beside those for the cells. */
uint64_t ccs_races_memory(uint64_t n_messages, uint64_t n_moves);
