/* generate.h - makes the vertices and links that a topology file describes */
#pragma once

#include "config/config.h"
#include "topology/spec.h"
#include "topology/topology.h"

/* ccs_generate_nodes:
 * Adds nodes with their GPUs, NVLink, NICs and PCIe links. @spec has passed
 * ccs_spec_check(). */
void ccs_generate_nodes(CcsTopology *topology, const CcsTopologySpec *spec);

/* ccs_generate_fabric:
 * Joins the NICs of the generated nodes, if the file asks for a fabric. Errors (a fabric too
 * large, links between leaf and spine too fast or too slow to be written) go to @config. */
void ccs_generate_fabric(CcsTopology *topology, const CcsTopologySpec *spec, CcsConfig *config);

/* ccs_generate_explicit:
 * Adds the vertices and links that are listed. Errors (names that are taken or unknown,
 * nodes out of order) go to @config. */
void ccs_generate_explicit(CcsTopology *topology, const CcsTopologySpec *spec, CcsConfig *config);

/* ccs_generate_faults:
 * Makes links slower and GPUs late. Errors (names that are unknown, links that are not
 * there, a change without effect) go to @config. */
void ccs_generate_faults(CcsTopology *topology, const CcsTopologySpec *spec, CcsConfig *config);

/* ccs_generate_suggest: " (did you mean 'n0.gpu1'?)" for a vertex that is not there. Returns:
 * (transfer full). */
char *ccs_generate_suggest(const CcsTopology *topology, const char *name);

/* ccs_generate_both_ways: adds a link and the one that goes back. */
void ccs_generate_both_ways(CcsTopology *topology, const CcsLink *link, const char *link_class);

/* ccs_generate_find: a generated vertex, such as nic 3 of node 0: "n0.nic3". */
CcsVertexId ccs_generate_find(const CcsTopology *topology, CcsNodeId node, const char *part,
                              uint32_t index);
