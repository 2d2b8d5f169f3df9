/* broadcast_chain.c - chunks follow each other down a chain of all ranks
 *
 * With K chunks the last rank has everything after K + n - 2 message times: small K leaves
 * most of the chain idle, large K pays the start-up cost of a message too often. */
#include "collectives/algorithm.h"
#include "collectives/order.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    double n_steps = (double)n_chunks + n_ranks - 2;

    *ret_terms =
        (CcsTerms){.latencies = n_ranks - 1.0, .costs = n_steps, .sizes = n_steps / n_chunks};
    return true;
}

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
    .idea = "All ranks stand in one chain behind the root, and every rank passes on each chunk as "
            "soon as it has it. With many chunks all ranks send at once.",
    .when = "For large buffers: every port sends the buffer once, the least there is.",
    .formula = "(n-1) a + (K+n-2) (o + S/(K B))",
    .assumption = "All chunks are equal (Chan et al. 2007; the best K is sqrt((n-2) S/(o B))).",
    .terms = terms,
    .is_pipelined = true,
    .build = build,
};
