/* search.h - all shortest ways between two places of a topology
 *
 * Two waves of search go towards one another, so that the vertices near both ends are looked at,
 * never the whole machine. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "topology/topology.h"

/* A place of a search is a vertex and, for a NIC, the side it was entered from: data that came
 * from the fabric may only go on into the node, data from the node only to the fabric. */
typedef uint32_t CcsState;

#define CCS_FROM_NODE   0U
#define CCS_FROM_FABRIC 1U

static inline CcsState ccs_state_of(CcsVertexId vertex, uint32_t side)
{
    return vertex * 2 + side;
}

/* A link that may be taken next, and the `n` branches after it, from `first` on. */
typedef struct {
    CcsLinkId link;
    uint32_t first;
    uint32_t n;
} CcsBranch;

/* All shortest ways from one state to another: `length` links, the first of them one of the first
 * `n` branches, each next one any of those after it. They come by the number of the link. */
typedef struct {
    uint32_t length;
    uint32_t n;
    uint32_t n_branches;
    CcsBranch branches[];
} CcsWays;

typedef struct CcsSearch CcsSearch;

/* ccs_search_new: keeps @topology, which must be sealed and outlive the search. */
CcsSearch *ccs_search_new(const CcsTopology *topology);
void ccs_search_free(CcsSearch *search);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsSearch, ccs_search_free)

/* Returns: (transfer full): to be given to g_free(); NULL if there is none. */
CcsWays *ccs_search_ways(CcsSearch *search, CcsState first, CcsState last);

/* Part of the fabric or a way to it. */
bool ccs_is_fabric(CcsVertexKind kind);

/* ccs_search_step: the state in which @link leaves a traveller that was in state @at, if he may
 * take it. */
bool ccs_search_step(const CcsTopology *topology, CcsState at, const CcsLink *link,
                     CcsState *ret_to);

/* ccs_search_step_back: the state before @link that leads to @at, likewise. */
bool ccs_search_step_back(const CcsTopology *topology, CcsState at, const CcsLink *link,
                          CcsState *ret_from);
