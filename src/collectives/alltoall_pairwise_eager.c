/* alltoall_pairwise_eager.c - rounds by shift, in which nobody waits for what it receives
 *
 * Every rank sends its blocks one after the other, as fast as its port lets it. Where rounds
 * are not equally fast, ranks drift apart, and several of them end up sending to one port
 * while others idle (incast). */
#include "collectives/exchange.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_chunks;
    *ret_terms =
        (CcsTerms){.latencies = 1, .costs = n_ranks - 1.0, .sizes = (n_ranks - 1.0) / n_ranks};
    return true;
}

static bool build(CcsSchedule *schedule, GError **error)
{
    (void)error;
    ccs_schedule_add_rounds(schedule, CCS_PEER_SHIFT, false);
    return true;
}

const CcsAlgorithm ccs_alltoall_pairwise_eager = {
    .collective = CCS_ALLTOALL,
    .name = "pairwise_eager",
    .summary = "rounds by shift, without a wait for what is received",
    .idea = "Every rank sends its blocks one after the other, to rank + 1, rank + 2 and so on. "
            "It never waits for what the others send to it.",
    .when = "On one switch, where all ranks keep step; on a cluster ranks drift into incast.",
    .formula = "a + (n-1) o + (n-1)/n S/B",
    .assumption = "All ranks start together and keep step, as on one switch.",
    .terms = terms,
    .build = build,
};
