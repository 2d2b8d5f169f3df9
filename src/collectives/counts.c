#include "collectives/counts.h"

CcsCounts ccs_schedule_count(const CcsSchedule *schedule, CcsBytes size)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    g_autofree CcsBytes *sent = g_new0(CcsBytes, n);
    g_autofree CcsBytes *received = g_new0(CcsBytes, n);
    CcsCounts counts = {.sent_least = UINT64_MAX};

    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(schedule, id);
        for (uint32_t k = 0; k < lane->n_messages && !ccs_lane_is_local(lane); k++) {
            CcsBytes bytes = ccs_schedule_message_bytes(schedule, lane, k, size);
            sent[lane->source] += bytes;
            received[ccs_lane_peer(lane, k, n)] += bytes;
            counts.n_messages++;
        }
    }
    for (CcsRank rank = 0; rank < n; rank++) {
        counts.sent_least = MIN(counts.sent_least, sent[rank]);
        counts.sent_most = MAX(counts.sent_most, sent[rank]);
        counts.received_most = MAX(counts.received_most, received[rank]);
    }
    return counts;
}
