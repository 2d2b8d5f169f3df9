/* Who is the fastest, and from which size on: bench with several algorithms. */
#include "tests/cli/cli.h"
#include "tests/support/check_main.h"

/* a = 2 us and B = 50 GB/s, so that a B is 100,000 bytes. */
#define FLAT "-T flat8 --set node.nics.latency='1 us' --no-db "

static CcsProgramRun bench(const char *line)
{
    g_autofree char *whole = g_strconcat("bench ", line, NULL);
    return ccs_program_run_line(NULL, whole);
}

/* The lines of the table of crossovers. Returns: (transfer full). */
static GPtrArray *crossovers_of(const CcsProgramRun *run)
{
    g_auto(GStrv) lines = g_strsplit(run->output, "\n", -1);
    GPtrArray *found = g_ptr_array_new_with_free_func(g_free);
    bool is_inside = false;

    for (size_t i = 0; lines[i] != NULL && !(is_inside && *lines[i] == '\0'); i++) {
        if (is_inside)
            g_ptr_array_add(found, g_strdup(lines[i]));
        is_inside = is_inside || g_str_has_prefix(lines[i], "crossover (B)");
    }
    return found;
}

/* Line @index says that @below gives way to @above near @size. */
static void assert_crossover(const GPtrArray *lines, guint index, double size, const char *below,
                             const char *above)
{
    ck_assert_uint_lt(index, lines->len);
    const char *line = lines->pdata[index];
    char *end = NULL;
    double found = g_ascii_strtod(line, &end);
    g_auto(GStrv) words = g_strsplit_set(g_strchug(end), " ", -1);
    const char *last = NULL;

    ck_assert_double_eq_tol(found, size, 0.011 * size);
    ck_assert_str_eq(words[0], below);
    for (size_t i = 1; last == NULL; i++)
        last = *words[i] == '\0' ? NULL : words[i];
    ck_assert_str_eq(last, above);
}

START_TEST(the_fastest_of_each_size_is_marked)
{
    g_auto(CcsProgramRun) run =
        bench("allreduce " FLAT "-A chain,ring,recursive_doubling -b 1K -e 1G -f 1048576");
    g_auto(GStrv) lines = g_strsplit(run.output, "\n", -1);

    assert_done(&run);
    for (size_t i = 1; i < 7; i++) { /* three rows for 1 KiB, then three for 1 GiB */
        const char *winner = i <= 3 ? "recursive_doubling" : "ring";
        assert_says(lines[i], i <= 3 ? " 1024 " : "1073741824 ");
        ck_assert_msg((strstr(lines[i], "*") != NULL) == (strstr(lines[i], winner) != NULL), "%s",
                      lines[i]);
    }
}
END_TEST

START_TEST(programs_are_told_the_winner_too)
{
    g_auto(CcsProgramRun) json = bench("allreduce " FLAT "-A naive,ring -b 1G -e 1G --format json");
    g_auto(CcsProgramRun) csv = bench("allreduce " FLAT "-A naive,ring -b 1G -e 1G --format csv");
    g_auto(GStrv) lines = g_strsplit(csv.output, "\n", -1);

    ck_assert_double_eq(ccs_json_number(json.output, "$.results[0].is_winner"), 0);
    ck_assert_double_eq(ccs_json_number(json.output, "$.results[1].is_winner"), 1);
    assert_says(lines[0], ",is_winner,");
    assert_says(lines[1], ",false,");
    assert_says(lines[2], ",true,");
    ck_assert_ptr_null(lines[3][0] == '\0' ? NULL : lines[3]);
}
END_TEST

START_TEST(equally_fast_ones_all_win)
{
    g_auto(CcsProgramRun) run =
        bench("allreduce " FLAT "-A ring,recursive_doubling -b 880000 -e 880000 --format json");

    ck_assert_double_eq(ccs_json_number(run.output, "$.results[0].time_us"), 28 + 30.8);
    ck_assert_double_eq(ccs_json_number(run.output, "$.results[0].is_winner"), 1);
    ck_assert_double_eq(ccs_json_number(run.output, "$.results[1].is_winner"), 1);
}
END_TEST

