/* gather_flat.c - every rank sends its block to the root, all at once
 *
 * All n - 1 messages share the port of the root (incast). */
#include "collectives/algorithm.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_chunks;
    *ret_terms = (CcsTerms){.latencies = 1, .costs = 1, .sizes = (n_ranks - 1.0) / n_ranks};
    return true;
}

static void add_message(CcsSchedule *schedule, CcsRank source, uint32_t channel, uint32_t phase)
{
    CcsRank root = ccs_schedule_root(schedule);
    CcsBox box = {.buffer = CCS_BUFFER_OUTPUT, .base = source};

    ccs_schedule_add_lane(schedule,
                          &(CcsLane){.source = source,
                                     .peer = root,
                                     .channel = channel,
                                     .phase = phase,
                                     .n_messages = 1,
                                     .from = box,
                                     .to = box,
                                     .path = ccs_schedule_path(schedule, source, root, channel)});
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    uint32_t phase = ccs_schedule_add_phase(schedule, "gather");

    (void)error;
    ccs_schedule_set_n_chunks(schedule, n);
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        for (CcsRank rank = 0; rank < n; rank++) {
            if (rank != ccs_schedule_root(schedule))
                add_message(schedule, rank, channel, phase);
        }
    }
    return true;
}

const CcsAlgorithm ccs_gather_flat = {
    .collective = CCS_GATHER,
    .name = "flat",
    .summary = "every rank sends its block to the root, all at once",
    .idea = "Every rank sends its block straight to the root. All of the messages are under way "
            "at once and share the root's port.",
    .when = "For large blocks, or where a burst of n - 1 messages at one port does no harm.",
    .formula = "a + o + (n-1)/n S/B",
    .assumption = "All n - 1 messages start at once and share the root's port fairly, without "
                  "loss (what grouped sends and receives of NCCL do).",
    .terms = terms,
    .build = build,
};
