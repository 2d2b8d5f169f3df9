#include "topology/route.h"

#include <string.h>

#include "base/error.h"
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

static CcsTopology *topology;
static CcsRouter *router;

static void build(const char *text)
{
    topology = ccs_ask_topology(&(CcsAsked){.machine = text});
    router = ccs_router_new(topology);
}

static void tear_down(void)
{
    g_clear_pointer(&router, ccs_router_free);
    g_clear_pointer(&topology, ccs_topology_free);
}

static CcsVertexId vertex(const char *name)
{
    CcsVertexId id = ccs_topology_find_vertex(topology, name);
    ck_assert_msg(id != CCS_NO_VERTEX, "no vertex %s", name);
    return id;
}

/* The vertices on the way, "a b c"; NULL if there is no path. */
static char *route(const char *from, const char *to)
{
    g_autoptr(GArray) links = g_array_new(false, false, sizeof(CcsLinkId));
    g_autoptr(GError) error = NULL;
    GString *text = g_string_new(from);

    if (!ccs_router_append(router, vertex(from), vertex(to), links, &error)) {
        ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
        ck_assert_uint_eq(links->len, 0);
        g_string_free(text, true);
        return NULL;
    }
    CcsVertexId at = vertex(from);
    for (guint i = 0; i < links->len; i++) {
        const CcsLink *link = ccs_topology_link(topology, g_array_index(links, CcsLinkId, i));
        ck_assert_uint_eq(link->from, at);
        at = link->to;
        g_string_append_printf(text, " %s", ccs_topology_vertex(topology, at)->name);
    }
    ck_assert_uint_eq(at, vertex(to));
    return g_string_free(text, false);
}

static void assert_route(const char *from, const char *to, const char *expected)
{
    g_autofree char *found = route(from, to);

    if (expected == NULL)
        ck_assert_ptr_null(found);
    else
        ck_assert_str_eq(found == NULL ? "no path" : found, expected);
}

static const char two_nodes[] = "nodes: 2\n"
                                "node:\n"
                                "  gpus: 2\n"
                                "  nvlink: {bandwidth: 300 GB/s}\n"
                                "  nics: {count: 2, bandwidth: 50 GB/s}\n"
                                "fabric: {kind: switch}\n";

START_TEST(a_route_is_the_shortest)
{
    build(two_nodes);

    assert_route("n0.gpu0", "n0.gpu1", "n0.gpu0 n0.nvswitch n0.gpu1");
    assert_route("n0.gpu1", "n1.gpu1", "n0.gpu1 n0.nic1 switch n1.nic1 n1.gpu1");
    assert_route("n0.nic0", "n1.nic1", "n0.nic0 switch n1.nic1");
    assert_route("n0.gpu0", "n0.gpu0", "n0.gpu0");
}
END_TEST

/* From a NIC to a GPU of its node goes what has come from the fabric, so it may not go back. */
START_TEST(between_a_gpu_and_a_nic_of_one_node_a_route_stays_inside)
{
    build(two_nodes);

    assert_route("n1.nic1", "n1.gpu1", "n1.nic1 n1.gpu1");
    assert_route("n1.nic1", "n1.gpu0", NULL);
    assert_route("n0.gpu0", "n0.nic0", "n0.gpu0 n0.nic0");
    assert_route("n0.gpu0", "n0.nic1", NULL);
    assert_route("n0.nic0", "n1.gpu1", "n0.nic0 switch n1.nic1 n1.gpu1");
}
END_TEST

START_TEST(no_route_passes_through_a_gpu)
{
    build("vertices:\n"
          "  - {name: a, kind: gpu}\n"
          "  - {name: b, kind: gpu}\n"
          "  - {name: c, kind: gpu}\n"
          "links:\n"
          "  - {from: a, to: b, bandwidth: 1 GB/s, both_ways: true}\n"
          "  - {from: b, to: c, bandwidth: 1 GB/s, both_ways: true}\n");

    assert_route("a", "b", "a b");
    assert_route("a", "c", NULL);
}
END_TEST

START_TEST(a_nic_passes_nothing_between_gpus_of_its_node)
{
    build("node: {gpus: 2, nics: {count: 1, bandwidth: 50 GB/s}}\n");

    assert_route("n0.gpu0", "n0.gpu1", NULL);
}
END_TEST

START_TEST(gpus_that_share_a_nic_meet_at_the_switch)
{
    build("node: {gpus: 2, nics: {count: 1, bandwidth: 50 GB/s}}\n"
          "fabric: {kind: switch}\n");

    assert_route("n0.gpu0", "n0.gpu1", "n0.gpu0 n0.nic0 switch n0.nic0 n0.gpu1");
}
END_TEST

