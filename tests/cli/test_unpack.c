/* Packed flows as the user meets them: the same answers as from rows, and rows again when asked. */
#include "tests/cli/cli.h"
#include "tests/support/check_main.h"

static CcsFolder *folder;
static char *db;

static void set_up(void)
{
    folder = ccs_folder_new();
    db = g_build_filename(folder, "ccsim.db", NULL);
}

static void tear_down(void)
{
    g_clear_pointer(&db, g_free);
    g_clear_pointer(&folder, ccs_folder_remove);
}

static void run(const char *line)
{
    g_auto(CcsProgramRun) done = ccs_program_run_line(folder, line);
    assert_done(&done);
}

static char *ask(const char *file, const char *query)
{
    g_auto(CcsProgramRun) done = ccs_program_run(&(CcsProgramCall){
        .args = (const char *const[]){"sql", "--db", file, "--format", "csv", query, NULL},
        .folder = folder});
    assert_done(&done);
    return g_strdup(done.output);
}

static void run_both(const char *line)
{
    static const char *const packings[] = {"never", "always"};

    for (size_t i = 0; i < G_N_ELEMENTS(packings); i++) {
        g_autofree char *whole =
            g_strdup_printf("bench %s --trace flows --pack %s --db %s.db --format csv", line,
                            packings[i], packings[i]);
        run(whole);
    }
}

static void assert_both_answer_alike(const char *query)
{
    g_autofree char *of_rows = ask("never.db", query);
    g_autofree char *of_packed = ask("always.db", query);

    ck_assert_msg(strcmp(of_rows, of_packed) == 0, "%s: %.500s\n%.500s", query, of_rows, of_packed);
    ck_assert_uint_gt(strlen(strchr(of_rows, '\n')), 2);
}

static const char *const lines[] = {
    "allreduce -T cluster32 -A ring,tree -b 1M -e 1M",
    "alltoall -T dgx-h100 --nodes 2 -A all -b 1K -e 1K --set transport.launch='2 us'"
    " --set transport.message_cost='1 us'",
    "reduce -T dgx-h100 --nodes 2 -A all -b 0 -e 16M -i 16M --chunks 7"
    " --set transport.reduce_rate='700 GB/s'",
};

static const char *const queries[] = {
    "SELECT * FROM flow",
    "SELECT * FROM flow WHERE result_id = 2 ORDER BY arrived_ps DESC, flow_id LIMIT 20",
    "SELECT * FROM flow WHERE started_us BETWEEN 1 AND 20",
    "SELECT result_id, phase, src_gpu, count(*), sum(bytes), max(arrived_us) FROM flow"
    " GROUP BY 1, 2, 3",
    "SELECT * FROM flow JOIN step USING (result_id, phase_id) WHERE step = message"
    " ORDER BY flow_id",
    "SELECT result_id, flows, (SELECT count(*) FROM flow WHERE flow.result_id = r.result_id)"
    " FROM result AS r",
};

START_TEST(queries_answer_alike_of_rows_and_of_packed_flows)
{
    run_both(lines[_i]);
    for (size_t i = 0; i < G_N_ELEMENTS(queries); i++)
        assert_both_answer_alike(queries[i]);
    g_autofree char *rows = ask("always.db", "SELECT count(*) FROM flow_row");
    ck_assert_str_eq(rows, "count(*)\n0\n");
}
END_TEST

START_TEST(unpacked_flows_are_the_rows_that_would_have_been_written)
{
    g_auto(CcsProgramRun) unpacked = {0};

    run_both(lines[0]);
    unpacked = ccs_program_run_line(folder, "unpack always.db");
    assert_status(&unpacked, 0);
    assert_says(unpacked.errors, "ccsim: note: ");
    assert_says(unpacked.errors, " flows unpacked\n");
    assert_both_answer_alike("SELECT * FROM flow_row");
    assert_both_answer_alike("SELECT name, sql FROM sqlite_schema WHERE name <> 'flow_any'"
                             " ORDER BY name");
    assert_both_answer_alike("SELECT type, sql FROM sqlite_schema WHERE name = 'flow_any'");
}
END_TEST

