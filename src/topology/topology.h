/* topology.h - the machine: vertices (GPUs, NICs, switches) joined by one-way links
 *
 * A topology is filled by ccs_topology_add_*(), closed by ccs_topology_seal(), and then
 * never changes, so every other part may keep a const pointer to it. Ids are dense:
 * 0 ... count - 1, in the order of adding.
 *
 * A GPU and a NIC belong to a node (a server); a fabric switch belongs to none. A NIC
 * serves the GPUs that have a link to it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/units.h"

typedef uint32_t CcsVertexId;
typedef uint32_t CcsLinkId;
typedef uint32_t CcsNodeId;

#define CCS_NO_VERTEX UINT32_MAX
#define CCS_NO_LINK   UINT32_MAX
#define CCS_NO_NODE   UINT32_MAX

typedef enum {
    CCS_VERTEX_GPU,
    CCS_VERTEX_NIC,
    CCS_VERTEX_NVSWITCH, /* joins the GPUs of one node */
    CCS_VERTEX_SWITCH,   /* of the fabric */
    CCS_VERTEX_HOST,     /* a CPU or PCIe switch inside a node */
} CcsVertexKind;

const char *ccs_vertex_kind_name(CcsVertexKind kind); /* as in YAML: "gpu", "nic", ... */

typedef struct {
    const char *name; /* unique; owned by the topology */
    CcsVertexKind kind;
    CcsNodeId node;      /* CCS_NO_NODE for a fabric switch */
    CcsTime start_delay; /* of a GPU: so long after the others it may send its first message */
} CcsVertex;

/* A one-way link. A full-duplex cable is two of them. */
typedef struct {
    CcsVertexId from;
    CcsVertexId to;
    CcsTime alpha;       /* latency of an empty message; at least 0 */
    CcsRate bandwidth;   /* in this direction; above 0; may be CCS_RATE_UNLIMITED */
    uint32_t link_class; /* index for ccs_topology_class_name() */
} CcsLink;

typedef struct CcsTopology CcsTopology;

/* ccs_topology_new: @name and @source (the YAML text, for the record) are copied. */
CcsTopology *ccs_topology_new(const char *name, const char *source);
void ccs_topology_free(CcsTopology *topology);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsTopology, ccs_topology_free)

CcsVertexId ccs_topology_add_vertex(CcsTopology *topology, CcsVertexKind kind, const char *name,
                                    CcsNodeId node);
CcsLinkId ccs_topology_add_link(CcsTopology *topology, CcsVertexId from, CcsVertexId to,
                                CcsTime alpha, CcsRate bandwidth, const char *link_class);

/* What a fault changes, before sealing. */
void ccs_topology_change_link(CcsTopology *topology, CcsLinkId id, CcsTime alpha,
                              CcsRate bandwidth);
void ccs_topology_delay_start(CcsTopology *topology, CcsVertexId gpu, CcsTime delay);

/* Which of several shortest ways a message takes. */
typedef enum {
    CCS_ROUTING_DESTINATION, /* by the destination's port, so that shifts of ranks spread */
    CCS_ROUTING_ECMP,        /* by a hash of source and destination, as routers do with flows */
} CcsRoutingKind;

typedef struct {
    CcsRoutingKind kind;
    uint32_t seed; /* of the hash */
} CcsRouting;

void ccs_topology_set_routing(CcsTopology *topology, CcsRouting routing);
CcsRouting ccs_topology_routing(const CcsTopology *topology);

void ccs_topology_seal(CcsTopology *topology);

const char *ccs_topology_name(const CcsTopology *topology);
const char *ccs_topology_source(const CcsTopology *topology);

uint32_t ccs_topology_n_vertices(const CcsTopology *topology);
const CcsVertex *ccs_topology_vertex(const CcsTopology *topology, CcsVertexId id);
CcsVertexId ccs_topology_find_vertex(const CcsTopology *topology, const char *name);

uint32_t ccs_topology_n_links(const CcsTopology *topology);
const CcsLink *ccs_topology_link(const CcsTopology *topology, CcsLinkId id);
/* Returns: (transfer full): "n0.gpu0->n0.nvswitch"; with "#2" for a second parallel link. */
char *ccs_topology_link_name(const CcsTopology *topology, CcsLinkId id);

/* Link classes ("nvlink", "pcie", "nic", "leaf-spine", or what an explicit link says), in
 * the order of first use. */
uint32_t ccs_topology_n_classes(const CcsTopology *topology);
const char *ccs_topology_class_name(const CcsTopology *topology, uint32_t link_class);

/* After sealing: the links out of (into) a vertex in ascending order, nodes in ascending
 * order, GPUs of a node and NICs of a GPU or node in the order of adding. The arrays are
 * owned by the topology. */
const CcsLinkId *ccs_topology_links_out(const CcsTopology *topology, CcsVertexId id,
                                        uint32_t *ret_n);
const CcsLinkId *ccs_topology_links_in(const CcsTopology *topology, CcsVertexId id,
                                       uint32_t *ret_n);
uint32_t ccs_topology_n_nodes(const CcsTopology *topology);
uint32_t ccs_topology_n_gpus(const CcsTopology *topology);
const CcsVertexId *ccs_topology_node_gpus(const CcsTopology *topology, CcsNodeId node,
                                          uint32_t *ret_n);
const CcsVertexId *ccs_topology_node_nics(const CcsTopology *topology, CcsNodeId node,
                                          uint32_t *ret_n);
const CcsVertexId *ccs_topology_gpu_nics(const CcsTopology *topology, CcsVertexId gpu,
                                         uint32_t *ret_n);
