#include "trace/flow_store.h"

#include "trace/flow_chunk.h"

/* Many rows to a statement: to start one costs about as much as to write a row. */
#define ROWS_PER_INSERT 32
#define ROW_COLUMNS     13

bool ccs_flow_store_can_pack(CcsDatabase *database, bool *ret_can, GError **error)
{
    int64_t n_tables = 0;

    if (!ccs_database_read_integer(
            database, "SELECT count(*) FROM sqlite_schema WHERE name IN ('flow_chunk', 'flow_any')",
            NULL, 0, &n_tables, error))
        return false;
    *ret_can = n_tables == 2;
    return true;
}

static void bind_row(sqlite3_stmt *statement, int row, int64_t id, const CcsFlow *flow)
{
    const int64_t values[ROW_COLUMNS] = {
        id,
        flow->lane,
        flow->message,
        flow->channel,
        flow->phase,
        flow->src,
        flow->dst,
        (int64_t)flow->bytes,
        flow->is_reduced,
        flow->started,
        flow->entered,
        flow->injected,
        flow->arrived,
    };

    for (int i = 0; i < ROW_COLUMNS; i++)
        sqlite3_bind_int64(statement, row * ROW_COLUMNS + i + 1, values[i]);
}

static char *insertion_of(uint32_t n_rows)
{
    GString *sql = g_string_new("INSERT INTO flow_row VALUES ");

    for (uint32_t row = 0; row < n_rows; row++)
        g_string_append(sql,
                        row == 0 ? "(?,?,?,?,?,?,?,?,?,?,?,?,?)" : ",(?,?,?,?,?,?,?,?,?,?,?,?,?)");
    return g_string_free(sql, FALSE);
}

/* @n_flows is a multiple of @n_per_insert. */
static bool insert(CcsDatabase *database, int64_t first_id, const CcsFlow *flows, uint32_t n_flows,
                   uint32_t n_per_insert, GError **error)
{
    g_autofree char *sql = insertion_of(n_per_insert);
    sqlite3_stmt *statement = ccs_database_statement(database, sql, error);

    if (statement == NULL)
        return false;
    for (uint32_t i = 0; i < n_flows; i += n_per_insert) {
        for (uint32_t row = 0; row < n_per_insert; row++)
            bind_row(statement, (int)row, first_id + i + row, &flows[i + row]);
        if (sqlite3_step(statement) != SQLITE_DONE)
            return ccs_database_fail(database, error);
        sqlite3_reset(statement);
    }
    return true;
}

bool ccs_flow_store_rows(CcsDatabase *database, int64_t first_id, const CcsFlow *flows,
                         uint32_t n_flows, GError **error)
{
    uint32_t n_in_full = n_flows - n_flows % ROWS_PER_INSERT;

    return insert(database, first_id, flows, n_in_full, ROWS_PER_INSERT, error) &&
           insert(database, first_id + n_in_full, flows + n_in_full, n_flows - n_in_full, 1, error);
}

bool ccs_flow_store_chunk(CcsDatabase *database, int64_t first_id, const CcsFlow *flows,
                          uint32_t n_flows, GError **error)
{
    CcsFlowSpan span = ccs_flow_chunk_span(flows, n_flows);
    g_autoptr(GBytes) data = ccs_flow_chunk_pack(flows, n_flows);
    CcsSqlValue values[2 + 2 * CCS_N_FLOW_TIMES + 1] = {ccs_sql_integer(first_id),
                                                        ccs_sql_integer(n_flows)};

    for (uint32_t which = 0; which < CCS_N_FLOW_TIMES; which++) {
        values[2 + 2 * which] = ccs_sql_integer(span.least[which]);
        values[3 + 2 * which] = ccs_sql_integer(span.most[which]);
    }
    values[2 + 2 * CCS_N_FLOW_TIMES] =
        ccs_sql_blob(g_bytes_get_data(data, NULL), g_bytes_get_size(data));
    return ccs_database_write(
        database, "INSERT INTO flow_chunk VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        values, G_N_ELEMENTS(values), error);
}

bool ccs_flow_store_set_view(CcsDatabase *database, bool is_packed, GError **error)
{
    int64_t is_view = 0;

    if (!ccs_database_read_integer(
            database,
            "SELECT count(*) FROM sqlite_schema WHERE name = 'flow_any' AND type = 'view'", NULL, 0,
            &is_view, error))
        return false;
    if (is_view == !is_packed)
        return true;
    if (is_packed)
        return ccs_database_execute(database,
                                    "DROP VIEW flow_any;"
                                    "CREATE VIRTUAL TABLE flow_any USING flow_packed",
                                    error);
    g_autofree char *view = ccs_database_resource("flow_any.sql");
    return ccs_database_execute(database, "DROP TABLE flow_any", error) &&
           ccs_database_execute(database, view, error);
}
