/* ccsim bench: what it prints in each format. */
#include <sys/stat.h>

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

/* Runs "ccsim bench LINE". */
static CcsProgramRun bench(const char *line)
{
    g_autofree char *whole = g_strconcat("bench ", line, NULL);
    return ccs_program_run_line(folder, whole);
}

static const struct {
    const char *key;
    const char *type; /* as json_type() calls it */
} json_keys[] = {
    {"collective", "text"},
    {"algorithm", "text"},
    {"protocol", "null"},
    {"transport", "text"},
    {"model", "text"},
    {"topology", "text"},
    {"nodes", "integer"},
    {"ranks", "integer"},
    {"channels", "integer"},
    {"size_bytes", "integer"},
    {"count", "integer"},
    {"dtype", "text"},
    {"op", "text"},
    {"root", "integer"},
    {"time_us", "real"},
    {"algbw_GBps", "real"},
    {"busbw_GBps", "real"},
    {"bound_us", "real"},
    {"efficiency", "real"},
    {"bottleneck", "object"},
    {"bytes_sent_max", "integer"},
    {"flows", "integer"},
    {"engine", "text"},
    {"engine_reason", "text"},
    {"is_winner", "true"},
    {"run_id", "integer"},
};

START_TEST(json_has_every_key_of_the_contract)
{
    g_auto(CcsProgramRun) run = bench("allreduce -T cluster32 -b 1M -e 1M --format json");
    g_autofree char *schema = ccs_json_text(run.output, "$.schema");
    g_autofree char *types = ccs_json_types(run.output, "$.results[0]");

    assert_done(&run);
    ck_assert_str_eq(schema, "ccsim.result/1");
    for (size_t i = 0; i < G_N_ELEMENTS(json_keys); i++) {
        g_autofree char *line = g_strdup_printf("%s %s\n", json_keys[i].key, json_keys[i].type);
        assert_says(types, line);
    }
}
END_TEST

START_TEST(json_names_a_run_of_the_database)
{
    g_auto(CcsProgramRun) first = bench("allreduce -T nvlink8 -b 1M -e 1M --db my.db");
    g_auto(CcsProgramRun) run = bench("allreduce -T nvlink8 -b 1M -e 2M --db my.db --format json");
    g_autofree char *db = g_build_filename(folder, "my.db", NULL);
    g_autofree char *sql =
        g_strdup_printf("SELECT count(*) FROM complete_result WHERE run_id = %.0f",
                        ccs_json_number(run.output, "$.results[1].run_id"));

    assert_done(&first);
    assert_done(&run);
    ck_assert_double_eq(ccs_query_number(db, sql), 2);
}
END_TEST

START_TEST(json_names_the_limiting_link_and_its_class)
{
    g_auto(CcsProgramRun) run =
        bench("allreduce -T cluster32-1nic -b 1G -e 1G --format json --no-db");
    g_autofree char *link_class = ccs_json_text(run.output, "$.results[0].bottleneck.class");
    g_autofree char *link = ccs_json_text(run.output, "$.results[0].bottleneck.link");

    ck_assert_str_eq(link_class, "nic");
    assert_says(link, "nic0");
    ck_assert_double_eq_tol(ccs_json_number(run.output, "$.results[0].bottleneck.utilisation"), 1,
                            1e-6);
}
END_TEST

START_TEST(json_goes_to_a_file_beside_the_table)
{
    g_auto(CcsProgramRun) run = bench("allreduce -T nvlink8 -b 1K -e 2K -J out.json");
    g_autofree char *json = ccs_folder_read(folder, "out.json");

    assert_done(&run);
    assert_says(run.output, "busbw (GB/s)");
    ck_assert_double_eq(ccs_json_length(json, "$.results"), 2);
}
END_TEST

