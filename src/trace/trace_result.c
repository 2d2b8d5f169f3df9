#include <string.h>

#include "trace/trace_internal.h"

/* What nccl-tests and the simulator call "none" is SQL's NULL. */
static CcsSqlValue name_or_null(const char *name)
{
    return strcmp(name, "none") == 0 ? ccs_sql_null() : ccs_sql_text(name);
}

static gboolean append_setting(void *path, void *value, void *data)
{
    GString *text = data;

    g_string_append_printf(text, "%s%s = %s", text->len == 0 ? "" : "; ", (const char *)path,
                           (const char *)value);
    return FALSE;
}

static char *settings_text(CcsTrace *trace)
{
    GString *text = g_string_new(NULL);

    g_tree_foreach(trace->settings, append_setting, text);
    return g_string_free(text, FALSE);
}

static bool write_question(CcsTrace *trace, const CcsResult *question, int64_t topology_id,
                           GError **error)
{
    g_autofree char *settings = settings_text(trace);
    const CcsSqlValue values[] = {
        ccs_sql_integer(trace->run_id),
        ccs_sql_integer(topology_id),
        ccs_sql_text(question->collective),
        ccs_sql_text(question->algorithm),
        name_or_null(question->protocol),
        ccs_sql_text(question->transport),
        ccs_sql_text(question->model),
        ccs_sql_text(settings),
        ccs_sql_integer(question->n_nodes),
        ccs_sql_integer(question->n_ranks),
        ccs_sql_integer(question->n_channels),
        ccs_sql_integer(question->n_chunks),
        ccs_sql_integer((int64_t)question->size),
        ccs_sql_integer((int64_t)question->count),
        ccs_sql_text(question->dtype),
        name_or_null(question->op),
        ccs_sql_integer(question->root),
        ccs_sql_text(question->case_title),
    };

    return ccs_database_write(
        trace->database,
        "INSERT INTO result (run_id, topology_id, collective, algorithm,"
        " protocol, transport, model, settings, nodes, ranks, channels,"
        " chunks, size_bytes, count, dtype, op, root, case_title) VALUES (?1, ?2, ?3,"
        " ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
        values, G_N_ELEMENTS(values), error);
}

bool ccs_trace_begin_result(CcsTrace *trace, const CcsResult *question, int64_t topology_id,
                            GError **error)
{
    g_assert(trace->is_run_open && trace->result_id == 0);
    if (!ccs_database_begin(trace->database, error))
        return false;
    bool is_written = write_question(trace, question, topology_id, error);
    int64_t result_id = sqlite3_last_insert_rowid(ccs_database_handle(trace->database));
    if (!ccs_database_end(trace->database, is_written, error))
        return false;
    trace->result_id = result_id;
    ccs_trace_begin_flows(trace);
    return true;
}

static bool write_answer(CcsTrace *trace, const CcsResultRows *rows, GError **error)
{
    const CcsResult *result = rows->result;
    bool has_bottleneck = result->bottleneck != CCS_NO_LINK;
    const CcsLink *link =
        has_bottleneck ? ccs_topology_link(rows->topology, result->bottleneck) : NULL;
    g_autofree char *link_name =
        has_bottleneck ? ccs_topology_link_name(rows->topology, result->bottleneck) : NULL;
    const char *link_class =
        has_bottleneck ? ccs_topology_class_name(rows->topology, link->link_class) : NULL;
    const CcsSqlValue values[] = {
        ccs_sql_integer(trace->result_id),
        ccs_sql_integer(result->time),
        ccs_sql_real(result->algbw_GBps),
        ccs_sql_real(result->busbw_GBps),
        ccs_sql_integer(result->bound),
        ccs_sql_text(result->bound_name),
        ccs_sql_real(result->efficiency),
        ccs_sql_text(link_class),
        ccs_sql_text(link_name),
        has_bottleneck ? ccs_sql_real(result->bottleneck_utilisation) : ccs_sql_null(),
        ccs_sql_integer((int64_t)result->bytes_sent_max),
        ccs_sql_integer((int64_t)result->n_flows),
        result->is_probed ? ccs_sql_integer(result->time_digits) : ccs_sql_null(),
        ccs_sql_text(result->engine),
        ccs_sql_text(result->engine_reason),
    };

    return ccs_database_write(trace->database,
                              "UPDATE result SET time_ps = ?2, algbw_GBps = ?3, busbw_GBps = ?4,"
                              " bound_ps = ?5, bound = ?6, efficiency = ?7,"
                              " bottleneck_class = ?8, bottleneck_link = ?9,"
                              " bottleneck_utilisation = ?10, bytes_sent_max = ?11, flows = ?12,"
                              " time_digits = ?13, engine = ?14, engine_reason = ?15"
                              " WHERE result_id = ?1",
                              values, G_N_ELEMENTS(values), error);
}

