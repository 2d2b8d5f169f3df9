/* allreduce_direct.c - every rank sends everything to every other one, all at once */
#include "base/error.h"
#include "collectives/algorithm.h"
#include "collectives/single.h"

#define MAX_RANKS 2048U

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    uint32_t phase = ccs_schedule_add_phase(schedule, "all to all");

    if (n > MAX_RANKS) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT,
                    "direct sends between all pairs of ranks, which is meant for few: at most %u",
                    MAX_RANKS);
        return false;
    }
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        for (CcsRank rank = 0; rank < n; rank++) {
            for (uint32_t i = 1; i < n; i++)
                ccs_schedule_add_single(schedule,
                                        &(CcsSingle){.source = rank,
                                                     .peer = (rank + i) % n,
                                                     .channel = channel,
                                                     .phase = phase,
                                                     .is_reduced = true,
                                                     .from = {.buffer = CCS_BUFFER_INPUT},
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

const CcsAlgorithm ccs_allreduce_direct = {
    .collective = CCS_ALLREDUCE,
    .name = "direct",
    .summary = "every rank sends everything to every other one, all at once",
    .idea = "One step: every rank sends its whole buffer to all others and adds up what comes in. "
            "Nothing takes less latency, and nothing sends more.",
    .when = "For the smallest messages on a few ranks behind one switch.",
    .formula = "a + o + (n-1) S/B + S/G",
    .assumption = "All messages share the port of their sender and start at once; each is reduced "
                  "by a unit of its own.",
    .terms = terms,
    .build = build,
};