START_TEST(json_to_a_dash_goes_alone_to_stdout)
{
    g_auto(CcsProgramRun) run = bench("allreduce -T nvlink8 -b 1K -e 2K -J -");

    assert_done(&run);
    ck_assert_double_eq(ccs_json_length(run.output, "$.results"), 2);
    assert_none(folder, "-");
}
END_TEST

START_TEST(json_replaces_the_file_that_a_link_leads_to)
{
    write_file(folder, "real.json", "old");
    g_autofree char *link = g_build_filename(folder, "link.json", NULL);
    struct stat status;
    ck_assert_int_eq(symlink("real.json", link), 0);
    g_auto(CcsProgramRun) run = bench("allreduce -T nvlink8 -b 1K -e 1K -J link.json");
    g_autofree char *json = ccs_folder_read(folder, "real.json");

    assert_done(&run);
    ck_assert_double_eq(ccs_json_length(json, "$.results"), 1);
    ck_assert_int_eq(lstat(link, &status), 0);
    ck_assert(S_ISLNK(status.st_mode));
}
END_TEST

START_TEST(json_to_a_device_is_written_into_it)
{
    struct stat before;
    struct stat after;
    ck_assert_int_eq(stat("/dev/null", &before), 0);
    g_auto(CcsProgramRun) null = bench("allreduce -T nvlink8 -b 1K -e 1K -J /dev/null");
    g_auto(CcsProgramRun) full = bench("allreduce -T nvlink8 -b 1K -e 1K -J /dev/full");
    ck_assert_int_eq(stat("/dev/null", &after), 0);

    assert_done(&null);
    ck_assert(S_ISCHR(after.st_mode));
    ck_assert_uint_eq(before.st_ino, after.st_ino);
    assert_refused(&full, 4, "/dev/full: error: cannot be written: No space left on device");
}
END_TEST

START_TEST(ndjson_is_the_results_of_json_line_by_line)
{
    const char *line = "allreduce -T nvlink8 -b 1K -e 4K --db my.db --format ";
    g_autofree char *as_lines = g_strconcat(line, "ndjson", NULL);
    g_auto(CcsProgramRun) run = bench(as_lines);
    g_auto(GStrv) lines = g_strsplit(run.output, "\n", -1);
    g_autofree char *as_json = g_strconcat(line, "json", NULL);
    g_auto(CcsProgramRun) json = bench(as_json);
    g_autofree char *second = ccs_json_text(json.output, "$.results[1]");
    assert_done(&run);
    ck_assert_uint_eq(g_strv_length(lines), 4);
    ck_assert_str_eq(lines[3], "");
    *strrchr(second, ',') = '\0'; /* before the run_id, which is another one */
    ck_assert_msg(g_str_has_prefix(lines[1], second), "%s", lines[1]);
}
END_TEST

START_TEST(csv_has_the_names_of_json_and_one_line_per_result)
{
    g_auto(CcsProgramRun) run = bench("allgather -T nvlink8 -b 1K -e 2K --format csv");
    g_auto(GStrv) lines = g_strsplit(run.output, "\n", -1);

    assert_done(&run);
    ck_assert_str_eq(
        lines[0],
        "collective,algorithm,protocol,transport,model,topology,nodes,ranks,channels,"
        "chunks,size_bytes,count,dtype,op,root,time_us,time_digits,algbw_GBps,busbw_GBps,bound_us,"
        "bound,efficiency,bottleneck_class,bottleneck_link,bottleneck_utilisation,"
        "bytes_sent_max,flows,engine,engine_reason,is_winner,run_id");
    ck_assert_uint_eq(g_strv_length(lines), 4);
    assert_says(lines[1], "allgather,ring,,ideal,fluid,nvlink8,1,8,1,0,1024,32,float,,-1,0.0");
    ck_assert(g_str_has_suffix(lines[2], ",1"));
}
END_TEST

START_TEST(csv_leaves_empty_what_json_says_null_to)
{
    g_auto(CcsProgramRun) run =
        bench("allreduce -T nvlink8 --ranks 1 -b 1K -e 1K --format csv --no-db");

    assert_says(run.output, ",1.000000,,,,0,0,incremental,there are few messages,true,\n");
}
END_TEST

