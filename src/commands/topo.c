/* topo.c - looks at a topology: what it holds, and whether its ranks can talk */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "commands/command.h"
#include "commands/options.h"
#include "report/rows.h"
#include "topology/route.h"

extern const CcsCommand ccs_command_topo;

/* So many pairs of ranks are looked at one by one; of more, a spread selection. */
#define MAX_PAIRS 65536U

static bool print_class(CcsRows *rows, const CcsTopology *topology, uint32_t link_class)
{
    uint32_t n = 0;
    CcsRate least = CCS_RATE_UNLIMITED;
    CcsRate most = 0;
    CcsTime shortest = CCS_TIME_MAX;
    CcsTime longest = 0;

    for (CcsLinkId id = 0; id < ccs_topology_n_links(topology); id++) {
        const CcsLink *link = ccs_topology_link(topology, id);
        if (link->link_class != link_class)
            continue;
        n++;
        least = MIN(least, link->bandwidth);
        most = MAX(most, link->bandwidth);
        shortest = MIN(shortest, link->alpha);
        longest = MAX(longest, link->alpha);
    }
    g_autofree char *count = g_strdup_printf("%u", n);
    g_autofree char *from = g_strdup_printf("%.6g", ccs_rate_GBps(least));
    g_autofree char *to = g_strdup_printf("%.6g", ccs_rate_GBps(most));
    g_autofree char *near = g_strdup_printf("%.6g", ccs_time_us(shortest));
    g_autofree char *far = g_strdup_printf("%.6g", ccs_time_us(longest));
    bool is_limited = most < CCS_RATE_UNLIMITED;
    const CcsCell cells[] = {
        {CCS_CELL_TEXT, ccs_topology_class_name(topology, link_class)},
        {CCS_CELL_NUMBER, count},
        {is_limited ? CCS_CELL_NUMBER : CCS_CELL_TEXT, is_limited ? from : "unlimited"},
        {is_limited ? CCS_CELL_NUMBER : CCS_CELL_TEXT, is_limited ? to : "unlimited"},
        {CCS_CELL_NUMBER, near},
        {CCS_CELL_NUMBER, far},
    };
    ccs_rows_add(rows, cells);
    return n > 0;
}

static bool print_classes(const CcsTopology *topology, CcsFormat format, GError **error)
{
    static const CcsColumn columns[] = {
        {"links", CCS_ALIGN_LEFT},          {"count", CCS_ALIGN_RIGHT},
        {"least (GB/s)", CCS_ALIGN_RIGHT},  {"most (GB/s)", CCS_ALIGN_RIGHT},
        {"shortest (us)", CCS_ALIGN_RIGHT}, {"longest (us)", CCS_ALIGN_RIGHT},
    };
    g_autoptr(CcsRows) rows = ccs_rows_new(stdout, format, columns, G_N_ELEMENTS(columns));

    for (uint32_t i = 0; i < ccs_topology_n_classes(topology); i++)
        print_class(rows, topology, i);
    return ccs_rows_end(rows, error);
}

static uint32_t count_kind(const CcsTopology *topology, CcsVertexKind kind)
{
    uint32_t n = 0;

    for (CcsVertexId id = 0; id < ccs_topology_n_vertices(topology); id++)
        n += ccs_topology_vertex(topology, id)->kind == kind ? 1 : 0;
    return n;
}

static void print_summary(const CcsTopology *topology)
{
    uint32_t n_gpus = ccs_topology_n_gpus(topology);
    uint32_t n_nodes = ccs_topology_n_nodes(topology);
    uint32_t n_nics = count_kind(topology, CCS_VERTEX_NIC);
    uint32_t n_inner = count_kind(topology, CCS_VERTEX_NVSWITCH);
    uint32_t n_outer = count_kind(topology, CCS_VERTEX_SWITCH);
    uint32_t n_links = ccs_topology_n_links(topology);

    printf("%s: %u GPU%s in %u node%s, %u NIC%s, %u NVSwitch%s, %u fabric switch%s, %u one-way"
           " link%s\n\n",
           ccs_topology_name(topology), n_gpus, ccs_plural(n_gpus), n_nodes, ccs_plural(n_nodes),
           n_nics, ccs_plural(n_nics), n_inner, n_inner == 1 ? "" : "es", n_outer,
           n_outer == 1 ? "" : "es", n_links, ccs_plural(n_links));
}

static bool print_links(const CcsTopology *topology, CcsFormat format, GError **error)
{
    static const CcsColumn columns[] = {{"link", CCS_ALIGN_LEFT},
                                        {"class", CCS_ALIGN_LEFT},
                                        {"bandwidth (GB/s)", CCS_ALIGN_RIGHT},
                                        {"latency (us)", CCS_ALIGN_RIGHT}};
    g_autoptr(CcsRows) rows = ccs_rows_new(stdout, format, columns, G_N_ELEMENTS(columns));

    for (CcsLinkId id = 0; id < ccs_topology_n_links(topology); id++) {
        const CcsLink *link = ccs_topology_link(topology, id);
        bool is_limited = link->bandwidth < CCS_RATE_UNLIMITED;
        g_autofree char *name = ccs_topology_link_name(topology, id);
        g_autofree char *rate =
            is_limited ? g_strdup_printf("%.9g", ccs_rate_GBps(link->bandwidth)) : NULL;
        g_autofree char *alpha = g_strdup_printf("%.9g", ccs_time_us(link->alpha));
        const CcsCell cells[] = {
            {CCS_CELL_TEXT, name},
            {CCS_CELL_TEXT, ccs_topology_class_name(topology, link->link_class)},
            {is_limited ? CCS_CELL_NUMBER : CCS_CELL_NULL, rate},
            {CCS_CELL_NUMBER, alpha},
        };
        ccs_rows_add(rows, cells);
    }
    return ccs_rows_end(rows, error);
}

