/* ccsim list, topo and schema: what there is, what a topology holds, what files look like. */
#include "tests/cli/cli.h"
#include "tests/support/check_main.h"

static CcsFolder *folder;

static void set_up(void)
{
    folder = ccs_folder_new();
}

static void tear_down(void)
{
    g_clear_pointer(&folder, ccs_folder_remove);
}

static const struct {
    const char *kind;
    const char *name;
} listed[] = {
    {"collectives", "allreduce"}, {"collectives", "sendrecv"},
    {"algorithms", "ring"},       {"algorithms", "hierarchical"},
    {"topologies", "dgx-h100"},   {"topologies", "cluster32-1nic"},
    {"configs", "quickstart"},    {"programs", "program-overlap"},
    {"models", "fluid"},          {"transports", "ideal"},
};

START_TEST(list_knows_what_is_built_in)
{
    g_autofree char *line = g_strdup_printf("list %s", listed[_i].kind);
    g_auto(CcsProgramRun) one = ccs_program_run_line(folder, line);
    g_auto(CcsProgramRun) all = ccs_program_run_line(folder, "list");

    assert_done(&one);
    assert_says(one.output, listed[_i].name);
    assert_done(&all);
    assert_says(all.output, listed[_i].name);
    assert_none(folder, "");
}
END_TEST

START_TEST(whatever_is_listed_has_a_summary)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, "list --format json");
    int n = (int)ccs_json_length(run.output, "$");

    for (int i = 0; i < n; i++) {
        g_autofree char *at_name = g_strdup_printf("$[%d].name", i);
        g_autofree char *at_summary = g_strdup_printf("$[%d].summary", i);
        g_autofree char *name = ccs_json_text(run.output, at_name);
        g_autofree char *summary = ccs_json_text(run.output, at_summary);
        ck_assert_msg(summary != NULL && *summary != '\0', "%s", name);
        ck_assert_ptr_null(strchr(summary, '\n'));
    }
}
END_TEST

START_TEST(programs_are_listed_as_such)
{
    g_auto(CcsProgramRun) configs = ccs_program_run_line(folder, "list configs --format csv");
    g_auto(CcsProgramRun) programs = ccs_program_run_line(folder, "list programs --format csv");

    assert_says_not(configs.output, "program-overlap");
    assert_says(programs.output,
                "\nprogram,,program-overlap,computation beside messages or after them\n");
    assert_says_not(programs.output, "config,");
}
END_TEST

static const char *const formats[] = {"csv", "json", "ndjson", "md"};

START_TEST(list_speaks_every_format)
{
    g_autofree char *line = g_strdup_printf("list models --format %s", formats[_i]);
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, line);

    assert_done(&run);
    assert_says(run.output, "fluid");
    if (strcmp(formats[_i], "json") == 0)
        ck_assert_double_ge(ccs_json_length(run.output, "$"), 1);
}
END_TEST

/* Every topology that is built in is also a file, and both are good. */
START_TEST(every_shipped_topology_passes_its_check)
{
    g_auto(CcsProgramRun) list = ccs_program_run_line(folder, "list topologies --format json");
    int n = (int)ccs_json_length(list.output, "$");

    ck_assert_int_ge(n, 6);
    for (int i = 0; i < n; i++) {
        g_autofree char *place = g_strdup_printf("$[%d].name", i);
        g_autofree char *name = ccs_json_text(list.output, place);
        g_autofree char *file_name = g_strdup_printf("topologies/%s.yaml", name);
        g_autofree char *file = ccs_source_path(file_name);
        g_autofree char *by_name = g_strdup_printf("topo check %s", name);
        g_autofree char *by_file = g_strdup_printf("topo check '%s'", file);
        g_auto(CcsProgramRun) one = ccs_program_run_line(folder, by_name);
        g_auto(CcsProgramRun) two = ccs_program_run_line(folder, by_file);
        assert_status(&one, 0);
        assert_says(one.output, ": ok: ");
        assert_status(&two, 0);
        ck_assert_str_eq(one.output, two.output);
    }
}
END_TEST

