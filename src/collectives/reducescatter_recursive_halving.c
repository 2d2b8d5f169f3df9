/* reducescatter_recursive_halving.c - in each of log2 n steps what is summed up halves
 *
 * Before a step with distance d rank r sums up the 2 d blocks of the ranks that agree with it
 * in all but the lowest bits; it sends the half of its partner, and keeps its own. */
#include "base/error.h"
#include "collectives/algorithm.h"
#include "collectives/single.h"

static void add_step(CcsSchedule *schedule, uint32_t channel, uint32_t distance, CcsLaneId *inbound)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    CcsLaneId base = ccs_schedule_n_lanes(schedule);

    for (CcsRank rank = 0; rank < n; rank++) {
        CcsRank partner = rank ^ distance;
        CcsBox half = {.buffer = CCS_BUFFER_OUTPUT,
                       .base = partner / distance * distance,
                       .n1 = distance,
                       .stride1 = 1};
        CcsLaneId lane = ccs_schedule_add_single(schedule, &(CcsSingle){.source = rank,
                                                                        .peer = partner,
                                                                        .channel = channel,
                                                                        .is_reduced = true,
                                                                        .from = half,
                                                                        .to = half});
        ccs_schedule_gate_on(schedule, lane, inbound[rank]);
        ccs_schedule_gate_on(schedule, lane, inbound[partner]);
    }
    for (CcsRank rank = 0; rank < n; rank++)
        inbound[rank] = base + (rank ^ distance);
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    g_autofree CcsLaneId *inbound = g_new(CcsLaneId, n);

    if (n != ccs_power_of_two(n)) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT,
                    "recursive halving needs a power of two of ranks, not %u", n);
        return false;
    }
    ccs_schedule_add_phase(schedule, "reduce-scatter");
    ccs_schedule_set_n_chunks(schedule, n);
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        for (CcsRank rank = 0; rank < n; rank++)
            inbound[rank] = CCS_NO_LANE;
        for (uint32_t distance = n / 2; distance > 0; distance /= 2)
            add_step(schedule, channel, distance, inbound);
    }
    return true;
}

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    double steps = ccs_log_of_two(ccs_power_of_two(n_ranks));
    double part = (n_ranks - 1.0) / n_ranks;

    (void)n_chunks;
    *ret_terms = (CcsTerms){steps, steps, part, part};
    return n_ranks == ccs_power_of_two(n_ranks);
}

const CcsAlgorithm ccs_reducescatter_recursive_halving = {
    .collective = CCS_REDUCESCATTER,
    .name = "recursive_halving",
    .summary = "in each of log2 n steps what is exchanged and summed up halves",
    .idea = "In each step two ranks exchange the halves that the other one is to sum up, and go on "
            "with their own. It needs a power of two of ranks.",
    .when = "For small blocks on a power of two of ranks.",
    .formula = "h (a + o) + (n-1)/n (S/B + S/G), h = log2 n",
    .assumption = "A message starts when its receiver has finished the step before (Thakur, "
                  "Rabenseifner and Gropp 2005).",
    .terms = terms,
    .build = build,
};
