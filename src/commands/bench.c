/* bench.c - what nccl-tests would print on this machine, and why */
#include <stdio.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "commands/command.h"
#include "commands/effects.h"
#include "commands/options.h"
#include "commands/print.h"
#include "commands/schedule_file.h"
#include "commands/traffic.h"
#include "report/bar.h"

extern const CcsCommand ccs_command_bench;

typedef struct {
    CcsMachineArguments machine;
    CcsCaseArguments cases;
    CcsOutputArguments output;
    gboolean is_probed;
    const char *command;   /* not owned */
    CcsScheduleFile *file; /* in the place of a collective; NULL: none */
    CcsCollective collective;
    CcsFormat format;
    CcsTraceLevel level;
} Arguments;

static void arguments_clear(Arguments *arguments)
{
    ccs_machine_arguments_clear(&arguments->machine);
    ccs_case_arguments_clear(&arguments->cases);
    ccs_output_arguments_clear(&arguments->output);
    ccs_schedule_file_free(arguments->file);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arguments, arguments_clear)

static bool parse(Arguments *arguments, int *argc, char ***argv, GError **error)
{
    g_autoptr(GArray) entries = g_array_new(true, true, sizeof(GOptionEntry));

    ccs_case_arguments_add(entries, &arguments->cases);
    ccs_machine_arguments_add(entries, &arguments->machine);
    ccs_probe_argument_add(entries, &arguments->is_probed);
    ccs_output_arguments_add(entries, &arguments->output);
    return ccs_command_parse(&ccs_command_bench, "COLLECTIVE|FILE",
                             (const GOptionEntry *)(const void *)entries->data, argc, argv, error);
}

static bool run_cases(CcsStudy *study, const GArray *cases, const GArray *sizes, GError **error)
{
    for (guint i = 0; i < cases->len; i++) {
        if (!ccs_study_run(study, &g_array_index(cases, CcsCase, i),
                           (const CcsBytes *)(const void *)sizes->data, sizes->len, error))
            return false;
    }
    return true;
}

static bool run_and_show(const Arguments *arguments, CcsStudy *study, const GArray *cases,
                         const GArray *sizes, GError **error)
{
    g_autoptr(CcsBar) bar = ccs_bar_new(stderr, cases->len);

    if (arguments->is_probed)
        ccs_study_probe(study);
    ccs_study_show(study, bar);
    bool is_done = run_cases(study, cases, sizes, error);
    ccs_study_show(study, NULL);
    return is_done;
}

/* What the link classes carried goes beside the results only where they are meant for people. */
static bool print(const CcsMachine *machine, const CcsStudy *study, CcsTrace *trace,
                  const Arguments *arguments, GError **error)
{
    CcsFormat format = arguments->format;
    uint32_t n = 0;
    const CcsStudyResult *results = ccs_study_results(study, &n);

    if (!ccs_output_json(&arguments->output, trace, format, error) ||
        (!ccs_print_is_json(format) && !ccs_print_results(results, n, format, stdout, error)))
        return false;
    if (!ccs_print_is_for_programs(format) &&
        !ccs_print_crossovers(machine, results, n, format, stdout, error))
        return false;
    if (!arguments->output.is_verbose)
        return true;
    if (ccs_print_is_for_programs(format)) {
        fflush(stdout); /* where both go to one place, one comes after the other */
        return ccs_print_classes(results, n, CCS_FORMAT_TABLE, stderr, error);
    }
    printf("\n");
    return ccs_print_classes(results, n, format, stdout, error);
}

/* What was finished before the user lost patience. A file of results is not written: it would
 * look like all of them. */
static void print_finished(const CcsStudy *study, CcsTrace *trace, CcsFormat format)
{
    const CcsOutputArguments screen = {0};
    uint32_t n = 0;
    const CcsStudyResult *results = ccs_study_results(study, &n);

    if (n > 0 && ccs_output_json(&screen, trace, format, NULL) && !ccs_print_is_json(format))
        ccs_print_results(results, n, format, stdout, NULL);
    fflush(stdout); /* before the error that is to follow */
}

static void warn_without_effect(const Arguments *arguments, const GArray *cases,
                                const CcsMachine *machine)
{
    const CcsCaseArguments *given = &arguments->cases;
    CcsAsked asked = {
        .where = "",
        .chunks = given->n_chunks == CCS_NOT_GIVEN ? NULL : "--chunks",
        .root = given->root == CCS_NOT_GIVEN ? NULL : "-r",
        .op = given->op == NULL ? NULL : "-o",
        .sizes = given->smallest != NULL  ? "-b"
                 : given->largest != NULL ? "-e"
                                          : NULL,
        .distance = given->distance == CCS_NOT_GIVEN ? NULL : "--distance",
        .skew = given->skew == CCS_NOT_GIVEN ? NULL : "--skew",
        .matrix = given->matrix == NULL ? NULL : "--matrix",
    };

    ccs_effects_of_options(&asked, cases, machine);
    if (arguments->is_probed && arguments->format == CCS_FORMAT_NCCL)
        ccs_warn("--probe shows nothing: --format nccl has no column for it");
}

