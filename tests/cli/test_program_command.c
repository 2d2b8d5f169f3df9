/* ccsim program: what it prints and records, and what it says of wrong programs. */
#include "tests/cli/cli.h"
#include "tests/support/check_main.h"

#define HEAD "title: a study\nprogram:\n- ranks: 0-1\n  calls:\n"

static CcsFolder *folder;

static void set_up(void)
{
    folder = ccs_folder_new();
}

static void tear_down(void)
{
    g_clear_pointer(&folder, ccs_folder_remove);
}

/* Runs the program @text as "ccsim program p.yaml -T flat8 OPTIONS". */
static CcsProgramRun run(const char *text, const char *options)
{
    write_file(folder, "p.yaml", text);
    g_autofree char *line = g_strconcat("program p.yaml -T flat8 ", options, NULL);
    return ccs_program_run_line(folder, line);
}

static const struct {
    const char *name;
    double time_us;
} shipped[] = {
    {"program-overlap", 4000},
    {"program-pipeline", 15500},
};

START_TEST(each_shipped_program_takes_the_time_that_it_tells)
{
    g_autofree char *line =
        g_strdup_printf("program %s -T flat8 --no-db --format json", shipped[_i].name);
    g_auto(CcsProgramRun) one = ccs_program_run_line(folder, line);

    assert_done(&one);
    ck_assert_double_eq(ccs_json_number(one.output, "$.results[0].time_us"), shipped[_i].time_us);
    assert_none(folder, "ccsim.db");
}
END_TEST

