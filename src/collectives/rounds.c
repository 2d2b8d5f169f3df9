#include "collectives/rounds.h"

void ccs_rounds_init(CcsRounds *rounds, CcsSchedule *schedule, uint32_t channel)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);

    *rounds = (CcsRounds){.schedule = schedule,
                          .channel = channel,
                          .sent = g_new(CcsLaneId, n),
                          .arrived = g_new(CcsLaneId, n),
                          .lanes = g_array_new(false, false, sizeof(CcsLaneId))};
    for (CcsRank rank = 0; rank < n; rank++)
        rounds->sent[rank] = rounds->arrived[rank] = CCS_NO_LANE;
}

void ccs_rounds_clear(CcsRounds *rounds)
{
    g_free(rounds->sent);
    g_free(rounds->arrived);
    g_array_unref(rounds->lanes);
}

void ccs_rounds_send(CcsRounds *rounds, const CcsLane *lane)
{
    CcsLane message = *lane;

    message.channel = rounds->channel;
    message.phase = rounds->phase;
    message.n_messages = 1;
    message.path = ccs_schedule_path(rounds->schedule, lane->source, lane->peer, rounds->channel);
    CcsLaneId id = ccs_schedule_add_lane(rounds->schedule, &message);
    if (rounds->arrived[lane->source] != CCS_NO_LANE)
        ccs_schedule_gate(rounds->schedule, id, rounds->arrived[lane->source]);
    if (rounds->sent[lane->source] != CCS_NO_LANE)
        ccs_schedule_gate_sent(rounds->schedule, id, rounds->sent[lane->source]);
    if (rounds->arrived[lane->peer] != CCS_NO_LANE && lane->peer != lane->source)
        ccs_schedule_gate(rounds->schedule, id, rounds->arrived[lane->peer]);
    g_array_append_val(rounds->lanes, id);
}

void ccs_rounds_end(CcsRounds *rounds)
{
    for (guint i = 0; i < rounds->lanes->len; i++) {
        CcsLaneId id = g_array_index(rounds->lanes, CcsLaneId, i);
        const CcsLane *lane = ccs_schedule_lane(rounds->schedule, id);
        rounds->sent[lane->source] = id;
        rounds->arrived[lane->peer] = id;
    }
    g_array_set_size(rounds->lanes, 0);
}
