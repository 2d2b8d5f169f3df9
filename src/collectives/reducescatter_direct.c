/* reducescatter_direct.c - everybody sends everybody its block, at once, to be added up */
#include "collectives/algorithm.h"
#include "collectives/exchange.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    ccs_terms_of_all_pairs(n_ranks, n_chunks, ret_terms);
    ret_terms->reductions = 1.0 / n_ranks;
    return true;
}

static bool build(CcsSchedule *schedule, GError **error)
{
    CcsBox block = {CCS_BUFFER_OUTPUT, CCS_BOX_OF_PEER, .scale = 1};

    ccs_schedule_add_phase(schedule, "reduce-scatter");
    ccs_schedule_set_n_chunks(schedule, ccs_schedule_n_ranks(schedule));
    return ccs_schedule_add_pairs(schedule, &(CcsLane){.n_reduced = 1, .from = block, .to = block},
                                  error);
}

const CcsAlgorithm ccs_reducescatter_direct = {
    .collective = CCS_REDUCESCATTER,
    .name = "direct",
    .summary = "everybody sends everybody its block, at once, to be added up",
    .idea = "Every rank sends every other one the part of the block that is to end there, all at "
            "the same time. The owner of a block adds up what comes in.",
    .when = "Behind one switch, for all sizes; across nodes nothing is added up before it crosses.",
    .formula = "a + o + (n-1)/n S/B + 1/n S/G",
    .assumption = "Messages to different ranks start up and are added at once, and share the "
                  "ports.",
    .terms = terms,
    .build = build,
};
