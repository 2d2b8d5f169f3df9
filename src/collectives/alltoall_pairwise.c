/* alltoall_pairwise.c - n - 1 rounds, in each of which every rank talks to one other
 *
 * Where n is a power of two, the partner of round k is rank XOR k, and both exchange their
 * blocks; else rank r sends to r + k and receives from r - k. A round begins when the rank
 * has sent and received in the round before. */
#include "collectives/algorithm.h"

/* The block that a rank keeps is copied in place of being sent. */
static void add_own_block(CcsSchedule *schedule, CcsRank rank, uint32_t channel, uint32_t phase)
{
    ccs_schedule_add_lane(schedule, &(CcsLane){.source = rank,
                                               .peer = rank,
                                               .channel = channel,
                                               .phase = phase,
                                               .n_messages = 1,
                                               .from = {.buffer = CCS_BUFFER_INPUT, .base = rank},
                                               .to = {.buffer = CCS_BUFFER_OUTPUT, .base = rank}});
}

static void add_channel(CcsSchedule *schedule, uint32_t channel, uint32_t phase)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    CcsLaneId family = ccs_schedule_n_lanes(schedule);

    for (CcsRank rank = 0; rank < n; rank++)
        ccs_schedule_add_lane(
            schedule, &(CcsLane){.source = rank,
                                 .peer_kind = (n & (n - 1)) == 0 ? CCS_PEER_XOR : CCS_PEER_SHIFT,
                                 .peer = 1,
                                 .channel = channel,
                                 .phase = phase,
                                 .n_messages = n - 1,
                                 .from = {CCS_BUFFER_INPUT, CCS_BOX_OF_PEER, .scale = 1},
                                 .to = {CCS_BUFFER_OUTPUT, CCS_BOX_OF_SOURCE, .scale = 1}});
    for (CcsRank rank = 0; rank < n; rank++) {
        ccs_schedule_depend(schedule, &(CcsDependency){.after = family + rank,
                                                       .before = family,
                                                       .event = CCS_ARRIVED,
                                                       .p_before = 1,
                                                       .p_after = 1,
                                                       .distance = 1,
                                                       .is_by_sender = true});
        add_own_block(schedule, rank, channel, phase);
    }
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t phase = ccs_schedule_add_phase(schedule, "all-to-all");

    (void)error;
    ccs_schedule_set_n_chunks(schedule, ccs_schedule_n_ranks(schedule));
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++)
        add_channel(schedule, channel, phase);
    return true;
}

const CcsAlgorithm ccs_alltoall_pairwise = {
    .collective = CCS_ALLTOALL,
    .name = "pairwise",
    .summary = "n - 1 rounds, in each of which every rank talks to one other",
    .build = build,
};
