#include "trace/database.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gio/gio.h>

#include "base/error.h"
#include "trace/flow_packed.h"
#include "trace/process.h"
#include "trace/trace_resources.h"

#define BUSY_TIMEOUT_MS 60000

struct CcsDatabase {
    char *name; /* owned: the path, or what stands for it in messages */
    sqlite3 *handle;
    GHashTable *statements; /* SQL -> sqlite3_stmt, both owned */
};

char *ccs_database_default_path(const char *given)
{
    const char *environment = g_getenv("CCSIM_DB");

    if (given != NULL)
        return g_strdup(given);
    return g_strdup(environment != NULL && environment[0] != '\0' ? environment : "ccsim.db");
}

void ccs_database_ignore_size_signal(void)
{
    signal(SIGXFSZ, SIG_IGN);
}

sqlite3 *ccs_database_handle(CcsDatabase *database)
{
    return database->handle;
}

const char *ccs_database_path(const CcsDatabase *database)
{
    return database->name;
}

static bool fail(const CcsDatabase *database, const char *message, GError **error)
{
    g_set_error(error, CCS_ERROR, CCS_ERROR_IO, "%s: error: %s", database->name, message);
    return false;
}

/* SQLite does not keep the system's reason where a commit fails. errno, cleared before each
 * statement, still has it then. */
bool ccs_database_fail(CcsDatabase *database, GError **error)
{
    int reason = errno;
    int code = sqlite3_errcode(database->handle);
    const char *text = sqlite3_errmsg(database->handle);

    if (sqlite3_system_errno(database->handle) != 0)
        reason = sqlite3_system_errno(database->handle);
    if (reason == 0 || (code != SQLITE_CANTOPEN && code != SQLITE_IOERR))
        return fail(database, text, error);
    g_autofree char *message = g_strdup_printf("%s (%s)", text, g_strerror(reason));
    return fail(database, message, error);
}

bool ccs_database_execute(CcsDatabase *database, const char *sql, GError **error)
{
    errno = 0;
    if (sqlite3_exec(database->handle, sql, NULL, NULL, NULL) != SQLITE_OK)
        return ccs_database_fail(database, error);
    return true;
}

/* SQL: process_lives(pid, started_ticks, boot_id) */
static void sql_process_lives(sqlite3_context *context, G_GNUC_UNUSED int n_values,
                              sqlite3_value **values)
{
    const char *boot_id = (const char *)sqlite3_value_text(values[2]);
    CcsProcess process = {.pid = sqlite3_value_int64(values[0]),
                          .started_ticks = sqlite3_value_int64(values[1]),
                          .boot_id = boot_id == NULL ? "" : boot_id};

    sqlite3_result_int(context, ccs_process_lives(&process));
}

/* The schema of a strange file may not make this program do anything. */
static bool configure(CcsDatabase *database, GError **error)
{
    sqlite3_busy_timeout(database->handle, BUSY_TIMEOUT_MS);
    if (sqlite3_create_function(database->handle, "process_lives", 3,
                                SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL, sql_process_lives, NULL,
                                NULL) != SQLITE_OK ||
        ccs_flow_packed_register(database->handle) != SQLITE_OK)
        return ccs_database_fail(database, error);
    return ccs_database_execute(database, "PRAGMA trusted_schema = off", error);
}

typedef enum { IS_OURS, IS_OLDER, IS_EMPTY, IS_STRANGE } Identity;

/* Fails for a file that is no database and for one of a newer version. */
static bool identify(CcsDatabase *database, Identity *ret_identity, GError **error)
{
    int64_t application = 0;
    int64_t version = 0;
    int64_t n_objects = 0;

    if (!ccs_database_read_integer(database, "PRAGMA application_id", NULL, 0, &application,
                                   error) ||
        !ccs_database_read_integer(database, "PRAGMA user_version", NULL, 0, &version, error) ||
        !ccs_database_read_integer(database, "SELECT count(*) FROM sqlite_schema", NULL, 0,
                                   &n_objects, error))
        return false;
    if (application != CCS_DATABASE_APPLICATION_ID) {
        *ret_identity = application == 0 && n_objects == 0 ? IS_EMPTY : IS_STRANGE;
        return true;
    }
    if (version > CCS_DATABASE_VERSION) {
        g_autofree char *message = g_strdup_printf(
            "made by a newer ccsim (database version %" G_GINT64_FORMAT ", known here is %d)",
            version, CCS_DATABASE_VERSION);
        return fail(database, message, error);
    }
    *ret_identity = version < CCS_DATABASE_VERSION ? IS_OLDER : IS_OURS;
    return true;
}

