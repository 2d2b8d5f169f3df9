/* spec.h - what a topology file says, as plain structs
 *
 * Two forms mix freely: a generator (`nodes`, `node`, `fabric`) and explicit parts
 * (`vertices`, `links`). topologies/reference.yaml explains every key. All memory belongs
 * to the CcsConfig that was decoded. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "config/config.h"
#include "config/field.h"
#include "topology/topology.h"

typedef enum {
    CCS_NVLINK_NONE,
    CCS_NVLINK_SWITCH, /* every GPU has one link each way to a switch that never limits */
    CCS_NVLINK_MESH,   /* every pair of GPUs has one link each way */
} CcsNvlinkKind;

typedef struct {
    CcsNvlinkKind kind;
    CcsRate bandwidth; /* per GPU and direction, or per pair and direction in a mesh */
    CcsTime latency;   /* GPU to GPU */
} CcsNvlinkSpec;

typedef struct {
    uint32_t count;
    CcsRate bandwidth; /* NIC to fabric, each way */
    CcsTime latency;
    CcsList gpus; /* per NIC a CcsList of uint32_t: the GPUs it serves; empty: as usual */
} CcsNicsSpec;

typedef struct {
    CcsRate bandwidth; /* GPU to NIC, each way */
    CcsTime latency;
} CcsPcieSpec;

typedef struct {
    uint32_t n_gpus;
    const CcsNvlinkSpec *nvlink; /* NULL: none */
    const CcsNicsSpec *nics;     /* NULL: none */
    const CcsPcieSpec *pcie;     /* NULL: never limits, no latency */
} CcsNodeSpec;

typedef enum {
    CCS_FABRIC_SWITCH,     /* one switch that never limits */
    CCS_FABRIC_LEAF_SPINE, /* NICs on leaves, every leaf joined to every spine */
} CcsFabricKind;

typedef struct {
    CcsFabricKind kind;
    CcsTime latency; /* of a link between leaf and spine */
    bool is_rail_optimized;
    uint32_t n_ports; /* NICs on one leaf; 0: all of a rail */
    uint32_t n_spines;
    uint64_t oversubscription; /* millionths */
    CcsRoutingKind routing;
    uint32_t seed; /* of ecmp */
} CcsFabricSpec;

typedef struct {
    const char *name;
    CcsVertexKind kind;
    CcsNodeId node;
} CcsVertexSpec;

typedef struct {
    const char *from;
    const char *to;
    CcsRate bandwidth;
    CcsTime latency;
    const char *link_class;
    bool is_both_ways;
} CcsLinkSpec;

/* Something that is worse than it should be: a link, or a GPU that comes late. */
typedef enum { CCS_FAULT_LINK, CCS_FAULT_LATE_GPU } CcsFaultKind;

typedef struct {
    CcsFaultKind kind;
    const char *from; /* of the links that it strikes */
    const char *to;
    bool is_both_ways;
    uint64_t bandwidth_factor; /* millionths */
    uint64_t latency_factor;   /* millionths */
    const char *gpu;
    CcsTime delay;
} CcsFaultSpec;

typedef struct {
    const char *name; /* NULL if not said */
    const char *description;
    uint32_t n_nodes;            /* 0 if not said or listed */
    CcsList nodes;               /* CcsNodeSpec; empty unless listed */
    const CcsNodeSpec *node;     /* NULL if not said or listed */
    const CcsFabricSpec *fabric; /* NULL: none */
    CcsList vertices;            /* CcsVertexSpec */
    CcsList links;               /* CcsLinkSpec */
    CcsList faults;              /* CcsFaultSpec */
} CcsTopologySpec;

/* The keys of a topology file; decodes to a CcsTopologySpec. */
extern const CcsFieldTable ccs_topology_table;

/* The nodes of the generator, listed or counted. */
uint32_t ccs_spec_n_nodes(const CcsTopologySpec *spec);
const CcsNodeSpec *ccs_spec_node(const CcsTopologySpec *spec, uint32_t node);
uint32_t ccs_spec_n_nics(const CcsNodeSpec *node);

/* ccs_spec_nic_gpus: the GPUs [@ret_first, @ret_first + @ret_n) that NIC @nic of a node serves
 * unless the node says otherwise: its share of the GPUs in order. */
void ccs_spec_nic_gpus(const CcsNodeSpec *node, uint32_t nic, uint32_t *ret_first, uint32_t *ret_n);

#define CCS_TOPOLOGY_MAX_PARTS 4000000U /* vertices, or links */

/* ccs_spec_check: adds what the table cannot say to the errors of @config, among them a
 * topology beyond CCS_TOPOLOGY_MAX_PARTS (leaves and spines left out). */
void ccs_spec_check(const CcsTopologySpec *spec, CcsConfig *config);
