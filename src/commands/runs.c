/* runs.c - ccsim runs: what the database holds */
#include "base/error.h"
#include "commands/command.h"
#include "report/rows.h"
#include "trace/database.h"

extern const CcsCommand ccs_command_runs;

static const char query[] =
    "SELECT run_id AS id, started_at AS started,"
    " CASE WHEN status = 'running' AND NOT process_lives(pid, pid_started_ticks, boot_id)"
    "  THEN 'interrupted' ELSE status END AS status,"
    " (SELECT count(*) FROM result WHERE result.run_id = run.run_id AND time_ps IS NOT NULL)"
    "  AS results,"
    " (SELECT group_concat(name, ' ') FROM (SELECT DISTINCT name FROM result"
    "  JOIN topology USING (topology_id) WHERE result.run_id = run.run_id ORDER BY name))"
    "  AS topology,"
    " (SELECT group_concat(collective, ' ') FROM (SELECT DISTINCT collective FROM result"
    "  WHERE result.run_id = run.run_id ORDER BY collective)) AS collective,"
    " command FROM run ORDER BY run_id";

/* The file may be one that others may write, but not this user: then it stays as it is. */
static void mark_dead_runs(const char *path)
{
    g_autoptr(CcsDatabase) database = ccs_database_open(path, CCS_DATABASE_CHANGE, NULL);

    if (database != NULL)
        ccs_database_mark_dead_runs(database, NULL);
}

static bool list_runs(const char *path, CcsFormat format, GError **error)
{
    g_autoptr(CcsDatabase) database = ccs_database_open(path, CCS_DATABASE_READ, error);

    if (database == NULL)
        return false;
    sqlite3_stmt *statement = ccs_database_statement(database, query, error);
    return statement != NULL && ccs_rows_print_statement(statement, stdout, format, error);
}

static bool run(int argc, char **argv, GError **error)
{
    g_autofree char *given = NULL;
    g_autofree char *format_name = NULL;
    const GOptionEntry entries[] = {
        CCS_OPTION_DB(&given),
        CCS_OPTION_FORMAT(&format_name),
        G_OPTION_ENTRY_NULL,
    };
    CcsFormat format = CCS_FORMAT_TABLE;

    if (!ccs_command_parse(&ccs_command_runs, NULL, entries, &argc, &argv, error) ||
        !ccs_format_parse(format_name, CCS_FORMATS_OF_ROWS, &format, error))
        return false;
    if (argc > 1) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "'%s' is one argument too many", argv[1]);
        return false;
    }
    g_autofree char *path = ccs_database_default_path(given);
    mark_dead_runs(path);
    return list_runs(path, format, error);
}

const CcsCommand ccs_command_runs = {
    .name = "runs",
    .summary = "List the runs in a database.",
    .run = run,
};
