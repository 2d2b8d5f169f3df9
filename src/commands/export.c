/* export.c - an algorithm's schedule as a file for other programs */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "collectives/verify.h"
#include "commands/command.h"
#include "commands/effects.h"
#include "commands/options.h"
#include "commands/study.h"
#include "commands/write_file.h"
#include "formats/msccl.h"
#include "topology/topology_yaml.h"

extern const CcsCommand ccs_command_export;

typedef struct {
    char *topology;
    char **overrides;
    int n_nodes; /* of all counts: CCS_NOT_GIVEN */
    int n_ranks;
    int ranks_per_node;
    char *algorithm;
    int root;
    int n_channels;
    int n_chunks;
    char *output;
} Arguments;

static void arguments_clear(Arguments *arguments)
{
    g_free(arguments->topology);
    g_strfreev(arguments->overrides);
    g_free(arguments->algorithm);
    g_free(arguments->output);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arguments, arguments_clear)

static bool parse(Arguments *arguments, int *argc, char ***argv, GError **error)
{
    const GOptionEntry entries[] = {
        {"algorithm", 'A', 0, G_OPTION_ARG_STRING, &arguments->algorithm,
         "The algorithm; else what bench takes", "NAME"},
        {"ranks", 0, 0, G_OPTION_ARG_INT, &arguments->n_ranks,
         "Ranks of the job; without -T on one switch", "N"},
        {"topology", 'T', 0, G_OPTION_ARG_FILENAME, &arguments->topology,
         "The machine whose nodes and NICs the algorithm is to know", "FILE"},
        {"nodes", 0, 0, G_OPTION_ARG_INT, &arguments->n_nodes, "Nodes of the machine", "N"},
        {"ranks-per-node", 0, 0, G_OPTION_ARG_INT, &arguments->ranks_per_node,
         "Ranks that the job has in each node", "N"},
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &arguments->overrides,
         "Override a value of the topology; repeatable", "PATH=VALUE"},
        {"root", 'r', 0, G_OPTION_ARG_INT, &arguments->root, "Root rank (0)", "RANK"},
        {"channels", 0, 0, G_OPTION_ARG_INT, &arguments->n_channels,
         "Parallel copies of the pattern (as bench takes)", "N"},
        {"chunks", 0, 0, G_OPTION_ARG_INT, &arguments->n_chunks,
         "Pipeline depth of chains and trees (64)", "N"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &arguments->output, "The file; else stdout",
         "FILE"},
        G_OPTION_ENTRY_NULL,
    };

    return ccs_command_parse(&ccs_command_export, "msccl COLLECTIVE", entries, argc, argv, error);
}

/* A count from 1 to @most, or what is to stand for one that is not given. */
static bool read_count(const char *option, int given, uint32_t most, uint32_t otherwise,
                       uint32_t *ret_count, GError **error)
{
    *ret_count = given == CCS_NOT_GIVEN ? otherwise : (uint32_t)given;
    if (given == CCS_NOT_GIVEN || (given >= 1 && (uint32_t)given <= most))
        return true;
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "%s must be from 1 to %u, not %d", option, most,
                given);
    return false;
}

static CcsTopology *make_topology(const Arguments *arguments, uint32_t n_ranks, GError **error)
{
    CcsTopologyOptions options = {.overrides = (const char *const *)arguments->overrides};

    if (arguments->topology != NULL)
        return read_count("--nodes", arguments->n_nodes, 1000000, 0, &options.n_nodes, error)
                   ? ccs_topology_load(arguments->topology, &options, NULL, error)
                   : NULL;
    if (n_ranks == 0) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "how many ranks? say it by --ranks N, or by a topology, -T FILE");
        return NULL;
    }
    g_autofree char *text =
        g_strdup_printf("nodes: 1\nnode: {gpus: %u, nvlink: {bandwidth: 300 GB/s}}\n", n_ranks);
    return ccs_topology_read("one switch", text, strlen(text), &options, NULL, error);
}

static void warn_without_effect(const Arguments *arguments, const CcsAlgorithm *algorithm)
{
    g_autoptr(GArray) cases = g_array_new(false, true, sizeof(CcsCase));
    const CcsCase one = {.algorithm = algorithm};

    g_array_append_val(cases, one);
    ccs_effects_of_asked(
        &(CcsAsked){.where = "",
                    .chunks = arguments->n_chunks == CCS_NOT_GIVEN ? NULL : "--chunks",
                    .root = arguments->root == CCS_NOT_GIVEN ? NULL : "-r"},
        cases);
}

