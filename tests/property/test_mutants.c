/* Schedules that are broken on purpose: the verifier must find each of them, or it must be
 * shown that what was changed makes no difference. */
#include <stdio.h>
#include <string.h>

#include "collectives/cells.h"
#include "collectives/verify.h"
#include "collectives/waste.h"
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"
#include "tests/support/unrolled.h"

#define N_TRIES  20U /* of each kind, for each schedule */
#define N_RANDOM 3U  /* orders besides the extremes */

static uint32_t below(GRand *random, uint32_t n)
{
    return (uint32_t)g_rand_int_range(random, 0, (gint32)n);
}

static CcsLane *any_lane(CcsSchedule *schedule, GRand *random)
{
    return ccs_schedule_edit_lane(schedule, below(random, ccs_schedule_n_lanes(schedule)));
}

static CcsDependency *any_dependency(CcsSchedule *schedule, GRand *random)
{
    uint32_t n = ccs_schedule_n_dependencies(schedule);
    return n == 0 ? NULL : ccs_schedule_edit_dependency(schedule, below(random, n));
}

/* Changes @schedule somewhere. Returns: false if there is nothing of that kind to change. */
typedef bool Mutate(CcsSchedule *schedule, GRand *random);

static bool drop_a_message(CcsSchedule *schedule, GRand *random)
{
    any_lane(schedule, random)->n_messages--;
    return true;
}

static bool double_a_message(CcsSchedule *schedule, GRand *random)
{
    CcsLane *lane = any_lane(schedule, random);

    lane->n_messages++;
    return !ccs_lane_is_join(lane);
}

/* The same lane once more, waiting for what it waits for. */
static bool double_a_lane(CcsSchedule *schedule, GRand *random)
{
    CcsLaneId id = below(random, ccs_schedule_n_lanes(schedule));
    CcsLane lane = *ccs_schedule_lane(schedule, id);
    uint32_t n = ccs_schedule_n_dependencies(schedule);
    CcsLaneId twin = ccs_schedule_add_lane(schedule, &lane);

    for (uint32_t i = 0; i < n; i++) {
        CcsDependency dependency = *ccs_schedule_dependency(schedule, i);
        if (dependency.is_by_sender)
            return false; /* a family has one lane per rank */
        dependency.after = twin;
        if (ccs_schedule_dependency(schedule, i)->after == id)
            ccs_schedule_depend(schedule, &dependency);
    }
    return !ccs_lane_is_local(&lane);
}

static bool remove_a_lane(CcsSchedule *schedule, GRand *random)
{
    any_lane(schedule, random)->n_messages = 0;
    return true;
}

static bool send_to_another(CcsSchedule *schedule, GRand *random)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    CcsLane *lane = any_lane(schedule, random);

    lane->peer = (lane->peer + 1 + below(random, n - 1)) % n;
    return true;
}

/* Returns: false if nothing came of it. */
static bool move_box(CcsBox *box, uint32_t n_chunks, GRand *random)
{
    CcsBox before = *box;

    switch (below(random, 3)) {
    case 0:
        if (box->modulus > 1)
            box->first = (box->first + 1 + below(random, box->modulus - 1)) % box->modulus;
        break;
    case 1:
        box->step = box->modulus > 2 ? box->step + (below(random, 2) == 0 ? 1 : -1) : box->step;
        break;
    case 2:
        box->base = (box->base + 1 + below(random, n_chunks)) % (n_chunks + 1);
        break;
    }
    return box->first != before.first || box->step != before.step || box->base != before.base;
}

static bool read_another_chunk(CcsSchedule *schedule, GRand *random)
{
    return move_box(&any_lane(schedule, random)->from, ccs_schedule_n_chunks(schedule), random);
}

static bool write_another_chunk(CcsSchedule *schedule, GRand *random)
{
    return move_box(&any_lane(schedule, random)->to, ccs_schedule_n_chunks(schedule), random);
}

static bool move_another_chunk(CcsSchedule *schedule, GRand *random)
{
    CcsLane *lane = any_lane(schedule, random);
    CcsBox before = lane->from;

    if (!move_box(&lane->from, ccs_schedule_n_chunks(schedule), random))
        return false;
    lane->to.first += lane->from.first - before.first;
    lane->to.step += lane->from.step - before.step;
    lane->to.base += lane->from.base - before.base;
    return true;
}

static bool copy_in_place_of_adding(CcsSchedule *schedule, GRand *random)
{
    CcsLane *lane = any_lane(schedule, random);

    return lane->n_reduced-- > 0;
}

