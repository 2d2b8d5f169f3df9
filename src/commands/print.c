#include "commands/print.h"

#include <string.h>

#include "commands/crossovers.h"
#include "commands/winners.h"

/* The columns of one row, as text; freed together. */
typedef struct {
    GArray *columns;  /* of CcsColumn */
    GArray *cells;    /* of CcsCell */
    GPtrArray *texts; /* owned */
} Row;

static void row_init(Row *row)
{
    row->columns = g_array_new(false, false, sizeof(CcsColumn));
    row->cells = g_array_new(false, false, sizeof(CcsCell));
    row->texts = g_ptr_array_new_with_free_func(g_free);
}

static void row_clear(Row *row)
{
    g_array_unref(row->columns);
    g_array_unref(row->cells);
    g_ptr_array_unref(row->texts);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Row, row_clear)

static void add(Row *row, const char *name, CcsCellType type, char *text)
{
    CcsColumn column = {name, type == CCS_CELL_TEXT ? CCS_ALIGN_LEFT : CCS_ALIGN_RIGHT};
    CcsCell cell = {type, text};

    g_array_append_val(row->columns, column);
    g_array_append_val(row->cells, cell);
    g_ptr_array_add(row->texts, text);
}

static void add_text(Row *row, const char *name, const char *text)
{
    add(row, name, CCS_CELL_TEXT, g_strdup(text));
}

/* A word that is "none" where there is nothing to name. */
static void add_name(Row *row, const char *name, const char *word)
{
    if (strcmp(word, "none") == 0)
        add(row, name, CCS_CELL_NULL, NULL);
    else
        add_text(row, name, word);
}

static void add_count(Row *row, const char *name, uint64_t count)
{
    add(row, name, CCS_CELL_NUMBER, g_strdup_printf("%" G_GUINT64_FORMAT, count));
}

static void add_number(Row *row, const char *name, double number, int n_decimals)
{
    add(row, name, CCS_CELL_NUMBER, g_strdup_printf("%.*f", n_decimals, number));
}

static void add_link(Row *row, const CcsTopology *topology, const char *name, CcsLinkId link)
{
    if (link == CCS_NO_LINK)
        add(row, name, CCS_CELL_NULL, NULL);
    else
        add(row, name, CCS_CELL_TEXT, ccs_topology_link_name(topology, link));
}

static void add_class(Row *row, const CcsTopology *topology, const char *name, CcsLinkId link)
{
    if (link == CCS_NO_LINK)
        add(row, name, CCS_CELL_NULL, NULL);
    else
        add_text(row, name,
                 ccs_topology_class_name(topology, ccs_topology_link(topology, link)->link_class));
}

/* How a result stands among the others. */
typedef enum {
    STANDING_ALONE, /* nobody asks who is the fastest */
    STANDING_WINNER,
    STANDING_OTHER,
} Standing;

/* Short, for the eye. */
static void fill_short(Row *row, const CcsStudyResult *of, Standing standing)
{
    const CcsResult *result = &of->result;
    const CcsTopology *topology = of->topology;
    g_autofree char *bottleneck = NULL;

    if (result->bottleneck != CCS_NO_LINK) {
        const CcsLink *link = ccs_topology_link(topology, result->bottleneck);
        g_autofree char *name = ccs_topology_link_name(topology, result->bottleneck);
        bottleneck =
            g_strdup_printf("%s %s %.1f%%", ccs_topology_class_name(topology, link->link_class),
                            name, 100 * result->bottleneck_utilisation);
    }
    add_count(row, "size (B)", result->size);
    add_text(row, "algorithm", result->algorithm);
    add_count(row, "ranks", result->n_ranks);
    add_count(row, "channels", result->n_channels);
    if (result->n_chunks == 0)
        add(row, "chunks", CCS_CELL_NULL, NULL);
    else
        add_count(row, "chunks", result->n_chunks);
    if (standing != STANDING_ALONE)
        add_text(row, "winner", standing == STANDING_WINNER ? "*" : "");
    add_number(row, "time (us)", ccs_time_us(result->time), 3);
    if (result->is_probed)
        add_count(row, "digits", result->time_digits);
    add_number(row, "algbw (GB/s)", result->algbw_GBps, 3);
    add_number(row, "busbw (GB/s)", result->busbw_GBps, 3);
    add_number(row, "bound (us)", ccs_time_us(result->bound), 3);
    add_name(row, "bound by", result->bound_name);
    add_number(row, "of bound", 100 * result->efficiency, 1);
    add_count(row, "sent/rank (B)", result->bytes_sent_max);
    add_text(row, "bottleneck", bottleneck == NULL ? "" : bottleneck);
}

