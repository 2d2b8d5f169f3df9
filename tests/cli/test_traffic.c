/* ccsim bench and run on collectives where it matters who sends how much to whom. */
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

static CcsProgramRun bench(const char *line)
{
    g_autofree char *whole = g_strconcat("bench --no-db ", line, NULL);
    return ccs_program_run_line(folder, whole);
}

START_TEST(a_barrier_has_one_result_of_no_bytes)
{
    static const char *const lines[] = {"barrier -T cluster32 --format json",
                                        "barrier -T cluster32 --format json -b 1 -e 1G",
                                        "barrier -T cluster32 --format json -b 4M -e 4M"};
    g_auto(CcsProgramRun) run = bench(lines[_i]);

    assert_status(&run, 0);
    ck_assert_double_eq(ccs_json_length(run.output, "$.results"), 1);
    ck_assert_double_eq(ccs_json_number(run.output, "$.results[0].size_bytes"), 0);
    ck_assert_double_eq(ccs_json_number(run.output, "$.results[0].flows"), 5 * 32);
    ck_assert_double_eq(ccs_json_number(run.output, "$.results[0].bytes_sent_max"), 0);
    if (_i == 0)
        ck_assert_str_eq(run.errors, "");
    else
        assert_says(run.errors, "warning: -b has no effect: barrier moves no data");
}
END_TEST

START_TEST(sendrecv_goes_any_distance_but_round)
{
    static const char *const distances[] = {"1", "8", "31", "33"};
    g_autofree char *line =
        g_strdup_printf("sendrecv -T cluster32 --set 'fabric={kind: switch}' --channels 1"
                        " -b 1G -e 1G --format json --distance %s",
                        distances[_i]);
    g_auto(CcsProgramRun) run = bench(line);

    assert_done(&run);
    /* One rank of each node, at least, sends to another node, at the rate of its NIC. */
    ck_assert_double_eq_tol(ccs_json_number(run.output, "$.results[0].busbw_GBps"), 50, 1e-3);
}
END_TEST

START_TEST(a_distance_that_leads_back_is_refused)
{
    static const char *const distances[] = {"8", "16", "0", "-1"};
    g_autofree char *line =
        g_strdup_printf("sendrecv -T nvlink8 -b 8 -e 8 --distance=%s", distances[_i]);
    g_auto(CcsProgramRun) run = bench(line);

    assert_refused(&run, 2, _i < 2 ? "every rank would send to itself" : "--distance must be");
}
END_TEST

START_TEST(the_load_of_the_busiest_receiver_is_told)
{
    static const struct {
        const char *options;
        const char *note;
    } cases[] = {
        {"", "note: every rank receives as much as any other (max/mean load 1.000)"},
        {"--skew 2.5", "note: rank 0 receives most, 2.500 times the mean (max/mean load)"},
        {"--matrix w.csv", "note: rank 1 receives most, 1.500 times the mean (max/mean load)"},
    };
    g_autofree char *line = g_strdup_printf("alltoallv -T nvlink8 --ranks %s -b 8M -e 8M %s",
                                            _i == 2 ? "2" : "8", cases[_i].options);
    write_file(folder, "w.csv", "0.5, 1.5\n0.5, 1.5\n");
    g_auto(CcsProgramRun) run = bench(line);

    assert_status(&run, 0);
    assert_says(run.errors, cases[_i].note);
}
END_TEST

START_TEST(wrong_blocks_are_refused)
{
    static const struct {
        const char *options;
        int status;
        const char *problem;
    } cases[] = {
        {"--skew 0.5", 2, "--skew must be from 1 (balanced) to the number of ranks, 2, not 0.5"},
        {"--skew 2.1", 2, "--skew must be from 1"},
        {"--skew nan", 2, "--skew must be from 1"},
        {"--skew 2 --matrix w.csv", 2, "a skew and a matrix exclude each other"},
        {"--matrix w.csv", 3, "w.csv:2:3: error: a weight must be a number"},
        {"--matrix none.csv", 4, "none.csv: error: No such file or directory"},
        {"--matrix .", 4, ".: error: is a directory, not a file"},
        {"--matrix /dev/zero", 3, "/dev/zero: error: is larger than 256 MiB"},
    };
    g_autofree char *line =
        g_strconcat("alltoallv -T nvlink8 --ranks 2 -b 8 -e 8 ", cases[_i].options, NULL);
    write_file(folder, "w.csv", "1,2\n3,x\n");
    g_auto(CcsProgramRun) run = bench(line);

    assert_refused(&run, cases[_i].status, cases[_i].problem);
}
END_TEST

