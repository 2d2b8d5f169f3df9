#include "commands/verify_case.h"

#include <string.h>

#include "base/error.h"
#include "collectives/counts.h"
#include "collectives/verify.h"
#include "collectives/waste.h"
#include "commands/effects.h"
#include "topology/topology_yaml.h"

#define FLAT                                                                                       \
    "nodes: %u\n"                                                                                  \
    "node: {gpus: 1, nics: {count: 1, bandwidth: 50 GB/s}}\n"                                      \
    "fabric: {kind: switch}\n"

#define UNEVEN                                                                                     \
    "nodes: [%s]\n"                                                                                \
    "node: {gpus: 8, nvlink: {bandwidth: 300 GB/s}, nics: {count: 2, bandwidth: 50 GB/s}}\n"       \
    "fabric: {kind: switch}\n"

/* Chunks that are moved in all orders together; about ten seconds. */
#define MANY_MOVES ((uint64_t)10000000)

static void free_communicator(gpointer communicator)
{
    ccs_communicator_free(communicator);
}

static void free_topology(gpointer topology)
{
    ccs_topology_free(topology);
}

/* Up to 11 ranks: two thirds of them and the rest. Then 8, 4, 8, 4, ... and the rest. */
static char *uneven_nodes(uint32_t n_ranks)
{
    GString *nodes = g_string_new(NULL);
    uint32_t next = n_ranks < 12 ? n_ranks - n_ranks / 3 : 8;

    for (uint32_t left = n_ranks; left > 0; next = next == 8 && n_ranks >= 12 ? 4 : 8) {
        uint32_t n = MIN(next, left);
        g_string_append_printf(nodes, "%s{gpus: %u}", left == n_ranks ? "" : ", ", n);
        left -= n;
    }
    return g_string_free(nodes, false);
}

static bool add_communicator(CcsVerifyMachines *machines, const CcsTopology *topology,
                             GError **error)
{
    CcsCommunicator *communicator = ccs_communicator_new(topology, machines->n_ranks, 0, error);

    if (communicator == NULL)
        return false;
    g_ptr_array_add(machines->communicators, communicator);
    return true;
}

static bool add_topology(CcsVerifyMachines *machines, const char *text, GError **error)
{
    CcsTopology *topology = ccs_topology_read("built-in", text, strlen(text), NULL, NULL, error);

    if (topology == NULL)
        return false;
    g_ptr_array_add(machines->topologies, topology);
    return add_communicator(machines, topology, error);
}

CcsVerifyMachines *ccs_verify_machines_new(const CcsTopology *topology, uint32_t n_ranks,
                                           GError **error)
{
    g_autoptr(CcsVerifyMachines) machines = g_new0(CcsVerifyMachines, 1);
    g_autofree char *flat = g_strdup_printf(FLAT, n_ranks);
    g_autofree char *nodes = uneven_nodes(n_ranks);
    g_autofree char *uneven = g_strdup_printf(UNEVEN, nodes);

    machines->n_ranks = n_ranks;
    machines->communicators = g_ptr_array_new_with_free_func(free_communicator);
    machines->topologies = g_ptr_array_new_with_free_func(free_topology);
    if (topology != NULL ? !add_communicator(machines, topology, error)
                         : !add_topology(machines, flat, error) ||
                               (n_ranks > 2 && !add_topology(machines, uneven, error)))
        return NULL;
    return g_steal_pointer(&machines);
}

void ccs_verify_machines_free(CcsVerifyMachines *machines)
{
    if (machines == NULL)
        return;
    g_ptr_array_unref(machines->communicators);
    g_ptr_array_unref(machines->topologies);
    g_free(machines);
}

/* Of a size that channels and chunks divide. */
static void add_counts(const CcsSchedule *schedule, CcsVerdict *verdict)
{
    CcsBytes size =
        (CcsBytes)64 * ccs_schedule_n_channels(schedule) * ccs_schedule_n_chunks(schedule);
    CcsCounts counts = ccs_schedule_count(schedule, size);
    double least = (double)counts.sent_least / (double)size;
    double most = (double)counts.sent_most / (double)size;
    bool is_first = verdict->n_schedules == 0;

    verdict->messages_most = MAX(verdict->messages_most, counts.n_messages);
    verdict->sent_least = is_first ? least : MIN(verdict->sent_least, least);
    verdict->sent_most = is_first ? most : MAX(verdict->sent_most, most);
}

