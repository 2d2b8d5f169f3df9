/* allreduce_chain.c - chunks are summed up along a chain of all ranks, and come back along it
 *
 * Where one way fills both directions of a ring's links, a chain uses one for the way there
 * and the other for the way back, both at once. */
#include "collectives/algorithm.h"
#include "collectives/order.h"

static CcsLaneId add(CcsSchedule *schedule, CcsRank source, CcsRank peer, uint32_t channel,
                     uint32_t phase)
{
    uint32_t depth = ccs_schedule_pipeline(schedule);
    CcsBox box = {.buffer = CCS_BUFFER_OUTPUT, .scale = 1, .step = 1, .modulus = depth};

    return ccs_schedule_add_lane(
        schedule, &(CcsLane){.source = source,
                             .peer = peer,
                             .channel = channel,
                             .phase = phase,
                             .n_messages = depth,
                             .n_reduced = phase == 0 ? depth : 0,
                             .from = box,
                             .to = box,
                             .path = ccs_schedule_rail_path(schedule, source, peer, channel)});
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);

    (void)error;
    ccs_schedule_add_phase(schedule, "reduce along the chain");
    ccs_schedule_add_phase(schedule, "broadcast back");
    ccs_schedule_set_n_chunks(schedule, ccs_schedule_pipeline(schedule));
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        g_autofree CcsRank *order = ccs_ring_order(schedule, channel);
        CcsLaneId before = CCS_NO_LANE;
        for (uint32_t step = 0; step < 2 * (n - 1); step++) { /* there, then back */
            bool is_back = step >= n - 1;
            uint32_t from = is_back ? 2 * (n - 1) - step : step;
            uint32_t to = is_back ? from - 1 : from + 1;
            CcsLaneId lane = add(schedule, order[from], order[to], channel, is_back ? 1 : 0);
            if (before != CCS_NO_LANE)
                ccs_schedule_wait(schedule, lane, before, 0);
            before = lane;
        }
    }
    return true;
}

/* With more chunks the two directions share ports. */
static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    double hops = 2 * (n_ranks - 1.0);

    *ret_terms = (CcsTerms){hops, hops, hops, n_ranks - 1.0};
    return n_chunks == 1;
}

const CcsAlgorithm ccs_allreduce_chain = {
    .collective = CCS_ALLREDUCE,
    .name = "chain",
    .summary = "pipelined to the end of a chain of all ranks and back",
    .idea = "Chunks travel down a chain of all ranks and gather a contribution at each; at the end "
            "they turn round and are copied on the way back. Many chunks are under way at once.",
    .when = "Where ranks lie in a line, such as GPUs joined in a row; else the ring is better.",
    .formula = "2 (n-1) (a + o + S/B) + (n-1) S/G with one chunk",
    .assumption =
        "With more chunks both directions leave by the same ports, and there is no closed "
        "form.",
    .terms = terms,
    .is_pipelined = true,
    .build = build,
};
