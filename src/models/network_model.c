#include "models/network_model.h"

#include <string.h>

#include "base/error.h"

const CcsNetworkModel *ccs_network_model_find(const char *name, GError **error)
{
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();

    for (size_t i = 0; ccs_network_models[i] != NULL; i++) {
        if (strcmp(ccs_network_models[i]->name, name) == 0)
            return ccs_network_models[i];
        g_strv_builder_add(names, ccs_network_models[i]->name);
    }
    g_auto(GStrv) list = g_strv_builder_end(names);
    g_autofree char *hint = ccs_did_you_mean(name, (const char *const *)list);
    g_autofree char *all = g_strjoinv(" ", list);
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "unknown network model '%s'%s; there are: %s",
                name, hint, all);
    return NULL;
}
