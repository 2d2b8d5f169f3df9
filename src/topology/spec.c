#include "topology/spec.h"

#define BIT(choice) (1U << (choice))

static const char *const nvlink_kinds[] = {
    [CCS_NVLINK_NONE] = "none", [CCS_NVLINK_SWITCH] = "switch", [CCS_NVLINK_MESH] = "mesh", NULL};

static const CcsField nvlink_fields[] = {
    {.name = "kind",
     .kind = CCS_FIELD_ENUM,
     .offset = offsetof(CcsNvlinkSpec, kind),
     .choices = nvlink_kinds,
     .default_text = "switch",
     .summary = "switch: every GPU is joined to one switch that never limits; mesh: every pair of "
                "GPUs is joined"},
    {.name = "bandwidth",
     .kind = CCS_FIELD_RATE,
     .offset = offsetof(CcsNvlinkSpec, bandwidth),
     .is_required = true,
     .only_kinds = BIT(CCS_NVLINK_SWITCH) | BIT(CCS_NVLINK_MESH),
     .summary = "in each direction; per GPU with a switch, per pair in a mesh"},
    {.name = "latency",
     .kind = CCS_FIELD_TIME,
     .offset = offsetof(CcsNvlinkSpec, latency),
     .default_text = "0 us",
     .only_kinds = BIT(CCS_NVLINK_SWITCH) | BIT(CCS_NVLINK_MESH),
     .summary = "of an empty message from GPU to GPU"},
};
static const CcsFieldTable nvlink_table = {.summary = "how the GPUs of a node are joined",
                                           .size = sizeof(CcsNvlinkSpec),
                                           .fields = nvlink_fields,
                                           .n_fields = G_N_ELEMENTS(nvlink_fields)};

static const CcsField nics_fields[] = {
    {.name = "count",
     .kind = CCS_FIELD_COUNT,
     .offset = offsetof(CcsNicsSpec, count),
     .is_required = true,
     .min = 1,
     .max = 65536,
     .summary = "NICs in a node"},
    {.name = "bandwidth",
     .kind = CCS_FIELD_RATE,
     .offset = offsetof(CcsNicsSpec, bandwidth),
     .is_required = true,
     .summary = "of each NIC to the fabric, in each direction"},
    {.name = "latency",
     .kind = CCS_FIELD_TIME,
     .offset = offsetof(CcsNicsSpec, latency),
     .default_text = "0 us",
     .summary = "of an empty message between NIC and switch"},
    {.name = "gpus",
     .kind = CCS_FIELD_COUNT,
     .offset = offsetof(CcsNicsSpec, gpus),
     .list_depth = 2,
     .summary = "for each NIC the GPUs it serves; without it each NIC serves its share in order"},
};
static const CcsFieldTable nics_table = {.summary = "the NICs of a node",
                                         .size = sizeof(CcsNicsSpec),
                                         .fields = nics_fields,
                                         .n_fields = G_N_ELEMENTS(nics_fields)};

static const CcsField pcie_fields[] = {
    {.name = "bandwidth",
     .kind = CCS_FIELD_RATE,
     .offset = offsetof(CcsPcieSpec, bandwidth),
     .is_required = true,
     .summary = "between a GPU and a NIC that serves it, in each direction"},
    {.name = "latency",
     .kind = CCS_FIELD_TIME,
     .offset = offsetof(CcsPcieSpec, latency),
     .default_text = "0 us",
     .summary = "of an empty message between GPU and NIC"},
};
static const CcsFieldTable pcie_table = {.summary = "the links between GPUs and NICs",
                                         .size = sizeof(CcsPcieSpec),
                                         .fields = pcie_fields,
                                         .n_fields = G_N_ELEMENTS(pcie_fields)};

static const CcsField node_fields[] = {
    {.name = "gpus",
     .kind = CCS_FIELD_COUNT,
     .offset = offsetof(CcsNodeSpec, n_gpus),
     .is_required = true,
     .min = 1,
     .max = 65536,
     .summary = "GPUs in a node"},
    {.name = "nvlink",
     .kind = CCS_FIELD_MAPPING,
     .offset = offsetof(CcsNodeSpec, nvlink),
     .table = &nvlink_table,
     .summary = "how the GPUs of a node are joined"},
    {.name = "nics",
     .kind = CCS_FIELD_MAPPING,
     .offset = offsetof(CcsNodeSpec, nics),
     .table = &nics_table,
     .summary = "the NICs of a node"},
    {.name = "pcie",
     .kind = CCS_FIELD_MAPPING,
     .offset = offsetof(CcsNodeSpec, pcie),
     .table = &pcie_table,
     .summary = "the links between GPUs and NICs; without it they never limit and have no latency"},
};
static const CcsFieldTable node_table = {.summary = "a node (a server)",
                                         .size = sizeof(CcsNodeSpec),
                                         .fields = node_fields,
                                         .n_fields = G_N_ELEMENTS(node_fields)};

