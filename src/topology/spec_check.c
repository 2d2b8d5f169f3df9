#include "topology/spec.h"

static void check_served(const CcsNodeSpec *node, const char *path, uint32_t nic, CcsConfig *config)
{
    const CcsList *served = &((const CcsList *)node->nics->gpus.items)[nic];
    const uint32_t *gpus = served->items;
    g_autofree bool *is_served = g_new0(bool, node->n_gpus);
    g_autofree char *list = g_strdup_printf("%s.nics.gpus[%u]", path, nic);

    if (served->n_items == 0)
        ccs_config_error_at(config, list, "NIC %u serves no GPU", nic);
    for (uint32_t i = 0; i < served->n_items && !ccs_config_is_full(config); i++) {
        g_autofree char *item = g_strdup_printf("%s[%u]", list, i);
        if (gpus[i] >= node->n_gpus)
            ccs_config_error_at(config, item, "there is no GPU %u: the node has GPUs 0 to %u",
                                gpus[i], node->n_gpus - 1);
        else if (is_served[gpus[i]])
            ccs_config_error_at(config, item, "GPU %u stands here twice", gpus[i]);
        else
            is_served[gpus[i]] = true;
    }
}

static void check_node(const CcsNodeSpec *node, const char *path, CcsConfig *config)
{
    if (node->pcie != NULL && node->nics == NULL) {
        g_autofree char *pcie = g_strdup_printf("%s.pcie", path);
        ccs_config_error_at(config, pcie, "'pcie' has no effect without 'nics'");
    }
    if (node->nics == NULL)
        return;
    g_autofree char *gpus = g_strdup_printf("%s.nics.gpus", path);
    if (node->nics->gpus.n_items == 0 && !ccs_config_has(config, gpus))
        return;
    if (node->nics->gpus.n_items != node->nics->count) {
        ccs_config_error_at(config, gpus, "'gpus' has %u lists, but there are %u NICs",
                            node->nics->gpus.n_items, node->nics->count);
        return;
    }
    for (uint32_t nic = 0; nic < node->nics->count && !ccs_config_is_full(config); nic++)
        check_served(node, path, nic, config);
}

static void check_nodes(const CcsTopologySpec *spec, CcsConfig *config)
{
    if (spec->node != NULL)
        check_node(spec->node, "node", config);
    for (uint32_t i = 0; i < spec->nodes.n_items && !ccs_config_is_full(config); i++) {
        g_autofree char *path = g_strdup_printf("nodes[%u]", i);
        check_node(ccs_spec_node(spec, i), path, config);
    }
    if (spec->n_nodes > 0 && spec->node == NULL)
        ccs_config_error_at(config, "nodes",
                            "'nodes' has no effect without 'node', which says "
                            "what a node has");
    else if (ccs_config_list_length(config, "nodes") == 0)
        ccs_config_error_at(config, "nodes", "'nodes' lists no node");
}

/* The first node that has NICs, or the number of nodes if none has. */
static uint32_t first_node_with_nics(const CcsTopologySpec *spec)
{
    uint32_t n_nodes = ccs_spec_n_nodes(spec);
    uint32_t node = 0;

    if (spec->nodes.n_items == 0)
        return spec->node != NULL && spec->node->nics != NULL ? 0 : n_nodes;
    while (node < n_nodes && ccs_spec_node(spec, node)->nics == NULL)
        node++;
    return node;
}

static void check_fabric(const CcsTopologySpec *spec, CcsConfig *config)
{
    uint32_t n_nodes = ccs_spec_n_nodes(spec);
    uint32_t node = first_node_with_nics(spec);
    bool has_nics = node < n_nodes;
    const CcsFabricSpec *fabric = spec->fabric;

    if (fabric != NULL && !has_nics)
        ccs_config_error_at(config, "fabric", "'fabric' has no effect without 'nics' in a node");
    if (fabric == NULL && has_nics && n_nodes > 1 && spec->links.n_items == 0) {
        g_autofree char *path =
            spec->node != NULL ? g_strdup("node.nics") : g_strdup_printf("nodes[%u].nics", node);
        ccs_config_error_at(config, path, "NICs of %u nodes need a 'fabric' that joins them",
                            n_nodes);
    }
    if (fabric != NULL && fabric->kind == CCS_FABRIC_LEAF_SPINE && !fabric->is_rail_optimized &&
        fabric->n_ports == 0)
        ccs_config_error_at(config, "fabric",
                            "'ports_per_leaf' is missing in 'fabric': only a "
                            "rail-optimised one does without");
    if (fabric != NULL && fabric->kind == CCS_FABRIC_LEAF_SPINE &&
        fabric->routing != CCS_ROUTING_ECMP && ccs_config_has(config, "fabric.seed"))
        ccs_config_error_at(config, "fabric.seed",
                            "'seed' has no effect: only 'routing: ecmp' uses a hash");
}

static uint64_t count_served(const CcsNodeSpec *node)
{
    uint64_t n = 0;

    if (node->nics == NULL)
        return 0;
    if (node->nics->gpus.n_items == 0)
        return MAX(node->nics->count, node->n_gpus);
    for (uint32_t nic = 0; nic < node->nics->gpus.n_items; nic++)
        n += ((const CcsList *)node->nics->gpus.items)[nic].n_items;
    return n;
}

/* The larger of the numbers of vertices and links of a node, or a little more. */
static uint64_t count_node_parts(const CcsNodeSpec *node)
{
    uint64_t n_gpus = node->n_gpus;
    CcsNvlinkKind kind = node->nvlink == NULL ? CCS_NVLINK_NONE : node->nvlink->kind;
    uint64_t n_nvlinks = kind == CCS_NVLINK_MESH ? n_gpus * n_gpus : 2 * n_gpus;
    uint64_t n_nics = ccs_spec_n_nics(node);

    return MAX(n_gpus + n_nics + 1, n_nvlinks + 2 * n_nics + 2 * count_served(node));
}

/* Numbers of parts are below 2^37 per node and nodes below 2^20, so no sum overflows. */
static void check_size(const CcsTopologySpec *spec, CcsConfig *config)
{
    uint64_t n_parts = (uint64_t)spec->vertices.n_items + 2 * (uint64_t)spec->links.n_items;

    if (spec->node != NULL)
        n_parts += ccs_spec_n_nodes(spec) * count_node_parts(spec->node);
    for (uint32_t i = 0; i < spec->nodes.n_items; i++)
        n_parts += count_node_parts(ccs_spec_node(spec, i));
    if (n_parts > CCS_TOPOLOGY_MAX_PARTS)
        ccs_config_error_at(config, "nodes",
                            "the topology is too large: %" G_GUINT64_FORMAT
                            " vertices and links, but at most %u are possible",
                            n_parts, CCS_TOPOLOGY_MAX_PARTS);
}

void ccs_spec_check(const CcsTopologySpec *spec, CcsConfig *config)
{
    check_nodes(spec, config);
    check_fabric(spec, config);
    check_size(spec, config);
}
