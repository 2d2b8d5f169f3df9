/* allgather_recursive_doubling.c - in each of log2 n steps two ranks exchange all blocks they have
 *
 * Before step j rank r has the blocks of the ranks that agree with it in all but the lowest j
 * bits, which lie side by side. */
#include "base/error.h"
#include "collectives/algorithm.h"
#include "collectives/single.h"

static void add_step(CcsSchedule *schedule, uint32_t channel, uint32_t bit, CcsLaneId *inbound)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    uint32_t n_held = 1U << bit;
    CcsLaneId base = ccs_schedule_n_lanes(schedule);

    for (CcsRank rank = 0; rank < n; rank++) {
        CcsRank partner = rank ^ n_held;
        CcsBox held = {.buffer = CCS_BUFFER_OUTPUT,
                       .base = rank / n_held * n_held,
                       .n1 = n_held,
                       .stride1 = 1};
        CcsLaneId lane = ccs_schedule_add_single(
            schedule,
            &(CcsSingle){
                .source = rank, .peer = partner, .channel = channel, .from = held, .to = held});
        ccs_schedule_gate_on(schedule, lane, inbound[rank]);
        ccs_schedule_gate_on(schedule, lane, inbound[partner]);
    }
    for (CcsRank rank = 0; rank < n; rank++)
        inbound[rank] = base + (rank ^ n_held);
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    g_autofree CcsLaneId *inbound = g_new(CcsLaneId, n);

    if (n != ccs_power_of_two(n)) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT,
                    "recursive doubling of an allgather needs a power of two of ranks, not %u", n);
        return false;
    }
    ccs_schedule_add_phase(schedule, "all-gather");
    ccs_schedule_set_n_chunks(schedule, n);
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        for (CcsRank rank = 0; rank < n; rank++)
            inbound[rank] = CCS_NO_LANE;
        for (uint32_t bit = 0; bit < ccs_log_of_two(n); bit++)
            add_step(schedule, channel, bit, inbound);
    }
    return true;
}

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    double steps = ccs_log_of_two(ccs_power_of_two(n_ranks));

    (void)n_chunks;
    *ret_terms = (CcsTerms){steps, steps, (n_ranks - 1.0) / n_ranks, 0};
    return n_ranks == ccs_power_of_two(n_ranks);
}

const CcsAlgorithm ccs_allgather_recursive_doubling = {
    .collective = CCS_ALLGATHER,
    .name = "recursive_doubling",
    .summary = "in each of log2 n steps two ranks exchange all blocks they have",
    .idea =
        "In step j rank r exchanges all blocks that it has with rank r XOR 2^j, so that what it "
        "has doubles. It needs a power of two of ranks.",
    .when = "For small blocks on a power of two of ranks.",
    .formula = "h (a + o) + (n-1)/n S/B, h = log2 n",
    .assumption = "A message starts when its receiver has finished the step before (Thakur, "
                  "Rabenseifner and Gropp 2005).",
    .terms = terms,
    .build = build,
};
