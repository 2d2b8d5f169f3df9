/* explain.c - how an algorithm works, what it costs, and when to choose it */
#include <string.h>

#include "base/error.h"
#include "commands/command.h"
#include "commands/effects.h"
#include "commands/explanation.h"
#include "commands/options.h"
#include "commands/traffic.h"

extern const CcsCommand ccs_command_explain;

/* The machine of the textbook: one GPU a node around one switch, 1 us from any to any. */
#define FLAT_TOPOLOGY "flat8"
#define FLAT_RANKS    8
#define FLAT_LATENCY  "node.nics.latency=0.5 us"

typedef struct {
    CcsMachineArguments machine;
    CcsCaseArguments cases;
    char *format_name;
    CcsFormat format;
    CcsCollective collective;
    CcsBytes size;
} Arguments;

static void arguments_clear(Arguments *arguments)
{
    ccs_machine_arguments_clear(&arguments->machine);
    ccs_case_arguments_clear(&arguments->cases);
    g_free(arguments->format_name);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arguments, arguments_clear)

static void add_own_options(GArray *entries, Arguments *arguments)
{
    CcsCaseArguments *cases = &arguments->cases;
    const GOptionEntry own[] = {
        {"algorithm", 'A', 0, G_OPTION_ARG_STRING, &cases->algorithms,
         "The one to explain; several are compared (all)", "NAME"},
        {"bytes", 'b', 0, G_OPTION_ARG_STRING, &cases->smallest, "Size (1M)", "SIZE"},
        {"root", 'r', 0, G_OPTION_ARG_INT, &cases->root, "Root rank (0)", "RANK"},
        {"channels", 0, 0, G_OPTION_ARG_INT, &cases->n_channels, "Parallel copies of the pattern",
         "N"},
        {"chunks", 0, 0, G_OPTION_ARG_INT, &cases->n_chunks,
         "Pipeline depth of chains and trees (64, and 4 in the table of steps)", "N"},
    };
    const GOptionEntry format[] = {
        {"format", 0, 0, G_OPTION_ARG_STRING, &arguments->format_name, "table (default) or md",
         "FORMAT"},
    };
    g_array_append_vals(entries, own, G_N_ELEMENTS(own));
    ccs_traffic_arguments_add(entries, cases);
    g_array_append_vals(entries, format, G_N_ELEMENTS(format));
}

static bool parse(Arguments *arguments, int *argc, char ***argv, GError **error)
{
    g_autoptr(GArray) entries = g_array_new(true, true, sizeof(GOptionEntry));

    ccs_case_arguments_init(&arguments->cases);
    add_own_options(entries, arguments);
    ccs_machine_arguments_add(entries, &arguments->machine);
    return ccs_command_parse(&ccs_command_explain, "COLLECTIVE",
                             (const GOptionEntry *)(const void *)entries->data, argc, argv, error);
}

/* Without -T the ranks are the nodes of a flat switch. */
static void choose_flat(CcsMachineArguments *arguments)
{
    g_autoptr(GStrvBuilder) overrides = g_strv_builder_new();
    g_auto(GStrv) given = arguments->overrides;

    g_strv_builder_add(overrides, FLAT_LATENCY);
    for (size_t i = 0; given != NULL && given[i] != NULL; i++)
        g_strv_builder_add(overrides, given[i]);
    arguments->overrides = g_strv_builder_end(overrides);
    arguments->topology = g_strdup(FLAT_TOPOLOGY);
    if (arguments->n_nodes == CCS_NOT_GIVEN)
        arguments->n_nodes = arguments->n_ranks == CCS_NOT_GIVEN ? FLAT_RANKS : arguments->n_ranks;
}

