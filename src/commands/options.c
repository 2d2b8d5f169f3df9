#include "commands/options.h"

#include <string.h>

#include "base/error.h"
#include "commands/effects.h"
#include "commands/traffic.h"
#include "commands/write_file.h"
#include "trace/database.h"

#define MAX_SIZES 100000U

void ccs_machine_arguments_clear(CcsMachineArguments *arguments)
{
    g_free(arguments->topology);
    g_free(arguments->transport);
    g_free(arguments->model);
    g_free(arguments->engine);
    g_strfreev(arguments->overrides);
}

void ccs_case_arguments_clear(CcsCaseArguments *arguments)
{
    g_free(arguments->smallest);
    g_free(arguments->largest);
    g_free(arguments->step);
    g_free(arguments->op);
    g_free(arguments->type);
    g_free(arguments->algorithms);
    g_free(arguments->matrix);
}

void ccs_output_arguments_clear(CcsOutputArguments *arguments)
{
    g_free(arguments->db);
    g_free(arguments->trace);
    g_free(arguments->pack);
    g_free(arguments->format);
    g_free(arguments->json_file);
}

void ccs_machine_arguments_add(GArray *entries, CcsMachineArguments *arguments)
{
    const GOptionEntry own[] = {
        {"topology", 'T', 0, G_OPTION_ARG_FILENAME, &arguments->topology,
         "A topology file, or the name of one that is built in", "FILE"},
        {"nodes", 0, 0, G_OPTION_ARG_INT, &arguments->n_nodes, "Nodes of the machine", "N"},
        {"ranks", 0, 0, G_OPTION_ARG_INT, &arguments->n_ranks, "Ranks of the job", "N"},
        {"ranks-per-node", 0, 0, G_OPTION_ARG_INT, &arguments->ranks_per_node,
         "Ranks that the job has in each node", "N"},
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &arguments->overrides,
         "Override a value of the topology, or of the transport (transport.KEY); repeatable",
         "PATH=VALUE"},
        {"transport", 0, 0, G_OPTION_ARG_FILENAME, &arguments->transport,
         "ideal (default), or a YAML file", "NAME"},
        {"model", 0, 0, G_OPTION_ARG_STRING, &arguments->model,
         "Network model: fluid (default), or loggp, which shares no links", "NAME"},
        {"engine", 0, 0, G_OPTION_ARG_STRING, &arguments->engine,
         "How the model computes: auto (default), incremental, quotient, reference or"
         " sweep; the results are the same",
         "TIER"},
    };
    arguments->n_nodes = CCS_NOT_GIVEN;
    arguments->n_ranks = CCS_NOT_GIVEN;
    arguments->ranks_per_node = CCS_NOT_GIVEN;
    g_array_append_vals(entries, own, G_N_ELEMENTS(own));
}

void ccs_case_arguments_init(CcsCaseArguments *arguments)
{
    arguments->factor = CCS_NOT_GIVEN;
    arguments->root = CCS_NOT_GIVEN;
    arguments->n_channels = CCS_NOT_GIVEN;
    arguments->n_chunks = CCS_NOT_GIVEN;
    arguments->distance = CCS_NOT_GIVEN;
    arguments->skew = CCS_NOT_GIVEN;
}

void ccs_traffic_arguments_add(GArray *entries, CcsCaseArguments *arguments)
{
    const GOptionEntry own[] = {
        {"distance", 0, 0, G_OPTION_ARG_INT, &arguments->distance,
         "How many ranks further on sendrecv sends (1)", "N"},
        {"skew", 0, 0, G_OPTION_ARG_DOUBLE, &arguments->skew,
         "Load of the busiest receiver of alltoallv over the mean (1)", "X"},
        {"matrix", 0, 0, G_OPTION_ARG_FILENAME, &arguments->matrix,
         "Weights of the blocks of alltoallv, as CSV: a line for each sender", "FILE"},
    };
    g_array_append_vals(entries, own, G_N_ELEMENTS(own));
}

