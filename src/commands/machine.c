#include "commands/machine.h"

#include "config/config.h"
#include "topology/scale.h"
#include "topology/topology_yaml.h"

#define TRANSPORT "transport."

/* The overrides that begin with TRANSPORT, or those that do not. */
static GStrv select_overrides(const char *const *overrides, bool is_transport)
{
    g_autoptr(GStrvBuilder) selected = g_strv_builder_new();

    for (size_t i = 0; overrides != NULL && overrides[i] != NULL; i++) {
        if (g_str_has_prefix(overrides[i], TRANSPORT) == is_transport)
            g_strv_builder_add(selected, overrides[i]);
    }
    return g_strv_builder_end(selected);
}

static bool load_transport(CcsMachine *machine, const CcsMachineOptions *options, GError **error)
{
    g_auto(GStrv) overrides = select_overrides(options->overrides, true);
    const char *name = options->transport == NULL ? "ideal" : options->transport;

    return ccs_transport_load(name, (const char *const *)overrides, machine->params,
                              &machine->transport, error);
}

static bool load_topology(CcsMachine *machine, const CcsMachineOptions *options, GError **error)
{
    g_auto(GStrv) overrides = select_overrides(options->overrides, false);
    CcsTopologyOptions topology_options = {.overrides = (const char *const *)overrides,
                                           .n_nodes = options->n_nodes};

    machine->topology =
        ccs_topology_load(options->topology, &topology_options, &machine->params, error);
    return machine->topology != NULL;
}

CcsMachine *ccs_machine_new(const CcsMachineOptions *options, GError **error)
{
    g_autoptr(CcsMachine) machine = g_new0(CcsMachine, 1);

    machine->model = ccs_network_model_find(options->model == NULL ? "fluid" : options->model,
                                            options->engine, error);
    if (machine->model == NULL || !load_topology(machine, options, error) ||
        !load_transport(machine, options, error))
        return NULL;
    machine->communicator =
        ccs_communicator_new(machine->topology, options->n_ranks, options->ranks_per_node, error);
    if (machine->communicator == NULL)
        return NULL;
    machine->n_ranks = options->n_ranks;
    machine->ranks_per_node = options->ranks_per_node;
    machine->bounds = ccs_bounds_new(machine->communicator);
    return g_steal_pointer(&machine);
}

CcsMachine *ccs_machine_scale(const CcsMachine *machine, int64_t change)
{
    CcsMachine *scaled = g_new0(CcsMachine, 1);

    scaled->topology = ccs_topology_scale(machine->topology, change);
    scaled->n_ranks = machine->n_ranks;
    scaled->ranks_per_node = machine->ranks_per_node;
    scaled->transport = machine->transport;
    scaled->model = machine->model;
    scaled->communicator =
        ccs_communicator_new(scaled->topology, scaled->n_ranks, scaled->ranks_per_node, NULL);
    g_assert(scaled->communicator != NULL); /* as many GPUs as before */
    return scaled;
}

void ccs_machine_free(CcsMachine *machine)
{
    if (machine == NULL)
        return;
    ccs_bounds_free(machine->bounds);
    ccs_communicator_free(machine->communicator);
    ccs_topology_free(machine->topology);
    g_clear_pointer(&machine->params, g_ptr_array_unref);
    g_free(machine);
}
