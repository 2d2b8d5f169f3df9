#include "trace/trace.h"

#include <string.h>

#include <sqlite3.h>

#include "base/error.h"
#include "tests/support/check_main.h"
#include "tests/support/folder.h"
#include "tests/support/query.h"
#include "tests/support/sample_run.h"

static char *folder;
static char *path;
static CcsTopology *topology;
static CcsTrace *trace;
static int64_t run_id;

static void set_up(void)
{
    folder = ccs_folder_new();
    path = g_build_filename(folder, "runs.db", NULL);
    topology = sample_topology();
}

static void tear_down(void)
{
    g_clear_pointer(&trace, ccs_trace_free);
    g_clear_pointer(&topology, ccs_topology_free);
    g_clear_pointer(&path, g_free);
    g_clear_pointer(&folder, ccs_folder_remove);
}

static void begin(CcsTraceLevel level)
{
    trace = ccs_trace_open(path, level, NULL);
    ck_assert(trace != NULL);
    ck_assert(ccs_trace_begin_run(trace, "ccsim bench", "a title", &run_id, NULL));
}

static void add(const char *algorithm, CcsBytes size, CcsTime time)
{
    CcsResult result = sample_result(algorithm, size, time);
    ck_assert(sample_add_result(trace, topology, &result, 4, NULL));
}

static void end(void)
{
    ck_assert(ccs_trace_end_run(trace, NULL));
}

static void expect(const char *sql, const char *expected)
{
    g_autofree char *text = ccs_query_text(path, sql);
    ck_assert_msg(g_strcmp0(text, expected) == 0, "%s: %s, not %s", sql, text, expected);
}

START_TEST(a_level_is_read_by_its_name)
{
    g_autoptr(GError) error = NULL;
    CcsTraceLevel level = CCS_TRACE_NONE;

    ck_assert(ccs_trace_level_parse("steps", &level, NULL));
    ck_assert_int_eq(level, CCS_TRACE_STEPS);
    ck_assert_str_eq(ccs_trace_level_name(level), "steps");
    ck_assert(!ccs_trace_level_parse("flow", &level, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_USAGE));
    ck_assert(strstr(error->message, "did you mean 'flows'?") != NULL);
}
END_TEST

START_TEST(a_run_is_running_until_its_end_makes_it_complete)
{
    begin(CCS_TRACE_SUMMARY);
    expect("SELECT status FROM run", "running");
    add("ring", 1000, 4000000);
    expect("SELECT count(*) FROM last_run", "0");
    end();
    expect("SELECT status FROM run", "complete");
    expect("SELECT count(*) FROM last_run", "1");
    expect("SELECT title || '/' || command || '/' || trace_level FROM run",
           "a title/ccsim bench/summary");
}
END_TEST

START_TEST(a_run_that_is_not_ended_has_failed)
{
    begin(CCS_TRACE_NONE);
    g_clear_pointer(&trace, ccs_trace_free);
    expect("SELECT status FROM run", "failed");
}
END_TEST

START_TEST(a_run_that_fails_records_why)
{
    g_autoptr(GError) error = g_error_new(CCS_ERROR, CCS_ERROR_INTERRUPTED, "interrupted");

    begin(CCS_TRACE_NONE);
    ccs_trace_fail_run(trace, error);
    expect("SELECT status || '/' || error FROM run", "interrupted/interrupted");
}
END_TEST

START_TEST(every_member_of_a_result_is_found_again)
{
    begin(CCS_TRACE_FLOWS);
    add("ring", 1000, 4000000);
    end();
    expect("SELECT concat FROM (SELECT collective || ' ' || algorithm || ' ' || transport || ' ' ||"
           " model || ' ' || nodes || ' ' || ranks || ' ' || channels || ' ' || chunks || ' ' ||"
           " size_bytes || ' ' || count || ' ' || dtype || ' ' || op || ' ' || root AS concat"
           " FROM result)",
           "allreduce ring ideal fluid 1 2 1 0 1000 250 float sum -1");
    expect("SELECT time_ps || ' ' || time_us || ' ' || algbw_GBps || ' ' || busbw_GBps || ' ' ||"
           " bound_us || ' ' || bound || ' ' || efficiency || ' ' || bottleneck_class || ' ' ||"
           " bottleneck_link || ' ' || bottleneck_utilisation || ' ' || bytes_sent_max || ' ' ||"
           " flows || ' ' || engine || ' ' || engine_reason FROM result WHERE protocol IS NULL",
           "4000000 4.0 150.0 300.0 2.0 rank 0.5 nvlink n0.gpu1->n0.nvswitch 0.75 1000 4 "
           "incremental because");
}
END_TEST