/* Warns of ranks that must share a NIC, since their groups get half of it each. */
static void warn_shared_nics(const CcsTopology *topology)
{
    for (CcsVertexId id = 0; id < ccs_topology_n_vertices(topology); id++) {
        uint32_t n_in = 0;
        uint32_t n_gpus = 0;
        if (ccs_topology_vertex(topology, id)->kind != CCS_VERTEX_NIC)
            continue;
        const CcsLinkId *in = ccs_topology_links_in(topology, id, &n_in);
        for (uint32_t i = 0; i < n_in; i++) {
            CcsVertexId from = ccs_topology_link(topology, in[i])->from;
            n_gpus += ccs_topology_vertex(topology, from)->kind == CCS_VERTEX_GPU ? 1 : 0;
        }
        if (n_gpus > 1) {
            g_printerr("note: %u GPUs share NIC '%s' (and so for others like it)\n", n_gpus,
                       ccs_topology_vertex(topology, id)->name);
            return;
        }
    }
}

static bool check_pairs(const CcsCommunicator *communicator, uint64_t *ret_n_pairs, GError **error)
{
    const CcsTopology *topology = ccs_communicator_topology(communicator);
    g_autoptr(CcsRouter) router = ccs_router_new(topology);
    g_autoptr(GArray) links = g_array_new(false, false, sizeof(CcsLinkId));
    uint64_t n = ccs_communicator_n_ranks(communicator);
    uint64_t stride = n * n / MAX_PAIRS + 1;

    *ret_n_pairs = 0;
    for (uint64_t pair = 0; pair < n * n; pair += stride) {
        CcsRank from = (CcsRank)(pair / n);
        CcsRank to = (CcsRank)(pair % n);
        g_array_set_size(links, 0);
        if (!ccs_router_append(router, ccs_communicator_gpu(communicator, from),
                               ccs_communicator_gpu(communicator, to), links, error))
            return false;
        *ret_n_pairs += from == to ? 0 : 1;
    }
    return true;
}

static bool check(const CcsMachine *machine, GError **error)
{
    uint32_t n_ranks = ccs_communicator_n_ranks(machine->communicator);
    uint32_t n_nodes = ccs_communicator_n_nodes(machine->communicator);
    uint64_t n_pairs = 0;

    warn_shared_nics(machine->topology);
    if (!check_pairs(machine->communicator, &n_pairs, error))
        return false;
    printf("%s: ok: %u rank%s on %u node%s, %" G_GUINT64_FORMAT
           " pair%s looked at can reach each other\n",
           ccs_topology_name(machine->topology), n_ranks, ccs_plural(n_ranks), n_nodes,
           ccs_plural(n_nodes), n_pairs, ccs_plural(n_pairs));
    return true;
}

static bool act(const char *action, CcsMachineArguments *arguments, bool has_links,
                CcsFormat format, GError **error)
{
    static const char *const names[] = {"show", "check", NULL};
    bool is_check = strcmp(action, "check") == 0;

    if (!is_check && strcmp(action, "show") != 0) {
        g_autofree char *hint = ccs_did_you_mean(action, names);
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "topo can show or check, not '%s'%s", action,
                    hint);
        return false;
    }
    g_autoptr(CcsMachine) machine = ccs_machine_arguments_load(arguments, error);
    if (machine == NULL)
        return false;
    if (is_check)
        return check(machine, error);
    if (has_links)
        return print_links(machine->topology, format, error);
    if (format == CCS_FORMAT_TABLE)
        print_summary(machine->topology);
    return print_classes(machine->topology, format, error);
}

static bool run(int argc, char **argv, GError **error)
{
    g_auto(CcsMachineArguments) arguments = {0};
    g_autofree char *format_name = NULL;
    gboolean has_links = false;
    CcsFormat format = CCS_FORMAT_TABLE;
    const GOptionEntry own[] = {
        CCS_OPTION_FORMAT(&format_name),
        {"links", 0, 0, G_OPTION_ARG_NONE, &has_links, "Show each link", NULL},
    };
    g_autoptr(GArray) entries = g_array_new(true, true, sizeof(GOptionEntry));

    ccs_machine_arguments_add(entries, &arguments);
    g_array_append_vals(entries, own, G_N_ELEMENTS(own));
    if (!ccs_command_parse(&ccs_command_topo, "show|check [TOPOLOGY]",
                           (const GOptionEntry *)(const void *)entries->data, &argc, &argv,
                           error) ||
        !ccs_format_parse(format_name, CCS_FORMATS_OF_ROWS, &format, error))
        return false;
    if (argc < 2 || argc > 3 || (argc == 3 && arguments.topology != NULL)) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "say what to do with which topology, as in: ccsim topo show dgx-h100");
        return false;
    }
    if (argc == 3)
        arguments.topology = g_strdup(argv[2]);
    return act(argv[1], &arguments, has_links, format, error);
}

const CcsCommand ccs_command_topo = {
    .name = "topo",
    .summary = "Show or check a topology.",
    .run = run,
};