void ccs_case_arguments_add(GArray *entries, CcsCaseArguments *arguments)
{
    const GOptionEntry own[] = {
        {"minbytes", 'b', 0, G_OPTION_ARG_STRING, &arguments->smallest, "Smallest size (8)",
         "SIZE"},
        {"maxbytes", 'e', 0, G_OPTION_ARG_STRING, &arguments->largest, "Largest size (8G)", "SIZE"},
        {"stepfactor", 'f', 0, G_OPTION_ARG_INT, &arguments->factor,
         "Each size is so many times the one before (2)", "N"},
        {"stepbytes", 'i', 0, G_OPTION_ARG_STRING, &arguments->step,
         "Each size is so much larger than the one before", "SIZE"},
        {"op", 'o', 0, G_OPTION_ARG_STRING, &arguments->op, "Reduction (sum)", "OP"},
        {"datatype", 'd', 0, G_OPTION_ARG_STRING, &arguments->type, "Data type (float)", "TYPE"},
        {"root", 'r', 0, G_OPTION_ARG_INT, &arguments->root, "Root rank (0)", "RANK"},
        {"algorithm", 'A', 0, G_OPTION_ARG_STRING, &arguments->algorithms,
         "Names with commas, all, or auto (default)", "LIST"},
        {"channels", 0, 0, G_OPTION_ARG_INT, &arguments->n_channels,
         "Parallel copies of the pattern (NICs per node on a cluster, 1 in one node)", "N"},
        {"chunks", 0, 0, G_OPTION_ARG_INT, &arguments->n_chunks,
         "Pipeline depth of chains and trees (64)", "N"},
    };
    ccs_case_arguments_init(arguments);
    g_array_append_vals(entries, own, G_N_ELEMENTS(own));
    ccs_traffic_arguments_add(entries, arguments);
}

void ccs_output_arguments_add(GArray *entries, CcsOutputArguments *arguments)
{
    const GOptionEntry own[] = {
        {"db", 0, 0, G_OPTION_ARG_FILENAME, &arguments->db,
         "The database; else $CCSIM_DB or ccsim.db", "FILE"},
        {"no-db", 0, 0, G_OPTION_ARG_NONE, &arguments->has_no_db, "Write no database", NULL},
        {"trace", 0, 0, G_OPTION_ARG_STRING, &arguments->trace,
         "How much to record: none, summary (default), steps, flows", "LEVEL"},
        {"pack", 0, 0, G_OPTION_ARG_STRING, &arguments->pack,
         "Whether flows are packed: auto (default, where a result has many), always, never",
         "WHEN"},
        {"format", 0, 0, G_OPTION_ARG_STRING, &arguments->format,
         "table (default), csv, json, ndjson, md or nccl", "FORMAT"},
        {"json", 'J', 0, G_OPTION_ARG_FILENAME, &arguments->json_file,
         "Write the results as JSON to a file", "FILE"},
        {"verbose", 'v', 0, G_OPTION_ARG_NONE, &arguments->is_verbose,
         "Show what each class of links carried", NULL},
    };
    g_array_append_vals(entries, own, G_N_ELEMENTS(own));
}

void ccs_probe_argument_add(GArray *entries, gboolean *ret_is_probed)
{
    const GOptionEntry probe = {
        .long_name = "probe",
        .arg = G_OPTION_ARG_NONE,
        .arg_data = ret_is_probed,
        .description = "Find out how many digits of each time mean anything: run it again with all"
                       " links 1e-12 faster and slower",
    };

    g_array_append_val(entries, probe);
}

/* The count that @option asks for; 0 if it is not given. */
static bool read_count(const char *option, int given, int most, uint32_t *ret_count, GError **error)
{
    if (given != CCS_NOT_GIVEN && (given < 1 || given > most)) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "%s must be from 1 to %d, not %d", option,
                    most, given);
        return false;
    }
    *ret_count = given == CCS_NOT_GIVEN ? 0 : (uint32_t)given;
    return true;
}

CcsMachine *ccs_machine_arguments_load(const CcsMachineArguments *arguments, GError **error)
{
    CcsMachineOptions options = {
        .topology = arguments->topology,
        .transport = arguments->transport,
        .model = arguments->model,
        .engine = arguments->engine,
        .overrides = (const char *const *)arguments->overrides,
    };

    if (arguments->topology == NULL) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "no topology: give one with -T FILE; 'ccsim list topologies' shows those that"
                    " are built in");
        return NULL;
    }
    if (!read_count("--nodes", arguments->n_nodes, 1000000, &options.n_nodes, error) ||
        !read_count("--ranks", arguments->n_ranks, 100000000, &options.n_ranks, error) ||
        !read_count("--ranks-per-node", arguments->ranks_per_node, 1000000, &options.ranks_per_node,
                    error))
        return NULL;
    return ccs_machine_new(&options, error);
}

