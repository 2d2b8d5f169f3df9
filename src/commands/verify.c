/* verify.c - does every schedule do what its collective promises? */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "commands/command.h"
#include "commands/effects.h"
#include "commands/options.h"
#include "commands/rank_list.h"
#include "commands/schedule_file.h"
#include "commands/verify_case.h"
#include "topology/topology_yaml.h"

#define USUAL_RANKS    "1-17,24,31-33,64,72"
#define USUAL_CHANNELS 2
#define USUAL_CHUNKS   3
#define USUAL_RANDOM   3
#define MOST_RANDOM    1000000

extern const CcsCommand ccs_command_verify;

/* As GOption fills it; all strings are owned. */
typedef struct {
    char *topology;
    char *ranks;
    char *root;
    char *format;
    int n_channels;
    int n_chunks;
    int n_random;
} Arguments;

static void arguments_clear(Arguments *arguments)
{
    g_free(arguments->topology);
    g_free(arguments->ranks);
    g_free(arguments->root);
    g_free(arguments->format);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arguments, arguments_clear)

static bool parse(Arguments *arguments, int *argc, char ***argv, GError **error)
{
    const GOptionEntry entries[] = {
        {"ranks", 0, 0, G_OPTION_ARG_STRING, &arguments->ranks,
         "Numbers of ranks to try (" USUAL_RANKS "; with -T all of the machine)", "LIST"},
        {"topology", 'T', 0, G_OPTION_ARG_FILENAME, &arguments->topology,
         "A topology file or name; else a flat switch, and nodes of unequal size", "FILE"},
        {"channels", 0, 0, G_OPTION_ARG_INT, &arguments->n_channels,
         "Parallel copies of the pattern (2)", "N"},
        {"chunks", 0, 0, G_OPTION_ARG_INT, &arguments->n_chunks,
         "Pipeline depth of chains and trees (3)", "N"},
        {"root", 'r', 0, G_OPTION_ARG_STRING, &arguments->root,
         "Root rank, or all (the first, the last and one between)", "RANK"},
        {"orders", 0, 0, G_OPTION_ARG_INT, &arguments->n_random,
         "Random orders to play besides the two extremes (3)", "N"},
        CCS_OPTION_FORMAT(&arguments->format),
        G_OPTION_ENTRY_NULL,
    };
    return ccs_command_parse(&ccs_command_verify, "[COLLECTIVE [ALGORITHM]|FILE]", entries, argc,
                             argv, error);
}

static bool check_number(const char *option, int number, int least, int most, GError **error)
{
    if (number >= least && number <= most)
        return true;
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "%s must be from %d to %d, not %d", option,
                least, most, number);
    return false;
}

static bool read_root(const char *text, const GArray *ranks, int64_t *ret_root, GError **error)
{
    uint32_t fewest = UINT32_MAX;
    guint64 root = 0;

    for (guint i = 0; i < ranks->len; i++)
        fewest = MIN(fewest, g_array_index(ranks, uint32_t, i));
    *ret_root = text == NULL ? CCS_USUAL_ROOTS : CCS_ALL_ROOTS;
    if (text == NULL || strcmp(text, "all") == 0)
        return true;
    if (!g_ascii_string_to_unsigned(text, 10, 0, fewest - 1, &root, NULL)) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "-r must be 'all' or a rank from 0 to %u, not '%s'", fewest - 1, text);
        return false;
    }
    *ret_root = (int64_t)root;
    return true;
}

static bool read_options(const Arguments *arguments, const GArray *ranks,
                         CcsVerifyOptions *ret_options, GError **error)
{
    int n_chunks = arguments->n_chunks == CCS_NOT_GIVEN ? USUAL_CHUNKS : arguments->n_chunks;
    int n_channels =
        arguments->n_channels == CCS_NOT_GIVEN ? USUAL_CHANNELS : arguments->n_channels;

    if (!check_number("--channels", n_channels, 1, CCS_MAX_CHANNELS, error) ||
        !check_number("--chunks", n_chunks, 1, CCS_MAX_CHUNKS, error) ||
        !check_number("--orders", arguments->n_random, 0, MOST_RANDOM, error))
        return false;
    *ret_options = (CcsVerifyOptions){.n_channels = (uint32_t)n_channels,
                                      .n_chunks = (uint32_t)n_chunks,
                                      .n_random = (uint32_t)arguments->n_random};
    return read_root(arguments->root, ranks, &ret_options->root, error);
}