static const char *const fabric_kinds[] = {
    [CCS_FABRIC_SWITCH] = "switch", [CCS_FABRIC_LEAF_SPINE] = "leaf-spine", NULL};

static const char *const routing_kinds[] = {
    [CCS_ROUTING_DESTINATION] = "destination", [CCS_ROUTING_ECMP] = "ecmp", NULL};

static const CcsField fabric_fields[] = {
    {.name = "kind",
     .kind = CCS_FIELD_ENUM,
     .offset = offsetof(CcsFabricSpec, kind),
     .choices = fabric_kinds,
     .is_required = true,
     .summary = "switch: one switch that never limits; leaf-spine: two tiers"},
    {.name = "latency",
     .kind = CCS_FIELD_TIME,
     .offset = offsetof(CcsFabricSpec, latency),
     .default_text = "0 us",
     .only_kinds = BIT(CCS_FABRIC_LEAF_SPINE),
     .summary = "of an empty message between a leaf and a spine"},
    {.name = "rail_optimized",
     .kind = CCS_FIELD_BOOL,
     .offset = offsetof(CcsFabricSpec, is_rail_optimized),
     .default_text = "true",
     .only_kinds = BIT(CCS_FABRIC_LEAF_SPINE),
     .summary = "true: a leaf joins NICs of one index; false: NICs fill leaves node by node"},
    {.name = "ports_per_leaf",
     .kind = CCS_FIELD_COUNT,
     .offset = offsetof(CcsFabricSpec, n_ports),
     .min = 1,
     .max = 1000000,
     .only_kinds = BIT(CCS_FABRIC_LEAF_SPINE),
     .summary = "NICs on one leaf; without it a rail-optimised fabric has one leaf per rail"},
    {.name = "spines",
     .kind = CCS_FIELD_COUNT,
     .offset = offsetof(CcsFabricSpec, n_spines),
     .is_required = true,
     .min = 1,
     .max = 65536,
     .only_kinds = BIT(CCS_FABRIC_LEAF_SPINE),
     .summary = "number of spines; each is joined to each leaf"},
    {.name = "oversubscription",
     .kind = CCS_FIELD_DECIMAL,
     .offset = offsetof(CcsFabricSpec, oversubscription),
     .default_text = "1",
     .min = 0.001,
     .max = 1000,
     .only_kinds = BIT(CCS_FABRIC_LEAF_SPINE),
     .summary = "bandwidth of a leaf's NICs over that of its links to all spines"},
    {.name = "routing",
     .kind = CCS_FIELD_ENUM,
     .offset = offsetof(CcsFabricSpec, routing),
     .choices = routing_kinds,
     .default_text = "destination",
     .only_kinds = BIT(CCS_FABRIC_LEAF_SPINE),
     .summary = "which spine a message takes: by the port of its destination, or by a hash of "
                "source and destination (ecmp)"},
    {.name = "seed",
     .kind = CCS_FIELD_COUNT,
     .offset = offsetof(CcsFabricSpec, seed),
     .default_text = "0",
     .only_kinds = BIT(CCS_FABRIC_LEAF_SPINE),
     .summary = "of the hash of ecmp"},
};
static const CcsFieldTable fabric_table = {.summary = "what joins the NICs",
                                           .size = sizeof(CcsFabricSpec),
                                           .fields = fabric_fields,
                                           .n_fields = G_N_ELEMENTS(fabric_fields)};

static const char *const vertex_kinds[] = {
    [CCS_VERTEX_GPU] = "gpu",       [CCS_VERTEX_NIC] = "nic",   [CCS_VERTEX_NVSWITCH] = "nvswitch",
    [CCS_VERTEX_SWITCH] = "switch", [CCS_VERTEX_HOST] = "host", NULL};

