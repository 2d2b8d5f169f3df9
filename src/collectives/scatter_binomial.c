/* scatter_binomial.c - the root hands half of the blocks to one rank, and both go on so
 *
 * The blocks of a whole subtree travel in one message, and are cut apart further down; see
 * binomial.h. Few messages, but half of the data passes through ranks that it is not for. */
#include "collectives/algorithm.h"
#include "collectives/binomial.h"
#include "collectives/order.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_chunks;
    *ret_terms = (CcsTerms){.latencies = ccs_binomial_hops(n_ranks),
                            .costs = ccs_binomial_rounds(n_ranks),
                            .sizes = (n_ranks - 1.0) / n_ranks};
    return true;
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    uint32_t phase = ccs_schedule_add_phase(schedule, "scatter");
    g_autofree CcsLaneId *inbound = g_new(CcsLaneId, n);
    g_autofree CcsLaneId *last = g_new(CcsLaneId, n);

    (void)error;
    ccs_schedule_set_n_chunks(schedule, n);
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        g_autofree CcsRank *order = ccs_chain_order(schedule, channel);
        ccs_schedule_set_owners(schedule, channel, order);
        ccs_schedule_add_scatter(schedule, channel, phase, order, CCS_BUFFER_OUTPUT, inbound, last);
    }
    return true;
}

const CcsAlgorithm ccs_scatter_binomial = {
    .collective = CCS_SCATTER,
    .name = "binomial",
    .summary = "half of the blocks go to one rank, which does the same with them",
    .idea = "The root sends half of all blocks to one rank in one message, then a quarter to "
            "another, and so on; each of them hands its share on in the same way. After log2 n "
            "rounds every rank has its block.",
    .when = "For small blocks: the root sends log2 n messages in place of n - 1.",
    .formula = "floor(log2 n) a + ceil(log2 n) o + (n-1)/n S/B",
    .assumption = "A rank sends one message after the other; the rank reached last is fewer hops "
                  "away where n is no power of two (Thakur et al. 2005, with h a for both).",
    .terms = terms,
    .build = build,
};
