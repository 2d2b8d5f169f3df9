#include "sim/chains.h"

#include <string.h>

/* A chain has one time for each cause, but one for each link class where the cause is one of
 * the links. */
struct CcsChains {
    uint32_t n_classes;
    uint32_t first[CCS_N_CAUSES]; /* where the times of a cause begin */
    uint32_t width;               /* times in a chain */
    GArray *times;                /* of CcsTime, width for each chain */
    GArray *dropped;              /* of CcsChainId: to be used again */
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
