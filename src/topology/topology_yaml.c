#include "topology/topology_yaml.h"

#include <string.h>

#include "config/config.h"
#include "config/schema.h"
#include "topology/generate.h"
#include "topology/spec.h"

static void apply_n_nodes(CcsConfig *config, uint32_t n_nodes)
{
    g_autofree char *text = g_strdup_printf("%u", n_nodes);
    g_autofree char *label = g_strdup_printf("--nodes %u", n_nodes);

    if (ccs_config_list_length(config, "nodes") >= 0)
        ccs_config_truncate(config, "--nodes", label, "nodes", n_nodes);
    else
        ccs_config_set(config, "--nodes", label, "nodes", text);
}

static void apply_options(CcsConfig *config, const CcsTopologyOptions *options)
{
    if (options == NULL)
        return;
    for (uint32_t i = 0; options->overrides != NULL && options->overrides[i] != NULL; i++)
        ccs_config_override(config, options->overrides[i]);
    if (options->n_nodes > 0)
        apply_n_nodes(config, options->n_nodes);
}

/* "dgx-h100" for a file topologies/dgx-h100.yaml. */
static char *name_of_file(const char *label)
{
    char *name = g_path_get_basename(label);
    char *suffix = strrchr(name, '.');

    if (suffix != NULL && suffix != name)
        *suffix = '\0';
    return name;
}

static void check_gpus(const CcsTopology *topology, CcsConfig *config)
{
    if (ccs_topology_n_gpus(topology) == 0 && ccs_config_n_errors(config) == 0)
        ccs_config_error_at(config, "vertices",
                            "a topology needs a GPU: say 'node', or list 'vertices'");
}

static void generate(CcsTopology *topology, const CcsTopologySpec *spec, CcsConfig *config)
{
    ccs_generate_nodes(topology, spec);
    ccs_generate_fabric(topology, spec, config);
    if (ccs_config_n_errors(config) > 0)
        return;
    ccs_generate_explicit(topology, spec, config);
    ccs_generate_faults(topology, spec, config);
    check_gpus(topology, config);
}

static CcsTopology *build(CcsConfig *config, const CcsTopologySpec *spec, GError **error)
{
    g_autofree char *file_name = name_of_file(ccs_config_label(config));
    g_autofree char *source = ccs_config_source(config);
    g_autoptr(CcsTopology) topology =
        ccs_topology_new(spec->name != NULL ? spec->name : file_name, source);

    generate(topology, spec, config);
    if (spec->fabric != NULL)
        ccs_topology_set_routing(topology, (CcsRouting){spec->fabric->routing, spec->fabric->seed});
    if (!ccs_config_check(config, error))
        return NULL;
    ccs_topology_seal(topology);
    return g_steal_pointer(&topology);
}

static CcsTopology *read_topology(CcsConfig *config, const CcsTopologyOptions *options,
                                  GPtrArray **ret_params, GError **error)
{
    CcsTopologySpec spec;

    apply_options(config, options);
    ccs_config_inherit(config, "nodes", "node");
    ccs_config_decode(config, &ccs_topology_table, &spec);
    if (!ccs_config_check(config, error))
        return NULL;
    ccs_spec_check(&spec, config);
    if (!ccs_config_check(config, error))
        return NULL;
    CcsTopology *topology = build(config, &spec, error);
    if (topology != NULL && ret_params != NULL)
        *ret_params = ccs_config_take_params(config);
    return topology;
}

CcsTopology *ccs_topology_load(const char *file_or_name, const CcsTopologyOptions *options,
                               GPtrArray **ret_params, GError **error)
{
    g_autoptr(CcsConfig) config = ccs_config_open("topologies", file_or_name, error);

    return config == NULL ? NULL : read_topology(config, options, ret_params, error);
}

CcsTopology *ccs_topology_read(const char *label, const char *text, size_t n_bytes,
                               const CcsTopologyOptions *options, GPtrArray **ret_params,
                               GError **error)
{
    g_autoptr(CcsConfig) config = ccs_config_new(label, text, n_bytes, error);

    return config == NULL ? NULL : read_topology(config, options, ret_params, error);
}

char *ccs_topology_schema(void)
{
    return ccs_schema_json(&ccs_topology_table, "ccsim topology");
}
