/* What the program does with input that is wrong, and with a world that does not let it work:
 * the exit status of the contract, a message with its place, and nothing half written. */
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
    const char *text;
    gssize n_bytes; /* -1: up to the zero byte */
    const char *message;
} unreadable[] = {
    {"", 0, "bad.yaml: error: is empty"},
    {"\n\n", -1, "bad.yaml: error: is empty"},
    {"\x7f"
     "ELF\0\1",
     6, "bad.yaml:1:5: error: a NUL byte"},
    {"name: \xff\xfe", -1, "bad.yaml:1:7: error: a byte that is not valid UTF-8"},
    {"nodes: [1\n", -1, "bad.yaml:2:1: error: not valid YAML"},
    {"just text", -1, "bad.yaml:1:1: error: "},
    {"- a\n- b\n", -1, "bad.yaml:1:1: error: "},
};

START_TEST(what_is_no_yaml_is_refused_with_its_place)
{
    g_autofree char *path = g_build_filename(folder, "bad.yaml", NULL);
    g_file_set_contents(path, unreadable[_i].text, unreadable[_i].n_bytes, NULL);
    g_auto(CcsProgramRun) bench = ccs_program_run_line(folder, "bench allreduce -T bad.yaml");
    g_auto(CcsProgramRun) topo = ccs_program_run_line(folder, "topo check bad.yaml");
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, "run bad.yaml");

    assert_refused(&bench, 3, unreadable[_i].message);
    assert_refused(&topo, 3, unreadable[_i].message);
    assert_refused(&run, 3, unreadable[_i].message);
    assert_none(folder, "ccsim.db");
}
END_TEST

static const struct {
    const char *text;
    const char *message;
} bad_topologies[] = {
    {"node: {nvlink: {bandwidth: 300 GB/s}}\n", "t.yaml:1:7: error: "},
    {"node:\n  gpus: 8\n  nvlink: {latency: 1 us}\n", "t.yaml:3:11: error: "},
    {"node:\n  gpus: 8\n  nvlink: {bandwidth: 300}\n",
     "t.yaml:3:23: error: 'bandwidth' must be a bandwidth such as 450 GB/s"},
    {"node:\n  gpus: 8\n  nvlink: {bandwidth: 300 GB}\n",
     "t.yaml:3:23: error: 'bandwidth' must be a bandwidth"},
    {"node:\n  gpus: 8\n  nvlink: {bandwidth: 300 us}\n",
     "t.yaml:3:23: error: 'bandwidth' must be a bandwidth"},
    {"node:\n  gpus: 8\n  nvlink: {bandwidth: 0 GB/s}\n", "t.yaml:3:23: error: "},
    {"node:\n  gpus: 8\n  nvlink: {bandwidth: -5 GB/s}\n", "'-5 GB/s' (it cannot be negative)"},
    {"node:\n  gpus: 8\n  nvlink: {bandwidth: .nan}\n", "not '.nan'"},
    {"node:\n  gpus: 8\n  nvlink: {bandwidth: nan GB/s}\n", "not 'nan GB/s'"},
    {"node:\n  gpus: 8\n  nvlink: {bandwidth: inf GB/s}\n", "not 'inf GB/s'"},
    {"node:\n  gpus: 8\n  nvlink: {bandwidth: 1e400 GB/s}\n", "t.yaml:3:23: error: "},
    {"node:\n  gpus: 8\n  nvlink: {bandwidth: 1 GB/s, latency: -1 us}\n",
     "'-1 us' (it cannot be negative)"},
    {"node: {gpus: 0}\n", "t.yaml:1:14: error: "},
    {"node: {gpus: -1}\n", "t.yaml:1:14: error: "},
    {"node: {gpus: 4.5}\n", "t.yaml:1:14: error: "},
    {"node: {gpus: 99999999999}\n", "t.yaml:1:14: error: "},
    {"node: {gpus: 8}\nnode: {gpus: 4}\n", "t.yaml:2:1: error: repeated key 'node'"},
    {"node: {gpus: 2}\nlinks: [{from: n0.gpu0, to: n0.gpu9, bandwidth: 1 GB/s}]\n",
     "t.yaml:2:29: error: "},
    {"node: {gpus: 2}\nlinks: [{from: n0.gpu0, to: n0.gpu0, bandwidth: 1 GB/s}]\n", "t.yaml:2:"},
    {"{}\n", "t.yaml"},
};

