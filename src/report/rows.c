#include "report/rows.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include <libsmartcols/libsmartcols.h>

#include "base/error.h"

#define MAX_SHOWN_BYTES 16U /* of a blob, in a table */

typedef struct {
    CcsCellType type;
    char *text; /* owned; not NULL */
} KeptCell;

struct CcsRows {
    FILE *out;
    CcsFormat format;
    uint32_t n_columns;
    CcsColumn *columns; /* owned, with their names */
    uint64_t n_rows;
    GArray *kept; /* owned, KeptCell: row after row, for the formats that need all of them */
};

static const char *const format_names[] = {
    [CCS_FORMAT_TABLE] = "table",   [CCS_FORMAT_CSV] = "csv", [CCS_FORMAT_JSON] = "json",
    [CCS_FORMAT_NDJSON] = "ndjson", [CCS_FORMAT_MD] = "md",   [CCS_FORMAT_NCCL] = "nccl",
};

bool ccs_format_parse(const char *text, uint32_t allowed, CcsFormat *ret_format, GError **error)
{
    const char *candidates[G_N_ELEMENTS(format_names) + 1] = {NULL};
    uint32_t n_candidates = 0;

    for (CcsFormat format = 0; format < G_N_ELEMENTS(format_names); format++) {
        if ((allowed & 1U << format) == 0)
            continue;
        candidates[n_candidates++] = format_names[format];
        if (strcmp(text == NULL ? "table" : text, format_names[format]) == 0) {
            *ret_format = format;
            return true;
        }
    }
    g_autofree char *list = g_strjoinv(", ", (char **)(uintptr_t)candidates);
    g_autofree char *hint = ccs_did_you_mean(text, candidates);
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "the format must be one of %s, not '%s'%s", list,
                text, hint);
    return false;
}

static void clear_kept_cell(void *cell)
{
    g_free(((KeptCell *)cell)->text);
}

static void print_csv_text(FILE *out, const char *text)
{
    if (text[0] != '\0' && strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    putc('"', out);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"')
            putc('"', out);
        putc(*c, out);
    }
    putc('"', out);
}

static void print_csv_cell(const CcsRows *rows, uint32_t column, const CcsCell *cell)
{
    if (column > 0)
        putc(',', rows->out);
    if (cell->type != CCS_CELL_NULL)
        print_csv_text(rows->out, cell->text);
    if (column + 1 == rows->n_columns)
        putc('\n', rows->out);
}

static void print_json_character(FILE *out, char character)
{
    static const char escapes[][2] = {{'"', '"'},  {'\\', '\\'}, {'\n', 'n'},
                                      {'\r', 'r'}, {'\t', 't'},  {'\b', 'b'}};

    for (size_t i = 0; i < G_N_ELEMENTS(escapes); i++) {
        if (character == escapes[i][0]) {
            fprintf(out, "\\%c", escapes[i][1]);
            return;
        }
    }
    if ((unsigned char)character < ' ')
        fprintf(out, "\\u%04x", (unsigned)character);
    else
        putc(character, out);
}

static void print_json_text(FILE *out, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);

    putc('"', out);
    for (const char *c = valid; *c != '\0'; c++)
        print_json_character(out, *c);
    putc('"', out);
}

static bool is_finite_number(const char *text)
{
    char *end = NULL;

    return (g_ascii_isdigit(text[0]) || text[0] == '-') && isfinite(g_ascii_strtod(text, &end)) &&
           *end == '\0';
}

static void print_json_value(FILE *out, const CcsCell *cell)
{
    if (cell->type == CCS_CELL_TEXT)
        print_json_text(out, cell->text);
    else if (cell->type == CCS_CELL_NUMBER && is_finite_number(cell->text))
        fputs(cell->text, out);
    else
        fputs("null", out);
}

static void print_json_object(const CcsRows *rows, const CcsCell *cells)
{
    putc('{', rows->out);
    for (uint32_t i = 0; i < rows->n_columns; i++) {
        if (i > 0)
            putc(',', rows->out);
        print_json_text(rows->out, rows->columns[i].name);
        putc(':', rows->out);
        print_json_value(rows->out, &cells[i]);
    }
    putc('}', rows->out);
}

