/* alltoall_pairwise.c - n - 1 rounds, in each of which every rank talks to one other
 *
 * Where n is a power of two, the partner of round k is rank XOR k, and both exchange their
 * blocks; else rank r sends to r + k and receives from r - k. A round begins when the rank
 * has sent and received in the round before. */
#include "collectives/exchange.h"

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);

    (void)error;
    ccs_schedule_add_rounds(schedule, (n & (n - 1)) == 0 ? CCS_PEER_XOR : CCS_PEER_SHIFT, true);
    return true;
}

const CcsAlgorithm ccs_alltoall_pairwise = {
    .collective = CCS_ALLTOALL,
    .name = "pairwise",
    .summary = "n - 1 rounds, in each of which every rank talks to one other",
    .idea = "There are n - 1 rounds, and in each of them every rank exchanges blocks with one "
            "partner: rank XOR k if n is a power of two, else it sends to rank + k and receives "
            "from rank - k. A round begins when the one before is over for the rank.",
    .when = "For large blocks: at any time only one message goes to each port.",
    .formula = "(n-1) (a + o) + (n-1)/n S/B",
    .assumption = "All rounds are equally fast, as on one switch (Thakur et al. 2005).",
    .terms = ccs_terms_of_rounds,
    .build = build,
};