START_TEST(the_reference_runs_and_names_each_key)
{
    g_autofree char *path = ccs_source_path("configs/program-reference.yaml");
    g_autofree char *text = NULL;
    g_auto(CcsProgramRun) schema = ccs_program_run_line(folder, "schema program");
    g_auto(CcsProgramRun) one =
        ccs_program_run_line(folder, "program program-reference -T flat8 --no-db");
    g_autoptr(GRegex) keys = g_regex_new("\"([a-z_]+)\": \\{\n *\"description\"", 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    int n_keys = 0;

    assert_done(&one);
    assert_done(&schema);
    ck_assert(g_file_get_contents(path, &text, NULL, NULL));
    for (g_regex_match(keys, schema.output, 0, &match); g_match_info_matches(match);
         g_match_info_next(match, NULL)) {
        g_autofree char *key = g_match_info_fetch(match, 1);
        g_autofree char *word = g_strconcat(key, ":", NULL);
        assert_says(text, word);
        n_keys++;
    }
    ck_assert_int_gt(n_keys, 20);
}
END_TEST

START_TEST(the_table_says_what_each_rank_did)
{
    g_auto(CcsProgramRun) one =
        ccs_program_run_line(folder, "program program-overlap -T flat8 --no-db");

    assert_done(&one);
    assert_says(one.output, "computation beside messages or after them\n");
    assert_says(one.output, "4000.000 us for 4 messages with 400000000 bytes; computation hides "
                            "50.0% of the communication");
    ck_assert(g_regex_match_simple("\n +0 +100000000 +100000000 +2000\\.000 +2000\\.000 +2000\\.000"
                                   " +0\\.000 +0\\.0 +0\\.000 +4000\\.000\n",
                                   one.output, 0, 0));
    ck_assert(g_regex_match_simple("\n +2 +100000000 +100000000 +2000\\.000 +2000\\.000 +2000\\.000"
                                   " +2000\\.000 +100\\.0 +2000\\.000 +2000\\.000\n",
                                   one.output, 0, 0));
    ck_assert(!g_regex_match_simple("\n +4 ", one.output, 0, 0));
}
END_TEST

START_TEST(csv_has_nothing_but_rows)
{
    g_auto(CcsProgramRun) one =
        ccs_program_run_line(folder, "program program-overlap -T flat8 --no-db --format csv");

    assert_done(&one);
    ck_assert(g_str_has_prefix(one.output,
                               "rank,bytes_sent,bytes_received,computing_us,sending_us,"
                               "communicating_us,hidden_us,hidden_share,idle_us,finished_us\n"
                               "0,100000000,100000000,2000.000000,"));
}
END_TEST

START_TEST(verbose_shows_what_the_links_carried)
{
    g_auto(CcsProgramRun) one =
        ccs_program_run_line(folder, "program program-overlap -T flat8 --no-db -v");

    assert_done(&one);
    assert_says(one.output, "busiest link");
}
END_TEST

START_TEST(a_program_without_messages_only_computes)
{
    g_auto(CcsProgramRun) one = run(HEAD "  - compute: 3 us\n", "--no-db");

    assert_done(&one);
    assert_says(one.output, "3.000 us for 0 messages with 0 bytes\n");
}
END_TEST

START_TEST(an_empty_message_is_something_that_a_rank_does)
{
    g_auto(CcsProgramRun) one =
        run("title: t\nprogram:\n- ranks: 0\n  calls: [{send: {to: 1, size: 0 B}}]\n"
            "- ranks: 1\n  calls: [{recv: {from: 0}}]\n",
            "--no-db --format csv");

    assert_done(&one);
    assert_says(one.output, "\n0,0,0,0.000000,");
    assert_says(one.output, "\n1,0,0,0.000000,");
    assert_says_not(one.output, "\n2,");
}
END_TEST

START_TEST(a_program_that_takes_too_long_is_told_with_its_line)
{
    g_autoptr(GString) text = g_string_new(HEAD);
    for (int i = 0; i < 9; i++)
        g_string_append(text, "  - compute: 1000000 s\n");
    g_auto(CcsProgramRun) one = run(text->str, "--no-db");

    assert_status(&one, 3);
    assert_says(one.errors, "simulated time runs over at p.yaml:9:5: compute 1000000 s: the program"
                            " takes longer than 50 days");
}
END_TEST

START_TEST(a_group_in_a_group_is_one_error)
{
    g_auto(CcsProgramRun) one =
        run("title: t\nprogram:\n- ranks: 0\n  calls:\n  - group_start: {}\n  - group_start: {}\n"
            "  - group_end: {}\n  - group_end: {}\n",
            "--no-db");
    g_auto(CcsProgramRun) more =
        run("title: t\nprogram:\n- ranks: 0\n  calls:\n  - group_start: {}\n  - group_start: {}\n"
            "  - group_end: {}\n  - group_end: {}\n  - group_end: {}\n",
            "--no-db");

    assert_refused(&one, 3, "p.yaml:6:18: error: only send and recv can stand in a group");
    assert_says_not(one.errors, "p.yaml:8:");
    assert_refused(&more, 3, "p.yaml:9:16: error: rank 0 has no group open here");
}
END_TEST

START_TEST(a_request_of_a_wrong_call_is_not_missed)
{
    g_auto(CcsProgramRun) grouped =
        run(HEAD "  - group_start: {}\n  - isend: {to: rank xor 1, size: 4 B, request: a}\n"
                 "  - group_end: {}\n  - wait: a\n",
            "--no-db");
    g_auto(CcsProgramRun) peerless =
        run(HEAD "  - isend: {to: 9, size: 4 B, request: a}\n  - wait: a\n", "--no-db");

    assert_refused(&grouped, 3, "p.yaml:6:12: error: only send and recv can stand in a group");
    assert_says_not(grouped.errors, "p.yaml:8:");
    assert_refused(&peerless, 3, "p.yaml:5:");
    assert_says_not(peerless.errors, "p.yaml:6:");
}
END_TEST

START_TEST(options_may_change_the_program_the_machine_and_the_transport)
{
    g_auto(CcsProgramRun) one =
        run(HEAD "  - send: {to: rank xor 1, size: 50000 B}\n  - recv: {from: rank xor 1}\n",
            "--no-db --format json --set eager_threshold='64 KiB' "
            "--set node.nics.bandwidth='25 GB/s' --set 'transport.message_cost=1 us'");

    assert_done(&one);
    ck_assert_double_eq(ccs_json_number(one.output, "$.results[0].time_us"), 3);
}
END_TEST

START_TEST(the_database_gets_the_run_with_a_phase_for_each_call)
{
    g_auto(CcsProgramRun) one =
        run(HEAD "  - isend: {to: rank xor 1, size: 50000 B}\n  - recv: {from: rank xor 1}\n",
            "--trace flows");
    g_autofree char *db = g_build_filename(folder, "ccsim.db", NULL);
    g_autofree char *asked = ccs_query_text(
        db, "SELECT collective || ' ' || algorithm || ' ' || size_bytes FROM result");
    g_autofree char *title = ccs_query_text(db, "SELECT title || ' ' || status FROM run");
    g_autofree char *step =
        ccs_query_text(db, "SELECT name || ' ' || messages FROM step JOIN phase USING (phase_id)");

    assert_done(&one);
    ck_assert_str_eq(asked, "program p 100000");
    ck_assert_str_eq(title, "a study complete");
    ck_assert_str_eq(step, "p.yaml:5:5: isend 2");
    ck_assert_double_eq(ccs_query_number(db, "SELECT count(*) FROM flow"), 2);
    ck_assert_double_eq(ccs_query_number(db, "SELECT time_us FROM result"), 1);
}
END_TEST

/* Two communicators in different order: nccl#195, nccl#574. */
START_TEST(a_deadlock_is_told_before_anything_is_written)
{
    g_auto(CcsProgramRun) one =
        run("title: t\n"
            "communicators:\n- {name: data, ranks: 0-1}\n- {name: model, ranks: 0-1}\n"
            "program:\n"
            "- ranks: 0\n  calls:\n"
            "  - send: {to: 1, size: 1 MiB, communicator: data}\n"
            "  - send: {to: 1, size: 1 MiB, communicator: model}\n"
            "- ranks: 1\n  calls:\n"
            "  - recv: {from: 0, communicator: model}\n"
            "  - recv: {from: 0, communicator: data}\n",
            "");

    assert_refused(&one, 1, "deadlock: 2 calls wait for each other");
    assert_says(one.errors,
                "rank 0: p.yaml:8:5: send to 1 (1 MiB) waits for rank 1: p.yaml:13:5: ");
    assert_says(one.errors,
                "rank 1: p.yaml:12:5: recv from 0 (1 MiB) waits for rank 0: p.yaml:9:5");
    assert_none(folder, "ccsim.db");
}
END_TEST

START_TEST(errors_show_the_line_and_leave_nothing_behind)
{
    g_auto(CcsProgramRun) one = run(HEAD "  - send: {to: 9, size: 4 KiB}\n  - wait: x\n", "");

    assert_refused(&one, 3,
                   "p.yaml:5:16: error: for rank 0, 'to' is 9, and communicator 'world' "
                   "has 8 ranks\n   - send: {to: 9, size: 4 KiB}\n");
    assert_says(one.errors, "p.yaml:6:11: error: rank 0 has no request 'x'");
    assert_none(folder, "ccsim.db");
}
END_TEST

START_TEST(a_job_of_fewer_ranks_lacks_some_of_the_program)
{
    g_auto(CcsProgramRun) one =
        ccs_program_run_line(folder, "program program-overlap -T flat8 --ranks 2 --no-db");

    assert_refused(&one, 3, "'ranks' names rank 2, but the job has 2 ranks (0 to 1)");
}
END_TEST

START_TEST(a_config_and_a_program_are_told_from_each_other)
{
    g_auto(CcsProgramRun) program = ccs_program_run_line(folder, "run program-overlap");
    g_auto(CcsProgramRun) config = ccs_program_run_line(folder, "program quickstart -T flat8");

    assert_refused(&program, 3,
                   "configs/program-overlap.yaml:12:3: error: this is a program, not a config with"
                   " cases: 'ccsim program program-overlap -T TOPOLOGY' runs it");
    assert_refused(&config, 3,
                   "configs/quickstart.yaml:10:3: error: this is a config with cases, not a"
                   " program: 'ccsim run' runs it");
    ck_assert_ptr_null(strstr(config.errors, "unknown key"));
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("program_command");
    TCase *tcase = tcase_create("program_command");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, each_shipped_program_takes_the_time_that_it_tells, 0,
                        G_N_ELEMENTS(shipped));
    tcase_add_test(tcase, the_reference_runs_and_names_each_key);
    tcase_add_test(tcase, the_table_says_what_each_rank_did);
    tcase_add_test(tcase, csv_has_nothing_but_rows);
    tcase_add_test(tcase, verbose_shows_what_the_links_carried);
    tcase_add_test(tcase, a_program_without_messages_only_computes);
    tcase_add_test(tcase, an_empty_message_is_something_that_a_rank_does);
    tcase_add_test(tcase, a_program_that_takes_too_long_is_told_with_its_line);
    tcase_add_test(tcase, a_group_in_a_group_is_one_error);
    tcase_add_test(tcase, a_request_of_a_wrong_call_is_not_missed);
    tcase_add_test(tcase, options_may_change_the_program_the_machine_and_the_transport);
    tcase_add_test(tcase, the_database_gets_the_run_with_a_phase_for_each_call);
    tcase_add_test(tcase, a_deadlock_is_told_before_anything_is_written);
    tcase_add_test(tcase, errors_show_the_line_and_leave_nothing_behind);
    tcase_add_test(tcase, a_job_of_fewer_ranks_lacks_some_of_the_program);
    tcase_add_test(tcase, a_config_and_a_program_are_told_from_each_other);
    suite_add_tcase(suite, tcase);
    return suite;
}
