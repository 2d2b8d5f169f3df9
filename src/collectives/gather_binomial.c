/* gather_binomial.c - blocks are gathered in subtrees that grow until the root has all
 *
 * The scatter of binomial.h backwards: a rank waits until it has the blocks of its whole
 * subtree, and sends them on in one message. A rank takes those below it one after the
 * other, as blocking receives do: the next one may send when the one before has arrived. */
#include "collectives/algorithm.h"
#include "collectives/binomial.h"
#include "collectives/order.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    uint32_t n_rounds = ccs_binomial_rounds(n_ranks);

    (void)n_chunks;
    *ret_terms =
        (CcsTerms){.latencies = n_rounds, .costs = n_rounds, .sizes = (n_ranks - 1.0) / n_ranks};
    return true;
}

static void add_channel(CcsSchedule *schedule, uint32_t channel, uint32_t phase)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    g_autoptr(GArray) edges = ccs_binomial_edges(n);
    g_autofree CcsRank *order = ccs_chain_order(schedule, channel);
    g_autofree CcsLaneId *latest = g_new(CcsLaneId, n); /* by position: the last to arrive there */

    ccs_schedule_set_owners(schedule, channel, order);
    for (uint32_t i = 0; i < n; i++)
        latest[i] = CCS_NO_LANE;
    for (guint i = edges->len; i-- > 0;) {
        const CcsBinomialEdge *edge = &g_array_index(edges, CcsBinomialEdge, i);
        CcsRank source = order[edge->lower];
        CcsRank peer = order[edge->upper];
        CcsBox box = {
            .buffer = CCS_BUFFER_OUTPUT, .base = edge->lower, .n1 = edge->n_below, .stride1 = 1};
        CcsLaneId lane = ccs_schedule_add_lane(
            schedule, &(CcsLane){.source = source,
                                 .peer = peer,
                                 .channel = channel,
                                 .phase = phase,
                                 .n_messages = 1,
                                 .from = box,
                                 .to = box,
                                 .path = ccs_schedule_path(schedule, source, peer, channel)});
        if (latest[edge->lower] != CCS_NO_LANE)
            ccs_schedule_gate(schedule, lane, latest[edge->lower]);
        if (latest[edge->upper] != CCS_NO_LANE)
            ccs_schedule_gate(schedule, lane, latest[edge->upper]);
        latest[edge->upper] = lane;
    }
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t phase = ccs_schedule_add_phase(schedule, "gather");

    (void)error;
    ccs_schedule_set_n_chunks(schedule, ccs_schedule_n_ranks(schedule));
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++)
        add_channel(schedule, channel, phase);
    return true;
}

const CcsAlgorithm ccs_gather_binomial = {
    .collective = CCS_GATHER,
    .name = "binomial",
    .summary = "subtrees of ranks send their blocks together",
    .idea = "Pairs of ranks put their blocks together, then pairs of pairs, and so on. After "
            "log2 n rounds the root has all blocks, and got them in log2 n messages.",
    .when = "For small blocks: the root receives log2 n messages in place of n - 1.",
    .formula = "ceil(log2 n) (a + o) + (n-1)/n S/B",
    .assumption = "A rank takes those below it one after the other, the next when the one before "
                  "has arrived (Thakur et al. 2005).",
    .terms = terms,
    .build = build,
};
