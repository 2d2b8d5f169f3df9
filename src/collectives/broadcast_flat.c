/* broadcast_flat.c - the root sends everything to every rank, one after the other */
#include "collectives/algorithm.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_chunks;
    *ret_terms = (CcsTerms){.latencies = 1, .costs = n_ranks - 1.0, .sizes = n_ranks - 1.0};
    return true;
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t phase = ccs_schedule_add_phase(schedule, "broadcast");

    (void)error;
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++)
        ccs_schedule_add_lane(schedule, &(CcsLane){.source = ccs_schedule_root(schedule),
                                                   .peer_kind = CCS_PEER_SHIFT,
                                                   .peer = 1,
                                                   .channel = channel,
                                                   .phase = phase,
                                                   .n_messages = ccs_schedule_n_ranks(schedule) - 1,
                                                   .from = {.buffer = CCS_BUFFER_OUTPUT},
                                                   .to = {.buffer = CCS_BUFFER_OUTPUT}});
    return true;
}

const CcsAlgorithm ccs_broadcast_flat = {
    .collective = CCS_BROADCAST,
    .name = "flat",
    .summary = "the root sends everything to every rank, one after the other",
    .idea = "The root sends the whole buffer to each rank in turn, beginning with the rank after "
            "it. All n - 1 copies leave by its one port.",
    .when = "For two or three ranks, or where latency is far above everything else.",
    .formula = "a + (n-1) (o + S/B)",
    .assumption = "The messages leave one port one after the other (Chan et al. 2007).",
    .terms = terms,
    .build = build,
};
