/* unpack.h - packed flows back to rows that SQLite alone reads */
#pragma once

#include "trace/database.h"

typedef struct {
    int64_t run_id;    /* only of this run; 0: of all */
    int64_t result_id; /* only of this result; 0: of all */
} CcsUnpackChoice;

/* ccs_unpack_flows:
 * Turns chunks into rows of flow_row, in one transaction: whatever happens, all is as before or
 * done. When none is left, flow_any is again a view that needs no module.
 *
 * Returns: false with CCS_ERROR_INPUT if there is no such run or result; CCS_ERROR_IO for a
 * damaged chunk and for what the database says; CCS_ERROR_INTERRUPTED. */
bool ccs_unpack_flows(CcsDatabase *database, CcsUnpackChoice choice, uint64_t *ret_n_flows,
                      GError **error);