static bool add_in_place_of_copying(CcsSchedule *schedule, GRand *random)
{
    CcsLane *lane = any_lane(schedule, random);

    return lane->n_reduced++ < lane->n_messages;
}

static bool drop_a_dependency(CcsSchedule *schedule, GRand *random)
{
    uint32_t n = ccs_schedule_n_dependencies(schedule);

    if (n > 0)
        ccs_schedule_drop_dependency(schedule, below(random, n));
    return n > 0;
}

static bool wait_for_less(CcsSchedule *schedule, GRand *random)
{
    CcsDependency *dependency = any_dependency(schedule, random);

    if (dependency != NULL)
        dependency->distance++;
    return dependency != NULL;
}

static bool wait_for_more(CcsSchedule *schedule, GRand *random)
{
    CcsDependency *dependency = any_dependency(schedule, random);

    return dependency != NULL && dependency->distance-- > 0;
}

static bool begin_to_wait_later(CcsSchedule *schedule, GRand *random)
{
    CcsDependency *dependency = any_dependency(schedule, random);

    if (dependency != NULL)
        dependency->from++;
    return dependency != NULL;
}

static bool wait_the_other_way(CcsSchedule *schedule, GRand *random)
{
    CcsDependency *dependency = any_dependency(schedule, random);

    if (dependency == NULL || dependency->is_by_sender)
        return false;
    *dependency = (CcsDependency){.after = dependency->before,
                                  .before = dependency->after,
                                  .event = dependency->event,
                                  .p_before = dependency->p_after,
                                  .p_after = dependency->p_before,
                                  .distance = dependency->distance};
    return true;
}

static bool wait_for_another_event(CcsSchedule *schedule, GRand *random)
{
    CcsDependency *dependency = any_dependency(schedule, random);

    if (dependency == NULL || dependency->is_by_sender)
        return false;
    dependency->event = dependency->event == CCS_SENT ? CCS_ARRIVED : CCS_SENT;
    return true;
}

static const struct {
    const char *name;
    Mutate *mutate;
} kinds[] = {
    {"message dropped", drop_a_message},
    {"message doubled", double_a_message},
    {"lane doubled", double_a_lane},
    {"lane removed", remove_a_lane},
    {"wrong peer", send_to_another},
    {"wrong chunk read", read_another_chunk},
    {"wrong chunk written", write_another_chunk},
    {"wrong chunk moved", move_another_chunk},
    {"copied, not added", copy_in_place_of_adding},
    {"added, not copied", add_in_place_of_copying},
    {"dependency dropped", drop_a_dependency},
    {"distance greater", wait_for_less},
    {"distance smaller", wait_for_more},
    {"begins later", begin_to_wait_later},
    {"turned round", wait_the_other_way},
    {"other event", wait_for_another_event},
};

#define N_KINDS G_N_ELEMENTS(kinds)

typedef enum {
    BY_PLAYING,   /* in one of the orders */
    BY_SEARCHING, /* only by the search for races, for the least that spreads, or for waste */
    SAME,         /* not caught: the messages are the same, and so are the orders */
    FEWER_ORDERS, /* not caught: only orders are left that were allowed before */
    MORE_ORDERS,  /* not caught: what touches common data comes in the same order as before */
    RIGHT_TOO,    /* not caught: other messages, right in one order and hence in all */
    UNEXPLAINED,
    N_FATES,
} Fate;

static const char *const fate_names[N_FATES] = {
    "caught in play", "by search", "same",        "fewer orders",
    "more orders",    "right too", "unexplained",
};

/* Why it is that a mutant is as good as the original. It has been right in several orders; no
 * other one differs if all that touches common data comes in the same order in all. */
static Fate explain(const CcsSchedule *mutant, const CcsUnrolled *original)
{
    g_autoptr(CcsUnrolled) of = ccs_unrolled_new(mutant);
    bool is_barrier = ccs_schedule_collective(mutant) == CCS_BARRIER;

    if (of == NULL)
        return UNEXPLAINED;
    if (!ccs_unrolled_does_same(of, original))
        return (is_barrier ? ccs_unrolled_spreads(of) : ccs_unrolled_agrees(of, of)) ? RIGHT_TOO
                                                                                     : UNEXPLAINED;
    if (ccs_unrolled_allows_same(of, original))
        return SAME;
    if (ccs_unrolled_allows_less(of, original))
        return FEWER_ORDERS;
    return (is_barrier ? ccs_unrolled_spreads(of) : ccs_unrolled_agrees(of, original))
               ? MORE_ORDERS
               : UNEXPLAINED;
}

