/* allreduce_chain.c - chunks go to one end of a chain being summed, and back again
 *
 * The tree in which everyone has one child. Both directions of a link carry the buffer once,
 * so a chain suits ranks that stand in a line; but a rank in the middle sends it twice. */
#include "collectives/algorithm.h"
#include "collectives/order.h"
#include "collectives/tree.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    double n_hops = n_ranks - 1.0;

    if (n_chunks > 1 && n_ranks > 2) /* up and down share ports */
        return false;
    *ret_terms = (CcsTerms){.latencies = 2 * n_hops,
                            .costs = 2 * n_hops + n_chunks - 1,
                            .sizes = (2 * n_hops + n_chunks - 1) / n_chunks,
                            .reductions = n_hops / n_chunks};
    return true;
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    uint32_t up = ccs_schedule_add_phase(schedule, "reduce up the chain");
    uint32_t down = ccs_schedule_add_phase(schedule, "broadcast down the chain");
    g_autofree CcsRank *parents = g_new(CcsRank, n);

    (void)error;
    ccs_schedule_set_n_chunks(schedule, ccs_schedule_pipeline(schedule));
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        g_autofree CcsRank *order = ccs_ring_order(schedule, channel);
        parents[order[0]] = CCS_NO_RANK;
        for (uint32_t i = 1; i < n; i++)
            parents[order[i]] = order[i - 1];
        ccs_schedule_add_tree(schedule, &(CcsTree){.parents = parents,
                                                   .channel = channel,
                                                   .up = up,
                                                   .down = down,
                                                   .n_chunks = ccs_schedule_pipeline(schedule)});
    }
    return true;
}

const CcsAlgorithm ccs_allreduce_chain = {
    .collective = CCS_ALLREDUCE,
    .name = "chain",
    .summary = "pipelined to one end of a chain and back",
    .idea = "All ranks stand in one chain. Chunks go to its first rank, and everyone adds its "
            "own on the way; finished chunks go back the same way.",
    .when = "For few ranks that stand in a line; elsewhere a ring moves less through each port.",
    .formula = "2(n-1) a + (2(n-1)+K-1) (o + S/(K B)) + (n-1) S/(K G)",
    .assumption = "One chunk, or two ranks: else chunks on their way up and down share ports, "
                  "and many of them tend to 2 S/B. Reducing takes no longer than sending.",
    .terms = terms,
    .holds_for = "K = 1 (--chunks 1), or for n = 2",
    .adds_in_passing = true,
    .is_pipelined = true,
    .build = build,
};
