#include "trace/trace.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "trace/process.h"
#include "trace/trace_internal.h"

static const char *const level_names[] = {
    [CCS_TRACE_NONE] = "none",   [CCS_TRACE_SUMMARY] = "summary", [CCS_TRACE_STEPS] = "steps",
    [CCS_TRACE_FLOWS] = "flows", [CCS_TRACE_FLOWS + 1] = NULL,
};

const char *ccs_trace_level_name(CcsTraceLevel level)
{
    return level_names[level];
}

bool ccs_trace_level_parse(const char *text, CcsTraceLevel *ret_level, GError **error)
{
    for (CcsTraceLevel level = CCS_TRACE_NONE; level <= CCS_TRACE_FLOWS; level++) {
        if (strcmp(text, level_names[level]) == 0) {
            *ret_level = level;
            return true;
        }
    }
    g_autofree char *hint = ccs_did_you_mean(text, level_names);
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                "the trace level must be none, summary, steps or flows, not '%s'%s", text, hint);
    return false;
}

static const char *const packing_names[] = {
    [CCS_PACK_AUTO] = "auto",
    [CCS_PACK_ALWAYS] = "always",
    [CCS_PACK_NEVER] = "never",
    [CCS_PACK_NEVER + 1] = NULL,
};

bool ccs_packing_parse(const char *text, CcsPacking *ret_packing, GError **error)
{
    for (CcsPacking packing = CCS_PACK_AUTO; packing <= CCS_PACK_NEVER; packing++) {
        if (strcmp(text, packing_names[packing]) == 0) {
            *ret_packing = packing;
            return true;
        }
    }
    g_autofree char *hint = ccs_did_you_mean(text, packing_names);
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                "flows are packed auto, always or never, not '%s'%s", text, hint);
    return false;
}

static int compare_paths(const void *a, const void *b, G_GNUC_UNUSED void *data)
{
    return strcmp(a, b);
}

CcsTrace *ccs_trace_open(const char *path, CcsTraceLevel level, GError **error)
{
    CcsDatabase *database = ccs_database_open(path, CCS_DATABASE_CREATE, error);

    if (database == NULL)
        return NULL;
    CcsTrace *trace = g_new0(CcsTrace, 1);
    trace->database = database;
    trace->level = level;
    trace->is_in_memory = path == NULL;
    trace->flows = g_array_new(FALSE, FALSE, sizeof(CcsFlow));
    trace->settings = g_tree_new_full(compare_paths, NULL, g_free, g_free);
    return trace;
}

void ccs_trace_free(CcsTrace *trace)
{
    if (trace == NULL)
        return;
    ccs_trace_fail_run(trace, NULL);
    ccs_database_free(trace->database);
    g_array_unref(trace->flows);
    g_tree_destroy(trace->settings);
    g_free(trace);
}

static char *time_of_day(void)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();

    return g_date_time_format(now, "%Y-%m-%dT%H:%M:%SZ");
}

static bool write_run(CcsTrace *trace, const char *command, const char *title, GError **error)
{
    g_autofree char *now = time_of_day();
    g_autofree char *boot_id = ccs_process_boot_id();
    const CcsSqlValue values[] = {
        ccs_sql_text(title),
        ccs_sql_text(command),
        ccs_sql_text(CCS_VERSION),
        ccs_sql_text(ccs_trace_level_name(trace->level)),
        ccs_sql_text(now),
        ccs_sql_integer(getpid()),
        ccs_sql_integer(ccs_process_started_ticks(getpid())),
        ccs_sql_text(boot_id),
    };

    return ccs_database_write(trace->database,
                              "INSERT INTO run (title, command, version, trace_level, status,"
                              " started_at, pid, pid_started_ticks, boot_id)"
                              " VALUES (?1, ?2, ?3, ?4, 'running', ?5, ?6, ?7, ?8)",
                              values, G_N_ELEMENTS(values), error);
}

