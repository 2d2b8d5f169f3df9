#include "collectives/binomial.h"

uint32_t ccs_binomial_rounds(uint32_t n_ranks)
{
    uint32_t n = 0;

    while (((uint64_t)1 << n) < n_ranks)
        n++;
    return n;
}

uint32_t ccs_binomial_hops(uint32_t n_ranks)
{
    uint32_t n = 0;

    while (n_ranks >> (n + 1) != 0)
        n++;
    return n;
}

GArray *ccs_binomial_edges(uint32_t n_ranks)
{
    GArray *edges = g_array_new(false, false, sizeof(CcsBinomialEdge));

    for (uint32_t distance = 1U << ccs_binomial_rounds(n_ranks) >> 1; distance > 0; distance /= 2) {
        for (uint32_t upper = 0; upper + distance < n_ranks; upper += 2 * distance) {
            uint32_t lower = upper + distance;
            CcsBinomialEdge edge = {upper, lower, MIN(distance, n_ranks - lower)};
            g_array_append_val(edges, edge);
        }
    }
    return edges;
}

void ccs_schedule_add_scatter(CcsSchedule *schedule, uint32_t channel, uint32_t phase,
                              const CcsRank *order, CcsBuffer buffer, CcsLaneId *ret_inbound,
                              CcsLaneId *ret_last)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    g_autoptr(GArray) edges = ccs_binomial_edges(n);

    for (uint32_t i = 0; i < n; i++)
        ret_inbound[i] = ret_last[i] = CCS_NO_LANE;
    for (guint i = 0; i < edges->len; i++) {
        const CcsBinomialEdge *edge = &g_array_index(edges, CcsBinomialEdge, i);
        CcsRank source = order[edge->upper];
        CcsRank peer = order[edge->lower];
        CcsBox box = {.buffer = buffer, .base = edge->lower, .n1 = edge->n_below, .stride1 = 1};
        CcsLane lane = {.source = source,
                        .peer = peer,
                        .channel = channel,
                        .phase = phase,
                        .n_messages = 1,
                        .from = box,
                        .to = box,
                        .path = ccs_schedule_path(schedule, source, peer, channel)};
        if (edge->upper == 0)
            lane.from.buffer = CCS_BUFFER_OUTPUT;
        CcsLaneId id = ccs_schedule_add_lane(schedule, &lane);
        if (ret_inbound[edge->upper] != CCS_NO_LANE)
            ccs_schedule_gate(schedule, id, ret_inbound[edge->upper]);
        if (ret_last[edge->upper] != CCS_NO_LANE) /* one round after the other */
            ccs_schedule_gate_sent(schedule, id, ret_last[edge->upper]);
        ret_inbound[edge->lower] = ret_last[edge->upper] = id;
    }
}
