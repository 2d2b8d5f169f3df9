/* The algorithms that spread data or deal it out: broadcast, gather, scatter, the all-to-alls,
 * sendrecv and barrier. */
#include <math.h>

#include "collectives/verify.h"
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

static const uint32_t rank_counts[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                       13, 14, 15, 16, 17, 24, 31, 32, 33, 64, 72};

#define UNEVEN(gpus)                                                                               \
    "nodes: [" gpus "]\n"                                                                          \
    "node: {gpus: 8, nvlink: {bandwidth: 300 GB/s, latency: 1 us},"                                \
    " nics: {count: 1, bandwidth: 50 GB/s, latency: 1 us}}\n"                                      \
    "fabric: {kind: switch}\n"

static const struct {
    const char *machine;
    uint32_t n_ranks;
} uneven[] = {
    {UNEVEN("{gpus: 8}, {gpus: 4}"), 12},
    {UNEVEN("{gpus: 3}, {gpus: 1}, {gpus: 2}"), 6},
    {UNEVEN("{gpus: 2}, {gpus: 1}"), 3},
    {UNEVEN("{gpus: 6}, {gpus: 1}, {gpus: 1}, {gpus: 1}, {gpus: 1}"), 10},
};

/* One GPU a node on one switch: 50 GB/s, and 3 us from any GPU to any other. */
static char *flat_switch(uint32_t n_ranks)
{
    return g_strdup_printf(
        "nodes: %u\n"
        "node: {gpus: 1, nics: {count: 1, bandwidth: 50 GB/s, latency: 1.5 us}}\n"
        "fabric: {kind: switch}\n",
        n_ranks);
}

static const CcsTransport costly = {.message_cost = 700000, .reduce_rate = CCS_RATE_UNLIMITED};

static bool is_of_spread(const CcsAlgorithm *algorithm)
{
    switch (algorithm->collective) {
    case CCS_BROADCAST:
    case CCS_GATHER:
    case CCS_SCATTER:
    case CCS_ALLTOALL:
    case CCS_ALLTOALLV:
    case CCS_SENDRECV:
    case CCS_BARRIER:
        return true;
    case CCS_ALLREDUCE:
    case CCS_ALLGATHER:
    case CCS_REDUCESCATTER:
    case CCS_REDUCE:
    case CCS_PROGRAM:
        break;
    }
    return false;
}

typedef void TryAlgorithm(const CcsAsked *asked);

/* Each algorithm of the group, with each root that is worth a try, as @asked says. */
static void try_all(CcsAsked asked, uint32_t n_ranks, TryAlgorithm *try)
{
    const CcsRank roots[] = {0, n_ranks - 1, n_ranks / 2};

    for (size_t i = 0; ccs_algorithms[i] != NULL; i++) {
        const CcsCollectiveInfo *info = ccs_collective_info(ccs_algorithms[i]->collective);
        if (!is_of_spread(ccs_algorithms[i]))
            continue;
        asked.collective = info->name;
        asked.algorithm = ccs_algorithms[i]->name;
        for (size_t j = 0; j < (info->has_root ? MIN(n_ranks, G_N_ELEMENTS(roots)) : 1); j++) {
            asked.root = roots[j];
            try(&asked);
        }
    }
}

static void verify(const CcsAsked *asked)
{
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;
    ck_assert(ccs_ask_schedule(asked, &answer));
    bool is_right = ccs_verify(answer.schedule, &error);

    for (uint32_t seed = 2; seed < 4 && is_right; seed++)
        is_right = ccs_verify_play(answer.schedule, CCS_PLAY_RANDOM, seed, &error);
    ck_assert_msg(is_right, "%s %s, %u ranks, root %u: %s", asked->collective, asked->algorithm,
                  ccs_schedule_n_ranks(answer.schedule), asked->root,
                  error == NULL ? "" : error->message);
}

START_TEST(data_end_where_they_belong_on_a_flat_switch)
{
    uint32_t n = rank_counts[_i];
    g_autofree char *machine = flat_switch(n);

    try_all((CcsAsked){.machine = machine, .n_channels = n < 20 ? 2 : 1, .n_chunks = 3}, n, verify);
}
END_TEST

START_TEST(data_end_where_they_belong_on_uneven_nodes)
{
    try_all((CcsAsked){.machine = uneven[_i].machine, .n_channels = 2, .n_chunks = 3},
            uneven[_i].n_ranks, verify);
}
END_TEST

/* Also of sizes that ranks and channels do not divide, and of less than a byte a rank. */
static void compare_with_bound(const CcsAsked *asked)
{
    static const CcsBytes sizes[] = {0, 1, 5, 1000, 65537};
    g_auto(CcsAnswer) answer;
    ccs_ask(asked, &answer);

    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        ccs_ask_size(&answer, asked, sizes[i]);
        ck_assert_msg(answer.outcome.time >= answer.bound.time,
                      "%s %s of %u bytes: %.6f us below the %s bound", asked->collective,
                      asked->algorithm, (unsigned)sizes[i], ccs_time_us(answer.outcome.time),
                      answer.bound.name);
    }
}