START_TEST(a_topology_is_written_once)
{
    int64_t first = 0;
    int64_t second = 0;

    begin(CCS_TRACE_NONE);
    ck_assert(ccs_trace_add_topology(trace, topology, &first, NULL));
    ck_assert(ccs_trace_add_topology(trace, topology, &second, NULL));
    ck_assert_int_eq(first, second);
    expect("SELECT name || ' ' || nodes || ' ' || gpus || ' ' || vertices || ' ' || links"
           " FROM topology",
           "pair 1 2 3 4");
    expect("SELECT count(*) FROM vertex", "3");
    expect("SELECT name || ' ' || class || ' ' || bandwidth_GBps || ' ' || latency_us FROM link"
           " WHERE link_id = 3",
           "n0.nvswitch->n0.gpu1 nvlink 300.0 0.0015");
}
END_TEST

START_TEST(a_topology_with_another_rate_is_another_one)
{
    g_autoptr(CcsTopology) first = ccs_topology_new("t", "");
    g_autoptr(CcsTopology) second = ccs_topology_new("t", "");
    CcsTopology *both[] = {first, second};
    int64_t ids[2] = {0, 0};

    begin(CCS_TRACE_NONE);
    for (uint32_t i = 0; i < 2; i++) {
        CcsVertexId a = ccs_topology_add_vertex(both[i], CCS_VERTEX_GPU, "a", 0);
        CcsVertexId b = ccs_topology_add_vertex(both[i], CCS_VERTEX_GPU, "b", 0);
        ccs_topology_add_link(both[i], a, b, 0, i + 1, "nvlink");
        ccs_topology_seal(both[i]);
        ck_assert(ccs_trace_add_topology(trace, both[i], &ids[i], NULL));
    }
    ck_assert_int_ne(ids[0], ids[1]);
}
END_TEST

typedef struct {
    CcsTraceLevel level;
    const char *table;
    const char *n_rows;
} LevelRows;

static const LevelRows level_rows[] = {
    {CCS_TRACE_NONE, "result", "1"},          {CCS_TRACE_NONE, "rank_summary", "0"},
    {CCS_TRACE_NONE, "link_summary", "0"},    {CCS_TRACE_NONE, "step", "0"},
    {CCS_TRACE_SUMMARY, "result", "1"},       {CCS_TRACE_SUMMARY, "rank_summary", "2"},
    {CCS_TRACE_SUMMARY, "link_summary", "2"}, {CCS_TRACE_SUMMARY, "critical_path", "2"},
    {CCS_TRACE_SUMMARY, "step", "0"},         {CCS_TRACE_STEPS, "rank_summary", "2"},
    {CCS_TRACE_STEPS, "step", "2"},           {CCS_TRACE_STEPS, "flow_row", "0"},
    {CCS_TRACE_FLOWS, "step", "2"},           {CCS_TRACE_FLOWS, "flow_row", "4"},
};

START_TEST(a_level_writes_its_rows_and_no_others)
{
    const LevelRows *expected = &level_rows[_i];
    g_autofree char *sql = g_strdup_printf("SELECT count(*) FROM %s", expected->table);

    begin(expected->level);
    add("ring", 1000, 4000000);
    end();
    expect(sql, expected->n_rows);
}
END_TEST

START_TEST(a_flow_shows_its_gpus_and_phase)
{
    begin(CCS_TRACE_FLOWS);
    add("naive", 8, 1);
    add("ring", 1000, 4000000);
    end();
    expect("SELECT count(*) FROM flow WHERE result_id = 2", "4");
    expect("SELECT src_gpu || ' ' || dst_gpu || ' ' || phase || ' ' || bytes || ' ' || started_us"
           " || ' ' || arrived_us FROM flow WHERE result_id = 2 AND message = 1 AND lane = 1",
           "n0.gpu1 n0.gpu0 allgather 503 3.0 4.5");
}
END_TEST