START_TEST(md_is_a_table_of_markdown)
{
    g_auto(CcsProgramRun) run = bench("allreduce -T nvlink8 -b 1K -e 2K --format md");
    g_auto(GStrv) lines = g_strsplit(run.output, "\n", -1);

    assert_done(&run);
    for (size_t i = 0; i < 4; i++)
        ck_assert_msg(lines[i][0] == '|' && g_str_has_suffix(lines[i], "|"), "%s", lines[i]);
    ck_assert_uint_eq(g_strv_length(lines), 5);
}
END_TEST

/* The rows of the output of nccl-tests, split into columns: (element-type char **). */
static GPtrArray *nccl_rows(const char *output)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    g_auto(GStrv) lines = g_strsplit(output, "\n", -1);

    for (size_t i = 0; lines[i] != NULL; i++) {
        if (lines[i][0] != '#' && lines[i][0] != '\0')
            g_ptr_array_add(rows, g_regex_split_simple(" +", g_strstrip(lines[i]), 0, 0));
    }
    return rows;
}

START_TEST(nccl_prints_the_rows_of_nccl_tests)
{
    g_auto(CcsProgramRun) run =
        bench("reducescatter -T nvlink8 -b 1M -e 2M -o max -d half --format nccl");
    g_autoptr(GPtrArray) rows = nccl_rows(run.output);
    const char *const *row = g_ptr_array_index(rows, 0);

    assert_done(&run);
    ck_assert_uint_eq(rows->len, 2);
    ck_assert_uint_eq(g_strv_length((char **)rows->pdata[0]), 13);
    ck_assert_str_eq(row[0], "1048576");
    ck_assert_str_eq(row[1], "65536");
    ck_assert_str_eq(row[2], "half");
    ck_assert_str_eq(row[3], "max");
    ck_assert_str_eq(row[4], "-1");
    ck_assert_str_eq(row[5], "3.06");
    ck_assert_str_eq(row[7], "300.00");
    ck_assert_str_eq(row[8], "N/A");
    ck_assert_str_eq(row[9], row[5]);
}
END_TEST

START_TEST(nccl_prints_the_head_and_foot_of_nccl_tests)
{
    g_auto(CcsProgramRun) run = bench("allreduce -T cluster32 -b 1M -e 4M --format nccl");
    g_auto(GStrv) ranks = g_strsplit(run.output, "\n#  Rank ", -1);

    ck_assert_uint_eq(g_strv_length(ranks), 33);
    assert_says(run.output, "# Collective test starting: all_reduce_perf\n");
    assert_says(run.output, "minBytes 1048576 maxBytes 4194304 step: 2(factor)");
    assert_says(run.output, "\n# Using devices\n");
    assert_says(run.output, " redop    root     time   algbw   busbw #wrong");
    assert_says(run.output, "\n# Out of bounds values : 0 OK\n# Avg bus bandwidth    : ");
}
END_TEST

START_TEST(nccl_prints_a_table_for_each_algorithm)
{
    g_auto(CcsProgramRun) run =
        bench("broadcast -T nvlink8 -A chain,binomial -b 1K -e 3K -i 1K --format nccl -r 2");
    g_autoptr(GPtrArray) rows = nccl_rows(run.output);
    g_auto(GStrv) tables = g_strsplit(run.output, "# Avg bus bandwidth", -1);
    const char *const *row = g_ptr_array_index(rows, 5);

    ck_assert_uint_eq(rows->len, 6);
    ck_assert_uint_eq(g_strv_length(tables), 3);
    ck_assert_str_eq(row[3], "none");
    ck_assert_str_eq(row[4], "2");
    assert_says(run.output, "algorithm binomial");
    assert_says(run.output, "step: 1024(bytes)");
}
END_TEST