static void add_failure(const CcsSchedule *schedule, const GError *failure, CcsVerdict *verdict)
{
    uint32_t n_nodes = ccs_communicator_n_nodes(ccs_schedule_communicator(schedule));

    if (verdict->failure == NULL)
        verdict->failure = g_strdup_printf("%u node%s, root %u: %s", n_nodes, ccs_plural(n_nodes),
                                           ccs_schedule_root(schedule), failure->message);
}

/* A schedule that sends more than it must is right; in the catalogue it is a mistake all the
 * same. */
static void check_waste(const CcsSchedule *schedule, CcsVerdict *verdict)
{
    g_autoptr(GError) failure = NULL;

    if (!ccs_waste_check(schedule, &failure))
        add_failure(schedule, failure, verdict);
}

/* Nobody is to wonder whether it still runs. */
static void note_long(const CcsSchedule *schedule, uint32_t n_orders, CcsVerdict *verdict)
{
    uint64_t n_moves = ccs_verify_cost(schedule).n_moves;

    if (verdict->is_long || n_moves * n_orders < MANY_MOVES)
        return;
    verdict->is_long = true;
    ccs_note("%s %s on %u ranks moves %" G_GUINT64_FORMAT " chunks, which are played in %u orders:"
             " this takes a while",
             ccs_collective_info(verdict->algorithm->collective)->name, verdict->algorithm->name,
             verdict->n_ranks, n_moves, n_orders);
}

bool ccs_verify_schedule(const CcsSchedule *schedule, uint32_t n_random, CcsVerdict *verdict,
                         GError **error)
{
    g_autoptr(GError) failure = NULL;

    if (!ccs_verify_fits(schedule, error)) {
        g_prefix_error(error, "'%s': ", verdict->algorithm->name);
        return false;
    }
    note_long(schedule, n_random + 2, verdict);
    bool is_right = ccs_verify_orders(schedule, n_random, &failure);

    if (!is_right && !g_error_matches(failure, CCS_ERROR, CCS_ERROR_CHECK)) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return false;
    }
    add_counts(schedule, verdict);
    verdict->n_schedules++;
    verdict->n_orders = n_random + 2;
    if (!is_right)
        add_failure(schedule, failure, verdict);
    return true;
}

static GArray *roots_of(const CcsAlgorithm *algorithm, int64_t root, uint32_t n_ranks)
{
    GArray *roots = g_array_new(false, false, sizeof(CcsRank));
    const CcsRank usual[] = {0, n_ranks - 1, n_ranks / 2};
    CcsRank one = root < 0 ? 0 : (CcsRank)root;

    if (!ccs_collective_info(algorithm->collective)->has_root)
        one = 0;
    else if (root == CCS_USUAL_ROOTS)
        return g_array_append_vals(roots, usual, MIN(n_ranks, G_N_ELEMENTS(usual)));
    else if (root == CCS_ALL_ROOTS)
        for (CcsRank rank = 1; rank < n_ranks; rank++)
            g_array_append_val(roots, rank);
    return g_array_append_val(roots, one);
}

bool ccs_verify_case(const CcsAlgorithm *algorithm, const CcsVerifyMachines *machines,
                     const CcsVerifyOptions *options, CcsVerdict *ret_verdict, GError **error)
{
    g_autoptr(GArray) roots = roots_of(algorithm, options->root, machines->n_ranks);

    *ret_verdict = (CcsVerdict){.algorithm = algorithm, .n_ranks = machines->n_ranks};
    for (guint i = 0; i < machines->communicators->len * roots->len; i++) {
        const CcsCommunicator *communicator =
            g_ptr_array_index(machines->communicators, i / roots->len);
        CcsRank root = g_array_index(roots, CcsRank, i % roots->len);
        g_autoptr(GError) refusal = NULL;
        g_autoptr(CcsSchedule) schedule = ccs_algorithm_schedule(
            algorithm, communicator, root, options->n_channels, options->n_chunks, &refusal);
        if (schedule == NULL && ret_verdict->refusal == NULL)
            ret_verdict->refusal = g_strdup(refusal->message);
        if (schedule == NULL)
            continue;
        if (!ccs_verify_schedule(schedule, options->n_random, ret_verdict, error))
            return false;
        check_waste(schedule, ret_verdict);
    }
    return true;
}

void ccs_verdict_clear(CcsVerdict *verdict)
{
    g_free(verdict->refusal);
    g_free(verdict->failure);
}
