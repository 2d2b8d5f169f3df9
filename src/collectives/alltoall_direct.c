/* alltoall_direct.c - all messages of all ranks at once
 *
 * Nobody waits for anybody: the links alone say how fast it goes. This is what a group of
 * sends and receives means. */
#include "collectives/exchange.h"

static bool build(CcsSchedule *schedule, GError **error)
{
    return ccs_schedule_add_all_pairs(schedule, error);
}

const CcsAlgorithm ccs_alltoall_direct = {
    .collective = CCS_ALLTOALL,
    .name = "direct",
    .summary = "all messages of all ranks at once",
    .idea = "Every rank sends all of its n - 1 blocks at once, each straight to its target. The "
            "messages share the links; those that cross no slow link are done early.",
    .when = "Where the network takes n (n - 1) messages at once: then nothing is faster.",
    .formula = "a + o + (n-1)/n S/B",
    .assumption = "Messages share ports fairly and start up side by side.",
    .terms = ccs_terms_of_all_pairs,
    .build = build,
};