START_TEST(topo_show_counts_vertices_and_links)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, "topo show cluster32");

    assert_done(&run);
    assert_says(run.output, "cluster32: 32 GPUs in 4 nodes, 32 NICs, 4 NVSwitches, 9 fabric "
                            "switches");
    ck_assert(g_regex_match_simple("\nnvlink +64 +300 +300 +0 +0\n", run.output, 0, 0));
    ck_assert(g_regex_match_simple("\nnic +64 +50 +50 +0 +0\n", run.output, 0, 0));
}
END_TEST

START_TEST(topo_show_takes_the_options_that_change_a_machine)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(
        folder, "topo show -T cluster32 --nodes 3 --set node.nics.bandwidth='400 GB/s'");

    assert_done(&run);
    assert_says(run.output, "24 GPUs in 3 nodes");
    ck_assert(g_regex_match_simple("\nnic +48 +400 +400 +0 +0\n", run.output, 0, 0));
}
END_TEST

START_TEST(topo_show_lists_each_link)
{
    g_auto(CcsProgramRun) run =
        ccs_program_run_line(folder, "topo show nvlink8 --links --format json");
    g_autofree char *name = ccs_json_text(run.output, "$[0].link");

    assert_done(&run);
    ck_assert_double_eq(ccs_json_length(run.output, "$"), 16);
    ck_assert_str_eq(name, "n0.gpu0->n0.nvswitch");
}
END_TEST

START_TEST(topo_check_refuses_ranks_that_cannot_meet)
{
    write_file(folder, "t.yaml", "nodes: 2\nnode: {gpus: 2, nvlink: {bandwidth: 1 GB/s}}\n");
    g_auto(CcsProgramRun) all = ccs_program_run_line(folder, "topo check t.yaml");
    g_auto(CcsProgramRun) some = ccs_program_run_line(folder, "topo check t.yaml --ranks 2");

    assert_refused(&all, 3, "no path leads from 'n0.gpu0' to 'n1.gpu0'");
    assert_done(&some);
    assert_says(some.output, "t: ok: 2 ranks on 1 node");
}
END_TEST

START_TEST(topo_check_says_when_gpus_share_a_nic)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, "topo check cluster32-1nic");

    assert_status(&run, 0);
    assert_says(run.errors, "8 GPUs share NIC 'n0.nic0'");
}
END_TEST

static const struct {
    const char *what;
    const char *key; /* that must be in it */
} schemas[] = {
    {"topology", "$.properties.node"},           {"config", "$.properties.cases"},
    {"transport", "$.properties.message_cost"},  {"transport", "$.properties.synchronous"},
    {"program", "$.properties.eager_threshold"},
};

START_TEST(a_schema_is_json_and_names_its_keys)
{
    g_autofree char *line = g_strdup_printf("schema %s", schemas[_i].what);
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, line);
    g_autofree char *draft = ccs_json_text(run.output, "$.\"$schema\"");
    g_autofree char *key = ccs_json_text(run.output, schemas[_i].key);

    assert_done(&run);
    assert_says(draft, "json-schema.org");
    ck_assert_ptr_nonnull(key);
    assert_says(key, "description");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("list_topo_schema");
    TCase *tcase = tcase_create("list_topo_schema");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, list_knows_what_is_built_in, 0, G_N_ELEMENTS(listed));
    tcase_add_test(tcase, whatever_is_listed_has_a_summary);
    tcase_add_test(tcase, programs_are_listed_as_such);
    tcase_add_loop_test(tcase, list_speaks_every_format, 0, G_N_ELEMENTS(formats));
    tcase_add_test(tcase, every_shipped_topology_passes_its_check);
    tcase_add_test(tcase, topo_show_counts_vertices_and_links);
    tcase_add_test(tcase, topo_show_takes_the_options_that_change_a_machine);
    tcase_add_test(tcase, topo_show_lists_each_link);
    tcase_add_test(tcase, topo_check_refuses_ranks_that_cannot_meet);
    tcase_add_test(tcase, topo_check_says_when_gpus_share_a_nic);
    tcase_add_loop_test(tcase, a_schema_is_json_and_names_its_keys, 0, G_N_ELEMENTS(schemas));
    suite_add_tcase(suite, tcase);
    return suite;
}
