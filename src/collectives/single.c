#include "collectives/single.h"

CcsLaneId ccs_schedule_add_single(CcsSchedule *schedule, const CcsSingle *single)
{
    return ccs_schedule_add_lane(
        schedule,
        &(CcsLane){
            .source = single->source,
            .peer = single->peer,
            .channel = single->channel,
            .phase = single->phase,
            .n_messages = 1,
            .n_reduced = single->is_reduced ? 1 : 0,
            .from = single->from,
            .to = single->to,
            .path = ccs_schedule_path(schedule, single->source, single->peer, single->channel),
        });
}

void ccs_schedule_gate_on(CcsSchedule *schedule, CcsLaneId after, CcsLaneId before)
{
    if (before != CCS_NO_LANE)
        ccs_schedule_gate(schedule, after, before);
}

uint32_t ccs_power_of_two(uint32_t n)
{
    uint32_t power = 1;

    while (power <= n / 2)
        power *= 2;
    return power;
}

uint32_t ccs_log_of_two(uint32_t power)
{
    uint32_t log = 0;

    while (power >> log > 1)
        log++;
    return log;
}

CcsFold ccs_fold(uint32_t n_ranks)
{
    uint32_t n_core = ccs_power_of_two(n_ranks);
    return (CcsFold){n_ranks, n_core, n_ranks - n_core};
}

CcsRank ccs_fold_rank(const CcsFold *fold, uint32_t core)
{
    return core < fold->n_folded ? 2 * core + 1 : core + fold->n_folded;
}

CcsRank ccs_fold_partner(const CcsFold *fold, uint32_t core)
{
    return core < fold->n_folded ? 2 * core : CCS_NO_RANK;
}