bool ccs_trace_begin_run(CcsTrace *trace, const char *command, const char *title,
                         int64_t *ret_run_id, GError **error)
{
    g_assert(!trace->is_run_open);
    if (!ccs_database_begin(trace->database, error))
        return false;
    bool is_written = ccs_database_mark_dead_runs(trace->database, error) &&
                      write_run(trace, command, title, error);
    int64_t run_id = sqlite3_last_insert_rowid(ccs_database_handle(trace->database));
    if (!ccs_database_end(trace->database, is_written, error))
        return false;
    trace->run_id = run_id;
    trace->is_run_open = true;
    *ret_run_id = run_id;
    return true;
}

static void remember_setting(CcsTrace *trace, const CcsParamRow *param)
{
    if (!g_str_has_prefix(param->path, "transport.") && !g_str_has_prefix(param->path, "model."))
        return;
    if (strcmp(param->kind, "default") == 0)
        g_tree_remove(trace->settings, param->path);
    else
        g_tree_replace(trace->settings, g_strdup(param->path), g_strdup(param->value_text));
}

bool ccs_trace_add_param(CcsTrace *trace, const CcsParamRow *param, GError **error)
{
    const CcsSqlValue values[] = {
        ccs_sql_integer(trace->run_id),  ccs_sql_text(param->path),
        ccs_sql_text(param->value_text), ccs_sql_text(param->kind),
        ccs_sql_text(param->source),
    };

    g_assert(trace->is_run_open);
    remember_setting(trace, param);
    return ccs_database_write(trace->database,
                              "INSERT OR IGNORE INTO param (run_id, path, value, kind, source)"
                              " VALUES (?1, ?2, ?3, ?4, ?5)",
                              values, G_N_ELEMENTS(values), error);
}

static bool write_end_of_run(CcsTrace *trace, const char *status, const char *message,
                             GError **error)
{
    g_autofree char *now = time_of_day();
    const CcsSqlValue values[] = {ccs_sql_integer(trace->run_id), ccs_sql_text(status),
                                  ccs_sql_text(message), ccs_sql_text(now)};

    return ccs_database_write(
        trace->database, "UPDATE run SET status = ?2, error = ?3, ended_at = ?4 WHERE run_id = ?1",
        values, G_N_ELEMENTS(values), error);
}

bool ccs_trace_end_run(CcsTrace *trace, GError **error)
{
    g_assert(trace->is_run_open && trace->result_id == 0);
    if (!write_end_of_run(trace, "complete", NULL, error))
        return false;
    trace->is_run_open = false;
    return true;
}

void ccs_trace_fail_run(CcsTrace *trace, const GError *why)
{
    bool is_interrupted = g_error_matches(why, CCS_ERROR, CCS_ERROR_INTERRUPTED);

    if (!trace->is_run_open)
        return;
    write_end_of_run(trace, is_interrupted ? "interrupted" : "failed",
                     why == NULL ? NULL : why->message, NULL);
    trace->is_run_open = false;
    trace->result_id = 0;
}

int64_t ccs_trace_run_id(const CcsTrace *trace)
{
    return trace->is_in_memory ? 0 : trace->run_id;
}

char *ccs_trace_run_json(CcsTrace *trace, GError **error)
{
    g_autofree char *sql = ccs_database_resource("run_json.sql");
    const CcsSqlValue values[] = {ccs_sql_integer(trace->run_id),
                                  ccs_sql_integer(!trace->is_in_memory)};

    return ccs_database_read_text(trace->database, sql, values, G_N_ELEMENTS(values), error);
}

char *ccs_trace_run_ndjson(CcsTrace *trace, GError **error)
{
    g_autofree char *json = ccs_trace_run_json(trace, error);
    const CcsSqlValue values[] = {ccs_sql_text(json)};

    if (json == NULL)
        return NULL;
    return ccs_database_read_text(
        trace->database,
        "SELECT group_concat(value, char(10))"
        " FROM (SELECT value FROM json_each(?1, '$.results') ORDER BY id)",
        values, G_N_ELEMENTS(values), error);
}
