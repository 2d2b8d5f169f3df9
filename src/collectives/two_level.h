/* two_level.h - reduce-scatter in each group of ranks, allreduce across groups, all-gather
 *
 * Groups are ranks that follow one another: the nodes, or the rows of a torus. With g ranks
 * per group, the rank at place l of its group ends the first phase with part l of the group's
 * sum; the second phase is a ring over the groups for each part; the third spreads the parts.
 *
 * Groups of unequal size: the buffer is cut into G slots, G being the least common multiple
 * of the sizes. In a group of g ranks, place l has the slots l, l + g, l + 2 g, ...; the ring
 * of a slot passes the rank that has it in each group. Each slot is cut into as many chunks
 * as there are groups. */
#pragma once

#include <stdbool.h>

#include "collectives/schedule.h"

typedef struct {
    CcsRank first;
    uint32_t n;
} CcsGroup;

/* ccs_schedule_node_groups: the nodes as groups. Returns: (transfer full): as many as the
 * communicator has nodes. */
CcsGroup *ccs_schedule_node_groups(const CcsSchedule *schedule);

/* ccs_groups_n_slots: the least common multiple of the sizes of @groups.
 *
 * Returns: false with CCS_ERROR_INPUT if the buffer cannot be cut into so many. */
bool ccs_groups_n_slots(const CcsGroup *groups, uint32_t n_groups, uint32_t *ret_n, GError **error);

/* ccs_schedule_add_two_level:
 * All three phases on all channels. @groups together have all ranks, at least 2.
 *
 * Returns: false as above. */
bool ccs_schedule_add_two_level(CcsSchedule *schedule, const CcsGroup *groups, uint32_t n_groups,
                                const char *const phases[3], GError **error);
