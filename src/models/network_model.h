/* network_model.h - a model turns messages on links into time
 *
 * A model holds the flows that are being injected, one at most per slot (the number of a
 * lane), and says when the next of them ends. The simulation hands it all that starts at
 * one moment, asks it once to settle, and so on: rates never change inside a moment. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "topology/topology.h"

typedef struct {
    uint32_t slot;
    uint32_t n_links;        /* above 0 */
    const CcsLinkId *links;  /* used at one rate; valid until the flow ends */
    const uint32_t *weights; /* of each link: so many equal flows are meant on it; NULL: 1 */
    CcsBytes bytes;          /* above 0 */
    bool keeps_links;        /* all flows of the slot have these links and weights, which last as
                                long as the network: so they need not be counted one by one */
} CcsFlowStart;

/* ccs_flow_weight: how many flows the one with these weights stands for on its link @index. */
static inline uint64_t ccs_flow_weight(const uint32_t *weights, uint32_t index)
{
    return weights == NULL ? 1 : weights[index];
}

typedef struct {
    CcsBytes bytes;
    uint64_t messages;
    CcsTime busy; /* time during which at least one flow used it; CCS_TIME_UNKNOWN where the
                     engine does not tell; peak has no meaning then */
    CcsRate peak; /* largest sum of rates */
} CcsLinkUse;

typedef struct CcsNetwork CcsNetwork;

/* How much of a schedule is played. */
typedef enum {
    CCS_TIER_PLAIN,    /* every message */
    CCS_TIER_AUTO,     /* as little as possible, where there is much to play */
    CCS_TIER_QUOTIENT, /* one of the lanes that are alike (sim/symmetry.h); else an error */
    CCS_TIER_SWEEP,    /* nothing: a recurrence is evaluated (sim/sweep.h); else an error */
} CcsTier;

typedef struct {
    const char *name;
    const char *engine; /* models of one name give the same bits, at different speed */
    const char *plain;  /* the name of the one that plays every message with these functions */
    const char *summary;
    CcsTier tier;
    bool shares_links; /* no link carries more than its bandwidth; without that the lower bounds
                          of a topology do not hold */
    CcsNetwork *(*create)(const CcsTopology *topology, uint32_t n_slots);
    void (*destroy)(CcsNetwork *network);
    void (*start)(CcsNetwork *network, CcsTime now, const CcsFlowStart *starts, uint32_t n);

    /* Gives every flow its rate from @now on. Returns: when the first of them ends;
     * CCS_TIME_MAX if there is none. */
    CcsTime (*settle)(CcsNetwork *network, CcsTime now);

    /* Ends the flows that end at @now. Returns: their slots in the order of their starts, valid
     * until the next call. */
    const uint32_t *(*take_ended)(CcsNetwork *network, CcsTime now, uint32_t *ret_n);

    /* The link that set the rate of the flow that was last in @slot; CCS_NO_LINK if none did. */
    CcsLinkId (*limit)(const CcsNetwork *network, uint32_t slot);

    /* What happened on each link so far. */
    const CcsLinkUse *(*link_use)(CcsNetwork *network);
} CcsNetworkModel;

/* All models; NULL ends the list. Each is one file and one line in models/meson.build. */
extern const CcsNetworkModel *const ccs_network_models[];

/* ccs_network_model_find:
 * @engine NULL or "auto" is the fastest, the first of the table.
 *
 * Returns: NULL with CCS_ERROR_USAGE and a hint if there is none of that name. */
const CcsNetworkModel *ccs_network_model_find(const char *name, const char *engine, GError **error);
