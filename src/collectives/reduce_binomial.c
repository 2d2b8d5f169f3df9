/* reduce_binomial.c - sums climb a binomial tree to the root
 *
 * The tree of binomial.h upside down: near ranks come first, and each rank sends its sum on
 * once all that hang under it have sent theirs. */
#include "collectives/algorithm.h"
#include "collectives/binomial.h"
#include "collectives/order.h"
#include "collectives/single.h"

static void add_channel(CcsSchedule *schedule, uint32_t channel)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    g_autofree CcsRank *order = ccs_chain_order(schedule, channel);
    g_autoptr(GArray) edges = ccs_binomial_edges(n);
    g_autofree CcsLaneId *inbound = g_new(CcsLaneId, n); /* by position: the last one so far */

    for (uint32_t i = 0; i < n; i++)
        inbound[i] = CCS_NO_LANE;
    for (guint i = edges->len; i-- > 0;) {
        const CcsBinomialEdge *edge = &g_array_index(edges, CcsBinomialEdge, i);
        CcsLaneId lane =
            ccs_schedule_add_single(schedule, &(CcsSingle){.source = order[edge->lower],
                                                           .peer = order[edge->upper],
                                                           .channel = channel,
                                                           .is_reduced = true,
                                                           .from = {.buffer = CCS_BUFFER_OUTPUT},
                                                           .to = {.buffer = CCS_BUFFER_OUTPUT}});
        ccs_schedule_gate_on(schedule, lane, inbound[edge->lower]);
        ccs_schedule_gate_on(schedule, lane, inbound[edge->upper]); /* one round after the other */
        inbound[edge->upper] = lane;
    }
}

static bool build(CcsSchedule *schedule, GError **error)
{
    (void)error;
    ccs_schedule_add_phase(schedule, "reduce");
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++)
        add_channel(schedule, channel);
    return true;
}

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    double rounds = ccs_binomial_rounds(n_ranks);

    (void)n_chunks;
    *ret_terms = (CcsTerms){rounds, rounds, rounds, rounds};
    return true;
}

const CcsAlgorithm ccs_reduce_binomial = {
    .collective = CCS_REDUCE,
    .name = "binomial",
    .summary = "the number of ranks that still hold a sum halves each round",
    .idea = "In each round half of the ranks that still hold a sum send it to another one, and are "
            "done. After log2 n rounds, rounded up, the root has everything.",
    .when = "For small messages on many ranks.",
    .formula = "h (a + o + S/B + S/G), h = log2 n rounded up",
    .assumption = "The receiver of a message takes the next one when it has reduced this one "
                  "(Thakur, Rabenseifner and Gropp 2005).",
    .terms = terms,
    .build = build,
};