START_TEST(more_flows_than_fit_into_a_portion_all_arrive)
{
    CcsResult result = sample_result("ring", 1000, 4000000);

    begin(CCS_TRACE_FLOWS);
    ck_assert(sample_add_result(trace, topology, &result, 100001, NULL));
    end();
    expect("SELECT count(*) || ' ' || sum(bytes - 500) FROM flow", "100001 5000050000");
}
END_TEST

START_TEST(the_flows_of_a_result_are_found_without_a_look_at_all_others)
{
    begin(CCS_TRACE_FLOWS);
    end();
    sqlite3_stmt *plan = NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    sqlite3 *db = NULL;

    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_prepare_v2(db, "EXPLAIN QUERY PLAN SELECT * FROM flow WHERE result_id = 1", -1, &plan,
                       NULL);
    while (sqlite3_step(plan) == SQLITE_ROW)
        g_string_append_printf(text, "%s\n", (const char *)sqlite3_column_text(plan, 3));
    sqlite3_finalize(plan);
    sqlite3_close(db);
    ck_assert_msg(strstr(text->str, "SCAN") == NULL, "%s", text->str);
}
END_TEST

START_TEST(deleting_a_run_deletes_all_that_hangs_on_it)
{
    static const char *const tables[] = {"result", "rank_summary", "link_summary", "critical_path",
                                         "phase",  "step",         "flow_row",     "param"};
    sqlite3 *db = NULL;

    begin(CCS_TRACE_FLOWS);
    add("ring", 1000, 4000000);
    end();
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA foreign_keys = on; DELETE FROM run", NULL, NULL, NULL);
    sqlite3_close(db);
    for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
        g_autofree char *sql = g_strdup_printf("SELECT count(*) FROM %s", tables[i]);
        expect(sql, "0");
    }
    expect("SELECT count(*) FROM pragma_foreign_key_check", "0");
}
END_TEST

START_TEST(no_row_lacks_the_row_that_it_refers_to)
{
    begin(CCS_TRACE_FLOWS);
    ck_assert(ccs_trace_add_param(
        trace, &(CcsParamRow){.path = "a", .value_text = "1 us", .kind = "given"}, NULL));
    add("ring", 1000, 4000000);
    end();
    expect("SELECT count(*) FROM pragma_foreign_key_check", "0");
    expect("SELECT count(*) FROM flow_row WHERE flow_id >> 32 NOT IN (SELECT result_id FROM"
           " result)",
           "0");
}
END_TEST

START_TEST(busiest_link_names_the_link_of_highest_utilisation)
{
    begin(CCS_TRACE_SUMMARY);
    add("ring", 1000, 4000000000);
    end();
    expect("SELECT link || ' ' || class || ' ' || round(utilisation, 6) || ' ' || peak_GBps ||"
           " ' ' || busy_us FROM busiest_link",
           "n0.gpu1->n0.nvswitch nvlink 0.5 1.0 2.0");
}
END_TEST

static void add_two_algorithms(void)
{
    add("ring", 1000, 8000000);
    add("tree", 1000, 2000000);
    add("ring", 2000, 8000000);
    add("tree", 2000, 9000000);
    add("tree", 4000, 99000000);
    add("ring", 4000, 9000000);
}

START_TEST(the_fastest_algorithm_of_each_size_is_the_best)
{
    begin(CCS_TRACE_NONE);
    add_two_algorithms();
    end();
    expect("SELECT group_concat(size_bytes || ' ' || algorithm, ', ') FROM (SELECT * FROM"
           " best_algorithm ORDER BY size_bytes)",
           "1000 tree, 2000 ring, 4000 ring");
    expect("SELECT group_concat(algorithm || ' ' || ratio_to_best, ', ') FROM compare"
           " WHERE size_bytes = 1000",
           "tree 1.0, ring 4.0");
}
END_TEST

START_TEST(crossover_is_where_the_best_algorithm_changes)
{
    begin(CCS_TRACE_NONE);
    add_two_algorithms();
    end();
    expect("SELECT count(*) FROM crossover", "1");
    expect("SELECT size_below_bytes || ' ' || algorithm_below || ' ' || size_bytes || ' ' ||"
           " algorithm FROM crossover",
           "1000 tree 2000 ring");
}
END_TEST

