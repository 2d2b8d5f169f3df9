/* reducescatter_pat.c - every block is summed up a binomial tree of its own, all trees in step */
#include "collectives/binomial.h"
#include "collectives/pat.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    uint32_t n_rounds = ccs_binomial_rounds(n_ranks);
    double others = (n_ranks - 1.0) / n_ranks;

    (void)n_chunks;
    *ret_terms =
        (CcsTerms){.latencies = n_rounds, .costs = n_rounds, .sizes = others, .reductions = others};
    return true;
}

static bool build(CcsSchedule *schedule, GError **error)
{
    (void)error;
    ccs_schedule_add_phase(schedule, "reduce-scatter");
    ccs_schedule_add_pat(schedule, true);
    return true;
}

const CcsAlgorithm ccs_reducescatter_pat = {
    .collective = CCS_REDUCESCATTER,
    .name = "pat",
    .summary = "every block up a binomial tree of its own, all trees in step",
    .idea = "The block of each rank is summed up a binomial tree that ends there. All trees go in "
            "step, so that what a rank sends in one round travels as one message: near ones with "
            "half of all blocks first, far ones with one block last.",
    .when = "For small and middle blocks on many nodes, any number of them, with one rank each.",
    .formula = "ceil(log2 n) (a + o) + (n-1)/n (S/B + S/G)",
    .assumption = "Staging buffers hold all blocks of a message; where they do not, NCCL sends the "
                  "near messages in pieces (arXiv 2506.20252). All blocks are equal.",
    .terms = terms,
    .build = build,
};
