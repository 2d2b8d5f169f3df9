/* loggp.c - every flow has the whole of its links, as if it were alone
 *
 * What LogGP (Alexandrov et al. 1995) and alpha-beta formulas take for granted: a message of S
 * bytes takes S over the least bandwidth on its way, whoever else is under way there. Beside
 * `fluid` it shows what sharing costs. A link may so carry more than its bandwidth, and a
 * collective may beat the lower bounds of the topology. */
#include "engine/heap.h"
#include "models/network_model.h"

typedef struct {
    CcsFlowStart start;
    CcsRate rate;
    CcsLinkId limit;
    uint64_t number; /* in the order of the starts */
} Flow;

typedef struct {
    CcsWork taken;    /* by the flows that use it now */
    uint32_t n_flows; /* that use it now */
    CcsTime since;    /* when the first of them came */
} Load;

struct CcsNetwork {
    const CcsTopology *topology;
    Flow *flows;     /* by slot */
    Load *loads;     /* by link */
    CcsLinkUse *use; /* by link */
    CcsHeap *ends;   /* slots by the time when their flows end */
    GArray *ended;   /* of uint32_t */
    uint64_t n_started;
};

static CcsNetwork *create(const CcsTopology *topology, uint32_t n_slots)
{
    CcsNetwork *network = g_new0(CcsNetwork, 1);
    size_t n_links = (size_t)ccs_topology_n_links(topology) + 1;

    network->topology = topology;
    network->flows = g_new0(Flow, (size_t)n_slots + 1);
    network->loads = g_new0(Load, n_links);
    network->use = g_new0(CcsLinkUse, n_links);
    network->ends = ccs_heap_new(n_slots);
    network->ended = g_array_new(false, false, sizeof(uint32_t));
    return network;
}

static void destroy(CcsNetwork *network)
{
    if (network == NULL)
        return;
    g_free(network->flows);
    g_free(network->loads);
    g_free(network->use);
    ccs_heap_free(network->ends);
    g_array_unref(network->ended);
    g_free(network);
}

/* Of several links with the least bandwidth the first by number limits the flow. */
static void find_rate(const CcsNetwork *network, Flow *flow)
{
    flow->rate = CCS_RATE_UNLIMITED;
    flow->limit = CCS_NO_LINK;
    for (uint32_t j = 0; j < flow->start.n_links; j++) {
        CcsLinkId link = flow->start.links[j];
        CcsRate bandwidth = ccs_topology_link(network->topology, link)->bandwidth;
        if (bandwidth < flow->rate)
            flow->limit = link;
        else if (bandwidth == flow->rate && flow->limit != CCS_NO_LINK)
            flow->limit = MIN(flow->limit, link);
        flow->rate = MIN(flow->rate, bandwidth);
    }
}

static void enter_link(CcsNetwork *network, CcsLinkId link, CcsWork rate, CcsTime now)
{
    Load *load = &network->loads[link];
    CcsLinkUse *use = &network->use[link];

    if (load->n_flows++ == 0)
        load->since = now;
    load->taken += rate;
    if (ccs_topology_link(network->topology, link)->bandwidth < CCS_RATE_UNLIMITED)
        use->peak = MAX(use->peak, (CcsRate)MIN(load->taken, (CcsWork)CCS_RATE_UNLIMITED));
}

static void start(CcsNetwork *network, CcsTime now, const CcsFlowStart *starts, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        Flow *flow = &network->flows[starts[i].slot];
        *flow = (Flow){.start = starts[i], .number = network->n_started++};
        find_rate(network, flow);
        for (uint32_t j = 0; j < flow->start.n_links; j++)
            enter_link(network, flow->start.links[j],
                       (CcsWork)flow->rate * ccs_flow_weight(starts[i].weights, j), now);
        ccs_heap_set(network->ends, starts[i].slot,
                     now + ccs_time_to_move(flow->start.bytes, flow->rate));
    }
}

static CcsTime settle(CcsNetwork *network, CcsTime now)
{
    (void)now;
    return ccs_heap_is_empty(network->ends) ? CCS_TIME_MAX : ccs_heap_least(network->ends);
}

static void leave_links(CcsNetwork *network, const Flow *flow, CcsTime now)
{
    for (uint32_t j = 0; j < flow->start.n_links; j++) {
        Load *load = &network->loads[flow->start.links[j]];
        CcsLinkUse *use = &network->use[flow->start.links[j]];
        uint64_t weight = ccs_flow_weight(flow->start.weights, j);
        use->bytes += flow->start.bytes * weight;
        use->messages += weight;
        load->taken -= (CcsWork)flow->rate * weight;
        if (--load->n_flows == 0)
            use->busy += now - load->since;
    }
}

static int compare_starts(const void *a, const void *b, void *data)
{
    const CcsNetwork *network = data;
    uint64_t first = network->flows[*(const uint32_t *)a].number;
    uint64_t second = network->flows[*(const uint32_t *)b].number;

    return first < second ? -1 : first > second ? 1 : 0;
}

static const uint32_t *take_ended(CcsNetwork *network, CcsTime now, uint32_t *ret_n)
{
    g_array_set_size(network->ended, 0);
    while (!ccs_heap_is_empty(network->ends) && ccs_heap_least(network->ends) <= now) {
        uint32_t slot = ccs_heap_take(network->ends);
        g_array_append_val(network->ended, slot);
        leave_links(network, &network->flows[slot], now);
    }
    g_array_sort_with_data(network->ended, compare_starts, network);
    *ret_n = network->ended->len;
    return (const uint32_t *)(const void *)network->ended->data;
}

static CcsLinkId limit(const CcsNetwork *network, uint32_t slot)
{
    return network->flows[slot].limit;
}

static const CcsLinkUse *link_use(CcsNetwork *network)
{
    return network->use;
}

const CcsNetworkModel ccs_model_loggp = {
    .name = "loggp",
    .engine = "auto",
    .plain = "plain",
    .summary = "no sharing: every message has the least bandwidth on its way to itself",
    .tier = CCS_TIER_AUTO,
    .create = create,
    .destroy = destroy,
    .start = start,
    .settle = settle,
    .take_ended = take_ended,
    .limit = limit,
    .link_use = link_use,
};
