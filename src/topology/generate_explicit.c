#include "base/error.h"
#include "topology/generate.h"

/* Names beyond this many are not searched for one that is near. */
#define MAX_CANDIDATES 5000U

typedef struct {
    CcsTopology *topology;
    const CcsTopologySpec *spec;
    CcsConfig *config;
    uint32_t n_nodes; /* that have GPUs so far */
} Builder;

/* Nodes are numbered without gaps, and GPUs come node by node, so that ranks do. */
static bool check_gpu_node(Builder *builder, const CcsVertexSpec *vertex, const char *path)
{
    uint32_t n_nodes = builder->n_nodes;

    if (vertex->node == n_nodes || vertex->node + 1 == n_nodes) {
        builder->n_nodes = vertex->node + 1;
        return true;
    }
    g_autofree char *node = g_strdup_printf("%s.node", path);
    if (n_nodes == 0)
        ccs_config_error_at(builder->config, node, "the first GPU must be of node 0, not %u",
                            vertex->node);
    else
        ccs_config_error_at(builder->config, node,
                            "GPU '%s' is out of order: it must be of node %u or %u, not %u",
                            vertex->name, n_nodes - 1, n_nodes, vertex->node);
    return false;
}

static void add_vertex(Builder *builder, const CcsVertexSpec *vertex, uint32_t index)
{
    g_autofree char *path = g_strdup_printf("vertices[%u]", index);
    bool is_fabric = vertex->kind == CCS_VERTEX_SWITCH;

    if (ccs_topology_find_vertex(builder->topology, vertex->name) != CCS_NO_VERTEX) {
        g_autofree char *name = g_strdup_printf("%s.name", path);
        ccs_config_error_at(builder->config, name, "there is another vertex '%s'", vertex->name);
        return;
    }
    if (vertex->kind == CCS_VERTEX_GPU && !check_gpu_node(builder, vertex, path))
        return;
    ccs_topology_add_vertex(builder->topology, vertex->kind, vertex->name,
                            is_fabric ? CCS_NO_NODE : vertex->node);
}

static void add_vertices(Builder *builder)
{
    const CcsVertexSpec *vertices = builder->spec->vertices.items;
    uint32_t n_vertices = builder->spec->vertices.n_items;

    for (uint32_t i = 0; i < n_vertices && !ccs_config_is_full(builder->config); i++)
        add_vertex(builder, &vertices[i], i);
}

/* A NIC or switch may stand before the GPUs of its node, so this waits for all of them. */
static void check_nodes(const Builder *builder)
{
    const CcsVertexSpec *vertices = builder->spec->vertices.items;
    uint32_t n_vertices = builder->spec->vertices.n_items;

    for (uint32_t i = 0; i < n_vertices && !ccs_config_is_full(builder->config); i++) {
        CcsVertexKind kind = vertices[i].kind;
        bool has_node = kind != CCS_VERTEX_GPU && kind != CCS_VERTEX_SWITCH;
        if (!has_node || vertices[i].node < builder->n_nodes)
            continue;
        g_autofree char *path = g_strdup_printf("vertices[%u].node", i);
        ccs_config_error_at(builder->config, path, "node %u has no GPU", vertices[i].node);
    }
}

char *ccs_generate_suggest(const CcsTopology *topology, const char *name)
{
    uint32_t n = MIN(ccs_topology_n_vertices(topology), MAX_CANDIDATES);
    g_autofree const char **names = g_new0(const char *, (size_t)n + 1);

    for (CcsVertexId id = 0; id < n; id++)
        names[id] = ccs_topology_vertex(topology, id)->name;
    return ccs_did_you_mean(name, names);
}

/* The vertex at one end of link @index; CCS_NO_VERTEX with an error if there is none. */
static CcsVertexId find_end(const Builder *builder, const char *name, uint32_t index,
                            const char *end)
{
    CcsVertexId id = ccs_topology_find_vertex(builder->topology, name);

    if (id == CCS_NO_VERTEX) {
        g_autofree char *path = g_strdup_printf("links[%u].%s", index, end);
        g_autofree char *hint = ccs_generate_suggest(builder->topology, name);
        ccs_config_error_at(builder->config, path, "there is no vertex '%s'%s", name, hint);
    }
    return id;
}

static void add_link(const Builder *builder, const CcsLinkSpec *spec, uint32_t index)
{
    CcsLink link = {.from = find_end(builder, spec->from, index, "from"),
                    .to = find_end(builder, spec->to, index, "to"),
                    .alpha = spec->latency,
                    .bandwidth = spec->bandwidth};

    if (link.from == CCS_NO_VERTEX || link.to == CCS_NO_VERTEX)
        return;
    if (link.from == link.to) {
        g_autofree char *path = g_strdup_printf("links[%u].to", index);
        ccs_config_error_at(builder->config, path, "the link ends where it starts, at '%s'",
                            spec->to);
        return;
    }
    if (spec->is_both_ways)
        ccs_generate_both_ways(builder->topology, &link, spec->link_class);
    else
        ccs_topology_add_link(builder->topology, link.from, link.to, link.alpha, link.bandwidth,
                              spec->link_class);
}

void ccs_generate_explicit(CcsTopology *topology, const CcsTopologySpec *spec, CcsConfig *config)
{
    const CcsLinkSpec *links = spec->links.items;
    Builder builder = {topology, spec, config, ccs_topology_n_nodes(topology)};

    add_vertices(&builder);
    check_nodes(&builder);
    if (ccs_config_n_errors(config) > 0)
        return;
    for (uint32_t i = 0; i < spec->links.n_items && !ccs_config_is_full(config); i++)
        add_link(&builder, &links[i], i);
}
