/* reducescatter_ring.c - every block is summed on its way round the ring to its owner
 *
 * The block of rank r starts at the rank behind r and gathers a contribution at each hop;
 * the last one is r's own. */
#include "collectives/algorithm.h"
#include "collectives/order.h"
#include "collectives/ring_terms.h"

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    uint32_t phase = ccs_schedule_add_phase(schedule, "reduce-scatter");

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
                                         .n_reduced = n - 1,
                                         .first = n - 1,
                                         .block = {.buffer = CCS_BUFFER_OUTPUT, .scale = 1},
                                         .is_on_rail = true});
    }
    return true;
}

const CcsAlgorithm ccs_reducescatter_ring = {
    .collective = CCS_REDUCESCATTER,
    .name = "ring",
    .summary = "every block is summed on its way round the ring to its owner",
    .idea = "The block of each rank starts behind it and goes round the ring, and everyone adds "
            "its own part. After n - 1 hops it is complete, and where it belongs.",
    .when = "For large buffers: messages only go to neighbours, and cross between nodes once.",
    .formula = "(n-1) (a + o) + (n-1)/n S/B + (n-1)/n S/G",
    .assumption = "All blocks are equal (Thakur et al. 2005).",
    .terms = ccs_ring_terms_adding,
    .build = build,
};
