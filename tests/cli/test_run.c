/* ccsim run: configs as files, what it says of wrong ones, and what it prints. */
#include <glib/gstdio.h>

#include "tests/cli/cli.h"
#include "tests/support/check_main.h"

#define GOOD_HEAD "title: a study\ntopology: nvlink8\ncases:\n"
#define GOOD_CASE "  - title: one\n    collective: allreduce\n    sizes: [1 MiB]\n"
#define GOOD      GOOD_HEAD GOOD_CASE

static CcsFolder *folder;

static void set_up(void)
{
    folder = ccs_folder_new();
}

static void tear_down(void)
{
    g_clear_pointer(&folder, ccs_folder_remove);
}

/* Runs the config @text as "ccsim run c.yaml OPTIONS". */
static CcsProgramRun run(const char *text, const char *options)
{
    write_file(folder, "c.yaml", text);
    g_autofree char *line = g_strconcat("run c.yaml ", options, NULL);
    return ccs_program_run_line(folder, line);
}

static const struct {
    const char *text;
    const char *message;
} bad_configs[] = {
    {GOOD_HEAD "  - title: one\n    collective: allredcue\n    sizes: [1 KiB]\n",
     "c.yaml:5:17: error: unknown collective 'allredcue' (did you mean 'allreduce'?)"},
    {GOOD "    estimates: [{label: x, algorithm: tree, bandwidth: 1 GB/s}]\n",
     "c.yaml:7:39: error: the case does not run algorithm 'tree'"},
    {GOOD "    algorithms: [rign]\n",
     "c.yaml:7:17: error: allreduce has no algorithm 'rign' (did you mean 'ring'?)"},
    {GOOD_HEAD "  - title: one\n    collective: allreduce\n    sizes: [1024]\n",
     "c.yaml:6:13: error: 'sizes[0]' must be a size such as 4 MiB, not '1024'"},
    {GOOD_HEAD "  - title: one\n    collective: allreduce\n    sizes: [10 MB]\n",
     "c.yaml:6:13: error: 'sizes[0]' must be a size such as 4 MiB, not '10 MB' (MB can mean"},
    {GOOD_HEAD "  - title: one\n    collective: allreduce\n",
     "c.yaml:4:5: error: a case needs 'sizes'"},
    {GOOD_HEAD "  - title: one\n    collective: allreduce\n    sizes: []\n",
     "c.yaml:6:12: error: a case needs 'sizes'"},
    {GOOD_HEAD "  - title: one\n    collective: allreduce\n    sizes: {from: 2 KiB, to: 1 KiB}\n",
     "c.yaml:6:12: error: the smallest size, 2048 B, is above the largest, 1024 B"},
    {GOOD_HEAD "  - title: one\n    collective: allreduce\n"
               "    sizes: {from: 1 KiB, to: 2 KiB, factor: 1}\n",
     "c.yaml:6:45: error: "},
    {GOOD "    sizes: {from: 1 KiB, to: 1 MiB}\n",
     "c.yaml:7:5: error: repeated key 'sizes' (it stands on line 6 already)"},
    {GOOD "    algorithm: [ring]\n",
     "c.yaml:7:5: error: unknown key 'algorithm' (did you mean 'algorithms'?)"},
    {GOOD "    channels: [0]\n", "c.yaml:7:16: error: "},
    {GOOD "    chunks: many\n", "c.yaml:7:13: error: "},
    {GOOD "    root: 8\n", "c.yaml:7:11: error: 'root' must be a rank from 0 to 7, not 8"},
    {GOOD "    op: smu\n", "c.yaml:7:9: error: unknown reduction 'smu' (did you mean 'sum'?)"},
    {GOOD "    datatype: flaot\n", "c.yaml:7:15: error: unknown data type 'flaot'"},
    {GOOD "    topology: nvlnk8\n", "c.yaml:7:15: error: no file and none of the built-in "
                                    "topologies has this name (did you mean 'nvlink8'?)"},
    {GOOD "    estimates: [{label: x, bandwidth: 5}]\n", "c.yaml:7:39: error: "},
    {GOOD "    title: again\n", "c.yaml:7:5: error: repeated key 'title'"},
    {GOOD "titel: x\n", "c.yaml:7:1: error: unknown key 'titel' (did you mean 'title'?)"},
    {GOOD "transport: idael\n",
     "c.yaml:7:12: error: unknown transport 'idael' (did you mean 'ideal'?)"},
    {GOOD "model: fliud\n", "c.yaml:7:8: error: unknown network model 'fliud'"},
    {GOOD "ranks: 9\n", "c.yaml:7:8: error: 9 ranks do not fit"},
    {GOOD "ranks: -1\n", "c.yaml:7:8: error: "},
    {GOOD "ranks_per_node: 9\n", "c.yaml:7:17: error: 9 ranks per node do not fit"},
    {GOOD "set: [node.gpsu=4]\n", "--set node.gpsu=4: error: unknown key 'gpsu'"},
    {GOOD "set: {node.gpus: 4}\n", "c.yaml:7:6: error: "},
    {"title: [a, b]\ntopology: nvlink8\ncases:\n" GOOD_CASE,
     "c.yaml:1:8: error: 'title' must be a text, not a list"},
    {"topology: nvlink8\ncases:\n" GOOD_CASE, "error: "},
    {"title: a\ncases:\n" GOOD_CASE, "'topology'"},
    {"title: a\ntopology: nvlink8\n", "'cases'"},
    {"title: a\ntopology: nvlink8\ncases: []\n",
     "c.yaml:3:8: error: there is no case: nothing would be simulated"},
    {"title: a\ntopology: nvlink8\ncases:\n", "c.yaml:3:7: error: "},
    {"title: a\ntopology: nvlink8\ncases: [3]\n", "c.yaml:3:9: error: "},
    {"title: a\ntopology: nvlnk8\ncases:\n" GOOD_CASE,
     "c.yaml:2:11: error: no file and none of the built-in topologies"},
};

