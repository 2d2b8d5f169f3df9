/* bound.h - how fast a collective could be at best on a topology
 *
 * No schedule of point-to-point messages beats these, whatever its algorithm:
 *
 *   latency      some data must travel between the two ranks that are farthest apart: one
 *                message can do that, so there is no logarithm of n in it
 *   rank         what must leave or enter one rank, over its ports
 *   ranks        what all ranks together must send, over all their ports (Patarasuk and Yuan
 *                2009 for allreduce: 2 (n - 1) S)
 *   node, nodes  the same for nodes and their NICs
 *   leaf group, leaf groups
 *                the same for the nodes that reach each other without a spine
 *   rail         what must leave or enter the GPUs of one rail
 *   bisection    what must cross between two halves of the machine
 *
 * The sets are those of cuts.h. */
#pragma once

#include <glib.h>

#include "collectives/collective.h"
#include "collectives/transport.h"
#include "collectives/weights.h"
#include "topology/communicator.h"

typedef struct CcsBounds CcsBounds;

/* ccs_bounds_new: what the bounds need of @communicator, which it keeps. */
CcsBounds *ccs_bounds_new(const CcsCommunicator *communicator);
void ccs_bounds_free(CcsBounds *bounds);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsBounds, ccs_bounds_free)

typedef struct {
    CcsTime time;     /* launch included */
    const char *name; /* of the bound that binds, as above; "none" where there is nothing to do */
} CcsBound;

/* ccs_bounds_of:
 * The greatest of the bounds. @n_channels: a size that the ranks and channels do not divide
 * may leave one rank with so many bytes less. */
CcsBound ccs_bounds_of(const CcsBounds *bounds, CcsCollective collective, CcsRank root,
                       CcsBytes size, uint32_t n_channels, const CcsTransport *transport);

/* ccs_bounds_raise_by_weights:
 * Raises @bound, of an alltoallv, to what the blocks of @weights need to cross the border of
 * each of the sets. */
void ccs_bounds_raise_by_weights(const CcsBounds *bounds, const CcsWeights *weights, CcsBytes size,
                                 const CcsTransport *transport, CcsBound *bound);
