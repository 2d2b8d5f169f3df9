/* allgather_pat.c - every block goes down a binomial tree of its own, all trees in step */
#include "collectives/binomial.h"
#include "collectives/pat.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    uint32_t n_rounds = ccs_binomial_rounds(n_ranks);

    (void)n_chunks;
    *ret_terms =
        (CcsTerms){.latencies = n_rounds, .costs = n_rounds, .sizes = (n_ranks - 1.0) / n_ranks};
    return true;
}

static bool build(CcsSchedule *schedule, GError **error)
{
    (void)error;
    ccs_schedule_add_phase(schedule, "all-gather");
    ccs_schedule_add_pat(schedule, false);
    return true;
}

const CcsAlgorithm ccs_allgather_pat = {
    .collective = CCS_ALLGATHER,
    .name = "pat",
    .summary = "every block down a binomial tree of its own, all trees in step",
    .idea = "The block of each rank is spread by a binomial tree that begins there. All trees go "
            "in step, so that what a rank sends in one round travels as one message: far ones "
            "with one block first, near ones with half of all last.",
    .when = "For small and middle blocks on many nodes, any number of them, with one rank each.",
    .formula = "ceil(log2 n) (a + o) + (n-1)/n S/B",
    .assumption = "Staging buffers hold all blocks of a message; where they do not, NCCL sends the "
                  "near messages in pieces (arXiv 2506.20252). All blocks are equal.",
    .terms = terms,
    .build = build,
};
