/* reduce_binomial.c - pairs of ranks add up their buffers, then pairs of pairs, up to the root
 *
 * The tree of broadcast_binomial.c backwards. A rank takes those below it one after the
 * other, as blocking receives do: the next one may send when the one before has arrived. */
#include "collectives/algorithm.h"
#include "collectives/binomial.h"
#include "collectives/order.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    uint32_t n_rounds = ccs_binomial_rounds(n_ranks);

    (void)n_chunks;
    *ret_terms = (CcsTerms){
        .latencies = n_rounds, .costs = n_rounds, .sizes = n_rounds, .reductions = n_rounds};
    return true;
}

static void add_channel(CcsSchedule *schedule, uint32_t channel, uint32_t phase)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    g_autoptr(GArray) edges = ccs_binomial_edges(n);
    g_autofree CcsRank *order = ccs_chain_order(schedule, channel);
    g_autofree CcsLaneId *latest = g_new(CcsLaneId, n); /* by position: the last to arrive there */

    for (uint32_t i = 0; i < n; i++)
        latest[i] = CCS_NO_LANE;
    for (guint i = edges->len; i-- > 0;) {
        const CcsBinomialEdge *edge = &g_array_index(edges, CcsBinomialEdge, i);
        CcsRank source = order[edge->lower];
        CcsRank peer = order[edge->upper];
        CcsLaneId lane = ccs_schedule_add_lane(
            schedule, &(CcsLane){.source = source,
                                 .peer = peer,
                                 .channel = channel,
                                 .phase = phase,
                                 .n_messages = 1,
                                 .n_reduced = 1,
                                 .from = {.buffer = CCS_BUFFER_OUTPUT},
                                 .to = {.buffer = CCS_BUFFER_OUTPUT},
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
    uint32_t phase = ccs_schedule_add_phase(schedule, "reduce");

    (void)error;
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++)
        add_channel(schedule, channel, phase);
    return true;
}

const CcsAlgorithm ccs_reduce_binomial = {
    .collective = CCS_REDUCE,
    .name = "binomial",
    .summary = "the number of ranks whose sums are open halves each round",
    .idea = "Every second rank sends its whole buffer to the one before it, which adds it; then "
            "every second of those that are left, and so on. After log2 n rounds the root has the "
            "sum.",
    .when = "For small buffers, where the number of messages one after the other is what counts.",
    .formula = "ceil(log2 n) (a + o + S/B + S/G)",
    .assumption = "A rank takes those below it one after the other, the next when the one before "
                  "has been added (Thakur et al. 2005).",
    .terms = terms,
    .build = build,
};
