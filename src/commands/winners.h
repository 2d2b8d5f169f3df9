/* winners.h - which of several answers to one question is the fastest, and from which size on
 *
 * A question is all that a user asks but how it is to be done: the algorithm, its channels and
 * its chunks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "commands/machine.h"
#include "commands/study.h"

/* ccs_winners_mark:
 * For each of @results whether no other answer to its question among them is faster. Of those
 * that take the same time each is marked. @ret_is_contest, if not NULL, is whether any question
 * has more than one answer.
 *
 * Returns: (transfer full). */
bool *ccs_winners_mark(const CcsStudyResult *results, uint32_t n, bool *ret_is_contest);

/* Where one way becomes faster than the one that is the fastest below. */
typedef struct {
    const CcsStudyResult *below; /* results of the two ways, whatever their sizes */
    const CcsStudyResult *above;
    CcsBytes size; /* the least, to within 1 % or 4 bytes, at which `above` is faster */
    CcsTime time;  /* that `above` takes for it */
} CcsCrossover;

/* Less than this part of a time is no difference: two equal ways may differ by roundings. */
#define CCS_SAME_TIME 10000

/* ccs_crossovers_find:
 * Looks at @results, all of one collective on @machine, in the order of their sizes, and between
 * two sizes with different winners simulates more. Differences of less than one part in
 * CCS_SAME_TIME do not make a winner.
 *
 * Returns: (transfer full) (element-type CcsCrossover), by size; NULL if a simulation fails. */
GArray *ccs_crossovers_find(const CcsMachine *machine, const CcsStudyResult *results, uint32_t n,
                            GError **error);
