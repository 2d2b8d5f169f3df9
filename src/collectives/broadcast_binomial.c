/* broadcast_binomial.c - everyone who has the data sends it to one who has not
 *
 * Positions are counted from the root, and the distance halves each round (binomial.h). With
 * eight ranks:
 *
 *     0 -> 4;   0 -> 2, 4 -> 6;   0 -> 1, 2 -> 3, 4 -> 5, 6 -> 7 */
#include "collectives/algorithm.h"
#include "collectives/binomial.h"
#include "collectives/order.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    uint32_t n_rounds = ccs_binomial_rounds(n_ranks);

    (void)n_chunks;
    *ret_terms =
        (CcsTerms){.latencies = ccs_binomial_hops(n_ranks), .costs = n_rounds, .sizes = n_rounds};
    return true;
}

static void add_channel(CcsSchedule *schedule, uint32_t channel, uint32_t phase)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    g_autoptr(GArray) edges = ccs_binomial_edges(n);
    g_autofree CcsRank *order = ccs_chain_order(schedule, channel);
    g_autofree CcsLaneId *inbound = g_new(CcsLaneId, n); /* by position: brings the data */
    g_autofree CcsLaneId *last = g_new(CcsLaneId, n);    /* by position: sent last */

    for (uint32_t i = 0; i < n; i++)
        inbound[i] = last[i] = CCS_NO_LANE;
    for (guint i = 0; i < edges->len; i++) {
        const CcsBinomialEdge *edge = &g_array_index(edges, CcsBinomialEdge, i);
        CcsRank source = order[edge->upper];
        CcsRank peer = order[edge->lower];
        CcsLaneId lane = ccs_schedule_add_lane(
            schedule, &(CcsLane){.source = source,
                                 .peer = peer,
                                 .channel = channel,
                                 .phase = phase,
                                 .n_messages = 1,
                                 .from = {.buffer = CCS_BUFFER_OUTPUT},
                                 .to = {.buffer = CCS_BUFFER_OUTPUT},
                                 .path = ccs_schedule_path(schedule, source, peer, channel)});
        if (inbound[edge->upper] != CCS_NO_LANE)
            ccs_schedule_gate(schedule, lane, inbound[edge->upper]);
        if (last[edge->upper] != CCS_NO_LANE) /* one round after the other */
            ccs_schedule_gate_sent(schedule, lane, last[edge->upper]);
        inbound[edge->lower] = last[edge->upper] = lane;
    }
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t phase = ccs_schedule_add_phase(schedule, "broadcast");

    (void)error;
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++)
        add_channel(schedule, channel, phase);
    return true;
}

const CcsAlgorithm ccs_broadcast_binomial = {
    .collective = CCS_BROADCAST,
    .name = "binomial",
    .summary = "the number of ranks that have the data doubles each round",
    .idea = "The root sends the whole buffer to one rank, then both send it to one more each, "
            "and so on. After log2 n rounds every rank has it.",
    .when = "For small buffers, where the number of messages one after the other is what counts.",
    .formula = "floor(log2 n) a + ceil(log2 n) (o + S/B)",
    .assumption = "A rank sends one message after the other; the rank reached last is fewer hops "
                  "away where n is no power of two (Thakur et al. 2005, with ceil for both).",
    .terms = terms,
    .build = build,
};
