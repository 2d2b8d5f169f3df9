/* route.h - the way from one vertex to another
 *
 * A route is the shortest by number of links that passes through no GPU; a NIC passes data
 * only between its node and the fabric. Among equally short ones the destination decides
 * (destination modulo the number of choices, as InfiniBand's D-mod-K routing does), so that
 * shifts of ranks spread over all spines. Cost: the vertices near both ends are searched,
 * never the whole machine. */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "topology/topology.h"

typedef struct CcsRouter CcsRouter;

/* ccs_router_new: keeps @topology, which must be sealed and outlive the router. */
CcsRouter *ccs_router_new(const CcsTopology *topology);
void ccs_router_free(CcsRouter *router);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsRouter, ccs_router_free)

/* ccs_router_append:
 * Appends the links of the route in order of travel to @links (of CcsLinkId); nothing if
 * @from is @to.
 *
 * Returns: false with CCS_ERROR_INPUT if no path exists; @links is then as before. */
bool ccs_router_append(CcsRouter *router, CcsVertexId from, CcsVertexId to, GArray *links,
                       GError **error);
