/* winners.h - which of several answers to one question is the fastest
 *
 * A question is all that a user asks but how it is to be done: the algorithm, its channels and
 * its chunks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "commands/study.h"

/* ccs_winners_mark:
 * For each of @results whether no other answer to its question among them is faster
 * (ccs_time_is_faster()): of those that are equal but for roundings each is marked.
 * @ret_is_contest, if not NULL, is whether any question has more than one answer.
 *
 * Returns: (transfer full). */
bool *ccs_winners_mark(const CcsStudyResult *results, uint32_t n, bool *ret_is_contest);