START_TEST(a_wrong_config_is_refused_at_the_place_of_the_fault)
{
    g_auto(CcsProgramRun) one = run(bad_configs[_i].text, "-J out.json");

    assert_refused(&one, 3, bad_configs[_i].message);
    assert_none(folder, "ccsim.db");
    assert_none(folder, "out.json");
}
END_TEST

START_TEST(faults_of_all_cases_are_told_at_once)
{
    g_auto(CcsProgramRun) one = run(
        GOOD_HEAD "  - {title: one, collective: allredcue, sizes: [1 KiB]}\n"
                  "  - {title: two, collective: allreduce, sizes: [1 KiB], algorithms: [rign]}\n"
                  "  - {title: three, collective: allreduce}\n",
        "");

    assert_refused(&one, 3, "c.yaml:4:30: error: unknown collective");
    assert_says(one.errors, "c.yaml:5:69: error: allreduce has no algorithm");
    assert_says(one.errors, "c.yaml:6:5: error: a case needs 'sizes'");
}
END_TEST

START_TEST(a_fault_is_shown_with_its_line_and_a_caret)
{
    g_auto(CcsProgramRun) one = run(GOOD "titel: x\n", "");

    assert_says(one.errors, "\n titel: x\n ^");
}
END_TEST

START_TEST(a_topology_lies_beside_its_config)
{
    g_autofree char *sub = g_build_filename(folder, "sub", NULL);
    ck_assert_int_eq(g_mkdir(sub, 0755), 0);
    write_file(sub, "my.yaml", "node: {gpus: 4, nvlink: {bandwidth: 100 GB/s}}\n");
    write_file(sub, "c.yaml", "title: t\ntopology: my.yaml\ncases:\n" GOOD_CASE);
    g_auto(CcsProgramRun) one = ccs_program_run_line(folder, "run sub/c.yaml --format json");
    g_autofree char *name = ccs_json_text(one.output, "$.results[0].topology");

    assert_done(&one);
    ck_assert_str_eq(name, "my");
}
END_TEST

START_TEST(a_topology_that_is_missing_or_wrong_is_named)
{
    write_file(folder, "bad.yaml", "node: {gpus: 4, gpsu: 3}\n");
    g_auto(CcsProgramRun) missing = run("title: t\ntopology: missing.yaml\ncases:\n" GOOD_CASE, "");
    g_auto(CcsProgramRun) wrong = run("title: t\ntopology: bad.yaml\ncases:\n" GOOD_CASE, "");

    assert_refused(&missing, 4, "missing.yaml: error: No such file or directory");
    assert_refused(&wrong, 3, "bad.yaml:1:17: error: unknown key 'gpsu'");
}
END_TEST