START_TEST(a_wrong_topology_is_refused_at_the_place_of_the_fault)
{
    write_file(folder, "t.yaml", bad_topologies[_i].text);
    g_auto(CcsProgramRun) run =
        ccs_program_run_line(folder, "bench allreduce -T t.yaml -J out.json");

    assert_refused(&run, 3, bad_topologies[_i].message);
    assert_none(folder, "ccsim.db");
    assert_none(folder, "out.json");
}
END_TEST

START_TEST(ranks_that_cannot_reach_each_other_are_named)
{
    write_file(folder, "t.yaml", "node: {gpus: 4}\n");
    g_auto(CcsProgramRun) bench =
        ccs_program_run_line(folder, "bench allreduce -T t.yaml -b 8 -e 8 -J out.json");
    g_auto(CcsProgramRun) check = ccs_program_run_line(folder, "topo check t.yaml");

    assert_refused(&bench, 3, "no path leads from 'n0.gpu");
    assert_none(folder, "out.json");
    assert_refused(&check, 3, "no path leads from 'n0.gpu");
}
END_TEST

START_TEST(more_ranks_than_gpus_are_refused)
{
    g_auto(CcsProgramRun) ranks =
        ccs_program_run_line(folder, "bench allreduce -T nvlink8 --ranks 9");
    g_auto(CcsProgramRun) local =
        ccs_program_run_line(folder, "bench allreduce -T nvlink8 --ranks-per-node 9");

    assert_refused(&ranks, 3, "9 ranks do not fit: topology 'nvlink8' has 8 GPUs");
    assert_refused(&local, 3, "9 ranks per node do not fit");
    assert_none(folder, "ccsim.db");
}
END_TEST

START_TEST(twenty_faults_are_shown_at_once_and_the_rest_is_counted)
{
    g_autoptr(GString) text = g_string_new("node: {gpus: 2}\nlinks:\n");
    for (int i = 0; i < 25; i++)
        g_string_append(text, "  - {from: n0.gpu0, to: n0.gpu1, bandwidth: 5}\n");
    write_file(folder, "t.yaml", text->str);
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, "topo check t.yaml");
    g_auto(GStrv) faults = g_strsplit(run.errors, ": error: ", -1);

    assert_refused(&run, 3, "t.yaml:3:45: error: ");
    assert_says(run.errors, "t.yaml:22:45: error: ");
    ck_assert_uint_eq(g_strv_length(faults), 21);
    assert_says(run.errors, "and 5 more errors");
}
END_TEST

static const struct {
    const char *line;
    const char *message;
} wrong_files[] = {
    {"bench allreduce -T .", ".: error: is a directory, not a file"},
    {"bench allreduce -T ./missing.yaml", "./missing.yaml: error: No such file or directory"},
    {"bench allreduce -T dgx-h100.yml", "(did you mean the built-in 'dgx-h100'?)"},
    {"bench allreduce -T nvlink8 --transport missing.yaml", "missing.yaml: error: No such file"},
    {"bench allreduce -T nvlink8 --transport ./", "./: error: is a directory, not a file"},
    {"bench allreduce -T nvlink8 --db .", ".: error: is a folder, not a database"},
    {"bench allreduce -T nvlink8 --db ''", "the name of the database is empty"},
    {"runs --db ''", "the name of the database is empty"},
    {"bench allreduce -T nvlink8 --db missing/x.db",
     "missing/x.db: error: cannot be made: No such"},
    {"bench allreduce -T nvlink8 --db /dev/null", "/dev/null: error: is not a file"},
    {"bench allreduce -T nvlink8 -J .", ".: error: cannot be written: Is a directory"},
    {"bench allreduce -T nvlink8 -J missing/x.json",
     "missing/x.json: error: cannot be written: No such file or directory"},
    {"run .", ".: error: is a directory, not a file"},
    {"run missing.yaml", "missing.yaml: error: No such file or directory"},
    {"topo show ./", "./: error: is a directory, not a file"},
    {"sql 'SELECT 1'", "ccsim.db: error: no such file (run something first"},
    {"runs", "ccsim.db: error: no such file (run something first"},
    {"sql --db . 'SELECT 1'", ".: error: is a folder, not a database"},
};

