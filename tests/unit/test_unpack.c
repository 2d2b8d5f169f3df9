#include "trace/unpack.h"

#include <string.h>

#include "base/error.h"
#include "tests/support/check_main.h"
#include "tests/support/folder.h"
#include "tests/support/query.h"
#include "tests/support/sample_run.h"

static char *folder;
static char *path;

/* Two runs: 70000 packed flows, and 100. */
static void set_up(void)
{
    folder = ccs_folder_new();
    path = g_build_filename(folder, "runs.db", NULL);
    ck_assert(sample_write_run_packing(path, CCS_TRACE_FLOWS, 70000, CCS_PACK_ALWAYS, NULL));
    ck_assert(sample_write_run_packing(path, CCS_TRACE_FLOWS, 100, CCS_PACK_ALWAYS, NULL));
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

static uint64_t unpack(CcsUnpackChoice choice)
{
    g_autoptr(CcsDatabase) database = ccs_database_open(path, CCS_DATABASE_CHANGE, NULL);
    uint64_t n_flows = 0;

    ck_assert(ccs_unpack_flows(database, choice, &n_flows, NULL));
    return n_flows;
}

static void expect_failure(CcsUnpackChoice choice, CcsError code, const char *part)
{
    g_autoptr(CcsDatabase) database = ccs_database_open(path, CCS_DATABASE_CHANGE, NULL);
    g_autoptr(GError) error = NULL;
    uint64_t n_flows = 0;

    ck_assert(!ccs_unpack_flows(database, choice, &n_flows, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, (int)code));
    ck_assert_msg(strstr(error->message, part) != NULL, "%s", error->message);
}

#define FORMS                                                                                      \
    "SELECT (SELECT count(*) FROM flow_row) || ' ' || (SELECT count(*) FROM flow_chunk) || ' ' ||" \
    " (SELECT type FROM sqlite_schema WHERE name = 'flow_any')"
#define CONTENTS                                                                                   \
    "SELECT group_concat(n || ' ' || b || ' ' || t) FROM (SELECT count(*) AS n,"                   \
    " sum(bytes * message) AS b, sum(arrived_ps - started_ps) AS t FROM flow GROUP BY result_id)"

START_TEST(all_chunks_become_rows_and_the_view_needs_no_module)
{
    g_autofree char *before = ccs_query_text(path, CONTENTS);

    ck_assert_uint_eq(unpack((CcsUnpackChoice){0}), 70100);
    expect(FORMS, "70100 0 view");
    expect(CONTENTS, before);
    expect("PRAGMA integrity_check", "ok");
    ck_assert_uint_eq(unpack((CcsUnpackChoice){0}), 0);
}
END_TEST

START_TEST(one_run_becomes_rows_and_the_other_stays)
{
    g_autofree char *before = ccs_query_text(path, CONTENTS);

    ck_assert_uint_eq(unpack((CcsUnpackChoice){.run_id = 2}), 100);
    expect(FORMS, "100 2 table");
    expect(CONTENTS, before);
    ck_assert_uint_eq(unpack((CcsUnpackChoice){.run_id = 1}), 70000);
    expect(FORMS, "70100 0 view");
    expect(CONTENTS, before);
}
END_TEST

START_TEST(one_result_becomes_rows_and_the_other_stays)
{
    ck_assert_uint_eq(unpack((CcsUnpackChoice){.result_id = 1}), 70000);
    expect(FORMS, "70000 1 table");
    ck_assert_uint_eq(unpack((CcsUnpackChoice){.run_id = 1, .result_id = 2}), 0);
    expect(FORMS, "70000 1 table");
}
END_TEST

START_TEST(what_is_not_there_cannot_be_unpacked)
{
    expect_failure((CcsUnpackChoice){.run_id = 3}, CCS_ERROR_INPUT, "there is no run 3 in it");
    expect_failure((CcsUnpackChoice){.result_id = 9}, CCS_ERROR_INPUT,
                   "there is no result 9 in it");
}
END_TEST

START_TEST(a_damaged_chunk_leaves_all_as_it_was)
{
    sqlite3 *db = NULL;

    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, "UPDATE flow_chunk SET data = x'00' WHERE first_flow_id = 2 << 32", NULL, NULL,
                 NULL);
    sqlite3_close(db);
    expect_failure((CcsUnpackChoice){0}, CCS_ERROR_IO, "flow_chunk 8589934592: damaged flows: ");
    expect(FORMS, "0 3 table");
    ck_assert_uint_eq(unpack((CcsUnpackChoice){.run_id = 1}), 70000);
}
END_TEST

START_TEST(flows_written_after_unpacking_are_packed_again)
{
    unpack((CcsUnpackChoice){0});
    ck_assert(sample_write_run_packing(path, CCS_TRACE_FLOWS, 10, CCS_PACK_ALWAYS, NULL));
    expect(FORMS, "70100 1 table");
    expect("SELECT count(*) FROM flow", "70110");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("unpack");
    TCase *tcase = tcase_create("unpack");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, all_chunks_become_rows_and_the_view_needs_no_module);
    tcase_add_test(tcase, one_run_becomes_rows_and_the_other_stays);
    tcase_add_test(tcase, one_result_becomes_rows_and_the_other_stays);
    tcase_add_test(tcase, what_is_not_there_cannot_be_unpacked);
    tcase_add_test(tcase, a_damaged_chunk_leaves_all_as_it_was);
    tcase_add_test(tcase, flows_written_after_unpacking_are_packed_again);
    suite_add_tcase(suite, tcase);
    return suite;
}