static bool write_rank(CcsTrace *trace, const CcsResultRows *rows, uint32_t rank, GError **error)
{
    const CcsRankTotal *total = &rows->ranks[rank];
    const CcsSqlValue values[] = {
        ccs_sql_integer(trace->result_id),
        ccs_sql_integer(rank),
        rows->rank_vertices == NULL ? ccs_sql_null() : ccs_sql_integer(rows->rank_vertices[rank]),
        ccs_sql_integer((int64_t)total->bytes_sent),
        ccs_sql_integer((int64_t)total->bytes_received),
        ccs_sql_integer((int64_t)total->messages_sent),
        ccs_sql_integer((int64_t)total->messages_received),
        ccs_sql_integer(total->started),
        ccs_sql_integer(total->finished),
        total->sending == CCS_TIME_UNKNOWN ? ccs_sql_null() : ccs_sql_integer(total->sending),
    };

    return ccs_database_write(trace->database,
                              "INSERT INTO rank_summary VALUES"
                              " (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                              values, G_N_ELEMENTS(values), error);
}

static bool write_ranks(CcsTrace *trace, const CcsResultRows *rows, GError **error)
{
    for (uint32_t rank = 0; rows->ranks != NULL && rank < rows->result->n_ranks; rank++) {
        if (!write_rank(trace, rows, rank, error))
            return false;
    }
    return true;
}

static bool write_link_total(CcsTrace *trace, const CcsResultRows *rows, CcsLinkId id,
                             GError **error)
{
    const CcsLinkTotal *total = &rows->links[id];
    CcsRate bandwidth = ccs_topology_link(rows->topology, id)->bandwidth;
    double rate_GBps = ccs_bandwidth_GBps((double)total->bytes, rows->result->time);
    bool is_unlimited = bandwidth == CCS_RATE_UNLIMITED;
    bool is_known = total->busy != CCS_TIME_UNKNOWN;
    const CcsSqlValue values[] = {
        ccs_sql_integer(trace->result_id),
        ccs_sql_integer(id),
        ccs_sql_integer((int64_t)total->bytes),
        ccs_sql_integer((int64_t)total->messages),
        is_known ? ccs_sql_integer(total->busy) : ccs_sql_null(),
        ccs_sql_real(is_unlimited ? 0.0 : rate_GBps / ccs_rate_GBps(bandwidth)),
        is_known ? ccs_sql_real(ccs_rate_GBps(total->peak)) : ccs_sql_null(),
    };

    return ccs_database_write(trace->database,
                              "INSERT INTO link_summary VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                              values, G_N_ELEMENTS(values), error);
}

static bool write_links(CcsTrace *trace, const CcsResultRows *rows, GError **error)
{
    uint32_t n_links = rows->links == NULL ? 0 : ccs_topology_n_links(rows->topology);

    for (CcsLinkId id = 0; id < n_links; id++) {
        if (rows->links[id].messages > 0 && !write_link_total(trace, rows, id, error))
            return false;
    }
    return true;
}

static bool write_cause(CcsTrace *trace, const CcsResultRows *rows, CcsCause cause,
                        uint32_t link_class, GError **error)
{
    uint32_t n_classes = MAX(ccs_topology_n_classes(rows->topology), 1);
    CcsTime time = rows->critical_path[cause * n_classes + link_class];
    bool has_class = cause == CCS_CAUSE_BANDWIDTH || cause == CCS_CAUSE_LATENCY;
    const CcsSqlValue values[] = {
        ccs_sql_integer(trace->result_id),
        ccs_sql_text(ccs_cause_name(cause)),
        ccs_sql_text(has_class ? ccs_topology_class_name(rows->topology, link_class) : ""),
        ccs_sql_integer(time),
        ccs_sql_real((double)time / (double)MAX(rows->result->time, 1)),
    };

    return time == 0 || ccs_database_write(trace->database,
                                           "INSERT INTO critical_path VALUES (?1, ?2, ?3, ?4, ?5)",
                                           values, G_N_ELEMENTS(values), error);
}

static bool write_critical_path(CcsTrace *trace, const CcsResultRows *rows, GError **error)
{
    uint32_t n_classes = MAX(ccs_topology_n_classes(rows->topology), 1);

    if (rows->critical_path == NULL)
        return true;
    for (uint32_t i = 0; i < CCS_N_CAUSES * n_classes; i++) {
        if (!write_cause(trace, rows, i / n_classes, i % n_classes, error))
            return false;
    }
    return true;
}

static bool write_phases(CcsTrace *trace, const CcsResultRows *rows, GError **error)
{
    for (uint32_t i = 0; i < rows->n_phases; i++) {
        const CcsSqlValue values[] = {ccs_sql_integer(trace->result_id), ccs_sql_integer(i),
                                      ccs_sql_text(rows->phases[i])};
        if (!ccs_database_write(trace->database, "INSERT INTO phase VALUES (?1, ?2, ?3)", values,
                                G_N_ELEMENTS(values), error))
            return false;
    }
    return true;
}

static bool write_steps(CcsTrace *trace, const CcsResultRows *rows, GError **error)
{
    for (uint32_t i = 0; i < rows->n_steps; i++) {
        const CcsStepTotal *step = &rows->steps[i];
        const CcsSqlValue values[] = {
            ccs_sql_integer(trace->result_id),     ccs_sql_integer(step->phase),
            ccs_sql_integer(step->step),           ccs_sql_integer(step->started),
            ccs_sql_integer(step->finished),       ccs_sql_integer((int64_t)step->messages),
            ccs_sql_integer((int64_t)step->bytes),
        };
        if (!ccs_database_write(trace->database,
                                "INSERT INTO step VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", values,
                                G_N_ELEMENTS(values), error))
            return false;
    }
    return true;
}

static bool write_estimates(CcsTrace *trace, const CcsResultRows *rows, GError **error)
{
    for (uint32_t i = 0; i < rows->n_estimates; i++) {
        const CcsSqlValue values[] = {ccs_sql_integer(trace->result_id), ccs_sql_integer(i),
                                      ccs_sql_text(rows->estimates[i].label),
                                      ccs_sql_real(rows->estimates[i].time_us)};
        if (!ccs_database_write(trace->database, "INSERT INTO estimate VALUES (?1, ?2, ?3, ?4)",
                                values, G_N_ELEMENTS(values), error))
            return false;
    }
    return true;
}

static bool write_result(CcsTrace *trace, const CcsResultRows *rows, GError **error)
{
    if (!write_answer(trace, rows, error) || !write_estimates(trace, rows, error))
        return false;
    if (trace->level >= CCS_TRACE_SUMMARY &&
        !(write_ranks(trace, rows, error) && write_links(trace, rows, error) &&
          write_critical_path(trace, rows, error)))
        return false;
    if (trace->level >= CCS_TRACE_STEPS &&
        !(write_phases(trace, rows, error) && write_steps(trace, rows, error)))
        return false;
    return ccs_trace_write_last_flows(trace, error);
}

bool ccs_trace_end_result(CcsTrace *trace, const CcsResultRows *rows, GError **error)
{
    g_assert(trace->result_id != 0);
    if (!ccs_database_begin(trace->database, error))
        return false;
    if (!ccs_database_end(trace->database, write_result(trace, rows, error), error))
        return false;
    trace->result_id = 0;
    return true;
}
