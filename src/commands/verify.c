/* verify.c - plays schedules on data, in several orders, and says whether they keep the promise
 * of their collective */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "collectives/algorithm.h"
#include "collectives/verify.h"
#include "commands/command.h"
#include "commands/options.h"
#include "report/rows.h"
#include "topology/topology_yaml.h"

extern const CcsCommand ccs_command_verify;

#define DEFAULT_RANKS "1-17,24,31-33,64,72"
#define MAX_RANKS     1024

typedef struct {
    char *ranks;
    char *topology;
    char *format;
    int n_channels;
    int n_chunks;
    int n_orders;
} Arguments;

static void arguments_clear(Arguments *arguments)
{
    g_free(arguments->ranks);
    g_free(arguments->topology);
    g_free(arguments->format);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arguments, arguments_clear)

/* What became of one algorithm on one number of ranks. */
typedef struct {
    uint32_t n_played;   /* schedules: shapes times roots */
    uint64_t n_messages; /* of the last of them */
    double least;        /* bytes sent by the rank that sends least, in sizes of the collective */
    double most;
    char *refusal; /* why the algorithm does not serve so many ranks; owned */
} Tally;

/* Adds one number, or a range such as 3-9. */
static bool add_ranks(GArray *ranks, const char *text, GError **error)
{
    char *end = NULL;
    unsigned long first = strtoul(text, &end, 10);
    unsigned long last = first;

    if (end != text && *end == '-') {
        const char *rest = end + 1;
        last = strtoul(rest, &end, 10);
        end = end == rest ? NULL : end;
    }
    if (end == NULL || end == text || *end != '\0' || first < 1 || last < first ||
        last > MAX_RANKS) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "--ranks must be numbers from 1 to %d and ranges of them, such as 1-9,16, not"
                    " '%s'",
                    MAX_RANKS, text);
        return false;
    }
    for (uint32_t n = (uint32_t)first; n <= last; n++)
        g_array_append_val(ranks, n);
    return true;
}

static GArray *parse_ranks(const char *list, GError **error)
{
    g_autoptr(GArray) ranks = g_array_new(false, false, sizeof(uint32_t));
    g_auto(GStrv) parts = g_strsplit(list, ",", -1);

    for (size_t i = 0; parts[i] != NULL; i++) {
        if (!add_ranks(ranks, g_strstrip(parts[i]), error))
            return NULL;
    }
    return g_steal_pointer(&ranks);
}

/* The machines on which @n ranks are played: one flat switch, and nodes of unequal size. */
static GPtrArray *make_machines(const Arguments *arguments, uint32_t n, GError **error)
{
    g_autoptr(GPtrArray) machines =
        g_ptr_array_new_with_free_func((GDestroyNotify)ccs_topology_free);

    if (arguments->topology != NULL) {
        CcsTopology *given = ccs_topology_load(arguments->topology, NULL, NULL, error);
        if (given == NULL)
            return NULL;
        g_ptr_array_add(machines, given);
        return g_steal_pointer(&machines);
    }
    g_autofree char *flat =
        g_strdup_printf("nodes: %u\nnode: {gpus: 1, nics: {count: 1, bandwidth: 50 GB/s}}\n"
                        "fabric: {kind: switch}\n",
                        n);
    g_ptr_array_add(machines, ccs_topology_read("flat", flat, strlen(flat), NULL, NULL, error));
    if (n < 3)
        return g_steal_pointer(&machines);
    uint32_t first = n / 2 + 1; /* more than half on one node, the rest on two */
    uint32_t second = (n - first + 1) / 2;
    g_autofree char *uneven = g_strdup_printf(
        "node: {gpus: 1, nvlink: {bandwidth: 300 GB/s}, nics: {count: 1, bandwidth: 50 GB/s}}\n"
        "nodes: [{gpus: %u, nics: {count: %u}}, {gpus: %u, nics: {count: %u}}%s]\n"
        "fabric: {kind: switch}\n",
        first, first, second, second, n - first > second ? ", {gpus: @}" : "");
    g_auto(GStrv) around = g_strsplit(uneven, "@", 2);
    g_autofree char *third = g_strdup_printf("%u", n - first - second);
    g_autofree char *filled = g_strjoinv(third, around);
    g_ptr_array_add(machines,
                    ccs_topology_read("uneven", filled, strlen(filled), NULL, NULL, error));
    return g_steal_pointer(&machines);
}

