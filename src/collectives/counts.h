/* counts.h - how many messages a schedule has, and how much each rank sends */
#pragma once

#include <stdint.h>

#include "collectives/schedule.h"

typedef struct {
    uint64_t n_messages; /* between ranks: local work is not counted */
    CcsBytes sent_least; /* by any rank */
    CcsBytes sent_most;
    CcsBytes received_most;
} CcsCounts;

/* ccs_schedule_count: when the collective has @size bytes. */
CcsCounts ccs_schedule_count(const CcsSchedule *schedule, CcsBytes size);