START_TEST(of_the_same_answer_given_twice_the_newest_counts)
{
    begin(CCS_TRACE_NONE);
    add("ring", 1000, 1000000);
    add("ring", 1000, 3000000);
    end();
    expect("SELECT group_concat(time_us) FROM compare", "3.0");
}
END_TEST

START_TEST(results_under_unlike_settings_are_not_compared)
{
    const CcsParamRow cost = {
        .path = "transport.message_cost", .value_text = "5 us", .kind = "given"};
    const CcsParamRow none = {
        .path = "transport.message_cost", .value_text = "0 us", .kind = "default"};

    begin(CCS_TRACE_NONE);
    ck_assert(ccs_trace_add_param(trace, &none, NULL));
    add("ring", 1000, 1000000);
    ck_assert(ccs_trace_add_param(trace, &cost, NULL));
    add("tree", 1000, 3000000);
    end();
    expect("SELECT count(*) FROM best_algorithm", "2");
    expect("SELECT settings FROM best_algorithm WHERE algorithm = 'tree'",
           "transport.message_cost = 5 us");
    expect("SELECT count(*) FROM param", "2");
}
END_TEST

START_TEST(last_run_is_the_newest_complete_one)
{
    begin(CCS_TRACE_NONE);
    add("ring", 1000, 1000000);
    end();
    ck_assert(ccs_trace_begin_run(trace, "second", NULL, &run_id, NULL));
    add("tree", 1000, 1000000);
    expect("SELECT group_concat(algorithm) FROM last_run", "ring");
    end();
    expect("SELECT group_concat(algorithm) FROM last_run", "tree");
}
END_TEST

START_TEST(json_holds_the_results_of_the_run)
{
    begin(CCS_TRACE_NONE);
    add("ring", 1000, 4000000);
    end();
    ck_assert(ccs_trace_begin_run(trace, "second", NULL, &run_id, NULL));
    add("tree", 2000, 4000000);
    g_autofree char *json = ccs_trace_run_json(trace, NULL);
    ck_assert_str_eq(
        json,
        "{\"schema\":\"ccsim.result/1\",\"title\":null,\"results\":[{\"case_title\":null,"
        "\"collective\":\"allreduce\","
        "\"algorithm\":\"tree\",\"protocol\":null,\"transport\":\"ideal\",\"model\":\"fluid\","
        "\"topology\":\"pair\",\"nodes\":1,\"ranks\":2,\"channels\":1,\"chunks\":0,"
        "\"size_bytes\":2000,\"count\":500,\"dtype\":\"float\",\"op\":\"sum\",\"root\":-1,"
        "\"time_us\":4.0,\"time_digits\":null,\"algbw_GBps\":150.0,"
        "\"busbw_GBps\":300.0,\"bound_us\":2.0,"
        "\"bound\":\"rank\",\"efficiency\":0.5,\"bottleneck\":{\"class\":\"nvlink\","
        "\"link\":\"n0.gpu1->n0.nvswitch\",\"utilisation\":0.75},\"bytes_sent_max\":2000,"
        "\"flows\":4,\"engine\":\"incremental\",\"engine_reason\":\"because\",\"is_winner\":true,"
        "\"estimates\":[],\"run_id\":2}]}");
}
END_TEST

START_TEST(json_says_null_where_there_is_nothing_to_name)
{
    CcsResult result = sample_result("ring", 0, 0);
    result.op = "none";
    result.bottleneck = CCS_NO_LINK;

    begin(CCS_TRACE_NONE);
    ck_assert(sample_add_result(trace, topology, &result, 0, NULL));
    g_autofree char *json = ccs_trace_run_json(trace, NULL);
    ck_assert(strstr(json, "\"op\":null,") != NULL);
    ck_assert(strstr(json, "\"bottleneck\":null,") != NULL);
    end();
    g_autofree char *after_the_end = ccs_trace_run_json(trace, NULL);
    ck_assert_str_eq(json, after_the_end);
}
END_TEST

START_TEST(a_run_without_results_is_an_empty_list_in_json)
{
    begin(CCS_TRACE_NONE);
    g_autofree char *json = ccs_trace_run_json(trace, NULL);
    ck_assert_str_eq(json, "{\"schema\":\"ccsim.result/1\",\"title\":\"a title\",\"results\":[]}");
}
END_TEST

