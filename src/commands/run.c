/* run.c - simulates all cases of a config, each shown with its title, estimates and note */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "commands/command.h"
#include "commands/effects.h"
#include "commands/estimates.h"
#include "commands/options.h"
#include "commands/print.h"
#include "commands/run_case.h"
#include "commands/run_config.h"
#include "report/bar.h"

extern const CcsCommand ccs_command_run;

typedef struct {
    const char *command; /* not owned */
    char **overrides;
    CcsOutputArguments output;
    gboolean is_probed;
} Arguments;

static void arguments_clear(Arguments *arguments)
{
    g_strfreev(arguments->overrides);
    ccs_output_arguments_clear(&arguments->output);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arguments, arguments_clear)

typedef struct {
    CcsConfig *config;
    CcsRunConfig spec;
    GPtrArray *overrides; /* of the topology and the transport, from the command line; owned */
    GPtrArray *cases;     /* of CcsRunCase; owned */
    CcsTrace *trace;
    CcsFormat format;
    CcsTraceLevel level;
    bool is_probed;
    bool is_cut_short; /* by the user: some cases have no results, or not all */
} Run;

static void run_clear(Run *run)
{
    g_clear_pointer(&run->cases, g_ptr_array_unref);
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

/* Finds all that is wrong in the config before anything is simulated. */
static bool prepare_cases(Run *run, const char *file, GError **error)
{
    if (run->spec.cases.n_items == 0)
        ccs_config_error_at(run->config, "cases", "there is no case: nothing would be simulated");
    for (uint32_t i = 0; i < run->spec.cases.n_items && !ccs_config_is_full(run->config); i++) {
        CcsRunCase *run_case =
            ccs_run_case_new(run->config, file, &run->spec, i, run->overrides, error);
        if (run_case == NULL)
            return false;
        g_ptr_array_add(run->cases, run_case);
    }
    return ccs_config_check(run->config, error);
}

static bool load(Run *run, const char *file, char *const *overrides, GError **error)
{
    run->overrides = g_ptr_array_new_with_free_func(g_free);
    run->cases = g_ptr_array_new_with_free_func((GDestroyNotify)ccs_run_case_free);
    run->config = ccs_config_open("configs", file, error);
    if (run->config == NULL)
        return false;
    if (ccs_config_has(run->config, "program") && !ccs_config_has(run->config, "cases")) {
        ccs_config_error_at(run->config, "program",
                            "this is a program, not a config with cases: 'ccsim program %s -T"
                            " TOPOLOGY' runs it",
                            file);
        return ccs_config_check(run->config, error);
    }
    for (size_t i = 0; overrides != NULL && overrides[i] != NULL; i++)
        sort_override(run, overrides[i]);
    ccs_config_decode(run->config, &ccs_run_config_table, &run->spec);
    return ccs_config_check(run->config, error) && prepare_cases(run, file, error);
}

static const CcsStudyResult *results_of(const Run *run, uint32_t index, uint32_t *ret_n)
{
    const CcsRunCase *run_case = g_ptr_array_index(run->cases, index);

    *ret_n = 0;
    return run_case->study == NULL ? NULL : ccs_study_results(run_case->study, ret_n);
}

/* Each result beside the estimates that speak of it. */
static bool print_estimates(const Run *run, uint32_t index, CcsFormat format, GError **error)
{
    const CcsCaseSpec *spec = ((const CcsRunCase *)g_ptr_array_index(run->cases, index))->spec;
    g_autoptr(GArray) estimates = g_array_new(false, false, sizeof(CcsEstimate));
    uint32_t n = 0;
    const CcsStudyResult *results = results_of(run, index, &n);

    for (uint32_t i = 0; i < n; i++) {
        const CcsResult *result = &results[i].result;
        g_autoptr(GArray) rows = ccs_estimates_of(spec, result->algorithm, result->size);
        for (guint j = 0; j < rows->len; j++) {
            const CcsEstimateRow *row = &g_array_index(rows, CcsEstimateRow, j);
            CcsEstimate estimate = {row->label, row->time_us, &results[i]};
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
    const CcsRunCase *run_case = g_ptr_array_index(run->cases, index);
    const CcsCaseSpec *spec = run_case->spec;
    uint32_t n = 0;
    const CcsStudyResult *results = results_of(run, index, &n);

    if (n == 0)
        return true;
    printf("\n%s%s (%s, %s)\n\n", format == CCS_FORMAT_MD ? "## " : "", spec->title,
           results[0].result.collective, results[0].result.topology);
    if (!ccs_print_results(results, n, format, stdout, error) ||
        (!run->is_cut_short &&
         !ccs_print_crossovers(run_case->machine, results, n, format, stdout, error)))
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

/* All in one list, which owns nothing. */
static GArray *all_results(const Run *run)
{
    GArray *all = g_array_new(false, false, sizeof(CcsStudyResult));

    for (uint32_t i = 0; i < run->cases->len; i++) {
        uint32_t n = 0;
        const CcsStudyResult *results = results_of(run, i, &n);
        g_array_append_vals(all, results, n);
    }
    return all;
}

/* For programs. What the link classes carried is not for them. */
static bool print_plain(const Run *run, bool is_verbose, GError **error)
{
    g_autoptr(GArray) all = all_results(run);
    const CcsStudyResult *results = (const CcsStudyResult *)(const void *)all->data;

    if (!ccs_print_is_json(run->format) &&
        !ccs_print_results(results, all->len, run->format, stdout, error))
        return false;
    fflush(stdout); /* where both go to one place, one comes after the other */
    return !is_verbose || ccs_print_classes(results, all->len, CCS_FORMAT_TABLE, stderr, error);
}

static void print_head(const Run *run)
{
    printf("%s%s\n", run->format == CCS_FORMAT_MD ? "# " : "", run->spec.title);
    if (run->spec.description == NULL)
        return;
    g_autofree char *description = g_strchomp(g_strdup(run->spec.description));
    printf("\n%s\n", description);
}

static bool print(const Run *run, const CcsOutputArguments *output, GError **error)
{
    if (!ccs_output_json(output, run->trace, run->format, error))
        return false;
    if (ccs_print_is_for_programs(run->format))
        return print_plain(run, output->is_verbose, error);
    print_head(run);
    for (uint32_t i = 0; i < run->cases->len; i++) {
        if (!print_case(run, i, run->format, output->is_verbose, error))
            return false;
    }
    return true;
}

/* What was finished before the user lost patience. A file of results is not written: it would
 * look like all of them. */
static void print_finished(Run *run)
{
    const CcsOutputArguments screen = {0};
    g_autoptr(GArray) all = all_results(run);

    run->is_cut_short = true;
    if (all->len > 0)
        print(run, &screen, NULL);
    fflush(stdout); /* before the error that is to follow */
}

static bool simulate_cases(const Run *run, GError **error)
{
    uint32_t n_parts = 0;

    for (uint32_t i = 0; i < run->cases->len; i++)
        n_parts += ((const CcsRunCase *)g_ptr_array_index(run->cases, i))->cases->len;
    g_autoptr(CcsBar) bar = ccs_bar_new(stderr, n_parts);
    const CcsRunSetting setting = {run->trace, run->level, run->is_probed, bar};
    for (uint32_t i = 0; i < run->cases->len; i++) {
        if (!ccs_run_case_simulate(g_ptr_array_index(run->cases, i), &setting, error))
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
    ccs_interrupt_catch();
    if (simulate_cases(run, &failure) && ccs_trace_end_run(run->trace, &failure))
        return true;
    ccs_trace_fail_run(run->trace, failure);
    if (g_error_matches(failure, CCS_ERROR, CCS_ERROR_INTERRUPTED))
        print_finished(run);
    g_propagate_error(error, g_steal_pointer(&failure));
    return false;
}

/* Overrides of the whole config need an effect on one case only. */
static void warn(const Run *run)
{
    g_autoptr(GArray) all = all_results(run);
    g_autoptr(GPtrArray) shared = g_ptr_array_new();

    for (uint32_t i = 0; i < run->spec.overrides.n_items; i++)
        g_ptr_array_add(shared, ((char *const *)run->spec.overrides.items)[i]);
    for (guint i = 0; i < run->overrides->len; i++)
        g_ptr_array_add(shared, g_ptr_array_index(run->overrides, i));
    g_ptr_array_add(shared, NULL);
    for (uint32_t i = 0; i < run->cases->len; i++)
        ccs_run_case_warn(g_ptr_array_index(run->cases, i), run->config, i);
    ccs_effects_of_overrides("", (const char *const *)shared->pdata,
                             (const CcsStudyResult *)(const void *)all->data, all->len);
}

/* -J must not write over what is read. */
static bool check_inputs(const Run *run, const char *file, const CcsOutputArguments *output,
                         GError **error)
{
    if (!ccs_output_check_inputs(output, &file, 1, error))
        return false;
    for (guint i = 0; i < run->cases->len; i++) {
        const GPtrArray *inputs = ((const CcsRunCase *)g_ptr_array_index(run->cases, i))->inputs;
        if (!ccs_output_check_inputs(output, (const char *const *)inputs->pdata, inputs->len,
                                     error))
            return false;
    }
    return true;
}

static bool run_file(const Arguments *arguments, const char *file, GError **error)
{
    g_auto(Run) run = {.is_probed = arguments->is_probed};

    if (!ccs_output_check(&arguments->output, &run.format, &run.level, error) ||
        !load(&run, file, arguments->overrides, error) ||
        !check_inputs(&run, file, &arguments->output, error))
        return false;
    run.trace = ccs_output_open(&arguments->output, run.level, error);
    if (run.trace == NULL || !simulate(&run, arguments->command, error))
        return false;
    warn(&run);
    return print(&run, &arguments->output, error);
}

static bool parse(Arguments *arguments, int *argc, char ***argv, GError **error)
{
    g_autoptr(GArray) entries = g_array_new(true, true, sizeof(GOptionEntry));
    const GOptionEntry set = {"set",
                              0,
                              0,
                              G_OPTION_ARG_STRING_ARRAY,
                              &arguments->overrides,
                              "Override a value of the config, the topology or the transport;"
                              " repeatable",
                              "PATH=VALUE"};

    g_array_append_val(entries, set);
    ccs_probe_argument_add(entries, &arguments->is_probed);
    ccs_output_arguments_add(entries, &arguments->output);
    return ccs_command_parse(&ccs_command_run, "CONFIG",
                             (const GOptionEntry *)(const void *)entries->data, argc, argv, error);
}

static bool run(int argc, char **argv, GError **error)
{
    g_autofree char *command = ccs_command_line(argc, argv);
    g_auto(Arguments) arguments = {.command = command};

    if (!parse(&arguments, &argc, &argv, error))
        return false;
    if (argc != 2) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "one config must be named, as in: ccsim run configs/quickstart.yaml");
        return false;
    }
    return run_file(&arguments, argv[1], error);
}

const CcsCommand ccs_command_run = {
    .name = "run",
    .summary = "Simulate the cases of a config file.",
    .run = run,
};