START_TEST(a_nic_passes_nothing_between_switches)
{
    build("vertices:\n"
          "  - {name: a, kind: gpu, node: 0}\n"
          "  - {name: x, kind: nic, node: 0}\n"
          "  - {name: b, kind: gpu, node: 1}\n"
          "  - {name: y, kind: nic, node: 1}\n"
          "  - {name: z, kind: nic, node: 0}\n"
          "  - {name: left, kind: switch}\n"
          "  - {name: right, kind: switch}\n"
          "  - {name: middle, kind: switch}\n"
          "  - {name: far, kind: switch}\n"
          "links:\n"
          "  - {from: a, to: x, bandwidth: 1 GB/s}\n"
          "  - {from: x, to: left, bandwidth: 1 GB/s}\n"
          "  - {from: left, to: z, bandwidth: 1 GB/s}\n"
          "  - {from: z, to: right, bandwidth: 1 GB/s}\n"
          "  - {from: left, to: middle, bandwidth: 1 GB/s}\n"
          "  - {from: middle, to: far, bandwidth: 1 GB/s}\n"
          "  - {from: far, to: right, bandwidth: 1 GB/s}\n"
          "  - {from: right, to: y, bandwidth: 1 GB/s}\n"
          "  - {from: y, to: b, bandwidth: 1 GB/s}\n");

    assert_route("a", "b", "a x left middle far right y b");
}
END_TEST

