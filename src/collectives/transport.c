#include "collectives/transport.h"

#include <string.h>

#include "base/error.h"
#include "config/config.h"

#define PREFIX "transport."

const CcsTransport ccs_transport_ideal = {.name = "ideal", .reduce_rate = CCS_RATE_UNLIMITED};

const char *const ccs_transport_names[] = {"ideal", NULL};

static const CcsField fields[] = {
    {.name = "name",
     .kind = CCS_FIELD_NAME,
     .offset = offsetof(CcsTransportSpec, name),
     .default_text = "ideal",
     .summary = "what results call it"},
    {.name = "launch",
     .kind = CCS_FIELD_TIME,
     .offset = offsetof(CcsTransportSpec, launch),
     .default_text = "0 us",
     .summary = "time before the first message may start"},
    {.name = "message_cost",
     .kind = CCS_FIELD_TIME,
     .offset = offsetof(CcsTransportSpec, message_cost),
     .default_text = "0 us",
     .summary = "a lane is busy so long before the bytes of each message go out"},
    {.name = "reduce_rate",
     .kind = CCS_FIELD_RATE,
     .offset = offsetof(CcsTransportSpec, reduce_rate),
     .summary = "at which the receiver adds what arrives, for each lane; without it that takes no "
                "time"},
    {.name = "synchronous",
     .kind = CCS_FIELD_BOOL,
     .offset = offsetof(CcsTransportSpec, is_synchronous),
     .default_text = "false",
     .summary = "a lane is busy until its message has arrived and is reduced, not only until it "
                "has left"},
};

const CcsFieldTable ccs_transport_table = {
    .summary = "what stands between an algorithm and the wire",
    .size = sizeof(CcsTransportSpec),
    .fields = fields,
    .n_fields = G_N_ELEMENTS(fields),
};

static CcsConfig *open_config(const char *name_or_file, GError **error)
{
    if (strcmp(name_or_file, "ideal") == 0)
        return ccs_config_new("transport", "{}", 2, error);
    if (strchr(name_or_file, '.') == NULL && strchr(name_or_file, '/') == NULL) {
        g_autofree char *hint = ccs_did_you_mean(name_or_file, ccs_transport_names);
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "unknown transport '%s'%s; there is 'ideal', or give a YAML file", name_or_file,
                    hint);
        return NULL;
    }
    return ccs_config_open("transports", name_or_file, error);
}

static void apply(CcsConfig *config, const char *const *overrides)
{
    for (size_t i = 0; overrides != NULL && overrides[i] != NULL; i++) {
        const char *assignment = overrides[i] + strlen(PREFIX);
        const char *equals = strchr(assignment, '=');
        g_autofree char *label = g_strconcat("--set ", overrides[i], NULL);
        if (equals == NULL) {
            ccs_config_override(config, assignment);
            continue;
        }
        g_autofree char *path = g_strndup(assignment, (gsize)(equals - assignment));
        ccs_config_set(config, "--set", label, path, equals + 1);
    }
}

static void add_params(CcsConfig *config, GPtrArray *params)
{
    g_autoptr(GPtrArray) taken = ccs_config_take_params(config);

    for (guint i = 0; i < taken->len; i++) {
        const CcsParam *param = g_ptr_array_index(taken, i);
        CcsParam *copy = g_new(CcsParam, 1);
        *copy = (CcsParam){g_strconcat(PREFIX, param->path, NULL), g_strdup(param->value_text),
                           param->kind, g_strdup(param->source)};
        g_ptr_array_add(params, copy);
    }
}

bool ccs_transport_load(const char *name_or_file, const char *const *overrides, GPtrArray *params,
                        CcsTransport *ret_transport, GError **error)
{
    CcsTransportSpec spec = {0};
    g_autoptr(CcsConfig) config = open_config(name_or_file, error);
    if (config == NULL)
        return false;

    apply(config, overrides);
    ccs_config_decode(config, &ccs_transport_table, &spec);
    if (!ccs_config_check(config, error))
        return false;
    add_params(config, params);
    *ret_transport = (CcsTransport){
        .launch = spec.launch,
        .message_cost = spec.message_cost,
        .reduce_rate = spec.reduce_rate == 0 ? CCS_RATE_UNLIMITED : spec.reduce_rate,
        .is_synchronous = spec.is_synchronous,
    };
    g_strlcpy(ret_transport->name, spec.name, sizeof ret_transport->name);
    return true;
}
