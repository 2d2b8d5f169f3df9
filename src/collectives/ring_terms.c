#include "collectives/ring_terms.h"

static CcsTerms terms_of(double n_steps, double n_reducing, uint32_t n_ranks)
{
    return (CcsTerms){.latencies = n_steps,
                      .costs = n_steps,
                      .sizes = n_steps / n_ranks,
                      .reductions = n_reducing / n_ranks};
}

bool ccs_ring_terms_copying(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_chunks;
    *ret_terms = terms_of(n_ranks - 1.0, 0, n_ranks);
    return true;
}

bool ccs_ring_terms_adding(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_chunks;
    *ret_terms = terms_of(n_ranks - 1.0, n_ranks - 1.0, n_ranks);
    return true;
}

bool ccs_ring_terms_both(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_chunks;
    *ret_terms = terms_of(2 * (n_ranks - 1.0), n_ranks - 1.0, n_ranks);
    return true;
}
