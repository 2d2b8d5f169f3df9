#include "collectives/synchronous.h"

CcsSchedule *ccs_schedule_synchronous(const CcsSchedule *schedule)
{
    CcsSchedule *synchronous = ccs_schedule_copy(schedule);
    uint32_t n_dependencies = ccs_schedule_n_dependencies(schedule);

    for (uint32_t i = 0; i < n_dependencies; i++)
        ccs_schedule_edit_dependency(synchronous, i)->event = CCS_ARRIVED;
    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(schedule, id);
        if (lane->n_messages > 1 && !ccs_lane_is_local(lane))
            ccs_schedule_wait(synchronous, id, id, 1);
    }
    return synchronous;
}
