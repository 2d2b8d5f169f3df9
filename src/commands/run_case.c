#include "commands/run_case.h"

#include <string.h>

#include "base/error.h"
#include "commands/effects.h"
#include "commands/options.h"
#include "commands/traffic.h"

/* The place of what is being read. */
typedef struct {
    CcsConfig *config;
    const char *file;
    const CcsRunConfig *spec;
    uint32_t index;
} Place;

/* What is wrong with a key of the case. */
G_GNUC_PRINTF(3, 4)
static void fail(const Place *place, const char *key, const char *format, ...)
{
    g_autofree char *path = g_strdup_printf("cases[%u].%s", place->index, key);
    va_list args;

    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    ccs_config_error_at(place->config, path, "%s", message);
}

/* The file that a config means by @name: beside the config if there is one, else as it is. */
static char *resolve(const Place *place, const char *name)
{
    g_autofree char *folder = g_path_get_dirname(place->file);
    g_autofree char *beside = g_build_filename(folder, name, NULL);

    if (!g_path_is_absolute(name) && strpbrk(name, "./") != NULL &&
        g_file_test(beside, G_FILE_TEST_EXISTS))
        return g_steal_pointer(&beside);
    return g_strdup(name);
}

static void add_list(GStrvBuilder *into, const CcsList *list)
{
    for (uint32_t i = 0; i < list->n_items; i++)
        g_strv_builder_add(into, ((const char *const *)list->items)[i]);
}

static char **join_overrides(const Place *place, const CcsCaseSpec *spec,
                             const GPtrArray *overrides)
{
    g_autoptr(GStrvBuilder) all = g_strv_builder_new();

    add_list(all, &place->spec->overrides);
    add_list(all, &spec->overrides);
    for (guint i = 0; i < overrides->len; i++)
        g_strv_builder_add(all, g_ptr_array_index(overrides, i));
    return g_strv_builder_end(all);
}

/* Places @failure, of a machine made by @options, in the config, unless its message has a place
 * in another file or an override. Returns: whether it could. */
static bool place_failure(const Place *place, const CcsCaseSpec *spec,
                          const CcsMachineOptions *options, const GError *failure)
{
    g_autofree char *of_name = g_strdup_printf("%s: error: ", options->topology);

    if (failure->code == CCS_ERROR_INPUT && g_str_has_prefix(failure->message, of_name)) {
        const char *message = failure->message + strlen(of_name);
        if (spec->topology != NULL)
            fail(place, "topology", "%s", message);
        else
            ccs_config_error_at(place->config, "topology", "%s", message);
        return true;
    }
    if (failure->code == CCS_ERROR_IO || strstr(failure->message, ": error: ") != NULL)
        return false;
    const char *key = failure->code == CCS_ERROR_USAGE               ? "transport"
                      : strstr(failure->message, "per node") != NULL ? "ranks_per_node"
                                                                     : "ranks";
    ccs_config_error_at(place->config, key, "%s", failure->message);
    return true;
}

static CcsMachine *make_machine(const Place *place, CcsRunCase *run_case, GError **error)
{
    const CcsRunConfig *config = place->spec;
    const CcsCaseSpec *spec = run_case->spec;
    g_autofree char *topology =
        resolve(place, spec->topology == NULL ? config->topology : spec->topology);
    g_autofree char *transport = resolve(place, config->transport);
    g_autoptr(GError) failure = NULL;
    g_ptr_array_add(run_case->inputs, g_strdup(topology));
    g_ptr_array_add(run_case->inputs, g_strdup(transport));
    CcsMachineOptions options = {
        .topology = topology,
        .transport = transport,
        .model = config->model,
        .overrides = (const char *const *)run_case->overrides,
        .n_nodes = config->n_nodes,
        .n_ranks = config->n_ranks,
        .ranks_per_node = config->ranks_per_node,
    };

    if (ccs_network_model_find(config->model, NULL, &failure) == NULL) {
        ccs_config_error_at(place->config, "model", "%s", failure->message);
        return NULL;
    }
    CcsMachine *machine = ccs_machine_new(&options, &failure);
    if (machine == NULL && !place_failure(place, spec, &options, failure))
        g_propagate_error(error, g_steal_pointer(&failure));
    return machine;
}

static bool is_without_data(const CcsCaseSpec *spec)
{
    CcsCollective collective = CCS_ALLREDUCE;

    return ccs_collective_parse(spec->collective, &collective, NULL) &&
           ccs_collective_info(collective)->is_without_data;
}

