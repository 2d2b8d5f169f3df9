/* ccsim bench: its options, and what it says of those that have no effect. */
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

/* The value at @place of the JSON results of "ccsim bench LINE". */
static double value(const char *line, const char *place)
{
    g_autofree char *with_format = g_strconcat(line, " --format json", NULL);
    g_auto(CcsProgramRun) run = bench(with_format);

    assert_status(&run, 0);
    return ccs_json_number(run.output, place);
}

/* The sizes of "ccsim bench LINE", with blanks between. */
static char *sizes_of(const char *line)
{
    g_autofree char *whole = g_strconcat("allreduce -T nvlink8 --format csv ", line, NULL);
    g_auto(CcsProgramRun) run = bench(whole);
    g_auto(GStrv) lines = g_strsplit(g_strchomp(run.output), "\n", -1);
    g_auto(GStrv) names = g_strsplit(lines[0], ",", -1);
    GString *sizes = g_string_new(NULL);
    guint column = 0;

    assert_status(&run, 0);
    while (strcmp(names[column], "size_bytes") != 0)
        column++;
    for (size_t i = 1; lines[i] != NULL; i++) {
        g_auto(GStrv) cells = g_strsplit(lines[i], ",", -1);
        g_string_append_printf(sizes, "%s%s", i > 1 ? " " : "", cells[column]);
    }
    return g_string_free(sizes, false);
}

START_TEST(sizes_double_from_8_bytes_to_8_gib)
{
    g_autofree char *by_default = sizes_of("");
    g_autofree char *given = sizes_of("-b 8 -e 8G -f 2");
    g_auto(GStrv) sizes = g_strsplit(given, " ", -1);

    ck_assert_uint_eq(g_strv_length(sizes), 31);
    ck_assert_str_eq(sizes[0], "8");
    ck_assert_str_eq(sizes[30], "8589934592");
    ck_assert_str_eq(by_default, given);
}
END_TEST

static const struct {
    const char *line;
    const char *sizes;
} good_sizes[] = {
    {"-b 1K -e 16K -f 4", "1024 4096 16384"},
    {"-b 1K -e 10K -f 3", "1024 3072 9216"},
    {"-b 1K -e 2K -i 512", "1024 1536 2048"},
    {"-b 1K -e 2K -i 1000", "1024 2024"},
    {"-b 0.5K -e 0.5K", "512"},
    {"-b 1.5G -e 1.5G", "1610612736"},
    {"-b 4KiB -e '8 KiB'", "4096 8192"},
    {"-b 3 -e 3", "3"},
    {"-b 0 -e 4", "0 1 2 4"},
    {"-b 16G", "17179869184"},
    {"-b 1T -e 1T", "1099511627776"},
    {"--minbytes 1M --maxbytes 4M --stepfactor 2", "1048576 2097152 4194304"},
    {"--minbytes=1M --maxbytes=2M --stepbytes=1M", "1048576 2097152"},
};

START_TEST(sizes_grow_as_they_are_asked_to)
{
    g_autofree char *sizes = sizes_of(good_sizes[_i].line);

    ck_assert_str_eq(sizes, good_sizes[_i].sizes);
}
END_TEST

