/* ccsim explain: what an algorithm does, step by step, and what it costs. */
#include "tests/cli/cli.h"
#include "tests/support/check_main.h"

static CcsProgramRun explain(const char *line)
{
    g_autofree char *whole = g_strconcat("explain ", line, NULL);
    return ccs_program_run_line(NULL, whole);
}

START_TEST(steps_come_from_the_schedule)
{
    g_auto(CcsProgramRun) run = explain("allreduce -A ring --ranks 3");

    assert_done(&run);
    assert_says(run.output, "step  rank 0  rank 1  rank 2\n"
                            "   1  0->1+   1->2+   2->0+\n"
                            "   2  2->1+   0->2+   1->0+\n"
                            "   3  1->1    2->2    0->0\n"
                            "   4  0->1    1->2    2->0\n");
}
END_TEST

START_TEST(messages_that_go_on_at_once_stand_in_one_step)
{
    g_auto(CcsProgramRun) run = explain("allgather -A direct --ranks 3");

    assert_done(&run);
    assert_says(run.output, "\n   1  0->1    1->2    2->0\n      0->2    1->0    2->1\n");
    assert_says_not(run.output, "\n   2  ");
}
END_TEST

START_TEST(costs_are_put_into_the_formula)
{
    g_auto(CcsProgramRun) run =
        explain("allreduce -A ring --ranks 8 -b 1000000 --set transport.message_cost='0.5 us'");

    assert_done(&run);
    assert_says(run.output, "S = 1000000 B on n = 8 ranks around one switch: ports of B = 50 GB/s");
    assert_says(run.output, "a = 1 us");
    assert_says(run.output, "each rank sends     14 messages, 1750000 B\n");
    assert_says(run.output, "\nformula             2");
    assert_says(run.output, "\nwith n = 8          14 a + 14 o + 1.75 S/B");
    assert_says(run.output, "14 x 1.000 us + 14 x 0.500 us + 1.75 x 20.000 us");
    assert_says(run.output, " = 56.000 us\nsimulated           56.000 us, with 1 channel\n");
    assert_says(run.output, "\nlower bound         35.000 us (ranks): 62.5 % of the time\n");
    assert_says(run.output, "The formula takes one flat switch and one channel for granted.");
    assert_says(run.output, "When to choose it\n\n");
}
END_TEST

START_TEST(another_machine_has_its_own_latency_and_bandwidth)
{
    g_auto(CcsProgramRun) run = explain("broadcast -A flat -T nvlink8 -b 300000");

    assert_done(&run);
    assert_says(run.output, "ports of B = 300 GB/s");
    assert_says(run.output, "a = 0 us");
}
END_TEST

START_TEST(where_no_flat_switch_is_no_numbers_are_put_in)
{
    g_auto(CcsProgramRun) run = explain("allreduce -A ring -T cluster32");

    assert_done(&run);
    assert_says(run.output, "n = 32 ranks in 4 nodes of cluster32");
    assert_says(run.output, "not here: these ranks are not around one switch");
    assert_says(run.output, "with 8 channels");
    assert_says(run.output, "On 8 ranks"); /* a part of the machine is drawn */
}
END_TEST

START_TEST(a_pipeline_is_drawn_with_few_chunks_unless_more_are_asked_for)
{
    g_auto(CcsProgramRun) few = explain("broadcast -A chain --ranks 3");
    g_auto(CcsProgramRun) asked = explain("broadcast -A chain --ranks 3 --chunks 6");

    assert_says(few.output, "On 3 ranks with K = 4");
    assert_says(few.output, "\nwith n = 3, K = 64  ");
    assert_says(asked.output, "On 3 ranks with K = 6");
    assert_says(asked.output, "\n   7          5->2");
    assert_says(asked.output, "\nwith n = 3, K = 6   ");
}
END_TEST

START_TEST(a_long_table_of_steps_is_cut)
{
    g_auto(CcsProgramRun) run = explain("broadcast -A chain --ranks 4 --chunks 100");

    assert_done(&run);
    assert_says(run.output, "\n  48  ");
    assert_says_not(run.output, "\n  49  ");
    assert_says(run.output, "These are the first 48 of 102 steps.");
}
END_TEST