/* As a list or a range. */
static GArray *make_sizes(const Place *place, const CcsCaseSpec *spec)
{
    g_autoptr(GError) failure = NULL;

    if (spec->size_range != NULL) {
        GArray *range = ccs_sizes_by_factor(spec->size_range->from, spec->size_range->to,
                                            spec->size_range->factor, &failure);
        if (range == NULL)
            fail(place, "sizes", "%s", failure->message);
        return range;
    }
    GArray *sizes = g_array_new(false, false, sizeof(CcsBytes));
    if (spec->sizes.n_items > 0)
        g_array_append_vals(sizes, spec->sizes.items, spec->sizes.n_items);
    else if (!is_without_data(spec))
        fail(place, "sizes", "a case needs 'sizes'");
    return sizes;
}

static void add_cases(GArray *cases, const CcsCaseSpec *spec, CcsCase one,
                      const GPtrArray *algorithms)
{
    for (guint a = 0; a < algorithms->len; a++) {
        one.algorithm = g_ptr_array_index(algorithms, a);
        for (uint32_t c = 0; c < MAX(spec->channels.n_items, 1); c++) {
            one.n_channels =
                spec->channels.n_items == 0 ? 0 : ((const uint32_t *)spec->channels.items)[c];
            uint32_t n_chunks = one.algorithm->is_pipelined ? spec->chunks.n_items : 0;
            for (uint32_t k = 0; k < MAX(n_chunks, 1); k++) {
                one.n_chunks = n_chunks == 0 ? 0 : ((const uint32_t *)spec->chunks.items)[k];
                g_array_append_val(cases, one);
            }
        }
    }
}

static char *algorithm_names(const CcsCaseSpec *spec)
{
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();

    if (spec->algorithms.n_items == 0)
        return g_strdup("auto");
    add_list(names, &spec->algorithms);
    g_auto(GStrv) list = g_strv_builder_end(names);
    return g_strjoinv(",", list);
}

/* The weights of an alltoallv. */
static CcsWeights *make_weights(const Place *place, CcsRunCase *run_case, uint32_t n_ranks)
{
    const CcsCaseSpec *spec = run_case->spec;
    g_autofree char *matrix = spec->matrix == NULL ? NULL : resolve(place, spec->matrix);
    g_autoptr(GError) failure = NULL;
    CcsWeights *weights = ccs_traffic_weights(spec->skew, matrix, n_ranks, &failure);

    if (weights == NULL)
        fail(place, matrix == NULL ? "skew" : "matrix", "%s", failure->message);
    if (matrix != NULL)
        g_ptr_array_add(run_case->inputs, g_steal_pointer(&matrix));
    return weights;
}

/* What only some collectives know; with no machine there is nothing to hold it against. */
static bool read_traffic(const Place *place, CcsRunCase *run_case, CcsCollective collective,
                         CcsCase *one)
{
    const CcsCaseSpec *spec = run_case->spec;
    g_autoptr(GError) failure = NULL;

    if (run_case->machine == NULL)
        return true;
    uint32_t n_ranks = ccs_communicator_n_ranks(run_case->machine->communicator);
    one->distance = spec->distance;
    if (collective == CCS_SENDRECV &&
        !ccs_traffic_check_distance(spec->distance, n_ranks, &failure)) {
        fail(place, "distance", "%s", failure->message);
        return false;
    }
    if (collective == CCS_ALLTOALLV)
        one->weights = run_case->weights = make_weights(place, run_case, n_ranks);
    return collective != CCS_ALLTOALLV || one->weights != NULL;
}

/* An estimate must speak of an algorithm that the case has, or nobody would see it. */
static bool check_estimates(const Place *place, const CcsCaseSpec *spec,
                            const GPtrArray *algorithms)
{
    const CcsEstimateSpec *estimates = spec->estimates.items;
    bool is_ok = true;

    for (uint32_t i = 0; i < spec->estimates.n_items; i++) {
        bool is_there = estimates[i].algorithm == NULL;
        for (guint j = 0; j < algorithms->len && !is_there; j++) {
            const CcsAlgorithm *algorithm = g_ptr_array_index(algorithms, j);
            is_there = strcmp(algorithm->name, estimates[i].algorithm) == 0;
        }
        g_autofree char *key = g_strdup_printf("estimates[%u].algorithm", i);
        if (!is_there)
            fail(place, key, "the case does not run algorithm '%s'", estimates[i].algorithm);
        is_ok = is_ok && is_there;
    }
    return is_ok;
}