static const struct {
    const char *line;
    const char *message;
} bad_options[] = {
    {"-b 10MB", "MB can mean 1000^2 or 1024^2 bytes"},
    {"-e 10MB", "-e must be a size such as 4 MiB, not '10MB'"},
    {"-b -1", "-b must be a size such as 4 MiB, not '-1' (it cannot be negative)"},
    {"-b nan", "not 'nan'"},
    {"-b inf", "not 'inf'"},
    {"-b ''", "not ''"},
    {"-b 1e3", "not '1e3'"},
    {"-b 0x10", "not '0x10'"},
    {"-b '1 K 2'", "not '1 K 2'"},
    {"-b 99999999999G", "at most 1024 TiB"},
    {"-b 2K -e 1K", "the smallest size, 2048 B, is above the largest, 1024 B"},
    {"-f 1", "-f must be at least 2, not 1"},
    {"-f 0", "-f must be at least 2, not 0"},
    {"-f -2", "-f must be at least 2, not -2"},
    {"-f 1.5", "1.5"},
    {"-i 0", "-i must be above 0"},
    {"-i 1", "-i 1 makes more than 100000 sizes"},
    {"-i 1M -f 2", "-f and -i exclude each other"},
    {"--channels 0", "--channels must be from 1 to 1024, not 0"},
    {"--channels -1", "--channels must be from 1 to 1024, not -1"},
    {"--channels 1025", "--channels must be from 1 to 1024, not 1025"},
    {"--channels 99999999999", "99999999999"},
    {"--chunks 0", "--chunks must be from 1 to"},
    {"--nodes 0", "--nodes must be from 1 to"},
    {"--ranks 0", "--ranks must be from 1 to"},
    {"--ranks -8", "--ranks must be from 1 to"},
    {"--ranks-per-node 0", "--ranks-per-node must be from 1 to"},
    {"-r 8", "-r must be a rank from 0 to 7, not 8"},
    {"-r -1", "-r must be a rank from 0 to 7, not -1"},
    {"-A ''", "allreduce has no algorithm ''; it has: "},
    {"-A ring,", "allreduce has no algorithm ''"},
    {"--db x.db --no-db", "--db and --no-db exclude each other"},
    {"-J - --format csv", "-J - and --format csv exclude each other"},
};

START_TEST(a_value_out_of_range_is_wrong_usage)
{
    g_autofree char *line = g_strconcat("allreduce -T nvlink8 ", bad_options[_i].line, NULL);
    g_auto(CcsProgramRun) run = bench(line);

    assert_refused(&run, 2, bad_options[_i].message);
    assert_none(folder, "");
}
END_TEST

START_TEST(op_type_and_root_are_those_asked_for)
{
    g_auto(CcsProgramRun) one =
        bench("broadcast -T nvlink8 -b 1K -e 1K -d half -r 3 --format json");
    g_auto(CcsProgramRun) two = bench("all_reduce -T nvlink8 -b 1K -e 1K -o max --format json");
    g_auto(CcsProgramRun) three =
        bench("all-gather -T nvlink8 -b 1K -e 1K --datatype double --format json");
    g_autofree char *type = ccs_json_text(one.output, "$.results[0].dtype");
    g_autofree char *op = ccs_json_text(two.output, "$.results[0].op");

    ck_assert_str_eq(type, "half");
    ck_assert_double_eq(ccs_json_number(one.output, "$.results[0].count"), 512);
    ck_assert_double_eq(ccs_json_number(one.output, "$.results[0].root"), 3);
    ck_assert_str_eq(op, "max");
    ck_assert_double_eq(ccs_json_number(three.output, "$.results[0].count"), 16);
}
END_TEST

START_TEST(each_algorithm_named_has_its_results)
{
    g_auto(CcsProgramRun) all = bench("broadcast -T nvlink8 -A all -b 1K -e 2K --format json");
    g_auto(CcsProgramRun) list =
        bench("broadcast -T nvlink8 -A 'binomial, auto,chain' -b 1K -e 1K --format json");
    g_auto(CcsProgramRun) names = ccs_program_run_line(folder, "list algorithms --format json");
    g_autofree char *first = ccs_json_text(list.output, "$.results[0].algorithm");
    g_autofree char *second = ccs_json_text(list.output, "$.results[1].algorithm");
    double n = 0;

    for (int i = 0; i < (int)ccs_json_length(names.output, "$"); i++) {
        g_autofree char *place = g_strdup_printf("$[%d].of", i);
        g_autofree char *of = ccs_json_text(names.output, place);
        n += strcmp(of, "broadcast") == 0;
    }
    ck_assert_double_eq(ccs_json_length(all.output, "$.results"), 2 * n);
    ck_assert_double_eq(ccs_json_length(list.output, "$.results"), 2);
    ck_assert_str_eq(first, "binomial");
    ck_assert_str_eq(second, "chain");
}
END_TEST

