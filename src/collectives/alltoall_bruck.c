/* alltoall_bruck.c - log2 n rounds, in each of which half of the blocks move
 *
 * The block that rank r has for rank r + j must travel j ranks on. In round i every rank
 * sends all blocks whose j has bit i, wherever they came from, to the rank 2^i further on: a
 * block arrives by the sum of the bits (Bruck et al. 1997). Cell j of the scratch buffer
 * holds the block with j to go in all:
 *
 *     rotate     cell j = the input for rank r + j
 *     round i    cells with bit i are sent and land in the output, where they do no harm yet;
 *                from there they take the place of those that have left
 *     rotate     cell j came from rank r - j
 *
 * Copies inside a rank cost nothing here. A block is counted with the size of its cell, which
 * is up to one byte off where n does not divide the size. */
#include "collectives/algorithm.h"
#include "collectives/binomial.h"

enum { ROTATE, ROUNDS, ROTATE_BACK };

typedef struct {
    CcsSchedule *schedule;
    uint32_t n;
    uint32_t channel;
    CcsLaneId *ready; /* by rank: the lane after which its cells are as the next round wants them */
} Builder;

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    uint32_t n_rounds = ccs_binomial_rounds(n_ranks);
    uint64_t n_blocks = 0;

    (void)n_chunks;
    for (uint32_t j = 1; j < n_ranks; j++)
        n_blocks += (uint32_t)__builtin_popcount(j);
    *ret_terms =
        (CcsTerms){.latencies = n_rounds, .costs = n_rounds, .sizes = (double)n_blocks / n_ranks};
    return true;
}

/* The cells whose number has bit @distance. */
static CcsBox cells_of_round(const Builder *builder, uint32_t distance, CcsBuffer buffer)
{
    uint32_t n_rows = (builder->n + distance - 1) / (2 * distance);
    uint32_t end = n_rows * 2 * distance; /* of the last row, if it were whole */

    return (CcsBox){.buffer = buffer,
                    .base = distance,
                    .n1 = distance,
                    .stride1 = 1,
                    .n2 = n_rows,
                    .stride2 = 2 * distance,
                    .n_left_out = end > builder->n ? end - builder->n : 0};
}

static CcsLaneId add_copy(const Builder *builder, CcsRank rank, uint32_t phase, CcsBox from,
                          CcsBox to)
{
    return ccs_schedule_add_lane(builder->schedule, &(CcsLane){.source = rank,
                                                               .peer = rank,
                                                               .channel = builder->channel,
                                                               .phase = phase,
                                                               .n_messages = 1,
                                                               .from = from,
                                                               .to = to});
}

static void rotate(const Builder *builder, CcsRank rank)
{
    uint32_t n = builder->n;
    CcsBox input = {.buffer = CCS_BUFFER_INPUT, .base = rank, .n1 = n, .stride1 = 1, .wrap = n};
    CcsBox cells = {.buffer = CCS_BUFFER_SCRATCH, .n1 = n, .stride1 = 1};

    builder->ready[rank] = add_copy(builder, rank, ROTATE, input, cells);
}

static void rotate_back(const Builder *builder, CcsRank rank)
{
    uint32_t n = builder->n;
    CcsBox cells = {.buffer = CCS_BUFFER_SCRATCH, .n1 = n, .stride1 = 1};
    CcsBox output = {
        .buffer = CCS_BUFFER_OUTPUT, .base = rank, .n1 = n, .stride1 = n - 1, .wrap = n};

    ccs_schedule_gate(builder->schedule, add_copy(builder, rank, ROTATE_BACK, cells, output),
                      builder->ready[rank]);
}

/* A rank is sent the blocks of a round when it has put away those of the round before. */
static void add_round(const Builder *builder, uint32_t distance)
{
    CcsSchedule *schedule = builder->schedule;
    uint32_t n = builder->n;
    CcsLaneId base = ccs_schedule_n_lanes(schedule);
    CcsBox cells = cells_of_round(builder, distance, CCS_BUFFER_SCRATCH);
    CcsBox landing = cells_of_round(builder, distance, CCS_BUFFER_OUTPUT);

    for (CcsRank rank = 0; rank < n; rank++) {
        CcsRank peer = (CcsRank)(((uint64_t)rank + distance) % n);
        CcsLaneId lane = ccs_schedule_add_lane(
            schedule,
            &(CcsLane){.source = rank,
                       .peer = peer,
                       .channel = builder->channel,
                       .phase = ROUNDS,
                       .n_messages = 1,
                       .from = cells,
                       .to = landing,
                       .path = ccs_schedule_path(schedule, rank, peer, builder->channel)});
        ccs_schedule_gate(schedule, lane, builder->ready[rank]);
        if (distance > 1)
            ccs_schedule_gate(schedule, lane, builder->ready[peer]);
    }
    for (CcsRank rank = 0; rank < n; rank++) {
        builder->ready[rank] = add_copy(builder, rank, ROUNDS, landing, cells);
        ccs_schedule_gate(schedule, builder->ready[rank], base + (rank + n - distance) % n);
        ccs_schedule_gate_sent(schedule, builder->ready[rank], base + rank);
    }
}

static bool build(CcsSchedule *schedule, GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    g_autofree CcsLaneId *ready = g_new(CcsLaneId, n);
    Builder builder = {.schedule = schedule, .n = n, .ready = ready};

    (void)error;
    ccs_schedule_add_phase(schedule, "rotation of the input");
    ccs_schedule_add_phase(schedule, "rounds");
    ccs_schedule_add_phase(schedule, "rotation of the output");
    ccs_schedule_set_n_chunks(schedule, n);
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        builder.channel = channel;
        for (CcsRank rank = 0; rank < n; rank++)
            rotate(&builder, rank);
        for (uint32_t i = 0; i < ccs_binomial_rounds(n); i++)
            add_round(&builder, 1U << i);
        for (CcsRank rank = 0; rank < n; rank++)
            rotate_back(&builder, rank);
    }
    return true;
}

const CcsAlgorithm ccs_alltoall_bruck = {
    .collective = CCS_ALLTOALL,
    .name = "bruck",
    .summary = "log2 n rounds, in each of which half of the blocks move",
    .idea = "A block that must travel j ranks on goes by the bits of j: in round i all blocks "
            "with bit i move 2^i ranks, in one message. Every block moves log2(n) / 2 times on "
            "average.",
    .when = "For blocks so small that the number of messages is all that counts.",
    .formula = "ceil(log2 n) (a + o) + b/n S/B, with b the set bits of all numbers below n "
               "(n/2 log2 n for a power of two)",
    .assumption = "Copies inside a rank cost nothing (Bruck et al. 1997, radix 2).",
    .terms = terms,
    .build = build,
};