START_TEST(one_algorithm_has_no_rivals)
{
    g_auto(CcsProgramRun) run = bench("allreduce " FLAT "-b 1K -e 4K");

    assert_done(&run);
    assert_says_not(run.output, "winner");
    assert_says_not(run.output, "rossover");
}
END_TEST

/* 14 a + 1.75 S/B of the ring is 3 a + 3 S/B of recursive doubling at S = 8.8 a B. */
START_TEST(a_crossover_is_where_the_formulas_cross)
{
    g_auto(CcsProgramRun) run =
        bench("allreduce " FLAT "-A ring,recursive_doubling -b 1K -e 1G -f 4");
    g_autoptr(GPtrArray) lines = crossovers_of(&run);

    assert_done(&run);
    ck_assert_uint_eq(lines->len, 1);
    assert_crossover(lines, 0, 880000, "recursive_doubling", "ring");
}
END_TEST

/* Between 8 bytes, where `direct` wins, and 1 GiB, where the ring does, there is a third: a + 7 S/B
 * is 3 a + 3 S/B at a B/2. */
START_TEST(who_wins_only_between_two_sizes_is_found)
{
    g_auto(CcsProgramRun) run =
        bench("allreduce " FLAT "-A direct,ring,naive,recursive_doubling -b 8 -e 1G -f 134217728");
    g_autoptr(GPtrArray) lines = crossovers_of(&run);

    assert_done(&run);
    ck_assert_uint_eq(lines->len, 2);
    assert_crossover(lines, 0, 50000, "direct", "recursive_doubling");
    assert_crossover(lines, 1, 880000, "recursive_doubling", "ring");
}
END_TEST

START_TEST(no_crossover_is_said)
{
    g_auto(CcsProgramRun) run = bench("allreduce " FLAT "-A naive,direct -b 1K -e 1M");

    assert_done(&run);
    assert_says(run.output, "\nNo crossover: direct is the fastest for all of these sizes.\n");
}
END_TEST

/* Those that are marked at each size of the table. Returns: (transfer full). */
static GHashTable *always_marked(const CcsProgramRun *run)
{
    g_auto(GStrv) lines = g_strsplit(run->output, "\n", -1);
    GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) losers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GHashTableIter iter;
    gpointer name = NULL;

    for (size_t i = 1; lines[i] != NULL && *lines[i] != '\0'; i++) {
        g_auto(GStrv) words = g_strsplit_set(g_strstrip(lines[i]), " ", -1);
        size_t at = 1;
        while (*words[at] == '\0')
            at++;
        g_hash_table_add(strchr(lines[i], '*') != NULL ? names : losers, g_strdup(words[at]));
    }
    g_hash_table_iter_init(&iter, losers);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        g_hash_table_remove(names, name);
    return names;
}

static const char *const steady[] = {
    "allreduce -T cluster32 -A all -b 1M -e 1G -f 32",
    "allreduce -T nvlink8 -A all -b 8 -e 1G -f 8",
    "allgather -T flat8 -A all -b 8 -e 1G -f 16",
    "alltoall -T nvlink8 -A all -b 8 -e 1M -f 2",
    "broadcast " FLAT "-A flat,binomial -b 64M -e 1G -f 4",
    "reducescatter -T cluster32 -A all -b 8 -e 64M -f 4",
};

START_TEST(the_line_below_the_table_names_all_that_are_marked_at_each_size)
{
    g_autofree char *line = g_strconcat(steady[_i], " --no-db", NULL);
    g_auto(CcsProgramRun) run = bench(line);
    g_autoptr(GHashTable) names = always_marked(&run);
    const char *said = strstr(run.output, "\nNo crossover: ");
    GHashTableIter iter;
    gpointer name = NULL;

    assert_status(&run, 0);
    ck_assert_msg((said != NULL) == (g_hash_table_size(names) > 0), "%s", run.output);
    g_hash_table_iter_init(&iter, names);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        assert_says(said, name);
}
END_TEST

