#include "topology/route.h"

#include <string.h>

#include "base/error.h"
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

/* The route as "a->b->c". */
static char *route(const CcsTopology *topology, const char *from, const char *to)
{
    g_autoptr(CcsRouter) router = ccs_router_new(topology);
    g_autoptr(GArray) links = g_array_new(false, false, sizeof(CcsLinkId));
    GString *text = g_string_new(from);

    bool is_found = ccs_router_append(router, ccs_topology_find_vertex(topology, from),
                                      ccs_topology_find_vertex(topology, to), links, NULL);
    for (guint i = 0; i < links->len; i++) {
        const CcsLink *link = ccs_topology_link(topology, g_array_index(links, CcsLinkId, i));
        g_string_append_printf(text, " %s", ccs_topology_vertex(topology, link->to)->name);
    }
    if (!is_found)
        g_string_assign(text, "none");
    return g_string_free(text, false);
}

typedef struct {
    const char *machine;
    const char *from;
    const char *to;
    const char *route;
} Case;

#define SHARED                                                                                     \
    "nodes: 2\nnode: {gpus: 2, nics: {count: 1, bandwidth: 1 GB/s}}\nfabric: {kind: switch}\n"

static const Case cases[] = {
    {"nvlink8", "n0.gpu0", "n0.gpu5", "n0.gpu0 n0.nvswitch n0.gpu5"},
    {"nvlink8", "n0.gpu0", "n0.gpu0", "n0.gpu0"},
    {"cluster32", "n0.nic3", "n2.nic3", "n0.nic3 leaf3 n2.nic3"},
    {"cluster32", "n0.gpu3", "n2.gpu3", "n0.gpu3 n0.nic3 leaf3 n2.nic3 n2.gpu3"},
    {"cluster32", "n0.gpu1", "n0.nic1", "n0.gpu1 n0.nic1"},
    {"cluster32", "n0.nic1", "n0.gpu1", "n0.nic1 n0.gpu1"},
    /* the port of the destination chooses the spine */
    {"cluster32", "n0.nic0", "n1.nic7", "n0.nic0 leaf0 spine1 leaf7 n1.nic7"},
    {"cluster32", "n0.nic0", "n3.nic7", "n0.nic0 leaf0 spine3 leaf7 n3.nic7"},
    /* GPUs without NVLink that share a NIC meet at the switch, not in the NIC */
    {SHARED, "n0.gpu0", "n0.gpu1", "n0.gpu0 n0.nic0 switch n0.nic0 n0.gpu1"},
    /* no way through a GPU */
    {"vertices: [{name: a, kind: gpu}, {name: b, kind: gpu}, {name: c, kind: gpu}]\n"
     "links: [{from: a, to: b, bandwidth: 1 GB/s}, {from: b, to: c, bandwidth: 1 GB/s}]\n",
     "a", "c", "none"},
    {"vertices: [{name: a, kind: gpu}, {name: b, kind: gpu}, {name: c, kind: gpu}]\n"
     "links: [{from: a, to: b, bandwidth: 1 GB/s}, {from: b, to: c, bandwidth: 1 GB/s}]\n",
     "b", "a", "none"},
};

START_TEST(a_route_is_the_shortest_that_passes_no_gpu)
{
    const Case *of = &cases[_i];
    g_auto(CcsAnswer) answer;
    ccs_ask_machine(&(CcsAsked){.machine = of->machine}, &answer);
    g_autofree char *got = route(answer.topology, of->from, of->to);

    ck_assert_str_eq(got, of->route);
}
END_TEST

START_TEST(an_unreachable_target_is_named)
{
    g_auto(CcsAnswer) answer;
    ccs_ask_machine(&(CcsAsked){.machine = "node: {gpus: 2}\n"}, &answer);
    g_autoptr(CcsRouter) router = ccs_router_new(answer.topology);
    g_autoptr(GArray) links = g_array_new(false, false, sizeof(CcsLinkId));
    g_autoptr(GError) error = NULL;

    ck_assert(!ccs_router_append(router, 0, 1, links, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    ck_assert_ptr_nonnull(strstr(error->message, "'n0.gpu0' to 'n0.gpu1'"));
    ck_assert_uint_eq(links->len, 0);
}
END_TEST

/* In a shift of ranks each spine link carries one message. */
START_TEST(a_shift_of_ranks_meets_on_no_link)
{
    g_auto(CcsAnswer) answer;
    ccs_ask_machine(&(CcsAsked){.machine = "cluster32"}, &answer);
    g_autoptr(CcsRouter) router = ccs_router_new(answer.topology);
    g_autofree uint32_t *n_users = g_new0(uint32_t, ccs_topology_n_links(answer.topology));

    for (uint32_t node = 0; node < 4; node++) {
        g_autoptr(GArray) links = g_array_new(false, false, sizeof(CcsLinkId));
        g_autofree char *from = g_strdup_printf("n%u.nic2", node);
        g_autofree char *to = g_strdup_printf("n%u.nic5", (node + 1 + (uint32_t)_i) % 4);
        ck_assert(ccs_router_append(router, ccs_topology_find_vertex(answer.topology, from),
                                    ccs_topology_find_vertex(answer.topology, to), links, NULL));
        for (guint i = 0; i < links->len; i++)
            n_users[g_array_index(links, CcsLinkId, i)]++;
    }
    for (CcsLinkId id = 0; id < ccs_topology_n_links(answer.topology); id++)
        ck_assert_uint_le(n_users[id], 1);
}
END_TEST

START_TEST(a_hash_sends_messages_over_different_spines)
{
    static const char machine[] =
        "nodes: 16\nnode: {gpus: 1, nics: {count: 1, bandwidth: 1 GB/s}}\n"
        "fabric: {kind: leaf-spine, spines: 8, ports_per_leaf: 4, routing: ecmp, seed: 3}\n";
    g_auto(CcsAnswer) answer;
    ccs_ask_machine(&(CcsAsked){.machine = machine}, &answer);
    uint32_t n_spines = 0;
    bool is_seen[8] = {false};

    for (uint32_t to = 4; to < 16; to++) {
        g_autofree char *target = g_strdup_printf("n%u.nic0", to);
        g_autofree char *got = route(answer.topology, "n0.nic0", target);
        g_autofree char *again = route(answer.topology, "n0.nic0", target);
        const char *spine = strstr(got, "spine");
        ck_assert_str_eq(got, again);
        ck_assert_ptr_nonnull(spine);
        n_spines += is_seen[spine[5] - '0'] ? 0 : 1;
        is_seen[spine[5] - '0'] = true;
    }
    ck_assert_uint_gt(n_spines, 3);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("route");
    TCase *tcase = tcase_create("route");

    tcase_add_loop_test(tcase, a_route_is_the_shortest_that_passes_no_gpu, 0, G_N_ELEMENTS(cases));
    tcase_add_test(tcase, an_unreachable_target_is_named);
    tcase_add_loop_test(tcase, a_shift_of_ranks_meets_on_no_link, 0, 3);
    tcase_add_test(tcase, a_hash_sends_messages_over_different_spines);
    suite_add_tcase(suite, tcase);
    return suite;
}
