#include "report/rows.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/support/check_main.h"

#define NUMBER(number)                                                                             \
    {                                                                                              \
        .type = CCS_CELL_NUMBER, .text = (number)                                                  \
    }
#define TEXT(string)                                                                               \
    {                                                                                              \
        .type = CCS_CELL_TEXT, .text = (string)                                                    \
    }
#define NOTHING                                                                                    \
    {                                                                                              \
        .type = CCS_CELL_NULL                                                                      \
    }

static const CcsColumn columns[] = {{.name = "size"}, {.name = "name"}, {.name = "time"}};

#define N_COLUMNS 3
static const CcsCell plain[][N_COLUMNS] = {
    {NUMBER("8"), TEXT("ring"), NUMBER("1.5")},
    {NUMBER("1024"), TEXT("tree"), NOTHING},
};
static const CcsCell difficult[][N_COLUMNS] = {
    {TEXT(""), TEXT("a,b"), TEXT("say \"x\"")},
    {NOTHING, TEXT("two\nlines\\"), TEXT("a|b\t\x01")},
    {NUMBER("Inf"), TEXT("\xc2\xb5s"), NUMBER("-1e-09")},
};

typedef struct {
    CcsFormat format;
    const CcsCell (*cells)[N_COLUMNS];
    uint32_t n_rows;
    const char *output;
} Printed;

static const Printed printed[] = {
    {CCS_FORMAT_TABLE, plain, 2, "size  name  time\n   8  ring   1.5\n1024  tree  \n"},
    {CCS_FORMAT_TABLE, plain, 0, "size  name  time\n"},
    {CCS_FORMAT_CSV, plain, 2, "size,name,time\n8,ring,1.5\n1024,tree,\n"},
    {CCS_FORMAT_CSV, plain, 0, "size,name,time\n"},
    {CCS_FORMAT_CSV, difficult, 3,
     "size,name,time\n\"\",\"a,b\",\"say \"\"x\"\"\"\n,\"two\nlines\\\",a|b\t\x01\n"
     "Inf,\xc2\xb5s,-1e-09\n"},
    {CCS_FORMAT_JSON, plain, 2,
     "[{\"size\":8,\"name\":\"ring\",\"time\":1.5},\n"
     " {\"size\":1024,\"name\":\"tree\",\"time\":null}]\n"},
    {CCS_FORMAT_JSON, plain, 0, "[]\n"},
    {CCS_FORMAT_NDJSON, difficult, 3,
     "{\"size\":\"\",\"name\":\"a,b\",\"time\":\"say \\\"x\\\"\"}\n"
     "{\"size\":null,\"name\":\"two\\nlines\\\\\",\"time\":\"a|b\\t\\u0001\"}\n"
     "{\"size\":null,\"name\":\"\xc2\xb5s\",\"time\":-1e-09}\n"},
    {CCS_FORMAT_NDJSON, plain, 0, ""},
    {CCS_FORMAT_MD, plain, 2,
     "| size | name | time |\n| ---: | ---- | ---: |\n|    8 | ring |  1.5 |\n"
     "| 1024 | tree |      |\n"},
    {CCS_FORMAT_MD, difficult, 2,
     "| size | name       | time    |\n| ---- | ---------- | ------- |\n"
     "|      | a,b        | say \"x\" |\n|      | two lines\\ | a\\|b\t\x01  |\n"},
};

START_TEST(rows_are_printed_in_each_format)
{
    const Printed *expected = &printed[_i];
    g_autoptr(GError) error = NULL;
    char *output = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&output, &length);
    g_autoptr(CcsRows) rows = ccs_rows_new(stream, expected->format, columns, N_COLUMNS);

    for (uint32_t i = 0; i < expected->n_rows; i++)
        ccs_rows_add(rows, expected->cells[i]);
    ck_assert(ccs_rows_end(rows, &error));
    fclose(stream);
    ck_assert_str_eq(output, expected->output);
    free(output);
}
END_TEST

START_TEST(a_given_alignment_goes_before_that_of_the_cells)
{
    static const CcsColumn given[] = {{.name = "number", .align = CCS_ALIGN_LEFT},
                                      {.name = "text", .align = CCS_ALIGN_RIGHT}};
    static const CcsCell cells[] = {NUMBER("1"), TEXT("x")};
    char *output = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&output, &length);
    g_autoptr(CcsRows) rows = ccs_rows_new(stream, CCS_FORMAT_TABLE, given, 2);

    ccs_rows_add(rows, cells);
    ck_assert(ccs_rows_end(rows, NULL));
    fclose(stream);
    ck_assert_str_eq(output, "number  text\n1          x\n");
    free(output);
}
END_TEST

static char *print_query(const char *sql, CcsFormat format, GError **error)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    char *output = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&output, &length);

    sqlite3_open(":memory:", &db);
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    ccs_rows_print_statement(statement, stream, format, error);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    fclose(stream);
    return output;
}

