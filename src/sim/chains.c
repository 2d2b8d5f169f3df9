#include "sim/chains.h"

#include <string.h>

#define LEAST_SPACE 64U

/* A chain has one time for each cause, but one for each link class where the cause is one of
 * the links. */
struct CcsChains {
    uint32_t n_classes;
    uint32_t first[CCS_N_CAUSES]; /* where the times of a cause begin */
    uint32_t width;               /* times in a chain */
    CcsTime *times;               /* width for each chain */
    uint32_t *n_holders;          /* of each chain; of a dropped one: the one dropped before */
    uint32_t n;
    uint32_t n_max;
    CcsChainId dropped; /* to be used again; CCS_NO_CHAIN if there is none */
};

static bool has_classes(CcsCause cause)
{
    return cause == CCS_CAUSE_BANDWIDTH || cause == CCS_CAUSE_LATENCY;
}

CcsChains *ccs_chains_new(uint32_t n_classes)
{
    CcsChains *chains = g_new0(CcsChains, 1);

    chains->n_classes = n_classes;
    for (uint32_t cause = 0; cause < CCS_N_CAUSES; cause++) {
        chains->first[cause] = chains->width;
        chains->width += has_classes((CcsCause)cause) ? n_classes : 1;
    }
    chains->dropped = CCS_NO_CHAIN;
    return chains;
}

void ccs_chains_free(CcsChains *chains)
{
    if (chains == NULL)
        return;
    g_free(chains->times);
    g_free(chains->n_holders);
    g_free(chains);
}

void ccs_chains_clear(CcsChains *chains)
{
    chains->n = 0;
    chains->dropped = CCS_NO_CHAIN;
}

static CcsTime *times_of(const CcsChains *chains, CcsChainId chain)
{
    return &chains->times[(size_t)chain * chains->width];
}

/* A chain with one holder; its times are anything. */
static CcsChainId take(CcsChains *chains)
{
    CcsChainId chain = chains->dropped;

    if (chain != CCS_NO_CHAIN) {
        chains->dropped = chains->n_holders[chain];
        chains->n_holders[chain] = 1;
        return chain;
    }
    if (chains->n == chains->n_max) {
        chains->n_max = MAX(LEAST_SPACE, chains->n_max * 2);
        chains->times = g_renew(CcsTime, chains->times, (size_t)chains->n_max * chains->width);
        chains->n_holders = g_renew(uint32_t, chains->n_holders, chains->n_max);
    }
    chains->n_holders[chains->n] = 1;
    return chains->n++;
}

CcsChainId ccs_chains_add(CcsChains *chains)
{
    CcsChainId chain = take(chains);
    memset(times_of(chains, chain), 0, chains->width * sizeof(CcsTime));
    return chain;
}

CcsChainId ccs_chains_share(CcsChains *chains, CcsChainId chain)
{
    chains->n_holders[chain]++;
    return chain;
}

CcsChainId ccs_chains_copy(CcsChains *chains, CcsChainId chain)
{
    CcsChainId copy = take(chains);
    memcpy(times_of(chains, copy), times_of(chains, chain), chains->width * sizeof(CcsTime));
    return copy;
}

void ccs_chains_drop(CcsChains *chains, CcsChainId chain)
{
    if (--chains->n_holders[chain] > 0)
        return;
    chains->n_holders[chain] = chains->dropped;
    chains->dropped = chain;
}

CcsChainId ccs_chains_own(CcsChains *chains, CcsChainId chain)
{
    if (chains->n_holders[chain] == 1)
        return chain;
    chains->n_holders[chain]--;
    return ccs_chains_copy(chains, chain);
}

void ccs_chains_spend(CcsChains *chains, CcsChainId chain, CcsCause cause, uint32_t link_class,
                      CcsTime time)
{
    times_of(chains, chain)[chains->first[cause] + link_class] += time;
}

void ccs_chains_read(const CcsChains *chains, CcsChainId chain, CcsTime *ret_times)
{
    const CcsTime *times = times_of(chains, chain);

    memset(ret_times, 0, sizeof(CcsTime) * CCS_N_CAUSES * chains->n_classes);
    for (uint32_t cause = 0; cause < CCS_N_CAUSES; cause++) {
        uint32_t n = has_classes((CcsCause)cause) ? chains->n_classes : 1;
        memcpy(&ret_times[cause * chains->n_classes], &times[chains->first[cause]],
               sizeof(CcsTime) * n);
    }
}

CcsTime ccs_chains_total(const CcsChains *chains, CcsChainId chain)
{
    const CcsTime *times = times_of(chains, chain);
    CcsTime total = 0;

    for (uint32_t i = 0; i < chains->width; i++)
        total += times[i];
    return total;
}
