/* ccsim verify as a user calls it. */
#include "tests/cli/cli.h"
#include "tests/support/check_main.h"

START_TEST(every_algorithm_is_right_on_few_ranks)
{
    g_autoptr(CcsFolder) folder = ccs_folder_new();
    g_auto(CcsProgramRun) run =
        ccs_program_run_line(folder, "verify --ranks 1-9,12,16 --channels 2 --format csv");

    assert_done(&run);
    assert_says(run.output, "allreduce,ring,9,2,288,1.7778,1.7778,ok");
    assert_says(run.output, "needs a power of two of ranks");
    assert_says_not(run.output, "WRONG");
}
END_TEST

START_TEST(one_algorithm_can_be_asked_for_on_a_machine)
{
    g_autoptr(CcsFolder) folder = ccs_folder_new();
    g_auto(CcsProgramRun) run =
        ccs_program_run_line(folder, "verify all-reduce hierarchical --ranks 32 -T cluster32");

    assert_done(&run);
    assert_says(run.output, "hierarchical");
    assert_says(run.output, "1.9375");
}
END_TEST

static const char *const wrong[] = {
    "verify --ranks 0",       "verify --ranks 5-3",        "verify --ranks 1,,2",
    "verify --ranks x",       "verify --ranks 2000",       "verify allreduces",
    "verify allreduce rings", "verify allreduce ring one", "verify --channels 0",
    "verify --orders -1",     "verify --chunks 0",         "verify --ranks 3-",
};

START_TEST(a_wrong_question_is_refused)
{
    g_autoptr(CcsFolder) folder = ccs_folder_new();
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, wrong[_i]);

    assert_status(&run, 2);
    ck_assert_str_eq(run.output, "");
}
END_TEST

START_TEST(more_ranks_than_the_machine_has_are_invalid_input)
{
    g_autoptr(CcsFolder) folder = ccs_folder_new();
    g_auto(CcsProgramRun) run =
        ccs_program_run_line(folder, "verify allreduce ring --ranks 9 -T nvlink8");

    assert_status(&run, 3);
    assert_says(run.errors, "9 ranks do not fit");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("verify");
    TCase *tcase = tcase_create("verify");

    tcase_add_test(tcase, every_algorithm_is_right_on_few_ranks);
    tcase_add_test(tcase, one_algorithm_can_be_asked_for_on_a_machine);
    tcase_add_loop_test(tcase, a_wrong_question_is_refused, 0, G_N_ELEMENTS(wrong));
    tcase_add_test(tcase, more_ranks_than_the_machine_has_are_invalid_input);
    suite_add_tcase(suite, tcase);
    return suite;
}