/* Messages, and the bytes of the ranks that send least and most when the size is @size. */
static void count(const CcsSchedule *schedule, Tally *tally)
{
    const CcsBytes size = (CcsBytes)1 << 40;
    uint32_t n_ranks = ccs_schedule_n_ranks(schedule);
    g_autofree CcsBytes *sent = g_new0(CcsBytes, n_ranks);
    CcsBytes least = UINT64_MAX;
    CcsBytes most = 0;

    tally->n_messages = 0;
    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(schedule, id);
        if (ccs_lane_is_local(lane))
            continue;
        tally->n_messages += lane->n_messages;
        for (uint32_t k = 0; k < lane->n_messages; k++)
            sent[lane->source] += ccs_schedule_message_bytes(schedule, lane, k, size);
    }
    for (CcsRank rank = 0; rank < n_ranks; rank++) {
        least = MIN(least, sent[rank]);
        most = MAX(most, sent[rank]);
    }
    tally->least = (double)least / (double)size;
    tally->most = (double)most / (double)size;
}

static bool play(const CcsSchedule *schedule, int n_orders, GError **error)
{
    if (!ccs_interrupt_check(error) ||
        !ccs_verify_play(schedule, CCS_PLAY_DELIVER_FIRST, 0, error) ||
        !ccs_verify_play(schedule, CCS_PLAY_DELIVER_LAST, 0, error))
        return false;
    for (int seed = 1; seed <= n_orders; seed++) {
        if (!ccs_verify_play(schedule, CCS_PLAY_RANDOM, (uint32_t)seed, error))
            return false;
    }
    return true;
}

/* Plays @algorithm on one machine with each of the roots that may matter. */
static bool verify_machine(const Arguments *arguments, const CcsAlgorithm *algorithm,
                           const CcsTopology *topology, uint32_t n, Tally *tally, GError **error)
{
    g_autoptr(CcsCommunicator) communicator = ccs_communicator_new(topology, n, 0, error);
    bool has_root = ccs_collective_info(algorithm->collective)->has_root;
    const CcsRank roots[] = {0, n / 2, n - 1};
    g_autoptr(GError) refusal = NULL;

    if (communicator == NULL)
        return false;
    for (uint32_t i = 0; i < (has_root ? G_N_ELEMENTS(roots) : 1); i++) {
        if (i > 0 && roots[i] == roots[i - 1])
            continue;
        g_autoptr(CcsSchedule) schedule = ccs_algorithm_schedule(
            algorithm, communicator, roots[i], (uint32_t)arguments->n_channels,
            (uint32_t)arguments->n_chunks, &refusal);
        if (schedule == NULL) {
            g_free(tally->refusal);
            tally->refusal = g_strdup(refusal->message);
            return true;
        }
        if (!play(schedule, arguments->n_orders, error)) {
            g_prefix_error(error, "%s %s, %u ranks on %s, root %u: ",
                           ccs_collective_info(algorithm->collective)->name, algorithm->name, n,
                           ccs_topology_name(topology), roots[i]);
            return false;
        }
        tally->n_played++;
        count(schedule, tally);
    }
    return true;
}

static void add_row(CcsRows *rows, const CcsAlgorithm *algorithm, uint32_t n, const Tally *tally,
                    const char *result)
{
    g_autofree char *ranks = g_strdup_printf("%u", n);
    g_autofree char *played = g_strdup_printf("%u", tally->n_played);
    g_autofree char *messages = g_strdup_printf("%" G_GUINT64_FORMAT, tally->n_messages);
    g_autofree char *least = g_strdup_printf("%.4f", tally->least);
    g_autofree char *most = g_strdup_printf("%.4f", tally->most);
    bool has_counts = tally->n_played > 0;
    const CcsCell cells[] = {
        {CCS_CELL_TEXT, ccs_collective_info(algorithm->collective)->name},
        {CCS_CELL_TEXT, algorithm->name},
        {CCS_CELL_NUMBER, ranks},
        {CCS_CELL_NUMBER, played},
        {has_counts ? CCS_CELL_NUMBER : CCS_CELL_NULL, messages},
        {has_counts ? CCS_CELL_NUMBER : CCS_CELL_NULL, least},
        {has_counts ? CCS_CELL_NUMBER : CCS_CELL_NULL, most},
        {CCS_CELL_TEXT, result},
    };
    ccs_rows_add(rows, cells);
}

/* Returns: false if the schedule is wrong, and a row says so either way, or with another error. */
static bool verify_one(const Arguments *arguments, const CcsAlgorithm *algorithm, uint32_t n,
                       CcsRows *rows, GError **error)
{
    g_autoptr(GPtrArray) machines = make_machines(arguments, n, error);
    g_autoptr(GError) failure = NULL;
    Tally tally = {0};

    if (machines == NULL)
        return false;
    for (guint i = 0; i < machines->len && failure == NULL; i++)
        verify_machine(arguments, algorithm, g_ptr_array_index(machines, i), n, &tally, &failure);
    g_autofree char *refused =
        tally.refusal == NULL ? NULL : g_strconcat("refused: ", tally.refusal, NULL);
    g_free(tally.refusal);
    add_row(rows, algorithm, n, &tally,
            failure != NULL   ? "WRONG"
            : refused != NULL ? refused
                              : "ok");
    if (failure == NULL)
        return true;
    g_propagate_error(error, g_steal_pointer(&failure));
    return false;
}

