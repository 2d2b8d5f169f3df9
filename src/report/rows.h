/* rows.h - tables of results, printed in the form that the user asked for
 *
 * csv, json and ndjson are written row by row as they come; a table and md are kept until
 * the end, for the width of a column is that of its widest cell.
 *
 * csv quotes as RFC 4180 says, with "\n" at the end of a line; NULL is an empty field, an
 * empty text is "". json is an array of objects, one per row; what is not a finite number
 * is null there. In a table and in md, NULL is empty. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <glib.h>
#include <sqlite3.h>

typedef enum {
    CCS_FORMAT_TABLE,
    CCS_FORMAT_CSV,
    CCS_FORMAT_JSON,
    CCS_FORMAT_NDJSON,
    CCS_FORMAT_MD,
    CCS_FORMAT_NCCL, /* as nccl-tests prints; not for rows */
} CcsFormat;

#define CCS_FORMATS_OF_ROWS ((1U << CCS_FORMAT_NCCL) - 1) /* a bit for each format */

/* ccs_format_parse:
 * @text NULL, an option that was not given, is a table.
 *
 * Returns: true with @ret_format set; false with CCS_ERROR_USAGE if @text names none of the
 * formats whose bit is set in @allowed. */
bool ccs_format_parse(const char *text, uint32_t allowed, CcsFormat *ret_format, GError **error);

typedef enum {
    CCS_ALIGN_AUTO, /* right if all cells are numbers */
    CCS_ALIGN_LEFT,
    CCS_ALIGN_RIGHT,
} CcsAlign;

typedef struct {
    const char *name;
    CcsAlign align;
} CcsColumn;

typedef enum { CCS_CELL_NULL, CCS_CELL_TEXT, CCS_CELL_NUMBER } CcsCellType;

typedef struct {
    CcsCellType type;
    const char *text; /* of a number: as it is to be read; not used for NULL */
} CcsCell;

typedef struct CcsRows CcsRows;

/* ccs_rows_new: @out is not owned; the names of the columns are copied. */
CcsRows *ccs_rows_new(FILE *out, CcsFormat format, const CcsColumn *columns, uint32_t n_columns);
void ccs_rows_free(CcsRows *rows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsRows, ccs_rows_free)

/* ccs_rows_add: @cells, one per column, are copied if they are needed later. */
void ccs_rows_add(CcsRows *rows, const CcsCell *cells);

/* ccs_rows_end:
 * Prints what was kept, and flushes.
 *
 * Returns: false with CCS_ERROR_IO if something could not be written. Where the reader of a
 * pipe has gone, he has seen enough: that is no error. */
bool ccs_rows_end(CcsRows *rows, GError **error);

/* ccs_rows_print_statement:
 * Prints all rows of @statement, or only runs it if it has no columns.
 *
 * Returns: false with SQLite's text: CCS_ERROR_INPUT if the fault lies with the statement,
 * CCS_ERROR_IO otherwise. */
bool ccs_rows_print_statement(sqlite3_stmt *statement, FILE *out, CcsFormat format, GError **error);
