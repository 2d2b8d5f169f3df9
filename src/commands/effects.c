#include "commands/effects.h"

#include <stdio.h>
#include <string.h>

static void say(const char *what, const char *format, va_list args)
{
    g_autofree char *message = g_strdup_vprintf(format, args);
    fprintf(stderr, "ccsim: %s: %s\n", what, message);
}

void ccs_warn(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say("warning", format, args);
    va_end(args);
}

void ccs_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say("note", format, args);
    va_end(args);
}

static bool has_pipelined(const GArray *cases)
{
    for (guint i = 0; i < cases->len; i++) {
        if (g_array_index(cases, CcsCase, i).algorithm->is_pipelined)
            return true;
    }
    return false;
}

/* GPUs of one node may have no other way to each other than out to the fabric and back. */
static bool has_nvlink(const CcsTopology *topology)
{
    for (uint32_t i = 0; i < ccs_topology_n_classes(topology); i++) {
        if (strcmp(ccs_topology_class_name(topology, i), "nvlink") == 0)
            return true;
    }
    return false;
}

/* A job that uses less of the machine than one may think. */
static void note_idle_network(const char *where, const CcsMachine *machine)
{
    if (ccs_communicator_n_ranks(machine->communicator) == 1)
        ccs_note("%sone rank has nobody to talk to: nothing is sent", where);
    else if (ccs_communicator_n_nodes(machine->communicator) == 1 &&
             ccs_topology_n_nodes(machine->topology) > 1 && has_nvlink(machine->topology))
        ccs_note("%sall ranks sit on one node: the network between nodes is not used", where);
}

static void note_no_sharing(const char *where, const CcsNetworkModel *model)
{
    if (!model->shares_links)
        ccs_note("%smodel %s shares no links: each may carry more than its bandwidth, and times may"
                 " lie below the bound",
                 where, model->name);
}

void ccs_effects_of_asked(const CcsAsked *asked, const GArray *cases)
{
    const CcsAlgorithm *first = g_array_index(cases, CcsCase, 0).algorithm;
    const CcsCollectiveInfo *info = ccs_collective_info(first->collective);

    if (asked->chunks != NULL && !has_pipelined(cases))
        ccs_warn("%s%s has no effect: none of the algorithms is pipelined", asked->where,
                 asked->chunks);
    if (asked->root != NULL && !info->has_root)
        ccs_warn("%s%s has no effect: %s has no root", asked->where, asked->root, info->name);
    if (asked->op != NULL && !info->has_op)
        ccs_warn("%s%s has no effect: %s does not reduce", asked->where, asked->op, info->name);
    if (asked->sizes != NULL && info->is_without_data)
        ccs_warn("%s%s has no effect: %s moves no data", asked->where, asked->sizes, info->name);
    if (asked->distance != NULL && first->collective != CCS_SENDRECV)
        ccs_warn("%s%s has no effect: it is for sendrecv", asked->where, asked->distance);
    if (asked->skew != NULL && first->collective != CCS_ALLTOALLV)
        ccs_warn("%s%s has no effect: it is for alltoallv", asked->where, asked->skew);
    if (asked->matrix != NULL && first->collective != CCS_ALLTOALLV)
        ccs_warn("%s%s has no effect: it is for alltoallv", asked->where, asked->matrix);
}

void ccs_effects_of_options(const CcsAsked *asked, const GArray *cases, const CcsMachine *machine)
{
    ccs_effects_of_asked(asked, cases);
    note_idle_network(asked->where, machine);
    note_no_sharing(asked->where, machine->model);
}

/* The keys of a topology whose values are those of the links of one class. */
static const struct {
    const char *part; /* of the path */
    const char *link_class;
} parts[] = {{"nvlink", "nvlink"}, {"nics", "nic"}, {"pcie", "pcie"}, {"fabric", "leaf-spine"}};
static const char *const keys[] = {"bandwidth", "latency", "oversubscription", "spines", NULL};

/* The class of links that the value at @path belongs to; NULL if that cannot be told. */
static const char *class_of(const char *path)
{
    g_auto(GStrv) steps = g_strsplit_set(path, ".[", -1);
    guint n = g_strv_length(steps);

    if (n == 0 || !g_strv_contains(keys, steps[n - 1]))
        return NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        if (g_strv_contains((const char *const *)steps, parts[i].part))
            return parts[i].link_class;
    }
    return NULL;
}

/* Messages of no bytes leave no trace on links, so that smaller results tell nothing. */
static bool fills_all_messages(const CcsResult *result)
{
    return result->size / result->n_ranks / result->n_channels >= MAX(result->n_chunks, 1);
}

static bool is_used(const char *link_class, const CcsStudyResult *results, uint32_t n_results)
{
    bool is_known = false;

    for (uint32_t i = 0; i < n_results; i++) {
        const CcsTopology *topology = results[i].topology;
        is_known = is_known || fills_all_messages(&results[i].result);
        for (uint32_t c = 0; c < ccs_topology_n_classes(topology); c++) {
            if (results[i].classes[c].n_links > 0 &&
                strcmp(ccs_topology_class_name(topology, c), link_class) == 0)
                return true;
        }
    }
    return !is_known;
}

static bool has_reduction(const CcsStudyResult *results, uint32_t n_results)
{
    for (uint32_t i = 0; i < n_results; i++) {
        if (strcmp(results[i].result.op, "none") != 0)
            return true;
    }
    return false;
}

void ccs_effects_of_overrides(const char *where, const char *const *overrides,
                              const CcsStudyResult *results, uint32_t n_results)
{
    for (size_t i = 0; overrides != NULL && overrides[i] != NULL; i++) {
        g_autofree char *path = g_strndup(overrides[i], strcspn(overrides[i], "="));
        const char *link_class = class_of(g_strstrip(path));
        if (strcmp(path, "transport.reduce_rate") == 0 && !has_reduction(results, n_results))
            ccs_warn("%s%s has no effect: %s does not reduce", where, path,
                     results[0].result.collective);
        else if (link_class != NULL && !is_used(link_class, results, n_results))
            ccs_warn("%s%s has no effect: nothing crosses a link of class %s", where, path,
                     link_class);
    }
}
