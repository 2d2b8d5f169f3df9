#include "topology/topology_yaml.h"

#include <string.h>

#include "base/error.h"
#include "config/config.h"
#include "tests/support/check_main.h"
#include "topology/spec.h"

#define GBPS (1000000000U * CCS_RATE_PER_BYTE)

static CcsTopology *topology;

static void tear_down(void)
{
    g_clear_pointer(&topology, ccs_topology_free);
}

static void read_with(const char *text, const CcsTopologyOptions *options)
{
    g_autoptr(GError) error = NULL;

    tear_down();
    topology = ccs_topology_read("f.yaml", text, strlen(text), options, NULL, &error);
    ck_assert_msg(topology != NULL, "%s", error ? error->message : "");
}

static void read_text(const char *text)
{
    read_with(text, NULL);
}

static void load(const char *name, const CcsTopologyOptions *options)
{
    g_autoptr(GError) error = NULL;

    tear_down();
    topology = ccs_topology_load(name, options, NULL, &error);
    ck_assert_msg(topology != NULL, "%s", error ? error->message : "");
}

/* The link between two vertices; the only one, or the first. */
static const CcsLink *link_of(const char *from, const char *to)
{
    CcsVertexId source = ccs_topology_find_vertex(topology, from);
    CcsVertexId target = ccs_topology_find_vertex(topology, to);
    uint32_t n;

    ck_assert_uint_ne(source, CCS_NO_VERTEX);
    ck_assert_uint_ne(target, CCS_NO_VERTEX);
    const CcsLinkId *links = ccs_topology_links_out(topology, source, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (ccs_topology_link(topology, links[i])->to == target)
            return ccs_topology_link(topology, links[i]);
    }
    return NULL;
}

static void check_link(const char *from, const char *to, CcsRate bandwidth, CcsTime alpha,
                       const char *link_class)
{
    const CcsLink *link = link_of(from, to);

    ck_assert_msg(link != NULL, "%s->%s", from, to);
    ck_assert_uint_eq(link->bandwidth, bandwidth);
    ck_assert_int_eq(link->alpha, alpha);
    ck_assert_str_eq(ccs_topology_class_name(topology, link->link_class), link_class);
}

typedef struct {
    const char *name;
    uint32_t n_nodes;
    uint32_t n_gpus;
    uint32_t n_vertices;
    uint32_t n_links;
} Shape;

static const Shape shapes[] = {
    {"nvlink8", 1, 8, 9, 16},
    {"cluster32", 4, 32, 32 + 4 + 32 + 8 + 1, 64 + 64 + 64 + 16},
    {"cluster32-1nic", 4, 32, 32 + 4 + 4 + 1, 64 + 64 + 8},
    {"flat8", 8, 8, 8 + 8 + 1, 16 + 16},
    {"dgx-a100", 1, 8, 8 + 1 + 8 + 8 + 4, 16 + 16 + 16 + 64},
    {"dgx-h100", 1, 8, 8 + 1 + 8 + 8 + 8, 16 + 16 + 16 + 128},
    {"islands8", 128, 1024, 1024 + 128 + 1024 + 32 + 32, 2048 + 2048 + 2048 + 2048},
    {"reference", 2, 4, 4 + 2 + 4 + 2 + 2 + 1, 8 + 8 + 8 + 8 + 2},
};

START_TEST(a_built_in_topology_has_its_shape)
{
    const Shape *shape = &shapes[_i];

    load(shape->name, NULL);
    ck_assert_str_eq(ccs_topology_name(topology), shape->name);
    ck_assert_uint_eq(ccs_topology_n_nodes(topology), shape->n_nodes);
    ck_assert_uint_eq(ccs_topology_n_gpus(topology), shape->n_gpus);
    ck_assert_uint_eq(ccs_topology_n_vertices(topology), shape->n_vertices);
    ck_assert_uint_eq(ccs_topology_n_links(topology), shape->n_links);
}
END_TEST

