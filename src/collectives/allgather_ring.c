/* allgather_ring.c - every block goes once round the ring
 *
 * Rank r begins by sending its own block; what comes in is passed on, n - 1 times. */
#include "collectives/algorithm.h"
#include "collectives/order.h"
#include "collectives/ring_terms.h"

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

const CcsAlgorithm ccs_allgather_ring = {
    .collective = CCS_ALLGATHER,
    .name = "ring",
    .summary = "every block goes once round the ring",
    .idea = "Every rank sends its block to the next one in the ring, and then passes on what "
            "comes in. After n - 1 hops every block has been everywhere.",
    .when = "For large buffers: messages only go to neighbours, and cross between nodes once.",
    .formula = "(n-1) (a + o) + (n-1)/n S/B",
    .assumption = "All blocks are equal (Thakur et al. 2005).",
    .terms = ccs_ring_terms_copying,
    .build = build,
};
