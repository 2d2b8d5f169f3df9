/* allgather_direct.c - every rank sends its block to every other one, all at once */
#include "base/error.h"
#include "collectives/algorithm.h"
#include "collectives/single.h"

#define MAX_RANKS 2048U

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    uint32_t phase = ccs_schedule_add_phase(schedule, "all-gather");

    if (n > MAX_RANKS) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT,
                    "direct sends between all pairs of ranks, which is meant for few: at most %u",
                    MAX_RANKS);
        return false;
    }
    ccs_schedule_set_n_chunks(schedule, n);
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        for (CcsRank rank = 0; rank < n; rank++) {
            CcsBox own = {.buffer = CCS_BUFFER_OUTPUT, .base = rank};
            for (uint32_t i = 1; i < n; i++)
                ccs_schedule_add_single(schedule, &(CcsSingle){.source = rank,
                                                               .peer = (rank + i) % n,
                                                               .channel = channel,
                                                               .phase = phase,
                                                               .from = own,
                                                               .to = own});
        }
    }
    return true;
}

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_chunks;
    *ret_terms = (CcsTerms){1, 1, (n_ranks - 1.0) / n_ranks, 0};
    return true;
}

const CcsAlgorithm ccs_allgather_direct = {
    .collective = CCS_ALLGATHER,
    .name = "direct",
    .summary = "every rank sends its block to every other one, all at once",
    .idea = "One step: every rank sends its own block to all others. It sends no more than a ring, "
            "but to many at once.",
    .when = "Behind one switch that does not limit, at any size; on a cluster many messages meet "
            "on few links.",
    .formula = "a + o + (n-1)/n S/B",
    .assumption = "All messages share the port of their sender and start at once.",
    .terms = terms,
    .build = build,
};
