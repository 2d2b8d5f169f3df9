/* bench.c - what nccl-tests would print on this machine, and why */
#include <stdio.h>

#include "base/error.h"
#include "commands/command.h"
#include "commands/options.h"
#include "commands/print.h"

extern const CcsCommand ccs_command_bench;

typedef struct {
    CcsMachineArguments machine;
    CcsCaseArguments cases;
    CcsOutputArguments output;
} Arguments;

static void arguments_clear(Arguments *arguments)
{
    ccs_machine_arguments_clear(&arguments->machine);
    ccs_case_arguments_clear(&arguments->cases);
    ccs_output_arguments_clear(&arguments->output);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arguments, arguments_clear)

static bool parse(Arguments *arguments, int *argc, char ***argv, GError **error)
{
    g_autoptr(GArray) entries = g_array_new(true, true, sizeof(GOptionEntry));

    ccs_case_arguments_add(entries, &arguments->cases);
    ccs_machine_arguments_add(entries, &arguments->machine);
    ccs_output_arguments_add(entries, &arguments->output);
    return ccs_command_parse(&ccs_command_bench, "COLLECTIVE",
                             (const GOptionEntry *)(const void *)entries->data, argc, argv, error);
}

/* The rings of a job inside one node of several leave the fabric idle. */
static void note_unused_network(const CcsMachine *machine)
{
    if (ccs_communicator_n_nodes(machine->communicator) == 1 &&
        ccs_topology_n_nodes(machine->topology) > 1)
        g_printerr("note: all ranks sit on one node: the network between nodes is not used\n");
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

static bool print(const CcsStudy *study, CcsTrace *trace, const CcsOutputArguments *output,
                  CcsFormat format, GError **error)
{
    uint32_t n = 0;
    const CcsStudyResult *results = ccs_study_results(study, &n);

    if (!ccs_output_json(output, trace, format == CCS_FORMAT_JSON, error))
        return false;
    if (format == CCS_FORMAT_JSON)
        return true;
    if (!ccs_print_results(results, n, format, stdout, error))
        return false;
    if (!output->is_verbose)
        return true;
    printf("\n");
    return ccs_print_classes(results, n, format == CCS_FORMAT_NCCL ? CCS_FORMAT_TABLE : format,
                             stdout, error);
}

static bool simulate(const Arguments *arguments, CcsCollective collective, CcsFormat format,
                     CcsTraceLevel level, const char *command, GError **error)
{
    int64_t run_id = 0;
    g_autoptr(CcsMachine) machine = ccs_machine_arguments_load(&arguments->machine, error);
    if (machine == NULL)
        return false;
    g_autoptr(GArray) sizes = ccs_case_sizes(&arguments->cases, error);
    if (sizes == NULL)
        return false;
    g_autoptr(GArray) cases = ccs_case_list(&arguments->cases, collective,
                                            ccs_communicator_n_ranks(machine->communicator), error);
    if (cases == NULL)
        return false;
    g_autoptr(CcsTrace) trace = ccs_output_open(&arguments->output, level, error);
    if (trace == NULL || !ccs_trace_begin_run(trace, command, NULL, &run_id, error))
        return false;
    note_unused_network(machine);
    g_autoptr(GError) failure = NULL;
    g_autoptr(CcsStudy) study = ccs_study_new(machine, trace, level, &failure);
    if (study == NULL || !run_cases(study, cases, sizes, &failure) ||
        !ccs_trace_end_run(trace, &failure)) {
        ccs_trace_fail_run(trace, failure);
        g_propagate_error(error, g_steal_pointer(&failure));
        return false;
    }
    return print(study, trace, &arguments->output, format, error);
}

static bool run(int argc, char **argv, GError **error)
{
    g_autofree char *command = ccs_command_line(argc, argv);
    g_auto(Arguments) arguments = {0};
    CcsCollective collective = CCS_ALLREDUCE;
    CcsFormat format = CCS_FORMAT_TABLE;
    CcsTraceLevel level = CCS_TRACE_SUMMARY;

    if (!parse(&arguments, &argc, &argv, error))
        return false;
    if (argc != 2) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "one collective must be named, as in: ccsim bench allreduce -T nvlink8");
        return false;
    }
    return ccs_collective_parse(argv[1], &collective, error) &&
           ccs_format_parse(arguments.output.format, CCS_FORMATS_OF_ROWS | 1U << CCS_FORMAT_NCCL,
                            &format, error) &&
           (arguments.output.trace == NULL ||
            ccs_trace_level_parse(arguments.output.trace, &level, error)) &&
           simulate(&arguments, collective, format, level, command, error);
}

const CcsCommand ccs_command_bench = {
    .name = "bench",
    .summary = "Time a collective for a range of sizes, as nccl-tests does.",
    .run = run,
};
