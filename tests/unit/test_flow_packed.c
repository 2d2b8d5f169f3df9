/* The same flows as rows (result 1) and packed (result 2): queries do not tell which is which. */
#include "trace/flow_packed.h"

#include <string.h>

#include <sqlite3.h>

#include "tests/support/check_main.h"
#include "tests/support/folder.h"
#include "tests/support/query.h"
#include "tests/support/sample_run.h"

#define N_FLOWS 140000

static char *shared; /* a database that is written once */
static char *folder;
static char *path;
static sqlite3 *db;

static void write_shared(void)
{
    folder = ccs_folder_new();
    shared = g_build_filename(folder, "shared.db", NULL);
    ck_assert(sample_write_run_packing(shared, CCS_TRACE_FLOWS, N_FLOWS, CCS_PACK_NEVER, NULL));
    ck_assert(sample_write_run_packing(shared, CCS_TRACE_FLOWS, N_FLOWS, CCS_PACK_ALWAYS, NULL));
}

static void remove_shared(void)
{
    g_clear_pointer(&shared, g_free);
    g_clear_pointer(&folder, ccs_folder_remove);
}

static void open_db(void)
{
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
}

static void set_up(void)
{
    path = g_strdup(shared);
    open_db();
    ck_assert_int_eq(ccs_flow_packed_register(db), SQLITE_OK);
}

/* With a file of its own, to be changed. */
static void set_up_copy(void)
{
    g_autofree char *data = NULL;
    gsize size = 0;

    path = g_build_filename(folder, "copy.db", NULL);
    ck_assert(g_file_get_contents(shared, &data, &size, NULL));
    ck_assert(g_file_set_contents(path, data, (gssize)size, NULL));
    open_db();
    ck_assert_int_eq(ccs_flow_packed_register(db), SQLITE_OK);
}

static void tear_down(void)
{
    sqlite3_close(db);
    g_clear_pointer(&path, g_free);
}

static void do_sql(const char *sql)
{
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", sql,
                  sqlite3_errmsg(db));
}

/* Returns: (transfer full): all rows that @sql gives when $ is @result_id; or the error. */
static char *ask(const char *sql, int result_id)
{
    sqlite3_stmt *statement = NULL;
    GString *text = g_string_new(NULL);
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    if (statement != NULL)
        sqlite3_bind_int(statement, sqlite3_bind_parameter_index(statement, "$r"), result_id);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(statement);
        for (int i = 0; code == SQLITE_ROW && i < sqlite3_column_count(statement); i++)
            g_string_append_printf(text, "%s|", (const char *)sqlite3_column_text(statement, i));
    }
    if (code != SQLITE_DONE)
        g_string_append(text, sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    return g_string_free(text, FALSE);
}

#define DIGEST                                                                                     \
    "SELECT count(*), sum(flow_id & 0xffffffff), sum(lane), sum(message), sum(bytes),"             \
    " min(started_ps), max(arrived_ps), sum(arrived_us), max(phase)"                               \
    " FROM flow WHERE result_id = $r"