char *ccs_database_resource(const char *name)
{
    g_autofree char *path = g_strdup_printf("/ccsim/trace/%s", name);
    g_autoptr(GBytes) bytes =
        g_resource_lookup_data(ccs_trace_get_resource(), path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);

    g_assert(bytes != NULL);
    return g_strndup(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
}

/* In a transaction: another process may have been faster. */
static bool write_schema(CcsDatabase *database, GError **error)
{
    g_autofree char *schema = ccs_database_resource("schema.sql");
    g_autofree char *flows = ccs_database_resource("flow_any.sql");
    g_autofree char *marks = g_strdup_printf("PRAGMA application_id = %d; PRAGMA user_version = %d",
                                             CCS_DATABASE_APPLICATION_ID, CCS_DATABASE_VERSION);
    Identity identity = IS_EMPTY;

    if (!identify(database, &identity, error))
        return false;
    return identity == IS_OURS || (ccs_database_execute(database, schema, error) &&
                                   ccs_database_execute(database, flows, error) &&
                                   ccs_database_execute(database, marks, error));
}

static bool create_schema(CcsDatabase *database, GError **error)
{
    if (!ccs_database_begin(database, error))
        return false;
    return ccs_database_end(database, write_schema(database, error), error);
}

/* The file keeps its journal mode. To change it takes the file for oneself; when another
 * process has it open just now, the mode stays, works as well, and is changed next time.
 * Without a wait for the disk after each transaction, a crash of the system may cost the last
 * results, but never leaves a broken file. */
static bool use_write_ahead_log(CcsDatabase *database, GError **error)
{
    int code = sqlite3_exec(database->handle, "PRAGMA journal_mode = wal", NULL, NULL, NULL);

    if (code != SQLITE_OK && code != SQLITE_BUSY)
        return ccs_database_fail(database, error);
    return ccs_database_execute(database, "PRAGMA synchronous = normal; PRAGMA cache_size = -16000",
                                error);
}

/* In a transaction, so that a schema that another process writes meanwhile is seen whole or not
 * at all. */
static bool identify_at_once(CcsDatabase *database, Identity *ret_identity, GError **error)
{
    return ccs_database_execute(database, "BEGIN", error) &&
           ccs_database_end(database, identify(database, ret_identity, error), error);
}

static bool set_up(CcsDatabase *database, CcsDatabaseMode mode, GError **error)
{
    Identity identity = IS_STRANGE;

    if (!configure(database, error) || !identify_at_once(database, &identity, error))
        return false;
    if (identity == IS_STRANGE)
        return fail(database, "a database of another program", error);
    if (identity == IS_OLDER && mode == CCS_DATABASE_CREATE)
        return fail(database,
                    "made by an older ccsim, whose runs can be read but not added to (name another"
                    " file by --db)",
                    error);
    if (mode != CCS_DATABASE_READ && sqlite3_db_readonly(database->handle, "main"))
        return fail(database, "may not be written", error);
    if (identity == IS_EMPTY && mode != CCS_DATABASE_CREATE)
        return fail(database, "holds no runs", error);
    if (mode == CCS_DATABASE_READ)
        return ccs_database_execute(database, "PRAGMA query_only = on", error);
    if (identity == IS_EMPTY && !create_schema(database, error))
        return false;
    return use_write_ahead_log(database, error);
}

static bool check_kind_of_file(const char *path, CcsDatabaseMode mode, GError **error)
{
    struct stat status;
    const char *message = NULL;

    if (*path == '\0')
        message = "the name of the database is empty";
    else if (stat(path, &status) != 0 && errno == ENOENT && mode != CCS_DATABASE_CREATE)
        message = "no such file (run something first, such as 'ccsim bench allreduce', or name "
                  "another file by --db)";
    else if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        message = "is a folder, not a database";
    else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        message = "is not a file";
    if (message == NULL)
        return true;
    if (*path == '\0')
        g_set_error(error, CCS_ERROR, CCS_ERROR_IO, "%s", message);
    else
        g_set_error(error, CCS_ERROR, CCS_ERROR_IO, "%s: error: %s", path, message);
    return false;
}

/* Makes an empty file, unless one is there. */
static bool make_file(const char *path, bool *ret_is_new, GError **error)
{
    int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);

    *ret_is_new = file >= 0;
    if (file >= 0)
        close(file);
    if (file >= 0 || errno == EEXIST)
        return true;
    g_set_error(error, CCS_ERROR, CCS_ERROR_IO, "%s: error: cannot be made: %s", path,
                g_strerror(errno));
    return false;
}

