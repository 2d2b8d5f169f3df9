/* broadcast_chain.c - chunks follow each other down a chain of all ranks
 *
 * With K chunks the last rank has everything after K + n - 2 message times: small K leaves
 * most of the chain idle, large K pays the start-up cost of a message too often. */
#include "collectives/algorithm.h"
#include "collectives/order.h"

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t depth = ccs_schedule_pipeline(schedule);
    uint32_t phase = ccs_schedule_add_phase(schedule, "broadcast");
    CcsBox box = {.buffer = CCS_BUFFER_OUTPUT, .scale = 1, .step = 1, .modulus = depth};

    (void)error;
    ccs_schedule_set_n_chunks(schedule, depth);
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        g_autofree CcsRank *order = ccs_chain_order(schedule, channel);
        for (uint32_t i = 0; i + 1 < ccs_schedule_n_ranks(schedule); i++) {
            CcsLane lane = {.source = order[i],
                            .peer = order[i + 1],
                            .channel = channel,
                            .phase = phase,
                            .n_messages = depth,
                            .from = box,
                            .to = box};
            lane.path = ccs_schedule_rail_path(schedule, lane.source, lane.peer, channel);
            CcsLaneId id = ccs_schedule_add_lane(schedule, &lane);
            if (i > 0)
                ccs_schedule_wait(schedule, id, id - 1, 0);
        }
    }
    return true;
}

const CcsAlgorithm ccs_broadcast_chain = {
    .collective = CCS_BROADCAST,
    .name = "chain",
    .summary = "pipelined down a chain of all ranks",
    .is_pipelined = true,
    .build = build,
};