static bool read_size(const char *option, const char *text, const char *otherwise,
                      CcsBytes *ret_size, GError **error)
{
    g_autoptr(GError) failure = NULL;

    if (ccs_size_parse_option(text == NULL ? otherwise : text, ret_size, &failure))
        return true;
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "%s %s", option, failure->message);
    return false;
}

static bool check_range(CcsBytes smallest, CcsBytes largest, GError **error)
{
    if (smallest <= largest)
        return true;
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                "the smallest size, %" G_GUINT64_FORMAT
                " B, is above the largest, %" G_GUINT64_FORMAT " B",
                smallest, largest);
    return false;
}

GArray *ccs_sizes_by_factor(CcsBytes smallest, CcsBytes largest, uint64_t factor, GError **error)
{
    g_autoptr(GArray) sizes = g_array_new(false, false, sizeof(CcsBytes));

    if (!check_range(smallest, largest, error))
        return NULL;
    for (CcsBytes size = smallest; size <= largest;) {
        g_array_append_val(sizes, size);
        size = size == 0 ? 1 : size > CCS_BYTES_MAX / factor ? CCS_BYTES_MAX + 1 : size * factor;
    }
    return g_steal_pointer(&sizes);
}

static GArray *sizes_by_step(CcsBytes smallest, CcsBytes largest, CcsBytes step, GError **error)
{
    g_autoptr(GArray) sizes = g_array_new(false, false, sizeof(CcsBytes));

    if (!check_range(smallest, largest, error))
        return NULL;
    if (step == 0) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "-i must be above 0: sizes would not grow");
        return NULL;
    }
    if ((largest - smallest) / step >= MAX_SIZES) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "-i %" G_GUINT64_FORMAT " makes more than %u sizes", step, MAX_SIZES);
        return NULL;
    }
    for (CcsBytes size = smallest; size <= largest; size += step)
        g_array_append_val(sizes, size);
    return g_steal_pointer(&sizes);
}

GArray *ccs_case_sizes(const CcsCaseArguments *arguments, GError **error)
{
    CcsBytes smallest = 0;
    CcsBytes largest = 0;
    CcsBytes step = 0;

    if (!read_size("-b", arguments->smallest, "8", &smallest, error) ||
        !read_size("-e", arguments->largest, "8G", &largest, error) ||
        !read_size("-i", arguments->step, "1", &step, error))
        return NULL;
    if (arguments->largest == NULL)
        largest = MAX(largest, smallest);
    if (arguments->step != NULL && arguments->factor != CCS_NOT_GIVEN) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "-f and -i exclude each other: sizes grow by a factor or by a step");
        return NULL;
    }
    if (arguments->step != NULL)
        return sizes_by_step(smallest, largest, step, error);
    if (arguments->factor != CCS_NOT_GIVEN && arguments->factor < 2) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "-f must be at least 2, not %d",
                    arguments->factor);
        return NULL;
    }
    return ccs_sizes_by_factor(smallest, largest,
                               arguments->factor == CCS_NOT_GIVEN ? 2 : (uint64_t)arguments->factor,
                               error);
}

static void add_algorithm(GPtrArray *list, const CcsAlgorithm *algorithm)
{
    union {
        const CcsAlgorithm *in;
        gpointer out;
    } item = {.in = algorithm};

    if (!g_ptr_array_find(list, item.out, NULL))
        g_ptr_array_add(list, item.out);
}

bool ccs_algorithm_list_is_open(const char *names)
{
    g_auto(GStrv) parts = g_strsplit(names == NULL ? "" : names, ",", -1);

    for (size_t i = 0; parts[i] != NULL; i++) {
        if (strcmp(g_strstrip(parts[i]), "all") == 0)
            return true;
    }
    return false;
}

