/* run.c - simulates all cases of a config, each shown with its title, estimates and note */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "commands/command.h"
#include "commands/options.h"
#include "commands/print.h"
#include "commands/run_config.h"

extern const CcsCommand ccs_command_run;

typedef struct {
    const char *file; /* not owned */
    CcsConfig *config;
    CcsRunConfig spec;
    GPtrArray *overrides; /* of the topology and the transport, from the command line; owned */
    CcsTrace *trace;
    CcsTraceLevel level;
    GPtrArray *machines; /* of CcsMachine, in the order of the cases */
    GPtrArray *studies;  /* of CcsStudy, likewise */
} Run;

static void run_clear(Run *run)
{
    g_clear_pointer(&run->studies, g_ptr_array_unref);
    g_clear_pointer(&run->machines, g_ptr_array_unref);
    g_clear_pointer(&run->overrides, g_ptr_array_unref);
    ccs_trace_free(run->trace);
    ccs_config_free(run->config);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

/* An override whose path begins with a key of configs changes the config, any other the
 * topology or the transport. */
static void sort_override(Run *run, const char *assignment)
{
    g_autofree char *key = g_strndup(assignment, strcspn(assignment, ".[="));
    bool is_of_config = ccs_field_find(&ccs_run_config_table, key) != NULL &&
                        !g_str_has_prefix(assignment, "transport.");

    if (is_of_config)
        ccs_config_override(run->config, assignment);
    else
        g_ptr_array_add(run->overrides, g_strdup(assignment));
}

static bool load(Run *run, const char *file, char *const *overrides, GError **error)
{
    run->file = file;
    run->overrides = g_ptr_array_new_with_free_func(g_free);
    run->machines = g_ptr_array_new_with_free_func((GDestroyNotify)ccs_machine_free);
    run->studies = g_ptr_array_new_with_free_func((GDestroyNotify)ccs_study_free);
    run->config = ccs_config_open("configs", file, error);
    if (run->config == NULL)
        return false;
    for (size_t i = 0; overrides != NULL && overrides[i] != NULL; i++)
        sort_override(run, overrides[i]);
    ccs_config_decode(run->config, &ccs_run_config_table, &run->spec);
    return ccs_config_check(run->config, error);
}

static const CcsCaseSpec *case_at(const Run *run, uint32_t index)
{
    return &((const CcsCaseSpec *)run->spec.cases.items)[index];
}

/* The file that a config means by @name: beside the config if there is one, else as it is. */
static char *resolve(const Run *run, const char *name)
{
    g_autofree char *folder = g_path_get_dirname(run->file);
    g_autofree char *beside = g_build_filename(folder, name, NULL);

    if (!g_path_is_absolute(name) && strpbrk(name, "./") != NULL &&
        g_file_test(beside, G_FILE_TEST_EXISTS))
        return g_steal_pointer(&beside);
    return g_strdup(name);
}

static void add_list(GPtrArray *into, const CcsList *list)
{
    for (uint32_t i = 0; i < list->n_items; i++)
        g_ptr_array_add(into, g_strdup(((const char *const *)list->items)[i]));
}

/* What is wrong in a case is said at its place in the config, unless it has a place already. */
static void place_error(Run *run, uint32_t index, const char *key, const GError *failure)
{
    g_autofree char *path = g_strdup_printf("cases[%u].%s", index, key);
    ccs_config_error_at(run->config, path, "%s", failure->message);
}

static CcsMachine *make_machine(const Run *run, const CcsCaseSpec *spec, GError **error)
{
    g_autofree char *topology =
        resolve(run, spec->topology == NULL ? run->spec.topology : spec->topology);
    g_autofree char *transport = resolve(run, run->spec.transport);
    g_autoptr(GPtrArray) overrides = g_ptr_array_new_with_free_func(g_free);

    add_list(overrides, &run->spec.overrides);
    add_list(overrides, &spec->overrides);
    for (guint i = 0; i < run->overrides->len; i++)
        g_ptr_array_add(overrides, g_strdup(g_ptr_array_index(run->overrides, i)));
    g_ptr_array_add(overrides, NULL);
    return ccs_machine_new(
        &(CcsMachineOptions){
            .topology = topology,
            .transport = transport,
            .model = run->spec.model,
            .overrides = (const char *const *)overrides->pdata,
            .n_nodes = run->spec.n_nodes,
            .n_ranks = run->spec.n_ranks,
            .ranks_per_node = run->spec.ranks_per_node,
        },
        error);
}

/* The sizes of a case, as a list or a range. */
static GArray *case_sizes(Run *run, uint32_t index)
{
    const CcsCaseSpec *spec = case_at(run, index);
    g_autoptr(GError) failure = NULL;

    if (spec->size_range != NULL) {
        GArray *sizes = ccs_sizes_by_factor(spec->size_range->from, spec->size_range->to,
                                            spec->size_range->factor, &failure);
        if (sizes == NULL)
            place_error(run, index, "sizes", failure);
        return sizes;
    }
    GArray *sizes = g_array_new(false, false, sizeof(CcsBytes));
    if (spec->sizes.n_items > 0)
        g_array_append_vals(sizes, spec->sizes.items, spec->sizes.n_items);
    else
        place_error(run, index, "sizes", &(GError){.message = (char[]){"a case needs 'sizes'"}});
    return sizes;
}

/* All that a case asks for: algorithms times channels times chunks. */
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
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

    if (spec->algorithms.n_items == 0)
        return g_strdup("auto");
    add_list(names, &spec->algorithms);
    g_ptr_array_add(names, NULL);
    return g_strjoinv(",", (char **)names->pdata);
}