static bool verify_all(const Arguments *arguments, const CcsCollective *collective,
                       const char *algorithm, const GArray *ranks, CcsRows *rows, GError **error)
{
    for (size_t i = 0; ccs_algorithms[i] != NULL; i++) {
        if ((collective != NULL && ccs_algorithms[i]->collective != *collective) ||
            (algorithm != NULL && strcmp(ccs_algorithms[i]->name, algorithm) != 0))
            continue;
        for (guint j = 0; j < ranks->len; j++) {
            if (!verify_one(arguments, ccs_algorithms[i], g_array_index(ranks, uint32_t, j), rows,
                            error))
                return false;
        }
    }
    return true;
}

static bool verify(const Arguments *arguments, int argc, char **argv, CcsFormat format,
                   GError **error)
{
    static const CcsColumn columns[] = {
        {"collective", CCS_ALIGN_LEFT},     {"algorithm", CCS_ALIGN_LEFT},
        {"ranks", CCS_ALIGN_RIGHT},         {"schedules", CCS_ALIGN_RIGHT},
        {"messages", CCS_ALIGN_RIGHT},      {"least sent / S", CCS_ALIGN_RIGHT},
        {"most sent / S", CCS_ALIGN_RIGHT}, {"result", CCS_ALIGN_LEFT},
    };
    CcsCollective collective = CCS_ALLREDUCE;
    g_autoptr(GArray) ranks =
        parse_ranks(arguments->ranks == NULL ? DEFAULT_RANKS : arguments->ranks, error);

    if (ranks == NULL || (argc > 1 && !ccs_collective_parse(argv[1], &collective, error)) ||
        (argc > 2 && ccs_algorithm_find(collective, argv[2], error) == NULL))
        return false;
    g_autoptr(CcsRows) rows = ccs_rows_new(stdout, format, columns, G_N_ELEMENTS(columns));
    bool is_right = verify_all(arguments, argc > 1 ? &collective : NULL, argc > 2 ? argv[2] : NULL,
                               ranks, rows, error);
    return ccs_rows_end(rows, is_right ? error : NULL) && is_right;
}

static bool check_count(const char *option, int count, int least, int most, GError **error)
{
    if (count >= least && count <= most)
        return true;
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "%s must be from %d to %d, not %d", option,
                least, most, count);
    return false;
}

static bool run(int argc, char **argv, GError **error)
{
    g_auto(Arguments) arguments = {.n_channels = 1, .n_chunks = 4, .n_orders = 3};
    CcsFormat format = CCS_FORMAT_TABLE;
    const GOptionEntry entries[] = {
        {"ranks", 0, 0, G_OPTION_ARG_STRING, &arguments.ranks,
         "Numbers and ranges (" DEFAULT_RANKS ")", "LIST"},
        {"topology", 'T', 0, G_OPTION_ARG_FILENAME, &arguments.topology,
         "A topology, in place of a flat switch and of unequal nodes", "FILE"},
        {"channels", 0, 0, G_OPTION_ARG_INT, &arguments.n_channels, "Copies of the pattern (1)",
         "N"},
        {"chunks", 0, 0, G_OPTION_ARG_INT, &arguments.n_chunks, "Pipeline depth (4)", "N"},
        {"orders", 0, 0, G_OPTION_ARG_INT, &arguments.n_orders,
         "Random orders to play in, beside the two extreme ones (3)", "N"},
        CCS_OPTION_FORMAT(&arguments.format),
        G_OPTION_ENTRY_NULL,
    };

    if (!ccs_command_parse(&ccs_command_verify, "[COLLECTIVE [ALGORITHM]]", entries, &argc, &argv,
                           error) ||
        !ccs_format_parse(arguments.format, CCS_FORMATS_OF_ROWS, &format, error) ||
        !check_count("--channels", arguments.n_channels, 1, (int)CCS_MAX_CHANNELS, error) ||
        !check_count("--chunks", arguments.n_chunks, 1, 65536, error) ||
        !check_count("--orders", arguments.n_orders, 0, 10000, error))
        return false;
    if (argc > 3) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "'%s' is one argument too many", argv[3]);
        return false;
    }
    return verify(&arguments, argc, argv, format, error);
}

const CcsCommand ccs_command_verify = {
    .name = "verify",
    .summary = "Play schedules on data: does every rank end with what the collective promises?",
    .run = run,
};
