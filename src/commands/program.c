/* program.c - simulates what a file says that each rank does */
#include <stdio.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "commands/command.h"
#include "commands/effects.h"
#include "commands/options.h"
#include "commands/print.h"
#include "commands/print_ranks.h"
#include "report/bar.h"
#include "sim/overlap.h"
#include "workloads/program.h"

extern const CcsCommand ccs_command_program;

typedef struct {
    CcsMachineArguments machine;
    CcsOutputArguments output;
    const char *command; /* not owned, as the file */
    const char *file;
    GPtrArray *overrides; /* of char *: those that speak of the program, NULL-terminated; owned */
    CcsFormat format;
    CcsTraceLevel level;
} Arguments;

static void arguments_clear(Arguments *arguments)
{
    ccs_machine_arguments_clear(&arguments->machine);
    ccs_output_arguments_clear(&arguments->output);
    g_clear_pointer(&arguments->overrides, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arguments, arguments_clear)

static bool parse(Arguments *arguments, int *argc, char ***argv, GError **error)
{
    g_autoptr(GArray) entries = g_array_new(true, true, sizeof(GOptionEntry));

    ccs_machine_arguments_add(entries, &arguments->machine);
    ccs_output_arguments_add(entries, &arguments->output);
    return ccs_command_parse(&ccs_command_program, "FILE",
                             (const GOptionEntry *)(const void *)entries->data, argc, argv, error);
}

/* Takes the overrides that speak of the program away from those of the machine. */
static void sort_overrides(Arguments *arguments)
{
    char **overrides = arguments->machine.overrides;
    size_t n_kept = 0;

    arguments->overrides = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; overrides != NULL && overrides[i] != NULL; i++) {
        if (ccs_program_is_key(overrides[i]))
            g_ptr_array_add(arguments->overrides, overrides[i]);
        else
            overrides[n_kept++] = overrides[i];
    }
    if (overrides != NULL)
        overrides[n_kept] = NULL;
    g_ptr_array_add(arguments->overrides, NULL);
}

static bool observe_flow(void *data, const CcsFlow *flow, GError **error)
{
    (void)error;
    ccs_overlaps_add_message(data, flow);
    return true;
}

static bool observe_work(void *data, const CcsFlow *work, GError **error)
{
    (void)error;
    ccs_overlaps_add_work(data, work);
    return true;
}

static bool play(CcsStudy *study, const CcsProgram *program, const CcsSchedule *schedule,
                 CcsOverlaps *overlaps, GError **error)
{
    const CcsAlgorithm algorithm = {.collective = CCS_PROGRAM, .name = ccs_program_name(program)};
    const CcsObserver observer = {.flow = observe_flow, .local = observe_work, .data = overlaps};
    CcsCase of = {.algorithm = &algorithm, .op = "none"};
    CcsBytes size = ccs_program_bytes(program);

    of.type = ccs_data_type_find("uint8", error);
    if (of.type == NULL)
        return false;
    g_autoptr(CcsBar) bar = ccs_bar_new(stderr, 1);
    ccs_study_show(study, bar);
    bool is_done = ccs_study_play(study, &of, schedule, &observer, &size, 1, error);
    ccs_study_show(study, NULL);
    return is_done;
}

/* For people: what it was, how long it took, and how well it overlapped. */
static void print_head(const CcsProgram *program, const CcsResult *result, CcsOverlaps *overlaps,
                       CcsFormat format)
{
    const char *description = ccs_program_description(program);
    double share = ccs_overlaps_share(overlaps);

    printf("%s%s\n", format == CCS_FORMAT_MD ? "# " : "", ccs_program_title(program));
    if (description != NULL) {
        g_autofree char *text = g_strchomp(g_strdup(description));
        printf("\n%s\n", text);
    }
    printf("\n%.3f us for %" G_GUINT64_FORMAT " message%s with %" G_GUINT64_FORMAT " byte%s",
           ccs_time_us(result->time), result->n_flows, ccs_plural(result->n_flows), result->size,
           ccs_plural(result->size));
    if (result->n_flows > 0)
        printf("; computation hides %.1f%% of the communication", 100 * share);
    printf("\n\n");
}

