/* allreduce_torus2d.c - reduce-scatter along rows, allreduce along columns, all-gather along rows
 *
 * The ranks stand in y rows of x. Where there are equal nodes of several ranks, these are the
 * rows; else x and y are the factors of n that are nearest to each other, which for a prime
 * number is one row. The same bytes as around one ring, in 2 (x + y - 2) messages. */
#include "collectives/algorithm.h"
#include "collectives/two_level.h"

static uint32_t most_square(uint32_t n)
{
    uint32_t y = 1;

    for (uint32_t factor = 2; factor <= n / factor; factor++) {
        if (n % factor == 0)
            y = factor;
    }
    return y;
}

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    double y = most_square(n_ranks);
    double n_steps = 2 * (n_ranks / y + y - 2);

    (void)n_chunks;
    *ret_terms = (CcsTerms){.latencies = n_steps,
                            .costs = n_steps,
                            .sizes = 2 * (n_ranks - 1.0) / n_ranks,
                            .reductions = (n_ranks - 1.0) / n_ranks};
    return true;
}

static uint32_t n_rows(const CcsSchedule *schedule)
{
    const CcsCommunicator *communicator = ccs_schedule_communicator(schedule);
    uint32_t n_nodes = ccs_communicator_n_nodes(communicator);
    uint32_t n_local = ccs_communicator_n_local(communicator, 0);
    bool is_even = n_nodes > 1 && n_local > 1;

    for (uint32_t node = 1; node < n_nodes; node++)
        is_even = is_even && ccs_communicator_n_local(communicator, node) == n_local;
    return is_even ? n_nodes : most_square(ccs_schedule_n_ranks(schedule));
}

static bool build(CcsSchedule *schedule, GError **error)
{
    static const char *const phases[] = {"reduce-scatter along rows", "allreduce along columns",
                                         "all-gather along rows"};
    uint32_t y = n_rows(schedule);
    uint32_t x = ccs_schedule_n_ranks(schedule) / y;
    g_autofree CcsGroup *rows = g_new(CcsGroup, y);

    for (uint32_t i = 0; i < y; i++)
        rows[i] = (CcsGroup){i * x, x};
    return ccs_schedule_add_two_level(schedule, rows, y, phases, error);
}

const CcsAlgorithm ccs_allreduce_torus2d = {
    .collective = CCS_ALLREDUCE,
    .name = "torus2d",
    .summary = "rings along the rows and columns of a grid of ranks",
    .idea = "The ranks stand in a grid. Each row splits its sum between its ranks, each column "
            "finishes its part around a ring, and each row puts the parts together.",
    .when = "On a torus, or for middle sizes on many ranks: the bytes of a ring in about "
            "4 sqrt(n) messages.",
    .formula = "2(x+y-2) (a + o) + 2 (n-1)/n S/B + (n-1)/n S/G, with x y = n",
    .assumption = "x and y are the factors of n that are nearest to each other; all chunks are "
                  "equal (Mikami et al. 2018).",
    .terms = terms,
    .build = build,
};
