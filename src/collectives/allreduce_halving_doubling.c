/* allreduce_halving_doubling.c - a reduce-scatter by halving, then an all-gather by doubling
 *
 * Rabenseifner's algorithm. In round i of the first half a rank gives its partner in bit i
 * the half of its sums that the partner is to finish; the second half goes back the same way.
 * Near partners get the large messages, so that between nodes only S/g of each rank's buffer
 * is on its way. Other numbers of ranks than 2^h: see doubling.h. */
#include "collectives/algorithm.h"
#include "collectives/doubling.h"
#include "collectives/order.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    uint32_t n_bits = ccs_doubling_bits(n_ranks);
    double n_positions = 1U << n_bits;
    double n_folds = n_positions < n_ranks ? 1 : 0;

    (void)n_chunks;
    *ret_terms = (CcsTerms){.latencies = 2 * (n_bits + n_folds),
                            .costs = 2 * (n_bits + n_folds),
                            .sizes = 2 * (n_positions - 1) / n_positions + 2 * n_folds,
                            .reductions = (n_positions - 1) / n_positions + n_folds};
    return true;
}

static const CcsDoublingPart parts[] = {
    {"fold", ccs_doubling_fold},
    {"recursive halving", ccs_doubling_halve},
    {"recursive doubling", ccs_doubling_double},
    {"unfold", ccs_doubling_unfold},
};

static bool build(CcsSchedule *schedule, GError **error)
{
    (void)error;
    ccs_schedule_set_n_chunks(schedule, 1U << ccs_doubling_bits(ccs_schedule_n_ranks(schedule)));
    ccs_doubling_build(schedule, ccs_ring_order, false, parts, G_N_ELEMENTS(parts));
    return true;
}

const CcsAlgorithm ccs_allreduce_halving_doubling = {
    .collective = CCS_ALLREDUCE,
    .name = "halving_doubling",
    .summary = "reduce-scatter by recursive halving, all-gather by recursive doubling",
    .idea = "Partners split what they have to sum between them, in halves, quarters and so on; "
            "after log2 n rounds each rank has finished one n-th. Then they double it back, the "
            "far partner first.",
    .when = "For middle and large buffers where n is a power of two: a ring's bytes in 2 log2 n "
            "messages.",
    .formula = "2 (h+f) (a + o) + (2 (p-1)/p + 2 f) S/B + ((p-1)/p + f) S/G, with "
               "h = floor(log2 n), p = 2^h, and f = 0 for n = p, else 1",
    .assumption = "A message waits until its receiver is ready for it; all chunks are equal "
                  "(Rabenseifner 2004).",
    .terms = terms,
    .build = build,
};
