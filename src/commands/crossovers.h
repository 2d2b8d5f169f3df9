/* crossovers.h - from which size on which of several ways is the fastest */
#pragma once

#include <glib.h>

#include "commands/machine.h"
#include "commands/study.h"

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
