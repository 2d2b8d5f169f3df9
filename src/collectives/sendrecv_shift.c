/* sendrecv_shift.c - every rank sends to the one so many ranks further on; with distance 1 that
 * is what nccl-tests calls sendrecv */
#include "collectives/algorithm.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_ranks;
    (void)n_chunks;
    *ret_terms = (CcsTerms){.latencies = 1, .costs = 1, .sizes = 1};
    return true;
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    uint32_t phase = ccs_schedule_add_phase(schedule, "send and receive");

    (void)error;
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        for (CcsRank rank = 0; rank < n; rank++) {
            CcsRank peer = (rank + ccs_schedule_distance(schedule)) % n;
            ccs_schedule_add_lane(
                schedule, &(CcsLane){.source = rank,
                                     .peer = peer,
                                     .channel = channel,
                                     .phase = phase,
                                     .n_messages = 1,
                                     .from = {.buffer = CCS_BUFFER_INPUT},
                                     .to = {.buffer = CCS_BUFFER_OUTPUT},
                                     .path = ccs_schedule_path(schedule, rank, peer, channel)});
        }
    }
    return true;
}

const CcsAlgorithm ccs_sendrecv_shift = {
    .collective = CCS_SENDRECV,
    .name = "shift",
    .summary = "every rank sends to the one --distance ranks further on",
    .idea = "Every rank sends its buffer to the rank that is so many ranks further on, and "
            "receives from the one as many before it. All do so at once.",
    .when = "To measure the links between neighbours, or at any other distance.",
    .formula = "a + o + S/B",
    .assumption = "Ports send and receive at once.",
    .terms = terms,
    .build = build,
};