/* The cases of entry @index; errors go to the config. */
static GArray *make_cases(Run *run, uint32_t index, uint32_t n_ranks)
{
    const CcsCaseSpec *spec = case_at(run, index);
    GArray *cases = g_array_new(false, true, sizeof(CcsCase));
    CcsCase one = {.root = spec->root};
    CcsCollective collective = CCS_ALLREDUCE;
    g_autoptr(GError) failure = NULL;
    g_autofree char *names = algorithm_names(spec);
    g_autoptr(GPtrArray) algorithms = NULL;

    if (!ccs_collective_parse(spec->collective, &collective, &failure))
        place_error(run, index, "collective", failure);
    else if ((algorithms = ccs_algorithm_list(names, collective, &failure)) == NULL)
        place_error(run, index, "algorithms", failure);
    else if ((one.type = ccs_data_type_find(spec->type, &failure)) == NULL)
        place_error(run, index, "datatype", failure);
    else if ((one.op = ccs_reduction_find(spec->op, &failure)) == NULL)
        place_error(run, index, "op", failure);
    else if (spec->root >= n_ranks)
        place_error(run, index, "root",
                    &(GError){.message = (char[]){"the root is no rank of this job"}});
    else
        add_cases(cases, spec, one, algorithms);
    return cases;
}

static bool run_case(Run *run, uint32_t index, GError **error)
{
    CcsMachine *machine = make_machine(run, case_at(run, index), error);
    if (machine == NULL)
        return false;
    g_ptr_array_add(run->machines, machine);
    CcsStudy *study = ccs_study_new(machine, run->trace, run->level, error);
    if (study == NULL)
        return false;
    g_ptr_array_add(run->studies, study);

    g_autoptr(GArray) sizes = case_sizes(run, index);
    g_autoptr(GArray) cases =
        make_cases(run, index, ccs_communicator_n_ranks(machine->communicator));
    if (!ccs_config_check(run->config, error))
        return false;
    for (guint i = 0; i < cases->len; i++) {
        if (!ccs_study_run(study, &g_array_index(cases, CcsCase, i),
                           (const CcsBytes *)(const void *)sizes->data, sizes->len, error))
            return false;
    }
    return true;
}

static double estimate_us(const CcsEstimateSpec *spec, CcsBytes size)
{
    double factor = (double)spec->factor / (double)CCS_DECIMAL_ONE;
    return ccs_time_us(spec->latency) +
           factor * (double)size / ccs_rate_GBps(spec->bandwidth) / 1e3;
}

/* Each result beside the estimates that speak of it. */
static bool print_estimates(const Run *run, uint32_t index, CcsFormat format, GError **error)
{
    const CcsCaseSpec *spec = case_at(run, index);
    const CcsEstimateSpec *specs = spec->estimates.items;
    g_autoptr(GArray) estimates = g_array_new(false, false, sizeof(CcsEstimate));
    uint32_t n = 0;
    const CcsStudyResult *results = ccs_study_results(g_ptr_array_index(run->studies, index), &n);

    for (uint32_t i = 0; i < n; i++) {
        const CcsResult *result = &results[i].result;
        for (uint32_t j = 0; j < spec->estimates.n_items; j++) {
            CcsEstimate estimate = {specs[j].label, estimate_us(&specs[j], result->size),
                                    &results[i]};
            if (specs[j].algorithm == NULL || strcmp(specs[j].algorithm, result->algorithm) == 0)
                g_array_append_val(estimates, estimate);
        }
    }
    if (estimates->len == 0)
        return true;
    printf("\n");
    return ccs_print_estimates((const CcsEstimate *)(const void *)estimates->data, estimates->len,
                               format, stdout, error);
}

