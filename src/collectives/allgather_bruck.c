/* allgather_bruck.c - the ranks' windows of blocks double each round, for any number of ranks
 *
 * A rank keeps the blocks in the order in which they come: its own, that of the next rank,
 * and so on, counted round. In round i it sends the first 2^i (in the last round only what is
 * missing) to the rank 2^i before it. In the end a copy puts them in their places. (Bruck et
 * al. 1997.) */
#include "collectives/algorithm.h"
#include "collectives/binomial.h"
#include "collectives/rounds.h"

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    uint32_t n_rounds = ccs_binomial_rounds(n_ranks);

    (void)n_chunks;
    *ret_terms =
        (CcsTerms){.latencies = n_rounds, .costs = n_rounds, .sizes = (n_ranks - 1.0) / n_ranks};
    return true;
}

/* All ranks copy @n blocks between the output, from their own one on, and the window. */
static void copy(CcsRounds *rounds, uint32_t n, bool is_out)
{
    uint32_t n_ranks = ccs_schedule_n_ranks(rounds->schedule);

    for (CcsRank rank = 0; rank < n_ranks; rank++) {
        CcsBox window = {.buffer = CCS_BUFFER_SCRATCH, .n1 = n, .stride1 = 1};
        CcsBox places = {
            .buffer = CCS_BUFFER_OUTPUT, .base = rank, .n1 = n, .stride1 = 1, .wrap = n_ranks};
        ccs_rounds_send(rounds, &(CcsLane){.source = rank,
                                           .peer = rank,
                                           .from = is_out ? window : places,
                                           .to = is_out ? places : window});
    }
    ccs_rounds_end(rounds);
}

static void send(CcsRounds *rounds, uint32_t distance)
{
    uint32_t n = ccs_schedule_n_ranks(rounds->schedule);

    for (CcsRank rank = 0; rank < n; rank++) {
        CcsBox from = {
            .buffer = CCS_BUFFER_SCRATCH, .n1 = MIN(distance, n - distance), .stride1 = 1};
        CcsBox to = from;
        to.base = distance;
        ccs_rounds_send(
            rounds,
            &(CcsLane){.source = rank, .peer = (rank + n - distance) % n, .from = from, .to = to});
    }
    ccs_rounds_end(rounds);
}

static void add_channel(CcsSchedule *schedule, uint32_t channel)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    g_auto(CcsRounds) rounds;

    ccs_rounds_init(&rounds, schedule, channel);
    copy(&rounds, 1, false);
    for (uint32_t distance = 1; distance < n; distance *= 2)
        send(&rounds, distance);
    copy(&rounds, n, true);
}

static bool build(CcsSchedule *schedule, GError **error)
{
    (void)error;
    ccs_schedule_add_phase(schedule, "all-gather");
    ccs_schedule_set_n_chunks(schedule, ccs_schedule_n_ranks(schedule));
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++)
        add_channel(schedule, channel);
    return true;
}

const CcsAlgorithm ccs_allgather_bruck = {
    .collective = CCS_ALLGATHER,
    .name = "bruck",
    .summary = "windows of blocks double each round, for any number of ranks",
    .idea = "In each round every rank sends all blocks it has to a rank twice as far back, and "
            "what comes in continues its own. In the end a local copy puts them in their places.",
    .when = "For small blocks on any number of ranks: the fewest rounds, at the price of a copy.",
    .formula = "ceil(log2 n) (a + o) + (n-1)/n S/B",
    .assumption = "The local copies cost nothing; all blocks are equal (Bruck et al. 1997).",
    .terms = terms,
    .build = build,
};