static void remove_if_empty(const char *path)
{
    struct stat status;

    if (stat(path, &status) == 0 && status.st_size == 0)
        unlink(path);
}

static void finalize(void *statement)
{
    sqlite3_finalize(statement);
}

/* Read and write even for reading: the last one who closes the file then folds the log into
 * it, and SQLite itself falls back to reading where it may not write. */
static CcsDatabase *connect(const char *path, const char *uri, CcsDatabaseMode mode, GError **error)
{
    g_autoptr(CcsDatabase) database = g_new0(CcsDatabase, 1);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;

    database->name = g_strdup(path == NULL ? "database in memory" : path);
    database->statements = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, finalize);
    if (sqlite3_open_v2(uri, &database->handle, flags, NULL) != SQLITE_OK) {
        ccs_database_fail(database, error);
        return NULL;
    }
    if (!set_up(database, mode, error))
        return NULL;
    return g_steal_pointer(&database);
}

static char *uri_of(const char *path, const char *parameters)
{
    g_autofree char *absolute = g_canonicalize_filename(path, NULL);
    g_autofree char *escaped = g_uri_escape_string(absolute, "/", FALSE);

    return g_strdup_printf("file:%s%s", escaped, parameters);
}

/* In a folder that may not be written there can be no log beside the file: then, if none
 * lies there, the file is all there is. */
static CcsDatabase *connect_for_reading(const char *path, GError **error)
{
    g_autofree char *uri = uri_of(path, "");
    g_autofree char *fixed_uri = uri_of(path, "?immutable=1");
    g_autofree char *log = g_strconcat(path, "-wal", NULL);
    g_autoptr(GError) failure = NULL;
    CcsDatabase *database = connect(path, uri, CCS_DATABASE_READ, &failure);

    if (database == NULL && access(log, F_OK) != 0)
        database = connect(path, fixed_uri, CCS_DATABASE_READ, NULL);
    if (database == NULL)
        g_propagate_error(error, g_steal_pointer(&failure));
    return database;
}

CcsDatabase *ccs_database_open(const char *path, CcsDatabaseMode mode, GError **error)
{
    if (path == NULL)
        return connect(NULL, ":memory:", mode, error);
    if (!check_kind_of_file(path, mode, error))
        return NULL;
    if (mode == CCS_DATABASE_READ)
        return connect_for_reading(path, error);

    g_autofree char *uri = uri_of(path, "");
    bool is_new = false;
    if (mode == CCS_DATABASE_CREATE && !make_file(path, &is_new, error))
        return NULL;
    CcsDatabase *database = connect(path, uri, mode, error);
    if (database == NULL && is_new)
        remove_if_empty(path);
    return database;
}

void ccs_database_free(CcsDatabase *database)
{
    if (database == NULL)
        return;
    g_hash_table_destroy(database->statements);
    sqlite3_close(database->handle);
    g_free(database->name);
    g_free(database);
}

