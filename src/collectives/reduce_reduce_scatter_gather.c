/* reduce_reduce_scatter_gather.c - recursive halving finishes the chunks, a gather collects them
 *
 * Rabenseifner's algorithm for one root, which is position 0. The gather goes back the way the
 * halving came, the far partner first: in the round of bit b the positions b ... 2 b - 1 send
 * all they have, and are done. Other numbers of ranks than 2^h: see doubling.h. */
#include "collectives/algorithm.h"
#include "collectives/doubling.h"
#include "collectives/order.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    uint32_t n_bits = ccs_doubling_bits(n_ranks);
    double n_positions = 1U << n_bits;
    double n_folds = n_positions < n_ranks ? 1 : 0;

    (void)n_chunks;
    *ret_terms = (CcsTerms){.latencies = 2 * n_bits + n_folds,
                            .costs = 2 * n_bits + n_folds,
                            .sizes = 2 * (n_positions - 1) / n_positions + n_folds,
                            .reductions = (n_positions - 1) / n_positions + n_folds};
    return true;
}

static void gather(CcsDoubling *doubling)
{
    for (uint32_t bit = doubling->n_positions / 2; bit > 0; bit /= 2) {
        for (uint32_t position = bit; position < 2 * bit; position++)
            ccs_doubling_send(doubling, ccs_doubling_rank(doubling, position),
                              ccs_doubling_rank(doubling, position ^ bit),
                              ccs_doubling_box(doubling, position, 2 * bit), false);
        ccs_rounds_end(&doubling->rounds);
    }
}

static const CcsDoublingPart parts[] = {
    {"fold", ccs_doubling_fold},
    {"recursive halving", ccs_doubling_halve},
    {"gather", gather},
};

static bool build(CcsSchedule *schedule, GError **error)
{
    (void)error;
    ccs_schedule_set_n_chunks(schedule, 1U << ccs_doubling_bits(ccs_schedule_n_ranks(schedule)));
    ccs_doubling_build(schedule, ccs_chain_order, false, parts, G_N_ELEMENTS(parts));
    return true;
}

const CcsAlgorithm ccs_reduce_reduce_scatter_gather = {
    .collective = CCS_REDUCE,
    .name = "reduce_scatter_gather",
    .summary = "reduce-scatter by recursive halving, then a binomial gather",
    .idea = "Partners split what they have to sum between them, in halves, quarters and so on, "
            "until each rank has finished one n-th. Then these parts are gathered at the root.",
    .when = "For middle and large buffers that cannot be pipelined.",
    .formula = "(2 h + f) (a + o) + (2 (p-1)/p + f) S/B + ((p-1)/p + f) S/G, with "
               "h = floor(log2 n), p = 2^h, and f = 0 for n = p, else 1",
    .assumption = "A message waits until its receiver is ready for it; all chunks are equal "
                  "(Rabenseifner 2004).",
    .terms = terms,
    .build = build,
};
