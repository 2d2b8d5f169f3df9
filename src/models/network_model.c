#include "models/network_model.h"

#include <string.h>

#include "base/error.h"

typedef const char *NameOf(const CcsNetworkModel *model);

static const char *name_of(const CcsNetworkModel *model)
{
    return model->name;
}

static const char *engine_of(const CcsNetworkModel *model)
{
    return model->engine;
}

/* @what is "network model" or "engine", and @among the model whose engines are meant, or NULL. */
static void fail(const char *what, const char *name, NameOf *of, const char *among, GError **error)
{
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    const char *before = "";

    for (size_t i = 0; ccs_network_models[i] != NULL; i++) {
        const char *known = of(ccs_network_models[i]);
        bool is_meant = among == NULL || strcmp(ccs_network_models[i]->name, among) == 0;
        if (is_meant && strcmp(known, before) != 0)
            g_strv_builder_add(names, known);
        before = known;
    }
    g_auto(GStrv) list = g_strv_builder_end(names);
    g_autofree char *hint = ccs_did_you_mean(name, (const char *const *)list);
    g_autofree char *all = g_strjoinv(" ", list);
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "unknown %s '%s'%s; there are: %s", what, name,
                hint, all);
}

const CcsNetworkModel *ccs_network_model_find(const char *name, const char *engine, GError **error)
{
    bool is_any = engine == NULL || strcmp(engine, "auto") == 0;
    bool is_known = false;

    for (size_t i = 0; ccs_network_models[i] != NULL; i++) {
        const CcsNetworkModel *model = ccs_network_models[i];
        if (strcmp(model->name, name) != 0)
            continue;
        if (is_any || strcmp(model->engine, engine) == 0)
            return model;
        is_known = true;
    }
    if (is_known)
        fail("engine", engine, engine_of, name, error);
    else
        fail("network model", name, name_of, NULL, error);
    return NULL;
}
