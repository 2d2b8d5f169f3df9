/* ccsim verify: is every schedule right, and what is said of it. */
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

START_TEST(every_algorithm_is_right_and_counted)
{
    g_auto(CcsProgramRun) list = ccs_program_run_line(folder, "list algorithms --format json");
    g_auto(CcsProgramRun) run =
        ccs_program_run_line(folder, "verify --ranks 3,8 --orders 1 --format json");

    assert_done(&run);
    ck_assert_double_eq(ccs_json_length(run.output, "$"), 2 * ccs_json_length(list.output, "$"));
    assert_says_not(run.output, "wrong");
    assert_none(folder, "");
}
END_TEST

START_TEST(a_row_tells_what_was_played_and_what_it_sends)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(
        folder, "verify allreduce ring --ranks 4 --channels 2 --orders 6 --format csv");

    assert_done(&run);
    ck_assert_str_eq(run.output,
                     "collective,algorithm,ranks,schedules,orders,messages,sent_least_S,"
                     "sent_most_S,result\n"
                     "allreduce,ring,4,2,8,48,1.5000,1.5000,right\n");
}
END_TEST

START_TEST(a_table_sums_up_on_stderr)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, "verify reducescatter --ranks 1-3");

    assert_status(&run, 0);
    assert_says(run.output, "sent most (S)");
    assert_says(run.errors, "schedules are right in every order");
}
END_TEST

START_TEST(one_is_told_in_the_singular)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, "verify allreduce ring --ranks 2,2");
    g_auto(CcsProgramRun) topo = ccs_program_run_line(folder, "topo show flat8 --nodes 1");

    assert_status(&run, 0);
    assert_says(run.errors, "1 schedule is right in every order that its dependencies allow");
    assert_says(topo.output, "1 GPU in 1 node, 1 NIC, 0 NVSwitches, 1 fabric switch, ");
}
END_TEST

START_TEST(a_topology_is_taken_whole_unless_ranks_are_named)
{
    g_auto(CcsProgramRun) whole =
        ccs_program_run_line(folder, "verify allgather ring -T nvlink8 --format json");
    g_auto(CcsProgramRun) part =
        ccs_program_run_line(folder, "verify allgather ring -T nvlink8 --ranks 5 --format json");

    ck_assert_double_eq(ccs_json_number(whole.output, "$[0].ranks"), 8);
    ck_assert_double_eq(ccs_json_number(whole.output, "$[0].schedules"), 1);
    ck_assert_double_eq(ccs_json_number(part.output, "$[0].ranks"), 5);
}
END_TEST

static const struct {
    const char *root;
    int n_schedules; /* on one machine of 8 ranks */
} roots[] = {{"", 3}, {"-r 6", 1}, {"-r all", 8}};

START_TEST(roots_are_tried_as_asked)
{
    g_autofree char *line =
        g_strdup_printf("verify broadcast binomial -T nvlink8 %s --format json", roots[_i].root);
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, line);

    assert_done(&run);
    ck_assert_double_eq(ccs_json_number(run.output, "$[0].schedules"), roots[_i].n_schedules);
}
END_TEST

static const struct {
    const char *line;
    int status;
    const char *part;
} refused[] = {
    {"verify allredcue", 2, "did you mean 'allreduce'"},
    {"verify allreduce rong", 2, "did you mean 'ring'"},
    {"verify allreduce ring tree", 2, "'tree' is one argument too many"},
    {"verify ring.xml tree", 2, "'tree' is one argument too many"},
    {"verify ./ring tree x", 2, "'tree' is one argument too many"},
    {"verify allreduce --ranks 0", 2, "--ranks must be numbers and ranges from 1 to 1024"},
    {"verify allreduce --ranks 9-", 2, "not '9-'"},
    {"verify allreduce --orders -1", 2, "--orders must be from 0"},
    {"verify allreduce --channels 0", 2, "--channels must be from 1"},
    {"verify broadcast -r 4 --ranks 4-9", 2, "-r must be 'all' or a rank from 0 to 3, not '4'"},
    {"verify allreduce --format nccl", 2, "nccl"},
    {"verify allreduce -T nvlink8 --ranks 9", 3, "9 ranks do not fit"},
    {"verify broadcast chain --ranks 24 --channels 1024 --chunks 1048576", 3,
     "to play broadcast on 24 ranks in this way takes 1"},
};

START_TEST(what_cannot_be_tried_is_refused)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, refused[_i].line);

    assert_refused(&run, refused[_i].status, refused[_i].part);
}
END_TEST

START_TEST(what_takes_long_is_said_before)
{
    const char *args[] = {"verify",   "allreduce", "ring",       "--ranks", "2",
                          "--orders", "1000000",   "--channels", "8",       NULL};
    g_auto(CcsProgramRun) run =
        ccs_program_run(&(CcsProgramCall){.args = args, .folder = folder, .seconds = 5});

    assert_says(run.errors, "allreduce ring on 2 ranks moves 32 chunks, which are played in"
                            " 1000002 orders: this takes a while");
}
END_TEST

START_TEST(options_without_effect_are_named)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(
        folder, "verify allreduce ring -r 1 --chunks 5 --ranks 4 --format csv");

    assert_status(&run, 0);
    assert_says(run.errors, "-r has no effect: allreduce has no root");
    assert_says(run.errors, "--chunks has no effect");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("verify");
    TCase *tcase = tcase_create("verify");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, every_algorithm_is_right_and_counted);
    tcase_add_test(tcase, a_row_tells_what_was_played_and_what_it_sends);
    tcase_add_test(tcase, a_table_sums_up_on_stderr);
    tcase_add_test(tcase, one_is_told_in_the_singular);
    tcase_add_test(tcase, a_topology_is_taken_whole_unless_ranks_are_named);
    tcase_add_loop_test(tcase, roots_are_tried_as_asked, 0, G_N_ELEMENTS(roots));
    tcase_add_loop_test(tcase, what_cannot_be_tried_is_refused, 0, G_N_ELEMENTS(refused));
    tcase_add_test(tcase, options_without_effect_are_named);
    tcase_add_test(tcase, what_takes_long_is_said_before);
    suite_add_tcase(suite, tcase);
    return suite;
}