static const CcsField vertex_fields[] = {
    {.name = "name",
     .kind = CCS_FIELD_NAME,
     .offset = offsetof(CcsVertexSpec, name),
     .is_required = true,
     .summary = "unique, also among generated ones such as n0.gpu0, n0.nic0, n0.nvswitch, "
                "switch, leaf0, spine0"},
    {.name = "kind",
     .kind = CCS_FIELD_ENUM,
     .offset = offsetof(CcsVertexSpec, kind),
     .is_required = true,
     .choices = vertex_kinds,
     .summary = "host is a CPU or PCIe switch; switch is part of the fabric"},
    {.name = "node",
     .kind = CCS_FIELD_COUNT,
     .offset = offsetof(CcsVertexSpec, node),
     .default_text = "0",
     .max = 1000000,
     .only_kinds = BIT(CCS_VERTEX_GPU) | BIT(CCS_VERTEX_NIC) | BIT(CCS_VERTEX_NVSWITCH) |
                   BIT(CCS_VERTEX_HOST),
     .summary = "the node it belongs to"},
};
static const CcsFieldTable vertex_table = {.summary = "a vertex of the graph",
                                           .size = sizeof(CcsVertexSpec),
                                           .fields = vertex_fields,
                                           .n_fields = G_N_ELEMENTS(vertex_fields)};

static const CcsField link_fields[] = {
    {.name = "from",
     .kind = CCS_FIELD_NAME,
     .offset = offsetof(CcsLinkSpec, from),
     .is_required = true,
     .summary = "name of a vertex"},
    {.name = "to",
     .kind = CCS_FIELD_NAME,
     .offset = offsetof(CcsLinkSpec, to),
     .is_required = true,
     .summary = "name of a vertex"},
    {.name = "bandwidth",
     .kind = CCS_FIELD_RATE,
     .offset = offsetof(CcsLinkSpec, bandwidth),
     .is_required = true,
     .summary = "in this direction"},
    {.name = "latency",
     .kind = CCS_FIELD_TIME,
     .offset = offsetof(CcsLinkSpec, latency),
     .default_text = "0 us",
     .summary = "of an empty message"},
    {.name = "class",
     .kind = CCS_FIELD_NAME,
     .offset = offsetof(CcsLinkSpec, link_class),
     .default_text = "link",
     .summary = "what results call links of this sort; generated are nvlink, pcie, nic and "
                "leaf-spine"},
    {.name = "both_ways",
     .kind = CCS_FIELD_BOOL,
     .offset = offsetof(CcsLinkSpec, is_both_ways),
     .default_text = "false",
     .summary = "true: a second link goes back, with the same values"},
};
static const CcsFieldTable link_table = {.summary = "a one-way link",
                                         .size = sizeof(CcsLinkSpec),
                                         .fields = link_fields,
                                         .n_fields = G_N_ELEMENTS(link_fields)};

static const char *const fault_kinds[] = {
    [CCS_FAULT_LINK] = "link", [CCS_FAULT_LATE_GPU] = "late-gpu", NULL};

static const CcsField fault_fields[] = {
    {.name = "kind",
     .kind = CCS_FIELD_ENUM,
     .offset = offsetof(CcsFaultSpec, kind),
     .choices = fault_kinds,
     .is_required = true,
     .summary = "link: a link is slower than it should be; late-gpu: a GPU starts late"},
    {.name = "from",
     .kind = CCS_FIELD_NAME,
     .offset = offsetof(CcsFaultSpec, from),
     .is_required = true,
     .only_kinds = BIT(CCS_FAULT_LINK),
     .summary = "name of the vertex where the link begins"},
    {.name = "to",
     .kind = CCS_FIELD_NAME,
     .offset = offsetof(CcsFaultSpec, to),
     .is_required = true,
     .only_kinds = BIT(CCS_FAULT_LINK),
     .summary = "name of the vertex where the link ends"},
    {.name = "both_ways",
     .kind = CCS_FIELD_BOOL,
     .offset = offsetof(CcsFaultSpec, is_both_ways),
     .default_text = "true",
     .only_kinds = BIT(CCS_FAULT_LINK),
     .summary = "true: the link that goes back too"},
    {.name = "bandwidth_factor",
     .kind = CCS_FIELD_DECIMAL,
     .offset = offsetof(CcsFaultSpec, bandwidth_factor),
     .default_text = "1",
     .min = 0.000001,
     .max = 1000,
     .only_kinds = BIT(CCS_FAULT_LINK),
     .summary = "the bandwidth becomes so many times what it was"},
    {.name = "latency_factor",
     .kind = CCS_FIELD_DECIMAL,
     .offset = offsetof(CcsFaultSpec, latency_factor),
     .default_text = "1",
     .min = 0,
     .max = 1000000,
     .only_kinds = BIT(CCS_FAULT_LINK),
     .summary = "the latency becomes so many times what it was"},
    {.name = "gpu",
     .kind = CCS_FIELD_NAME,
     .offset = offsetof(CcsFaultSpec, gpu),
     .is_required = true,
     .only_kinds = BIT(CCS_FAULT_LATE_GPU),
     .summary = "name of the GPU"},
    {.name = "delay",
     .kind = CCS_FIELD_TIME,
     .offset = offsetof(CcsFaultSpec, delay),
     .is_required = true,
     .only_kinds = BIT(CCS_FAULT_LATE_GPU),
     .summary = "so long after the others it sends its first message"},
};
static const CcsFieldTable fault_table = {.summary = "something that is worse than it should be",
                                          .size = sizeof(CcsFaultSpec),
                                          .fields = fault_fields,
                                          .n_fields = G_N_ELEMENTS(fault_fields)};