static bool print_case(const Run *run, uint32_t index, CcsFormat format, bool is_verbose,
                       GError **error)
{
    const CcsCaseSpec *spec = case_at(run, index);
    uint32_t n = 0;
    const CcsStudyResult *results = ccs_study_results(g_ptr_array_index(run->studies, index), &n);

    printf("\n%s%s (%s, %s)\n\n", format == CCS_FORMAT_MD ? "## " : "", spec->title,
           results[0].result.collective, results[0].result.topology);
    if (!ccs_print_results(results, n, format, stdout, error))
        return false;
    if (is_verbose) {
        printf("\n");
        if (!ccs_print_classes(results, n, format, stdout, error))
            return false;
    }
    if (!print_estimates(run, index, format, error))
        return false;
    if (spec->note != NULL) {
        g_autofree char *note = g_strchomp(g_strdup(spec->note));
        printf("\n%s\n", note);
    }
    return true;
}

/* For programs: all results in one list. */
static bool print_plain(const Run *run, CcsFormat format, GError **error)
{
    g_autoptr(GArray) all = g_array_new(false, false, sizeof(CcsStudyResult));

    for (guint i = 0; i < run->studies->len; i++) {
        uint32_t n = 0;
        const CcsStudyResult *results = ccs_study_results(g_ptr_array_index(run->studies, i), &n);
        g_array_append_vals(all, results, n);
    }
    return ccs_print_results((const CcsStudyResult *)(const void *)all->data, all->len, format,
                             stdout, error);
}

static bool print(const Run *run, const CcsOutputArguments *output, CcsFormat format,
                  GError **error)
{
    if (!ccs_output_json(output, run->trace, format == CCS_FORMAT_JSON, error))
        return false;
    if (format == CCS_FORMAT_JSON)
        return true;
    if (format != CCS_FORMAT_TABLE && format != CCS_FORMAT_MD)
        return print_plain(run, format, error);

    printf("%s%s\n", format == CCS_FORMAT_MD ? "# " : "", run->spec.title);
    if (run->spec.description != NULL) {
        g_autofree char *description = g_strchomp(g_strdup(run->spec.description));
        printf("\n%s\n", description);
    }
    for (uint32_t i = 0; i < run->spec.cases.n_items; i++) {
        if (!print_case(run, i, format, output->is_verbose, error))
            return false;
    }
    return true;
}

static bool simulate(Run *run, const char *command, GError **error)
{
    int64_t run_id = 0;
    g_autoptr(GError) failure = NULL;

    if (!ccs_trace_begin_run(run->trace, command, run->spec.title, &run_id, error))
        return false;
    for (uint32_t i = 0; i < run->spec.cases.n_items && failure == NULL; i++)
        run_case(run, i, &failure);
    if (failure == NULL && ccs_trace_end_run(run->trace, &failure))
        return true;
    ccs_trace_fail_run(run->trace, failure);
    g_propagate_error(error, g_steal_pointer(&failure));
    return false;
}

static bool run_file(const char *file, char *const *overrides, const CcsOutputArguments *output,
                     CcsFormat format, CcsTraceLevel level, const char *command, GError **error)
{
    g_auto(Run) run = {.level = level};

    if (!load(&run, file, overrides, error))
        return false;
    run.trace = ccs_output_open(output, level, error);
    return run.trace != NULL && simulate(&run, command, error) &&
           print(&run, output, format, error);
}

static bool run(int argc, char **argv, GError **error)
{
    g_autofree char *command = ccs_command_line(argc, argv);
    g_auto(CcsOutputArguments) output = {0};
    g_auto(GStrv) overrides = NULL;
    CcsFormat format = CCS_FORMAT_TABLE;
    CcsTraceLevel level = CCS_TRACE_SUMMARY;
    g_autoptr(GArray) entries = g_array_new(true, true, sizeof(GOptionEntry));
    const GOptionEntry set = {"set",
                              0,
                              0,
                              G_OPTION_ARG_STRING_ARRAY,
                              &overrides,
                              "Override a value of the config, the topology or the transport;"
                              " repeatable",
                              "PATH=VALUE"};

    g_array_append_val(entries, set);
    ccs_output_arguments_add(entries, &output);
    if (!ccs_command_parse(&ccs_command_run, "CONFIG",
                           (const GOptionEntry *)(const void *)entries->data, &argc, &argv,
                           error) ||
        !ccs_format_parse(output.format, CCS_FORMATS_OF_ROWS | 1U << CCS_FORMAT_NCCL, &format,
                          error) ||
        (output.trace != NULL && !ccs_trace_level_parse(output.trace, &level, error)))
        return false;
    if (argc != 2) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "one config must be named, as in: ccsim run configs/quickstart.yaml");
        return false;
    }
    return run_file(argv[1], overrides, &output, format, level, command, error);
}

const CcsCommand ccs_command_run = {
    .name = "run",
    .summary = "Simulate the cases of a config file.",
    .run = run,
};
