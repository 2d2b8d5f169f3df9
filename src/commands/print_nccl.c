/* print_nccl.c - results as nccl-tests prints them, so that programs that read it can read them
 *
 * The layout is that of nccl-tests 2.13 and later (src/common.cu and src/util.cu there). A row
 * does not name its algorithm, so each one with its settings gets a table of its own. */
#include "commands/print.h"

#include <string.h>

/* The names of the programs of nccl-tests, where they are not those of NCCL's functions. */
static const struct {
    const char *collective;
    const char *program;
} programs[] = {
    {"allreduce", "all_reduce"}, {"allgather", "all_gather"}, {"reducescatter", "reduce_scatter"}};

static const char *program_name(const char *collective)
{
    for (size_t i = 0; i < G_N_ELEMENTS(programs); i++) {
        if (strcmp(programs[i].collective, collective) == 0)
            return programs[i].program;
    }
    return collective;
}

static bool is_same_table(const CcsStudyResult *a, const CcsStudyResult *b)
{
    return a->communicator == b->communicator &&
           strcmp(a->result.collective, b->result.collective) == 0 &&
           strcmp(a->result.algorithm, b->result.algorithm) == 0 &&
           a->result.n_channels == b->result.n_channels &&
           a->result.n_chunks == b->result.n_chunks && a->result.root == b->result.root;
}

/* "2(factor)" or "1024(bytes)", as the sizes show it. */
static char *step_of(const CcsStudyResult *results, uint32_t n)
{
    CcsBytes first = results[0].result.size;
    CcsBytes second = n < 2 ? first : results[1].result.size;
    bool is_factor = n < 2 || (first > 0 && second % first == 0 &&
                               (n < 3 || results[2].result.size / second == second / first));

    if (is_factor)
        return g_strdup_printf("%" G_GUINT64_FORMAT "(factor)", n < 2 ? 2 : second / first);
    return g_strdup_printf("%" G_GUINT64_FORMAT "(bytes)", second - first);
}

static void print_devices(const CcsStudyResult *of, FILE *out)
{
    const CcsCommunicator *communicator = of->communicator;

    fprintf(out, "# Using devices\n");
    for (CcsRank rank = 0; rank < ccs_communicator_n_ranks(communicator); rank++) {
        const CcsVertex *gpu =
            ccs_topology_vertex(of->topology, ccs_communicator_gpu(communicator, rank));
        g_autofree char *host = g_strdup_printf("n%u", ccs_communicator_node(communicator, rank));
        fprintf(out, "#  Rank %2u Group %2u Pid %6u on %10s device %2u [0000:00:00] %s\n", rank, 0U,
                0U, host, ccs_communicator_local(communicator, rank), gpu->name);
    }
    fprintf(out, "#\n");
}

static void print_head(const CcsStudyResult *results, uint32_t n, FILE *out)
{
    const CcsResult *result = &results[0].result;
    g_autofree char *step = step_of(results, n);

    fprintf(out, "# ccsim " CCS_VERSION ": simulated on %s, algorithm %s, %u channel%s\n",
            result->topology, result->algorithm, result->n_channels,
            ccs_plural(result->n_channels));
    fprintf(out, "# Collective test starting: %s_perf\n", program_name(result->collective));
    fprintf(out,
            "# nThread 1 nGpus 1 minBytes %" G_GUINT64_FORMAT " maxBytes %" G_GUINT64_FORMAT
            " step: %s warmup iters: 0 iters: 1 agg iters: 1 validation: 0 graph: 0\n#\n",
            result->size, results[n - 1].result.size, step);
    print_devices(results, out);
    fprintf(out, "#%11s  %12s  %8s  %6s  %6s           %-32s %s\n", "", "", "", "", "",
            "out-of-place", "in-place");
    fprintf(out, "#%11s  %12s  %8s  %6s  %6s  %7s  %6s  %6s %6s  %7s  %6s  %6s %6s\n", "size",
            "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw",
            "busbw", "#wrong");
    fprintf(out, "#%11s  %12s  %8s  %6s  %6s  %7s  %6s  %6s %6s  %7s  %6s  %6s %6s\n", "(B)",
            "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)",
            "");
}

/* Seven characters, with as many decimals as fit. */
static char *format_time(double time_us)
{
    int n_decimals = time_us < 1000 ? 2 : time_us < 100000 ? 1 : 0;
    return g_strdup_printf("%7.*f", n_decimals, time_us);
}

static void print_result(const CcsResult *result, FILE *out)
{
    g_autofree char *time = format_time(ccs_time_us(result->time));
    g_autofree char *group =
        g_strdup_printf("%s  %6.2f  %6.2f    N/A", time, result->algbw_GBps, result->busbw_GBps);

    fprintf(out,
            "%12" G_GUINT64_FORMAT "  %12" G_GUINT64_FORMAT "  %8s  %6s  %6" G_GINT64_FORMAT
            "  %s  %s\n",
            result->size, result->count, result->dtype, result->op, result->root, group, group);
}

static void print_table(const CcsStudyResult *results, uint32_t n, FILE *out)
{
    double sum = 0;

    print_head(results, n, out);
    for (uint32_t i = 0; i < n; i++) {
        print_result(&results[i].result, out);
        sum += results[i].result.busbw_GBps;
    }
    fprintf(out, "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : %g\n#\n", sum / n);
}

void ccs_print_nccl(const CcsStudyResult *results, uint32_t n, FILE *out)
{
    for (uint32_t first = 0; first < n;) {
        uint32_t end = first + 1;
        while (end < n && is_same_table(&results[first], &results[end]))
            end++;
        print_table(&results[first], end - first, out);
        first = end;
    }
}
