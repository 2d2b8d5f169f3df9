/* scatter_flat.c - the root sends every rank its block, one after the other */
#include "collectives/algorithm.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_chunks;
    *ret_terms =
        (CcsTerms){.latencies = 1, .costs = n_ranks - 1.0, .sizes = (n_ranks - 1.0) / n_ranks};
    return true;
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    uint32_t phase = ccs_schedule_add_phase(schedule, "scatter");

    (void)error;
    ccs_schedule_set_n_chunks(schedule, n);
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++)
        ccs_schedule_add_lane(schedule,
                              &(CcsLane){.source = ccs_schedule_root(schedule),
                                         .peer_kind = CCS_PEER_SHIFT,
                                         .peer = 1,
                                         .channel = channel,
                                         .phase = phase,
                                         .n_messages = n - 1,
                                         .from = {CCS_BUFFER_OUTPUT, CCS_BOX_OF_PEER, .scale = 1},
                                         .to = {CCS_BUFFER_OUTPUT, CCS_BOX_OF_PEER, .scale = 1}});
    return true;
}

const CcsAlgorithm ccs_scatter_flat = {
    .collective = CCS_SCATTER,
    .name = "flat",
    .summary = "the root sends every rank its block, one after the other",
    .idea = "The root sends each rank its block, beginning with the rank after it. Nobody else "
            "sends anything.",
    .when = "For large blocks: no byte moves twice, and the root's port is all that limits.",
    .formula = "a + (n-1) o + (n-1)/n S/B",
    .assumption = "The messages leave one port one after the other (linear scatter of "
                  "Chan et al. 2007).",
    .terms = terms,
    .build = build,
};