static const char *const queries[] = {
    DIGEST,
    DIGEST " AND started_ps BETWEEN 65000000000 AND 66000000000",
    DIGEST " AND started_ps < 66000000000 AND arrived_ps > 65990000000",
    DIGEST " AND started_us >= 65000 AND started_us < 65010.5",
    DIGEST " AND arrived_us > 131071.4 AND arrived_us <= 131073.5",
    DIGEST " AND entered_us = 70000.000001",
    DIGEST " AND injected_ps = 70000000002",
    DIGEST " AND injected_ps > 139999000001",
    DIGEST " AND injected_ps >= 139999000002.0",
    DIGEST " AND injected_ps < 2.5",
    DIGEST " AND started_ps <= -1",
    DIGEST " AND started_ps > 1e300",
    DIGEST " AND started_ps < 1e300",
    DIGEST " AND started_ps > -9e999",
    DIGEST " AND started_ps >= 9223372036854775807",
    DIGEST " AND started_ps <= 9223372036854775807",
    DIGEST " AND started_ps > NULL",
    DIGEST " AND started_ps > '65000000000'",
    DIGEST " AND started_ps > 'text'",
    DIGEST " AND started_us < 'text'",
    DIGEST " AND started_us > '65000'",
    DIGEST " AND started_ps > x'00'",
    DIGEST " AND started_us IS NULL",
    DIGEST " AND started_ps IN (5000000, 70000000000, 7)",
    DIGEST " AND flow_id = ($r << 32) + 65536",
    DIGEST " AND flow_id = ($r << 32) + 65535.0",
    DIGEST " AND flow_id > ($r << 32) + 65534 AND flow_id <= ($r << 32) + 65537",
    DIGEST " AND flow_id >= ($r << 32) + 139999",
    DIGEST " AND flow_id < ($r << 32) + 1",
    DIGEST " AND src = 1 AND bytes > 100000 AND is_reduced = 0",
    "SELECT lane, message, channel, phase_id, phase, src, dst, bytes, is_reduced, started_ps,"
    " entered_ps, injected_ps, arrived_ps, started_us, entered_us, injected_us, arrived_us,"
    " typeof(started_us), typeof(started_ps)"
    " FROM flow WHERE result_id = $r AND started_us BETWEEN 131000 AND 131100",
    "SELECT message FROM flow WHERE result_id = $r ORDER BY flow_id LIMIT 5 OFFSET 65534",
    "SELECT message FROM flow WHERE result_id = $r ORDER BY flow_id DESC LIMIT 5",
    "SELECT message FROM flow WHERE result_id = $r ORDER BY arrived_ps DESC, lane LIMIT 5",
    "SELECT src, phase, count(*), max(arrived_ps), max(src_gpu), min(dst_gpu) FROM flow WHERE "
    "result_id = $r GROUP BY 1, 2",
    "SELECT (SELECT count(*) FROM flow WHERE flow.result_id = result.result_id) FROM result"
    " WHERE result_id = $r",
    "SELECT count(*) FROM flow_any WHERE result_id = $r",
    "SELECT count(*) FROM flow_any WHERE result_id > $r - 1 AND result_id <= $r",
    "SELECT count(*) FROM flow_any WHERE result_id = $r + 0.5",
    "SELECT count(*) FROM flow_any WHERE result_id > 1e18 AND $r",
    "SELECT count(*) FROM flow AS a JOIN flow AS b ON b.result_id = a.result_id AND b.started_ps ="
    " a.started_ps + 1000000 WHERE a.result_id = $r AND a.started_us BETWEEN 500 AND 510",
};

START_TEST(packed_flows_answer_as_rows_do)
{
    g_autofree char *of_rows = ask(queries[_i], 1);
    g_autofree char *of_packed = ask(queries[_i], 2);

    ck_assert_msg(strcmp(of_rows, of_packed) == 0, "%s\n%s\n%s", queries[_i], of_rows, of_packed);
    ck_assert_msg(strpbrk(of_rows, "0123456789") != NULL || strstr(queries[_i], "typeof") == NULL,
                  "%s", of_rows);
}
END_TEST

START_TEST(rows_and_packed_flows_come_in_one_order)
{
    do_sql("DELETE FROM flow_chunk WHERE first_flow_id = 2 << 32;"
           "INSERT INTO flow_row SELECT flow_id + (1 << 32), lane, message, channel, phase_id, src,"
           " dst, bytes, is_reduced, started_ps, entered_ps, injected_ps, arrived_ps FROM flow_row"
           " WHERE flow_id < (1 << 32) + 65536");
    g_autofree char *count = ask("SELECT count(*), count(DISTINCT flow_id) FROM flow", 0);
    g_autofree char *disorder =
        ask("SELECT count(*) FROM (SELECT flow_id, lag(flow_id) OVER () AS before FROM"
            " (SELECT flow_id FROM flow_packed ORDER BY flow_id)) WHERE flow_id <= before",
            0);

    ck_assert_str_eq(count, "280000|280000|");
    ck_assert_str_eq(disorder, "0|");
}
END_TEST

/* So damage elsewhere is not seen. */
START_TEST(only_the_chunks_of_the_window_are_read)
{
    do_sql("UPDATE flow_chunk SET data = x'00' WHERE first_flow_id & 0xffffffff <> 65536");
    g_autofree char *window = ask("SELECT count(*), min(started_us) FROM flow WHERE result_id = 2"
                                  " AND started_us >= 70000 AND started_us < 70100",
                                  0);
    g_autofree char *overlapping = ask("SELECT count(*) FROM flow WHERE result_id = 2 AND"
                                       " started_ps <= 70100000000 AND arrived_ps >= 70000000000",
                                       0);
    g_autofree char *other = ask("SELECT count(*) FROM flow WHERE result_id = 1", 0);

    ck_assert_str_eq(window, "100|70000.0|");
    ck_assert_str_eq(overlapping, "102|");
    ck_assert_str_eq(other, "140000|");
}
END_TEST

static const struct {
    const char *damage;
    const char *message;
} damages[] = {
    {"data = x''", "flow_chunk 8589934592: damaged flows: nothing is there"},
    {"data = x'02'", "flow_chunk 8589934592: damaged flows: the format 2 is not known"},
    {"data = substr(data, 1, length(data) - 1)", "flow_chunk 8589934592: damaged flows: "},
    {"flows = 5", "flow_chunk 8589934592: damaged flows: 65536 flows where 5 were expected"},
    {"flows = -1", "flow_chunk 8589934592: damaged flows: a number that cannot be"},
    {"flows = 1 << 40", "flow_chunk 8589934592: damaged flows: a number that cannot be"},
    {"first_flow_id = 0x7fffffffffffff00", "damaged flows: a number that cannot be"},
};