static const struct {
    const char *set;
    const char *place; /* in the JSON results */
    double value;
} good_overrides[] = {
    {"--set cases[0].sizes='[2 KiB]'", "$.results[0].size_bytes", 2048},
    {"--set ranks=4", "$.results[0].ranks", 4},
    {"--set node.gpus=2", "$.results[0].ranks", 2},
    {"--set transport.launch='1 s' --set cases[0].sizes='[0 B]'", "$.results[0].time_us", 1e6},
    {"--set topology=flat8 --set ranks=3", "$.results[0].ranks", 3},
    {"--set cases[0].channels='[1, 2]'", "$.results[1].channels", 2},
};

START_TEST(set_changes_config_topology_and_transport)
{
    g_autofree char *options = g_strconcat(good_overrides[_i].set, " --format json", NULL);
    g_auto(CcsProgramRun) one = run(GOOD, options);

    assert_done(&one);
    ck_assert_double_eq(ccs_json_number(one.output, good_overrides[_i].place),
                        good_overrides[_i].value);
}
END_TEST

static const struct {
    const char *set;
    const char *message;
} bad_overrides[] = {
    {"--set foo=1", "--set foo=1: error: unknown key 'foo'"},
    {"--set title", "--set title: error: there is no '=': write PATH=VALUE"},
    {"--set transport=foo", "--set transport=foo: error: unknown transport 'foo'"},
    {"--set transport.lunch=1", "unknown key 'lunch' (did you mean 'launch'?)"},
    {"--set cases[1].title=x", "there is no item [1]: the list has 1"},
    {"--set cases[0].size=x", "unknown key 'size' (did you mean 'sizes'?)"},
    {"--set ranks=9", "--set ranks=9: error: 9 ranks do not fit"},
};

START_TEST(a_wrong_override_is_refused_by_its_words)
{
    g_auto(CcsProgramRun) one = run(GOOD, bad_overrides[_i].set);

    assert_refused(&one, 3, bad_overrides[_i].message);
    assert_none(folder, "ccsim.db");
}
END_TEST

START_TEST(titles_estimates_and_notes_are_printed)
{
    g_auto(CcsProgramRun) one =
        run("title: a study\ndescription: what it is about\ntopology: nvlink8\ncases:\n" GOOD_CASE
            "    note: what to see\n"
            "    estimates: [{label: twice S/B, factor: 2, bandwidth: 300 GB/s}]\n",
            "");

    assert_done(&one);
    ck_assert(g_str_has_prefix(one.output, "a study\n\nwhat it is about\n"));
    assert_says(one.output, "\none (allreduce, nvlink8)\n");
    assert_says(one.output, "twice S/B");
    assert_says(one.output, "6.991"); /* 2 x 1 MiB / 300 GB/s, in microseconds */
    assert_says(one.output, "\nwhat to see\n");
}
END_TEST

START_TEST(formats_for_programs_hold_the_results_of_all_cases)
{
    const char *text = GOOD "  - {title: two, collective: broadcast, sizes: [1 KiB, 2 KiB]}\n";
    g_auto(CcsProgramRun) json = run(text, "--format json -v");
    g_auto(CcsProgramRun) csv = run(text, "--format csv");
    g_auto(CcsProgramRun) ndjson = run(text, "--format ndjson");
    g_auto(CcsProgramRun) nccl = run(text, "--format nccl");
    g_auto(GStrv) csv_lines = g_strsplit(csv.output, "\n", -1);
    g_auto(GStrv) ndjson_lines = g_strsplit(ndjson.output, "\n", -1);

    assert_status(&json, 0);
    assert_says(json.errors, "busiest %");
    ck_assert_double_eq(ccs_json_length(json.output, "$.results"), 3);
    assert_done(&csv);
    ck_assert_uint_eq(g_strv_length(csv_lines), 5);
    ck_assert_uint_eq(g_strv_length(ndjson_lines), 4);
    assert_says(nccl.output, "all_reduce_perf");
    assert_says(nccl.output, "broadcast_perf");
}
END_TEST

START_TEST(md_has_a_heading_for_each_case)
{
    g_auto(CcsProgramRun) one = run(GOOD, "--format md -v");

    assert_done(&one);
    ck_assert(g_str_has_prefix(one.output, "# a study\n"));
    assert_says(one.output, "\n## one (allreduce, nvlink8)\n");
    assert_says(one.output, "| size (B) | algorithm | links");
}
END_TEST