START_TEST(what_cannot_be_reached_is_an_error_with_both_names)
{
    build("nodes: 2\n"
          "node: {gpus: 1}\n");
    g_autoptr(GArray) links = g_array_new(false, false, sizeof(CcsLinkId));
    g_autoptr(GError) error = NULL;
    CcsLinkId before = 7;
    g_array_append_val(links, before);

    ck_assert(!ccs_router_append(router, vertex("n0.gpu0"), vertex("n1.gpu0"), links, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    ck_assert_ptr_nonnull(strstr(error->message, "from 'n0.gpu0' to 'n1.gpu0'"));
    ck_assert_uint_eq(links->len, 1);
    ck_assert_uint_eq(g_array_index(links, CcsLinkId, 0), 7);
}
END_TEST

START_TEST(a_link_leads_one_way_only)
{
    build("vertices: [{name: a, kind: gpu}, {name: b, kind: gpu}]\n"
          "links: [{from: a, to: b, bandwidth: 1 GB/s}]\n");

    assert_route("a", "b", "a b");
    assert_route("b", "a", NULL);
}
END_TEST

START_TEST(parallel_links_are_shared_out_by_destination)
{
    build("vertices:\n"
          "  - {name: a, kind: gpu}\n"
          "  - {name: b, kind: gpu}\n"
          "  - {name: c, kind: gpu}\n"
          "  - {name: hub, kind: nvswitch}\n"
          "links:\n"
          "  - {from: a, to: hub, bandwidth: 1 GB/s}\n"
          "  - {from: a, to: hub, bandwidth: 1 GB/s}\n"
          "  - {from: hub, to: b, bandwidth: 1 GB/s}\n"
          "  - {from: hub, to: c, bandwidth: 1 GB/s}\n");
    g_autoptr(GArray) to_b = g_array_new(false, false, sizeof(CcsLinkId));
    g_autoptr(GArray) to_c = g_array_new(false, false, sizeof(CcsLinkId));

    ck_assert(ccs_router_append(router, vertex("a"), vertex("b"), to_b, NULL));
    ck_assert(ccs_router_append(router, vertex("a"), vertex("c"), to_c, NULL));

    ck_assert_uint_eq(to_b->len, 2);
    ck_assert_uint_eq(to_c->len, 2);
    ck_assert_uint_ne(g_array_index(to_b, CcsLinkId, 0), g_array_index(to_c, CcsLinkId, 0));
}
END_TEST

/* Twelve nodes on three leaves, with as many spines as a leaf has nodes. */
START_TEST(a_shift_spreads_over_all_spines)
{
    build("nodes: 12\n"
          "node: {gpus: 1, nics: {count: 1, bandwidth: 50 GB/s}}\n"
          "fabric: {kind: leaf-spine, rail_optimized: false, ports_per_leaf: 4, spines: 4}\n");
    uint32_t shift = (uint32_t)_i;
    g_autofree uint32_t *n_flows = g_new0(uint32_t, ccs_topology_n_links(topology));

    for (uint32_t source = 0; source < 12; source++) {
        g_autoptr(GArray) links = g_array_new(false, false, sizeof(CcsLinkId));
        g_autofree char *from = g_strdup_printf("n%u.nic0", source);
        g_autofree char *to = g_strdup_printf("n%u.nic0", (source + shift) % 12);
        ck_assert(ccs_router_append(router, vertex(from), vertex(to), links, NULL));
        for (guint i = 0; i < links->len; i++)
            n_flows[g_array_index(links, CcsLinkId, i)]++;
    }
    for (CcsLinkId link = 0; link < ccs_topology_n_links(topology); link++)
        ck_assert_uint_le(n_flows[link], 1);
}
END_TEST

/* The rules of a route, said once more in the plainest way: a table of the least number of
 * links by which a vertex can be reached, coming from the fabric (1) or not (0). */
#define MAX_VERTICES 16
#define FAR          1000U

static bool is_fabric(CcsVertexId id)
{
    CcsVertexKind kind = ccs_topology_vertex(topology, id)->kind;
    return kind == CCS_VERTEX_SWITCH || kind == CCS_VERTEX_NIC;
}

static bool may_pass(CcsVertexId at, bool is_from_fabric, CcsVertexId to)
{
    switch (ccs_topology_vertex(topology, at)->kind) {
    case CCS_VERTEX_GPU:
        return false;
    case CCS_VERTEX_NIC:
        return is_from_fabric != is_fabric(to);
    case CCS_VERTEX_NVSWITCH:
    case CCS_VERTEX_SWITCH:
    case CCS_VERTEX_HOST:
        break;
    }
    return true;
}

static uint32_t plain_distance(CcsVertexId from, CcsVertexId to)
{
    uint32_t distance[MAX_VERTICES][2];
    uint32_t n_vertices = ccs_topology_n_vertices(topology);

    for (CcsVertexId id = 0; id < n_vertices; id++)
        distance[id][0] = distance[id][1] = FAR;
    for (uint32_t round = 0; round < 2 * n_vertices; round++) {
        for (CcsLinkId id = 0; id < ccs_topology_n_links(topology); id++) {
            const CcsLink *link = ccs_topology_link(topology, id);
            uint32_t *best = &distance[link->to][is_fabric(link->from)];
            if (link->from == from)
                *best = 1;
            for (int side = 0; side < 2; side++) {
                if (may_pass(link->from, side == 1, link->to))
                    *best = MIN(*best, distance[link->from][side] + 1);
            }
        }
    }
    return MIN(distance[to][0], distance[to][1]);
}

static void build_random(GRand *random)
{
    static const CcsVertexKind kinds[] = {CCS_VERTEX_GPU, CCS_VERTEX_GPU,      CCS_VERTEX_NIC,
                                          CCS_VERTEX_NIC, CCS_VERTEX_NVSWITCH, CCS_VERTEX_SWITCH,
                                          CCS_VERTEX_HOST};
    uint32_t n_vertices = (uint32_t)g_rand_int_range(random, 4, MAX_VERTICES);
    int n_links = g_rand_int_range(random, 4, 40);

    topology = ccs_topology_new("random", "");
    for (uint32_t i = 0; i < n_vertices; i++) {
        CcsVertexKind kind = i < 2 ? CCS_VERTEX_GPU : kinds[g_rand_int_range(random, 0, 7)];
        g_autofree char *name = g_strdup_printf("v%u", i);
        ccs_topology_add_vertex(topology, kind, name,
                                kind == CCS_VERTEX_SWITCH ? CCS_NO_NODE : i % 2);
    }
    for (int i = 0; i < n_links; i++) {
        CcsVertexId from = (CcsVertexId)g_rand_int_range(random, 0, (gint32)n_vertices);
        CcsVertexId to = (CcsVertexId)g_rand_int_range(random, 0, (gint32)n_vertices);
        if (from != to)
            ccs_topology_add_link(topology, from, to, 0, CCS_RATE_PER_BYTE, "link");
    }
    ccs_topology_seal(topology);
    router = ccs_router_new(topology);
}

/* Fails the test unless @links lead from @from to @to and keep the rules. */
static void assert_valid(const GArray *links, CcsVertexId from, CcsVertexId to)
{
    CcsVertexId at = from;
    bool is_from_fabric = false;

    for (guint i = 0; i < links->len; i++) {
        const CcsLink *link = ccs_topology_link(topology, g_array_index(links, CcsLinkId, i));
        ck_assert_uint_eq(link->from, at);
        ck_assert(i == 0 || may_pass(at, is_from_fabric, link->to));
        is_from_fabric = is_fabric(at);
        at = link->to;
    }
    ck_assert_uint_eq(at, to);
}

START_TEST(routes_between_gpus_are_as_short_as_a_plain_search_finds)
{
    g_autoptr(GRand) random = g_rand_new_with_seed((guint32)_i);
    g_autoptr(GArray) links = g_array_new(false, false, sizeof(CcsLinkId));
    g_autoptr(GArray) again = g_array_new(false, false, sizeof(CcsLinkId));

    for (int round = 0; round < 50; round++) {
        build_random(random);
        for (CcsVertexId to = 0; to < ccs_topology_n_vertices(topology); to++) {
            if (to == 0 || ccs_topology_vertex(topology, to)->kind != CCS_VERTEX_GPU)
                continue;
            uint32_t expected = plain_distance(0, to);
            g_array_set_size(links, 0);
            g_array_set_size(again, 0);
            ck_assert_int_eq(ccs_router_append(router, 0, to, links, NULL), expected < FAR);
            if (expected == FAR)
                continue;
            ck_assert_uint_eq(links->len, expected);
            assert_valid(links, 0, to);
            ccs_router_append(router, 0, to, again, NULL);
            ck_assert_mem_eq(links->data, again->data, links->len * sizeof(CcsLinkId));
        }
        tear_down();
    }
}
END_TEST

static const char ecmp_fabric[] =
    "nodes: 6\n"
    "node: {gpus: 2, nvlink: {bandwidth: 300 GB/s}, nics: {count: 2, bandwidth: 50 GB/s}}\n"
    "fabric: {kind: leaf-spine, spines: 5, ports_per_leaf: 2, routing: ecmp, seed: 4}\n";

START_TEST(a_route_does_not_depend_on_those_found_before)
{
    build(ecmp_fabric);
    g_autoptr(GArray) links = g_array_new(false, false, sizeof(CcsLinkId));
    g_autoptr(GArray) again = g_array_new(false, false, sizeof(CcsLinkId));
    uint32_t n = ccs_topology_n_vertices(topology);

    for (uint32_t pair = 0; pair < n * n; pair++) {
        g_autoptr(CcsRouter) fresh = ccs_router_new(topology);
        g_array_set_size(links, 0);
        g_array_set_size(again, 0);
        bool is_found = ccs_router_append(router, pair / n, pair % n, links, NULL);
        ck_assert_int_eq(ccs_router_append(fresh, pair / n, pair % n, again, NULL), is_found);
        ck_assert_uint_eq(links->len, again->len);
        for (guint i = 0; i < links->len; i++)
            ck_assert_uint_eq(g_array_index(links, CcsLinkId, i),
                              g_array_index(again, CcsLinkId, i));
    }
}
END_TEST

START_TEST(a_gpu_that_is_all_a_nic_serves_is_no_way_to_others)
{
    build(two_nodes);

    assert_route("n1.nic0", "n1.gpu0", "n1.nic0 n1.gpu0");
    assert_route("n1.nic0", "n1.gpu1", NULL);
    assert_route("n0.gpu1", "n0.nic0", NULL);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("route");
    TCase *tcase = tcase_create("route");

    tcase_add_checked_fixture(tcase, NULL, tear_down);
    tcase_add_test(tcase, a_route_is_the_shortest);
    tcase_add_test(tcase, between_a_gpu_and_a_nic_of_one_node_a_route_stays_inside);
    tcase_add_test(tcase, no_route_passes_through_a_gpu);
    tcase_add_test(tcase, a_nic_passes_nothing_between_gpus_of_its_node);
    tcase_add_test(tcase, gpus_that_share_a_nic_meet_at_the_switch);
    tcase_add_test(tcase, a_nic_passes_nothing_between_switches);
    tcase_add_test(tcase, what_cannot_be_reached_is_an_error_with_both_names);
    tcase_add_test(tcase, a_link_leads_one_way_only);
    tcase_add_test(tcase, parallel_links_are_shared_out_by_destination);
    tcase_add_test(tcase, a_route_does_not_depend_on_those_found_before);
    tcase_add_test(tcase, a_gpu_that_is_all_a_nic_serves_is_no_way_to_others);
    tcase_add_loop_test(tcase, a_shift_spreads_over_all_spines, 1, 12);
    tcase_add_loop_test(tcase, routes_between_gpus_are_as_short_as_a_plain_search_finds, 0, 8);
    suite_add_tcase(suite, tcase);
    return suite;
}
