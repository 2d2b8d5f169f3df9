/* scale.h - the same machine with all its links a hair faster or slower
 *
 * To find out whether a result hangs on the last digits of what was put in. */
#pragma once

#include <stdint.h>

#include "topology/topology.h"

/* Parts of a whole by which rates can be scaled. */
#define CCS_SCALE_ONE ((int64_t)1000000000000)

/* ccs_rate_scale:
 * @rate times 1 + @change / CCS_SCALE_ONE, to the nearest unit. It differs from @rate by one unit
 * at least, however slow that is, but stays above 0; what is unlimited stays so. */
CcsRate ccs_rate_scale(CcsRate rate, int64_t change);

/* ccs_topology_scale:
 * A copy of @topology, which must be sealed, with all bandwidths scaled by ccs_rate_scale(). Ids,
 * names, latencies, delays and routing are the same.
 *
 * Returns: (transfer full): sealed. */
CcsTopology *ccs_topology_scale(const CcsTopology *topology, int64_t change);
