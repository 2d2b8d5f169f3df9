/* reduce_chain.c - chunks travel up a chain of all ranks to the root and are summed on the way */
#include "collectives/algorithm.h"
#include "collectives/order.h"

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t depth = ccs_schedule_pipeline(schedule);
    uint32_t phase = ccs_schedule_add_phase(schedule, "reduce");
    CcsBox box = {.buffer = CCS_BUFFER_OUTPUT, .scale = 1, .step = 1, .modulus = depth};

    (void)error;
    ccs_schedule_set_n_chunks(schedule, depth);
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        g_autofree CcsRank *order = ccs_chain_order(schedule, channel);
        CcsLaneId before = CCS_NO_LANE;
        for (uint32_t i = ccs_schedule_n_ranks(schedule) - 1; i > 0; i--) {
            CcsLane lane = {.source = order[i],
                            .peer = order[i - 1],
                            .channel = channel,
                            .phase = phase,
                            .n_messages = depth,
                            .n_reduced = depth,
                            .from = box,
                            .to = box};
            lane.path = ccs_schedule_rail_path(schedule, lane.source, lane.peer, channel);
            CcsLaneId id = ccs_schedule_add_lane(schedule, &lane);
            if (before != CCS_NO_LANE)
                ccs_schedule_wait(schedule, id, before, 0);
            before = id;
        }
    }
    return true;
}

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    double turns = n_chunks + n_ranks - 2.0;

    *ret_terms = (CcsTerms){n_ranks - 1.0, turns, turns / n_chunks, (n_ranks - 1.0) / n_chunks};
    return true;
}

const CcsAlgorithm ccs_reduce_chain = {
    .collective = CCS_REDUCE,
    .name = "chain",
    .summary = "pipelined up a chain of all ranks, which ends at the root",
    .idea = "Chunks follow each other up a chain of all ranks and gather a contribution at each. "
            "With many chunks all links of the chain are busy at once.",
    .when = "For large messages: with enough chunks it takes hardly longer than one message.",
    .formula = "(n-1) a + (K+n-2) (o + S/(K B)) + (n-1) S/(K G)",
    .assumption = "Reducing a chunk takes no longer than sending it (Chan et al. 2007).",
    .terms = terms,
    .is_pipelined = true,
    .build = build,
};
