/* database.h - an SQLite file of runs: opening, transactions, statements
 *
 * A file is one of ours when its application id says so. A new one gets its schema in one
 * transaction: whoever opens it meanwhile sees an empty file or all of it. When that fails,
 * a file that was not there before is removed again.
 *
 * Every failure is CCS_ERROR_IO with the path and SQLite's text. Statements are prepared once
 * and kept. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>
#include <sqlite3.h>

#define CCS_DATABASE_APPLICATION_ID 0x6363736d /* "ccsm" */
#define CCS_DATABASE_VERSION        2          /* of the schema: user_version */

typedef struct CcsDatabase CcsDatabase;

typedef enum {
    CCS_DATABASE_READ,   /* the file must hold runs, and is not changed */
    CCS_DATABASE_CHANGE, /* the file must hold runs, and may be changed */
    CCS_DATABASE_CREATE, /* a missing or empty file becomes a database */
} CcsDatabaseMode;

/* ccs_database_default_path:
 * Returns: (transfer full): @given, else the variable CCSIM_DB, else "ccsim.db". */
char *ccs_database_default_path(const char *given);

/* ccs_database_ignore_size_signal:
 * To be called once by a program that writes databases: writing beyond the limit of file
 * size is then an error to be told, where it would otherwise end the process. */
void ccs_database_ignore_size_signal(void);

/* ccs_database_open: @path NULL is a new one in memory.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_IO. */
CcsDatabase *ccs_database_open(const char *path, CcsDatabaseMode mode, GError **error);
void ccs_database_free(CcsDatabase *database);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsDatabase, ccs_database_free)

sqlite3 *ccs_database_handle(CcsDatabase *database); /* owned by the database */

/* ccs_database_resource: Returns: (transfer full): the text of an SQL file of this folder. */
char *ccs_database_resource(const char *name);

/* ccs_database_path: Returns: what messages call the file; owned by the database. */
const char *ccs_database_path(const CcsDatabase *database);

/* ccs_database_fail: sets @error to what SQLite says of the last call. Returns: false. */
bool ccs_database_fail(CcsDatabase *database, GError **error);

/* ccs_database_execute: runs statements, one after the other, whose rows nobody reads. */
bool ccs_database_execute(CcsDatabase *database, const char *sql, GError **error);

/* ccs_database_begin:
 * Begins a transaction that may write, after waiting for other writers. Every one is ended
 * by ccs_database_end(). */
bool ccs_database_begin(CcsDatabase *database, GError **error);

/* ccs_database_end:
 * Commits, or rolls back if not @is_good (then @error has been set before).
 *
 * Returns: whether it was committed. */
bool ccs_database_end(CcsDatabase *database, bool is_good, GError **error);

typedef struct {
    int type; /* SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB or SQLITE_NULL */
    int64_t integer;
    double real;
    const char *text;
    const void *blob;
    size_t n_bytes; /* of the blob */
} CcsSqlValue;

static inline CcsSqlValue ccs_sql_integer(int64_t value)
{
    return (CcsSqlValue){.type = SQLITE_INTEGER, .integer = value};
}

static inline CcsSqlValue ccs_sql_real(double value)
{
    return (CcsSqlValue){.type = SQLITE_FLOAT, .real = value};
}

static inline CcsSqlValue ccs_sql_text(const char *text) /* NULL is SQL's NULL */
{
    return (CcsSqlValue){.type = text == NULL ? SQLITE_NULL : SQLITE_TEXT, .text = text};
}

static inline CcsSqlValue ccs_sql_blob(const void *blob, size_t n_bytes)
{
    return (CcsSqlValue){.type = SQLITE_BLOB, .blob = blob, .n_bytes = n_bytes};
}

static inline CcsSqlValue ccs_sql_null(void)
{
    return (CcsSqlValue){.type = SQLITE_NULL};
}

/* ccs_database_statement:
 * Returns: (transfer none): the statement of @sql, reset; NULL with @error. */
sqlite3_stmt *ccs_database_statement(CcsDatabase *database, const char *sql, GError **error);

/* ccs_database_write: runs one statement that gives no rows. */
bool ccs_database_write(CcsDatabase *database, const char *sql, const CcsSqlValue *values,
                        size_t n_values, GError **error);

/* ccs_database_read_integer: the first column of the first row; 0 when there is no row. */
bool ccs_database_read_integer(CcsDatabase *database, const char *sql, const CcsSqlValue *values,
                               size_t n_values, int64_t *ret_value, GError **error);

/* ccs_database_read_text:
 * Returns: (transfer full): the first column of the first row, "" for NULL and when there is
 * no row; NULL with @error. */
char *ccs_database_read_text(CcsDatabase *database, const char *sql, const CcsSqlValue *values,
                             size_t n_values, GError **error);

/* ccs_database_mark_dead_runs:
 * Turns the status of running runs whose process is gone to 'interrupted'. Should a process
 * be alive after all, unseen from here, its run still turns to 'complete' at its end. */
bool ccs_database_mark_dead_runs(CcsDatabase *database, GError **error);
