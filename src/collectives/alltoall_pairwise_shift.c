/* alltoall_pairwise_shift.c - the same rounds as pairwise, but by shift for every n
 *
 * In round k rank r sends to r + k and receives from r - k. On a cluster most rounds mix ranks
 * that talk inside their node with others that cross, so that the fast ones wait for the slow
 * ones; XOR keeps such rounds apart. */
#include "collectives/exchange.h"

static bool build(CcsSchedule *schedule, GError **error)
{
    (void)error;
    ccs_schedule_add_rounds(schedule, CCS_PEER_SHIFT, true);
    return true;
}

const CcsAlgorithm ccs_alltoall_pairwise_shift = {
    .collective = CCS_ALLTOALL,
    .name = "pairwise_shift",
    .summary = "pairwise, with the partners of every round found by shift",
    .idea = "In round k of n - 1 every rank sends to rank + k and receives from rank - k. A "
            "round begins when the one before is over for the rank.",
    .when = "To see what the choice of partners costs on a cluster; else pairwise.",
    .formula = "(n-1) (a + o) + (n-1)/n S/B",
    .assumption = "All rounds are equally fast, as on one switch (Thakur et al. 2005).",
    .terms = ccs_terms_of_rounds,
    .build = build,
};
