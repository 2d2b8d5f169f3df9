/* allreduce_naive.c - everybody sends everything to rank 0, which sends the sum to everybody
 *
 * What one writes first. All n - 1 messages of each half go through the one port of rank 0,
 * so the time is 2 (n - 1) S / B, and not the 2 S / B that a glance at the picture suggests. */
#include "collectives/algorithm.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_chunks;
    *ret_terms =
        (CcsTerms){.latencies = 2, .costs = 2, .sizes = 2 * (n_ranks - 1.0), .reductions = 1};
    return true;
}

static CcsLaneId add(CcsSchedule *schedule, CcsRank source, CcsRank peer, uint32_t channel,
                     uint32_t phase, uint32_t n_reduced)
{
    return ccs_schedule_add_lane(
        schedule, &(CcsLane){.source = source,
                             .peer = peer,
                             .channel = channel,
                             .phase = phase,
                             .n_messages = 1,
                             .n_reduced = n_reduced,
                             .from = {.buffer = CCS_BUFFER_OUTPUT},
                             .to = {.buffer = CCS_BUFFER_OUTPUT},
                             .path = ccs_schedule_path(schedule, source, peer, channel)});
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    uint32_t to_root = ccs_schedule_add_phase(schedule, "all to the root");
    uint32_t from_root = ccs_schedule_add_phase(schedule, "root to all");

    (void)error;
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        CcsLaneId join = add(schedule, 0, 0, channel, to_root, 0);
        for (CcsRank rank = 1; rank < n; rank++)
            ccs_schedule_gate(schedule, join, add(schedule, rank, 0, channel, to_root, 1));
        for (CcsRank rank = 1; rank < n; rank++)
            ccs_schedule_gate(schedule, add(schedule, 0, rank, channel, from_root, 0), join);
    }
    return true;
}

const CcsAlgorithm ccs_allreduce_naive = {
    .collective = CCS_ALLREDUCE,
    .name = "naive",
    .summary = "all to the root, then root to all",
    .idea = "All ranks send their whole buffer to rank 0, which adds them up. Then it sends the "
            "sum to everyone.",
    .when = "Never; it shows what the others are good for.",
    .formula = "2 (a + o) + 2(n-1) S/B + S/G",
    .assumption = "Messages of different ranks start up, travel and are added at once, and share "
                  "the port of rank 0.",
    .terms = terms,
    .build = build,
};