static void keep(CcsRows *rows, const CcsCell *cells)
{
    for (uint32_t i = 0; i < rows->n_columns; i++) {
        const char *text = cells[i].type == CCS_CELL_NULL ? "" : cells[i].text;
        KeptCell cell = {.type = cells[i].type, .text = g_utf8_make_valid(text, -1)};
        g_array_append_val(rows->kept, cell);
    }
}

static const KeptCell *kept_cell(const CcsRows *rows, uint64_t row, uint32_t column)
{
    return &g_array_index(rows->kept, KeptCell, row * rows->n_columns + column);
}

CcsRows *ccs_rows_new(FILE *out, CcsFormat format, const CcsColumn *columns, uint32_t n_columns)
{
    CcsRows *rows = g_new0(CcsRows, 1);

    g_assert(format != CCS_FORMAT_NCCL);
    rows->out = out;
    rows->format = format;
    rows->n_columns = n_columns;
    rows->columns = g_new0(CcsColumn, n_columns);
    rows->kept = g_array_new(FALSE, FALSE, sizeof(KeptCell));
    g_array_set_clear_func(rows->kept, clear_kept_cell);
    for (uint32_t i = 0; i < n_columns; i++) {
        CcsCell name = {.type = CCS_CELL_TEXT, .text = columns[i].name};
        rows->columns[i] = (CcsColumn){.name = g_strdup(name.text), .align = columns[i].align};
        if (format == CCS_FORMAT_CSV)
            print_csv_cell(rows, i, &name);
    }
    return rows;
}

void ccs_rows_free(CcsRows *rows)
{
    if (rows == NULL)
        return;
    for (uint32_t i = 0; i < rows->n_columns; i++)
        g_free((char *)(uintptr_t)rows->columns[i].name);
    g_free(rows->columns);
    g_array_unref(rows->kept);
    g_free(rows);
}

void ccs_rows_add(CcsRows *rows, const CcsCell *cells)
{
    switch (rows->format) {
    case CCS_FORMAT_TABLE:
    case CCS_FORMAT_MD:
        keep(rows, cells);
        break;
    case CCS_FORMAT_CSV:
        for (uint32_t i = 0; i < rows->n_columns; i++)
            print_csv_cell(rows, i, &cells[i]);
        break;
    case CCS_FORMAT_JSON:
        fputs(rows->n_rows == 0 ? "[" : ",\n ", rows->out);
        print_json_object(rows, cells);
        break;
    case CCS_FORMAT_NDJSON:
        print_json_object(rows, cells);
        putc('\n', rows->out);
        break;
    case CCS_FORMAT_NCCL:
        break;
    }
    rows->n_rows++;
}

static bool is_right(const CcsRows *rows, uint32_t column)
{
    bool has_number = false;

    if (rows->columns[column].align != CCS_ALIGN_AUTO)
        return rows->columns[column].align == CCS_ALIGN_RIGHT;
    for (uint64_t row = 0; row < rows->n_rows; row++) {
        CcsCellType type = kept_cell(rows, row, column)->type;
        if (type == CCS_CELL_TEXT)
            return false;
        has_number = has_number || type == CCS_CELL_NUMBER;
    }
    return has_number;
}

static void print_head_alone(const CcsRows *rows)
{
    for (uint32_t i = 0; i < rows->n_columns; i++)
        fprintf(rows->out, "%s%s", i == 0 ? "" : "  ", rows->columns[i].name);
    putc('\n', rows->out);
}

static void fill_table(const CcsRows *rows, struct libscols_table *table)
{
    for (uint32_t i = 0; i < rows->n_columns; i++)
        scols_table_new_column(table, rows->columns[i].name, 0,
                               is_right(rows, i) ? SCOLS_FL_RIGHT : 0);
    for (uint64_t row = 0; row < rows->n_rows; row++) {
        struct libscols_line *line = scols_table_new_line(table, NULL);
        for (uint32_t i = 0; i < rows->n_columns; i++)
            scols_line_set_data(line, i, kept_cell(rows, row, i)->text);
    }
}