static void warn_of_overrides(const Arguments *arguments, const CcsStudy *study)
{
    uint32_t n = 0;
    const CcsStudyResult *results = ccs_study_results(study, &n);

    ccs_effects_of_overrides("", (const char *const *)arguments->machine.overrides, results, n);
}

static GArray *list_cases(const Arguments *arguments, uint32_t n_ranks, GError **error)
{
    if (arguments->file != NULL)
        return ccs_schedule_file_cases(arguments->file, &arguments->cases, error);
    return ccs_case_list(&arguments->cases, arguments->collective, n_ranks, error);
}

static bool simulate(const Arguments *arguments, GError **error)
{
    int64_t run_id = 0;
    g_autoptr(CcsMachine) machine = ccs_machine_arguments_load(&arguments->machine, error);
    if (machine == NULL)
        return false;
    g_autoptr(GArray) sizes = ccs_case_sizes(&arguments->cases, error);
    if (sizes == NULL)
        return false;
    g_autoptr(GArray) cases =
        list_cases(arguments, ccs_communicator_n_ranks(machine->communicator), error);
    if (cases == NULL)
        return false;
    g_autoptr(CcsWeights) weights = NULL;
    if (!ccs_case_weights(&arguments->cases, arguments->collective,
                          ccs_communicator_n_ranks(machine->communicator), cases, &weights, error))
        return false;
    g_autoptr(CcsTrace) trace = ccs_output_open(&arguments->output, arguments->level, error);
    if (trace == NULL || !ccs_trace_begin_run(trace, arguments->command, NULL, &run_id, error))
        return false;
    warn_without_effect(arguments, cases, machine);
    ccs_traffic_note("", weights);
    if (arguments->file != NULL)
        ccs_schedule_file_note(arguments->file, &arguments->cases, sizes);
    ccs_interrupt_catch();
    g_autoptr(GError) failure = NULL;
    g_autoptr(CcsStudy) study = ccs_study_new(machine, trace, arguments->level, &failure);
    if (study == NULL || !run_and_show(arguments, study, cases, sizes, &failure) ||
        !ccs_trace_end_run(trace, &failure)) {
        ccs_trace_fail_run(trace, failure);
        if (study != NULL && g_error_matches(failure, CCS_ERROR, CCS_ERROR_INTERRUPTED))
            print_finished(study, trace, arguments->format);
        g_propagate_error(error, g_steal_pointer(&failure));
        return false;
    }
    warn_of_overrides(arguments, study);
    return print(machine, study, trace, arguments, error);
}

/* The job has as many ranks as the file, unless the user says something else. */
static bool load_file(Arguments *arguments, const char *path, GError **error)
{
    arguments->file = ccs_schedule_file_load(path, error);
    if (arguments->file == NULL)
        return false;
    arguments->collective = arguments->file->msccl->collective;
    if (arguments->machine.n_ranks == CCS_NOT_GIVEN)
        arguments->machine.n_ranks = (int)arguments->file->msccl->n_ranks;
    return true;
}

static bool check_output(Arguments *arguments, const char *file, GError **error)
{
    const char *const inputs[] = {file, arguments->machine.topology, arguments->machine.transport,
                                  arguments->cases.matrix};

    return ccs_output_check(&arguments->output, &arguments->format, &arguments->level, error) &&
           ccs_output_check_inputs(&arguments->output, inputs, G_N_ELEMENTS(inputs), error);
}

static bool run(int argc, char **argv, GError **error)
{
    g_autofree char *command = ccs_command_line(argc, argv);
    g_auto(Arguments) arguments = {.command = command};

    if (!parse(&arguments, &argc, &argv, error))
        return false;
    if (argc != 2) {
        g_set_error(
            error, CCS_ERROR, CCS_ERROR_USAGE,
            "one collective must be named, or a file, as in: ccsim bench allreduce -T nvlink8");
        return false;
    }
    return (ccs_schedule_file_is(argv[1])
                ? load_file(&arguments, argv[1], error)
                : ccs_collective_parse(argv[1], &arguments.collective, error)) &&
           check_output(&arguments, arguments.file == NULL ? NULL : argv[1], error) &&
           simulate(&arguments, error);
}

const CcsCommand ccs_command_bench = {
    .name = "bench",
    .summary = "Time a collective, or an MSCCL file, for a range of sizes, as nccl-tests does.",
    .run = run,
};
