/* machine.h - a topology and the part of it that a job takes, as the user asks for them */
#pragma once

#include <glib.h>

#include "collectives/transport.h"
#include "models/network_model.h"
#include "sim/bound.h"
#include "topology/communicator.h"

typedef struct {
    const char *topology;         /* file or name */
    const char *transport;        /* file or name; NULL: ideal */
    const char *model;            /* NULL: fluid */
    const char *engine;           /* NULL: auto */
    const char *const *overrides; /* of --set, NULL-terminated; NULL: none */
    uint32_t n_nodes;             /* 0: as the file says */
    uint32_t n_ranks;             /* 0: all */
    uint32_t ranks_per_node;      /* 0: all */
} CcsMachineOptions;

/* All of it is owned by the machine. */
typedef struct {
    CcsTopology *topology;
    CcsCommunicator *communicator;
    uint32_t n_ranks;        /* as asked for; 0: all */
    uint32_t ranks_per_node; /* likewise */
    CcsBounds *bounds;
    CcsTransport transport;
    const CcsNetworkModel *model;
    GPtrArray *params; /* of CcsParam: every value and where it comes from */
} CcsMachine;

/* ccs_machine_new:
 * Loads what @options name. Overrides that begin with "transport." go to the transport, all
 * others to the topology.
 *
 * Returns: (transfer full), or NULL with the error of whatever could not be had. */
CcsMachine *ccs_machine_new(const CcsMachineOptions *options, GError **error);

/* ccs_machine_scale:
 * The same machine with all bandwidths changed by @change as in ccs_topology_scale(). It has no
 * bounds and no params.
 *
 * Returns: (transfer full). */
CcsMachine *ccs_machine_scale(const CcsMachine *machine, int64_t change);
void ccs_machine_free(CcsMachine *machine);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsMachine, ccs_machine_free)