static bool print(const Arguments *arguments, const CcsProgram *program, const CcsStudy *study,
                  CcsTrace *trace, CcsOverlaps *overlaps, GError **error)
{
    CcsFormat format = arguments->format;
    uint32_t n = 0;
    const CcsStudyResult *results = ccs_study_results(study, &n);

    if (!ccs_output_json(&arguments->output, trace, format, error))
        return false;
    if (!ccs_print_is_for_programs(format))
        print_head(program, &results[0].result, overlaps, format);
    if (!ccs_print_is_json(format) &&
        !ccs_print_ranks(overlaps, results[0].result.time, format, stdout, error))
        return false;
    if (!arguments->output.is_verbose)
        return true;
    if (ccs_print_is_for_programs(format))
        return ccs_print_classes(results, n, CCS_FORMAT_TABLE, stderr, error);
    printf("\n");
    return ccs_print_classes(results, n, format, stdout, error);
}

static void warn_of_overrides(const Arguments *arguments, const CcsStudy *study)
{
    uint32_t n = 0;
    const CcsStudyResult *results = ccs_study_results(study, &n);

    ccs_effects_of_overrides("", (const char *const *)arguments->machine.overrides, results, n);
}

/* All that can be wrong with the program is known before anything is written. */
static bool simulate(const Arguments *arguments, const CcsMachine *machine,
                     const CcsProgram *program, GError **error)
{
    int64_t run_id = 0;
    g_autoptr(CcsSchedule) schedule = ccs_program_schedule(program, error);
    if (schedule == NULL)
        return false;
    g_autoptr(CcsTrace) trace = ccs_output_open(&arguments->output, arguments->level, error);
    if (trace == NULL ||
        !ccs_trace_begin_run(trace, arguments->command, ccs_program_title(program), &run_id, error))
        return false;
    ccs_interrupt_catch();
    g_autoptr(CcsOverlaps) overlaps =
        ccs_overlaps_new(ccs_communicator_n_ranks(machine->communicator));
    g_autoptr(GError) failure = NULL;
    g_autoptr(CcsStudy) study = ccs_study_new(machine, trace, arguments->level, &failure);
    if (study == NULL || !play(study, program, schedule, overlaps, &failure) ||
        !ccs_trace_end_run(trace, &failure)) {
        ccs_trace_fail_run(trace, failure);
        g_propagate_error(error, g_steal_pointer(&failure));
        return false;
    }
    warn_of_overrides(arguments, study);
    return print(arguments, program, study, trace, overlaps, error);
}

static bool load_and_simulate(Arguments *arguments, GError **error)
{
    sort_overrides(arguments);
    g_autoptr(CcsMachine) machine = ccs_machine_arguments_load(&arguments->machine, error);
    if (machine == NULL)
        return false;
    g_autoptr(CcsProgram) program =
        ccs_program_load(arguments->file, (const char *const *)arguments->overrides->pdata,
                         machine->communicator, error);
    return program != NULL && simulate(arguments, machine, program, error);
}

static bool run(int argc, char **argv, GError **error)
{
    g_autofree char *command = ccs_command_line(argc, argv);
    g_auto(Arguments) arguments = {.command = command};

    if (!parse(&arguments, &argc, &argv, error))
        return false;
    if (argc != 2) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "one program must be named, as in: ccsim program "
                    "configs/program-overlap.yaml -T flat8");
        return false;
    }
    arguments.file = argv[1];
    const char *const inputs[] = {argv[1], arguments.machine.topology, arguments.machine.transport};
    if (!ccs_output_check(&arguments.output, &arguments.format, &arguments.level, error) ||
        !ccs_output_check_inputs(&arguments.output, inputs, G_N_ELEMENTS(inputs), error))
        return false;
    if (arguments.format == CCS_FORMAT_NCCL) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "--format nccl shows collectives, and a program is none");
        return false;
    }
    return load_and_simulate(&arguments, error);
}

const CcsCommand ccs_command_program = {
    .name = "program",
    .summary = "Time a program of sends, receives and computation for each rank.",
    .run = run,
};
