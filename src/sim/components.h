/* components.h - which vertices of a graph can reach one another, and in which order they come
 *
 * Strongly connected components (Tarjan 1972), without recursion. */
#pragma once

#include <stdint.h>

#include <glib.h>

#include "sim/refine.h"

typedef struct {
    uint32_t n;
    uint32_t *first;   /* by component, and one more: its members are at members[first[c]] ... */
    uint32_t *members; /* of each component in ascending order */
    uint32_t *of;      /* by vertex: its component */
} CcsComponents;

/* ccs_components_find:
 * Colours and labels of @graph have no effect.
 *
 * Returns: (transfer full): components in an order in which every arc leads to the same or a
 * later one. */
CcsComponents *ccs_components_find(const CcsArcGraph *graph);
void ccs_components_free(CcsComponents *components);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsComponents, ccs_components_free)