START_TEST(no_time_is_below_the_bound)
{
    for (uint32_t n_channels = 1; n_channels < 4; n_channels += 2)
        try_all((CcsAsked){.machine = uneven[_i].machine, .n_channels = n_channels, .n_chunks = 5},
                uneven[_i].n_ranks, compare_with_bound);
}
END_TEST

/* With 3 us of latency, 0.7 us of message cost and 50 GB/s. */
static double formula_ps(const CcsTerms *terms, CcsBytes size)
{
    return terms->latencies * 3e6 + terms->costs * 7e5 + terms->sizes * (double)size * 1e3 / 50;
}

/* Returns: whether the formula holds for @n ranks. */
static bool compare_with_formula(const CcsAlgorithm *algorithm, uint32_t n)
{
    static const CcsBytes factors[] = {0, 1, 17, 4096, 1000003};
    g_autofree char *machine = flat_switch(n);
    CcsAsked asked = {.machine = machine,
                      .collective = ccs_collective_info(algorithm->collective)->name,
                      .algorithm = algorithm->name,
                      .n_chunks = 8,
                      .transport = costly};
    g_auto(CcsAnswer) answer = {0};
    CcsTerms terms;

    if (algorithm->terms == NULL || !algorithm->terms(n, asked.n_chunks, &terms))
        return false;
    ccs_ask(&asked, &answer);
    for (size_t i = 0; i < G_N_ELEMENTS(factors); i++) {
        CcsBytes size = factors[i] * n * asked.n_chunks;
        ccs_ask_size(&answer, &asked, size);
        double off = (double)answer.outcome.time - formula_ps(&terms, size);
        ck_assert_msg(fabs(off) <= MAX(terms.costs, 1), "%s %s, %u ranks: %.6f us, off by %f ps",
                      asked.collective, asked.algorithm, n, ccs_time_us(answer.outcome.time), off);
    }
    return true;
}

START_TEST(the_time_on_a_flat_switch_is_that_of_the_formula)
{
    static const uint32_t counts[] = {2, 3, 4, 6, 8, 12, 16, 17, 32, 64};

    for (size_t i = 0; ccs_algorithms[i] != NULL; i++) {
        const CcsAlgorithm *algorithm = ccs_algorithms[i];
        uint32_t n_held = 0;
        if (!is_of_spread(algorithm))
            continue;
        for (size_t j = 0; j < G_N_ELEMENTS(counts); j++)
            n_held += compare_with_formula(algorithm, counts[j]) ? 1 : 0;
        ck_assert_int_eq(algorithm->formula != NULL, algorithm->terms != NULL);
        ck_assert_msg(n_held >= 6 || algorithm->terms == NULL, "%s: %u", algorithm->name, n_held);
    }
}
END_TEST

START_TEST(every_algorithm_is_explained)
{
    for (size_t i = 0; ccs_algorithms[i] != NULL; i++) {
        const CcsAlgorithm *algorithm = ccs_algorithms[i];
        if (!is_of_spread(algorithm))
            continue;
        ck_assert_ptr_nonnull(algorithm->idea);
        ck_assert_ptr_nonnull(algorithm->when);
        ck_assert_ptr_nonnull(algorithm->assumption);
    }
}
END_TEST

/* Whether @rank sends in phase @phase. */
static bool sends_in(const CcsSchedule *schedule, CcsRank rank, uint32_t phase)
{
    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(schedule, id);
        if (lane->source == rank && lane->phase == phase)
            return true;
    }
    return false;
}

START_TEST(only_the_root_of_the_double_tree_sends_in_both_trees)
{
    g_autofree char *machine = flat_switch(rank_counts[_i]);
    g_auto(CcsAnswer) answer;
    ck_assert(ccs_ask_schedule(&(CcsAsked){.machine = machine,
                                           .collective = "broadcast",
                                           .algorithm = "double_tree",
                                           .n_chunks = 2},
                               &answer));

    for (CcsRank rank = 1; rank < rank_counts[_i]; rank++)
        ck_assert(!sends_in(answer.schedule, rank, 0) || !sends_in(answer.schedule, rank, 1));
}
END_TEST

START_TEST(many_chunks_down_the_double_tree_take_the_time_of_one_buffer)
{
    g_autofree char *machine = flat_switch(rank_counts[_i]);
    double us = ccs_ask_us(&(CcsAsked){.machine = machine,
                                       .collective = "broadcast",
                                       .algorithm = "double_tree",
                                       .size = 50000000000, /* a second of the port */
                                       .n_chunks = 1024});

    ck_assert_double_ge(us / 1e6, 1);
    ck_assert_double_lt(us / 1e6, 1 + 30.0 / 1024);
}
END_TEST

/* When the rank at @at in the order has the whole buffer, if every rank sends it to both of its
 * children at once: the tree of one chunk, by recursion. */
