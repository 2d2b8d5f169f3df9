/* reduce_flat.c - every rank sends everything to the root, all at once */
#include "collectives/algorithm.h"
#include "collectives/single.h"

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t phase = ccs_schedule_add_phase(schedule, "reduce");
    CcsRank root = ccs_schedule_root(schedule);

    (void)error;
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        for (CcsRank rank = 0; rank < ccs_schedule_n_ranks(schedule); rank++) {
            if (rank != root)
                ccs_schedule_add_single(schedule,
                                        &(CcsSingle){.source = rank,
                                                     .peer = root,
                                                     .channel = channel,
                                                     .phase = phase,
                                                     .is_reduced = true,
                                                     .from = {.buffer = CCS_BUFFER_OUTPUT},
                                                     .to = {.buffer = CCS_BUFFER_OUTPUT}});
        }
    }
    return true;
}

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_chunks;
    *ret_terms = (CcsTerms){1, 1, n_ranks - 1.0, 1};
    return true;
}

const CcsAlgorithm ccs_reduce_flat = {
    .collective = CCS_REDUCE,
    .name = "flat",
    .summary = "every rank sends everything to the root, all at once",
    .idea = "One step: all ranks send their whole buffer to the root, which adds them up. All "
            "n - 1 messages come in by its one port.",
    .when = "For two or three ranks, or where latency is far above everything else.",
    .formula = "a + o + (n-1) S/B + S/G",
    .assumption = "The messages share the root's port; each is reduced by a unit of its own.",
    .terms = terms,
    .build = build,
};