START_TEST(the_database_keeps_title_and_results)
{
    g_auto(CcsProgramRun) one = run(GOOD, "--db my.db");
    g_autofree char *db = g_build_filename(folder, "my.db", NULL);
    g_autofree char *row = ccs_query_text(
        db,
        "SELECT title || '|' || command || '|' || count(*) FROM run JOIN result USING (run_id)");

    assert_done(&one);
    ck_assert_str_eq(row, "a study|ccsim run c.yaml --db my.db|1");
}
END_TEST

START_TEST(what_has_no_effect_is_said_with_its_case)
{
    g_auto(CcsProgramRun) one = run(GOOD "    chunks: [4]\n    root: 0\n    op: sum\n", "");

    assert_status(&one, 0);
    assert_says(one.errors, "ccsim: warning: one: chunks has no effect");
    assert_says(one.errors, "ccsim: warning: one: root has no effect");
    assert_says_not(one.errors, "op has");
}
END_TEST

START_TEST(an_override_of_all_cases_needs_an_effect_on_one_only)
{
    const char *text = GOOD "  - {title: two, collective: broadcast, sizes: [1 KiB]}\n"
                            "  - {title: three, collective: broadcast, sizes: [1 KiB], set: "
                            "[transport.reduce_rate=2 GB/s]}\n";
    g_auto(CcsProgramRun) one = run(text, "--set transport.reduce_rate='1 GB/s'");

    assert_status(&one, 0);
    ck_assert_str_eq(one.errors, "ccsim: warning: three: transport.reduce_rate has no effect: "
                                 "broadcast does not reduce\n");
}
END_TEST

static const char *const shipped[] = {"quickstart", "textbook-8gpu", "textbook-32gpu", "reference"};

START_TEST(every_shipped_config_runs_by_its_name)
{
    g_autofree char *line = g_strdup_printf("run %s --trace none", shipped[_i]);
    g_auto(CcsProgramRun) one = ccs_program_run_line(folder, line);

    assert_status(&one, 0);
    assert_says(one.output, "busbw (GB/s)");
}
END_TEST

START_TEST(json_has_titles_and_estimates)
{
    g_auto(CcsProgramRun) run =
        ccs_program_run_line(folder, "run alltoall-incast --no-db --format json");
    g_autofree char *title = ccs_json_text(run.output, "$.title");
    g_autofree char *of_case = ccs_json_text(run.output, "$.results[1].case_title");
    g_autofree char *label = ccs_json_text(run.output, "$.results[0].estimates[0].label");

    ck_assert_str_eq(title, "all to all on two nodes, and how not waiting ends in incast");
    ck_assert_str_eq(of_case, "the same blocks in another order");
    ck_assert_str_eq(label, "8 blocks by the NIC");
    ck_assert_double_eq(ccs_json_number(run.output, "$.results[0].estimates[0].time_us"), 10000);
    ck_assert_double_eq(ccs_json_length(run.output, "$.results[0].estimates"), 1);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("run");
    TCase *tcase = tcase_create("run");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, a_wrong_config_is_refused_at_the_place_of_the_fault, 0,
                        G_N_ELEMENTS(bad_configs));
    tcase_add_test(tcase, faults_of_all_cases_are_told_at_once);
    tcase_add_test(tcase, a_fault_is_shown_with_its_line_and_a_caret);
    tcase_add_test(tcase, a_topology_lies_beside_its_config);
    tcase_add_test(tcase, a_topology_that_is_missing_or_wrong_is_named);
    tcase_add_loop_test(tcase, set_changes_config_topology_and_transport, 0,
                        G_N_ELEMENTS(good_overrides));
    tcase_add_loop_test(tcase, a_wrong_override_is_refused_by_its_words, 0,
                        G_N_ELEMENTS(bad_overrides));
    tcase_add_test(tcase, titles_estimates_and_notes_are_printed);
    tcase_add_test(tcase, formats_for_programs_hold_the_results_of_all_cases);
    tcase_add_test(tcase, md_has_a_heading_for_each_case);
    tcase_add_test(tcase, the_database_keeps_title_and_results);
    tcase_add_test(tcase, what_has_no_effect_is_said_with_its_case);
    tcase_add_test(tcase, an_override_of_all_cases_needs_an_effect_on_one_only);
    tcase_add_loop_test(tcase, every_shipped_config_runs_by_its_name, 0, G_N_ELEMENTS(shipped));
    tcase_add_test(tcase, json_has_titles_and_estimates);
    suite_add_tcase(suite, tcase);
    return suite;
}