START_TEST(a_database_in_memory_works_alike)
{
    trace = ccs_trace_open(NULL, CCS_TRACE_FLOWS, NULL);
    ck_assert(ccs_trace_begin_run(trace, "ccsim bench", NULL, &run_id, NULL));
    add("ring", 1000, 4000000);
    g_autofree char *json = ccs_trace_run_json(trace, NULL);
    ck_assert(strstr(json, "\"algorithm\":\"ring\"") != NULL);
    end();
}
END_TEST

static void append_rows(GString *text, sqlite3 *db, const char *table)
{
    g_autofree char *sql = g_strdup_printf("SELECT * FROM %s", table);
    sqlite3_stmt *rows = NULL;

    sqlite3_prepare_v2(db, sql, -1, &rows, NULL);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        g_string_append(text, table);
        for (int i = 0; i < sqlite3_column_count(rows); i++)
            g_string_append_printf(text, "|%s", (const char *)sqlite3_column_text(rows, i));
        g_string_append_c(text, '\n');
    }
    sqlite3_finalize(rows);
}

/* All tables but that of the runs, which hold times of day. */
static char *contents(const char *file)
{
    GString *text = g_string_new(NULL);
    sqlite3_stmt *tables = NULL;
    sqlite3 *db = NULL;

    sqlite3_open(file, &db);
    sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'run'",
                       -1, &tables, NULL);
    while (sqlite3_step(tables) == SQLITE_ROW)
        append_rows(text, db, (const char *)sqlite3_column_text(tables, 0));
    sqlite3_finalize(tables);
    sqlite3_close(db);
    return g_string_free(text, FALSE);
}

START_TEST(the_same_input_makes_the_same_database)
{
    g_autofree char *other = g_build_filename(folder, "other.db", NULL);

    ck_assert(sample_write_run(path, CCS_TRACE_FLOWS, 1000, NULL));
    ck_assert(sample_write_run(other, CCS_TRACE_FLOWS, 1000, NULL));
    g_autofree char *first = contents(path);
    g_autofree char *second = contents(other);
    ck_assert_uint_gt(strlen(first), 10000);
    ck_assert_str_eq(first, second);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("trace");
    TCase *tcase = tcase_create("trace");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_level_is_read_by_its_name);
    tcase_add_test(tcase, a_run_is_running_until_its_end_makes_it_complete);
    tcase_add_test(tcase, a_run_that_is_not_ended_has_failed);
    tcase_add_test(tcase, a_run_that_fails_records_why);
    tcase_add_test(tcase, every_member_of_a_result_is_found_again);
    tcase_add_test(tcase, a_topology_is_written_once);
    tcase_add_test(tcase, a_topology_with_another_rate_is_another_one);
    tcase_add_loop_test(tcase, a_level_writes_its_rows_and_no_others, 0, G_N_ELEMENTS(level_rows));
    tcase_add_test(tcase, a_flow_shows_its_gpus_and_phase);
    tcase_add_test(tcase, more_flows_than_fit_into_a_portion_all_arrive);
    tcase_add_test(tcase, the_flows_of_a_result_are_found_without_a_look_at_all_others);
    tcase_add_test(tcase, deleting_a_run_deletes_all_that_hangs_on_it);
    tcase_add_test(tcase, no_row_lacks_the_row_that_it_refers_to);
    tcase_add_test(tcase, busiest_link_names_the_link_of_highest_utilisation);
    tcase_add_test(tcase, the_fastest_algorithm_of_each_size_is_the_best);
    tcase_add_test(tcase, crossover_is_where_the_best_algorithm_changes);
    tcase_add_test(tcase, of_the_same_answer_given_twice_the_newest_counts);
    tcase_add_test(tcase, results_under_unlike_settings_are_not_compared);
    tcase_add_test(tcase, last_run_is_the_newest_complete_one);
    tcase_add_test(tcase, json_holds_the_results_of_the_run);
    tcase_add_test(tcase, json_says_null_where_there_is_nothing_to_name);
    tcase_add_test(tcase, a_run_without_results_is_an_empty_list_in_json);
    tcase_add_test(tcase, a_database_in_memory_works_alike);
    tcase_add_test(tcase, the_same_input_makes_the_same_database);
    suite_add_tcase(suite, tcase);
    return suite;
}