static const CcsField topology_fields[] = {
    {.name = "name",
     .kind = CCS_FIELD_NAME,
     .offset = offsetof(CcsTopologySpec, name),
     .summary = "what results call it; without it the name of the file"},
    {.name = "description",
     .kind = CCS_FIELD_TEXT,
     .offset = offsetof(CcsTopologySpec, description),
     .summary = "one line on what it stands for"},
    {.name = "nodes",
     .kind = CCS_FIELD_COUNT,
     .offset = offsetof(CcsTopologySpec, n_nodes),
     .min = 1,
     .max = 1000000,
     .summary = "how many nodes there are (1 if `node` stands alone), or a list with what each of "
                "them has unlike `node`"},
    {.name = "nodes",
     .kind = CCS_FIELD_MAPPING,
     .offset = offsetof(CcsTopologySpec, nodes),
     .list_depth = 1,
     .table = &node_table,
     .is_partial = true},
    {.name = "node",
     .kind = CCS_FIELD_MAPPING,
     .offset = offsetof(CcsTopologySpec, node),
     .table = &node_table,
     .is_partial = true,
     .summary = "what every node has"},
    {.name = "fabric",
     .kind = CCS_FIELD_MAPPING,
     .offset = offsetof(CcsTopologySpec, fabric),
     .table = &fabric_table,
     .summary = "what joins the NICs of all nodes"},
    {.name = "vertices",
     .kind = CCS_FIELD_MAPPING,
     .offset = offsetof(CcsTopologySpec, vertices),
     .list_depth = 1,
     .table = &vertex_table,
     .summary = "vertices beside the generated ones"},
    {.name = "links",
     .kind = CCS_FIELD_MAPPING,
     .offset = offsetof(CcsTopologySpec, links),
     .list_depth = 1,
     .table = &link_table,
     .summary = "links beside the generated ones"},
    {.name = "faults",
     .kind = CCS_FIELD_MAPPING,
     .offset = offsetof(CcsTopologySpec, faults),
     .list_depth = 1,
     .table = &fault_table,
     .summary = "what is worse than it should be"},
};
const CcsFieldTable ccs_topology_table = {.summary = "a machine: GPUs, NICs and switches joined "
                                                     "by one-way links",
                                          .size = sizeof(CcsTopologySpec),
                                          .fields = topology_fields,
                                          .n_fields = G_N_ELEMENTS(topology_fields)};

uint32_t ccs_spec_n_nodes(const CcsTopologySpec *spec)
{
    if (spec->nodes.n_items > 0)
        return spec->nodes.n_items;
    return spec->node == NULL ? 0 : MAX(spec->n_nodes, 1);
}

const CcsNodeSpec *ccs_spec_node(const CcsTopologySpec *spec, uint32_t node)
{
    const CcsNodeSpec *nodes = spec->nodes.items;

    return spec->nodes.n_items > 0 ? &nodes[node] : spec->node;
}

uint32_t ccs_spec_n_nics(const CcsNodeSpec *node)
{
    return node->nics == NULL ? 0 : node->nics->count;
}

void ccs_spec_nic_gpus(const CcsNodeSpec *node, uint32_t nic, uint32_t *ret_first, uint32_t *ret_n)
{
    uint64_t n_gpus = node->n_gpus;
    uint32_t n_nics = node->nics->count;
    uint32_t first = (uint32_t)(nic * n_gpus / n_nics); /* below n_gpus */
    uint32_t end = (uint32_t)((nic + 1) * n_gpus / n_nics);

    *ret_first = first;
    *ret_n = MAX(end, first + 1) - first; /* a NIC serves one GPU at least */
}
