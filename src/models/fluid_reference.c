/* fluid_reference.c - flows share links max-min fairly and change rate at once
 *
 * The plain form: whenever a flow starts or ends, every rate is computed anew from nothing.
 * Faster forms must give the same bits. */
#include "models/maxmin.h"
#include "models/network_model.h"

typedef struct {
    CcsMaxminFlow share;
    CcsBytes bytes;
    CcsWork left;
    CcsTime ends; /* CCS_TIME_MAX until the flow has a rate */
} Flow;

typedef struct {
    uint32_t n_flows; /* that use it now */
    CcsTime since;    /* when the first of them came */
} Presence;

struct CcsNetwork {
    CcsMaxmin *solver;
    Flow *flows;     /* by slot */
    GArray *active;  /* of uint32_t: slots in the order of their starts */
    GArray *ended;   /* of uint32_t */
    GArray *shares;  /* of CcsMaxminFlow: those of active, while being solved */
    CcsTime settled; /* when the rates were last computed */
    CcsLinkUse *use; /* by link */
    Presence *presence;
};

static CcsNetwork *create(const CcsTopology *topology, uint32_t n_slots)
{
    CcsNetwork *network = g_new0(CcsNetwork, 1);
    uint32_t n_links = ccs_topology_n_links(topology);

    network->solver = ccs_maxmin_new(topology);
    network->flows = g_new0(Flow, n_slots + 1);
    network->active = g_array_new(false, false, sizeof(uint32_t));
    network->ended = g_array_new(false, false, sizeof(uint32_t));
    network->shares = g_array_new(false, false, sizeof(CcsMaxminFlow));
    network->use = g_new0(CcsLinkUse, n_links + 1);
    network->presence = g_new0(Presence, n_links + 1);
    return network;
}

static void destroy(CcsNetwork *network)
{
    if (network == NULL)
        return;
    ccs_maxmin_free(network->solver);
    g_free(network->flows);
    g_array_unref(network->active);
    g_array_unref(network->ended);
    g_array_unref(network->shares);
    g_free(network->use);
    g_free(network->presence);
    g_free(network);
}

static void start(CcsNetwork *network, CcsTime now, const CcsFlowStart *starts, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const CcsFlowStart *from = &starts[i];
        Flow *flow = &network->flows[from->slot];
        *flow = (Flow){
            .share = {.links = from->links, .weights = from->weights, .n_links = from->n_links},
            .bytes = from->bytes,
            .left = (CcsWork)from->bytes * CCS_WORK_PER_BYTE,
            .ends = CCS_TIME_MAX};
        g_array_append_val(network->active, from->slot);
        for (uint32_t j = 0; j < from->n_links; j++) {
            Presence *presence = &network->presence[from->links[j]];
            if (presence->n_flows++ == 0)
                presence->since = now;
        }
    }
}

/* Takes off what each flow has moved since the rates were computed. */
static void advance(CcsNetwork *network, CcsTime now)
{
    CcsTime elapsed = now - network->settled;

    for (guint i = 0; i < network->active->len; i++) {
        Flow *flow = &network->flows[g_array_index(network->active, uint32_t, i)];
        CcsWork moved = (CcsWork)flow->share.rate * (CcsWork)elapsed;
        flow->left = moved < flow->left ? flow->left - moved : 0;
    }
    network->settled = now;
}

static void note_peaks(CcsNetwork *network)
{
    uint32_t n_used = 0;
    const CcsLinkId *used = ccs_maxmin_used_links(network->solver, &n_used);

    for (uint32_t i = 0; i < n_used; i++) {
        CcsLinkUse *use = &network->use[used[i]];
        use->peak = MAX(use->peak, ccs_maxmin_allocated(network->solver, used[i]));
    }
}

/* A share may round down to nothing; such a flow does not end. */
static CcsTime end_of(const Flow *flow, CcsTime now)
{
    return flow->share.rate == 0 ? CCS_TIME_MAX : now + ccs_work_time(flow->left, flow->share.rate);
}

static CcsTime settle(CcsNetwork *network, CcsTime now)
{
    CcsTime first = CCS_TIME_MAX;

    advance(network, now);
    g_array_set_size(network->shares, 0);
    for (guint i = 0; i < network->active->len; i++) {
        const Flow *flow = &network->flows[g_array_index(network->active, uint32_t, i)];
        g_array_append_val(network->shares, flow->share);
    }
    ccs_maxmin_solve(network->solver, (CcsMaxminFlow *)(void *)network->shares->data,
                     network->shares->len);
    for (guint i = 0; i < network->active->len; i++) {
        Flow *flow = &network->flows[g_array_index(network->active, uint32_t, i)];
        CcsRate before = flow->share.rate;
        flow->share = g_array_index(network->shares, CcsMaxminFlow, i);
        if (flow->share.rate != before)
            flow->ends = end_of(flow, now);
        first = MIN(first, flow->ends);
    }
    note_peaks(network);
    return first;
}

static void leave_links(CcsNetwork *network, const Flow *flow, CcsTime now)
{
    for (uint32_t j = 0; j < flow->share.n_links; j++) {
        CcsLinkId link = flow->share.links[j];
        Presence *presence = &network->presence[link];
        CcsLinkUse *use = &network->use[link];
        use->bytes += flow->bytes * ccs_flow_weight(flow->share.weights, j);
        use->messages += ccs_flow_weight(flow->share.weights, j);
        if (--presence->n_flows == 0)
            use->busy += now - presence->since;
    }
}

static const uint32_t *take_ended(CcsNetwork *network, CcsTime now, uint32_t *ret_n)
{
    guint n_kept = 0;

    g_array_set_size(network->ended, 0);
    for (guint i = 0; i < network->active->len; i++) {
        uint32_t slot = g_array_index(network->active, uint32_t, i);
        const Flow *flow = &network->flows[slot];
        if (flow->ends <= now) {
            leave_links(network, flow, now);
            g_array_append_val(network->ended, slot);
            continue;
        }
        g_array_index(network->active, uint32_t, n_kept++) = slot;
    }
    g_array_set_size(network->active, n_kept);
    *ret_n = network->ended->len;
    return (const uint32_t *)(const void *)network->ended->data;
}

static CcsLinkId limit(const CcsNetwork *network, uint32_t slot)
{
    return network->flows[slot].share.limit;
}

static const CcsLinkUse *link_use(CcsNetwork *network)
{
    return network->use;
}

const CcsNetworkModel ccs_model_fluid_reference = {
    .name = "fluid",
    .engine = "reference",
    .plain = "reference",
    .summary = "max-min fair sharing of directed links, cut-through; computes every rate anew",
    .shares_links = true,
    .create = create,
    .destroy = destroy,
    .start = start,
    .settle = settle,
    .take_ended = take_ended,
    .limit = limit,
    .link_use = link_use,
};
