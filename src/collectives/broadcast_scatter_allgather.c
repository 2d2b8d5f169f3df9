/* broadcast_scatter_allgather.c - the root deals out the buffer, and a ring spreads the parts
 *
 * The buffer is cut into one chunk per rank. A binomial scatter (binomial.h) brings each rank
 * its own; on the way chunks wait in scratch buffers. Then every chunk goes round the ring.
 * The root has everything, so the ring is open before it, and it need not wait for what it
 * sends. (van de Geijn's broadcast of long vectors.) */
#include "collectives/algorithm.h"
#include "collectives/binomial.h"
#include "collectives/order.h"

enum { SCATTER, ALL_GATHER };

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_chunks;
    if ((n_ranks & (n_ranks - 1)) != 0)
        return false;
    *ret_terms = (CcsTerms){.latencies = n_ranks - 1.0,
                            .costs = ccs_binomial_rounds(n_ranks) + n_ranks - 1.0,
                            .sizes = 2 * (n_ranks - 1.0) / n_ranks};
    return true;
}

/* A rank keeps its own chunk of what has passed through it. */
static CcsLaneId add_own_chunk(CcsSchedule *schedule, CcsRank rank, uint32_t channel,
                               uint32_t chunk, CcsLaneId inbound)
{
    CcsLaneId lane = ccs_schedule_add_lane(
        schedule, &(CcsLane){.source = rank,
                             .peer = rank,
                             .channel = channel,
                             .phase = SCATTER,
                             .n_messages = 1,
                             .from = {.buffer = CCS_BUFFER_SCRATCH, .base = chunk},
                             .to = {.buffer = CCS_BUFFER_OUTPUT, .base = chunk}});

    ccs_schedule_gate(schedule, lane, inbound);
    return lane;
}

/* Position @at sends to the next one; message k carries chunk at - k. */
static CcsLaneId add_ring_lane(CcsSchedule *schedule, const CcsRank *order, uint32_t channel,
                               uint32_t at)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    CcsBox box = {.buffer = CCS_BUFFER_OUTPUT, .scale = 1, .first = at, .step = -1, .modulus = n};
    CcsLane lane = {.source = order[at],
                    .peer = order[at + 1],
                    .channel = channel,
                    .phase = ALL_GATHER,
                    .n_messages = n - 1,
                    .from = box,
                    .to = box};

    lane.path = ccs_schedule_rail_path(schedule, lane.source, lane.peer, channel);
    return ccs_schedule_add_lane(schedule, &lane);
}

static void add_channel(CcsSchedule *schedule, uint32_t channel)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    g_autofree CcsRank *order = ccs_chain_order(schedule, channel);
    g_autofree CcsLaneId *inbound = g_new(CcsLaneId, n);
    g_autofree CcsLaneId *last = g_new(CcsLaneId, n);

    ccs_schedule_add_scatter(schedule, channel, SCATTER, order, CCS_BUFFER_SCRATCH, inbound, last);
    for (uint32_t i = 1; i < n; i++)
        inbound[i] = add_own_chunk(schedule, order[i], channel, i, inbound[i]);
    for (uint32_t i = 0; i + 1 < n; i++) {
        CcsLaneId lane = add_ring_lane(schedule, order, channel, i);
        if (i > 0) {
            ccs_schedule_gate(schedule, lane, inbound[i]);
            ccs_schedule_wait(schedule, lane, lane - 1, 1);
        }
        if (last[i] != CCS_NO_LANE) /* the port belongs to the scatter first */
            ccs_schedule_gate_sent(schedule, lane, last[i]);
    }
}

static bool build(CcsSchedule *schedule, GError **error)
{
    (void)error;
    ccs_schedule_add_phase(schedule, "scatter");
    ccs_schedule_add_phase(schedule, "all-gather");
    ccs_schedule_set_n_chunks(schedule, ccs_schedule_n_ranks(schedule));
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++)
        add_channel(schedule, channel);
    return true;
}

const CcsAlgorithm ccs_broadcast_scatter_allgather = {
    .collective = CCS_BROADCAST,
    .name = "scatter_allgather",
    .summary = "a binomial scatter, then an all-gather around a ring",
    .idea = "The root first deals out the buffer, one chunk to each rank, down a binomial tree. "
            "Then all ranks pass the chunks round a ring until everyone has all of them.",
    .when =
        "For large buffers where chunks cannot be pipelined; it moves twice the least there is.",
    .formula = "(n-1) a + (ceil(log2 n) + n-1) o + 2 (n-1)/n S/B",
    .assumption = "n is a power of two. The root sends round the ring without waiting, which "
                  "saves the log2 n latencies of the textbook's form (Thakur et al. 2005).",
    .terms = terms,
    .holds_for = "an n that is a power of two",
    .build = build,
};
