/* data_names.h - what the data that a message carries are called
 *
 * Most data have the number of their chunk; where each rank has a block of its own, it is that of
 * the rank. A block of an all-to-all is named by the rank that it comes from and the one that it
 * is for: "1:4". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collectives/origins.h"

typedef enum {
    CCS_NAMED_BY_CHUNK, /* "3" */
    CCS_NAMED_BY_OWNER, /* "3" is the block of rank 3 */
    CCS_NAMED_BY_PAIR,  /* "1:4" is the block from rank 1 for rank 4 */
} CcsDataNaming;

CcsDataNaming ccs_data_naming(const CcsSchedule *schedule);

/* ccs_data_list:
 * "3", "0-3", "0,2,4", "0-1:4", "0:1,3;2:0", or, where that would be too long, "9 chunks"; "all" if
 * they are the whole buffer. Each is named once, in rising order.
 *
 * Returns: (transfer full). */
char *ccs_data_list(const CcsSchedule *schedule, uint32_t channel, const CcsOrigin *data,
                    uint32_t n);
