#include "trace/flow_packed.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <glib.h>

#ifndef CCS_EXTENSION
#define SQLITE_CORE 1 /* call SQLite itself, not the table of functions given to extensions */
#endif
#include <sqlite3ext.h>

#include "trace/flow_chunk.h"

SQLITE_EXTENSION_INIT3

#define FLOW_ID_BITS   32
#define PS_PER_US      1e6
#define MANY_FLOWS     1e8
#define FLOWS_OF_A_RUN 1e6
#define COST_OF_A_FLOW 30

/* The columns, as TABLE declares them. The times of an order are CCS_FLOW_STARTED, ... */
enum {
    FLOW_ID,
    RESULT_ID,
    LANE,
    MESSAGE,
    CHANNEL,
    PHASE_ID,
    SRC,
    DST,
    BYTES,
    IS_REDUCED,
    FIRST_PS,
    FIRST_US = FIRST_PS + CCS_N_FLOW_TIMES,
    N_COLUMNS = FIRST_US + CCS_N_FLOW_TIMES
};

/* The types decide how values are compared with text, which must not depend on the form. */
static const char declaration[] =
    "CREATE TABLE x (flow_id INTEGER, result_id, lane INTEGER, message INTEGER, channel INTEGER,"
    " phase_id INTEGER, src INTEGER, dst INTEGER, bytes INTEGER, is_reduced INTEGER,"
    " started_ps INTEGER, entered_ps INTEGER, injected_ps INTEGER, arrived_ps INTEGER,"
    " started_us, entered_us, injected_us, arrived_us)";

typedef struct {
    sqlite3_vtab base;
    sqlite3 *db;
    char *schema; /* owned: "main", or the name under which the file was attached */
} Table;

/* Inclusive on both sides. */
typedef struct {
    int64_t least;
    int64_t most;
} Range;

typedef struct {
    sqlite3_vtab_cursor base;
    Range ids;
    Range times[CCS_N_FLOW_TIMES];
    sqlite3_stmt *rows;   /* owned: of flow_row; NULL when there are no more */
    sqlite3_stmt *chunks; /* owned: of flow_chunk; likewise */
    CcsFlow *flows;       /* owned: of one chunk, or one row */
    int64_t first_id;     /* of flows[0]; the others count up from it */
    uint32_t n_flows;
    uint32_t at; /* the current one; n_flows at the end */
} Cursor;

static int connect(sqlite3 *db, G_GNUC_UNUSED void *data, G_GNUC_UNUSED int argc,
                   const char *const *argv, sqlite3_vtab **ret_table, G_GNUC_UNUSED char **message)
{
    int code = sqlite3_declare_vtab(db, declaration);

    if (code != SQLITE_OK)
        return code;
    sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS); /* it reads this database, and no more */
    Table *table = g_new0(Table, 1);
    table->db = db;
    table->schema = g_strdup(argv[1]);
    *ret_table = &table->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base)
{
    Table *table = (Table *)base;

    g_free(table->schema);
    g_free(table);
    return SQLITE_OK;
}

static bool is_bounded(int column)
{
    return column == FLOW_ID || column == RESULT_ID || (column >= FIRST_PS && column < N_COLUMNS);
}

static bool is_comparison(int op)
{
    return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GT ||
           op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_LT ||
           op == SQLITE_INDEX_CONSTRAINT_LE;
}

/* The ways in which the ids are bounded: from below, from above. */
static uint32_t sides_bounded(int column, int op)
{
    if (column != FLOW_ID && column != RESULT_ID)
        return 0;
    if (op == SQLITE_INDEX_CONSTRAINT_EQ)
        return 3;
    return op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE ? 1 : 2;
}

