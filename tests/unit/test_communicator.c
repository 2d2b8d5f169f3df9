#include "topology/communicator.h"

#include "base/error.h"
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

static CcsTopology *topology;
static CcsCommunicator *communicator;

static void build(const char *text, uint32_t n_ranks, uint32_t ranks_per_node)
{
    topology = ccs_ask_topology(&(CcsAsked){.machine = text});
    communicator = ccs_communicator_new(topology, n_ranks, ranks_per_node, NULL);
    ck_assert_ptr_nonnull(communicator);
}

static void tear_down(void)
{
    g_clear_pointer(&communicator, ccs_communicator_free);
    g_clear_pointer(&topology, ccs_topology_free);
}

static const char *gpu_of(CcsRank rank)
{
    return ccs_topology_vertex(topology, ccs_communicator_gpu(communicator, rank))->name;
}

static const char uneven[] = "nodes: [{gpus: 3}, {gpus: 1}, {gpus: 2}]\n"
                             "node: {nics: {count: 1, bandwidth: 50 GB/s}}\n"
                             "fabric: {kind: switch}\n";

START_TEST(ranks_count_gpus_node_by_node)
{
    build(uneven, 0, 0);

    ck_assert_uint_eq(ccs_communicator_n_ranks(communicator), 6);
    ck_assert_uint_eq(ccs_communicator_n_nodes(communicator), 3);
    ck_assert_str_eq(gpu_of(2), "n0.gpu2");
    ck_assert_str_eq(gpu_of(3), "n1.gpu0");
    ck_assert_str_eq(gpu_of(5), "n2.gpu1");
}
END_TEST

START_TEST(a_rank_knows_its_node_and_its_place_there)
{
    static const uint32_t nodes[] = {0, 0, 0, 1, 2, 2};
    static const uint32_t locals[] = {0, 1, 2, 0, 0, 1};
    build(uneven, 0, 0);

    for (CcsRank rank = 0; rank < 6; rank++) {
        ck_assert_uint_eq(ccs_communicator_node(communicator, rank), nodes[rank]);
        ck_assert_uint_eq(ccs_communicator_local(communicator, rank), locals[rank]);
    }
    ck_assert_uint_eq(ccs_communicator_first(communicator, 2), 4);
    ck_assert_uint_eq(ccs_communicator_n_local(communicator, 0), 3);
    ck_assert_uint_eq(ccs_communicator_n_local(communicator, 1), 1);
}
END_TEST

START_TEST(a_part_of_the_machine_may_be_taken)
{
    build("cluster32", 11, 0);

    ck_assert_uint_eq(ccs_communicator_n_ranks(communicator), 11);
    ck_assert_uint_eq(ccs_communicator_n_nodes(communicator), 2);
    ck_assert_uint_eq(ccs_communicator_n_local(communicator, 0), 8);
    ck_assert_uint_eq(ccs_communicator_n_local(communicator, 1), 3);
}
END_TEST

START_TEST(so_many_ranks_may_be_taken_of_each_node)
{
    build("cluster32", 0, 3);

    ck_assert_uint_eq(ccs_communicator_n_ranks(communicator), 12);
    ck_assert_str_eq(gpu_of(3), "n1.gpu0");
    ck_assert_str_eq(gpu_of(11), "n3.gpu2");
}
END_TEST

START_TEST(both_limits_may_be_given)
{
    build("cluster32", 5, 2);

    ck_assert_uint_eq(ccs_communicator_n_nodes(communicator), 3);
    ck_assert_uint_eq(ccs_communicator_n_local(communicator, 2), 1);
    ck_assert_str_eq(gpu_of(4), "n2.gpu0");
}
END_TEST

static const struct {
    uint32_t n_ranks;
    uint32_t ranks_per_node;
    const char *message;
} too_many[] = {
    {33, 0, "33 ranks do not fit: topology 'cluster32' has 32 GPUs"},
    {9, 2, "9 ranks do not fit: topology 'cluster32' has 8 GPUs at so many per node"},
    {0, 9, "9 ranks per node do not fit: node 0 of topology 'cluster32' has 8 GPUs"},
};

START_TEST(more_ranks_than_gpus_are_an_error)
{
    g_autoptr(GError) error = NULL;
    topology = ccs_ask_topology(&(CcsAsked){.machine = "cluster32"});

    ck_assert_ptr_null(
        ccs_communicator_new(topology, too_many[_i].n_ranks, too_many[_i].ranks_per_node, &error));

    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    ck_assert_str_eq(error->message, too_many[_i].message);
}
END_TEST

START_TEST(a_machine_without_gpus_has_no_communicator)
{
    g_autoptr(GError) error = NULL;
    topology = ccs_topology_new("empty", "");
    ccs_topology_seal(topology);

    ck_assert_ptr_null(ccs_communicator_new(topology, 0, 0, &error));

    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
}
END_TEST