START_TEST(every_built_in_topology_is_tested)
{
    g_auto(GStrv) names = ccs_config_builtin_names("topologies");

    ck_assert_uint_eq(g_strv_length(names), G_N_ELEMENTS(shapes));
}
END_TEST

START_TEST(the_textbook_cluster_has_a_leaf_per_rail_and_one_spine)
{
    load("cluster32", NULL);

    check_link("n3.gpu5", "n3.nvswitch", 300 * GBPS, 0, "nvlink");
    check_link("n3.gpu5", "n3.nic5", CCS_RATE_UNLIMITED, 0, "pcie");
    check_link("n3.nic5", "leaf5", 50 * GBPS, 0, "nic");
    check_link("leaf5", "n0.nic5", 50 * GBPS, 0, "nic");
    check_link("leaf5", "spine0", 200 * GBPS, 0, "leaf-spine");
    check_link("spine0", "leaf7", 200 * GBPS, 0, "leaf-spine");
    ck_assert_ptr_null(link_of("n3.nic5", "leaf4"));
    ck_assert_ptr_null(link_of("n3.gpu5", "n3.nic4"));
}
END_TEST

START_TEST(the_h100_cluster_has_32_nodes_on_each_leaf)
{
    load("dgx-h100", &(CcsTopologyOptions){.n_nodes = 64});

    ck_assert_uint_eq(ccs_topology_n_gpus(topology), 512);
    ck_assert_uint_ne(ccs_topology_find_vertex(topology, "leaf15"), CCS_NO_VERTEX);
    ck_assert_uint_eq(ccs_topology_find_vertex(topology, "leaf16"), CCS_NO_VERTEX);
    check_link("n31.nic0", "leaf0", 50 * GBPS, 700000, "nic");
    check_link("n32.nic0", "leaf1", 50 * GBPS, 700000, "nic");
    check_link("n0.nic1", "leaf2", 50 * GBPS, 700000, "nic");
    check_link("leaf0", "spine7", 200 * GBPS, 300000, "leaf-spine");
}
END_TEST

START_TEST(the_halves_of_an_nvlink_latency_add_up_to_it)
{
    read_text("node: {gpus: 2, nvlink: {bandwidth: 1 GB/s, latency: 7 ps}}\n");

    check_link("n0.gpu0", "n0.nvswitch", GBPS, 3, "nvlink");
    check_link("n0.nvswitch", "n0.gpu1", GBPS, 4, "nvlink");
}
END_TEST

START_TEST(a_mesh_joins_each_pair_of_gpus)
{
    read_text("node: {gpus: 3, nvlink: {kind: mesh, bandwidth: 25 GB/s, latency: 7 ps}}\n");

    ck_assert_uint_eq(ccs_topology_n_vertices(topology), 3);
    ck_assert_uint_eq(ccs_topology_n_links(topology), 6);
    check_link("n0.gpu2", "n0.gpu0", 25 * GBPS, 7, "nvlink");
    check_link("n0.gpu0", "n0.gpu2", 25 * GBPS, 7, "nvlink");
}
END_TEST

/* Which GPUs of a node a NIC serves, as a string of digits: "01,23". */
typedef struct {
    uint32_t n_gpus;
    uint32_t n_nics;
    const char *served;
} Share;

static const Share shares[] = {
    {4, 4, "0,1,2,3,"}, {4, 1, "0123,"},    {4, 2, "01,23,"},
    {5, 2, "01,234,"},  {2, 4, "0,0,1,1,"}, {3, 4, "0,0,1,2,"},
};