static bool is_right_when_played(const CcsSchedule *schedule)
{
    bool is_right = ccs_verify_play(schedule, CCS_PLAY_DELIVER_FIRST, 0, NULL) &&
                    ccs_verify_play(schedule, CCS_PLAY_DELIVER_LAST, 0, NULL);

    for (uint32_t seed = 1; is_right && seed <= N_RANDOM; seed++)
        is_right = ccs_verify_play(schedule, CCS_PLAY_RANDOM, seed, NULL);
    return is_right;
}

static Fate try(const CcsSchedule *mutant, const CcsUnrolled *original)
{
    if (!is_right_when_played(mutant))
        return BY_PLAYING;
    if (!ccs_verify_orders(mutant, N_RANDOM, NULL) || !ccs_waste_check(mutant, NULL))
        return BY_SEARCHING;
    return explain(mutant, original);
}

typedef struct {
    uint32_t n[N_KINDS][N_FATES];
    GRand *random;
    uint32_t n_schedules;
} Tally;

static void try_schedule(const CcsSchedule *schedule, const char *name, Tally *tally)
{
    g_autoptr(CcsUnrolled) original = ccs_unrolled_new(schedule);

    ck_assert_msg(ccs_verify_orders(schedule, N_RANDOM, NULL), "%s is wrong", name);
    ck_assert_msg(ccs_waste_check(schedule, NULL), "%s sends what nobody needs", name);
    ck_assert_ptr_nonnull(original);
    ck_assert_msg(ccs_schedule_collective(schedule) == CCS_BARRIER ||
                      ccs_unrolled_agrees(original, original),
                  "%s leaves orders open", name);
    tally->n_schedules++;
    for (size_t kind = 0; kind < N_KINDS; kind++) {
        for (uint32_t i = 0; i < N_TRIES; i++) {
            g_autoptr(CcsSchedule) mutant = ccs_schedule_copy(schedule);
            if (!kinds[kind].mutate(mutant, tally->random))
                continue;
            Fate fate = try(mutant, original);
            tally->n[kind][fate]++;
            if (fate == UNEXPLAINED)
                printf("# not caught and not explained: %s, %s, try %u\n", name, kinds[kind].name,
                       i);
        }
    }
}

#define NODES(gpus)                                                                                \
    "nodes: [" gpus "]\n"                                                                          \
    "node: {gpus: 8, nvlink: {bandwidth: 300 GB/s}, nics: {count: 1, bandwidth: 50 GB/s}}\n"       \
    "fabric: {kind: switch}\n"

static const char *const machines[] = {
    NODES("{gpus: 1}, {gpus: 1}, {gpus: 1}"),
    NODES("{gpus: 1}, {gpus: 1}, {gpus: 1}, {gpus: 1}"),
    NODES("{gpus: 4}"),
    NODES("{gpus: 3}, {gpus: 1}, {gpus: 2}"),
    NODES("{gpus: 2}, {gpus: 2}, {gpus: 2}"),
    NODES("{gpus: 4}, {gpus: 4}"),
    NODES("{gpus: 1}, {gpus: 1}, {gpus: 1}, {gpus: 1}, {gpus: 1}, {gpus: 1}, {gpus: 1}, {gpus: 1}"),
};

static void try_algorithm(const CcsAlgorithm *algorithm, const char *machine, Tally *tally)
{
    g_auto(CcsAnswer) answer;
    CcsAsked asked = {.machine = machine,
                      .collective = ccs_collective_info(algorithm->collective)->name,
                      .algorithm = algorithm->name,
                      .n_chunks = 3};

    asked.root = ccs_collective_info(algorithm->collective)->has_root ? 1 : 0;
    if (!ccs_ask_schedule(&asked, &answer))
        return;
    g_autofree char *name = g_strdup_printf("%s %s of %u ranks", asked.collective, asked.algorithm,
                                            ccs_schedule_n_ranks(answer.schedule));
    try_schedule(answer.schedule, name, tally);
}

/* As the document shows it, but for roundings. */
static void print_row(const char *name, const uint32_t fates[N_FATES])
{
    uint32_t n_tried = 0;

    for (size_t fate = 0; fate < N_FATES; fate++)
        n_tried += fates[fate];
    printf("# | %-18s | %10u |", name, n_tried);
    for (size_t fate = 0; fate < N_FATES; fate++)
        printf(" %*u |", (int)strlen(fate_names[fate]), fates[fate]);
    printf("\n");
}