START_TEST(a_file_that_is_none_is_named)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, wrong_files[_i].line);

    assert_refused(&run, 4, wrong_files[_i].message);
    assert_none(folder, "");
}
END_TEST

START_TEST(a_database_that_is_none_is_left_as_it_is)
{
    write_file(folder, "my.db", "not a database, but my letters\n");
    g_auto(CcsProgramRun) bench =
        ccs_program_run_line(folder, "bench allreduce -T nvlink8 --db my.db");
    g_auto(CcsProgramRun) sql = ccs_program_run_line(folder, "sql --db my.db 'SELECT 1'");
    g_auto(CcsProgramRun) runs = ccs_program_run_line(folder, "runs --db my.db");
    g_autofree char *text = ccs_folder_read(folder, "my.db");

    assert_refused(&bench, 4, "my.db: error: file is not a database");
    assert_refused(&sql, 4, "my.db: error: file is not a database");
    assert_refused(&runs, 4, "my.db: error: file is not a database");
    ck_assert_str_eq(text, "not a database, but my letters\n");
    assert_none(folder, "my.db-");
}
END_TEST

START_TEST(a_fault_in_sql_is_shown_at_its_place)
{
    g_auto(CcsProgramRun) bench =
        ccs_program_run_line(folder, "bench allreduce -T nvlink8 -b 8 -e 8");
    g_auto(CcsProgramRun) column = ccs_program_run_line(folder, "sql 'SELECT tme_us FROM result'");
    g_auto(CcsProgramRun) change = ccs_program_run_line(folder, "sql 'DELETE FROM run'");
    g_auto(CcsProgramRun) full = ccs_program_run(
        &(CcsProgramCall){.args = (const char *const[]){"sql", "SELECT * FROM link", NULL},
                          .output_file = "/dev/full",
                          .folder = folder});

    assert_done(&bench);
    assert_refused(&column, 3, "query:1:8: error: no such column: tme_us");
    assert_refused(&change, 3, "which only --write allows");
    assert_status(&full, 4);
    assert_says_not(full.errors, "query:");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("bad_input");
    TCase *tcase = tcase_create("bad_input");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, what_is_no_yaml_is_refused_with_its_place, 0,
                        G_N_ELEMENTS(unreadable));
    tcase_add_loop_test(tcase, a_wrong_topology_is_refused_at_the_place_of_the_fault, 0,
                        G_N_ELEMENTS(bad_topologies));
    tcase_add_test(tcase, ranks_that_cannot_reach_each_other_are_named);
    tcase_add_test(tcase, more_ranks_than_gpus_are_refused);
    tcase_add_test(tcase, twenty_faults_are_shown_at_once_and_the_rest_is_counted);
    tcase_add_loop_test(tcase, a_file_that_is_none_is_named, 0, G_N_ELEMENTS(wrong_files));
    tcase_add_test(tcase, a_database_that_is_none_is_left_as_it_is);
    tcase_add_test(tcase, a_fault_in_sql_is_shown_at_its_place);
    suite_add_tcase(suite, tcase);
    return suite;
}
