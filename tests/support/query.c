#include "tests/support/query.h"

#include <math.h>

#include <glib.h>
#include <sqlite3.h>

#include "trace/flow_packed.h"

static char *first_value(const char *path, const char *sql, const char *const *parameters)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    char *text = NULL;

    if (sqlite3_open_v2(path == NULL ? ":memory:" : path, &db, SQLITE_OPEN_READWRITE, NULL) !=
            SQLITE_OK ||
        ccs_flow_packed_register(db) != SQLITE_OK ||
        sqlite3_exec(db, "PRAGMA query_only = on", NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        g_error("%s: %s", sql, sqlite3_errmsg(db));
    for (int i = 0; parameters[i] != NULL; i++)
        sqlite3_bind_text(statement, i + 1, parameters[i], -1, SQLITE_STATIC);
    int result = sqlite3_step(statement);
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        g_error("%s: %s", sql, sqlite3_errmsg(db));
    if (result == SQLITE_ROW)
        text = g_strdup((const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return text;
}

static double number_of(const char *text)
{
    return text == NULL ? (double)NAN : g_ascii_strtod(text, NULL);
}

char *ccs_query_text(const char *path, const char *sql)
{
    return first_value(path, sql, (const char *const[]){NULL});
}

double ccs_query_number(const char *path, const char *sql)
{
    g_autofree char *text = ccs_query_text(path, sql);
    return number_of(text);
}

char *ccs_json_text(const char *json, const char *place)
{
    return first_value(NULL, "SELECT json_extract(?1, ?2)",
                       (const char *const[]){json, place, NULL});
}

double ccs_json_number(const char *json, const char *place)
{
    g_autofree char *text = ccs_json_text(json, place);
    return number_of(text);
}

char *ccs_json_types(const char *json, const char *place)
{
    return first_value(NULL,
                       "SELECT group_concat(key || ' ' || type || char(10), '')"
                       " FROM json_each(json_extract(?1, ?2))",
                       (const char *const[]){json, place, NULL});
}

double ccs_json_length(const char *json, const char *place)
{
    g_autofree char *text = first_value(NULL, "SELECT json_array_length(?1, ?2)",
                                        (const char *const[]){json, place, NULL});
    return number_of(text);
}
