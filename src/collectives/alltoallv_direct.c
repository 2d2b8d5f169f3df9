/* alltoallv_direct.c - all messages of all ranks at once, each of its own size */
#include "collectives/exchange.h"

static bool build(CcsSchedule *schedule, GError **error)
{
    return ccs_schedule_add_all_pairs(schedule, error);
}

const CcsAlgorithm ccs_alltoallv_direct = {
    .collective = CCS_ALLTOALLV,
    .name = "direct",
    .summary = "all messages of all ranks at once, each of its own size",
    .idea = "Every rank sends all of its blocks at once, each straight to its target. The "
            "busiest port, to send or to receive, says when it is over.",
    .when = "Where blocks differ in size: nobody waits for the largest block of a round.",
    .formula = "a + o + (n-1)/n S/B",
    .assumption = "All blocks are of one size; messages share ports fairly.",
    .terms = ccs_terms_of_all_pairs,
    .build = build,
};
