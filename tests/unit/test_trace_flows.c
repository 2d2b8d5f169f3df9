/* In which form the flows of a result are kept. */
#include <sqlite3.h>

#include "base/error.h"
#include "tests/support/check_main.h"
#include "tests/support/folder.h"
#include "tests/support/query.h"
#include "tests/support/sample_run.h"

static char *folder;
static char *path;

static void set_up(void)
{
    folder = ccs_folder_new();
    path = g_build_filename(folder, "runs.db", NULL);
}

static void tear_down(void)
{
    g_clear_pointer(&path, g_free);
    g_clear_pointer(&folder, ccs_folder_remove);
}

static void expect(const char *sql, const char *expected)
{
    g_autofree char *text = ccs_query_text(path, sql);
    ck_assert_msg(g_strcmp0(text, expected) == 0, "%s: %s, not %s", sql, text, expected);
}

static void write_run(uint32_t n_flows, CcsPacking packing)
{
    ck_assert(sample_write_run_packing(path, CCS_TRACE_FLOWS, n_flows, packing, NULL));
}

static const struct {
    CcsPacking packing;
    uint32_t n_flows;
    const char *forms; /* rows, chunks */
} cases[] = {
    {CCS_PACK_AUTO, 0, "0 0"},
    {CCS_PACK_AUTO, 1, "1 0"},
    {CCS_PACK_AUTO, CCS_PACKED_FROM, "131072 0"},
    {CCS_PACK_AUTO, CCS_PACKED_FROM + 1, "0 3"},
    {CCS_PACK_AUTO, 3 * 65536, "0 3"},
    {CCS_PACK_ALWAYS, 0, "0 0"},
    {CCS_PACK_ALWAYS, 1, "0 1"},
    {CCS_PACK_ALWAYS, 65536, "0 1"},
    {CCS_PACK_ALWAYS, 65537, "0 2"},
    {CCS_PACK_NEVER, 140000, "140000 0"},
};

START_TEST(flows_are_packed_where_they_are_many_or_as_asked)
{
    g_autofree char *n_flows = g_strdup_printf("%u", cases[_i].n_flows);
    g_autofree char *ids = g_strdup_printf("%u", MAX(cases[_i].n_flows, 1) - 1);

    write_run(cases[_i].n_flows, cases[_i].packing);
    expect("SELECT (SELECT count(*) FROM flow_row) || ' ' || (SELECT count(*) FROM flow_chunk)",
           cases[_i].forms);
    expect("SELECT count(*) FROM flow", n_flows);
    expect("SELECT count(DISTINCT flow_id) FROM flow", n_flows);
    expect("SELECT ifnull(max(flow_id) - (1 << 32), 0) FROM flow", ids);
}
END_TEST

START_TEST(a_file_in_which_nothing_is_packed_needs_no_module)
{
    write_run(100, CCS_PACK_AUTO);
    expect("SELECT type FROM sqlite_schema WHERE name = 'flow_any'", "view");
    write_run(100, CCS_PACK_ALWAYS);
    expect("SELECT type FROM sqlite_schema WHERE name = 'flow_any'", "table");
    write_run(100, CCS_PACK_AUTO);
    expect("SELECT group_concat(n) FROM (SELECT count(*) AS n FROM flow GROUP BY result_id)",
           "100,100,100");
}
END_TEST

START_TEST(a_small_result_after_a_large_one_is_not_packed)
{
    g_autoptr(CcsTopology) topology = sample_topology();
    g_autoptr(CcsTrace) trace = ccs_trace_open(path, CCS_TRACE_FLOWS, NULL);
    CcsResult result = sample_result("ring", 1000, 4000000);
    int64_t run_id = 0;

    ck_assert(ccs_trace_begin_run(trace, "", NULL, &run_id, NULL));
    ck_assert(sample_add_result(trace, topology, &result, 140000, NULL));
    ck_assert(sample_add_result(trace, topology, &result, 10, NULL));
    ck_assert(ccs_trace_end_run(trace, NULL));
    expect("SELECT count(*) FROM flow_row", "10");
    expect("SELECT sum(flows) FROM flow_chunk", "140000");
}
END_TEST

/* As they were before flows could be packed. */
static void make_old(void)
{
    sqlite3 *db = NULL;

    ck_assert(sample_write_run(path, CCS_TRACE_NONE, 0, NULL));
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db,
                                  "DROP VIEW flow; DROP VIEW flow_any; DROP TABLE flow_chunk;"
                                  "CREATE VIEW flow AS SELECT * FROM flow_row",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
}

START_TEST(a_database_without_a_place_for_chunks_gets_rows)
{
    make_old();
    write_run(140000, CCS_PACK_AUTO);
    write_run(100, CCS_PACK_ALWAYS);
    expect("SELECT count(*) FROM flow", "140100");
}
END_TEST

START_TEST(deleting_a_run_deletes_its_chunks)
{
    sqlite3 *db = NULL;

    write_run(100, CCS_PACK_ALWAYS);
    write_run(100, CCS_PACK_ALWAYS);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA foreign_keys = on; DELETE FROM run WHERE run_id = 1", NULL, NULL,
                 NULL);
    sqlite3_close(db);
    expect("SELECT group_concat(first_flow_id >> 32) FROM flow_chunk", "2");
}
END_TEST

START_TEST(a_packing_is_read_by_its_name)
{
    g_autoptr(GError) error = NULL;
    CcsPacking packing = CCS_PACK_AUTO;

    ck_assert(ccs_packing_parse("never", &packing, NULL));
    ck_assert_int_eq(packing, CCS_PACK_NEVER);
    ck_assert(!ccs_packing_parse("alway", &packing, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_USAGE));
    ck_assert_str_eq(error->message, "flows are packed auto, always or never, not 'alway' (did "
                                     "you mean 'always'?)");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("trace_flows");
    TCase *tcase = tcase_create("trace_flows");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, flows_are_packed_where_they_are_many_or_as_asked, 0,
                        G_N_ELEMENTS(cases));
    tcase_add_test(tcase, a_file_in_which_nothing_is_packed_needs_no_module);
    tcase_add_test(tcase, a_small_result_after_a_large_one_is_not_packed);
    tcase_add_test(tcase, a_database_without_a_place_for_chunks_gets_rows);
    tcase_add_test(tcase, deleting_a_run_deletes_its_chunks);
    tcase_add_test(tcase, a_packing_is_read_by_its_name);
    suite_add_tcase(suite, tcase);
    return suite;
}