static const char *collective_of(const CcsAlgorithm *algorithm)
{
    return ccs_collective_info(algorithm->collective)->name;
}

static bool has_root(const CcsAlgorithm *algorithm)
{
    return ccs_collective_info(algorithm->collective)->has_root;
}

static bool is_pipelined(const CcsAlgorithm *algorithm)
{
    return algorithm->is_pipelined;
}

static bool any(const GPtrArray *algorithms, bool (*is_such)(const CcsAlgorithm *algorithm))
{
    for (guint i = 0; i < algorithms->len; i++) {
        if (is_such(g_ptr_array_index(algorithms, i)))
            return true;
    }
    return false;
}

static void warn_of_no_effect(const Arguments *arguments, const GPtrArray *algorithms)
{
    if (arguments->root != NULL && !any(algorithms, has_root))
        ccs_warn("-r has no effect: %s has no root",
                 collective_of(g_ptr_array_index(algorithms, 0)));
    if (arguments->n_chunks != CCS_NOT_GIVEN && !any(algorithms, is_pipelined))
        ccs_warn("--chunks has no effect: none of the algorithms is pipelined");
}

/* All algorithms, those of one collective, or one. Returns: of const CcsAlgorithm. */
static GPtrArray *choose_algorithms(int argc, char **argv, GError **error)
{
    CcsCollective collective = CCS_ALLREDUCE;

    if (argc > 1) {
        if (!ccs_collective_parse(argv[1], &collective, error))
            return NULL;
        return ccs_algorithm_list(argc > 2 ? argv[2] : "all", collective, error);
    }
    GPtrArray *all = g_ptr_array_new();
    for (uint32_t i = 0; i < CCS_N_COLLECTIVES; i++) {
        g_autoptr(GPtrArray) of = ccs_algorithm_list("all", (CcsCollective)i, NULL);
        if (of != NULL)
            g_ptr_array_extend(all, of, NULL, NULL);
    }
    return all;
}

static void free_machines(gpointer machines)
{
    ccs_verify_machines_free(machines);
}

/* The machines for each number of ranks. Returns: of CcsVerifyMachines. */
static GPtrArray *make_machines(const CcsTopology *topology, const GArray *ranks, GError **error)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(free_machines);

    for (guint i = 0; i < ranks->len; i++) {
        CcsVerifyMachines *machines =
            ccs_verify_machines_new(topology, g_array_index(ranks, uint32_t, i), error);
        if (machines == NULL)
            return NULL;
        g_ptr_array_add(all, machines);
    }
    return g_steal_pointer(&all);
}

/* What --ranks says; without it all ranks of @topology, or those that are worth a try. */
static GArray *choose_ranks(const char *text, const CcsTopology *topology, GError **error)
{
    if (text != NULL || topology == NULL)
        return ccs_rank_list_parse(text == NULL ? USUAL_RANKS : text, CCS_VERIFY_RANKS, error);
    g_autoptr(CcsCommunicator) all = ccs_communicator_new(topology, 0, 0, error);
    if (all == NULL)
        return NULL;
    g_autofree char *number = g_strdup_printf("%u", ccs_communicator_n_ranks(all));
    return ccs_rank_list_parse(number, CCS_VERIFY_RANKS, error);
}

static const CcsColumn short_columns[] = {
    {"collective", CCS_ALIGN_LEFT},      {"algorithm", CCS_ALIGN_LEFT},
    {"ranks", CCS_ALIGN_RIGHT},          {"schedules", CCS_ALIGN_RIGHT},
    {"orders", CCS_ALIGN_RIGHT},         {"messages", CCS_ALIGN_RIGHT},
    {"sent least (S)", CCS_ALIGN_RIGHT}, {"sent most (S)", CCS_ALIGN_RIGHT},
    {"result", CCS_ALIGN_LEFT},
};

