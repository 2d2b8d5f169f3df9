/* The algorithms that add up, and allgather, which is a reducescatter backwards. */
#include <math.h>

#include "base/error.h"
#include "collectives/verify.h"
#include "tests/support/catalogue.h"
#include "tests/support/check_main.h"

static const CcsCollectives group[] = {CCS_ALLREDUCE, CCS_ALLGATHER, CCS_REDUCESCATTER, CCS_REDUCE,
                                       CCS_N_COLLECTIVES};

START_TEST(sums_end_where_they_belong_on_a_flat_switch)
{
    uint32_t n = ccs_rank_counts[_i];
    g_autofree char *machine = ccs_flat_switch(n);

    ccs_try_all(group, (CcsAsked){.machine = machine, .n_channels = n < 20 ? 2 : 1, .n_chunks = 3},
                n, ccs_try_to_verify);
}
END_TEST

START_TEST(sums_end_where_they_belong_on_uneven_nodes)
{
    for (uint32_t n_channels = 1; n_channels < 4; n_channels++)
        ccs_try_all(
            group,
            (CcsAsked){.machine = ccs_uneven[_i].machine, .n_channels = n_channels, .n_chunks = 3},
            ccs_uneven[_i].n_ranks, ccs_try_to_verify);
}
END_TEST

START_TEST(no_time_is_below_the_bound)
{
    for (uint32_t n_channels = 1; n_channels < 4; n_channels += 2)
        ccs_try_all(
            group,
            (CcsAsked){.machine = ccs_uneven[_i].machine, .n_channels = n_channels, .n_chunks = 5},
            ccs_uneven[_i].n_ranks, ccs_try_bound);
}
END_TEST

START_TEST(the_time_on_a_flat_switch_is_that_of_the_formula)
{
    ccs_try_formulas(group);
}
END_TEST

START_TEST(every_algorithm_is_explained)
{
    ccs_try_explanations(group);
}
END_TEST

START_TEST(neighbours_of_an_odd_number_of_ranks_are_refused)
{
    g_autofree char *machine = ccs_flat_switch(7);
    CcsAsked asked = {
        .machine = machine, .collective = "allgather", .algorithm = "neighbor_exchange"};
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;
    ck_assert(!ccs_ask_schedule(&asked, &answer));

    g_autoptr(CcsSchedule) schedule =
        ccs_algorithm_schedule(ccs_algorithm_find(CCS_ALLGATHER, "neighbor_exchange", NULL),
                               answer.communicator, 0, 1, 1, &error);
    ck_assert_ptr_null(schedule);
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    ck_assert_str_eq(error->message, "the neighbor_exchange algorithm pairs ranks, so it needs an"
                                     " even number of them, not 7");
}
END_TEST

/* The all-gather by doubling with a fold, round by round: when rank r has got what it gets in a
 * round, and when what it sends has left, in microseconds; with 1 us for a block. */
typedef struct {
    double got[128];
    double sent[128];
} Clock;

static void play_round(Clock *clock, const uint32_t *peers, const uint32_t *n_blocks, uint32_t n)
{
    Clock before = *clock;

    for (uint32_t rank = 0; rank < n; rank++) {
        uint32_t peer = peers[rank];
        if (peer == rank)
            continue;
        double start = MAX(MAX(before.got[rank], before.got[peer]), before.sent[rank]);
        clock->sent[rank] = start + 0.7 + n_blocks[rank];
        clock->got[peer] = clock->sent[rank] + 3;
    }
}

/* Rank 2 q + 1 is folded into 2 q for q < n - 2^h. */
static double folded_allgather_us(uint32_t n)
{
    uint32_t p = 1;
    uint32_t peers[128] = {0};
    uint32_t n_blocks[128] = {0};
    uint32_t ranks[128];
    Clock clock = {0};
    double last = 0;
    while (2 * p <= n)
        p *= 2;
    for (uint32_t i = 0; i < p; i++)
        ranks[i] = i < n - p ? 2 * i : i + n - p;

    for (uint32_t rank = 0; rank < n; rank++) {
        peers[rank] = rank < 2 * (n - p) && rank % 2 == 1 ? rank - 1 : rank;
        n_blocks[rank] = 1;
    }
    play_round(&clock, peers, n_blocks, n);
    for (uint32_t distance = p / 2; distance > 0; distance /= 2) {
        for (uint32_t rank = 0; rank < n; rank++)
            peers[rank] = rank;
        for (uint32_t i = 0; i < p; i++) { /* it has the blocks of i, i + 2 d, ..., below n */
            peers[ranks[i]] = ranks[i ^ distance];
            n_blocks[ranks[i]] = 0;
            for (uint32_t block = i % (2 * distance); block < n; block += 2 * distance)
                n_blocks[ranks[i]]++;
        }
        play_round(&clock, peers, n_blocks, n);
    }
    for (uint32_t rank = 0; rank < n; rank++) {
        peers[rank] = rank < 2 * (n - p) && rank % 2 == 0 ? rank + 1 : rank;
        n_blocks[rank] = n - 1;
    }
    play_round(&clock, peers, n_blocks, n);
    for (uint32_t rank = 0; rank < n; rank++)
        last = MAX(last, clock.got[rank]);
    return last;
}

