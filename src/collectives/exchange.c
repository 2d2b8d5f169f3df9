#include "collectives/exchange.h"

#include "base/error.h"

#define MAX_RANKS_OF_ALL_PAIRS 2048U

void ccs_schedule_add_own_blocks(CcsSchedule *schedule, uint32_t channel, uint32_t phase)
{
    for (CcsRank rank = 0; rank < ccs_schedule_n_ranks(schedule); rank++)
        ccs_schedule_add_lane(schedule,
                              &(CcsLane){.source = rank,
                                         .peer = rank,
                                         .channel = channel,
                                         .phase = phase,
                                         .n_messages = 1,
                                         .from = {.buffer = CCS_BUFFER_INPUT, .base = rank},
                                         .to = {.buffer = CCS_BUFFER_OUTPUT, .base = rank}});
}

static void add_family(CcsSchedule *schedule, CcsPeerKind kind, bool is_waiting, uint32_t channel,
                       uint32_t phase)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    CcsLaneId family = ccs_schedule_n_lanes(schedule);

    for (CcsRank rank = 0; rank < n; rank++)
        ccs_schedule_add_lane(schedule,
                              &(CcsLane){.source = rank,
                                         .peer_kind = kind,
                                         .peer = 1,
                                         .channel = channel,
                                         .phase = phase,
                                         .n_messages = n - 1,
                                         .from = {CCS_BUFFER_INPUT, CCS_BOX_OF_PEER, .scale = 1},
                                         .to = {CCS_BUFFER_OUTPUT, CCS_BOX_OF_SOURCE, .scale = 1}});
    for (CcsRank rank = 0; rank < n && is_waiting; rank++)
        ccs_schedule_depend(schedule, &(CcsDependency){.after = family + rank,
                                                       .before = family,
                                                       .event = CCS_ARRIVED,
                                                       .p_before = 1,
                                                       .p_after = 1,
                                                       .distance = 1,
                                                       .is_by_sender = true});
}

void ccs_schedule_add_rounds(CcsSchedule *schedule, CcsPeerKind kind, bool is_waiting)
{
    uint32_t phase = ccs_schedule_add_phase(schedule, "all-to-all");

    ccs_schedule_set_n_chunks(schedule, ccs_schedule_n_ranks(schedule));
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        add_family(schedule, kind, is_waiting, channel, phase);
        ccs_schedule_add_own_blocks(schedule, channel, phase);
    }
}

bool ccs_schedule_add_pairs(CcsSchedule *schedule, const CcsLane *lane, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    CcsLane pair = *lane;

    pair.n_messages = 1;
    if (n > MAX_RANKS_OF_ALL_PAIRS) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT,
                    "the direct algorithm has a message under way between every two of %u ranks;"
                    " it is there for up to %u, others for any number",
                    n, MAX_RANKS_OF_ALL_PAIRS);
        return false;
    }
    for (pair.channel = 0; pair.channel < ccs_schedule_n_channels(schedule); pair.channel++) {
        for (pair.source = 0; pair.source < n; pair.source++) {
            for (uint32_t shift = 1; shift < n; shift++) {
                pair.peer = (pair.source + shift) % n;
                pair.path = ccs_schedule_path(schedule, pair.source, pair.peer, pair.channel);
                ccs_schedule_add_lane(schedule, &pair);
            }
        }
    }
    return true;
}

bool ccs_schedule_add_all_pairs(CcsSchedule *schedule, GError **error)
{
    uint32_t phase = ccs_schedule_add_phase(schedule, "all-to-all");
    CcsLane lane = {.phase = phase,
                    .from = {CCS_BUFFER_INPUT, CCS_BOX_OF_PEER, .scale = 1},
                    .to = {CCS_BUFFER_OUTPUT, CCS_BOX_OF_SOURCE, .scale = 1}};

    ccs_schedule_set_n_chunks(schedule, ccs_schedule_n_ranks(schedule));
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++)
        ccs_schedule_add_own_blocks(schedule, channel, phase);
    return ccs_schedule_add_pairs(schedule, &lane, error);
}

bool ccs_terms_of_rounds(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_chunks;
    *ret_terms = (CcsTerms){
        .latencies = n_ranks - 1.0, .costs = n_ranks - 1.0, .sizes = (n_ranks - 1.0) / n_ranks};
    return true;
}

bool ccs_terms_of_all_pairs(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    (void)n_chunks;
    *ret_terms = (CcsTerms){.latencies = 1, .costs = 1, .sizes = (n_ranks - 1.0) / n_ranks};
    return true;
}
