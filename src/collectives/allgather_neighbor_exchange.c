/* allgather_neighbor_exchange.c - neighbours on a ring exchange blocks, left and right in turn
 *
 * First positions 2 q and 2 q + 1 exchange their blocks; from then on blocks travel in these
 * pairs, the pair q being that of both. In round s > 0 a position turns to its other neighbour
 * and exchanges with it the pair that each got in the round before. With six ranks, in the
 * rounds 0, 1 and 2:
 *
 *     0-1 2-3 4-5;   1-2 3-4 5-0;   0-1 2-3 4-5
 *
 * So each position sends, in the odd rounds to its outer neighbour and in the even ones to its
 * inner one, the pairs q, q + 1, q + 2, ... or q, q - 1, ... (Chen et al. 2005). */
#include "base/error.h"
#include "collectives/algorithm.h"
#include "collectives/order.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_chunks;
    if (n_ranks % 2 != 0)
        return false;
    *ret_terms = (CcsTerms){
        .latencies = n_ranks / 2.0, .costs = n_ranks / 2.0, .sizes = (n_ranks - 1.0) / n_ranks};
    return true;
}

typedef struct {
    CcsSchedule *schedule;
    const CcsRank *order;
    uint32_t n;
    uint32_t channel;
} Builder;

static CcsLaneId add(const Builder *builder, uint32_t at, uint32_t to, uint32_t n_messages,
                     CcsBox box)
{
    CcsRank source = builder->order[at];
    CcsRank peer = builder->order[to];

    return ccs_schedule_add_lane(
        builder->schedule, &(CcsLane){.source = source,
                                      .peer = peer,
                                      .channel = builder->channel,
                                      .n_messages = n_messages,
                                      .from = box,
                                      .to = box,
                                      .path = ccs_schedule_rail_path(builder->schedule, source,
                                                                     peer, builder->channel)});
}

/* @n_messages pairs from position @at to @to, beginning with @first, up or down. */
static CcsLaneId add_pairs(const Builder *builder, uint32_t at, uint32_t to, uint32_t n_messages,
                           uint32_t first, int32_t step)
{
    uint32_t n_pairs = builder->n / 2;

    return add(builder, at, to, n_messages,
               (CcsBox){.buffer = CCS_BUFFER_OUTPUT,
                        .scale = 2,
                        .first = first % n_pairs,
                        .step = step,
                        .modulus = n_pairs,
                        .n1 = 2,
                        .stride1 = 1});
}

/* Three lanes for each position: round 0, odd rounds, even rounds; the last two if there are. */
static void add_channel(const Builder *builder)
{
    uint32_t n = builder->n;
    uint32_t n_odd = n / 4;
    uint32_t n_even = (n / 2 - 1) / 2;
    g_autofree CcsLaneId *zero = g_new(CcsLaneId, n);
    g_autofree CcsLaneId *odd = g_new(CcsLaneId, n);
    g_autofree CcsLaneId *even = g_new(CcsLaneId, n);

    for (uint32_t at = 0; at < n; at++) {
        bool is_left = at % 2 == 0;
        uint32_t outer = is_left ? (at + n - 1) % n : (at + 1) % n;
        uint32_t pair = at / 2;
        zero[at] = add(builder, at, at ^ 1, 1, (CcsBox){.buffer = CCS_BUFFER_OUTPUT, .base = at});
        if (n_odd > 0)
            odd[at] = add_pairs(builder, at, outer, n_odd, pair, is_left ? 1 : -1);
        if (n_even > 0)
            even[at] = add_pairs(builder, at, at ^ 1, n_even, is_left ? pair + n / 2 - 1 : pair + 1,
                                 is_left ? -1 : 1);
    }
    for (uint32_t at = 0; at < n; at++) {
        uint32_t outer = at % 2 == 0 ? (at + n - 1) % n : (at + 1) % n;
        if (n_odd > 0)
            ccs_schedule_gate(builder->schedule, odd[at], zero[at ^ 1]);
        if (n_even > 0) {
            ccs_schedule_wait(builder->schedule, odd[at], even[at ^ 1], 1);
            ccs_schedule_wait(builder->schedule, even[at], odd[outer], 0);
        }
    }
}

static bool build(CcsSchedule *schedule, GError **error)
{
    Builder builder = {.schedule = schedule, .n = ccs_schedule_n_ranks(schedule)};

    if (builder.n % 2 != 0) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT,
                    "the neighbor_exchange algorithm pairs ranks, so it needs an even number of"
                    " them, not %u",
                    builder.n);
        return false;
    }
    ccs_schedule_add_phase(schedule, "all-gather");
    ccs_schedule_set_n_chunks(schedule, builder.n);
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        g_autofree CcsRank *order = ccs_ring_order(schedule, channel);
        ccs_schedule_set_owners(schedule, channel, order);
        builder.order = order;
        builder.channel = channel;
        add_channel(&builder);
    }
    return true;
}

const CcsAlgorithm ccs_allgather_neighbor_exchange = {
    .collective = CCS_ALLGATHER,
    .name = "neighbor_exchange",
    .summary = "neighbours on a ring exchange blocks, left and right in turn",
    .idea = "Neighbours exchange their blocks, and from then on everyone turns to its left and to "
            "its right neighbour in turn, and they exchange the two blocks that each got last. So "
            "blocks go both ways round, two at a time.",
    .when = "Where a ring is right, but messages are dear: half as many, still only to neighbours.",
    .formula = "n/2 (a + o) + (n-1)/n S/B",
    .assumption = "n is even; all blocks are equal (Chen et al. 2005).",
    .terms = terms,
    .holds_for = "an even n",
    .build = build,
};