START_TEST(nics_serve_their_share_of_the_gpus)
{
    const Share *share = &shares[_i];
    g_autofree char *text = g_strdup_printf(
        "node: {gpus: %u, nics: {count: %u, bandwidth: 1 GB/s}}\n", share->n_gpus, share->n_nics);
    g_autoptr(GString) served = g_string_new(NULL);

    read_text(text);
    for (uint32_t nic = 0; nic < share->n_nics; nic++) {
        for (uint32_t gpu = 0; gpu < share->n_gpus; gpu++) {
            g_autofree char *nic_name = g_strdup_printf("n0.nic%u", nic);
            g_autofree char *gpu_name = g_strdup_printf("n0.gpu%u", gpu);
            if (link_of(gpu_name, nic_name) != NULL)
                g_string_append_printf(served, "%u", gpu);
        }
        g_string_append_c(served, ',');
    }
    ck_assert_str_eq(served->str, share->served);
}
END_TEST

START_TEST(nics_serve_the_gpus_that_the_file_names)
{
    read_text("node: {gpus: 3, pcie: {bandwidth: 2 GB/s, latency: 5 ps},\n"
              "       nics: {count: 2, bandwidth: 1 GB/s, gpus: [[2], [0, 1]]}}\n");

    check_link("n0.gpu2", "n0.nic0", 2 * GBPS, 5, "pcie");
    check_link("n0.nic1", "n0.gpu1", 2 * GBPS, 5, "pcie");
    ck_assert_ptr_null(link_of("n0.gpu0", "n0.nic0"));
}
END_TEST

START_TEST(without_rails_nics_fill_the_leaves_in_order)
{
    read_text("nodes: 3\nnode: {gpus: 2, nics: {count: 2, bandwidth: 30 GB/s}}\n"
              "fabric: {kind: leaf-spine, rail_optimized: false, ports_per_leaf: 4, spines: 2, "
              "oversubscription: 1.5}\n");

    ck_assert_ptr_nonnull(link_of("n1.nic1", "leaf0"));
    ck_assert_ptr_nonnull(link_of("n2.nic0", "leaf1"));
    check_link("leaf0", "spine1", 40 * GBPS, 0, "leaf-spine");
    check_link("leaf1", "spine0", 40 * GBPS, 0, "leaf-spine");
}
END_TEST

START_TEST(a_fault_makes_a_link_slower_and_a_gpu_late)
{
    read_text(
        "nodes: 2\nnode: {gpus: 1, nics: {count: 1, bandwidth: 50 GB/s, latency: 1 us}}\n"
        "fabric: {kind: switch}\n"
        "faults:\n"
        "  - {kind: link, from: n0.nic0, to: switch, bandwidth_factor: 0.5, latency_factor: 3,"
        " both_ways: false}\n"
        "  - {kind: link, from: switch, to: n1.nic0, bandwidth_factor: 0.25}\n"
        "  - {kind: late-gpu, gpu: n1.gpu0, delay: 7 us}\n");

    check_link("n0.nic0", "switch", 25 * GBPS, 3000000, "nic");
    check_link("switch", "n0.nic0", 50 * GBPS, 1000000, "nic");
    check_link("n1.nic0", "switch", 25 * GBPS / 2, 1000000, "nic");
    check_link("switch", "n1.nic0", 25 * GBPS / 2, 1000000, "nic");
    CcsVertexId gpu = ccs_topology_find_vertex(topology, "n1.gpu0");
    ck_assert_int_eq(ccs_topology_vertex(topology, gpu)->start_delay, 7000000);
}
END_TEST

START_TEST(listed_nodes_differ_from_the_common_one)
{
    read_text("node: {gpus: 2, nvlink: {bandwidth: 300 GB/s}, nics: {count: 2, bandwidth: 50 "
              "GB/s}}\n"
              "nodes: [{}, {gpus: 4, nics: {bandwidth: 25 GB/s}}, {nvlink: {kind: none}}]\n"
              "fabric: {kind: leaf-spine, spines: 1}\n");

    ck_assert_uint_eq(ccs_topology_n_gpus(topology), 8);
    check_link("n0.nic0", "leaf0", 50 * GBPS, 0, "nic");
    check_link("n1.nic0", "leaf0", 25 * GBPS, 0, "nic");
    check_link("leaf0", "spine0", 125 * GBPS, 0, "leaf-spine");
    ck_assert_uint_eq(ccs_topology_find_vertex(topology, "n2.nvswitch"), CCS_NO_VERTEX);
}
END_TEST

