#include "topology/generate.h"

typedef struct {
    CcsTopology *topology;
    CcsConfig *config;
    uint32_t index;  /* of the fault in the list */
    bool has_effect; /* it has changed something */
} Striker;

/* The vertex that key @key of the fault names; CCS_NO_VERTEX with an error if there is none. */
static CcsVertexId find_vertex(const Striker *striker, const char *key, const char *name)
{
    CcsVertexId id = ccs_topology_find_vertex(striker->topology, name);

    if (id == CCS_NO_VERTEX) {
        g_autofree char *path = g_strdup_printf("faults[%u].%s", striker->index, key);
        g_autofree char *hint = ccs_generate_suggest(striker->topology, name);
        ccs_config_error_at(striker->config, path, "there is no vertex '%s'%s", name, hint);
    }
    return id;
}

static uint64_t scale(uint64_t value, uint64_t millionths)
{
    return (uint64_t)((CcsWork)value * millionths / CCS_DECIMAL_ONE);
}

/* Returns: false if the link then would be too fast or too slow. */
static bool strike_link(Striker *striker, const CcsFaultSpec *fault, CcsLinkId id)
{
    const CcsLink *link = ccs_topology_link(striker->topology, id);
    bool is_limited = link->bandwidth < CCS_RATE_UNLIMITED;
    CcsRate bandwidth =
        is_limited ? scale(link->bandwidth, fault->bandwidth_factor) : link->bandwidth;
    uint64_t alpha = scale((uint64_t)link->alpha, fault->latency_factor);

    if (bandwidth == 0 || (is_limited && bandwidth > CCS_RATE_MAX) ||
        alpha > (uint64_t)CCS_PS_PER_S * 1000000U) {
        g_autofree char *path = g_strdup_printf("faults[%u]", striker->index);
        ccs_config_error_at(striker->config, path,
                            "the link would be too fast or too slow to be"
                            " told");
        return false;
    }
    striker->has_effect =
        striker->has_effect || bandwidth != link->bandwidth || alpha != (uint64_t)link->alpha;
    ccs_topology_change_link(striker->topology, id, (CcsTime)alpha, bandwidth);
    return true;
}

static void strike_links(Striker *striker, const CcsFaultSpec *fault)
{
    CcsVertexId from = find_vertex(striker, "from", fault->from);
    CcsVertexId to = find_vertex(striker, "to", fault->to);
    uint32_t n_struck = 0;

    if (from == CCS_NO_VERTEX || to == CCS_NO_VERTEX)
        return;
    for (CcsLinkId id = 0; id < ccs_topology_n_links(striker->topology); id++) {
        const CcsLink *link = ccs_topology_link(striker->topology, id);
        bool is_there = link->from == from && link->to == to;
        bool is_back = link->from == to && link->to == from && fault->is_both_ways;
        if (!is_there && !is_back)
            continue;
        n_struck++;
        if (!strike_link(striker, fault, id))
            return;
    }
    g_autofree char *path = g_strdup_printf("faults[%u]", striker->index);
    if (n_struck == 0)
        ccs_config_error_at(striker->config, path, "no link leads from '%s' to '%s'", fault->from,
                            fault->to);
    else if (!striker->has_effect)
        ccs_config_error_at(striker->config, path,
                            "the fault has no effect: the link is as it was before");
}

static void delay_gpu(const Striker *striker, const CcsFaultSpec *fault)
{
    CcsVertexId gpu = find_vertex(striker, "gpu", fault->gpu);

    if (gpu == CCS_NO_VERTEX)
        return;
    if (fault->delay == 0) {
        g_autofree char *delay = g_strdup_printf("faults[%u].delay", striker->index);
        ccs_config_error_at(striker->config, delay, "the fault has no effect: the GPU is in time");
        return;
    }
    if (ccs_topology_vertex(striker->topology, gpu)->kind == CCS_VERTEX_GPU) {
        ccs_topology_delay_start(striker->topology, gpu, fault->delay);
        return;
    }
    g_autofree char *path = g_strdup_printf("faults[%u].gpu", striker->index);
    ccs_config_error_at(striker->config, path, "'%s' is no GPU", fault->gpu);
}

void ccs_generate_faults(CcsTopology *topology, const CcsTopologySpec *spec, CcsConfig *config)
{
    const CcsFaultSpec *faults = spec->faults.items;
    Striker striker = {.topology = topology, .config = config};

    for (; striker.index < spec->faults.n_items && !ccs_config_is_full(config); striker.index++) {
        striker.has_effect = false;
        if (faults[striker.index].kind == CCS_FAULT_LINK)
            strike_links(&striker, &faults[striker.index]);
        else
            delay_gpu(&striker, &faults[striker.index]);
    }
}