START_TEST(a_folded_allgather_takes_the_time_of_its_rounds)
{
    uint32_t n = ccs_rank_counts[_i];
    g_autofree char *machine = ccs_flat_switch(n);
    double us = ccs_ask_us(&(CcsAsked){.machine = machine,
                                       .collective = "allgather",
                                       .algorithm = "recursive_doubling",
                                       .size = (CcsBytes)n * 50000,
                                       .transport = ccs_costly});

    ck_assert_double_eq_tol(us, folded_allgather_us(n), 20e-6);
}
END_TEST

#define CLUSTER                                                                                    \
    "nodes: 4\n"                                                                                   \
    "node: {gpus: 8, nvlink: {bandwidth: 300 GB/s, latency: 1 us},"                                \
    " nics: {count: 8, bandwidth: 50 GB/s, latency: 1 us}}\n"                                      \
    "fabric: {kind: switch}\n"

/* Bytes that leave the NICs of 4 nodes of 8 ranks in all, for 32 MB (facts of the algorithms:
 * what has been summed or is to be spread inside a node crosses once). */
typedef struct {
    const char *collective;
    const char *algorithm;
    uint32_t n_channels;
    double megabytes;
} Crossing;

static const Crossing crossings[] = {
    {"allreduce", "hierarchical", 1, 4 * 2 * 0.75 * 32},
    {"allreduce", "torus2d", 2, 4 * 2 * 0.75 * 32},
    {"allreduce", "halving_doubling", 1, 4 * 2 * 0.75 * 32},
    {"allreduce", "recursive_doubling", 1, 32 * 2 * 32},
    {"allreduce", "direct", 1, 32 * 24 * 32},
    {"allgather", "hierarchical", 1, 32 * 3},
    {"allgather", "recursive_doubling", 4, 32 * 3},
    {"allgather", "ring", 1, 4 * 31},
    {"allgather", "direct", 1, 32 * 24},
    {"reducescatter", "hierarchical", 1, 32 * 3},
    {"reducescatter", "recursive_halving", 4, 32 * 3},
    {"reduce", "reduce_scatter_gather", 1, 3 * 32 + 32},
};

START_TEST(what_crosses_between_nodes_is_as_much_as_the_algorithm_says)
{
    CcsAsked asked = {.machine = CLUSTER,
                      .collective = crossings[_i].collective,
                      .algorithm = crossings[_i].algorithm,
                      .n_channels = crossings[_i].n_channels,
                      .size = 32000000};
    g_auto(CcsAnswer) answer;
    CcsBytes bytes = 0;
    ccs_ask(&asked, &answer);

    for (CcsLinkId id = 0; id < ccs_topology_n_links(answer.topology); id++) {
        const CcsLink *link = ccs_topology_link(answer.topology, id);
        bool is_leaving = ccs_topology_vertex(answer.topology, link->from)->node != CCS_NO_NODE &&
                          ccs_topology_vertex(answer.topology, link->to)->node == CCS_NO_NODE;
        bytes += is_leaving ? answer.outcome.links[id].bytes : 0;
    }
    ck_assert_double_eq((double)bytes, crossings[_i].megabytes * 1e6);
}
END_TEST

/* 2 (n - 1) / n S/B for each grid, and 2 (x + y - 2) messages. */
START_TEST(a_grid_takes_the_same_time_whichever_way_it_lies)
{
    static const struct {
        uint32_t n_nodes;
        uint32_t n_gpus;
    } grids[] = {{2, 8}, {8, 2}, {4, 4}};
    g_autofree char *machine =
        g_strdup_printf("nodes: %u\n"
                        "node: {gpus: %u, nvlink: {bandwidth: 50 GB/s, latency: 1 us},"
                        " nics: {count: %u, bandwidth: 50 GB/s, latency: 0.5 us}}\n"
                        "fabric: {kind: switch}\n",
                        grids[_i].n_nodes, grids[_i].n_gpus, grids[_i].n_gpus);
    const char *const algorithms[] = {"hierarchical", "torus2d"};
    double expected = 1.875 * 1e9 / 50e3 + 2.0 * (grids[_i].n_nodes - 1 + grids[_i].n_gpus - 1);

    for (size_t i = 0; i < G_N_ELEMENTS(algorithms); i++)
        ck_assert_double_eq_tol(ccs_ask_us(&(CcsAsked){.machine = machine,
                                                       .collective = "allreduce",
                                                       .algorithm = algorithms[i],
                                                       .size = 1000000000}),
                                expected, 40e-6);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("catalogue_reductions");
    TCase *tcase = tcase_create("catalogue_reductions");

    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, sums_end_where_they_belong_on_a_flat_switch, 0, ccs_n_rank_counts);
    tcase_add_loop_test(tcase, sums_end_where_they_belong_on_uneven_nodes, 0, ccs_n_uneven);
    tcase_add_loop_test(tcase, no_time_is_below_the_bound, 0, ccs_n_uneven);
    tcase_add_test(tcase, the_time_on_a_flat_switch_is_that_of_the_formula);
    tcase_add_test(tcase, every_algorithm_is_explained);
    tcase_add_test(tcase, neighbours_of_an_odd_number_of_ranks_are_refused);
    tcase_add_loop_test(tcase, a_folded_allgather_takes_the_time_of_its_rounds, 1,
                        ccs_n_rank_counts);
    tcase_add_loop_test(tcase, what_crosses_between_nodes_is_as_much_as_the_algorithm_says, 0,
                        G_N_ELEMENTS(crossings));
    tcase_add_loop_test(tcase, a_grid_takes_the_same_time_whichever_way_it_lies, 0, 3);
    suite_add_tcase(suite, tcase);
    return suite;
}