START_TEST(the_number_of_nodes_takes_a_part_of_listed_ones)
{
    read_with("nodes: [{gpus: 1}, {gpus: 2}, {gpus: 4}]\n", &(CcsTopologyOptions){.n_nodes = 2});

    ck_assert_uint_eq(ccs_topology_n_nodes(topology), 2);
    ck_assert_uint_eq(ccs_topology_n_gpus(topology), 3);
}
END_TEST

START_TEST(vertices_and_links_can_be_listed)
{
    read_text("vertices:\n"
              "- {name: nic, kind: nic, node: 1}\n"
              "- {name: a, kind: gpu}\n- {name: b, kind: gpu, node: 1}\n"
              "- {name: s, kind: switch}\n"
              "links:\n"
              "- {from: a, to: s, bandwidth: 1 GB/s, latency: 3 ps, class: wire}\n"
              "- {from: s, to: b, bandwidth: 2 GB/s, both_ways: true}\n");

    ck_assert_uint_eq(ccs_topology_n_nodes(topology), 2);
    ck_assert_uint_eq(ccs_topology_n_links(topology), 3);
    check_link("a", "s", GBPS, 3, "wire");
    check_link("b", "s", 2 * GBPS, 0, "link");
    ck_assert_ptr_null(link_of("s", "a"));
}
END_TEST

START_TEST(listed_parts_join_generated_ones)
{
    read_text("nodes: 2\nnode: {gpus: 1}\nvertices: [{name: x, kind: gpu, node: 2}]\n"
              "links: [{from: n1.gpu0, to: x, bandwidth: 1 GB/s}]\n");

    ck_assert_uint_eq(ccs_topology_n_nodes(topology), 3);
    check_link("n1.gpu0", "x", GBPS, 0, "link");
    ck_assert_str_eq(ccs_topology_name(topology), "f");
}
END_TEST

START_TEST(the_source_is_the_text_and_the_options)
{
    const char *const overrides[] = {"node.gpus=4", NULL};
    read_with("node: {gpus: 1}\n", &(CcsTopologyOptions){.overrides = overrides, .n_nodes = 3});

    ck_assert_str_eq(ccs_topology_source(topology),
                     "node: {gpus: 1}\n# --set node.gpus=4\n# --nodes 3\n");
    ck_assert_uint_eq(ccs_topology_n_gpus(topology), 12);
}
END_TEST

START_TEST(the_order_of_keys_does_not_matter)
{
    read_text("fabric: {spines: 2, kind: leaf-spine}\n"
              "node: {nics: {bandwidth: 1 GB/s, count: 2}, gpus: 2}\nnodes: 2\n");
    uint32_t n_links = ccs_topology_n_links(topology);
    g_autofree char *name = ccs_topology_link_name(topology, n_links - 1);
    read_text("nodes: 2\nnode: {gpus: 2, nics: {count: 2, bandwidth: 1 GB/s}}\n"
              "fabric: {kind: leaf-spine, spines: 2}\n");

    ck_assert_uint_eq(ccs_topology_n_links(topology), n_links);
    g_autofree char *other = ccs_topology_link_name(topology, n_links - 1);
    ck_assert_str_eq(name, other);
}
END_TEST

START_TEST(the_values_come_with_their_provenance)
{
    g_autoptr(GPtrArray) params = NULL;
    const char *const overrides[] = {"node.nics.bandwidth=200 Gb/s", NULL};
    CcsTopologyOptions options = {.overrides = overrides, .n_nodes = 2};
    uint32_t n_found = 0;

    topology = ccs_topology_load("dgx-h100", &options, &params, NULL);
    ck_assert_ptr_nonnull(topology);
    for (uint32_t i = 0; i < params->len; i++) {
        const CcsParam *param = params->pdata[i];
        if (strcmp(param->path, "node.nvlink.bandwidth") == 0 &&
            strcmp(param->kind, "datasheet") == 0 && strcmp(param->value_text, "450 GB/s") == 0)
            n_found++;
        if (strcmp(param->path, "node.nics.bandwidth") == 0 && strcmp(param->source, "--set") == 0)
            n_found++;
        if (strcmp(param->path, "nodes") == 0 && strcmp(param->source, "--nodes") == 0)
            n_found++;
    }
    ck_assert_uint_eq(n_found, 3);
}
END_TEST