START_TEST(without_a_name_all_algorithms_are_compared)
{
    g_auto(CcsProgramRun) run = explain("allreduce -b 1000000");
    g_auto(CcsProgramRun) names = ccs_program_run_line(NULL, "list algorithms --format json");

    assert_status(&run, 0);
    assert_says(run.output, "allreduce: every rank ends with the sum over all ranks");
    assert_says(run.output, "No algorithm can take less than 35.000 us (ranks).");
    assert_says(run.output, "by formula (us)");
    for (int i = 0; i < (int)ccs_json_length(names.output, "$"); i++) {
        g_autofree char *at_of = g_strdup_printf("$[%d].of", i);
        g_autofree char *at_name = g_strdup_printf("$[%d].name", i);
        g_autofree char *of = ccs_json_text(names.output, at_of);
        g_autofree char *name = ccs_json_text(names.output, at_name);
        g_autofree char *row = g_strconcat("\n", name, " ", NULL);
        if (strcmp(of, "allreduce") == 0)
            ck_assert_msg(strstr(run.output, row) != NULL ||
                              strstr(run.errors, "is left out") != NULL,
                          "%s", name);
    }
}
END_TEST

START_TEST(markdown_has_headings_and_tables)
{
    g_auto(CcsProgramRun) run = explain("allreduce -A ring --ranks 3 --format md");

    assert_done(&run);
    assert_says(run.output, "# allreduce ring: ");
    assert_says(run.output, "\n## Who sends what to whom\n");
    assert_says(run.output, "| step | rank 0 |");
}
END_TEST

/* Some algorithms keep their data in another order, or in scratch memory. */
START_TEST(steps_name_the_data_and_not_where_they_lie)
{
    g_auto(CcsProgramRun) bruck = explain("allgather -A bruck --ranks 3");
    g_auto(CcsProgramRun) blocks = explain("alltoall -A bruck --ranks 5");

    assert_says(bruck.output, "\n   1  0->2    1->0    2->1\n");
    assert_says(bruck.output, "of which chunk r is the block of rank r");
    assert_says(blocks.output, "\n   1  0:1,3->1  1:2,4->2  2:0,3->3  ");
    assert_says(blocks.output, "'0:1->2' is the block from rank 0 for rank 1");
}
END_TEST

START_TEST(a_barrier_adds_nothing)
{
    g_auto(CcsProgramRun) run = explain("barrier -A dissemination --ranks 3");

    assert_done(&run);
    assert_says(run.output, "\n   1  ->1     ->2     ->0\n");
    assert_says_not(run.output, "'+'");
}
END_TEST

START_TEST(nodes_are_told_where_there_are_several_ranks_in_each)
{
    g_auto(CcsProgramRun) cluster = explain("allreduce -A ring -T cluster32");
    g_auto(CcsProgramRun) node = explain("allreduce -A ring -T nvlink8");
    g_auto(CcsProgramRun) flat = explain("allreduce -A ring --ranks 3");

    assert_says(cluster.output, "On 8 ranks in 4 nodes (ranks 0-1, 2-3, 4-5, 6-7)");
    assert_says(node.output, "On 8 ranks of one node");
    assert_says(flat.output, "On 3 ranks;");
}
END_TEST

/* What bench says of the same. */
static void assert_bound(const char *collective, const char *options)
{
    g_autofree char *bench = g_strdup_printf("bench %s -T flat8 -b 1M -e 1M %s --set "
                                             "node.nics.latency='0.5 us' --no-db --format json",
                                             collective, options);
    g_autofree char *explained = g_strdup_printf("%s %s", collective, options);
    g_auto(CcsProgramRun) run = explain(explained);
    g_auto(CcsProgramRun) json = ccs_program_run_line(NULL, bench);
    g_autofree char *name = ccs_json_text(json.output, "$.results[0].bound");
    g_autofree char *line =
        g_strdup_printf("No algorithm can take less than %.3f us (%s).",
                        ccs_json_number(json.output, "$.results[0].bound_us"), name);

    assert_says(run.output, line);
}

START_TEST(the_bound_is_that_of_bench)
{
    static const char *const names[] = {"allreduce", "allgather", "reducescatter", "alltoall",
                                        "alltoallv", "broadcast", "reduce",        "gather",
                                        "scatter",   "sendrecv",  "barrier"};

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        assert_bound(names[i], "");
    assert_bound("alltoallv", "--skew 3");
    assert_bound("sendrecv", "--distance 3");
}
END_TEST

START_TEST(blocks_of_any_size_and_shifts_of_any_distance_are_explained)
{
    g_autoptr(CcsFolder) folder = ccs_folder_new();
    write_file(folder, "w.csv", "0,1,2\n3,0,3\n2,1,0\n");
    g_auto(CcsProgramRun) skewed = explain("alltoallv -A direct --ranks 4 --skew 2");
    g_auto(CcsProgramRun) matrix = ccs_program_run_line(
        folder, "explain alltoallv -A direct --ranks 3 -b 6000 --matrix w.csv");
    g_auto(CcsProgramRun) shift = explain("sendrecv -A shift --ranks 5 --distance 3");
    g_auto(CcsProgramRun) part = explain("sendrecv -A shift --ranks 20 --distance 8");
    g_auto(CcsProgramRun) other = explain("allreduce -A ring --skew 2");

    assert_says(skewed.output, "\nwith n = 4          it holds only for blocks of one size\n");
    assert_says(skewed.errors, "rank 0 receives most, 2.000 times the mean");
    assert_says(matrix.output, "\neach rank sends     2 messages, 3000 to 6000 B\n");
    assert_says(shift.output, "On 5 ranks with D = 3.");
    assert_says(shift.output, "\n   1  all->3  all->4  all->0  all->1  all->2\n");
    assert_says(part.output, "On 8 ranks with D = 1.");
    assert_says(other.errors, "--skew has no effect: it is for alltoallv");
}
END_TEST