START_TEST(channels_and_chunks_are_those_asked_for)
{
    const char *line = "broadcast -T cluster32 -b 1M -e 1M --channels 3 --chunks 5";

    ck_assert_double_eq(value(line, "$.results[0].channels"), 3);
    ck_assert_double_eq(value(line, "$.results[0].chunks"), 5);
    ck_assert_double_eq(value("allreduce -T cluster32 -b 1M -e 1M", "$.results[0].channels"), 8);
    ck_assert_double_eq(value("allreduce -T nvlink8 -b 1M -e 1M", "$.results[0].channels"), 1);
    ck_assert_double_eq(value("broadcast -T nvlink8 -b 1M -e 1M", "$.results[0].chunks"), 64);
}
END_TEST

START_TEST(the_job_takes_as_much_of_the_machine_as_asked_for)
{
    ck_assert_double_eq(value("allreduce -T cluster32 --nodes 2 -b 1M -e 1M", "$.results[0].ranks"),
                        16);
    ck_assert_double_eq(
        value("allreduce -T cluster32 --ranks 12 -b 1M -e 1M", "$.results[0].nodes"), 2);
    ck_assert_double_eq(
        value("allreduce -T cluster32 --ranks-per-node 3 -b 1M -e 1M", "$.results[0].ranks"), 12);
}
END_TEST

START_TEST(set_changes_a_value_of_topology_or_transport)
{
    const char *line = "allreduce -T nvlink8 -b 1M -e 1M ";
    g_autofree char *halved = g_strconcat(line, "--set node.nvlink.bandwidth='150 GB/s'", NULL);
    g_autofree char *launched = g_strconcat(line, "--set transport.launch='7 us'", NULL);
    double time = value(line, "$.results[0].time_us");

    ck_assert_double_eq_tol(value(halved, "$.results[0].time_us"), 2 * time, 1e-4);
    ck_assert_double_eq_tol(value(launched, "$.results[0].time_us"), 7 + time, 1e-4);
}
END_TEST

START_TEST(a_topology_and_a_transport_may_be_files)
{
    write_file(folder, "my.yaml", "node: {gpus: 2, nvlink: {bandwidth: 100 GB/s}}\n");
    write_file(folder, "slow.yaml", "name: slow\nlaunch: 3 us\n");
    g_auto(CcsProgramRun) run =
        bench("broadcast -T my.yaml --transport slow.yaml -b 100K -e 100K --format json");
    g_autofree char *name = ccs_json_text(run.output, "$.results[0].topology");
    g_autofree char *with = ccs_json_text(run.output, "$.results[0].transport");

    assert_done(&run);
    ck_assert_str_eq(name, "my");
    ck_assert_str_eq(with, "slow");
    ck_assert_double_eq_tol(ccs_json_number(run.output, "$.results[0].time_us"), 3 + 1.024, 1e-4);
}
END_TEST

START_TEST(a_topology_may_come_from_stdin)
{
    g_auto(CcsProgramRun) run = ccs_program_run(&(CcsProgramCall){
        .args = (const char *const[]){"bench", "allreduce", "-T", "-", "-b", "1M", "-e", "1M",
                                      "--format", "json", NULL},
        .input = "name: piped\nnode: {gpus: 4, nvlink: {bandwidth: 100 GB/s}}\n",
        .folder = folder,
    });
    g_autofree char *name = ccs_json_text(run.output, "$.results[0].topology");

    assert_done(&run);
    ck_assert_str_eq(name, "piped");
}
END_TEST

static const char *const collectives[] = {"allreduce", "allgather", "reducescatter",
                                          "alltoall",  "broadcast", "sendrecv"};