/* Complete, under the names of the JSON keys; what is in "bottleneck" there is in columns of its
 * own here. */
static void fill_complete(Row *row, const CcsStudyResult *of, Standing standing)
{
    const CcsResult *result = &of->result;
    const CcsTopology *topology = of->topology;

    add_text(row, "collective", result->collective);
    add_text(row, "algorithm", result->algorithm);
    add_name(row, "protocol", result->protocol);
    add_text(row, "transport", result->transport);
    add_text(row, "model", result->model);
    add_text(row, "topology", result->topology);
    add_count(row, "nodes", result->n_nodes);
    add_count(row, "ranks", result->n_ranks);
    add_count(row, "channels", result->n_channels);
    add_count(row, "chunks", result->n_chunks);
    add_count(row, "size_bytes", result->size);
    add_count(row, "count", result->count);
    add_text(row, "dtype", result->dtype);
    add_name(row, "op", result->op);
    add(row, "root", CCS_CELL_NUMBER, g_strdup_printf("%" G_GINT64_FORMAT, result->root));
    add_number(row, "time_us", ccs_time_us(result->time), 6);
    if (result->is_probed)
        add_count(row, "time_digits", result->time_digits);
    else
        add(row, "time_digits", CCS_CELL_NULL, NULL);
    add_number(row, "algbw_GBps", result->algbw_GBps, 6);
    add_number(row, "busbw_GBps", result->busbw_GBps, 6);
    add_number(row, "bound_us", ccs_time_us(result->bound), 6);
    add_text(row, "bound", result->bound_name);
    add_number(row, "efficiency", result->efficiency, 6);
    add_class(row, topology, "bottleneck_class", result->bottleneck);
    add_link(row, topology, "bottleneck_link", result->bottleneck);
    if (result->bottleneck == CCS_NO_LINK)
        add(row, "bottleneck_utilisation", CCS_CELL_NULL, NULL);
    else
        add_number(row, "bottleneck_utilisation", result->bottleneck_utilisation, 6);
    add_count(row, "bytes_sent_max", result->bytes_sent_max);
    add_count(row, "flows", result->n_flows);
    add_text(row, "engine", result->engine);
    add_text(row, "engine_reason", result->engine_reason);
    add_text(row, "is_winner", standing == STANDING_OTHER ? "false" : "true");
    if (of->run_id == 0)
        add(row, "run_id", CCS_CELL_NULL, NULL);
    else
        add_count(row, "run_id", (uint64_t)of->run_id);
}

typedef void FillRow(Row *row, const CcsStudyResult *of, Standing standing);

static void print_row(CcsRows **rows, const Row *row, CcsFormat format, FILE *out)
{
    if (*rows == NULL)
        *rows = ccs_rows_new(out, format, (const CcsColumn *)(const void *)row->columns->data,
                             row->columns->len);
    ccs_rows_add(*rows, (const CcsCell *)(const void *)row->cells->data);
}

static int compare_by_size(const void *a, const void *b, void *data)
{
    const CcsStudyResult *results = data;
    CcsBytes first = results[*(const uint32_t *)a].result.size;
    CcsBytes second = results[*(const uint32_t *)b].result.size;

    return first < second ? -1 : first > second ? 1 : 0;
}

