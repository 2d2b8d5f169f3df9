/* The support for tests that run a program, tried on the shell. */
#include "tests/support/program.h"

#include <math.h>
#include <signal.h>

#include "tests/support/check_main.h"
#include "tests/support/folder.h"
#include "tests/support/query.h"

static void use_the_shell(void)
{
    g_setenv("CCSIM", "/bin/sh", true);
}

START_TEST(a_run_tells_output_errors_and_exit_status_apart)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(NULL, "-c 'echo out; echo err >&2; exit 3'");

    ck_assert_str_eq(run.output, "out\n");
    ck_assert_str_eq(run.errors, "err\n");
    ck_assert_int_eq(run.status, 3);
    ck_assert_int_eq(run.signal, 0);
}
END_TEST

START_TEST(a_program_reads_its_input_and_the_variables_it_is_given)
{
    g_setenv("CCSIM_DB", "set by the user", true);
    g_auto(CcsProgramRun) run = ccs_program_run(&(CcsProgramCall){
        .args = (const char *const[]){"-c", "cat; echo \"$GREETING,$CCSIM_DB\"", NULL},
        .input = "from stdin\n",
        .environment = (const char *const[]){"GREETING=a=b", NULL},
    });

    ck_assert_str_eq(run.output, "from stdin\na=b,\n");
}
END_TEST

START_TEST(a_program_may_end_without_reading_its_input)
{
    g_autofree char *input = g_strnfill(1000000, 'x');
    g_auto(CcsProgramRun) run = ccs_program_run(
        &(CcsProgramCall){.args = (const char *const[]){"-c", "exit 0", NULL}, .input = input});

    ck_assert_int_eq(run.status, 0);
}
END_TEST

START_TEST(a_program_that_takes_too_long_is_killed)
{
    g_auto(CcsProgramRun) run = ccs_program_run(&(CcsProgramCall){
        .args = (const char *const[]){"-c", "exec sleep 60", NULL},
        .seconds = 1,
    });

    ck_assert(run.is_late);
    ck_assert_int_eq(run.status, -1);
    ck_assert_int_eq(run.signal, SIGALRM);
}
END_TEST

START_TEST(a_program_runs_in_a_folder_that_goes_away)
{
    char *path = ccs_folder_new();
    g_autofree char *written = ccs_folder_write(path, "given", "text");
    g_auto(CcsProgramRun) run = ccs_program_run_line(path, "-c 'mkdir sub; cp given sub/taken'");
    g_autofree char *taken = ccs_folder_read(path, "sub/taken");
    g_autofree char *missing = ccs_folder_read(path, "missing");

    ck_assert_str_eq(taken, "text");
    ck_assert_int_eq(run.status, 0);
    ck_assert_ptr_null(missing);
    ccs_folder_remove(path);
    ck_assert(!g_file_test(written, G_FILE_TEST_EXISTS));
}
END_TEST

START_TEST(a_value_is_found_in_json)
{
    const char *json = "{\"results\":[{\"time_us\":2.5,\"algorithm\":\"ring\",\"root\":null}]}";
    g_autofree char *algorithm = ccs_json_text(json, "$.results[0].algorithm");

    ck_assert_str_eq(algorithm, "ring");
    ck_assert_double_eq(ccs_json_number(json, "$.results[0].time_us"), 2.5);
    ck_assert_double_eq(ccs_json_length(json, "$.results"), 1);
    ck_assert(isnan(ccs_json_number(json, "$.results[0].root")));
    ck_assert_ptr_null(ccs_json_text(json, "$.results[1].algorithm"));
}
END_TEST

START_TEST(a_value_is_found_in_a_database)
{
    g_autofree char *text = ccs_query_text(NULL, "SELECT 'first' UNION ALL SELECT 'second'");

    ck_assert_str_eq(text, "first");
    ck_assert_double_eq(ccs_query_number(NULL, "SELECT 1.5"), 1.5);
    ck_assert(isnan(ccs_query_number(NULL, "SELECT 1 WHERE false")));
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("program");
    TCase *tcase = tcase_create("program");

    tcase_add_checked_fixture(tcase, use_the_shell, NULL);
    tcase_add_test(tcase, a_run_tells_output_errors_and_exit_status_apart);
    tcase_add_test(tcase, a_program_reads_its_input_and_the_variables_it_is_given);
    tcase_add_test(tcase, a_program_may_end_without_reading_its_input);
    tcase_add_test(tcase, a_program_that_takes_too_long_is_killed);
    tcase_add_test(tcase, a_program_runs_in_a_folder_that_goes_away);
    tcase_add_test(tcase, a_value_is_found_in_json);
    tcase_add_test(tcase, a_value_is_found_in_a_database);
    suite_add_tcase(suite, tcase);
    return suite;
}
