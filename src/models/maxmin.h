/* maxmin.h - max-min fair rates of flows that share links, in integers
 *
 * Progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2): raise all rates
 * together until a link is full, freeze the flows on it, go on with the rest. With shares
 * rounded down and all links of one level frozen together, the result depends only on which
 * flows use which links, never on the order in which they are looked at. */
#pragma once

#include <stdint.h>

#include <glib.h>

#include "base/units.h"
#include "models/network_model.h"
#include "topology/topology.h"

typedef struct {
    const CcsLinkId *links;
    const uint32_t *weights; /* of each link: so many flows with this rate are on it; NULL: 1 */
    uint32_t n_links;
    CcsRate rate;    /* result */
    CcsLinkId limit; /* result: the full link on which no flow is faster; CCS_NO_LINK if
                        all links of the flow are unlimited */
} CcsMaxminFlow;

typedef struct CcsMaxmin CcsMaxmin;

/* ccs_maxmin_new: keeps @topology. */
CcsMaxmin *ccs_maxmin_new(const CcsTopology *topology);
void ccs_maxmin_free(CcsMaxmin *solver);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsMaxmin, ccs_maxmin_free)

typedef struct {
    CcsRate capacity; /* its bandwidth */
    CcsRate taken;    /* what flows have of it that are not being solved; 0 at first */
    uint32_t place;   /* the solver's own */
} CcsMaxminLink;

/* ccs_maxmin_links: by link; the solver reads what is taken, and leaves it as it is. */
CcsMaxminLink *ccs_maxmin_links(CcsMaxmin *solver);

/* ccs_maxmin_solve:
 * Sets rate and limit of each flow. Asserts that no link carries more than its bandwidth.
 * Cost: proportional to the links that the flows use, and log of it for each level. */
void ccs_maxmin_solve(CcsMaxmin *solver, CcsMaxminFlow *flows, uint32_t n_flows);

/* After solving: the limited links that some flow uses, and how much of each is taken. */
const CcsLinkId *ccs_maxmin_used_links(const CcsMaxmin *solver, uint32_t *ret_n);
CcsRate ccs_maxmin_allocated(const CcsMaxmin *solver, CcsLinkId link);

/* The rate of the flows that @link limits; CCS_RATE_UNLIMITED if it is not full. */
CcsRate ccs_maxmin_level(const CcsMaxmin *solver, CcsLinkId link);