START_TEST(verbose_shows_rate_and_use_of_each_class_of_links)
{
    g_auto(CcsProgramRun) run = bench("allreduce -T cluster32 -b 1G -e 1G -v");

    assert_done(&run);
    assert_says(run.output, "rate (GB/s)");
    assert_says(run.output, "busiest %");
    ck_assert(g_regex_match_simple("\n1073741824 .* nvlink .*\n", run.output, 0, 0));
    ck_assert(g_regex_match_simple("\n1073741824 .* nic .*\n", run.output, 0, 0));
    assert_says_not(run.output, "leaf-spine");
}
END_TEST

static const char *const formats_for_programs[] = {"csv", "json", "ndjson", "nccl"};

START_TEST(verbose_leaves_formats_for_programs_alone)
{
    const char *format = formats_for_programs[_i];
    g_autofree char *line =
        g_strdup_printf("allreduce -T nvlink8 -b 1K -e 2K --no-db --format %s", format);
    g_autofree char *verbose_line = g_strconcat(line, " -v", NULL);
    g_auto(CcsProgramRun) plain = bench(line);
    g_auto(CcsProgramRun) verbose = bench(verbose_line);

    assert_done(&plain);
    assert_status(&verbose, 0);
    ck_assert_str_eq(plain.output, verbose.output);
    assert_says(verbose.errors, "busiest %");
}
END_TEST

START_TEST(output_has_no_colour)
{
    g_auto(CcsProgramRun) run = ccs_program_run(&(CcsProgramCall){
        .args = (const char *const[]){"bench", "allreduce", "-T", "nvlink8", "-v", NULL},
        .environment = (const char *const[]){"NO_COLOR=1", "TERM=xterm-256color", NULL},
        .folder = folder,
    });

    assert_done(&run);
    assert_says_not(run.output, "\033");
}
END_TEST

START_TEST(numbers_have_their_point_in_every_locale)
{
    g_auto(CcsProgramRun) run = ccs_program_run(&(CcsProgramCall){
        .args = (const char *const[]){"bench", "allreduce", "-T", "nvlink8", "-b", "1M", "-e", "1M",
                                      NULL},
        .environment = (const char *const[]){"LC_ALL=de_DE.UTF-8", NULL},
        .folder = folder,
    });

    assert_done(&run);
    assert_says(run.output, "300.000");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("formats");
    TCase *tcase = tcase_create("formats");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, json_has_every_key_of_the_contract);
    tcase_add_test(tcase, json_names_a_run_of_the_database);
    tcase_add_test(tcase, json_names_the_limiting_link_and_its_class);
    tcase_add_test(tcase, json_goes_to_a_file_beside_the_table);
    tcase_add_test(tcase, json_to_a_dash_goes_alone_to_stdout);
    tcase_add_test(tcase, json_replaces_the_file_that_a_link_leads_to);
    tcase_add_test(tcase, json_to_a_device_is_written_into_it);
    tcase_add_test(tcase, ndjson_is_the_results_of_json_line_by_line);
    tcase_add_test(tcase, csv_has_the_names_of_json_and_one_line_per_result);
    tcase_add_test(tcase, csv_leaves_empty_what_json_says_null_to);
    tcase_add_test(tcase, md_is_a_table_of_markdown);
    tcase_add_test(tcase, nccl_prints_the_rows_of_nccl_tests);
    tcase_add_test(tcase, nccl_prints_the_head_and_foot_of_nccl_tests);
    tcase_add_test(tcase, nccl_prints_a_table_for_each_algorithm);
    tcase_add_test(tcase, verbose_shows_rate_and_use_of_each_class_of_links);
    tcase_add_loop_test(tcase, verbose_leaves_formats_for_programs_alone, 0,
                        G_N_ELEMENTS(formats_for_programs));
    tcase_add_test(tcase, output_has_no_colour);
    tcase_add_test(tcase, numbers_have_their_point_in_every_locale);
    suite_add_tcase(suite, tcase);
    return suite;
}
