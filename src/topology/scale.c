#include "topology/scale.h"

CcsRate ccs_rate_scale(CcsRate rate, int64_t change)
{
    CcsWork part = (CcsWork)(change < 0 ? -change : change);
    CcsWork by = ((CcsWork)rate * part + (CcsWork)CCS_SCALE_ONE / 2) / (CcsWork)CCS_SCALE_ONE;

    if (rate >= CCS_RATE_UNLIMITED || change == 0)
        return rate;
    CcsRate step = MAX((CcsRate)by, 1);
    if (change < 0)
        return step < rate ? rate - step : 1;
    return MIN(rate + step, CCS_RATE_UNLIMITED - 1);
}

static void copy_vertices(CcsTopology *copy, const CcsTopology *topology)
{
    for (CcsVertexId id = 0; id < ccs_topology_n_vertices(topology); id++) {
        const CcsVertex *vertex = ccs_topology_vertex(topology, id);
        ccs_topology_add_vertex(copy, vertex->kind, vertex->name, vertex->node);
        if (vertex->start_delay > 0)
            ccs_topology_delay_start(copy, id, vertex->start_delay);
    }
}

CcsTopology *ccs_topology_scale(const CcsTopology *topology, int64_t change)
{
    CcsTopology *copy =
        ccs_topology_new(ccs_topology_name(topology), ccs_topology_source(topology));

    copy_vertices(copy, topology);
    for (CcsLinkId id = 0; id < ccs_topology_n_links(topology); id++) {
        const CcsLink *link = ccs_topology_link(topology, id);
        ccs_topology_add_link(copy, link->from, link->to, link->alpha,
                              ccs_rate_scale(link->bandwidth, change),
                              ccs_topology_class_name(topology, link->link_class));
    }
    ccs_topology_set_routing(copy, ccs_topology_routing(topology));
    ccs_topology_seal(copy);
    return copy;
}