/* Indices of the results, those of one size together, else in their order. Owned by the caller. */
static GArray *order_by_size(const CcsStudyResult *results, uint32_t n)
{
    GArray *order = g_array_sized_new(false, false, sizeof(uint32_t), n);

    for (uint32_t i = 0; i < n; i++)
        g_array_append_val(order, i);
    g_array_sort_with_data(order, compare_by_size, (gpointer)(guintptr)results);
    return order;
}

bool ccs_print_results(const CcsStudyResult *results, uint32_t n, CcsFormat format, FILE *out,
                       GError **error)
{
    bool is_short = !ccs_print_is_for_programs(format);
    FillRow *fill = is_short ? fill_short : fill_complete;
    bool is_contest = false;
    g_autofree bool *is_winner = ccs_winners_mark(results, n, &is_contest);
    g_autoptr(GArray) order = order_by_size(results, n);
    g_autoptr(CcsRows) rows = NULL;

    if (format == CCS_FORMAT_NCCL) {
        ccs_print_nccl(results, n, out);
        return true;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = is_short && is_contest ? g_array_index(order, uint32_t, i) : i;
        Standing standing = is_winner[at] ? STANDING_WINNER : STANDING_OTHER;
        g_auto(Row) row;
        row_init(&row);
        fill(&row, &results[at], is_contest ? standing : STANDING_ALONE);
        print_row(&rows, &row, format, out);
    }
    return rows == NULL || ccs_rows_end(rows, error);
}

bool ccs_print_is_for_programs(CcsFormat format)
{
    return format != CCS_FORMAT_TABLE && format != CCS_FORMAT_MD;
}

bool ccs_print_is_json(CcsFormat format)
{
    return format == CCS_FORMAT_JSON || format == CCS_FORMAT_NDJSON;
}

static void fill_class(Row *row, const CcsStudyResult *of, uint32_t link_class)
{
    const CcsResult *result = &of->result;
    const CcsTopology *topology = of->topology;
    const CcsClassUse *use = &of->classes[link_class];

    add_count(row, "size (B)", result->size);
    add_text(row, "algorithm", result->algorithm);
    add_text(row, "links", ccs_topology_class_name(topology, link_class));
    add_count(row, "used", use->n_links);
    add_count(row, "most on one (B)", use->bytes_max);
    add_number(row, "rate (GB/s)", ccs_bandwidth_GBps((double)use->bytes_max, result->time), 3);
    if (use->busiest == CCS_NO_LINK) {
        add_text(row, "of (GB/s)", "unlimited");
        add(row, "busiest %", CCS_CELL_NULL, NULL);
        add(row, "mean %", CCS_CELL_NULL, NULL);
    } else {
        const CcsLink *link = ccs_topology_link(topology, use->busiest);
        add_number(row, "of (GB/s)", ccs_rate_GBps(link->bandwidth), 3);
        add_number(row, "busiest %", 100 * use->utilisation, 1);
        add_number(row, "mean %", 100 * use->mean, 1);
    }
    add_link(row, topology, "busiest link", use->busiest);
}

bool ccs_print_classes(const CcsStudyResult *results, uint32_t n, CcsFormat format, FILE *out,
                       GError **error)
{
    g_autoptr(CcsRows) rows = NULL;

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t c = 0; c < ccs_topology_n_classes(results[i].topology); c++) {
            if (results[i].classes[c].n_links == 0)
                continue;
            g_auto(Row) row;
            row_init(&row);
            fill_class(&row, &results[i], c);
            print_row(&rows, &row, format, out);
        }
    }
    return rows == NULL || ccs_rows_end(rows, error);
}

static void fill_estimate(Row *row, const CcsEstimate *estimate)
{
    const CcsResult *result = &estimate->beside->result;
    double time_us = ccs_time_us(result->time);

    add_count(row, "size (B)", result->size);
    add_text(row, "algorithm", result->algorithm);
    add_text(row, "estimate", estimate->label);
    add_number(row, "estimated (us)", estimate->time_us, 3);
    add_number(row, "simulated (us)", time_us, 3);
    if (estimate->time_us > 0)
        add_number(row, "simulated / estimated", time_us / estimate->time_us, 3);
    else
        add(row, "simulated / estimated", CCS_CELL_NULL, NULL);
}

