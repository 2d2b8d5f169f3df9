/* allreduce_ring.c - reduce-scatter, then all-gather, around one ring
 *
 * The buffer is cut into one chunk per rank. A chunk goes round the ring almost twice:
 * n - 1 hops gather the sum, n - 1 more spread it. With three ranks, one of the chunks:
 *
 *     rank 0 --add--> rank 1 --add--> rank 2 --copy--> rank 0 --copy--> rank 1
 *
 * Every rank sends and receives 2 (n - 1) / n of the buffer, the least possible (Patarasuk
 * and Yuan 2009). */
#include "collectives/algorithm.h"
#include "collectives/order.h"
#include "collectives/ring_terms.h"

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    uint32_t phase = ccs_schedule_add_phase(schedule, "reduce-scatter and all-gather");

    (void)error;
    ccs_schedule_set_n_chunks(schedule, n);
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        g_autofree CcsRank *order = ccs_ring_order(schedule, channel);
        ccs_schedule_add_ring(schedule,
                              &(CcsRing){.ranks = order,
                                         .n_ranks = n,
                                         .channel = channel,
                                         .phase = phase,
                                         .n_messages = 2 * (n - 1),
                                         .n_reduced = n - 1,
                                         .block = {.buffer = CCS_BUFFER_OUTPUT, .scale = 1},
                                         .is_on_rail = true});
    }
    return true;
}

const CcsAlgorithm ccs_allreduce_ring = {
    .collective = CCS_ALLREDUCE,
    .name = "ring",
    .summary = "reduce-scatter, then all-gather, around one ring",
    .idea = "The buffer is cut into one chunk per rank, and every chunk goes round the ring being "
            "summed. Then it goes round once more, so that everyone gets the sum.",
    .when = "For large buffers: every port sends 2 (n-1)/n of the buffer, the least there is.",
    .formula = "2(n-1) (a + o) + 2 (n-1)/n S/B + (n-1)/n S/G",
    .assumption = "All chunks are equal (Patarasuk and Yuan 2009).",
    .terms = ccs_ring_terms_both,
    .build = build,
};
