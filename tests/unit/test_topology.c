#include "topology/topology.h"

#include "tests/support/check_main.h"

static CcsTopology *topology;

static CcsVertexId add(CcsVertexKind kind, const char *name, CcsNodeId node)
{
    return ccs_topology_add_vertex(topology, kind, name, node);
}

static CcsLinkId join(CcsVertexId from, CcsVertexId to, const char *link_class)
{
    return ccs_topology_add_link(topology, from, to, 1000, CCS_RATE_PER_BYTE, link_class);
}

static void set_up(void)
{
    topology = ccs_topology_new("small", "name: small\n");
}

static void tear_down(void)
{
    g_clear_pointer(&topology, ccs_topology_free);
}

START_TEST(a_vertex_is_found_by_its_name)
{
    CcsVertexId gpu = add(CCS_VERTEX_GPU, "n0.gpu0", 0);
    CcsVertexId fabric = add(CCS_VERTEX_SWITCH, "switch", CCS_NO_NODE);

    ck_assert_uint_eq(ccs_topology_find_vertex(topology, "n0.gpu0"), gpu);
    ck_assert_uint_eq(ccs_topology_find_vertex(topology, "switch"), fabric);
    ck_assert_uint_eq(ccs_topology_find_vertex(topology, "n0.gpu1"), CCS_NO_VERTEX);
    ck_assert_str_eq(ccs_topology_vertex(topology, gpu)->name, "n0.gpu0");
}
END_TEST

START_TEST(links_out_and_in_come_in_ascending_order)
{
    CcsVertexId a = add(CCS_VERTEX_GPU, "a", 0);
    CcsVertexId b = add(CCS_VERTEX_GPU, "b", 0);
    CcsVertexId c = add(CCS_VERTEX_GPU, "c", 0);
    CcsLinkId c_to_b = join(c, b, "nvlink");
    CcsLinkId a_to_c = join(a, c, "nvlink");
    CcsLinkId a_to_b = join(a, b, "nvlink");
    ccs_topology_seal(topology);

    uint32_t n;
    const CcsLinkId *out = ccs_topology_links_out(topology, a, &n);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(out[0], a_to_c);
    ck_assert_uint_eq(out[1], a_to_b);
    const CcsLinkId *in = ccs_topology_links_in(topology, b, &n);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(in[0], c_to_b);
    ck_assert_uint_eq(in[1], a_to_b);
    ccs_topology_links_out(topology, b, &n);
    ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(the_second_of_parallel_links_has_a_number_in_its_name)
{
    CcsVertexId a = add(CCS_VERTEX_GPU, "a", 0);
    CcsVertexId b = add(CCS_VERTEX_GPU, "b", 0);
    CcsLinkId first = join(a, b, "nvlink");
    join(b, a, "nvlink");
    CcsLinkId second = join(a, b, "nvlink");
    ccs_topology_seal(topology);

    g_autofree char *first_name = ccs_topology_link_name(topology, first);
    g_autofree char *second_name = ccs_topology_link_name(topology, second);
    ck_assert_str_eq(first_name, "a->b");
    ck_assert_str_eq(second_name, "a->b#2");
}
END_TEST

START_TEST(classes_come_in_the_order_of_first_use)
{
    CcsVertexId a = add(CCS_VERTEX_GPU, "a", 0);
    CcsVertexId b = add(CCS_VERTEX_GPU, "b", 0);
    join(a, b, "nvlink");
    join(a, b, "pcie");
    CcsLinkId last = join(b, a, "nvlink");

    ck_assert_uint_eq(ccs_topology_n_classes(topology), 2);
    ck_assert_str_eq(ccs_topology_class_name(topology, 0), "nvlink");
    ck_assert_str_eq(ccs_topology_class_name(topology, 1), "pcie");
    ck_assert_uint_eq(ccs_topology_link(topology, last)->link_class, 0);
}
END_TEST

START_TEST(a_node_knows_its_gpus_and_nics)
{
    CcsVertexId late_gpu = add(CCS_VERTEX_GPU, "n1.gpu0", 1);
    CcsVertexId nic = add(CCS_VERTEX_NIC, "n0.nic0", 0);
    CcsVertexId gpu0 = add(CCS_VERTEX_GPU, "n0.gpu0", 0);
    CcsVertexId gpu1 = add(CCS_VERTEX_GPU, "n0.gpu1", 0);
    add(CCS_VERTEX_SWITCH, "switch", CCS_NO_NODE);
    ccs_topology_seal(topology);

    uint32_t n;
    ck_assert_uint_eq(ccs_topology_n_nodes(topology), 2);
    ck_assert_uint_eq(ccs_topology_n_gpus(topology), 3);
    const CcsVertexId *gpus = ccs_topology_node_gpus(topology, 0, &n);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(gpus[0], gpu0);
    ck_assert_uint_eq(gpus[1], gpu1);
    ck_assert_uint_eq(ccs_topology_node_gpus(topology, 1, &n)[0], late_gpu);
    ck_assert_uint_eq(ccs_topology_node_nics(topology, 0, &n)[0], nic);
    ccs_topology_node_nics(topology, 1, &n);
    ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(a_gpu_has_each_nic_that_it_is_linked_to_once)
{
    CcsVertexId gpu = add(CCS_VERTEX_GPU, "gpu", 0);
    CcsVertexId nic0 = add(CCS_VERTEX_NIC, "nic0", 0);
    CcsVertexId nic1 = add(CCS_VERTEX_NIC, "nic1", 0);
    CcsVertexId other = add(CCS_VERTEX_NIC, "other", 0);
    join(gpu, nic1, "pcie");
    join(gpu, nic0, "pcie");
    join(gpu, nic0, "pcie");
    join(other, gpu, "pcie");
    ccs_topology_seal(topology);

    uint32_t n;
    const CcsVertexId *nics = ccs_topology_gpu_nics(topology, gpu, &n);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(nics[0], nic0);
    ck_assert_uint_eq(nics[1], nic1);
}
END_TEST

START_TEST(an_empty_topology_can_be_sealed)
{
    ccs_topology_seal(topology);

    ck_assert_uint_eq(ccs_topology_n_vertices(topology), 0);
    ck_assert_uint_eq(ccs_topology_n_links(topology), 0);
    ck_assert_uint_eq(ccs_topology_n_nodes(topology), 0);
    ck_assert_str_eq(ccs_topology_name(topology), "small");
    ck_assert_str_eq(ccs_topology_source(topology), "name: small\n");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("topology");
    TCase *tcase = tcase_create("topology");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_vertex_is_found_by_its_name);
    tcase_add_test(tcase, links_out_and_in_come_in_ascending_order);
    tcase_add_test(tcase, the_second_of_parallel_links_has_a_number_in_its_name);
    tcase_add_test(tcase, classes_come_in_the_order_of_first_use);
    tcase_add_test(tcase, a_node_knows_its_gpus_and_nics);
    tcase_add_test(tcase, a_gpu_has_each_nic_that_it_is_linked_to_once);
    tcase_add_test(tcase, an_empty_topology_can_be_sealed);
    suite_add_tcase(suite, tcase);
    return suite;
}
