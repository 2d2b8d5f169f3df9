#include "base/hash.h"
#include "trace/trace_internal.h"

static void hash_format(GChecksum *checksum, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void hash_format(GChecksum *checksum, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    g_autofree char *text = g_strdup_vprintf(format, values);
    va_end(values);
    g_checksum_update(checksum, (const unsigned char *)text, -1);
    g_checksum_update(checksum, (const unsigned char *)"\n", 1);
}

/* Over the vertices and links as well as the source, which does not show what was overridden. */
static char *hash_of(const CcsTopology *topology)
{
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);

    hash_format(checksum, "%s", ccs_topology_name(topology));
    hash_format(checksum, "%s", ccs_topology_source(topology));
    for (CcsVertexId id = 0; id < ccs_topology_n_vertices(topology); id++) {
        const CcsVertex *vertex = ccs_topology_vertex(topology, id);
        hash_format(checksum, "%s %u %u", vertex->name, vertex->kind, vertex->node);
    }
    for (CcsLinkId id = 0; id < ccs_topology_n_links(topology); id++) {
        const CcsLink *link = ccs_topology_link(topology, id);
        hash_format(checksum, "%u %u %" G_GINT64_FORMAT " %" G_GUINT64_FORMAT " %s", link->from,
                    link->to, link->alpha, link->bandwidth,
                    ccs_topology_class_name(topology, link->link_class));
    }
    return g_strdup(g_checksum_get_string(checksum));
}

/* Whether nobody can ask for the parts of a topology. */
static bool is_passing(const CcsTrace *trace)
{
    return trace->is_in_memory && trace->level == CCS_TRACE_NONE;
}

/* The same for a database that passes: it must only tell the topologies of one run apart. */
static char *number_of(const CcsTopology *topology)
{
    uint64_t number = g_str_hash(ccs_topology_source(topology));

    for (CcsLinkId id = 0; id < ccs_topology_n_links(topology); id++) {
        const CcsLink *link = ccs_topology_link(topology, id);
        number = ccs_mix(number ^ ((uint64_t)link->from << 32 | link->to));
        number = ccs_mix(number ^ (uint64_t)link->alpha) ^ link->bandwidth;
    }
    for (CcsVertexId id = 0; id < ccs_topology_n_vertices(topology); id++)
        number = ccs_mix(number ^ (uint64_t)ccs_topology_vertex(topology, id)->start_delay);
    return g_strdup_printf("%016" G_GINT64_MODIFIER "x", number);
}

static bool write_vertices(CcsTrace *trace, const CcsTopology *topology, int64_t topology_id,
                           GError **error)
{
    for (CcsVertexId id = 0; id < ccs_topology_n_vertices(topology); id++) {
        const CcsVertex *vertex = ccs_topology_vertex(topology, id);
        const CcsSqlValue values[] = {
            ccs_sql_integer(topology_id),
            ccs_sql_integer(id),
            ccs_sql_text(vertex->name),
            ccs_sql_text(ccs_vertex_kind_name(vertex->kind)),
            vertex->node == CCS_NO_NODE ? ccs_sql_null() : ccs_sql_integer(vertex->node),
        };
        if (!ccs_database_write(trace->database,
                                "INSERT INTO vertex (topology_id, vertex_id, name, kind, node)"
                                " VALUES (?1, ?2, ?3, ?4, ?5)",
                                values, G_N_ELEMENTS(values), error))
            return false;
    }
    return true;
}

static bool write_link(CcsTrace *trace, const CcsTopology *topology, int64_t topology_id,
                       CcsLinkId id, GError **error)
{
    const CcsLink *link = ccs_topology_link(topology, id);
    g_autofree char *name = ccs_topology_link_name(topology, id);
    bool is_unlimited = link->bandwidth == CCS_RATE_UNLIMITED;
    const CcsSqlValue values[] = {
        ccs_sql_integer(topology_id),
        ccs_sql_integer(id),
        ccs_sql_text(name),
        ccs_sql_integer(link->from),
        ccs_sql_integer(link->to),
        ccs_sql_text(ccs_topology_class_name(topology, link->link_class)),
        is_unlimited ? ccs_sql_null() : ccs_sql_real(ccs_rate_GBps(link->bandwidth)),
        ccs_sql_integer(link->alpha),
    };

    return ccs_database_write(trace->database,
                              "INSERT INTO link (topology_id, link_id, name, from_vertex,"
                              " to_vertex, class, bandwidth_GBps, latency_ps)"
                              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                              values, G_N_ELEMENTS(values), error);
}

static bool write_topology(CcsTrace *trace, const CcsTopology *topology, const char *hash,
                           int64_t *ret_topology_id, GError **error)
{
    const CcsSqlValue values[] = {
        ccs_sql_text(ccs_topology_name(topology)),
        ccs_sql_text(hash),
        ccs_sql_text(ccs_topology_source(topology)),
        ccs_sql_integer(ccs_topology_n_nodes(topology)),
        ccs_sql_integer(ccs_topology_n_gpus(topology)),
        ccs_sql_integer(ccs_topology_n_vertices(topology)),
        ccs_sql_integer(ccs_topology_n_links(topology)),
    };

    if (!ccs_database_write(trace->database,
                            "INSERT INTO topology (name, sha256, source, nodes, gpus, vertices,"
                            " links) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                            values, G_N_ELEMENTS(values), error))
        return false;
    *ret_topology_id = sqlite3_last_insert_rowid(ccs_database_handle(trace->database));
    if (is_passing(trace))
        return true;
    if (!write_vertices(trace, topology, *ret_topology_id, error))
        return false;
    for (CcsLinkId id = 0; id < ccs_topology_n_links(topology); id++) {
        if (!write_link(trace, topology, *ret_topology_id, id, error))
            return false;
    }
    return true;
}

static bool find_or_write(CcsTrace *trace, const CcsTopology *topology, const char *hash,
                          int64_t *ret_topology_id, GError **error)
{
    const CcsSqlValue values[] = {ccs_sql_text(hash)};

    if (!ccs_database_read_integer(trace->database,
                                   "SELECT topology_id FROM topology WHERE sha256 = ?1", values,
                                   G_N_ELEMENTS(values), ret_topology_id, error))
        return false;
    return *ret_topology_id != 0 || write_topology(trace, topology, hash, ret_topology_id, error);
}

bool ccs_trace_add_topology(CcsTrace *trace, const CcsTopology *topology, int64_t *ret_topology_id,
                            GError **error)
{
    g_autofree char *hash = is_passing(trace) ? number_of(topology) : hash_of(topology);
    int64_t topology_id = 0;

    if (!ccs_database_begin(trace->database, error))
        return false;
    bool is_written = find_or_write(trace, topology, hash, &topology_id, error);
    if (!ccs_database_end(trace->database, is_written, error))
        return false;
    *ret_topology_id = topology_id;
    return true;
}