static void print(const Tally *tally, uint32_t totals[N_FATES])
{
    printf("# | %-18s | %10s |", "change", "tried");
    for (size_t fate = 0; fate < N_FATES; fate++)
        printf(" %s |", fate_names[fate]);
    printf("\n");
    for (size_t kind = 0; kind < N_KINDS; kind++) {
        print_row(kinds[kind].name, tally->n[kind]);
        for (size_t fate = 0; fate < N_FATES; fate++)
            totals[fate] += tally->n[kind][fate];
    }
    print_row("all", totals);
    printf("# of %u schedules\n", tally->n_schedules);
    fflush(stdout);
}

#define DOCUMENT "docs/verification.md"

/* "71,000" */
static uint32_t number_in(const char *cell)
{
    g_autofree char *digits = g_strdup(cell);
    size_t n = 0;

    for (const char *c = cell; *c != '\0'; c++) {
        if (g_ascii_isdigit(*c))
            digits[n++] = *c;
    }
    digits[n] = '\0';
    ck_assert_msg(n > 0, "%s: '%s' is no number", DOCUMENT, cell);
    return (uint32_t)g_ascii_strtoull(digits, NULL, 10);
}

/* Told in round figures; and an algorithm more, or another order of them, moves all a little. */
static void check_cell(const char *cell, uint32_t n, const char *name)
{
    uint32_t told = number_in(cell);
    uint32_t most = MAX(told, n);
    uint32_t tolerance = most < 100 ? 5 + most / 10 : 60 + most / 20;

    ck_assert_msg(most - MIN(told, n) <= tolerance, "%s is out of date: '%s' has%sin place of %u",
                  DOCUMENT, name, cell, n);
}

/* "| message dropped | 6,300 | 6,300 | 0 ... |" */
static void check_row(char **lines, const char *name, const uint32_t fates[N_FATES])
{
    g_autofree char *begin = g_strdup_printf("| %s |", name);
    uint32_t n_tried = 0;

    while (*lines != NULL && !g_str_has_prefix(*lines, begin))
        lines++;
    ck_assert_msg(*lines != NULL, "%s has no row '%s'", DOCUMENT, name);
    g_auto(GStrv) cells = g_strsplit(*lines, "|", -1);
    ck_assert_uint_eq(g_strv_length(cells), N_FATES + 4);
    for (size_t fate = 0; fate < N_FATES; fate++) {
        check_cell(cells[fate + 3], fates[fate], name);
        n_tried += fates[fate];
    }
    check_cell(cells[2], n_tried, name);
}

static void check_document(const Tally *tally, const uint32_t totals[N_FATES])
{
    const char *root = g_getenv("CCSIM_SOURCE_ROOT");
    g_autofree char *path = g_build_filename(root == NULL ? "" : root, DOCUMENT, NULL);
    g_autofree char *text = NULL;

    if (root == NULL) /* someone only wants the numbers */
        return;
    ck_assert(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (size_t kind = 0; kind < N_KINDS; kind++)
        check_row(lines, kinds[kind].name, tally->n[kind]);
    check_row(lines, "all", totals);
}

START_TEST(every_mutant_is_caught_or_shown_to_be_as_good)
{
    Tally tally = {.random = g_rand_new_with_seed(20240229)};
    uint32_t totals[N_FATES] = {0};

    for (size_t i = 0; ccs_algorithms[i] != NULL; i++) {
        for (size_t j = 0; j < G_N_ELEMENTS(machines); j++)
            try_algorithm(ccs_algorithms[i], machines[j], &tally);
    }
    print(&tally, totals);
    g_rand_free(tally.random);
    check_document(&tally, totals);
    ck_assert_uint_eq(totals[UNEXPLAINED], 0);
    for (size_t kind = 0; kind < N_KINDS; kind++)
        ck_assert_msg(tally.n[kind][BY_PLAYING] > 0 || kinds[kind].mutate == wait_for_more,
                      "%s: never caught", kinds[kind].name);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("mutants");
    TCase *tcase = tcase_create("mutants");

    tcase_set_timeout(tcase, 400);
    tcase_add_test(tcase, every_mutant_is_caught_or_shown_to_be_as_good);
    suite_add_tcase(suite, tcase);
    return suite;
}
