/* reducescatter_recursive_halving.c - partners split what they have to sum, in log2 n rounds
 *
 * In each round a rank gives its partner the half of its blocks that ends on the partner's
 * side. The near partner comes first, with half of all, so that the small messages cross
 * between nodes. With four ranks, blocks in brackets:
 *
 *     0 -[1 3]-> 1, 0 <-[0 2]- 1, 2 -[1 3]-> 3, 2 <-[0 2]- 3;   0 -[2]-> 2, 0 <-[0]- 2, ...
 *
 * Other numbers of ranks than 2^h: see doubling.h; chunk 2^h + p is the block of the rank
 * folded at position p, so it travels with chunk p. */
#include "collectives/algorithm.h"
#include "collectives/doubling.h"
#include "collectives/order.h"

/* Position 0 always has the largest share to receive: every 2^(i+1)-th block, rounded up. */
static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    uint32_t n_bits = ccs_doubling_bits(n_ranks);
    bool is_folded = 1U << n_bits != n_ranks;
    uint32_t n_blocks = is_folded ? n_ranks : 0;

    (void)n_chunks;
    for (uint32_t i = 0; i < n_bits; i++)
        n_blocks += (n_ranks + (2U << i) - 1) / (2U << i);
    *ret_terms = (CcsTerms){.latencies = n_bits + (is_folded ? 2 : 0),
                            .costs = n_bits + (is_folded ? 2 : 0),
                            .sizes = (double)(n_blocks + (is_folded ? 1 : 0)) / n_ranks,
                            .reductions = (double)n_blocks / n_ranks};
    return true;
}

static void unfold_blocks(CcsDoubling *doubling)
{
    for (uint32_t chunk = doubling->n_positions; chunk < doubling->n_ranks; chunk++) {
        uint32_t position = chunk - doubling->n_positions;
        ccs_doubling_send(doubling, ccs_doubling_rank(doubling, position),
                          ccs_doubling_folded(doubling, position),
                          (CcsBox){.buffer = CCS_BUFFER_OUTPUT, .base = chunk}, false);
    }
    ccs_rounds_end(&doubling->rounds);
}

static const CcsDoublingPart parts[] = {
    {"fold", ccs_doubling_fold},
    {"recursive halving", ccs_doubling_halve},
    {"unfold", unfold_blocks},
};

static bool build(CcsSchedule *schedule, GError **error)
{
    (void)error;
    ccs_schedule_set_n_chunks(schedule, ccs_schedule_n_ranks(schedule));
    ccs_doubling_build(schedule, ccs_ring_order, true, parts, G_N_ELEMENTS(parts));
    return true;
}

const CcsAlgorithm ccs_reducescatter_recursive_halving = {
    .collective = CCS_REDUCESCATTER,
    .name = "recursive_halving",
    .summary = "partners split what they have to sum, in log2 n rounds",
    .idea = "In each round every rank gives one partner half of the blocks it still sums, and gets "
            "the other half from it. The near partner comes first, with half of all; the far one "
            "last, with one block.",
    .when = "For small and middle blocks where n is a power of two: log2 n messages.",
    .formula = "(h + 2 f) (a + o) + (c + f/n) S/B + c S/G, with h = floor(log2 n), f = 0 for "
               "n = 2^h, else 1, and c = f + (ceil(n/2) + ceil(n/4) + ... + ceil(n/2^h))/n",
    .assumption = "A message waits until its receiver is ready for it; all blocks are equal "
                  "(Thakur et al. 2005, with the fold of Rabenseifner 2004).",
    .terms = terms,
    .build = build,
};