/* The explanations of all that are asked for and can be had. */
static GPtrArray *explain_cases(const GArray *cases, const CcsSetting *setting, GError **error)
{
    g_autoptr(GPtrArray) explanations =
        g_ptr_array_new_with_free_func((GDestroyNotify)ccs_explanation_free);

    for (guint i = 0; i < cases->len; i++) {
        g_autoptr(GError) failure = NULL;
        CcsExplanation *explanation =
            ccs_explanation_new(&g_array_index(cases, CcsCase, i), setting, &failure);
        if (failure != NULL) {
            g_propagate_error(error, g_steal_pointer(&failure));
            return NULL;
        }
        if (explanation != NULL)
            g_ptr_array_add(explanations, explanation);
    }
    if (explanations->len > 0)
        return g_steal_pointer(&explanations);
    g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT, "no algorithm can serve this machine");
    return NULL;
}

static void warn_without_effect(const CcsCaseArguments *given, const GArray *cases,
                                const CcsMachine *machine)
{
    CcsAsked asked = {
        .where = "",
        .chunks = given->n_chunks == CCS_NOT_GIVEN ? NULL : "--chunks",
        .root = given->root == CCS_NOT_GIVEN ? NULL : "-r",
        .sizes = given->smallest == NULL ? NULL : "-b",
        .distance = given->distance == CCS_NOT_GIVEN ? NULL : "--distance",
        .skew = given->skew == CCS_NOT_GIVEN ? NULL : "--skew",
        .matrix = given->matrix == NULL ? NULL : "--matrix",
    };

    ccs_effects_of_options(&asked, cases, machine);
}

/* One algorithm by its name is explained; else all that are asked for are compared. */
static bool print(const GArray *cases, const CcsSetting *setting, bool is_one, CcsFormat format,
                  GError **error)
{
    g_autoptr(GPtrArray) explanations = explain_cases(cases, setting, error);

    if (explanations == NULL)
        return false;
    return is_one ? ccs_explanation_print(explanations->pdata[0], setting, format, error)
                  : ccs_explanations_compare(explanations, setting, format, error);
}

static bool explain(Arguments *arguments, GError **error)
{
    const char *names = arguments->cases.algorithms;
    bool is_one = names != NULL && strchr(names, ',') == NULL && !ccs_algorithm_list_is_open(names);

    if (names == NULL)
        arguments->cases.algorithms = g_strdup("all");
    if (arguments->machine.topology == NULL)
        choose_flat(&arguments->machine);
    g_autoptr(CcsMachine) machine = ccs_machine_arguments_load(&arguments->machine, error);
    if (machine == NULL)
        return false;
    uint32_t n_ranks = ccs_communicator_n_ranks(machine->communicator);
    g_autoptr(CcsWeights) weights = NULL;
    g_autoptr(GArray) cases =
        ccs_case_list(&arguments->cases, arguments->collective, n_ranks, error);
    if (cases == NULL || !ccs_case_weights(&arguments->cases, arguments->collective, n_ranks, cases,
                                           &weights, error))
        return false;
    warn_without_effect(&arguments->cases, cases, machine);
    ccs_traffic_note("", weights);
    CcsSetting setting = ccs_setting_of(machine, arguments->size);
    return print(cases, &setting, is_one, arguments->format, error);
}

static bool read_size(Arguments *arguments, GError **error)
{
    g_autoptr(GError) failure = NULL;
    const char *text = arguments->cases.smallest == NULL ? "1M" : arguments->cases.smallest;

    if (!ccs_size_parse_option(text, &arguments->size, &failure)) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "-b %s", failure->message);
        return false;
    }
    if (ccs_collective_info(arguments->collective)->is_without_data)
        arguments->size = 0;
    return true;
}

static bool run(int argc, char **argv, GError **error)
{
    g_auto(Arguments) arguments = {0};

    if (!parse(&arguments, &argc, &argv, error))
        return false;
    if (argc != 2) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "one collective must be named, as in: ccsim explain allreduce -A ring");
        return false;
    }
    return ccs_collective_parse(argv[1], &arguments.collective, error) &&
           ccs_format_parse(arguments.format_name, 1U << CCS_FORMAT_TABLE | 1U << CCS_FORMAT_MD,
                            &arguments.format, error) &&
           read_size(&arguments, error) && explain(&arguments, error);
}

const CcsCommand ccs_command_explain = {
    .name = "explain",
    .summary = "Show how an algorithm works, what it costs, and when to choose it.",
    .run = run,
};
