/* allreduce_recursive_doubling.c - partners exchange all they have, farther ones each round
 *
 * After round i, groups of 2^(i+1) ranks have the same sum. With four ranks:
 *
 *     0 <-> 1, 2 <-> 3;   0 <-> 2, 1 <-> 3
 *
 * What a rank sends must not change before it has left, so it is copied aside first. Other
 * numbers of ranks than 2^h: see doubling.h. */
#include "collectives/algorithm.h"
#include "collectives/doubling.h"
#include "collectives/order.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    uint32_t n_bits = ccs_doubling_bits(n_ranks);
    double n_folds = n_ranks >> n_bits << n_bits == n_ranks ? 0 : 1;

    (void)n_chunks;
    *ret_terms = (CcsTerms){.latencies = n_bits + 2 * n_folds,
                            .costs = n_bits + 2 * n_folds,
                            .sizes = n_bits + 2 * n_folds,
                            .reductions = n_bits + n_folds};
    return true;
}

static void copy_aside(CcsDoubling *doubling, uint32_t position)
{
    CcsRank rank = ccs_doubling_rank(doubling, position);

    ccs_rounds_send(&doubling->rounds, &(CcsLane){.source = rank,
                                                  .peer = rank,
                                                  .from = {.buffer = CCS_BUFFER_OUTPUT},
                                                  .to = {.buffer = CCS_BUFFER_SCRATCH}});
}

static void exchange(CcsDoubling *doubling, uint32_t position, uint32_t bit)
{
    CcsLane lane = {.source = ccs_doubling_rank(doubling, position),
                    .peer = ccs_doubling_rank(doubling, position ^ bit),
                    .n_reduced = 1,
                    .from = {.buffer = CCS_BUFFER_SCRATCH},
                    .to = {.buffer = CCS_BUFFER_OUTPUT}};

    ccs_rounds_send(&doubling->rounds, &lane);
}

static void double_all(CcsDoubling *doubling)
{
    for (uint32_t bit = 1; bit < doubling->n_positions; bit *= 2) {
        for (uint32_t position = 0; position < doubling->n_positions; position++)
            copy_aside(doubling, position);
        ccs_rounds_end(&doubling->rounds);
        for (uint32_t position = 0; position < doubling->n_positions; position++)
            exchange(doubling, position, bit);
        ccs_rounds_end(&doubling->rounds);
    }
}

static const CcsDoublingPart parts[] = {
    {"fold", ccs_doubling_fold},
    {"recursive doubling", double_all},
    {"unfold", ccs_doubling_unfold},
};

static bool build(CcsSchedule *schedule, GError **error)
{
    (void)error;
    ccs_doubling_build(schedule, ccs_ring_order, false, parts, G_N_ELEMENTS(parts));
    return true;
}

const CcsAlgorithm ccs_allreduce_recursive_doubling = {
    .collective = CCS_ALLREDUCE,
    .name = "recursive_doubling",
    .summary = "partners exchange all they have, in log2 n rounds",
    .idea = "In each round every rank exchanges its whole sum with a partner twice as far away, "
            "and both add. After log2 n rounds everyone has added everything.",
    .when = "For small buffers: the fewest messages one after the other, if each has one partner.",
    .formula = "h (a + o + S/B + S/G) + f (2 a + 2 o + 2 S/B + S/G), with h = floor(log2 n), and "
               "f = 0 for n = 2^h, else 1",
    .assumption = "A message waits until its receiver is ready for it (Thakur et al. 2005, with "
                  "the fold of Rabenseifner 2004).",
    .terms = terms,
    .build = build,
};
