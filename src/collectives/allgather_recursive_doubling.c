/* allgather_recursive_doubling.c - partners exchange all blocks they have, nearer ones each round
 *
 * The number of blocks doubles each round. The far partner comes first, with one block, so
 * that the large messages stay inside nodes. With four ranks, blocks in brackets:
 *
 *     0 [0] <-> [2] 2, 1 [1] <-> [3] 3;   0 [0 2] <-> [1 3] 1, 2 [0 2] <-> [1 3] 3
 *
 * Other numbers of ranks than 2^h: see doubling.h; chunk 2^h + p is the block of the rank
 * folded at position p, so it travels with chunk p. */
#include "collectives/algorithm.h"
#include "collectives/doubling.h"
#include "collectives/order.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    uint32_t n_bits = ccs_doubling_bits(n_ranks);

    (void)n_chunks;
    if (1U << n_bits != n_ranks)
        return false;
    *ret_terms =
        (CcsTerms){.latencies = n_bits, .costs = n_bits, .sizes = (n_ranks - 1.0) / n_ranks};
    return true;
}

static void fold_blocks(CcsDoubling *doubling)
{
    for (uint32_t chunk = doubling->n_positions; chunk < doubling->n_ranks; chunk++) {
        uint32_t position = chunk - doubling->n_positions;
        ccs_doubling_send(doubling, ccs_doubling_folded(doubling, position),
                          ccs_doubling_rank(doubling, position),
                          (CcsBox){.buffer = CCS_BUFFER_OUTPUT, .base = chunk}, false);
    }
    ccs_rounds_end(&doubling->rounds);
}

/* All blocks but the own one, counted round from behind it. */
static void unfold_blocks(CcsDoubling *doubling)
{
    uint32_t n = doubling->n_ranks;

    for (uint32_t chunk = doubling->n_positions; chunk < n; chunk++) {
        uint32_t position = chunk - doubling->n_positions;
        ccs_doubling_send(doubling, ccs_doubling_rank(doubling, position),
                          ccs_doubling_folded(doubling, position),
                          (CcsBox){.buffer = CCS_BUFFER_OUTPUT,
                                   .base = (chunk + 1) % n,
                                   .n1 = n - 1,
                                   .stride1 = 1,
                                   .wrap = n},
                          false);
    }
    ccs_rounds_end(&doubling->rounds);
}

static const CcsDoublingPart parts[] = {
    {"fold", fold_blocks},
    {"recursive doubling", ccs_doubling_double},
    {"unfold", unfold_blocks},
};

static bool build(CcsSchedule *schedule, GError **error)
{
    (void)error;
    ccs_schedule_set_n_chunks(schedule, ccs_schedule_n_ranks(schedule));
    ccs_doubling_build(schedule, ccs_ring_order, true, parts, G_N_ELEMENTS(parts));
    return true;
}

const CcsAlgorithm ccs_allgather_recursive_doubling = {
    .collective = CCS_ALLGATHER,
    .name = "recursive_doubling",
    .summary = "partners exchange all blocks they have, in log2 n rounds",
    .idea = "In each round every rank exchanges all blocks it has with one partner, so that their "
            "number doubles. The far partner comes first, with one block; the near one last, with "
            "half of all.",
    .when = "For small and middle blocks where n is a power of two: log2 n messages.",
    .formula = "log2 n (a + o) + (n-1)/n S/B",
    .assumption = "n is a power of two (Thakur et al. 2005). Else the ranks beyond it are folded, "
                  "which takes two messages more, the last of them with n - 1 blocks.",
    .terms = terms,
    .holds_for = "an n that is a power of two",
    .build = build,
};
