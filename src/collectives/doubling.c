#include "collectives/doubling.h"

uint32_t ccs_doubling_bits(uint32_t n)
{
    uint32_t n_bits = 0;

    while (n >> n_bits > 1)
        n_bits++;
    return n_bits;
}

static void doubling_init(CcsDoubling *doubling, CcsSchedule *schedule, uint32_t channel,
                          const CcsRank *order)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    uint32_t n_bits = ccs_doubling_bits(n);

    *doubling = (CcsDoubling){.order = order,
                              .n_ranks = n,
                              .n_positions = 1U << n_bits,
                              .n_bits = n_bits,
                              .n_chunks = ccs_schedule_n_chunks(schedule)};
    ccs_rounds_init(&doubling->rounds, schedule, channel);
}

static uint32_t n_folded(const CcsDoubling *doubling)
{
    return doubling->n_ranks - doubling->n_positions;
}

CcsRank ccs_doubling_rank(const CcsDoubling *doubling, uint32_t position)
{
    return doubling->order[position + MIN(position, n_folded(doubling))];
}

CcsRank ccs_doubling_folded(const CcsDoubling *doubling, uint32_t position)
{
    return position < n_folded(doubling) ? doubling->order[2 * position + 1] : CCS_NO_RANK;
}

static void set_owners(const CcsDoubling *doubling)
{
    g_autofree CcsRank *owners = g_new(CcsRank, doubling->n_ranks);

    for (uint32_t position = 0; position < doubling->n_positions; position++)
        owners[position] = ccs_doubling_rank(doubling, position);
    for (uint32_t position = 0; position < n_folded(doubling); position++)
        owners[doubling->n_positions + position] = ccs_doubling_folded(doubling, position);
    ccs_schedule_set_owners(doubling->rounds.schedule, doubling->rounds.channel, owners);
}

CcsBox ccs_doubling_box(const CcsDoubling *doubling, uint32_t position, uint32_t modulus)
{
    uint32_t first = position % modulus;

    return (CcsBox){.buffer = CCS_BUFFER_OUTPUT,
                    .base = first,
                    .n1 = (doubling->n_chunks - first + modulus - 1) / modulus,
                    .stride1 = modulus};
}

void ccs_doubling_send(CcsDoubling *doubling, CcsRank source, CcsRank peer, CcsBox box,
                       bool is_reduced)
{
    ccs_rounds_send(&doubling->rounds, &(CcsLane){.source = source,
                                                  .peer = peer,
                                                  .n_reduced = is_reduced ? 1 : 0,
                                                  .from = box,
                                                  .to = box});
}

void ccs_doubling_fold(CcsDoubling *doubling)
{
    for (uint32_t position = 0; position < n_folded(doubling); position++)
        ccs_doubling_send(doubling, ccs_doubling_folded(doubling, position),
                          ccs_doubling_rank(doubling, position), ccs_doubling_box(doubling, 0, 1),
                          true);
    ccs_rounds_end(&doubling->rounds);
}

void ccs_doubling_unfold(CcsDoubling *doubling)
{
    for (uint32_t position = 0; position < n_folded(doubling); position++)
        ccs_doubling_send(doubling, ccs_doubling_rank(doubling, position),
                          ccs_doubling_folded(doubling, position), ccs_doubling_box(doubling, 0, 1),
                          false);
    ccs_rounds_end(&doubling->rounds);
}

void ccs_doubling_halve(CcsDoubling *doubling)
{
    for (uint32_t bit = 1; bit < doubling->n_positions; bit *= 2) {
        for (uint32_t position = 0; position < doubling->n_positions; position++)
            ccs_doubling_send(doubling, ccs_doubling_rank(doubling, position),
                              ccs_doubling_rank(doubling, position ^ bit),
                              ccs_doubling_box(doubling, position ^ bit, 2 * bit), true);
        ccs_rounds_end(&doubling->rounds);
    }
}

void ccs_doubling_double(CcsDoubling *doubling)
{
    for (uint32_t bit = doubling->n_positions / 2; bit > 0; bit /= 2) {
        for (uint32_t position = 0; position < doubling->n_positions; position++)
            ccs_doubling_send(doubling, ccs_doubling_rank(doubling, position),
                              ccs_doubling_rank(doubling, position ^ bit),
                              ccs_doubling_box(doubling, position, 2 * bit), false);
        ccs_rounds_end(&doubling->rounds);
    }
}

void ccs_doubling_build(CcsSchedule *schedule, CcsOrderOf *order_of, bool has_blocks,
                        const CcsDoublingPart *parts, uint32_t n_parts)
{
    for (uint32_t i = 0; i < n_parts; i++)
        ccs_schedule_add_phase(schedule, parts[i].phase);
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        g_autofree CcsRank *order = order_of(schedule, channel);
        CcsDoubling doubling;
        doubling_init(&doubling, schedule, channel, order);
        if (has_blocks)
            set_owners(&doubling);
        for (uint32_t i = 0; i < n_parts; i++) {
            doubling.rounds.phase = i;
            parts[i].add(&doubling);
        }
        ccs_rounds_clear(&doubling.rounds);
    }
}