START_TEST(one_rank_takes_no_time_and_has_no_bandwidth)
{
    g_autofree char *line = g_strdup_printf(
        "%s -T nvlink8 --ranks 1 -A all -b 0 -e 1M -f 1024 --format json", collectives[_i]);
    g_auto(CcsProgramRun) run = bench(line);
    int n = (int)ccs_json_length(run.output, "$.results");

    assert_status(&run, 0);
    assert_says(run.errors, "note: one rank has nobody to talk to: nothing is sent");
    assert_says_not(run.output, "nan");
    assert_says_not(run.output, "inf");
    ck_assert_int_ge(n, 4);
    for (int i = 0; i < n; i++) {
        g_autofree char *of = g_strdup_printf("$.results[%d]", i);
        g_autofree char *row = ccs_json_text(run.output, of);
        ck_assert_double_eq(ccs_json_number(row, "$.time_us"), 0);
        ck_assert_double_eq(ccs_json_number(row, "$.busbw_GBps"), 0);
        ck_assert_double_eq(ccs_json_number(row, "$.efficiency"), 1);
        ck_assert_double_eq(ccs_json_number(row, "$.flows"), 0);
        ck_assert_ptr_null(ccs_json_text(row, "$.bottleneck"));
        assert_says(row, "\"bottleneck\":null");
    }
}
END_TEST

START_TEST(one_rank_takes_the_launch_cost)
{
    const char *line = "allreduce -T nvlink8 --ranks 1 -b 1M -e 1M --set transport.launch='2 us'";

    ck_assert_double_eq(value(line, "$.results[0].time_us"), 2);
    ck_assert_double_eq(value(line, "$.results[0].busbw_GBps"), 0);
    ck_assert_double_eq(value(line, "$.results[0].efficiency"), 1);
}
END_TEST

START_TEST(size_0_has_efficiency_1_without_latency)
{
    const char *line = "allreduce -T nvlink8 -b 0 -e 0";

    ck_assert_double_eq(value(line, "$.results[0].time_us"), 0);
    ck_assert_double_eq(value(line, "$.results[0].efficiency"), 1);
    ck_assert_double_eq(value(line, "$.results[0].algbw_GBps"), 0);
}
END_TEST

START_TEST(no_db_leaves_no_file)
{
    g_auto(CcsProgramRun) run = bench("allreduce -T nvlink8 -b 1K -e 1K --no-db --format json");

    assert_done(&run);
    assert_none(folder, "");
    assert_says(run.output, "\"run_id\":null");
}
END_TEST

START_TEST(the_database_is_where_option_variable_or_default_say)
{
    static const char *const args[] = {"bench", "allreduce", "-T",   "nvlink8",   "-b", "8",
                                       "-e",    "8",         "--db", "option.db", NULL};
    g_autofree const char **without_option =
        g_memdup2(args, sizeof args); /* up to the option, see below */
    static const char *const variable[] = {"CCSIM_DB=variable.db", NULL};
    without_option[8] = NULL;

    g_auto(CcsProgramRun) one =
        ccs_program_run(&(CcsProgramCall){.args = args, .environment = variable, .folder = folder});
    assert_done(&one);
    assert_none(folder, "variable.db");
    assert_none(folder, "ccsim.db");
    g_auto(CcsProgramRun) two = ccs_program_run(
        &(CcsProgramCall){.args = without_option, .environment = variable, .folder = folder});
    assert_done(&two);
    assert_none(folder, "ccsim.db");
    g_auto(CcsProgramRun) three =
        ccs_program_run(&(CcsProgramCall){.args = without_option, .folder = folder});
    assert_done(&three);
    static const char *const names[] = {"option.db", "variable.db", "ccsim.db"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        ck_assert_double_eq(ccs_query_number(path, "SELECT count(*) FROM last_run"), 1);
    }
}
END_TEST

START_TEST(trace_level_is_recorded)
{
    static const char *const levels[] = {"none", "summary", "steps", "flows"};
    g_autofree char *line =
        g_strdup_printf("allreduce -T nvlink8 -b 1K -e 1K --trace %s", levels[_i]);
    g_auto(CcsProgramRun) run = bench(line);
    g_autofree char *db = g_build_filename(folder, "ccsim.db", NULL);
    g_autofree char *level = ccs_query_text(db, "SELECT trace_level FROM run");

    assert_done(&run);
    ck_assert_str_eq(level, levels[_i]);
}
END_TEST

