/* alltoallv_pairwise.c - n - 1 rounds with one partner each, blocks of any size
 *
 * As alltoall_pairwise.c, but a round takes as long as its largest block. */
#include "collectives/exchange.h"

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);

    (void)error;
    ccs_schedule_add_rounds(schedule, (n & (n - 1)) == 0 ? CCS_PEER_XOR : CCS_PEER_SHIFT, true);
    return true;
}

const CcsAlgorithm ccs_alltoallv_pairwise = {
    .collective = CCS_ALLTOALLV,
    .name = "pairwise",
    .summary = "n - 1 rounds, in each of which every rank talks to one other",
    .idea = "There are n - 1 rounds, and in each of them every rank exchanges blocks with one "
            "partner. Who has a small block to send waits for the partner's large one.",
    .when = "Where blocks are large and nearly equal, or many messages at once do harm.",
    .formula = "(n-1) (a + o) + (n-1)/n S/B",
    .assumption = "All blocks are of one size, and all rounds equally fast.",
    .terms = ccs_terms_of_rounds,
    .build = build,
};
