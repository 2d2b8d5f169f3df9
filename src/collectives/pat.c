#include "collectives/pat.h"

#include "collectives/binomial.h"
#include "collectives/rounds.h"

/* The blocks that rank @rank passes on over @distance: its own, and every (2 d)-th before it. */
static CcsBox blocks(uint32_t n, CcsRank rank, uint32_t distance)
{
    return (CcsBox){.buffer = CCS_BUFFER_OUTPUT,
                    .base = rank,
                    .n1 = (n - distance + 2 * distance - 1) / (2 * distance),
                    .stride1 = 2 * distance < n ? n - 2 * distance : 0,
                    .wrap = n};
}

static void add_round(CcsRounds *rounds, uint32_t distance, bool is_reduced)
{
    uint32_t n = ccs_schedule_n_ranks(rounds->schedule);

    for (CcsRank rank = 0; rank < n; rank++) {
        CcsRank far = (rank + distance) % n;
        CcsBox box = blocks(n, rank, distance);
        ccs_rounds_send(rounds, &(CcsLane){.source = is_reduced ? far : rank,
                                           .peer = is_reduced ? rank : far,
                                           .n_reduced = is_reduced ? 1 : 0,
                                           .from = box,
                                           .to = box});
    }
    ccs_rounds_end(rounds);
}

void ccs_schedule_add_pat(CcsSchedule *schedule, bool is_reduced)
{
    uint32_t n_rounds = ccs_binomial_rounds(ccs_schedule_n_ranks(schedule));

    ccs_schedule_set_n_chunks(schedule, ccs_schedule_n_ranks(schedule));
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        g_auto(CcsRounds) rounds;
        ccs_rounds_init(&rounds, schedule, channel);
        for (uint32_t i = 0; i < n_rounds; i++)
            add_round(&rounds, 1U << (is_reduced ? i : n_rounds - 1 - i), is_reduced);
    }
}