GPtrArray *ccs_algorithm_list(const char *names, CcsCollective collective, GError **error)
{
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    g_auto(GStrv) parts = g_strsplit(names == NULL ? "auto" : names, ",", -1);

    if (parts[0] == NULL && ccs_algorithm_find(collective, "", error) == NULL)
        return NULL;
    for (size_t i = 0; parts[i] != NULL; i++) {
        const char *name = g_strstrip(parts[i]);
        if (strcmp(name, "all") == 0) {
            for (size_t j = 0; ccs_algorithms[j] != NULL; j++) {
                if (ccs_algorithms[j]->collective == collective)
                    add_algorithm(list, ccs_algorithms[j]);
            }
            continue;
        }
        if (strcmp(name, "auto") == 0)
            name = ccs_collective_info(collective)->default_algorithm;
        const CcsAlgorithm *algorithm = ccs_algorithm_find(collective, name, error);
        if (algorithm == NULL)
            return NULL;
        add_algorithm(list, algorithm);
    }
    if (list->len > 0)
        return g_steal_pointer(&list);
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "%s has no algorithm yet",
                ccs_collective_info(collective)->name);
    return NULL;
}

bool ccs_case_read(const CcsCaseArguments *arguments, CcsCollective collective, uint32_t n_ranks,
                   CcsCase *ret_case, GError **error)
{
    bool is_root_given = arguments->root != CCS_NOT_GIVEN;

    ret_case->root = is_root_given ? (CcsRank)arguments->root : 0;
    if (!read_count("--channels", arguments->n_channels, CCS_MAX_CHANNELS, &ret_case->n_channels,
                    error) ||
        !read_count("--chunks", arguments->n_chunks, CCS_MAX_CHUNKS, &ret_case->n_chunks, error) ||
        !read_count("--distance", arguments->distance, G_MAXINT, &ret_case->distance, error) ||
        (collective == CCS_SENDRECV &&
         !ccs_traffic_check_distance(MAX(ret_case->distance, 1), n_ranks, error)))
        return false;
    if (is_root_given && (arguments->root < 0 || ret_case->root >= n_ranks)) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "-r must be a rank from 0 to %u, not %d",
                    n_ranks - 1, arguments->root);
        return false;
    }
    ret_case->type = ccs_data_type_find(arguments->type == NULL ? "float" : arguments->type, error);
    if (ret_case->type == NULL)
        return false;
    ret_case->op = ccs_reduction_find(arguments->op == NULL ? "sum" : arguments->op, error);
    return ret_case->op != NULL;
}

GArray *ccs_case_list(const CcsCaseArguments *arguments, CcsCollective collective, uint32_t n_ranks,
                      GError **error)
{
    g_autoptr(GArray) cases = g_array_new(false, true, sizeof(CcsCase));
    CcsCase one = {.is_optional = ccs_algorithm_list_is_open(arguments->algorithms)};

    if (!ccs_case_read(arguments, collective, n_ranks, &one, error))
        return NULL;
    g_autoptr(GPtrArray) algorithms = ccs_algorithm_list(arguments->algorithms, collective, error);
    if (algorithms == NULL)
        return NULL;
    for (guint i = 0; i < algorithms->len; i++) {
        one.algorithm = g_ptr_array_index(algorithms, i);
        g_array_append_val(cases, one);
    }
    return g_steal_pointer(&cases);
}

/* In millionths; 0 if it is not given. */
static bool read_skew(double given, uint32_t n_ranks, uint64_t *ret_skew, GError **error)
{
    *ret_skew = 0;
    if (given == CCS_NOT_GIVEN)
        return true;
    if (!(given >= 1 && given <= n_ranks)) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "--skew must be from 1 (balanced) to the number of ranks, %u, not %g", n_ranks,
                    given);
        return false;
    }
    *ret_skew = (uint64_t)(given * (double)CCS_SKEW_ONE + 0.5);
    return true;
}

bool ccs_case_weights(const CcsCaseArguments *arguments, CcsCollective collective, uint32_t n_ranks,
                      GArray *cases, CcsWeights **ret_weights, GError **error)
{
    uint64_t skew = 0;

    *ret_weights = NULL;
    if (collective != CCS_ALLTOALLV)
        return true;
    if (!read_skew(arguments->skew, n_ranks, &skew, error))
        return false;
    *ret_weights = ccs_traffic_weights(skew, arguments->matrix, n_ranks, error);
    for (guint i = 0; i < cases->len; i++)
        g_array_index(cases, CcsCase, i).weights = *ret_weights;
    return *ret_weights != NULL;
}

/* The database, and what SQLite writes beside it (sqlite.org/tempfiles.html), must not be lost to
 * what -J writes. */