static const CcsColumn columns[] = {
    {"collective", CCS_ALIGN_LEFT},    {"algorithm", CCS_ALIGN_LEFT},
    {"ranks", CCS_ALIGN_RIGHT},        {"schedules", CCS_ALIGN_RIGHT},
    {"orders", CCS_ALIGN_RIGHT},       {"messages", CCS_ALIGN_RIGHT},
    {"sent_least_S", CCS_ALIGN_RIGHT}, {"sent_most_S", CCS_ALIGN_RIGHT},
    {"result", CCS_ALIGN_LEFT},
};

static char *describe_result(const CcsVerdict *verdict)
{
    if (verdict->failure != NULL)
        return g_strdup_printf("wrong: %s", verdict->failure);
    if (verdict->refusal == NULL)
        return g_strdup("right");
    return g_strdup_printf("%srefused: %s", verdict->n_schedules > 0 ? "right, but " : "",
                           verdict->refusal);
}

static void add_row(CcsRows *rows, const CcsVerdict *verdict)
{
    g_autofree char *ranks = g_strdup_printf("%u", verdict->n_ranks);
    g_autofree char *schedules = g_strdup_printf("%u", verdict->n_schedules);
    g_autofree char *orders = g_strdup_printf("%u", verdict->n_orders);
    g_autofree char *messages = g_strdup_printf("%" G_GUINT64_FORMAT, verdict->messages_most);
    g_autofree char *least = g_strdup_printf("%.4f", verdict->sent_least);
    g_autofree char *most = g_strdup_printf("%.4f", verdict->sent_most);
    g_autofree char *result = describe_result(verdict);
    CcsCellType number = verdict->n_schedules > 0 ? CCS_CELL_NUMBER : CCS_CELL_NULL;
    const CcsCell cells[] = {
        {CCS_CELL_TEXT, collective_of(verdict->algorithm)},
        {CCS_CELL_TEXT, verdict->algorithm->name},
        {CCS_CELL_NUMBER, ranks},
        {CCS_CELL_NUMBER, schedules},
        {number, orders},
        {number, messages},
        {number, least},
        {number, most},
        {CCS_CELL_TEXT, result},
    };
    ccs_rows_add(rows, cells);
}

/* What all verdicts come to. */
typedef struct {
    uint64_t n_schedules;
    uint32_t n_refused;
    uint32_t n_wrong;
    char *first_wrong; /* owned */
} Sum;

static void sum_clear(Sum *sum)
{
    g_free(sum->first_wrong);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sum, sum_clear)

static void add_verdict(Sum *sum, const CcsVerdict *verdict)
{
    sum->n_schedules += verdict->n_schedules;
    sum->n_refused += verdict->refusal != NULL;
    sum->n_wrong += verdict->failure != NULL;
    if (sum->n_wrong == 1 && verdict->failure != NULL)
        sum->first_wrong = g_strdup_printf(
            "%s %s, %u rank%s, %s", collective_of(verdict->algorithm), verdict->algorithm->name,
            verdict->n_ranks, ccs_plural(verdict->n_ranks), verdict->failure);
}

static bool verify_all(const GPtrArray *algorithms, const GPtrArray *machines,
                       const CcsVerifyOptions *options, CcsRows *rows, Sum *sum, GError **error)
{
    for (guint i = 0; i < algorithms->len * machines->len; i++) {
        CcsVerdict verdict;
        bool is_done = ccs_verify_case(g_ptr_array_index(algorithms, i / machines->len),
                                       g_ptr_array_index(machines, i % machines->len), options,
                                       &verdict, error);
        if (is_done) {
            add_row(rows, &verdict);
            add_verdict(sum, &verdict);
        }
        ccs_verdict_clear(&verdict);
        if (!is_done)
            return false;
    }
    return true;
}

