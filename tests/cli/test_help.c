#include <string.h>

#include "tests/support/check_main.h"
#include "tests/support/program.h"

START_TEST(version_is_printed_after_the_name)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(NULL, "--version");

    ck_assert_int_eq(run.status, 0);
    ck_assert_msg(g_regex_match_simple("^ccsim [0-9]+\\.[0-9]+\\.[0-9]+", run.output, 0, 0), "%s",
                  run.output);
    ck_assert_str_eq(run.errors, "");
}
END_TEST

START_TEST(an_unknown_command_is_refused_with_the_nearest_one)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(NULL, "bnech");

    ck_assert_int_eq(run.status, 2);
    ck_assert_str_eq(run.output, "");
    ck_assert_msg(strstr(run.errors, "did you mean 'bench'?") != NULL, "%s", run.errors);
}
END_TEST

START_TEST(a_word_like_no_command_is_wrong_usage)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(NULL, "nonsense");

    ck_assert_int_eq(run.status, 2);
    ck_assert_str_eq(run.output, "");
    ck_assert_msg(strstr(run.errors, "'nonsense'") != NULL, "%s", run.errors);
}
END_TEST

START_TEST(help_goes_to_stdout)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(NULL, "help");

    ck_assert_int_eq(run.status, 0);
    ck_assert_msg(strstr(run.output, "bench") != NULL, "%s", run.output);
    ck_assert_str_eq(run.errors, "");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("help");
    TCase *tcase = tcase_create("help");

    tcase_add_test(tcase, version_is_printed_after_the_name);
    tcase_add_test(tcase, an_unknown_command_is_refused_with_the_nearest_one);
    tcase_add_test(tcase, a_word_like_no_command_is_wrong_usage);
    tcase_add_test(tcase, help_goes_to_stdout);
    suite_add_tcase(suite, tcase);
    return suite;
}
