#include "collectives/algorithm.h"

#include <string.h>

#include "base/error.h"

const CcsAlgorithm *ccs_algorithm_find(CcsCollective collective, const char *name, GError **error)
{
    const char *collective_name = ccs_collective_info(collective)->name;
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();

    for (size_t i = 0; ccs_algorithms[i] != NULL; i++) {
        if (ccs_algorithms[i]->collective != collective)
            continue;
        if (strcmp(ccs_algorithms[i]->name, name) == 0)
            return ccs_algorithms[i];
        g_strv_builder_add(names, ccs_algorithms[i]->name);
    }
    g_auto(GStrv) list = g_strv_builder_end(names);
    g_autofree char *hint = ccs_did_you_mean(name, (const char *const *)list);
    g_autofree char *all = g_strjoinv(" ", list);
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "%s has no algorithm '%s'%s; it has: %s",
                collective_name, name, hint, all);
    return NULL;
}

bool ccs_algorithm_fill(const CcsAlgorithm *algorithm, CcsSchedule *schedule, GError **error)
{
    return ccs_schedule_n_ranks(schedule) == 1 || algorithm->build(schedule, error);
}

CcsSchedule *ccs_algorithm_schedule(const CcsAlgorithm *algorithm,
                                    const CcsCommunicator *communicator, CcsRank root,
                                    uint32_t n_channels, uint32_t pipeline, GError **error)
{
    g_autoptr(CcsSchedule) schedule =
        ccs_schedule_new(algorithm->collective, communicator, root, n_channels, pipeline);

    if (!ccs_algorithm_fill(algorithm, schedule, error))
        return NULL;
    return g_steal_pointer(&schedule);
}