/* As wide as it needs, on a terminal too: numbers that are cut off are worse than long lines. */
static void print_table(const CcsRows *rows)
{
    if (rows->n_rows == 0) { /* of which libsmartcols prints nothing at all */
        print_head_alone(rows);
        return;
    }
    struct libscols_table *table = scols_new_table();
    fill_table(rows, table);
    scols_table_set_stream(table, rows->out);
    scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
    scols_table_set_column_separator(table, "  ");
    scols_print_table(table);
    scols_unref_table(table);
}

/* Returns: (transfer full): @text as it may stand in a cell. */
static char *md_text(const char *text)
{
    GString *escaped = g_string_new(text);

    g_string_replace(escaped, "|", "\\|", 0);
    g_string_replace(escaped, "\r", "", 0);
    g_string_replace(escaped, "\n", " ", 0);
    return g_string_free(escaped, FALSE);
}

static int md_width(const CcsRows *rows, uint32_t column)
{
    g_autofree char *name = md_text(rows->columns[column].name);
    long width = MAX(g_utf8_strlen(name, -1), 3);

    for (uint64_t row = 0; row < rows->n_rows; row++) {
        g_autofree char *text = md_text(kept_cell(rows, row, column)->text);
        width = MAX(width, g_utf8_strlen(text, -1));
    }
    return (int)width;
}

static void print_md_cell(FILE *out, const char *text, int width, bool is_on_right)
{
    g_autofree char *escaped = md_text(text);
    int padding = width - (int)g_utf8_strlen(escaped, -1);

    if (is_on_right)
        fprintf(out, " %*s%s |", padding, "", escaped);
    else
        fprintf(out, " %s%*s |", escaped, padding, "");
}

static void print_md_rule(FILE *out, int width, bool is_on_right)
{
    g_autofree char *dashes = g_strnfill((gsize)width - 1, '-');

    fprintf(out, " %s%c |", dashes, is_on_right ? ':' : '-');
}

static void print_md_line(const CcsRows *rows, uint64_t row, const int *widths,
                          const bool *are_right)
{
    putc('|', rows->out);
    for (uint32_t i = 0; i < rows->n_columns; i++)
        print_md_cell(rows->out, kept_cell(rows, row, i)->text, widths[i], are_right[i]);
    putc('\n', rows->out);
}

static void print_md(const CcsRows *rows)
{
    g_autofree int *widths = g_new(int, rows->n_columns);
    g_autofree bool *are_right = g_new(bool, rows->n_columns);

    putc('|', rows->out);
    for (uint32_t i = 0; i < rows->n_columns; i++) {
        widths[i] = md_width(rows, i);
        are_right[i] = is_right(rows, i);
        print_md_cell(rows->out, rows->columns[i].name, widths[i], are_right[i]);
    }
    fputs("\n|", rows->out);
    for (uint32_t i = 0; i < rows->n_columns; i++)
        print_md_rule(rows->out, widths[i], are_right[i]);
    putc('\n', rows->out);
    for (uint64_t row = 0; row < rows->n_rows; row++)
        print_md_line(rows, row, widths, are_right);
}

bool ccs_rows_end(CcsRows *rows, GError **error)
{
    if (rows->format == CCS_FORMAT_TABLE)
        print_table(rows);
    else if (rows->format == CCS_FORMAT_MD)
        print_md(rows);
    else if (rows->format == CCS_FORMAT_JSON)
        fputs(rows->n_rows == 0 ? "[]\n" : "]\n", rows->out);
    bool is_written = fflush(rows->out) == 0 && !ferror(rows->out);
    if (is_written || errno == EPIPE)
        return true;
    g_set_error(error, CCS_ERROR, CCS_ERROR_IO, "standard output: error: cannot be written: %s",
                g_strerror(errno));
    return false;
}

