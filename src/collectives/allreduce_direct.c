/* allreduce_direct.c - everybody sends everything to everybody, at once
 *
 * One message time, but (n - 1) S through every port: the one-shot allreduce of NVSwitch
 * machines for small buffers. */
#include "collectives/algorithm.h"
#include "collectives/exchange.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_chunks;
    *ret_terms = (CcsTerms){.latencies = 1, .costs = 1, .sizes = n_ranks - 1.0, .reductions = 1};
    return true;
}

static bool build(CcsSchedule *schedule, GError **error)
{
    CcsLane lane = {
        .n_reduced = 1, .from = {.buffer = CCS_BUFFER_INPUT}, .to = {.buffer = CCS_BUFFER_OUTPUT}};

    ccs_schedule_add_phase(schedule, "all to all");
    return ccs_schedule_add_pairs(schedule, &lane, error);
}

const CcsAlgorithm ccs_allreduce_direct = {
    .collective = CCS_ALLREDUCE,
    .name = "direct",
    .summary = "everybody sends everything to everybody, at once",
    .idea = "Every rank sends its whole buffer to every other one at the same time, and adds up "
            "what comes in. There is only one message time.",
    .when = "For the smallest buffers, on few ranks behind one switch.",
    .formula = "a + o + (n-1) S/B + S/G",
    .assumption = "Messages to different ranks start up and are added at once, and share the "
                  "ports (the one-shot allreduce).",
    .terms = terms,
    .build = build,
};
