#include "sim/chains.h"

#include <string.h>

struct CcsChains {
    uint32_t n_classes;
    uint32_t width;  /* times in a chain */
    GArray *times;   /* of CcsTime, width for each chain */
    GArray *dropped; /* of CcsChainId: to be used again */
};

CcsChains *ccs_chains_new(uint32_t n_classes)
{
    CcsChains *chains = g_new0(CcsChains, 1);

    chains->n_classes = n_classes;
    chains->width = n_classes * CCS_N_CAUSES;
    chains->times = g_array_new(false, false, sizeof(CcsTime));
    chains->dropped = g_array_new(false, false, sizeof(CcsChainId));
    return chains;
}

void ccs_chains_free(CcsChains *chains)
{
    if (chains == NULL)
        return;
    g_array_unref(chains->times);
    g_array_unref(chains->dropped);
    g_free(chains);
}

void ccs_chains_clear(CcsChains *chains)
{
    g_array_set_size(chains->times, 0);
    g_array_set_size(chains->dropped, 0);
}

static CcsTime *times_of(const CcsChains *chains, CcsChainId chain)
{
    return &g_array_index(chains->times, CcsTime, (size_t)chain * chains->width);
}

static CcsChainId take(CcsChains *chains)
{
    guint n_dropped = chains->dropped->len;

    if (n_dropped > 0) {
        CcsChainId chain = g_array_index(chains->dropped, CcsChainId, n_dropped - 1);
        g_array_set_size(chains->dropped, n_dropped - 1);
        return chain;
    }
    CcsChainId chain = chains->times->len / chains->width;
    g_array_set_size(chains->times, chains->times->len + chains->width);
    return chain;
}

CcsChainId ccs_chains_add(CcsChains *chains)
{
    CcsChainId chain = take(chains);
    memset(times_of(chains, chain), 0, chains->width * sizeof(CcsTime));
    return chain;
}

CcsChainId ccs_chains_copy(CcsChains *chains, CcsChainId chain)
{
    CcsChainId copy = take(chains);
    ccs_chains_assign(chains, copy, chain);
    return copy;
}

void ccs_chains_assign(CcsChains *chains, CcsChainId to, CcsChainId from)
{
    if (to != from)
        memcpy(times_of(chains, to), times_of(chains, from), chains->width * sizeof(CcsTime));
}

void ccs_chains_drop(CcsChains *chains, CcsChainId chain)
{
    g_array_append_val(chains->dropped, chain);
}

void ccs_chains_spend(CcsChains *chains, CcsChainId chain, CcsCause cause, uint32_t link_class,
                      CcsTime time)
{
    times_of(chains, chain)[(uint32_t)cause * chains->n_classes + link_class] += time;
}

const CcsTime *ccs_chains_get(const CcsChains *chains, CcsChainId chain)
{
    return times_of(chains, chain);
}

CcsTime ccs_chains_total(const CcsChains *chains, CcsChainId chain)
{
    const CcsTime *times = times_of(chains, chain);
    CcsTime total = 0;

    for (uint32_t i = 0; i < chains->width; i++)
        total += times[i];
    return total;
}
