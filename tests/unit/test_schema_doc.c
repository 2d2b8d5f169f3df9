/* docs/database.md against the schema: every table, view and column is in both, the
 * tables first, else in the order in which they are made. */
#include <string.h>

#include "tests/support/check_main.h"
#include "tests/support/program.h"
#include "trace/database.h"

static const char columns_sql[] =
    "SELECT object.name || '.' || info.name FROM sqlite_schema AS object"
    " JOIN pragma_table_xinfo(object.name) AS info"
    " WHERE object.type IN ('table', 'view') ORDER BY object.type, object.rowid, info.cid";

/* Returns: (transfer full): "table.column" of the schema, a line each. */
static char *columns_of_schema(void)
{
    g_autoptr(CcsDatabase) database = ccs_database_open(NULL, CCS_DATABASE_CREATE, NULL);
    sqlite3_stmt *statement = ccs_database_statement(database, columns_sql, NULL);
    GString *text = g_string_new(NULL);

    while (sqlite3_step(statement) == SQLITE_ROW)
        g_string_append_printf(text, "%s\n", (const char *)sqlite3_column_text(statement, 0));
    return g_string_free(text, FALSE);
}

/* What stands between the first two backquotes of a line that begins with @prefix; NULL for
 * another line. */
static char *quoted_after(const char *line, const char *prefix)
{
    const char *start = line + strlen(prefix);

    if (!g_str_has_prefix(line, prefix))
        return NULL;
    return g_strndup(start, strcspn(start, "`"));
}

/* All columns of the object that is described as having "those of" another. */
static void append_columns_like(GString *text, const char *object, const char *other)
{
    g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
    g_autofree char *prefix = g_strconcat(other, ".", NULL);

    for (size_t i = 0; lines[i] != NULL; i++) {
        if (g_str_has_prefix(lines[i], prefix))
            g_string_append_printf(text, "%s.%s\n", object, lines[i] + strlen(prefix));
    }
}

static char *columns_of_document(const char *document)
{
    g_auto(GStrv) lines = g_strsplit(document, "\n", -1);
    g_autofree char *object = NULL;
    GString *text = g_string_new(NULL);

    for (size_t i = 0; lines[i] != NULL; i++) {
        const char *like = strstr(lines[i], "columns are those of `");
        g_autofree char *heading = quoted_after(lines[i], "### `");
        g_autofree char *column = quoted_after(lines[i], "| `");
        g_autofree char *other = like == NULL ? NULL : quoted_after(like, "columns are those of `");
        if (heading != NULL) {
            g_free(object);
            object = g_steal_pointer(&heading);
        }
        if (column != NULL)
            g_string_append_printf(text, "%s.%s\n", object, column);
        if (other != NULL)
            append_columns_like(text, object, other);
    }
    return g_string_free(text, FALSE);
}

START_TEST(the_data_dictionary_holds_what_the_schema_holds_and_nothing_else)
{
    g_autofree char *path = ccs_source_path("docs/database.md");
    g_autofree char *document = NULL;

    ck_assert(g_file_get_contents(path, &document, NULL, NULL));
    g_autofree char *described = columns_of_document(document);
    g_autofree char *present = columns_of_schema();
    ck_assert_uint_gt(strlen(present), 1000);
    ck_assert_str_eq(described, present);
}
END_TEST

START_TEST(every_column_is_given_a_meaning)
{
    g_autofree char *path = ccs_source_path("docs/database.md");
    g_autofree char *document = NULL;

    ck_assert(g_file_get_contents(path, &document, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(document, "\n", -1);
    for (size_t i = 0; lines[i] != NULL; i++) {
        if (!g_str_has_prefix(lines[i], "| `"))
            continue;
        g_auto(GStrv) cells = g_strsplit(lines[i], "|", -1);
        ck_assert_msg(g_strv_length(cells) == 4 && strlen(g_strstrip(cells[2])) > 3, "%s",
                      lines[i]);
    }
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("schema_doc");
    TCase *tcase = tcase_create("schema_doc");

    tcase_add_test(tcase, the_data_dictionary_holds_what_the_schema_holds_and_nothing_else);
    tcase_add_test(tcase, every_column_is_given_a_meaning);
    suite_add_tcase(suite, tcase);
    return suite;
}