static bool check_database(const CcsOutputArguments *arguments, GError **error)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    g_autofree char *database = ccs_database_default_path(arguments->db);

    for (size_t i = 0; i < G_N_ELEMENTS(suffixes) && !arguments->has_no_db; i++) {
        g_autofree char *path = g_strconcat(database, suffixes[i], NULL);
        if (!ccs_file_is_same(arguments->json_file, path))
            continue;
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "-J %s would write over the database, %s: give one of them another name",
                    arguments->json_file, database);
        return false;
    }
    return true;
}

bool ccs_output_check_inputs(const CcsOutputArguments *arguments, const char *const *inputs,
                             uint32_t n_inputs, GError **error)
{
    const char *file = arguments->json_file;

    return file == NULL || strcmp(file, "-") == 0 ||
           ccs_file_check_inputs("-J", file, inputs, n_inputs, error);
}

/* -J - is --format json. */
static bool check_json_file(const CcsOutputArguments *arguments, CcsFormat *format, GError **error)
{
    if (arguments->json_file == NULL)
        return true;
    if (strcmp(arguments->json_file, "-") != 0)
        return check_database(arguments, error) && ccs_file_check(arguments->json_file, error);
    if (arguments->format != NULL && *format != CCS_FORMAT_JSON) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "-J - and --format %s exclude each other: both would go to stdout",
                    arguments->format);
        return false;
    }
    *format = CCS_FORMAT_JSON;
    return true;
}

bool ccs_output_check(const CcsOutputArguments *arguments, CcsFormat *ret_format,
                      CcsTraceLevel *ret_level, GError **error)
{
    CcsFormat format = CCS_FORMAT_TABLE;
    CcsTraceLevel level = CCS_TRACE_SUMMARY;
    CcsPacking packing = CCS_PACK_AUTO;

    if (!ccs_format_parse(arguments->format, CCS_FORMATS_OF_ROWS | 1U << CCS_FORMAT_NCCL, &format,
                          error) ||
        (arguments->trace != NULL && !ccs_trace_level_parse(arguments->trace, &level, error)) ||
        (arguments->pack != NULL && !ccs_packing_parse(arguments->pack, &packing, error)) ||
        !check_json_file(arguments, &format, error))
        return false;
    if (arguments->has_no_db && arguments->db != NULL) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "--db and --no-db exclude each other");
        return false;
    }
    if (arguments->has_no_db && arguments->trace != NULL)
        ccs_warn("--trace has no effect: --no-db records nothing");
    else if (arguments->pack != NULL && level < CCS_TRACE_FLOWS)
        ccs_warn("--pack has no effect: only --trace flows records flows");
    *ret_format = format;
    *ret_level = arguments->has_no_db ? CCS_TRACE_NONE : level;
    return true;
}

CcsTrace *ccs_output_open(const CcsOutputArguments *arguments, CcsTraceLevel level, GError **error)
{
    g_autofree char *path = ccs_database_default_path(arguments->db);
    CcsTrace *trace = ccs_trace_open(arguments->has_no_db ? NULL : path, level, error);
    CcsPacking packing = CCS_PACK_AUTO;

    if (trace != NULL && arguments->pack != NULL &&
        ccs_packing_parse(arguments->pack, &packing, NULL))
        ccs_trace_set_packing(trace, packing);
    return trace;
}

bool ccs_output_json(const CcsOutputArguments *arguments, CcsTrace *trace, CcsFormat format,
                     GError **error)
{
    const char *file = arguments->json_file;

    if (file != NULL && strcmp(file, "-") != 0) {
        g_autofree char *json = ccs_trace_run_json(trace, error);
        g_autofree char *line = g_strconcat(json == NULL ? "" : json, "\n", NULL);
        if (json == NULL || !ccs_file_write(file, line, error))
            return false;
    }
    if (format != CCS_FORMAT_JSON && format != CCS_FORMAT_NDJSON)
        return true;
    g_autofree char *text = format == CCS_FORMAT_JSON ? ccs_trace_run_json(trace, error)
                                                      : ccs_trace_run_ndjson(trace, error);
    g_autofree char *lines = g_strconcat(text == NULL ? "" : text, "\n", NULL);
    return text != NULL && ccs_stdout_write(lines, error);
}
