/* barrier_dissemination.c - in round i every rank tells the one 2^i further on
 *
 * After round i a rank has heard, directly or not, of the 2^(i + 1) ranks up to itself; when
 * these are all, it may leave (Hensgen, Finkel and Manber 1988). Messages are empty. In the
 * last round some ranks are heard of twice, which does no harm. */
#include "collectives/algorithm.h"
#include "collectives/binomial.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    uint32_t n_rounds = ccs_binomial_rounds(n_ranks);

    (void)n_chunks;
    *ret_terms = (CcsTerms){.latencies = n_rounds, .costs = n_rounds};
    return true;
}

static void add_round(CcsSchedule *schedule, uint32_t channel, uint32_t phase, uint32_t round)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    CcsLaneId base = ccs_schedule_n_lanes(schedule);

    for (CcsRank rank = 0; rank < n; rank++) {
        CcsRank peer = (CcsRank)((rank + ((uint64_t)1 << round)) % n);
        ccs_schedule_add_lane(schedule,
                              &(CcsLane){.source = rank,
                                         .peer = peer,
                                         .channel = channel,
                                         .phase = phase,
                                         .n_messages = 1,
                                         .n_reduced = 1,
                                         .from = {.buffer = CCS_BUFFER_OUTPUT},
                                         .to = {.buffer = CCS_BUFFER_OUTPUT},
                                         .has_fixed_bytes = true,
                                         .path = ccs_schedule_path(schedule, rank, peer, channel)});
    }
    for (CcsRank rank = 0; rank < n && round > 0; rank++) {
        CcsRank sender = rank + n - (1U << (round - 1));
        ccs_schedule_gate(schedule, base + rank, base - n + sender % n);
        ccs_schedule_gate_sent(schedule, base + rank, base - n + rank);
    }
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t phase = ccs_schedule_add_phase(schedule, "barrier");
    uint32_t n_rounds = ccs_binomial_rounds(ccs_schedule_n_ranks(schedule));

    (void)error;
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        for (uint32_t round = 0; round < n_rounds; round++)
            add_round(schedule, channel, phase, round);
    }
    return true;
}

const CcsAlgorithm ccs_barrier_dissemination = {
    .collective = CCS_BARRIER,
    .name = "dissemination",
    .summary = "in round i every rank sends an empty message to the one 2^i further on",
    .idea = "In each round every rank tells another one that it has come, and what it has heard "
            "so far; the distance doubles each time. After log2 n rounds everyone has heard of "
            "everyone.",
    .when = "Always: no barrier of messages between pairs has fewer rounds.",
    .formula = "ceil(log2 n) (a + o)",
    .assumption = "All ranks come at the same time (Hensgen, Finkel and Manber 1988).",
    .terms = terms,
    .build = build,
};