static CcsSchedule *make_schedule(const Arguments *arguments, CcsCollective collective,
                                  const CcsCommunicator *communicator, GError **error)
{
    const char *name = arguments->algorithm == NULL
                           ? ccs_collective_info(collective)->default_algorithm
                           : arguments->algorithm;
    const CcsAlgorithm *algorithm = ccs_algorithm_find(collective, name, error);
    uint32_t n_ranks = ccs_communicator_n_ranks(communicator);
    uint32_t root = arguments->root == CCS_NOT_GIVEN ? 0 : (uint32_t)arguments->root;
    uint32_t n_channels = 0;
    uint32_t n_chunks = 0;

    if (algorithm == NULL ||
        !read_count("--channels", arguments->n_channels, CCS_MAX_CHANNELS,
                    ccs_default_channels(communicator, collective), &n_channels, error) ||
        !read_count("--chunks", arguments->n_chunks, CCS_MAX_CHUNKS, CCS_DEFAULT_CHUNKS, &n_chunks,
                    error))
        return NULL;
    if (root >= n_ranks) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "-r must be a rank from 0 to %u, not %d",
                    n_ranks - 1, arguments->root);
        return NULL;
    }
    warn_without_effect(arguments, algorithm);
    if (!ccs_collective_info(collective)->has_root)
        root = 0;
    return ccs_algorithm_schedule(algorithm, communicator, root, n_channels, n_chunks, error);
}

/* What is written must do what the algorithm does when it is read again. */
static bool check(const char *text, const CcsSchedule *schedule, GError **error)
{
    const CcsCommunicator *communicator = ccs_schedule_communicator(schedule);
    g_autoptr(CcsMsccl) msccl = ccs_msccl_read("the file", text, strlen(text), error);
    bool is_right = msccl != NULL;

    for (int letter = 0; is_right && letter < (msccl->has_unordered ? 2 : 1); letter++) {
        g_autoptr(CcsSchedule) again =
            ccs_msccl_schedule(msccl, communicator,
                               &(CcsMscclUse){.root = ccs_schedule_root(schedule),
                                              .n_loops = 1,
                                              .is_in_place = msccl->is_in_place,
                                              .is_by_letter = letter == 1},
                               error);
        is_right = again != NULL && (ccs_communicator_n_ranks(communicator) > CCS_VERIFIED_RANKS ||
                                     ccs_verify(again, error));
    }
    return is_right;
}

static char *write_msccl(const CcsSchedule *schedule, const char *name, GError **error)
{
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(CcsMsccl) msccl = ccs_msccl_from_schedule(schedule, name, notes, error);

    if (msccl == NULL)
        return NULL;
    g_autofree char *text = ccs_msccl_text(msccl);
    if (!check(text, schedule, error))
        return NULL;
    for (guint i = 0; i < notes->len; i++)
        ccs_note("%s", (const char *)g_ptr_array_index(notes, i));
    return g_steal_pointer(&text);
}

static bool export(const Arguments *arguments, CcsCollective collective, GError **error)
{
    const char *topology_file = arguments->topology;
    bool is_shown = arguments->output == NULL || strcmp(arguments->output, "-") == 0;
    uint32_t n_ranks = 0;
    uint32_t per_node = 0;

    if (!read_count("--ranks", arguments->n_ranks, 100000000, 0, &n_ranks, error) ||
        !read_count("--ranks-per-node", arguments->ranks_per_node, 1000000, 0, &per_node, error) ||
        (!is_shown && (!ccs_file_check(arguments->output, error) ||
                       !ccs_file_check_inputs("-o", arguments->output, &topology_file, 1, error))))
        return false;
    g_autoptr(CcsTopology) topology = make_topology(arguments, n_ranks, error);
    if (topology == NULL)
        return false;
    g_autoptr(CcsCommunicator) communicator =
        ccs_communicator_new(topology, n_ranks, per_node, error);
    if (communicator == NULL)
        return false;
    g_autoptr(CcsSchedule) schedule = make_schedule(arguments, collective, communicator, error);
    if (schedule == NULL)
        return false;
    const char *algorithm = arguments->algorithm == NULL
                                ? ccs_collective_info(collective)->default_algorithm
                                : arguments->algorithm;
    g_autofree char *name =
        g_strdup_printf("%s_%s", ccs_collective_info(collective)->name, algorithm);
    g_autofree char *text = write_msccl(schedule, name, error);
    if (text == NULL)
        return false;
    return is_shown ? ccs_stdout_write(text, error)
                    : ccs_file_write(arguments->output, text, error);
}

static bool run(int argc, char **argv, GError **error)
{
    static const char *const formats[] = {"msccl", NULL};
    g_auto(Arguments) arguments = {.n_nodes = CCS_NOT_GIVEN,
                                   .n_ranks = CCS_NOT_GIVEN,
                                   .ranks_per_node = CCS_NOT_GIVEN,
                                   .root = CCS_NOT_GIVEN,
                                   .n_channels = CCS_NOT_GIVEN,
                                   .n_chunks = CCS_NOT_GIVEN};
    CcsCollective collective = CCS_ALLREDUCE;

    if (!parse(&arguments, &argc, &argv, error))
        return false;
    if (argc != 3) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "a format and a collective must be named, as in: ccsim export msccl allreduce"
                    " -A ring --ranks 8 -o ring.xml");
        return false;
    }
    if (strcmp(argv[1], formats[0]) != 0) {
        g_autofree char *hint = ccs_did_you_mean(argv[1], formats);
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "unknown format '%s'%s; there is: msccl",
                    argv[1], hint);
        return false;
    }
    return ccs_collective_parse(argv[2], &collective, error) &&
           export(&arguments, collective, error);
}

const CcsCommand ccs_command_export = {
    .name = "export",
    .summary = "Write an algorithm as a file for other programs: MSCCL XML.",
    .run = run,
};