static GArray *make_cases(const Place *place, CcsRunCase *run_case, uint32_t n_ranks)
{
    const CcsCaseSpec *spec = run_case->spec;
    GArray *cases = g_array_new(false, true, sizeof(CcsCase));
    g_autofree char *names = algorithm_names(spec);
    CcsCase one = {
        .root = spec->root, .spec = spec, .is_optional = ccs_algorithm_list_is_open(names)};
    CcsCollective collective = CCS_ALLREDUCE;
    g_autoptr(GError) failure = NULL;
    g_autoptr(GPtrArray) algorithms = NULL;

    if (!ccs_collective_parse(spec->collective, &collective, &failure))
        fail(place, "collective", "%s", failure->message);
    else if ((algorithms = ccs_algorithm_list(names, collective, &failure)) == NULL)
        fail(place, "algorithms", "%s", failure->message);
    else if ((one.type = ccs_data_type_find(spec->type, &failure)) == NULL)
        fail(place, "datatype", "%s", failure->message);
    else if ((one.op = ccs_reduction_find(spec->op, &failure)) == NULL)
        fail(place, "op", "%s", failure->message);
    else if (spec->root >= n_ranks)
        fail(place, "root", "'root' must be a rank from 0 to %u, not %u", n_ranks - 1, spec->root);
    else if (check_estimates(place, spec, algorithms) &&
             read_traffic(place, run_case, collective, &one))
        add_cases(cases, spec, one, algorithms);
    return cases;
}

CcsRunCase *ccs_run_case_new(CcsConfig *config, const char *file, const CcsRunConfig *spec,
                             uint32_t index, const GPtrArray *overrides, GError **error)
{
    const Place place = {config, file, spec, index};
    g_autoptr(CcsRunCase) run_case = g_new0(CcsRunCase, 1);
    g_autoptr(GError) failure = NULL;

    run_case->inputs = g_ptr_array_new_with_free_func(g_free);
    run_case->spec = &((const CcsCaseSpec *)spec->cases.items)[index];
    run_case->overrides = join_overrides(&place, run_case->spec, overrides);
    run_case->sizes = make_sizes(&place, run_case->spec);
    run_case->machine = make_machine(&place, run_case, &failure);
    if (failure != NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return NULL;
    }
    uint32_t n_ranks = run_case->machine == NULL
                           ? CCS_NO_RANK
                           : ccs_communicator_n_ranks(run_case->machine->communicator);
    run_case->cases = make_cases(&place, run_case, n_ranks);
    return g_steal_pointer(&run_case);
}

void ccs_run_case_free(CcsRunCase *run_case)
{
    if (run_case == NULL)
        return;
    ccs_study_free(run_case->study);
    g_clear_pointer(&run_case->cases, g_array_unref);
    g_clear_pointer(&run_case->sizes, g_array_unref);
    ccs_weights_free(run_case->weights);
    ccs_machine_free(run_case->machine);
    g_strfreev(run_case->overrides);
    g_clear_pointer(&run_case->inputs, g_ptr_array_unref);
    g_free(run_case);
}

static bool run_cases(const CcsRunCase *run_case, GError **error)
{
    for (guint i = 0; i < run_case->cases->len; i++) {
        if (!ccs_study_run(run_case->study, &g_array_index(run_case->cases, CcsCase, i),
                           (const CcsBytes *)(const void *)run_case->sizes->data,
                           run_case->sizes->len, error))
            return false;
    }
    return true;
}

bool ccs_run_case_simulate(CcsRunCase *run_case, const CcsRunSetting *setting, GError **error)
{
    run_case->study = ccs_study_new(run_case->machine, setting->trace, setting->level, error);
    if (run_case->study == NULL)
        return false;
    if (setting->is_probed)
        ccs_study_probe(run_case->study);
    ccs_study_show(run_case->study, setting->bar);
    bool is_done = run_cases(run_case, error);
    ccs_study_show(run_case->study, NULL);
    return is_done;
}

static const char *if_given(const CcsConfig *config, uint32_t index, const char *key)
{
    g_autofree char *path = g_strdup_printf("cases[%u].%s", index, key);
    return ccs_config_has(config, path) ? key : NULL;
}

void ccs_run_case_warn(const CcsRunCase *run_case, const CcsConfig *config, uint32_t index)
{
    g_autofree char *where = g_strdup_printf("%s: ", run_case->spec->title);
    CcsAsked asked = {
        .where = where,
        .chunks = if_given(config, index, "chunks"),
        .root = if_given(config, index, "root"),
        .op = if_given(config, index, "op"),
        .sizes = if_given(config, index, "sizes"),
        .distance = if_given(config, index, "distance"),
        .skew = if_given(config, index, "skew"),
        .matrix = if_given(config, index, "matrix"),
    };
    g_autoptr(GStrvBuilder) list = g_strv_builder_new();
    add_list(list, &run_case->spec->overrides);
    g_auto(GStrv) own = g_strv_builder_end(list);
    uint32_t n = 0;
    const CcsStudyResult *results = ccs_study_results(run_case->study, &n);

    ccs_effects_of_options(&asked, run_case->cases, run_case->machine);
    ccs_traffic_note(where, run_case->weights);
    ccs_effects_of_overrides(where, (const char *const *)own, results, n);
}