/* A scan costs more than its rows: it is better begun once than for each row of another table. */
static void estimate(sqlite3_index_info *info, uint32_t sides, uint32_t n_times)
{
    double n_flows = sides == 3 ? FLOWS_OF_A_RUN : sides == 0 ? MANY_FLOWS : MANY_FLOWS / 4;

    n_flows /= n_times >= 2 ? 100 : n_times == 1 ? 4 : 1;
    info->estimatedRows = (sqlite3_int64)n_flows;
    info->estimatedCost = n_flows * COST_OF_A_FLOW;
}

/* idxStr says of each argument of filter() the column and the comparison: "%d,%d;". SQLite checks
 * all of them again, row by row, so that bounds may be wider than what was asked. */
static int best_index(G_GNUC_UNUSED sqlite3_vtab *base, sqlite3_index_info *info)
{
    g_autoptr(GString) plan = g_string_new(NULL);
    uint32_t sides = 0;
    uint32_t n_times = 0;
    int n_arguments = 0;

    for (int i = 0; i < info->nConstraint; i++) {
        int column = info->aConstraint[i].iColumn;
        int op = info->aConstraint[i].op;
        column = column < 0 ? FLOW_ID : column;
        if (!info->aConstraint[i].usable || !is_bounded(column) || !is_comparison(op))
            continue;
        info->aConstraintUsage[i].argvIndex = ++n_arguments;
        g_string_append_printf(plan, "%d,%d;", column, op);
        sides |= sides_bounded(column, op);
        n_times += column >= FIRST_PS;
    }
    estimate(info, sides, n_times);
    info->orderByConsumed = info->nOrderBy == 1 && !info->aOrderBy[0].desc &&
                            (info->aOrderBy[0].iColumn == FLOW_ID || info->aOrderBy[0].iColumn < 0);
    info->idxStr = sqlite3_mprintf("%s", plan->str);
    info->needToFreeIdxStr = 1;
    return info->idxStr == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static int open_cursor(G_GNUC_UNUSED sqlite3_vtab *base, sqlite3_vtab_cursor **ret_cursor)
{
    Cursor *cursor = g_new0(Cursor, 1);

    *ret_cursor = &cursor->base;
    return SQLITE_OK;
}

static void end_statement(sqlite3_stmt **statement)
{
    sqlite3_finalize(*statement);
    *statement = NULL;
}

static void rewind_cursor(Cursor *cursor)
{
    end_statement(&cursor->rows);
    end_statement(&cursor->chunks);
    cursor->at = 0;
    cursor->n_flows = 0;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    Cursor *cursor = (Cursor *)base;

    rewind_cursor(cursor);
    g_free(cursor->flows);
    g_free(cursor);
    return SQLITE_OK;
}

/* The range of integers that holds all that compare so to @value. Those at a bound count as well,
 * so the order of rounding does not matter. */
static Range range_of(int op, double least, double most)
{
    const double beyond = 9223372036854775807.0; /* rounds up to 2^63 */
    Range range = {INT64_MIN, INT64_MAX};

    if (op != SQLITE_INDEX_CONSTRAINT_LT && op != SQLITE_INDEX_CONSTRAINT_LE && least > -beyond)
        range.least = least >= beyond ? INT64_MAX : (int64_t)least;
    if (op != SQLITE_INDEX_CONSTRAINT_GT && op != SQLITE_INDEX_CONSTRAINT_GE && most < beyond)
        range.most = most <= -beyond ? INT64_MIN : (int64_t)most;
    return range;
}

/* What is asked of a column of integers, or of one of microseconds, in integers. Text and blobs
 * are left to SQLite, for their order is its own. */
static Range asked_range(int op, sqlite3_value *value, double scale)
{
    int type = sqlite3_value_type(value);

    if (type == SQLITE_NULL)
        return (Range){INT64_MAX, INT64_MIN};
    if (type == SQLITE_INTEGER && scale == 1.0) {
        int64_t asked = sqlite3_value_int64(value);
        Range range = range_of(op, -INFINITY, INFINITY);
        bool is_most = op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
        bool is_least = op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
        range.least = is_most ? INT64_MIN : asked;
        range.most = is_least ? INT64_MAX : asked;
        return range;
    }
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        return (Range){INT64_MIN, INT64_MAX};
    double asked = sqlite3_value_double(value) * scale;
    double slack = 1 + fabs(asked) * 1e-12; /* far more than is lost by rounding */
    return range_of(op, floor(asked - slack), ceil(asked + slack));
}

static void narrow(Range *range, Range by)
{
    range->least = MAX(range->least, by.least);
    range->most = MIN(range->most, by.most);
}

/* The flows of results. */
static Range ids_of(Range results)
{
    const int64_t largest = INT64_MAX >> FLOW_ID_BITS;
    Range ids = {INT64_MIN, INT64_MAX};

    if (results.least > largest || results.most < 0 || results.least > results.most)
        return (Range){INT64_MAX, INT64_MIN};
    if (results.least > 0)
        ids.least = results.least << FLOW_ID_BITS;
    if (results.most < largest)
        ids.most = (results.most + 1) * ((int64_t)1 << FLOW_ID_BITS) - 1;
    return ids;
}

static void bound(Cursor *cursor, int column, int op, sqlite3_value *value)
{
    if (column >= FIRST_US)
        narrow(&cursor->times[column - FIRST_US], asked_range(op, value, PS_PER_US));
    else if (column >= FIRST_PS)
        narrow(&cursor->times[column - FIRST_PS], asked_range(op, value, 1));
    else if (column == RESULT_ID)
        narrow(&cursor->ids, ids_of(asked_range(op, value, 1)));
    else
        narrow(&cursor->ids, asked_range(op, value, 1));
}

static void bound_by_plan(Cursor *cursor, const char *plan, sqlite3_value **values, int n_values)
{
    cursor->ids = (Range){INT64_MIN, INT64_MAX};
    for (uint32_t which = 0; which < CCS_N_FLOW_TIMES; which++)
        cursor->times[which] = (Range){INT64_MIN, INT64_MAX};
    for (int i = 0; i < n_values; i++) {
        char *next = NULL;
        int column = (int)strtol(plan, &next, 10);
        int op = (int)strtol(next + 1, &next, 10);
        bound(cursor, column, op, values[i]);
        plan = next + 1;
    }
}

static int fail(Cursor *cursor, int code, const char *message)
{
    Table *table = (Table *)cursor->base.pVtab;

    sqlite3_free(table->base.zErrMsg);
    table->base.zErrMsg = sqlite3_mprintf("%s", message);
    return code;
}

static int prepare(Cursor *cursor, const char *sql, sqlite3_stmt **ret_statement)
{
    Table *table = (Table *)cursor->base.pVtab;
    char *text = sqlite3_mprintf(sql, table->schema);
    int code = sqlite3_prepare_v2(table->db, text, -1, ret_statement, NULL);

    sqlite3_free(text);
    return code == SQLITE_OK ? code : fail(cursor, code, sqlite3_errmsg(table->db));
}

static void bind(sqlite3_stmt *statement, int first, Range range)
{
    sqlite3_bind_int64(statement, first, range.least);
    sqlite3_bind_int64(statement, first + 1, range.most);
}

/* Steps on. At the end of the rows the statement is ended as well. */
static int step(Cursor *cursor, sqlite3_stmt **statement)
{
    Table *table = (Table *)cursor->base.pVtab;
    int code = *statement == NULL ? SQLITE_DONE : sqlite3_step(*statement);

    if (code == SQLITE_ROW)
        return SQLITE_OK;
    if (code != SQLITE_DONE)
        return fail(cursor, code, sqlite3_errmsg(table->db));
    end_statement(statement);
    return SQLITE_OK;
}

static int64_t next_id(sqlite3_stmt *statement)
{
    return statement == NULL ? INT64_MAX : sqlite3_column_int64(statement, 0);
}

static int read_row(Cursor *cursor)
{
    sqlite3_stmt *row = cursor->rows;

    cursor->flows[0] = (CcsFlow){.lane = (uint32_t)sqlite3_column_int64(row, 1),
                                 .message = (uint32_t)sqlite3_column_int64(row, 2),
                                 .channel = (uint32_t)sqlite3_column_int64(row, 3),
                                 .phase = (uint32_t)sqlite3_column_int64(row, 4),
                                 .src = (uint32_t)sqlite3_column_int64(row, 5),
                                 .dst = (uint32_t)sqlite3_column_int64(row, 6),
                                 .bytes = (CcsBytes)sqlite3_column_int64(row, 7),
                                 .is_reduced = sqlite3_column_int64(row, 8) != 0,
                                 .started = sqlite3_column_int64(row, 9),
                                 .entered = sqlite3_column_int64(row, 10),
                                 .injected = sqlite3_column_int64(row, 11),
                                 .arrived = sqlite3_column_int64(row, 12)};
    cursor->n_flows = 1;
    return step(cursor, &cursor->rows);
}

static int read_chunk(Cursor *cursor)
{
    sqlite3_stmt *chunk = cursor->chunks;
    int64_t n_flows = sqlite3_column_int64(chunk, 1);
    const void *data = sqlite3_column_blob(chunk, 2);
    size_t size = (size_t)sqlite3_column_bytes(chunk, 2);
    g_autoptr(GError) error = NULL;

    if (n_flows < 0 || n_flows > CCS_FLOW_CHUNK_FLOWS || cursor->first_id > INT64_MAX - n_flows ||
        !ccs_flow_chunk_unpack(data, size, (uint32_t)n_flows, cursor->flows, &error)) {
        g_autofree char *message = g_strdup_printf(
            "flow_chunk %" G_GINT64_FORMAT ": %s", cursor->first_id,
            error == NULL ? "damaged flows: a number that cannot be" : error->message);
        return fail(cursor, SQLITE_CORRUPT, message);
    }
    cursor->n_flows = (uint32_t)n_flows;
    return step(cursor, &cursor->chunks);
}

/* Ids do not overlap, so the part that begins first is read first. */
static int read_part(Cursor *cursor)
{
    int64_t row_id = next_id(cursor->rows);
    int64_t chunk_id = next_id(cursor->chunks);

    cursor->at = 0;
    cursor->n_flows = 0;
    if (cursor->flows == NULL)
        cursor->flows = g_new(CcsFlow, CCS_FLOW_CHUNK_FLOWS);
    cursor->first_id = MIN(row_id, chunk_id);
    if (cursor->rows != NULL && row_id <= chunk_id)
        return read_row(cursor);
    return read_chunk(cursor);
}

static bool is_asked_for(const Cursor *cursor)
{
    int64_t id = cursor->first_id + cursor->at;
    bool is_asked = id >= cursor->ids.least && id <= cursor->ids.most;

    for (uint32_t which = 0; which < CCS_N_FLOW_TIMES && is_asked; which++) {
        CcsTime time = ccs_flow_time(&cursor->flows[cursor->at], which);
        is_asked = time >= cursor->times[which].least && time <= cursor->times[which].most;
    }
    return is_asked;
}

static bool has_more(const Cursor *cursor)
{
    return cursor->at < cursor->n_flows || cursor->rows != NULL || cursor->chunks != NULL;
}

/* Goes on until the current flow is one that was asked for, or the end. */
static int settle(Cursor *cursor)
{
    while (has_more(cursor)) {
        for (; cursor->at < cursor->n_flows; cursor->at++) {
            if (is_asked_for(cursor))
                return SQLITE_OK;
        }
        if (cursor->rows == NULL && cursor->chunks == NULL)
            break;
        int code = read_part(cursor);
        if (code != SQLITE_OK)
            return code;
    }
    return SQLITE_OK;
}

/* A chunk begins up to its length before the flow that is looked for. */
static int start(Cursor *cursor)
{
    Range from = cursor->ids;
    int code = prepare(cursor, "SELECT * FROM \"%w\".flow_row WHERE flow_id BETWEEN ?1 AND ?2",
                       &cursor->rows);

    if (code == SQLITE_OK)
        code = prepare(cursor,
                       "SELECT first_flow_id, flows, data FROM \"%w\".flow_chunk"
                       " WHERE first_flow_id BETWEEN ?1 AND ?2"
                       " AND started_max_ps >= ?3 AND started_min_ps <= ?4"
                       " AND entered_max_ps >= ?5 AND entered_min_ps <= ?6"
                       " AND injected_max_ps >= ?7 AND injected_min_ps <= ?8"
                       " AND arrived_max_ps >= ?9 AND arrived_min_ps <= ?10",
                       &cursor->chunks);
    if (code != SQLITE_OK)
        return code;
    bind(cursor->rows, 1, cursor->ids);
    if (from.least > INT64_MIN + CCS_FLOW_CHUNK_FLOWS)
        from.least -= CCS_FLOW_CHUNK_FLOWS - 1;
    bind(cursor->chunks, 1, from);
    for (int which = 0; which < CCS_N_FLOW_TIMES; which++)
        bind(cursor->chunks, 3 + 2 * which, cursor->times[which]);
    code = step(cursor, &cursor->rows);
    return code == SQLITE_OK ? step(cursor, &cursor->chunks) : code;
}

static int filter(sqlite3_vtab_cursor *base, G_GNUC_UNUSED int number, const char *plan,
                  int n_values, sqlite3_value **values)
{
    Cursor *cursor = (Cursor *)base;

    rewind_cursor(cursor);
    bound_by_plan(cursor, plan, values, n_values);
    if (cursor->ids.least > cursor->ids.most)
        return SQLITE_OK;
    int code = start(cursor);
    return code == SQLITE_OK ? settle(cursor) : code;
}

static int next(sqlite3_vtab_cursor *base)
{
    Cursor *cursor = (Cursor *)base;

    cursor->at++;
    return settle(cursor);
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    const Cursor *cursor = (const Cursor *)base;

    return cursor->at >= cursor->n_flows;
}

static int64_t integer_of(const Cursor *cursor, int column)
{
    const CcsFlow *flow = &cursor->flows[cursor->at];
    int64_t id = cursor->first_id + cursor->at;

    switch (column) {
    case FLOW_ID:
        return id;
    case RESULT_ID:
        return id >> FLOW_ID_BITS;
    case LANE:
        return flow->lane;
    case MESSAGE:
        return flow->message;
    case CHANNEL:
        return flow->channel;
    case PHASE_ID:
        return flow->phase;
    case SRC:
        return flow->src;
    case DST:
        return flow->dst;
    case BYTES:
        return (int64_t)flow->bytes;
    case IS_REDUCED:
        return flow->is_reduced;
    default:
        return ccs_flow_time(flow, (uint32_t)(column - FIRST_PS));
    }
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int n)
{
    const Cursor *cursor = (const Cursor *)base;

    if (n >= FIRST_US)
        sqlite3_result_double(context,
                              (double)integer_of(cursor, n - CCS_N_FLOW_TIMES) / PS_PER_US);
    else
        sqlite3_result_int64(context, integer_of(cursor, n));
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_id)
{
    *ret_id = integer_of((const Cursor *)base, FLOW_ID);
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .xCreate = connect, /* the same: there is a table by the name of the module as well */
    .xConnect = connect,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xDestroy = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = is_at_end,
    .xColumn = column,
    .xRowid = rowid,
};

int ccs_flow_packed_register(sqlite3 *db)
{
    return sqlite3_create_module_v2(db, "flow_packed", &module, NULL, NULL);
}