static bool is_short(CcsFormat format)
{
    return format == CCS_FORMAT_TABLE || format == CCS_FORMAT_MD;
}

static CcsRows *new_rows(CcsFormat format)
{
    return ccs_rows_new(stdout, format, is_short(format) ? short_columns : columns,
                        G_N_ELEMENTS(columns));
}

static bool conclude(const Sum *sum, uint32_t n_rows, CcsFormat format, GError **error)
{
    if (sum->n_wrong > 0) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK, "%u of %u row%s wrong, the first: %s",
                    sum->n_wrong, n_rows, n_rows == 1 ? " is" : "s are", sum->first_wrong);
        return false;
    }
    g_autofree char *refused =
        g_strdup_printf("; %u row%s with a machine that the algorithm refuses", sum->n_refused,
                        ccs_plural(sum->n_refused));
    if (is_short(format))
        ccs_note("%" G_GUINT64_FORMAT " schedule%s right in every order that %s dependencies"
                 " allow%s",
                 sum->n_schedules, sum->n_schedules == 1 ? " is" : "s are",
                 sum->n_schedules == 1 ? "its" : "their", sum->n_refused == 0 ? "" : refused);
    return true;
}

static bool verify(const GPtrArray *algorithms, const GPtrArray *machines,
                   const CcsVerifyOptions *options, CcsFormat format, GError **error)
{
    g_autoptr(CcsRows) rows = new_rows(format);
    g_auto(Sum) sum = {0};

    return verify_all(algorithms, machines, options, rows, &sum, error) &&
           ccs_rows_end(rows, error) &&
           conclude(&sum, algorithms->len * machines->len, format, error);
}

/* The topology of -T; NULL if it is not given. */
static bool load_topology(const char *name, CcsTopology **ret_topology, GError **error)
{
    *ret_topology = name == NULL ? NULL : ccs_topology_load(name, NULL, NULL, error);
    return name == NULL || *ret_topology != NULL;
}

static bool verify_algorithms(const Arguments *arguments, const GPtrArray *algorithms,
                              CcsFormat format, GError **error)
{
    g_autoptr(CcsTopology) topology = NULL;
    CcsVerifyOptions options;

    if (!load_topology(arguments->topology, &topology, error))
        return false;
    g_autoptr(GArray) ranks = choose_ranks(arguments->ranks, topology, error);
    if (ranks == NULL || !read_options(arguments, ranks, &options, error))
        return false;
    warn_of_no_effect(arguments, algorithms);
    g_autoptr(GPtrArray) machines = make_machines(topology, ranks, error);
    return machines != NULL && verify(algorithms, machines, &options, format, error);
}

static bool verify_use(const CcsScheduleFile *file, const CcsCommunicator *communicator,
                       const CcsMscclUse *use, const CcsVerifyOptions *options, CcsVerdict *verdict,
                       GError **error)
{
    g_autoptr(CcsSchedule) schedule = ccs_msccl_schedule(file->msccl, communicator, use, error);

    return schedule != NULL && ccs_verify_schedule(schedule, options->n_random, verdict, error);
}

/* Plays the file in place, or out of place, as it says that it may be used: by the letter and, if
 * that is something else, as it is timed. */
static bool verify_placings(const CcsScheduleFile *file, const CcsCommunicator *communicator,
                            const CcsVerifyOptions *options, CcsVerdict *verdict, GError **error)
{
    const bool is_served[] = {file->msccl->is_in_place, file->msccl->is_out_of_place};
    CcsRank root = options->root < 0 ? file->msccl->root : (CcsRank)options->root;

    for (uint32_t i = 0; i < G_N_ELEMENTS(is_served); i++) {
        if (!is_served[i])
            continue;
        CcsMscclUse use = {.root = root,
                           .n_loops = options->n_chunks,
                           .is_in_place = i == 0,
                           .is_by_letter = true};
        if (!verify_use(file, communicator, &use, options, verdict, error))
            return false;
        use.is_by_letter = false;
        if (file->msccl->has_unordered &&
            !verify_use(file, communicator, &use, options, verdict, error))
            return false;
    }
    return true;
}

