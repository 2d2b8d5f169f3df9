/* allgather_direct.c - everybody sends its block to everybody, at once */
#include "collectives/algorithm.h"
#include "collectives/exchange.h"

static bool build(CcsSchedule *schedule, GError **error)
{
    CcsBox own = {CCS_BUFFER_OUTPUT, CCS_BOX_OF_SOURCE, .scale = 1};

    ccs_schedule_add_phase(schedule, "all-gather");
    ccs_schedule_set_n_chunks(schedule, ccs_schedule_n_ranks(schedule));
    return ccs_schedule_add_pairs(schedule, &(CcsLane){.from = own, .to = own}, error);
}

const CcsAlgorithm ccs_allgather_direct = {
    .collective = CCS_ALLGATHER,
    .name = "direct",
    .summary = "everybody sends its block to everybody, at once",
    .idea = "Every rank sends its block to every other one at the same time. There is only one "
            "message time, and no block is passed on.",
    .when = "Behind one switch, for all sizes; across nodes every block crosses once per rank.",
    .formula = "a + o + (n-1)/n S/B",
    .assumption = "Messages to different ranks start up at once and share the ports.",
    .terms = ccs_terms_of_all_pairs,
    .build = build,
};
