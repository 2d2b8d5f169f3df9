#include "topology/communicator.h"

#include "base/error.h"
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

START_TEST(ranks_are_counted_node_by_node)
{
    g_auto(CcsAnswer) answer;
    ccs_ask_machine(&(CcsAsked){.machine = "nodes: [{gpus: 3}, {gpus: 1}, {}]\nnode: {gpus: 2}\n"},
                    &answer);

    ck_assert_uint_eq(ccs_communicator_n_ranks(answer.communicator), 6);
    ck_assert_uint_eq(ccs_communicator_n_nodes(answer.communicator), 3);
    ck_assert_uint_eq(ccs_communicator_node(answer.communicator, 3), 1);
    ck_assert_uint_eq(ccs_communicator_local(answer.communicator, 5), 1);
    ck_assert_uint_eq(ccs_communicator_first(answer.communicator, 2), 4);
    ck_assert_uint_eq(ccs_communicator_n_local(answer.communicator, 0), 3);
}
END_TEST

START_TEST(a_job_takes_a_part_of_the_machine)
{
    g_auto(CcsAnswer) answer;
    ccs_ask_machine(&(CcsAsked){.machine = "cluster32", .n_ranks = 7, .ranks_per_node = 3},
                    &answer);

    ck_assert_uint_eq(ccs_communicator_n_nodes(answer.communicator), 3);
    ck_assert_uint_eq(ccs_communicator_n_local(answer.communicator, 2), 1);
    CcsVertexId gpu = ccs_communicator_gpu(answer.communicator, 4);
    ck_assert_str_eq(ccs_topology_vertex(answer.topology, gpu)->name, "n1.gpu1");
}
END_TEST

START_TEST(more_ranks_than_gpus_are_refused)
{
    g_auto(CcsAnswer) answer;
    ccs_ask_machine(&(CcsAsked){.machine = "nvlink8"}, &answer);
    g_autoptr(GError) error = NULL;
    g_autoptr(GError) other = NULL;

    ck_assert_ptr_null(ccs_communicator_new(answer.topology, 9, 0, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    ck_assert_ptr_null(ccs_communicator_new(answer.topology, 0, 9, &other));
    ck_assert(g_error_matches(other, CCS_ERROR, CCS_ERROR_INPUT));
}
END_TEST

/* Which NIC and which rank channels 0, 1, 2, ... use. */
typedef struct {
    uint32_t n_gpus;
    uint32_t n_nics;
    uint32_t n_rails;
    const char *nics;  /* a digit for each channel */
    const char *ranks; /* likewise */
} Rails;

static const Rails rails[] = {
    {8, 8, 8, "01234567012", "01234567012"}, {8, 1, 1, "00000000000", "01234567012"},
    {8, 4, 4, "01230123012", "02461357024"}, {2, 4, 4, "01230123012", "00110011001"},
    {5, 5, 5, "01234012340", "01234012340"},
};

START_TEST(a_channel_has_its_rail)
{
    const Rails *of = &rails[_i];
    g_autofree char *machine =
        g_strdup_printf("nodes: 2\nnode: {gpus: %u, nics: {count: %u, bandwidth: 1 GB/s}}\n"
                        "fabric: {kind: switch}\n",
                        of->n_gpus, of->n_nics);
    g_auto(CcsAnswer) answer;
    ccs_ask_machine(&(CcsAsked){.machine = machine}, &answer);

    ck_assert_uint_eq(ccs_communicator_n_rails(answer.communicator), of->n_rails);
    for (uint32_t channel = 0; of->nics[channel] != '\0'; channel++) {
        CcsRail rail = ccs_communicator_rail(answer.communicator, 1, channel);
        const char *name = ccs_topology_vertex(answer.topology, rail.nic)->name;
        ck_assert_int_eq(name[6], of->nics[channel]);
        ck_assert_uint_eq(rail.rank - of->n_gpus, (uint32_t)(of->ranks[channel] - '0'));
    }
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("communicator");
    TCase *tcase = tcase_create("communicator");

    tcase_add_test(tcase, ranks_are_counted_node_by_node);
    tcase_add_test(tcase, a_job_takes_a_part_of_the_machine);
    tcase_add_test(tcase, more_ranks_than_gpus_are_refused);
    tcase_add_loop_test(tcase, a_channel_has_its_rail, 0, G_N_ELEMENTS(rails));
    suite_add_tcase(suite, tcase);
    return suite;
}
