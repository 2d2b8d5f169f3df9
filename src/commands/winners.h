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
 * For each of @results whether no other answer to its question among them is faster
 * (ccs_time_is_faster()): of those that are equal but for roundings each is marked.
 * @ret_is_contest, if not NULL, is whether any question has more than one answer.
 *
 * Returns: (transfer full). */
bool *ccs_winners_mark(const CcsStudyResult *results, uint32_t n, bool *ret_is_contest);

/* Where other ways become faster than those that are the fastest below. */
typedef struct {
    GPtrArray *below; /* of const CcsStudyResult: one for each way, whatever its size */
    GPtrArray *above; /* likewise */
    CcsBytes size;    /* the least, to within 1 % or 4 bytes, at which those above are faster */
    CcsTime time;     /* that they take for it */
} CcsCrossover;

/* ccs_crossovers_find:
 * Looks at @results, all of one collective on @machine, in the order of their sizes, and simulates
 * more where the winners of two sizes, as ccs_winners_mark() has them, have no way in common.
 * Of several ways that have won up to there, all are told. @ret_always: (transfer full): one
 * result for each way that wins at all sizes; empty if there are crossovers.
 *
 * Returns: (transfer full) (element-type CcsCrossover), by size; NULL if a simulation fails. */
GArray *ccs_crossovers_find(const CcsMachine *machine, const CcsStudyResult *results, uint32_t n,
                            GPtrArray **ret_always, GError **error);