static bool fail_with_statement(sqlite3_stmt *statement, GError **error)
{
    static const int faults_of_files[] = {SQLITE_BUSY,   SQLITE_LOCKED,   SQLITE_NOMEM,
                                          SQLITE_IOERR,  SQLITE_CORRUPT,  SQLITE_FULL,
                                          SQLITE_NOTADB, SQLITE_CANTOPEN, SQLITE_PROTOCOL};
    sqlite3 *db = sqlite3_db_handle(statement);
    int code = CCS_ERROR_INPUT; /* a CcsError */

    for (size_t i = 0; i < G_N_ELEMENTS(faults_of_files); i++) {
        if ((sqlite3_errcode(db) & 0xff) == faults_of_files[i])
            code = CCS_ERROR_IO;
    }
    g_set_error_literal(error, CCS_ERROR, code, sqlite3_errmsg(db));
    return false;
}

static CcsRows *rows_for(sqlite3_stmt *statement, FILE *out, CcsFormat format)
{
    uint32_t n_columns = (uint32_t)sqlite3_column_count(statement);
    g_autofree CcsColumn *columns = g_new0(CcsColumn, n_columns);

    for (uint32_t i = 0; i < n_columns; i++)
        columns[i].name = sqlite3_column_name(statement, (int)i);
    return ccs_rows_new(out, format, columns, n_columns);
}

/* Bytes as SQL writes them: x'c0ffee'. What is made for the eye shows the first of many, and how
 * many there are. */
static char *blob_text(sqlite3_stmt *statement, int column, bool is_cut)
{
    const uint8_t *bytes = sqlite3_column_blob(statement, column);
    uint32_t n_bytes = (uint32_t)sqlite3_column_bytes(statement, column);
    uint32_t n_shown = is_cut ? MIN(n_bytes, MAX_SHOWN_BYTES) : n_bytes;
    GString *text = g_string_new("x'");

    for (uint32_t i = 0; i < n_shown; i++)
        g_string_append_printf(text, "%02x", bytes[i]);
    if (n_shown < n_bytes)
        g_string_append_printf(text, "...' (%u bytes)", n_bytes);
    else
        g_string_append_c(text, '\'');
    return g_string_free(text, false);
}

static CcsCell cell_of(sqlite3_stmt *statement, int column)
{
    int type = sqlite3_column_type(statement, column);
    bool is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    const char *text = (const char *)sqlite3_column_text(statement, column);

    if (text == NULL)
        return (CcsCell){.type = CCS_CELL_NULL};
    return (CcsCell){.type = is_number ? CCS_CELL_NUMBER : CCS_CELL_TEXT, .text = text};
}

static void add_row_of(CcsRows *rows, sqlite3_stmt *statement)
{
    g_autofree CcsCell *cells = g_new(CcsCell, rows->n_columns);
    g_autoptr(GPtrArray) blobs = g_ptr_array_new_with_free_func(g_free);
    bool is_cut = rows->format == CCS_FORMAT_TABLE || rows->format == CCS_FORMAT_MD;

    for (uint32_t i = 0; i < rows->n_columns; i++) {
        if (sqlite3_column_type(statement, (int)i) == SQLITE_BLOB) {
            cells[i] = (CcsCell){CCS_CELL_TEXT, blob_text(statement, (int)i, is_cut)};
            g_ptr_array_add(blobs, (gpointer)(uintptr_t)cells[i].text);
        } else {
            cells[i] = cell_of(statement, (int)i);
        }
    }
    ccs_rows_add(rows, cells);
}

bool ccs_rows_print_statement(sqlite3_stmt *statement, FILE *out, CcsFormat format, GError **error)
{
    g_autoptr(CcsRows) rows = rows_for(statement, out, format);
    int code = sqlite3_step(statement);

    while (code == SQLITE_ROW && !ferror(out)) {
        add_row_of(rows, statement);
        code = sqlite3_step(statement);
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return fail_with_statement(statement, error);
    return rows->n_columns == 0 || ccs_rows_end(rows, error);
}