typedef struct {
    const char *text;
    const char *place;
    const char *part; /* of the message */
} Refusal;

#define NODE  "node: {gpus: 2, nics: {count: 2, bandwidth: 1 GB/s}}\n"
#define PAIR  "vertices: [{name: a, kind: gpu}, {name: b, kind: gpu}]\n"
#define LINKS PAIR "links:\n"

static const Refusal refusals[] = {
    {"{}\n", "f.yaml:1:1", "a topology needs a GPU"},
    {"nodes: 4\n", "f.yaml:1:8", "'nodes' has no effect without 'node'"},
    {"nodes: 0\nnode: {gpus: 1}\n", "f.yaml:1:8", "from 1 to 1000000, not '0'"},
    {"nodes: []\nnode: {gpus: 1}\n", "f.yaml:1:8", "'nodes' lists no node"},
    {"nodes: [{}]\n", "f.yaml:1:9", "'gpus' is missing in 'nodes[0]'"},
    {"nodes: [{}, 3]\nnode: {gpus: 1}\n", "f.yaml:1:13", "'nodes[1]' must be a mapping"},
    {"nodes: [{}, {}]\nnode: {gpus: x}\n", "f.yaml:2:14", "'gpus' must be a whole number"},
    {"node: {gpus: 0}\n", "f.yaml:1:14", "from 1 to 65536, not '0'"},
    {"node: {gpus: 2, nvlink: {}}\n", "f.yaml:1:25", "'bandwidth' is missing in 'node.nvlink'"},
    {"node: {gpus: 2, nvlink: {bandwidth: 300}}\n", "f.yaml:1:37", "a number alone has no unit"},
    {"node: {gpus: 2, nvlink: {bandwidth: 0 GB/s}}\n", "f.yaml:1:37", "it must be above 0"},
    {"node: {gpus: 2, nvlink: {bandwidth: -1 GB/s}}\n", "f.yaml:1:37", "cannot be negative"},
    {"node: {gpus: 2, nvlink: {bandwidth: .nan}}\n", "f.yaml:1:37", "must be a bandwidth"},
    {"node: {gpus: 2, nvlink: {kind: none, bandwidth: 1 GB/s}}\n", "f.yaml:1:49",
     "'bandwidth' has no effect with kind 'none'"},
    {"node: {gpus: 2, pcie: {bandwidth: 1 GB/s}}\n", "f.yaml:1:23",
     "'pcie' has no effect without 'nics'"},
    {"nodes: 2\n" NODE, "f.yaml:2:23", "NICs of 2 nodes need a 'fabric'"},
    {"node: {gpus: 2}\nfabric: {kind: switch}\n", "f.yaml:2:9",
     "'fabric' has no effect without 'nics'"},
    {NODE "fabric: {kind: switch, spines: 4}\n", "f.yaml:2:32",
     "'spines' has no effect with kind 'switch'"},
    {NODE "fabric: {kind: leaf-spine}\n", "f.yaml:2:9", "'spines' is missing in 'fabric'"},
    {NODE "fabric: {kind: leaf-spine, spines: 1, rail_optimized: false}\n", "f.yaml:2:9",
     "'ports_per_leaf' is missing"},
    {NODE "fabric: {kind: leafspine, spines: 1}\n", "f.yaml:2:16", "did you mean 'leaf-spine'?"},
    {NODE "fabric: {kind: leaf-spine, spines: 1, oversubscription: 0}\n", "f.yaml:2:57",
     "a number from 0.001 to 1000"},
    {"node: {gpus: 1, nics: {count: 1, bandwidth: 1 B/s}}\n"
     "fabric: {kind: leaf-spine, spines: 65536, oversubscription: 2}\n",
     "f.yaml:2:9", "would be too slow to be told"},
    {"node: {gpus: 1, nics: {count: 1, bandwidth: 50 TB/s}}\n"
     "fabric: {kind: leaf-spine, spines: 1, oversubscription: 0.5}\n",
     "f.yaml:2:9", "would be too fast to be told"},
    {"node: {gpus: 1}\nfaults: [{kind: late-gpu, gpu: n0.gpu0, delay: 0 us}]\n", "f.yaml:2:48",
     "the fault has no effect: the GPU is in time"},
    {"node: {gpus: 1, nics: {count: 1, bandwidth: 1 GB/s}}\n"
     "fabric: {kind: leaf-spine, spines: 1, seed: 3}\n",
     "f.yaml:2:45", "'seed' has no effect"},
    {"node: {gpus: 1}\nfaults: [{kind: late-gpu, gpu: n0.gpu1, delay: 1 us}]\n", "f.yaml:2:32",
     "there is no vertex 'n0.gpu1' (did you mean 'n0.gpu0'?)"},
    {"node: {gpus: 2, nvlink: {bandwidth: 1 GB/s}}\nfaults: [{kind: link, from: n0.gpu0, to: "
     "n0.gpu1, bandwidth_factor: 0.5}]\n",
     "f.yaml:2:10", "no link leads from 'n0.gpu0' to 'n0.gpu1'"},
    {"node: {gpus: 2, nvlink: {bandwidth: 1 GB/s}}\nfaults: [{kind: link, from: n0.gpu0, to: "
     "n0.nvswitch}]\n",
     "f.yaml:2:10", "the fault has no effect"},
    {"node: {gpus: 2, nvlink: {bandwidth: 1 GB/s}}\nfaults: [{kind: late-gpu, gpu: n0.nvswitch, "
     "delay: 1 us}]\n",
     "f.yaml:2:32", "'n0.nvswitch' is no GPU"},
    {"node: {gpus: 2, nics: {count: 2, bandwidth: 1 GB/s, gpus: [[0]]}}\n", "f.yaml:1:59",
     "'gpus' has 1 lists, but there are 2 NICs"},
    {"node: {gpus: 2, nics: {count: 1, bandwidth: 1 GB/s, gpus: []}}\n", "f.yaml:1:59",
     "'gpus' has 0 lists"},
    {"node: {gpus: 2, nics: {count: 2, bandwidth: 1 GB/s, gpus: [[0], [2]]}}\n", "f.yaml:1:66",
     "there is no GPU 2: the node has GPUs 0 to 1"},
    {"node: {gpus: 2, nics: {count: 2, bandwidth: 1 GB/s, gpus: [[0, 0], [1]]}}\n", "f.yaml:1:64",
     "GPU 0 stands here twice"},
    {"node: {gpus: 2, nics: {count: 2, bandwidth: 1 GB/s, gpus: [[0], []]}}\n", "f.yaml:1:65",
     "NIC 1 serves no GPU"},
    {"nodes: 1000000\nnode: {gpus: 8}\n", "f.yaml:1:8", "the topology is too large"},
    {"node: {gpus: 65536, nvlink: {kind: mesh, bandwidth: 1 GB/s}}\n", "f.yaml:1:1",
     "the topology is too large"},
    {"nodes: 1000\nnode: {gpus: 1, nics: {count: 1, bandwidth: 1 GB/s}}\n"
     "fabric: {kind: leaf-spine, spines: 65536, ports_per_leaf: 1}\n",
     "f.yaml:3:9", "the fabric is too large: 1000 leaves joined to 65536 spines"},
    {"vertices: [{name: a, kind: gpu}, {name: a, kind: gpu}]\n", "f.yaml:1:41",
     "there is another vertex 'a'"},
    {"node: {gpus: 1}\nvertices: [{name: n0.gpu0, kind: gpu}]\n", "f.yaml:2:19",
     "there is another vertex 'n0.gpu0'"},
    {"vertices: [{name: a, kind: gpu, node: 1}]\n", "f.yaml:1:39",
     "the first GPU must be of node 0, not 1"},
    {"nodes: 3\nnode: {gpus: 1}\nvertices: [{name: a, kind: gpu, node: 1}]\n", "f.yaml:3:39",
     "GPU 'a' is out of order: it must be of node 2 or 3, not 1"},
    {"vertices: [{name: a, kind: gpu}, {name: b, kind: nic, node: 1}]\n", "f.yaml:1:61",
     "node 1 has no GPU"},
    {"vertices: [{name: a, kind: gpu}, {name: b, kind: switch, node: 0}]\n", "f.yaml:1:64",
     "'node' has no effect with kind 'switch'"},
    {"vertices: [{name: a, kind: cpu}]\n", "f.yaml:1:28", "'kind' must be gpu, nic, nvswitch"},
    {LINKS "- {from: a, to: c, bandwidth: 1 GB/s}\n", "f.yaml:3:17", "there is no vertex 'c'"},
    {"node: {gpus: 2}\nlinks:\n- {from: n0.gpu0, to: n0.gup1, bandwidth: 1 GB/s}\n", "f.yaml:3:23",
     "there is no vertex 'n0.gup1' (did you mean 'n0.gpu1'?)"},
    {LINKS "- {from: a, to: a, bandwidth: 1 GB/s}\n", "f.yaml:3:17",
     "the link ends where it starts"},
    {LINKS "- {from: a, to: b}\n", "f.yaml:3:3", "'bandwidth' is missing in 'links[0]'"},
    {LINKS "- {from: a, to: b, bandwidth: 1 GB/s, latency: 1}\n", "f.yaml:3:48",
     "'latency' must be a time such as 2.5 us, not '1'"},
};