START_TEST(a_gpu_without_a_node_is_a_node_of_its_own)
{
    topology = ccs_topology_new("loose", "");
    ccs_topology_add_vertex(topology, CCS_VERTEX_GPU, "a", CCS_NO_NODE);
    ccs_topology_add_vertex(topology, CCS_VERTEX_GPU, "b", CCS_NO_NODE);
    ccs_topology_seal(topology);
    communicator = ccs_communicator_new(topology, 0, 0, NULL);

    ck_assert_uint_eq(ccs_communicator_n_nodes(communicator), 2);
    ck_assert_uint_eq(ccs_communicator_node(communicator, 1), 1);
    ck_assert_uint_eq(ccs_communicator_local(communicator, 1), 0);
}
END_TEST

/* Eight GPUs and so many NICs: which NIC and which rank a channel uses. */
static const struct {
    uint32_t n_nics;
    uint32_t channel;
    uint32_t nic;
    CcsRank rank; /* in node 0 */
} rails[] = {
    {1, 0, 0, 0},  {1, 3, 0, 3},  {1, 7, 0, 7},  {1, 8, 0, 0},  {4, 0, 0, 0},    {4, 1, 1, 2},
    {4, 3, 3, 6},  {4, 4, 0, 1},  {4, 7, 3, 7},  {4, 8, 0, 0},  {8, 0, 0, 0},    {8, 5, 5, 5},
    {8, 13, 5, 5}, {16, 0, 0, 0}, {16, 1, 1, 0}, {16, 2, 2, 1}, {16, 15, 15, 7}, {16, 16, 0, 0},
};

START_TEST(a_channel_uses_its_nic_and_takes_turns_among_the_ranks_behind_it)
{
    g_autofree char *text = g_strdup_printf("nodes: 2\n"
                                            "node:\n"
                                            "  gpus: 8\n"
                                            "  nics: {count: %u, bandwidth: 50 GB/s}\n"
                                            "fabric: {kind: switch}\n",
                                            rails[_i].n_nics);
    build(text, 0, 0);

    for (uint32_t node = 0; node < 2; node++) {
        CcsRail rail = ccs_communicator_rail(communicator, node, rails[_i].channel);
        g_autofree char *nic = g_strdup_printf("n%u.nic%u", node, rails[_i].nic);
        ck_assert_str_eq(ccs_topology_vertex(topology, rail.nic)->name, nic);
        ck_assert_uint_eq(rail.rank, node * 8 + rails[_i].rank);
    }
    ck_assert_uint_eq(ccs_communicator_n_rails(communicator), rails[_i].n_nics);
}
END_TEST

START_TEST(nics_without_a_rank_are_no_rails)
{
    build("cluster32", 12, 0);

    ck_assert_uint_eq(ccs_communicator_n_rails(communicator), 8);
    CcsRail rail = ccs_communicator_rail(communicator, 1, 6); /* has GPUs 0 to 3 */
    ck_assert_str_eq(ccs_topology_vertex(topology, rail.nic)->name, "n1.nic2");
    ck_assert_uint_eq(rail.rank, 10);
}
END_TEST

START_TEST(without_nics_a_channel_still_has_a_rank)
{
    build("nvlink8", 0, 0);

    CcsRail rail = ccs_communicator_rail(communicator, 0, 11);
    ck_assert_uint_eq(rail.nic, CCS_NO_VERTEX);
    ck_assert_uint_eq(rail.rank, 3);
    ck_assert_uint_eq(ccs_communicator_n_rails(communicator), 0);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("communicator");
    TCase *tcase = tcase_create("communicator");

    tcase_add_checked_fixture(tcase, NULL, tear_down);
    tcase_add_test(tcase, ranks_count_gpus_node_by_node);
    tcase_add_test(tcase, a_rank_knows_its_node_and_its_place_there);
    tcase_add_test(tcase, a_part_of_the_machine_may_be_taken);
    tcase_add_test(tcase, so_many_ranks_may_be_taken_of_each_node);
    tcase_add_test(tcase, both_limits_may_be_given);
    tcase_add_loop_test(tcase, more_ranks_than_gpus_are_an_error, 0, G_N_ELEMENTS(too_many));
    tcase_add_test(tcase, a_machine_without_gpus_has_no_communicator);
    tcase_add_test(tcase, a_gpu_without_a_node_is_a_node_of_its_own);
    tcase_add_loop_test(tcase, a_channel_uses_its_nic_and_takes_turns_among_the_ranks_behind_it, 0,
                        G_N_ELEMENTS(rails));
    tcase_add_test(tcase, nics_without_a_rank_are_no_rails);
    tcase_add_test(tcase, without_nics_a_channel_still_has_a_rank);
    suite_add_tcase(suite, tcase);
    return suite;
}
