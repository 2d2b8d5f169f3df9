/* sql.c - ccsim sql: ask a database of runs */
#include <string.h>

#include "base/error.h"
#include "commands/command.h"
#include "report/rows.h"
#include "trace/database.h"

extern const CcsCommand ccs_command_sql;

typedef struct {
    CcsDatabase *database; /* not owned */
    const char *text;      /* all that was asked, of which errors show the place */
    CcsFormat format;
    bool may_write;
} Query;

static bool read_stdin(char **ret_text, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    char buffer[4096];
    size_t n;

    while ((n = fread(buffer, 1, sizeof buffer, stdin)) > 0)
        g_string_append_len(text, buffer, (gssize)n);
    if (ferror(stdin)) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_IO,
                    "(standard input): error: the query cannot be read");
        return false;
    }
    *ret_text = g_strdup(text->str);
    return true;
}

/* "query:2:8: error: no such column: x", the line and a caret below the place. */
static bool fail_at(const Query *query, const char *place, int code, const char *message,
                    GError **error)
{
    const char *line = place;
    int n_line = 1;

    while (line > query->text && line[-1] != '\n')
        line--;
    for (const char *c = query->text; c < line; c++)
        n_line += *c == '\n';
    int column = (int)g_utf8_strlen(line, place - line);
    int length = (int)strcspn(line, "\r\n");
    g_set_error(error, CCS_ERROR, code, "query:%d:%d: error: %s\n  %.*s\n  %*s^", n_line,
                column + 1, message, length, line, column, "");
    return false;
}

static const char *skip_space(const char *text)
{
    return text + strspn(text, " \t\r\n;");
}

static bool print_statement(const Query *query, sqlite3_stmt *statement, const char *place,
                            GError **error)
{
    g_autoptr(GError) failure = NULL;

    if (!query->may_write && !sqlite3_stmt_readonly(statement))
        return fail_at(query, place, CCS_ERROR_INPUT,
                       "the statement changes the database, which only --write allows", error);
    if (ccs_rows_print_statement(statement, stdout, query->format, &failure))
        return true;
    if (failure->code == CCS_ERROR_INPUT)
        return fail_at(query, place, failure->code, failure->message, error);
    g_propagate_error(error, g_steal_pointer(&failure));
    return false;
}

/* Returns: whether the statement at @place was run; then @ret_next is behind it. */
static bool run_statement(const Query *query, const char *place, const char **ret_next,
                          GError **error)
{
    sqlite3 *db = ccs_database_handle(query->database);
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(db, place, -1, &statement, ret_next) != SQLITE_OK) {
        int offset = sqlite3_error_offset(db);
        return fail_at(query, place + MAX(offset, 0), CCS_ERROR_INPUT, sqlite3_errmsg(db), error);
    }
    /* There is none if only a comment was left. */
    bool is_done = statement == NULL || print_statement(query, statement, place, error);
    sqlite3_finalize(statement);
    return is_done;
}

static bool run_statements(const Query *query, GError **error)
{
    const char *place = skip_space(query->text);

    if (*place == '\0') {
        g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT, "query: error: there is nothing in it");
        return false;
    }
    while (*place != '\0' && !ferror(stdout)) {
        const char *next = NULL;
        if (!run_statement(query, place, &next, error))
            return false;
        place = skip_space(next);
    }
    return true;
}

static bool answer(const char *path, Query *query, GError **error)
{
    CcsDatabaseMode mode = query->may_write ? CCS_DATABASE_CHANGE : CCS_DATABASE_READ;
    g_autoptr(CcsDatabase) database = ccs_database_open(path, mode, error);

    if (database == NULL)
        return false;
    if (query->may_write && /* what hangs on a run is to go with it */
        !ccs_database_write(database, "PRAGMA foreign_keys = on", NULL, 0, error))
        return false;
    query->database = database;
    return run_statements(query, error);
}

/* The text of the query, from the arguments that are left when the options are taken out. */
static bool take_text(int argc, char **argv, char **ret_text, GError **error)
{
    if (argc > 2) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "'%s' is one argument too many: a query is one argument, in quotes", argv[2]);
        return false;
    }
    if (argc < 2 || strcmp(argv[1], "-") == 0)
        return read_stdin(ret_text, error);
    *ret_text = g_strdup(argv[1]);
    return true;
}

static bool run(int argc, char **argv, GError **error)
{
    g_autofree char *given = NULL;
    g_autofree char *format_name = NULL;
    gboolean may_write = FALSE;
    const GOptionEntry entries[] = {
        CCS_OPTION_DB(&given),
        CCS_OPTION_FORMAT(&format_name),
        {"write", 0, 0, G_OPTION_ARG_NONE, &may_write, "Let the query change the database", NULL},
        G_OPTION_ENTRY_NULL,
    };
    g_autofree char *text = NULL;
    Query query = {0};

    if (!ccs_command_parse(&ccs_command_sql, "[QUERY]", entries, &argc, &argv, error) ||
        !ccs_format_parse(format_name, CCS_FORMATS_OF_ROWS, &query.format, error) ||
        !take_text(argc, argv, &text, error))
        return false;
    g_autofree char *path = ccs_database_default_path(given);
    query.text = text;
    query.may_write = may_write;
    return answer(path, &query, error);
}

const CcsCommand ccs_command_sql = {
    .name = "sql",
    .summary = "Ask a database of runs; without QUERY, or with -, it is read from stdin.",
    .run = run,
};