bool ccs_print_estimates(const CcsEstimate *estimates, uint32_t n, CcsFormat format, FILE *out,
                         GError **error)
{
    g_autoptr(CcsRows) rows = NULL;

    for (uint32_t i = 0; i < n; i++) {
        g_auto(Row) row;
        row_init(&row);
        fill_estimate(&row, &estimates[i]);
        print_row(&rows, &row, format, out);
    }
    return rows == NULL || ccs_rows_end(rows, error);
}

/* "tree", or with what else makes it differ from others of that algorithm: "tree, 16 chunks". */
static char *name_of_way(const CcsStudyResult *of, const CcsStudyResult *results, uint32_t n)
{
    GString *name = g_string_new(of->result.algorithm);
    bool has_other_channels = false;
    bool has_other_chunks = false;

    for (uint32_t i = 0; i < n; i++) {
        const CcsResult *other = &results[i].result;
        if (strcmp(other->algorithm, of->result.algorithm) != 0)
            continue;
        has_other_channels = has_other_channels || other->n_channels != of->result.n_channels;
        has_other_chunks = has_other_chunks || other->n_chunks != of->result.n_chunks;
    }
    if (has_other_channels)
        g_string_append_printf(name, ", %u channel%s", of->result.n_channels,
                               ccs_plural(of->result.n_channels));
    if (has_other_chunks)
        g_string_append_printf(name, ", %u chunk%s", of->result.n_chunks,
                               ccs_plural(of->result.n_chunks));
    return g_string_free(name, false);
}

/* "ring", or "ring, tree": or, with @last, "ring and tree". Returns: (transfer full). */
static char *names_of_ways(const GPtrArray *ways, const char *last, const CcsStudyResult *results,
                           uint32_t n)
{
    GString *names = g_string_new(NULL);

    for (guint i = 0; i < ways->len; i++) {
        g_autofree char *name = name_of_way(ways->pdata[i], results, n);
        g_string_append_printf(names, "%s%s", i == 0 ? "" : i + 1 == ways->len ? last : ", ", name);
    }
    return g_string_free(names, false);
}

static void print_crossover(CcsRows **rows, const CcsCrossover *crossover,
                            const CcsStudyResult *results, uint32_t n, CcsFormat format, FILE *out)
{
    g_auto(Row) row;

    row_init(&row);
    add_count(&row, "crossover (B)", crossover->size);
    add(&row, "fastest below", CCS_CELL_TEXT, names_of_ways(crossover->below, ", ", results, n));
    add(&row, "fastest from it on", CCS_CELL_TEXT,
        names_of_ways(crossover->above, ", ", results, n));
    add_number(&row, "time there (us)", ccs_time_us(crossover->time), 3);
    print_row(rows, &row, format, out);
}

static void print_always(const GPtrArray *ways, const CcsStudyResult *results, uint32_t n,
                         FILE *out)
{
    g_autofree char *names = names_of_ways(ways, " and ", results, n);

    fprintf(out, "No crossover: %s %s for all of these sizes.\n", names,
            ways->len == 1 ? "is the fastest" : "are equally fast, and the fastest,");
}

bool ccs_print_crossovers(const CcsMachine *machine, const CcsStudyResult *results, uint32_t n,
                          CcsFormat format, FILE *out, GError **error)
{
    bool is_contest = false;
    g_autoptr(GPtrArray) always = NULL;
    g_autoptr(CcsRows) rows = NULL;

    g_free(ccs_winners_mark(results, n, &is_contest));
    if (!is_contest || results[0].result.size == results[n - 1].result.size)
        return true;
    g_autoptr(GArray) crossovers = ccs_crossovers_find(machine, results, n, &always, error);
    if (crossovers == NULL)
        return false;
    fprintf(out, "\n");
    for (guint i = 0; i < crossovers->len; i++)
        print_crossover(&rows, &g_array_index(crossovers, CcsCrossover, i), results, n, format,
                        out);
    if (rows != NULL)
        return ccs_rows_end(rows, error);
    print_always(always, results, n, out);
    return true;
}