bool ccs_database_begin(CcsDatabase *database, GError **error)
{
    return ccs_database_execute(database, "BEGIN IMMEDIATE", error);
}

bool ccs_database_end(CcsDatabase *database, bool is_good, GError **error)
{
    if (is_good && ccs_database_execute(database, "COMMIT", error))
        return true;
    /* SQLite may have rolled back by itself, as it does when the disk is full. */
    if (sqlite3_get_autocommit(database->handle) == 0)
        sqlite3_exec(database->handle, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

sqlite3_stmt *ccs_database_statement(CcsDatabase *database, const char *sql, GError **error)
{
    sqlite3_stmt *statement = g_hash_table_lookup(database->statements, sql);

    errno = 0;
    if (statement == NULL) {
        if (sqlite3_prepare_v3(database->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement,
                               NULL) != SQLITE_OK) {
            ccs_database_fail(database, error);
            return NULL;
        }
        g_hash_table_insert(database->statements, g_strdup(sql), statement);
    }
    sqlite3_reset(statement);
    return statement;
}

static void bind(sqlite3_stmt *statement, int index, const CcsSqlValue *value)
{
    switch (value->type) {
    case SQLITE_INTEGER:
        sqlite3_bind_int64(statement, index, value->integer);
        break;
    case SQLITE_FLOAT:
        sqlite3_bind_double(statement, index, value->real);
        break;
    case SQLITE_TEXT:
        sqlite3_bind_text(statement, index, value->text, -1, SQLITE_STATIC);
        break;
    case SQLITE_BLOB:
        sqlite3_bind_blob64(statement, index, value->blob, value->n_bytes, SQLITE_STATIC);
        break;
    default:
        sqlite3_bind_null(statement, index);
        break;
    }
}

/* Returns: the statement after its first step, for whose end the caller resets it; NULL with
 * @error. */
static sqlite3_stmt *start(CcsDatabase *database, const char *sql, const CcsSqlValue *values,
                           size_t n_values, GError **error)
{
    sqlite3_stmt *statement = ccs_database_statement(database, sql, error);

    if (statement == NULL)
        return NULL;
    for (size_t i = 0; i < n_values; i++)
        bind(statement, (int)i + 1, &values[i]);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        return statement;
    ccs_database_fail(database, error);
    sqlite3_reset(statement);
    return NULL;
}

bool ccs_database_write(CcsDatabase *database, const char *sql, const CcsSqlValue *values,
                        size_t n_values, GError **error)
{
    sqlite3_stmt *statement = start(database, sql, values, n_values, error);

    if (statement == NULL)
        return false;
    sqlite3_reset(statement);
    return true;
}

bool ccs_database_read_integer(CcsDatabase *database, const char *sql, const CcsSqlValue *values,
                               size_t n_values, int64_t *ret_value, GError **error)
{
    sqlite3_stmt *statement = start(database, sql, values, n_values, error);

    if (statement == NULL)
        return false;
    *ret_value = sqlite3_data_count(statement) > 0 ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return true;
}

char *ccs_database_read_text(CcsDatabase *database, const char *sql, const CcsSqlValue *values,
                             size_t n_values, GError **error)
{
    sqlite3_stmt *statement = start(database, sql, values, n_values, error);

    if (statement == NULL)
        return NULL;
    const char *text =
        sqlite3_data_count(statement) > 0 ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    char *copy = g_strdup(text == NULL ? "" : text);
    sqlite3_reset(statement);
    return copy;
}

#define IS_DEAD "status = 'running' AND NOT process_lives(pid, pid_started_ticks, boot_id)"

bool ccs_database_mark_dead_runs(CcsDatabase *database, GError **error)
{
    int64_t n_dead = 0;

    if (!ccs_database_read_integer(database, "SELECT count(*) FROM run WHERE " IS_DEAD, NULL, 0,
                                   &n_dead, error))
        return false;
    return n_dead == 0 ||
           ccs_database_write(database, "UPDATE run SET status = 'interrupted' WHERE " IS_DEAD,
                              NULL, 0, error);
}