static bool print_file(const CcsScheduleFile *file, const CcsVerifyMachines *machines,
                       const CcsVerifyOptions *options, CcsFormat format, GError **error)
{
    CcsVerdict verdict = {.algorithm = &file->algorithm, .n_ranks = file->msccl->n_ranks};
    g_autoptr(CcsRows) rows = new_rows(format);
    g_auto(Sum) sum = {0};
    bool is_done = verify_placings(file, g_ptr_array_index(machines->communicators, 0), options,
                                   &verdict, error);

    if (is_done) {
        add_row(rows, &verdict);
        add_verdict(&sum, &verdict);
    }
    ccs_verdict_clear(&verdict);
    return is_done && ccs_rows_end(rows, error) && conclude(&sum, 1, format, error);
}

/* A file has its ranks, its channels and its root. */
static void warn_of_file(const Arguments *arguments, const CcsScheduleFile *file)
{
    const CcsMsccl *msccl = file->msccl;

    if (arguments->ranks != NULL)
        ccs_warn("--ranks has no effect: %s says how many there are", msccl->label);
    if (arguments->n_channels != CCS_NOT_GIVEN)
        ccs_warn("--channels has no effect: %s has its own", msccl->label);
    if (arguments->root != NULL && !has_root(&file->algorithm))
        ccs_warn("-r has no effect: %s has no root", collective_of(&file->algorithm));
    else if (arguments->root != NULL && strcmp(arguments->root, "all") == 0)
        ccs_warn("-r all has no effect: %s is for one root, %u", msccl->label, msccl->root);
}

static bool verify_file(Arguments *arguments, const char *path, CcsFormat format, GError **error)
{
    g_autoptr(CcsScheduleFile) file = ccs_schedule_file_load(path, error);
    g_autoptr(CcsTopology) topology = NULL;
    CcsVerifyOptions options;

    if (file == NULL)
        return false;
    if (file->msccl->collective == CCS_PROGRAM) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT,
                    "%s cannot be verified: what '%s' promises is not known", file->msccl->label,
                    file->msccl->coll);
        return false;
    }
    g_autoptr(GArray) ranks = g_array_new(false, false, sizeof(uint32_t));
    g_array_append_val(ranks, file->msccl->n_ranks);
    if (arguments->n_chunks == CCS_NOT_GIVEN)
        arguments->n_chunks = 1;
    if (!read_options(arguments, ranks, &options, error) ||
        !load_topology(arguments->topology, &topology, error))
        return false;
    warn_of_file(arguments, file);
    g_autoptr(CcsVerifyMachines) machines =
        ccs_verify_machines_new(topology, file->msccl->n_ranks, error);
    return machines != NULL && print_file(file, machines, &options, format, error);
}

static bool run(int argc, char **argv, GError **error)
{
    g_auto(Arguments) arguments = {
        .n_channels = CCS_NOT_GIVEN, .n_chunks = CCS_NOT_GIVEN, .n_random = USUAL_RANDOM};
    CcsFormat format = CCS_FORMAT_TABLE;

    if (!parse(&arguments, &argc, &argv, error) ||
        !ccs_format_parse(arguments.format, CCS_FORMATS_OF_ROWS, &format, error))
        return false;
    bool is_file = argc > 1 && ccs_schedule_file_is(argv[1]);
    int n_most = is_file ? 2 : 3;
    if (argc > n_most) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "'%s' is one argument too many",
                    argv[n_most]);
        return false;
    }
    if (is_file)
        return verify_file(&arguments, argv[1], format, error);
    g_autoptr(GPtrArray) algorithms = choose_algorithms(argc, argv, error);
    return algorithms != NULL && verify_algorithms(&arguments, algorithms, format, error);
}

const CcsCommand ccs_command_verify = {
    .name = "verify",
    .summary = "Play schedules on data: right data in the right place, in every order.",
    .run = run,
};