static const struct {
    const char *line;
    const char *warning;
} without_effect[] = {
    {"allreduce -T nvlink8 --chunks 4", "--chunks has no effect: none of the algorithms"},
    {"allreduce -T nvlink8 -r 1", "-r has no effect: allreduce has no root"},
    {"allgather -T nvlink8 -o sum", "-o has no effect: allgather does not reduce"},
    {"alltoall -T nvlink8 --set transport.reduce_rate='1 GB/s'",
     "transport.reduce_rate has no effect: alltoall does not reduce"},
    {"allreduce -T cluster32 --ranks 4",
     "all ranks sit on one node: the network between nodes is not used"},
    {"allreduce -T cluster32 --ranks 4 --set node.nics.bandwidth='1 GB/s'",
     "node.nics.bandwidth has no effect: nothing crosses a link of class nic"},
    {"allreduce -T cluster32 --set fabric.oversubscription=4",
     "fabric.oversubscription has no effect: nothing crosses a link of class leaf-spine"},
    {"allreduce -T nvlink8 --no-db --trace flows",
     "--trace has no effect: --no-db records nothing"},
};

START_TEST(what_has_no_effect_is_said)
{
    g_autofree char *line = g_strconcat(without_effect[_i].line, " -b 1M -e 1M", NULL);
    g_auto(CcsProgramRun) run = bench(line);

    assert_status(&run, 0);
    assert_says(run.errors, without_effect[_i].warning);
    assert_says(run.output, "1048576");
}
END_TEST

START_TEST(a_model_that_shares_no_links_may_beat_the_bound)
{
    g_auto(CcsProgramRun) run =
        bench("alltoall -A direct -T cluster32 -b 1M -e 1M --model loggp --format json");
    g_autofree char *model = ccs_json_text(run.output, "$.results[0].model");

    assert_status(&run, 0);
    assert_says(run.errors, "note: model loggp shares no links");
    ck_assert_str_eq(model, "loggp");
    ck_assert_double_gt(ccs_json_number(run.output, "$.results[0].efficiency"), 1);
    ck_assert_double_gt(ccs_json_number(run.output, "$.results[0].bottleneck.utilisation"), 1);
}
END_TEST

static const char *const with_effect[] = {
    "broadcast -T nvlink8 --chunks 4",
    "broadcast -T nvlink8 -A all --chunks 4",
    "broadcast -T nvlink8 -r 1",
    "allreduce -T nvlink8 -o max",
    "allreduce -T nvlink8 --set transport.reduce_rate='1 GB/s'",
    "broadcast -T nvlink8 --set transport.synchronous=true",
    "allreduce -T cluster32 --set node.nics.bandwidth='1 GB/s'",
    "allreduce -T cluster32 --set node.nvlink.latency='1 us'",
    "alltoall -T cluster32 --set fabric.oversubscription=4",
    "allreduce -T nvlink8 --trace flows",
};

START_TEST(what_has_an_effect_needs_no_word)
{
    g_autofree char *line = g_strconcat(with_effect[_i], " -b 1M -e 1M", NULL);
    g_auto(CcsProgramRun) run = bench(line);

    assert_done(&run);
}
END_TEST

/* One of 128 NICs is slow. */
#define SLOW_NIC                                                                                   \
    " -T cluster32 --nodes 16 --channels 1 -b 1G -e 1G --set 'faults=[{kind: link, "               \
    "from: n1.nic0, to: leaf0, bandwidth_factor: 0.5}]' "

START_TEST(a_probe_tells_stable_times_from_chaotic_ones)
{
    static const char digits[] = "$.results[0].time_digits";
    g_auto(CcsProgramRun) table = bench("allreduce -T nvlink8 -b 1G -e 1G --probe");
    g_auto(CcsProgramRun) without = bench("allreduce -T nvlink8 -b 1G -e 1G --format json");

    ck_assert_double_ge(value("allreduce -A ring --probe" SLOW_NIC, digits), 8);
    ck_assert_double_le(value("alltoall -A pairwise_eager --probe" SLOW_NIC, digits), 4);
    assert_done(&table);
    assert_says(table.output, " digits ");
    assert_says(without.output, "\"time_digits\":null");
}
END_TEST