START_TEST(a_formula_that_does_not_hold_says_for_what_it_does)
{
    g_auto(CcsProgramRun) chain = explain("allreduce -A chain");
    g_auto(CcsProgramRun) one_chunk = explain("allreduce -A chain --chunks 1");
    g_auto(CcsProgramRun) odd = explain("allgather -A recursive_doubling --ranks 5");
    g_auto(CcsProgramRun) all = explain("allreduce");
    g_auto(CcsProgramRun) cluster = explain("allreduce -T cluster32");

    assert_says(chain.output,
                "with n = 8, K = 64  it holds only for K = 1 (--chunks 1), or for n = 2\n");
    assert_says(one_chunk.output, "\nwith n = 8, K = 1   14 a + 14 o + 14 S/B + 7 S/G\n");
    assert_says(odd.output, "it holds only for an n that is a power of two");
    ck_assert(g_regex_match_simple("\nchain .* - +2\\(n-1\\) a", all.output, 0, 0));
    ck_assert(g_regex_match_simple("\ntree .* - +-\n", all.output, 0, 0));
    assert_says(all.output, "\nNo time by formula for chain: it holds only for K = 1");
    assert_says(all.output, "\nNo time by formula for tree: there is no closed form.\n");
    assert_says(cluster.output, "\nNo times by formula: these ranks are not around one switch.\n");
}
END_TEST

START_TEST(one_rank_needs_no_time)
{
    g_auto(CcsProgramRun) run = explain("allreduce -A ring --ranks 1");

    assert_says(run.output, "on n = 1 rank in 1 node");
    assert_says(run.output, "\nwith n = 1          0.000 us: there is nobody to send to\n");
    assert_says(run.output, "\nsimulated           0.000 us");
}
END_TEST

static const char *const many[] = {"512", "513", "1024", "1025", "5000"};

START_TEST(formulas_have_numbers_for_many_ranks_too)
{
    g_autofree char *line = g_strdup_printf("broadcast -A binomial --ranks %s", many[_i]);
    g_auto(CcsProgramRun) run = explain(line);

    assert_done(&run);
    assert_says(run.output, " ranks around one switch: ports of B = 50 GB/s");
    assert_says(run.output, "\nin numbers ");
    assert_says_not(run.output, "not here");
}
END_TEST

static const char *const lines[] = {
    "alltoallv --skew 1.5",
    "alltoallv --skew 2 --ranks 20",
    "barrier",
    "alltoall --ranks 5",
    "gather -r 3",
    "scatter --ranks 16",
    "reduce --ranks 1",
    "sendrecv --ranks 2",
    "alltoallv -b 7",
    "broadcast -T dgx-h100 --nodes 3",
    "allreduce -b 0",
    "reducescatter",
    "allreduce --ranks 17 --model loggp",
    "allgather -A all",
    "allreduce -A ring,tree",
};

static const struct {
    const char *line;
    const char *doubt;
} doubtful[] = {
    {"reduce -A chain --ranks 3 -b 2G --set 'transport.reduce_rate=33 GB/s'",
     "adding a chunk takes"},
    {"allreduce -A chain --ranks 2 --set 'transport.reduce_rate=33 GB/s'", "adding a chunk takes"},
    {"reduce -A chain --ranks 3 -b 1M --set 'transport.reduce_rate=50 GB/s'", NULL},
    {"reduce -A chain --ranks 3 --chunks 1 --set 'transport.reduce_rate=33 GB/s'", NULL},
    {"reduce -A binomial --ranks 3 --set 'transport.reduce_rate=33 GB/s'", NULL},
    {"allreduce -A ring --ranks 3 --channels 2", "there is more than one channel"},
    {"allreduce -A ring --ranks 3 --model loggp", "messages share no links in this model"},
};

START_TEST(a_formula_gives_no_number_where_it_does_not_hold)
{
    g_auto(CcsProgramRun) run = explain(doubtful[_i].line);
    bool is_there = strstr(run.output, "in numbers          not here: ") == NULL;

    assert_status(&run, 0);
    ck_assert(is_there == (doubtful[_i].doubt == NULL));
    if (doubtful[_i].doubt != NULL)
        assert_says(run.output, doubtful[_i].doubt);
}
END_TEST

