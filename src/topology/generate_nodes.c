#include "topology/generate.h"

typedef struct {
    CcsTopology *topology;
    const CcsNodeSpec *spec;
    CcsNodeId node;
} NodeBuilder;

void ccs_generate_both_ways(CcsTopology *topology, const CcsLink *link, const char *link_class)
{
    ccs_topology_add_link(topology, link->from, link->to, link->alpha, link->bandwidth, link_class);
    ccs_topology_add_link(topology, link->to, link->from, link->alpha, link->bandwidth, link_class);
}

CcsVertexId ccs_generate_find(const CcsTopology *topology, CcsNodeId node, const char *part,
                              uint32_t index)
{
    char name[64];

    g_snprintf(name, sizeof name, "n%u.%s%u", node, part, index);
    return ccs_topology_find_vertex(topology, name);
}

static void add_vertices(const NodeBuilder *builder, CcsVertexKind kind, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        char name[64];
        g_snprintf(name, sizeof name, "n%u.%s%u", builder->node, ccs_vertex_kind_name(kind), i);
        ccs_topology_add_vertex(builder->topology, kind, name, builder->node);
    }
}

/* A message crosses two links, so each has half of the latency. */
static void join_by_switch(const NodeBuilder *builder, CcsVertexId first_gpu)
{
    const CcsNvlinkSpec *nvlink = builder->spec->nvlink;
    CcsTopology *topology = builder->topology;
    CcsTime up = nvlink->latency / 2;
    char name[64];

    g_snprintf(name, sizeof name, "n%u.nvswitch", builder->node);
    CcsVertexId nvswitch =
        ccs_topology_add_vertex(topology, CCS_VERTEX_NVSWITCH, name, builder->node);
    for (uint32_t i = 0; i < builder->spec->n_gpus; i++) {
        CcsVertexId gpu = first_gpu + i;
        ccs_topology_add_link(topology, gpu, nvswitch, up, nvlink->bandwidth, "nvlink");
        ccs_topology_add_link(topology, nvswitch, gpu, nvlink->latency - up, nvlink->bandwidth,
                              "nvlink");
    }
}

static void join_as_mesh(const NodeBuilder *builder, CcsVertexId first_gpu)
{
    const CcsNvlinkSpec *nvlink = builder->spec->nvlink;
    CcsVertexId end = first_gpu + builder->spec->n_gpus;

    for (CcsVertexId from = first_gpu; from < end; from++) {
        for (CcsVertexId to = from + 1; to < end; to++) {
            CcsLink link = {
                .from = from, .to = to, .alpha = nvlink->latency, .bandwidth = nvlink->bandwidth};
            ccs_generate_both_ways(builder->topology, &link, "nvlink");
        }
    }
}

static void join_gpus(const NodeBuilder *builder, CcsVertexId first_gpu)
{
    if (builder->spec->nvlink == NULL)
        return;
    switch (builder->spec->nvlink->kind) {
    case CCS_NVLINK_NONE:
        return;
    case CCS_NVLINK_SWITCH:
        join_by_switch(builder, first_gpu);
        return;
    case CCS_NVLINK_MESH:
        join_as_mesh(builder, first_gpu);
        return;
    }
}

static void serve(const NodeBuilder *builder, CcsVertexId gpu, CcsVertexId nic)
{
    const CcsPcieSpec *pcie = builder->spec->pcie;
    CcsLink link = {.from = gpu,
                    .to = nic,
                    .alpha = pcie == NULL ? 0 : pcie->latency,
                    .bandwidth = pcie == NULL ? CCS_RATE_UNLIMITED : pcie->bandwidth};

    ccs_generate_both_ways(builder->topology, &link, "pcie");
}

static void serve_gpus(const NodeBuilder *builder, CcsVertexId first_gpu, CcsVertexId first_nic,
                       uint32_t nic)
{
    const CcsList *lists = builder->spec->nics->gpus.items;
    uint32_t first = 0;
    uint32_t n = 0;

    if (builder->spec->nics->gpus.n_items > 0) {
        const uint32_t *gpus = lists[nic].items;
        for (uint32_t i = 0; i < lists[nic].n_items; i++)
            serve(builder, first_gpu + gpus[i], first_nic + nic);
        return;
    }
    ccs_spec_nic_gpus(builder->spec, nic, &first, &n);
    for (uint32_t i = 0; i < n; i++)
        serve(builder, first_gpu + first + i, first_nic + nic);
}

static void add_node(const NodeBuilder *builder)
{
    uint32_t n_nics = ccs_spec_n_nics(builder->spec);
    CcsVertexId first_gpu = ccs_topology_n_vertices(builder->topology);

    add_vertices(builder, CCS_VERTEX_GPU, builder->spec->n_gpus);
    join_gpus(builder, first_gpu);
    CcsVertexId first_nic = ccs_topology_n_vertices(builder->topology);
    add_vertices(builder, CCS_VERTEX_NIC, n_nics);
    for (uint32_t nic = 0; nic < n_nics; nic++)
        serve_gpus(builder, first_gpu, first_nic, nic);
}

void ccs_generate_nodes(CcsTopology *topology, const CcsTopologySpec *spec)
{
    for (uint32_t node = 0; node < ccs_spec_n_nodes(spec); node++) {
        NodeBuilder builder = {topology, ccs_spec_node(spec, node), node};
        add_node(&builder);
    }
}