START_TEST(roundings_make_no_winner)
{
    g_auto(CcsProgramRun) table = bench("allreduce -T cluster32 -A tree,double_tree,ring -b 1M "
                                        "-e 1G -f 32 --no-db");
    g_auto(CcsProgramRun) json = bench("allreduce -T cluster32 -A tree,double_tree,ring -b 1M "
                                       "-e 1G -f 32 --no-db --format json");

    assert_says(table.output, "\nNo crossover: tree and double_tree are equally fast");
    for (int i = 0; i < 9; i++) {
        g_autofree char *path = g_strdup_printf("$.results[%d].is_winner", i);
        ck_assert_double_eq(ccs_json_number(json.output, path), i < 6 ? 1 : 0);
    }
}
END_TEST

/* At 8 bytes all times are below 1 ns. */
START_TEST(without_latency_the_smallest_sizes_have_no_winner_of_their_own)
{
    g_auto(CcsProgramRun) run = bench("allreduce -T cluster32 -A all -b 8 -e 1G -f 8 --no-db");

    assert_says_not(run.output, "rossover (B)");
    assert_says(run.output, "\nNo crossover: tree is the fastest for all of these sizes.\n");
}
END_TEST

START_TEST(markdown_has_them_too)
{
    g_auto(CcsProgramRun) run =
        bench("allreduce " FLAT "-A ring,recursive_doubling -b 1K -e 1G -f 1024 --format md");

    assert_done(&run);
    assert_says(run.output, "| winner |");
    assert_says(run.output, "| crossover (B) |");
}
END_TEST

START_TEST(a_config_shows_them_for_each_case)
{
    g_autoptr(CcsFolder) folder = ccs_folder_new();
    write_file(folder, "c.yaml",
               "title: t\ntopology: flat8\nset: [node.nics.latency=1 us]\ncases:\n"
               "  - {title: chunks, collective: broadcast, algorithms: [chain], chunks: [1, 64],"
               " sizes: {from: 1 KiB, to: 1 GiB, factor: 1024}}\n");
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, "run c.yaml --set 'transport."
                                                             "message_cost=1 us'");

    assert_done(&run);
    assert_says(run.output, "crossover (B)");
    assert_says(run.output, "chain, 1 chunk ");
    assert_says(run.output, "chain, 64 chunks");
}
END_TEST

static const char *const compared[] = {"allreduce", "allgather", "reducescatter",
                                       "alltoall",  "broadcast", "reduce",
                                       "gather",    "scatter",   "alltoallv"};

START_TEST(each_collective_has_a_config_that_compares_its_algorithms)
{
    g_autofree char *line = g_strdup_printf("run compare-%s --no-db", compared[_i]);
    g_auto(CcsProgramRun) run = ccs_program_run_line(NULL, line);

    assert_status(&run, 0);
    assert_says(run.output, "winner");
    assert_says(run.output, "rossover");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("winners");
    TCase *tcase = tcase_create("winners");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, the_fastest_of_each_size_is_marked);
    tcase_add_test(tcase, programs_are_told_the_winner_too);
    tcase_add_test(tcase, equally_fast_ones_all_win);
    tcase_add_test(tcase, one_algorithm_has_no_rivals);
    tcase_add_test(tcase, a_crossover_is_where_the_formulas_cross);
    tcase_add_test(tcase, who_wins_only_between_two_sizes_is_found);
    tcase_add_test(tcase, no_crossover_is_said);
    tcase_add_loop_test(tcase, the_line_below_the_table_names_all_that_are_marked_at_each_size, 0,
                        G_N_ELEMENTS(steady));
    tcase_add_test(tcase, roundings_make_no_winner);
    tcase_add_test(tcase, without_latency_the_smallest_sizes_have_no_winner_of_their_own);
    tcase_add_test(tcase, markdown_has_them_too);
    tcase_add_test(tcase, a_config_shows_them_for_each_case);
    tcase_add_loop_test(tcase, each_collective_has_a_config_that_compares_its_algorithms, 0,
                        G_N_ELEMENTS(compared));
    suite_add_tcase(suite, tcase);
    return suite;
}