static double single_tree_ps(uint32_t at, uint32_t n, double move_ps)
{
    if (at == 0)
        return 0;
    uint32_t bit = at & (~at + 1);
    uint32_t up = ((at ^ bit) | bit << 1) < n ? (at ^ bit) | bit << 1 : at ^ bit;
    uint32_t n_children = 0;
    for (uint32_t other = 1; other < n; other++) {
        uint32_t low = other & (~other + 1);
        uint32_t above = (other ^ low) | low << 1;
        n_children += (above < n ? above : other ^ low) == up;
    }
    return single_tree_ps(up, n, move_ps) + 3e6 + 7e5 + n_children * move_ps;
}

START_TEST(one_chunk_goes_down_one_tree)
{
    const uint32_t n = rank_counts[_i];
    g_autofree char *machine = flat_switch(n);
    double longest = 0;
    CcsTime time = ccs_ask_time(&(CcsAsked){.machine = machine,
                                            .collective = "broadcast",
                                            .algorithm = "double_tree",
                                            .size = 1000000,
                                            .transport = costly});

    for (uint32_t at = 0; at < n; at++)
        longest = MAX(longest, single_tree_ps(at, n, 20e6));
    ck_assert_double_eq_tol((double)time, longest, n);
}
END_TEST

START_TEST(a_message_of_a_barrier_is_empty)
{
    g_autofree char *machine = flat_switch(6);
    g_auto(CcsAnswer) answer;
    ccs_ask(&(CcsAsked){.machine = machine, .collective = "barrier", .size = 1000000}, &answer);

    ck_assert_int_eq(answer.outcome.time, 3 * 3000000);
    ck_assert_uint_eq(answer.outcome.n_messages, 3 * 6);
    ck_assert_uint_eq(ccs_answer_class_bytes(&answer, "nic"), 0);
}
END_TEST

START_TEST(a_rail_of_the_hierarchical_alltoall_gets_one_message_from_each_other_node)
{
    CcsAsked asked = {.machine = "nodes: 3\n"
                                 "node: {gpus: 4, nvlink: {bandwidth: 300 GB/s},"
                                 " nics: {count: 4, bandwidth: 50 GB/s}}\n"
                                 "fabric: {kind: leaf-spine, spines: 2}\n",
                      .collective = "alltoall",
                      .algorithm = "hierarchical"};
    g_auto(CcsAnswer) answer;
    uint32_t n_across = 0;
    ck_assert(ccs_ask_schedule(&asked, &answer));

    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(answer.schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(answer.schedule, id);
        if (lane->source / 4 == lane->peer / 4)
            continue;
        n_across++;
        ck_assert_uint_eq(lane->source % 4, lane->peer % 4);
        ck_assert_uint_eq(ccs_box_n_chunks(&lane->from), 4);
    }
    ck_assert_uint_eq(n_across, 3 * 2 * 4);
}
END_TEST

START_TEST(data_go_any_distance)
{
    uint32_t distance = (uint32_t)_i;
    g_autofree char *machine = flat_switch(7);
    g_autoptr(GError) error = NULL;
    g_auto(CcsAnswer) answer;
    ck_assert(ccs_ask_schedule(
        &(CcsAsked){.machine = machine, .collective = "sendrecv", .distance = distance}, &answer));

    ck_assert_msg(ccs_verify(answer.schedule, &error), "%s", error == NULL ? "" : error->message);
    ck_assert_uint_eq(ccs_schedule_lane(answer.schedule, 0)->peer, distance % 7);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("catalogue_spread");
    TCase *tcase = tcase_create("catalogue_spread");
    const int n_counts = (int)G_N_ELEMENTS(rank_counts);

    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, data_end_where_they_belong_on_a_flat_switch, 0, n_counts);
    tcase_add_loop_test(tcase, data_end_where_they_belong_on_uneven_nodes, 0, G_N_ELEMENTS(uneven));
    tcase_add_loop_test(tcase, no_time_is_below_the_bound, 0, G_N_ELEMENTS(uneven));
    tcase_add_test(tcase, the_time_on_a_flat_switch_is_that_of_the_formula);
    tcase_add_test(tcase, every_algorithm_is_explained);
    tcase_add_loop_test(tcase, only_the_root_of_the_double_tree_sends_in_both_trees, 1, n_counts);
    tcase_add_loop_test(tcase, many_chunks_down_the_double_tree_take_the_time_of_one_buffer, 1,
                        n_counts);
    tcase_add_loop_test(tcase, one_chunk_goes_down_one_tree, 1, n_counts);
    tcase_add_test(tcase, a_message_of_a_barrier_is_empty);
    tcase_add_loop_test(tcase, data_go_any_distance, 1, 7);
    tcase_add_loop_test(tcase, data_go_any_distance, 8, 10);
    tcase_add_test(tcase,
                   a_rail_of_the_hierarchical_alltoall_gets_one_message_from_each_other_node);
    suite_add_tcase(suite, tcase);
    return suite;
}
