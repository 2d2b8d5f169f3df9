/* allgather_ring.c - every block goes once round the ring
 *
 * Rank r begins by sending its own block; what comes in is passed on, n - 1 times. */
#include "collectives/algorithm.h"
#include "collectives/order.h"

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    uint32_t phase = ccs_schedule_add_phase(schedule, "all-gather");

    (void)error;
    ccs_schedule_set_n_chunks(schedule, n);
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        g_autofree CcsRank *order = ccs_ring_order(schedule, channel);
        ccs_schedule_set_owners(schedule, channel, order);
        ccs_schedule_add_ring(schedule,
                              &(CcsRing){.ranks = order,
                                         .n_ranks = n,
                                         .channel = channel,
                                         .phase = phase,
                                         .n_messages = n - 1,
                                         .block = {.buffer = CCS_BUFFER_OUTPUT, .scale = 1},
                                         .is_on_rail = true});
    }
    return true;
}

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    double steps = n_ranks - 1.0;

    (void)n_chunks;
    *ret_terms = (CcsTerms){steps, steps, steps / n_ranks, 0};
    return true;
}

const CcsAlgorithm ccs_allgather_ring = {
    .collective = CCS_ALLGATHER,
    .name = "ring",
    .summary = "every block goes once round the ring",
    .idea =
        "Each rank passes on to its neighbour what it got in the step before, beginning with its "
        "own block. After n - 1 steps every block has been everywhere.",
    .when =
        "For large blocks: all ports are busy in every step, and messages go to neighbours only.",
    .formula = "(n-1) (a + o + S/(n B))",
    .assumption = "Each step begins when the one before has arrived (Chan et al. 2007).",
    .terms = terms,
    .build = build,
};
