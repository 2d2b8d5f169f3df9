/* topology_yaml.h - topology files
 *
 * topologies/reference.yaml explains every key; spec.h has the tables behind them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "topology/topology.h"

/* What a command line changes in a topology file. */
typedef struct {
    const char *const *overrides; /* "PATH=VALUE" of --set, NULL-terminated; NULL: none */
    uint32_t n_nodes;             /* of --nodes: how many the generator makes, or how many of the
                                     listed ones count; 0: as the file says */
} CcsTopologyOptions;

/* ccs_topology_load:
 * Reads a topology from a file, from standard input ("-") or from a built-in file by its bare
 * name ("dgx-h100"). @options may be NULL. @ret_params takes the values that were read and
 * where they come from (element-type CcsParam, config.h); it may be NULL.
 *
 * Returns: (transfer full): sealed; NULL with CCS_ERROR_IO if the file cannot be read, or with
 * CCS_ERROR_INPUT, whose message has up to 20 errors with their places. */
CcsTopology *ccs_topology_load(const char *file_or_name, const CcsTopologyOptions *options,
                               GPtrArray **ret_params, GError **error);

/* ccs_topology_read: the same from a text in memory, which messages call @label. */
CcsTopology *ccs_topology_read(const char *label, const char *text, size_t n_bytes,
                               const CcsTopologyOptions *options, GPtrArray **ret_params,
                               GError **error);

/* ccs_topology_schema: the JSON Schema of topology files. Returns: (transfer full). */
char *ccs_topology_schema(void);
