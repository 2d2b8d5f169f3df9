#include "trace/unpack.h"

#include "base/error.h"
#include "base/interrupt.h"
#include "trace/flow_chunk.h"
#include "trace/flow_store.h"

/* ?1 is the run, ?2 the result; 0 for all. */
#define IS_CHOSEN                                                                                  \
    "(?1 = 0 OR first_flow_id >> 32 IN (SELECT result_id FROM result WHERE run_id = ?1))"          \
    " AND (?2 = 0 OR first_flow_id BETWEEN ?2 << 32 AND (?2 << 32) + 0xffffffff)"

static bool is_there(CcsDatabase *database, const char *sql, const char *what, int64_t id,
                     GError **error)
{
    const CcsSqlValue values[] = {ccs_sql_integer(id)};
    int64_t n_rows = 0;

    if (id == 0)
        return true;
    if (!ccs_database_read_integer(database, sql, values, G_N_ELEMENTS(values), &n_rows, error))
        return false;
    if (n_rows == 0)
        g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT,
                    "%s: error: there is no %s %" G_GINT64_FORMAT " in it",
                    ccs_database_path(database), what, id);
    return n_rows > 0;
}

static bool unpack_chunk(CcsDatabase *database, sqlite3_stmt *chunk, CcsFlow *flows,
                         uint64_t *n_flows, GError **error)
{
    int64_t first_id = sqlite3_column_int64(chunk, 0);
    int64_t n = sqlite3_column_int64(chunk, 1);
    const void *data = sqlite3_column_blob(chunk, 2);
    size_t size = (size_t)sqlite3_column_bytes(chunk, 2);

    if (n < 0 || n > CCS_FLOW_CHUNK_FLOWS || first_id > INT64_MAX - n) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_IO,
                    "%s: error: flow_chunk %" G_GINT64_FORMAT ": a number that cannot be",
                    ccs_database_path(database), first_id);
        return false;
    }
    if (!ccs_flow_chunk_unpack(data, size, (uint32_t)n, flows, error)) {
        g_prefix_error(error, "%s: error: flow_chunk %" G_GINT64_FORMAT ": ",
                       ccs_database_path(database), first_id);
        return false;
    }
    *n_flows += (uint64_t)n;
    return ccs_interrupt_check(error) &&
           ccs_flow_store_rows(database, first_id, flows, (uint32_t)n, error);
}

static bool unpack_chunks(CcsDatabase *database, CcsUnpackChoice choice, uint64_t *n_flows,
                          GError **error)
{
    g_autofree CcsFlow *flows = g_new(CcsFlow, CCS_FLOW_CHUNK_FLOWS);
    sqlite3_stmt *chunks =
        ccs_database_statement(database,
                               "SELECT first_flow_id, flows, data FROM flow_chunk WHERE " IS_CHOSEN
                               " ORDER BY first_flow_id",
                               error);
    bool is_good = chunks != NULL;
    int code = SQLITE_DONE;

    if (!is_good)
        return false;
    sqlite3_bind_int64(chunks, 1, choice.run_id);
    sqlite3_bind_int64(chunks, 2, choice.result_id);
    while (is_good && (code = sqlite3_step(chunks)) == SQLITE_ROW)
        is_good = unpack_chunk(database, chunks, flows, n_flows, error);
    if (is_good && code != SQLITE_DONE)
        is_good = ccs_database_fail(database, error);
    sqlite3_reset(chunks);
    return is_good;
}

static bool remove_chunks(CcsDatabase *database, CcsUnpackChoice choice, GError **error)
{
    const CcsSqlValue values[] = {ccs_sql_integer(choice.run_id),
                                  ccs_sql_integer(choice.result_id)};
    int64_t n_left = 0;

    return ccs_database_write(database, "DELETE FROM flow_chunk WHERE " IS_CHOSEN, values,
                              G_N_ELEMENTS(values), error) &&
           ccs_database_read_integer(database, "SELECT EXISTS (SELECT 1 FROM flow_chunk)", NULL, 0,
                                     &n_left, error) &&
           (n_left > 0 || ccs_flow_store_set_view(database, false, error));
}

static bool unpack(CcsDatabase *database, CcsUnpackChoice choice, uint64_t *n_flows, GError **error)
{
    bool can_pack = false;

    if (!ccs_flow_store_can_pack(database, &can_pack, error) ||
        !is_there(database, "SELECT count(*) FROM run WHERE run_id = ?1", "run", choice.run_id,
                  error) ||
        !is_there(database, "SELECT count(*) FROM result WHERE result_id = ?1", "result",
                  choice.result_id, error))
        return false;
    return !can_pack || (unpack_chunks(database, choice, n_flows, error) &&
                         remove_chunks(database, choice, error));
}

bool ccs_unpack_flows(CcsDatabase *database, CcsUnpackChoice choice, uint64_t *ret_n_flows,
                      GError **error)
{
    uint64_t n_flows = 0;

    if (!ccs_database_begin(database, error) ||
        !ccs_database_end(database, unpack(database, choice, &n_flows, error), error))
        return false;
    *ret_n_flows = n_flows;
    return true;
}