START_TEST(a_statement_is_printed_with_its_types)
{
    char *output =
        print_query("SELECT 1 AS a, 2.5 AS b, 'x' AS c, NULL AS d", CCS_FORMAT_JSON, NULL);
    ck_assert_str_eq(output, "[{\"a\":1,\"b\":2.5,\"c\":\"x\",\"d\":null}]\n");
    free(output);
}
END_TEST

START_TEST(bytes_are_printed_as_sql_writes_them)
{
    static const char sql[] = "SELECT x'c0ffee00' AS a, x'' AS b, zeroblob(17) AS c";
    char *csv = print_query(sql, CCS_FORMAT_CSV, NULL);
    char *table = print_query(sql, CCS_FORMAT_TABLE, NULL);

    ck_assert_str_eq(csv, "a,b,c\nx'c0ffee00',x'',x'0000000000000000000000000000000000'\n");
    ck_assert_ptr_nonnull(strstr(table, "x'00000000000000000000000000000000...' (17 bytes)"));
    free(csv);
    free(table);
}
END_TEST

START_TEST(a_statement_without_columns_prints_nothing)
{
    char *output = print_query("CREATE TABLE t (x)", CCS_FORMAT_TABLE, NULL);
    ck_assert_str_eq(output, "");
    free(output);
}
END_TEST

START_TEST(a_statement_that_fails_on_the_way_is_an_error)
{
    g_autoptr(GError) error = NULL;
    char *output = print_query("SELECT abs(-9223372036854775807 - 1)", CCS_FORMAT_CSV, &error);

    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    ck_assert_str_eq(error->message, "integer overflow");
    free(output);
}
END_TEST

START_TEST(a_full_disk_is_an_error)
{
    g_autoptr(GError) error = NULL;
    FILE *full = fopen("/dev/full", "w");
    g_autoptr(CcsRows) rows = ccs_rows_new(full, CCS_FORMAT_CSV, columns, N_COLUMNS);

    ck_assert(!ccs_rows_end(rows, &error));
    fclose(full);
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_IO));
    ck_assert(strstr(error->message, "No space left") != NULL);
}
END_TEST

START_TEST(a_reader_that_has_gone_is_no_error)
{
    int ends[2];

    signal(SIGPIPE, SIG_IGN);
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    FILE *stream = fdopen(ends[1], "w");
    g_autoptr(CcsRows) rows = ccs_rows_new(stream, CCS_FORMAT_CSV, columns, N_COLUMNS);
    for (int i = 0; i < 10000; i++)
        ccs_rows_add(rows, plain[0]);
    ck_assert(ccs_rows_end(rows, NULL));
    fclose(stream);
}
END_TEST

START_TEST(a_format_is_read_by_its_name)
{
    CcsFormat format = CCS_FORMAT_CSV;

    ck_assert(ccs_format_parse(NULL, CCS_FORMATS_OF_ROWS, &format, NULL));
    ck_assert_int_eq(format, CCS_FORMAT_TABLE);
    ck_assert(ccs_format_parse("ndjson", CCS_FORMATS_OF_ROWS, &format, NULL));
    ck_assert_int_eq(format, CCS_FORMAT_NDJSON);
}
END_TEST

START_TEST(a_format_that_is_not_allowed_is_refused)
{
    g_autoptr(GError) error = NULL;
    CcsFormat format = CCS_FORMAT_CSV;

    ck_assert(ccs_format_parse("nccl", CCS_FORMATS_OF_ROWS | 1U << CCS_FORMAT_NCCL, &format, NULL));
    ck_assert(!ccs_format_parse("nccl", CCS_FORMATS_OF_ROWS, &format, NULL));
    ck_assert(!ccs_format_parse("jsno", CCS_FORMATS_OF_ROWS, &format, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_USAGE));
    ck_assert_str_eq(error->message, "the format must be one of table, csv, json, ndjson, md, not "
                                     "'jsno' (did you mean 'json'?)");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("rows");
    TCase *tcase = tcase_create("rows");

    tcase_add_loop_test(tcase, rows_are_printed_in_each_format, 0, G_N_ELEMENTS(printed));
    tcase_add_test(tcase, a_given_alignment_goes_before_that_of_the_cells);
    tcase_add_test(tcase, a_statement_is_printed_with_its_types);
    tcase_add_test(tcase, bytes_are_printed_as_sql_writes_them);
    tcase_add_test(tcase, a_statement_without_columns_prints_nothing);
    tcase_add_test(tcase, a_statement_that_fails_on_the_way_is_an_error);
    tcase_add_test(tcase, a_full_disk_is_an_error);
    tcase_add_test(tcase, a_reader_that_has_gone_is_no_error);
    tcase_add_test(tcase, a_format_is_read_by_its_name);
    tcase_add_test(tcase, a_format_that_is_not_allowed_is_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}
