/* broadcast_binomial.c - everyone who has the data sends it to one who has not
 *
 * Positions are counted from the root. In each round the distance halves: position v, a
 * multiple of 2 d, sends the whole buffer to v + d. The long distances come first, so that
 * few messages cross between nodes. With eight ranks:
 *
 *     0 -> 4;   0 -> 2, 4 -> 6;   0 -> 1, 2 -> 3, 4 -> 5, 6 -> 7 */
#include "collectives/algorithm.h"
#include "collectives/order.h"

typedef struct {
    CcsSchedule *schedule;
    const CcsRank *order;
    uint32_t channel;
    CcsLaneId *inbound; /* by position: the lane that brings the data */
    CcsLaneId *last;    /* by position: the lane that sent last */
} Builder;

static void add_message(const Builder *builder, uint32_t from, uint32_t to)
{
    CcsSchedule *schedule = builder->schedule;
    CcsRank source = builder->order[from];
    CcsRank peer = builder->order[to];
    CcsLaneId lane = ccs_schedule_add_lane(
        schedule, &(CcsLane){.source = source,
                             .peer = peer,
                             .channel = builder->channel,
                             .n_messages = 1,
                             .from = {.buffer = CCS_BUFFER_OUTPUT},
                             .to = {.buffer = CCS_BUFFER_OUTPUT},
                             .path = ccs_schedule_path(schedule, source, peer, builder->channel)});

    if (builder->inbound[from] != CCS_NO_LANE)
        ccs_schedule_gate(schedule, lane, builder->inbound[from]);
    if (builder->last[from] != CCS_NO_LANE) /* one round after the other */
        ccs_schedule_depend(schedule, &(CcsDependency){.after = lane,
                                                       .before = builder->last[from],
                                                       .event = CCS_SENT,
                                                       .p_before = 1,
                                                       .p_after = 1});
    builder->last[from] = lane;
    builder->inbound[to] = lane;
}

static void add_channel(CcsSchedule *schedule, uint32_t channel)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    g_autofree CcsRank *order = ccs_chain_order(schedule, channel);
    g_autofree CcsLaneId *inbound = g_new(CcsLaneId, n);
    g_autofree CcsLaneId *last = g_new(CcsLaneId, n);
    Builder builder = {schedule, order, channel, inbound, last};
    uint32_t distance = 1;

    for (uint32_t i = 0; i < n; i++) {
        inbound[i] = CCS_NO_LANE;
        last[i] = CCS_NO_LANE;
    }
    while (distance < n)
        distance *= 2;
    for (distance /= 2; distance > 0; distance /= 2) {
        for (uint32_t from = 0; from + distance < n; from += 2 * distance)
            add_message(&builder, from, from + distance);
    }
}

static bool build(CcsSchedule *schedule, GError **error)
{
    (void)error;
    ccs_schedule_add_phase(schedule, "broadcast");
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++)
        add_channel(schedule, channel);
    return true;
}

const CcsAlgorithm ccs_broadcast_binomial = {
    .collective = CCS_BROADCAST,
    .name = "binomial",
    .summary = "the number of ranks that have the data doubles each round",
    .build = build,
};