START_TEST(options_of_other_collectives_have_no_effect)
{
    g_auto(CcsProgramRun) run =
        bench("allreduce -T nvlink8 -b 8 -e 8 --distance 2 --skew 2 --matrix none.csv");

    assert_status(&run, 0);
    assert_says(run.errors, "--distance has no effect: it is for sendrecv");
    assert_says(run.errors, "--skew has no effect: it is for alltoallv");
    assert_says(run.errors, "--matrix has no effect: it is for alltoallv");
}
END_TEST

#define HEAD "title: t\ntopology: nvlink8\ncases:\n  - title: one\n"

START_TEST(a_config_says_the_same)
{
    write_file(folder, "w.csv",
               "0,0,0,0,0,0,0,1\n1,0,0,0,0,0,0,0\n1,0,0,0,0,0,0,0\n1,0,0,0,0,0,0,0\n"
               "1,0,0,0,0,0,0,0\n1,0,0,0,0,0,0,0\n1,0,0,0,0,0,0,0\n1,0,0,0,0,0,0,0\n");
    write_file(folder, "c.yaml",
               HEAD "    collective: barrier\n"
                    "  - {title: two, collective: sendrecv, distance: 3, sizes: [1 KiB]}\n"
                    "  - {title: three, collective: alltoallv, skew: 1.5, sizes: [1 KiB]}\n"
                    "  - {title: four, collective: alltoallv, matrix: ./w.csv, sizes: [1 KiB]}\n");
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, "run c.yaml --no-db --format csv");

    assert_status(&run, 0);
    assert_says(run.errors, "three: rank 0 receives most, 1.500 times");
    assert_says(run.errors, "four: rank 0 receives most, 7.000 times");
}
END_TEST

START_TEST(what_is_wrong_with_it_in_a_config_has_a_place)
{
    static const struct {
        const char *rest;
        const char *problem;
    } cases[] = {
        {"    collective: sendrecv\n    distance: 16\n    sizes: [8 B]\n",
         "c.yaml:6:15: error: the distance must not be a multiple"},
        {"    collective: alltoallv\n    skew: 9\n    sizes: [8 B]\n",
         "c.yaml:6:11: error: the skew is the load"},
        {"    collective: alltoallv\n    matrix: none.csv\n    sizes: [8 B]\n",
         "c.yaml:6:13: error: "},
        {"    collective: alltoall\n", "c.yaml:4:5: error: a case needs 'sizes'"},
    };
    g_autofree char *text = g_strconcat(HEAD, cases[_i].rest, NULL);
    write_file(folder, "c.yaml", text);
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, "run c.yaml --no-db");

    assert_refused(&run, 3, cases[_i].problem);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("traffic");
    TCase *tcase = tcase_create("traffic");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, a_barrier_has_one_result_of_no_bytes, 0, 3);
    tcase_add_loop_test(tcase, sendrecv_goes_any_distance_but_round, 0, 4);
    tcase_add_loop_test(tcase, a_distance_that_leads_back_is_refused, 0, 4);
    tcase_add_loop_test(tcase, the_load_of_the_busiest_receiver_is_told, 0, 3);
    tcase_add_loop_test(tcase, wrong_blocks_are_refused, 0, 8);
    tcase_add_test(tcase, options_of_other_collectives_have_no_effect);
    tcase_add_test(tcase, a_config_says_the_same);
    tcase_add_loop_test(tcase, what_is_wrong_with_it_in_a_config_has_a_place, 0, 4);
    suite_add_tcase(suite, tcase);
    return suite;
}