static char *refuse(const char *text, const CcsTopologyOptions *options)
{
    g_autoptr(GError) error = NULL;

    ck_assert_ptr_null(ccs_topology_read("f.yaml", text, strlen(text), options, NULL, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    return g_strdup(error->message);
}

START_TEST(a_wrong_topology_is_refused_at_its_place)
{
    const Refusal *refusal = &refusals[_i];
    g_autofree char *place = g_strconcat(refusal->place, ": error: ", NULL);

    g_autofree char *message = refuse(refusal->text, NULL);
    ck_assert_msg(g_str_has_prefix(message, place), "%s", message);
    ck_assert_msg(strstr(message, refusal->part) != NULL, "%s", message);
}
END_TEST

START_TEST(an_error_that_listed_nodes_inherit_is_told_once)
{
    g_autofree char *message = refuse("nodes: [{}, {}, {}]\nnode: {gpus: x}\n", NULL);

    ck_assert_ptr_null(strstr(strstr(message, "error:") + 1, "error:"));
}
END_TEST

START_TEST(a_number_of_nodes_without_a_generator_is_refused)
{
    g_autofree char *message = refuse(PAIR, &(CcsTopologyOptions){.n_nodes = 4});

    ck_assert_msg(g_str_has_prefix(message, "--nodes 4: error: 'nodes' has no effect"), "%s",
                  message);
}
END_TEST

START_TEST(more_nodes_than_are_listed_are_refused)
{
    g_autofree char *message = refuse("nodes: [{gpus: 1}]\n", &(CcsTopologyOptions){.n_nodes = 2});

    ck_assert_str_eq(message, "--nodes 2: error: 'nodes' lists only 1");
}
END_TEST

START_TEST(a_wrong_override_is_named)
{
    const char *const overrides[] = {"node.nics.bandwith=1 GB/s", NULL};
    g_autofree char *message = refuse(NODE, &(CcsTopologyOptions){.overrides = overrides});

    ck_assert_str_eq(message, "--set node.nics.bandwith=1 GB/s: error: unknown key 'bandwith' (did "
                              "you mean 'bandwidth'?)");
}
END_TEST

static void check_keys_stand_in(const CcsFieldTable *table, const char *text)
{
    for (uint32_t i = 0; i < table->n_fields; i++) {
        const CcsField *field = &table->fields[i];
        g_autofree char *key = g_strconcat(field->name, ":", NULL);
        ck_assert_msg(strstr(text, key) != NULL, "'%s' is not explained", field->name);
        if (field->table != NULL)
            check_keys_stand_in(field->table, text);
    }
}

START_TEST(the_reference_explains_every_key)
{
    load("reference", NULL);

    check_keys_stand_in(&ccs_topology_table, ccs_topology_source(topology));
}
END_TEST

START_TEST(every_key_has_a_summary_and_a_valid_default)
{
    g_autofree char *schema = ccs_topology_schema();

    ck_assert_ptr_nonnull(strstr(schema, "\"oversubscription\""));
    ck_assert_ptr_null(strstr(schema, "\"description\": \"\""));
}
END_TEST

static void add_refusals(Suite *suite)
{
    TCase *tcase = tcase_create("refusals");

    tcase_add_loop_test(tcase, a_wrong_topology_is_refused_at_its_place, 0, G_N_ELEMENTS(refusals));
    tcase_add_test(tcase, an_error_that_listed_nodes_inherit_is_told_once);
    tcase_add_test(tcase, a_number_of_nodes_without_a_generator_is_refused);
    tcase_add_test(tcase, more_nodes_than_are_listed_are_refused);
    tcase_add_test(tcase, a_wrong_override_is_named);
    suite_add_tcase(suite, tcase);
}

static void add_builtin(Suite *suite)
{
    TCase *tcase = tcase_create("built in");

    tcase_add_checked_fixture(tcase, NULL, tear_down);
    tcase_add_loop_test(tcase, a_built_in_topology_has_its_shape, 0, G_N_ELEMENTS(shapes));
    tcase_add_test(tcase, every_built_in_topology_is_tested);
    tcase_add_test(tcase, the_textbook_cluster_has_a_leaf_per_rail_and_one_spine);
    tcase_add_test(tcase, the_h100_cluster_has_32_nodes_on_each_leaf);
    tcase_add_test(tcase, the_reference_explains_every_key);
    tcase_add_test(tcase, every_key_has_a_summary_and_a_valid_default);
    suite_add_tcase(suite, tcase);
}

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("topology_yaml");
    TCase *tcase = tcase_create("topology_yaml");

    add_builtin(suite);
    tcase_add_checked_fixture(tcase, NULL, tear_down);
    tcase_add_test(tcase, the_halves_of_an_nvlink_latency_add_up_to_it);
    tcase_add_test(tcase, a_mesh_joins_each_pair_of_gpus);
    tcase_add_loop_test(tcase, nics_serve_their_share_of_the_gpus, 0, G_N_ELEMENTS(shares));
    tcase_add_test(tcase, nics_serve_the_gpus_that_the_file_names);
    tcase_add_test(tcase, without_rails_nics_fill_the_leaves_in_order);
    tcase_add_test(tcase, a_fault_makes_a_link_slower_and_a_gpu_late);
    tcase_add_test(tcase, listed_nodes_differ_from_the_common_one);
    tcase_add_test(tcase, the_number_of_nodes_takes_a_part_of_listed_ones);
    tcase_add_test(tcase, vertices_and_links_can_be_listed);
    tcase_add_test(tcase, listed_parts_join_generated_ones);
    tcase_add_test(tcase, the_source_is_the_text_and_the_options);
    tcase_add_test(tcase, the_order_of_keys_does_not_matter);
    tcase_add_test(tcase, the_values_come_with_their_provenance);
    suite_add_tcase(suite, tcase);
    add_refusals(suite);
    return suite;
}