START_TEST(a_probe_changes_neither_the_time_nor_what_is_recorded)
{
    static const char line[] = "allreduce -T nvlink8 -b 1M -e 4M --trace flows";
    g_autofree char *probed = g_strconcat(line, " --probe", NULL);
    g_auto(CcsProgramRun) without = bench(line);
    g_auto(CcsProgramRun) with = bench(probed);
    g_autofree char *db = g_build_filename(folder, "ccsim.db", NULL);

    assert_done(&without);
    assert_done(&with);
    ck_assert_double_eq(ccs_query_number(db, "SELECT count(DISTINCT time_ps) FROM result"), 3);
    ck_assert_double_eq(ccs_query_number(db, "SELECT count(time_digits) FROM result"), 3);
    ck_assert_double_eq(ccs_query_number(db, "SELECT count(*) % 2 FROM flow"), 0);
    ck_assert_double_eq(
        ccs_query_number(db, "SELECT count(*) FROM (SELECT run_id, count(*) AS n FROM flow JOIN"
                             " result USING (result_id) GROUP BY run_id) GROUP BY n"),
        2);
}
END_TEST

START_TEST(nccl_tests_have_no_place_for_a_probe)
{
    g_auto(CcsProgramRun) run = bench("allreduce -T nvlink8 -b 8 -e 8 --probe --format nccl");

    assert_status(&run, 0);
    assert_says(run.errors, "--probe shows nothing");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("bench");
    TCase *tcase = tcase_create("bench");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, sizes_double_from_8_bytes_to_8_gib);
    tcase_add_loop_test(tcase, sizes_grow_as_they_are_asked_to, 0, G_N_ELEMENTS(good_sizes));
    tcase_add_loop_test(tcase, a_value_out_of_range_is_wrong_usage, 0, G_N_ELEMENTS(bad_options));
    tcase_add_test(tcase, op_type_and_root_are_those_asked_for);
    tcase_add_test(tcase, each_algorithm_named_has_its_results);
    tcase_add_test(tcase, channels_and_chunks_are_those_asked_for);
    tcase_add_test(tcase, the_job_takes_as_much_of_the_machine_as_asked_for);
    tcase_add_test(tcase, set_changes_a_value_of_topology_or_transport);
    tcase_add_test(tcase, a_topology_and_a_transport_may_be_files);
    tcase_add_test(tcase, a_topology_may_come_from_stdin);
    tcase_add_loop_test(tcase, one_rank_takes_no_time_and_has_no_bandwidth, 0,
                        G_N_ELEMENTS(collectives));
    tcase_add_test(tcase, one_rank_takes_the_launch_cost);
    tcase_add_test(tcase, size_0_has_efficiency_1_without_latency);
    tcase_add_test(tcase, a_model_that_shares_no_links_may_beat_the_bound);
    tcase_add_test(tcase, no_db_leaves_no_file);
    tcase_add_test(tcase, the_database_is_where_option_variable_or_default_say);
    tcase_add_loop_test(tcase, trace_level_is_recorded, 0, 4);
    tcase_add_loop_test(tcase, what_has_no_effect_is_said, 0, G_N_ELEMENTS(without_effect));
    tcase_add_loop_test(tcase, what_has_an_effect_needs_no_word, 0, G_N_ELEMENTS(with_effect));
    tcase_add_test(tcase, a_probe_tells_stable_times_from_chaotic_ones);
    tcase_add_test(tcase, a_probe_changes_neither_the_time_nor_what_is_recorded);
    tcase_add_test(tcase, nccl_tests_have_no_place_for_a_probe);
    suite_add_tcase(suite, tcase);
    return suite;
}
