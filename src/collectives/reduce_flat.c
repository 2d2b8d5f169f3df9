/* reduce_flat.c - everybody sends everything to the root, which adds it up */
#include "collectives/algorithm.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_chunks;
    *ret_terms = (CcsTerms){.latencies = 1, .costs = 1, .sizes = n_ranks - 1.0, .reductions = 1};
    return true;
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t phase = ccs_schedule_add_phase(schedule, "reduce");
    CcsRank root = ccs_schedule_root(schedule);

    (void)error;
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        for (CcsRank rank = 0; rank < ccs_schedule_n_ranks(schedule); rank++) {
            if (rank == root)
                continue;
            ccs_schedule_add_lane(
                schedule, &(CcsLane){.source = rank,
                                     .peer = root,
                                     .channel = channel,
                                     .phase = phase,
                                     .n_messages = 1,
                                     .n_reduced = 1,
                                     .from = {.buffer = CCS_BUFFER_OUTPUT},
                                     .to = {.buffer = CCS_BUFFER_OUTPUT},
                                     .path = ccs_schedule_path(schedule, rank, root, channel)});
        }
    }
    return true;
}

const CcsAlgorithm ccs_reduce_flat = {
    .collective = CCS_REDUCE,
    .name = "flat",
    .summary = "everybody sends everything to the root, which adds it up",
    .idea = "Every rank sends its whole buffer to the root at the same time, and the root adds "
            "them up. There is only one message time, but n - 1 buffers in one port.",
    .when = "For the smallest buffers, on few ranks.",
    .formula = "a + o + (n-1) S/B + S/G",
    .assumption = "Messages of different ranks start up, travel and are added at once, and share "
                  "the port of the root.",
    .terms = terms,
    .build = build,
};
