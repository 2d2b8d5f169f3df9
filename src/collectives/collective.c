#include "collectives/collective.h"

#include <string.h>

#include "base/error.h"

static const CcsCollectiveInfo infos[CCS_N_COLLECTIVES + 1] = {
    [CCS_ALLREDUCE] = {.name = "allreduce",
                       .summary = "every rank ends with the sum over all ranks",
                       .factor = CCS_BUSBW_TWO_OTHERS,
                       .has_op = true,
                       .default_algorithm = "ring"},
    [CCS_ALLGATHER] = {.name = "allgather",
                       .summary = "every rank ends with the blocks of all ranks",
                       .factor = CCS_BUSBW_OTHERS,
                       .is_count_per_rank = true,
                       .default_algorithm = "ring"},
    [CCS_REDUCESCATTER] = {.name = "reducescatter",
                           .summary = "rank r ends with block r of the sum over all ranks",
                           .factor = CCS_BUSBW_OTHERS,
                           .has_op = true,
                           .is_count_per_rank = true,
                           .default_algorithm = "ring"},
    [CCS_ALLTOALL] = {.name = "alltoall",
                      .summary = "rank r ends with block r of every rank",
                      .factor = CCS_BUSBW_OTHERS,
                      .is_count_per_rank = true,
                      .default_algorithm = "pairwise"},
    [CCS_ALLTOALLV] = {.name = "alltoallv",
                       .summary = "rank r ends with block r of every rank, blocks of any size",
                       .factor = CCS_BUSBW_OTHERS,
                       .is_count_per_rank = true,
                       .default_algorithm = "pairwise"},
    [CCS_BROADCAST] = {.name = "broadcast",
                       .summary = "every rank ends with the data of the root",
                       .factor = CCS_BUSBW_SAME,
                       .has_root = true,
                       .default_algorithm = "chain"},
    [CCS_REDUCE] = {.name = "reduce",
                    .summary = "the root ends with the sum over all ranks",
                    .factor = CCS_BUSBW_SAME,
                    .has_op = true,
                    .has_root = true,
                    .default_algorithm = "chain"},
    [CCS_GATHER] = {.name = "gather",
                    .summary = "the root ends with the blocks of all ranks",
                    .factor = CCS_BUSBW_OTHERS,
                    .has_root = true,
                    .is_count_per_rank = true,
                    .default_algorithm = "flat"},
    [CCS_SCATTER] = {.name = "scatter",
                     .summary = "rank r ends with block r of the root",
                     .factor = CCS_BUSBW_OTHERS,
                     .has_root = true,
                     .is_count_per_rank = true,
                     .default_algorithm = "flat"},
    [CCS_SENDRECV] = {.name = "sendrecv",
                      .summary = "rank r ends with the data of rank r - D, D being --distance",
                      .factor = CCS_BUSBW_SAME,
                      .default_algorithm = "shift"},
    [CCS_BARRIER] = {.name = "barrier",
                     .summary = "no rank leaves before every rank has come",
                     .factor = CCS_BUSBW_SAME,
                     .is_without_data = true,
                     .default_algorithm = "dissemination"},
    [CCS_PROGRAM] = {.name = "program",
                     .summary = "what a program per rank does",
                     .factor = CCS_BUSBW_SAME},
};

const CcsCollectiveInfo *ccs_collective_info(CcsCollective collective)
{
    return &infos[collective];
}

/* "All_Reduce" and "all-reduce" become "allreduce". */
static char *plain_name(const char *name)
{
    GString *plain = g_string_new(NULL);

    for (const char *c = name; *c != '\0'; c++) {
        if (*c != '_' && *c != '-')
            g_string_append_c(plain, g_ascii_tolower(*c));
    }
    return g_string_free(plain, false);
}

bool ccs_collective_parse(const char *name, CcsCollective *ret_collective, GError **error)
{
    g_autofree char *plain = plain_name(name);
    const char *names[CCS_N_COLLECTIVES + 1] = {NULL};

    for (uint32_t i = 0; i < CCS_N_COLLECTIVES; i++) {
        names[i] = infos[i].name;
        if (strcmp(plain, infos[i].name) == 0) {
            *ret_collective = (CcsCollective)i;
            return true;
        }
    }
    g_autofree char *hint = ccs_did_you_mean(plain, names);
    g_autofree char *all = g_strjoinv(" ", (char **)(gpointer)names);
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "unknown collective '%s'%s; there are: %s", name,
                hint, all);
    return false;
}

double ccs_collective_busbw_factor(CcsCollective collective, uint32_t n_ranks)
{
    double n = n_ranks;

    switch (infos[collective].factor) {
    case CCS_BUSBW_SAME:
        return n_ranks == 1 ? 0 : 1;
    case CCS_BUSBW_OTHERS:
        return (n - 1) / n;
    case CCS_BUSBW_TWO_OTHERS:
        return 2 * (n - 1) / n;
    }
    return 0;
}

static const CcsDataType data_types[] = {
    {"int8", 1}, {"uint8", 1}, {"int32", 4},  {"uint32", 4},   {"int64", 8},    {"uint64", 8},
    {"half", 2}, {"float", 4}, {"double", 8}, {"bfloat16", 2}, {"fp8_e4m3", 1}, {"fp8_e5m2", 1},
};
static const char *const reductions[] = {"sum", "prod", "max", "min", "avg", NULL};

const CcsDataType *ccs_data_type_find(const char *name, GError **error)
{
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();

    for (size_t i = 0; i < G_N_ELEMENTS(data_types); i++) {
        if (strcmp(name, data_types[i].name) == 0)
            return &data_types[i];
        g_strv_builder_add(names, data_types[i].name);
    }
    g_auto(GStrv) list = g_strv_builder_end(names);
    g_autofree char *hint = ccs_did_you_mean(name, (const char *const *)list);
    g_autofree char *all = g_strjoinv(" ", list);
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "unknown data type '%s'%s; there are: %s", name,
                hint, all);
    return NULL;
}

const char *ccs_reduction_find(const char *name, GError **error)
{
    for (size_t i = 0; reductions[i] != NULL; i++) {
        if (strcmp(name, reductions[i]) == 0)
            return reductions[i];
    }
    g_autofree char *hint = ccs_did_you_mean(name, reductions);
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                "unknown reduction '%s'%s; there are: sum prod max min avg", name, hint);
    return NULL;
}

uint64_t ccs_collective_count(CcsCollective collective, CcsBytes size, uint32_t n_ranks,
                              const CcsDataType *type)
{
    uint64_t count = size / type->bytes;
    return infos[collective].is_count_per_rank ? count / n_ranks : count;
}