START_TEST(a_model_that_shares_no_links_has_no_bound)
{
    g_auto(CcsProgramRun) all = explain("alltoall --ranks 8 -b 64M --model loggp");
    g_auto(CcsProgramRun) one = explain("alltoall -A direct --ranks 8 -b 64M --model loggp");
    g_auto(CcsProgramRun) shared = explain("alltoall -A direct --ranks 8 -b 64M");

    assert_status(&all, 0);
    assert_says(all.output, "; network model loggp");
    assert_says_not(all.output, "No algorithm can take less");
    assert_says(all.errors, "model loggp shares no links");
    assert_says_not(one.output, "lower bound");
    assert_says(one.output, "in numbers          not here: messages share no links");
    assert_says(shared.output, "; network model fluid");
    assert_done(&shared);
}
END_TEST

START_TEST(options_without_effect_are_told)
{
    g_auto(CcsProgramRun) run = explain("allreduce -A ring -r 3 --chunks 5 --ranks 4");
    g_auto(CcsProgramRun) barrier = explain("barrier -b 8");

    assert_status(&run, 0);
    assert_says(run.errors, "--chunks has no effect: none of the algorithms is pipelined");
    assert_says(run.errors, "-r has no effect: allreduce has no root");
    assert_says(barrier.errors, "-b has no effect: barrier moves no data");
}
END_TEST

START_TEST(every_collective_is_explained)
{
    g_auto(CcsProgramRun) run = explain(lines[_i]);

    assert_status(&run, 0);
    assert_says(run.output, "When to choose which");
    assert_says_not(run.output, "nan");
    assert_says_not(run.output, "(null)");
}
END_TEST

static const struct {
    const char *line;
    int status;
    const char *message;
} wrong[] = {
    {"", 2, "one collective must be named"},
    {"allreduce -A rings", 2, "did you mean 'ring'?"},
    {"allreduce -b 10MB", 2, "-b must be a size"},
    {"allreduce --format csv", 2, "csv"},
    {"alltoallv --skew 9", 2, "--skew must be from 1"},
    {"alltoallv --matrix nowhere.csv", 4, "nowhere.csv"},
    {"sendrecv --distance 8", 2, "the distance must not be a multiple"},
    {"allreduce --ranks 0", 2, "must be from 1"},
    {"broadcast -r 8", 2, "-r must be a rank from 0 to 7"},
    {"allreduce -T nowhere", 3, "nowhere"},
};

START_TEST(what_is_wrong_is_refused)
{
    g_auto(CcsProgramRun) run = explain(wrong[_i].line);

    assert_refused(&run, wrong[_i].status, wrong[_i].message);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("explain");
    TCase *tcase = tcase_create("explain");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, steps_come_from_the_schedule);
    tcase_add_test(tcase, messages_that_go_on_at_once_stand_in_one_step);
    tcase_add_test(tcase, costs_are_put_into_the_formula);
    tcase_add_test(tcase, another_machine_has_its_own_latency_and_bandwidth);
    tcase_add_test(tcase, where_no_flat_switch_is_no_numbers_are_put_in);
    tcase_add_test(tcase, a_pipeline_is_drawn_with_few_chunks_unless_more_are_asked_for);
    tcase_add_test(tcase, a_long_table_of_steps_is_cut);
    tcase_add_test(tcase, without_a_name_all_algorithms_are_compared);
    tcase_add_test(tcase, markdown_has_headings_and_tables);
    tcase_add_test(tcase, steps_name_the_data_and_not_where_they_lie);
    tcase_add_test(tcase, a_barrier_adds_nothing);
    tcase_add_test(tcase, nodes_are_told_where_there_are_several_ranks_in_each);
    tcase_add_test(tcase, the_bound_is_that_of_bench);
    tcase_add_test(tcase, blocks_of_any_size_and_shifts_of_any_distance_are_explained);
    tcase_add_test(tcase, a_formula_that_does_not_hold_says_for_what_it_does);
    tcase_add_test(tcase, one_rank_needs_no_time);
    tcase_add_loop_test(tcase, formulas_have_numbers_for_many_ranks_too, 0, G_N_ELEMENTS(many));
    tcase_add_loop_test(tcase, a_formula_gives_no_number_where_it_does_not_hold, 0,
                        G_N_ELEMENTS(doubtful));
    tcase_add_test(tcase, a_model_that_shares_no_links_has_no_bound);
    tcase_add_test(tcase, options_without_effect_are_told);
    tcase_add_loop_test(tcase, every_collective_is_explained, 0, G_N_ELEMENTS(lines));
    tcase_add_loop_test(tcase, what_is_wrong_is_refused, 0, G_N_ELEMENTS(wrong));
    suite_add_tcase(suite, tcase);
    return suite;
}