START_TEST(a_damaged_chunk_is_an_error)
{
    g_autofree char *sql = g_strdup_printf("UPDATE flow_chunk SET %s WHERE first_flow_id = 2 << 32",
                                           damages[_i].damage);

    do_sql(sql);
    g_autofree char *text = ask("SELECT count(*) FROM flow_packed", 0);
    ck_assert_msg(strstr(text, damages[_i].message) != NULL, "%s", text);
    ck_assert_int_eq(sqlite3_errcode(db), SQLITE_CORRUPT);
}
END_TEST

START_TEST(a_database_that_is_attached_shows_its_own_flows)
{
    g_autofree char *other = g_build_filename(folder, "other.db", NULL);
    ck_assert(sample_write_run_packing(other, CCS_TRACE_FLOWS, 7, CCS_PACK_ALWAYS, NULL));
    g_autofree char *attach = g_strdup_printf("ATTACH '%s' AS \"the other\"", other);

    do_sql(attach);
    g_autofree char *text = ask("SELECT count(*) FROM \"the other\".flow", 0);
    ck_assert_str_eq(text, "7|");
}
END_TEST

static const char *const views[] = {"complete_result", "last_run",  "compare",
                                    "best_algorithm",  "crossover", "busiest_link"};

START_TEST(without_the_module_all_but_flow_keeps_working)
{
    sqlite3_close(db);
    open_db();
    g_autofree char *flow = ask("SELECT count(*) FROM flow", 0);
    ck_assert_str_eq(flow, "no such module: flow_packed");
    for (size_t i = 0; i < G_N_ELEMENTS(views); i++) {
        g_autofree char *sql = g_strdup_printf("SELECT count(*) < 0 FROM %s", views[i]);
        g_autofree char *text = ask(sql, 0);
        ck_assert_str_eq(text, "0|");
    }
    g_autofree char *rows = ask("SELECT count(*) FROM flow_row", 0);
    g_autofree char *integrity = ask("PRAGMA integrity_check", 0);
    ck_assert_str_eq(rows, "140000|");
    ck_assert_str_eq(integrity, "ok|");
    do_sql("VACUUM");
    do_sql("PRAGMA foreign_keys = on; DELETE FROM run WHERE run_id = 2");
    g_autofree char *chunks = ask("SELECT count(*) FROM flow_chunk", 0);
    ck_assert_str_eq(chunks, "0|");
}
END_TEST

START_TEST(the_extension_brings_the_module)
{
    char *message = NULL;

    sqlite3_close(db);
    open_db();
    sqlite3_enable_load_extension(db, 1);
    int code = sqlite3_load_extension(db, g_getenv("CCSIM_FLOW_PACKED"), NULL, &message);
    ck_assert_msg(code == SQLITE_OK, "%s", message == NULL ? "" : message);
    g_autofree char *of_rows = ask(DIGEST, 1);
    g_autofree char *of_packed = ask(DIGEST, 2);
    ck_assert_str_eq(of_rows, of_packed);
}
END_TEST

START_TEST(a_reader_that_trusts_no_schema_reads_packed_flows)
{
    do_sql("PRAGMA trusted_schema = off");
    g_autofree char *text = ask("SELECT count(*) FROM flow WHERE result_id = 2", 0);
    ck_assert_str_eq(text, "140000|");
}
END_TEST

static TCase *answers(void)
{
    TCase *tcase = tcase_create("answers");

    tcase_add_unchecked_fixture(tcase, write_shared, remove_shared);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, packed_flows_answer_as_rows_do, 0, G_N_ELEMENTS(queries));
    tcase_add_test(tcase, a_database_that_is_attached_shows_its_own_flows);
    tcase_add_test(tcase, the_extension_brings_the_module);
    tcase_add_test(tcase, a_reader_that_trusts_no_schema_reads_packed_flows);
    return tcase;
}

static TCase *changes(void)
{
    TCase *tcase = tcase_create("changes");

    tcase_add_unchecked_fixture(tcase, write_shared, remove_shared);
    tcase_add_checked_fixture(tcase, set_up_copy, tear_down);
    tcase_add_test(tcase, rows_and_packed_flows_come_in_one_order);
    tcase_add_test(tcase, only_the_chunks_of_the_window_are_read);
    tcase_add_loop_test(tcase, a_damaged_chunk_is_an_error, 0, G_N_ELEMENTS(damages));
    tcase_add_test(tcase, without_the_module_all_but_flow_keeps_working);
    return tcase;
}

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("flow_packed");

    suite_add_tcase(suite, answers());
    suite_add_tcase(suite, changes());
    return suite;
}
