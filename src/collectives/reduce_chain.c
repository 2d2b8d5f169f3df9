/* reduce_chain.c - chunks follow each other up a chain of all ranks, being summed
 *
 * The chain of broadcast_chain.c backwards: it ends at the root. */
#include "collectives/algorithm.h"
#include "collectives/order.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    double n_steps = (double)n_chunks + n_ranks - 2;

    *ret_terms = (CcsTerms){.latencies = n_ranks - 1.0,
                            .costs = n_steps,
                            .sizes = n_steps / n_chunks,
                            .reductions = (n_ranks - 1.0) / n_chunks};
    return true;
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t depth = ccs_schedule_pipeline(schedule);
    uint32_t phase = ccs_schedule_add_phase(schedule, "reduce");
    CcsBox box = {.buffer = CCS_BUFFER_OUTPUT, .scale = 1, .step = 1, .modulus = depth};

    (void)error;
    ccs_schedule_set_n_chunks(schedule, depth);
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        g_autofree CcsRank *order = ccs_chain_order(schedule, channel);
        uint32_t n = ccs_schedule_n_ranks(schedule);
        for (uint32_t i = n - 1; i > 0; i--) {
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
            if (i < n - 1)
                ccs_schedule_wait(schedule, id, id - 1, 0);
        }
    }
    return true;
}

const CcsAlgorithm ccs_reduce_chain = {
    .collective = CCS_REDUCE,
    .name = "chain",
    .summary = "pipelined up a chain of all ranks to the root",
    .idea = "All ranks stand in one chain that ends at the root. Everyone adds its own part to "
            "each chunk that comes in and passes it on, so that with many chunks all send at once.",
    .when = "For large buffers: every port sends the buffer once, the least there is.",
    .formula = "(n-1) a + (K+n-2) (o + S/(K B)) + (n-1) S/(K G)",
    .assumption = "All chunks are equal, and reducing one takes no longer than sending it (Chan et "
                  "al. 2007).",
    .terms = terms,
    .adds_in_passing = true,
    .is_pipelined = true,
    .build = build,
};