START_TEST(one_run_or_result_is_unpacked)
{
    run("bench allreduce -T nvlink8 -b 8 -e 16 --trace flows --pack always --format csv");
    run("bench allreduce -T nvlink8 -b 8 -e 16 --trace flows --pack always --format csv");
    g_auto(CcsProgramRun) result = ccs_program_run_line(folder, "unpack --result 1");
    double n_left = ccs_query_number(db, "SELECT count(*) FROM flow_chunk");
    g_auto(CcsProgramRun) by_run = ccs_program_run_line(folder, "unpack --db ccsim.db --run 1");

    assert_status(&result, 0);
    ck_assert_double_eq(n_left, 3);
    assert_status(&by_run, 0);
    ck_assert_double_eq(ccs_query_number(db, "SELECT count(*) FROM flow_chunk"), 2);
}
END_TEST

static const struct {
    const char *line;
    int status;
    const char *message;
} refusals[] = {
    {"unpack --run 7", 3, "ccsim.db: error: there is no run 7 in it"},
    {"unpack --result 7", 3, "ccsim.db: error: there is no result 7 in it"},
    {"unpack --run -1", 2, "--run must be an id from 1 on, not -1"},
    {"unpack none.db", 4, "none.db: error: no such file"},
    {"unpack ccsim.db more", 2, "'more' is one argument too many"},
    {"unpack --db ccsim.db more", 2, "'more' is one argument too many"},
    {"bench allreduce -T nvlink8 --trace flows --pack some", 2,
     "flows are packed auto, always or never, not 'some'"},
};

START_TEST(what_cannot_be_done_is_refused)
{
    run("bench allreduce -T nvlink8 -b 8 -e 8 --format csv");
    g_auto(CcsProgramRun) refused = ccs_program_run_line(folder, refusals[_i].line);
    assert_refused(&refused, refusals[_i].status, refusals[_i].message);
}
END_TEST

START_TEST(a_packing_of_nothing_is_said_to_have_no_effect)
{
    g_auto(CcsProgramRun) done =
        ccs_program_run_line(folder, "bench allreduce -T nvlink8 -b 8 -e 8 --pack never");

    assert_status(&done, 0);
    assert_says(done.errors, "--pack has no effect");
}
END_TEST

START_TEST(a_damaged_chunk_is_an_error_of_the_file)
{
    run("bench allreduce -T nvlink8 -b 8 -e 8 --trace flows --pack always --format csv");
    run("sql --write \"UPDATE flow_chunk SET data = x'00'\"");
    g_auto(CcsProgramRun) asked = ccs_program_run_line(folder, "sql 'SELECT * FROM flow'");
    g_auto(CcsProgramRun) unpacked = ccs_program_run_line(folder, "unpack");

    assert_status(&asked, 4);
    assert_says(asked.errors, "flow_chunk 4294967296: damaged flows: the format 0 is not known");
    assert_refused(&unpacked, 4, "ccsim.db: error: flow_chunk 4294967296: damaged flows: ");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("unpack");
    TCase *tcase = tcase_create("unpack");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, queries_answer_alike_of_rows_and_of_packed_flows, 0,
                        G_N_ELEMENTS(lines));
    tcase_add_test(tcase, unpacked_flows_are_the_rows_that_would_have_been_written);
    tcase_add_test(tcase, one_run_or_result_is_unpacked);
    tcase_add_loop_test(tcase, what_cannot_be_done_is_refused, 0, G_N_ELEMENTS(refusals));
    tcase_add_test(tcase, a_packing_of_nothing_is_said_to_have_no_effect);
    tcase_add_test(tcase, a_damaged_chunk_is_an_error_of_the_file);
    suite_add_tcase(suite, tcase);
    return suite;
}
