#include "commands/winners.h"

#include <string.h>

#include "sim/sim.h"

static char *question_of(const CcsStudyResult *of)
{
    const CcsResult *result = &of->result;

    return g_strdup_printf("%s %p %u %u %" G_GUINT64_FORMAT " %s %s %" G_GINT64_FORMAT,
                           result->collective, (const void *)of->communicator, of->asked.distance,
                           result->n_ranks, result->size, result->dtype, result->op, result->root);
}

bool *ccs_winners_mark(const CcsStudyResult *results, uint32_t n, bool *ret_is_contest)
{
    g_autoptr(GHashTable) best = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    bool *marks = g_new(bool, (size_t)n + 1);

    /* the values are indices of results, from 1 */
    for (uint32_t i = 0; i < n; i++) {
        char *question = question_of(&results[i]);
        uint32_t at = GPOINTER_TO_UINT(g_hash_table_lookup(best, question));
        if (at == 0 || results[i].result.time < results[at - 1].result.time)
            g_hash_table_replace(best, question, GUINT_TO_POINTER(i + 1));
        else
            g_free(question);
    }
    for (uint32_t i = 0; i < n; i++) {
        g_autofree char *question = question_of(&results[i]);
        uint32_t at = GPOINTER_TO_UINT(g_hash_table_lookup(best, question));
        marks[i] = results[i].result.time == results[at - 1].result.time;
    }
    if (ret_is_contest != NULL)
        *ret_is_contest = g_hash_table_size(best) < n;
    return marks;
}

/* One way to answer, which can be asked for further sizes. */
typedef struct {
    const CcsStudyResult *first; /* the first result of it */
    CcsTime *times;              /* by size, for those that it has results for; else -1 */
    CcsSchedule *schedule;       /* made when first needed */
    CcsSimulation *simulation;   /* likewise */
} Contender;

typedef struct {
    const CcsMachine *machine;
    GArray *sizes;      /* of CcsBytes, rising */
    GArray *contenders; /* of Contender */
    GArray *crossovers; /* of CcsCrossover */
} Contest;

static void contender_clear(gpointer data)
{
    Contender *contender = data;

    g_free(contender->times);
    ccs_simulation_free(contender->simulation);
    ccs_schedule_free(contender->schedule);
}

static void contest_clear(Contest *contest)
{
    g_clear_pointer(&contest->sizes, g_array_unref);
    g_clear_pointer(&contest->contenders, g_array_unref);
    g_clear_pointer(&contest->crossovers, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Contest, contest_clear)

static Contender *contender_at(const Contest *contest, uint32_t index)
{
    return &g_array_index(contest->contenders, Contender, index);
}

static int compare_sizes(const void *a, const void *b)
{
    CcsBytes first = *(const CcsBytes *)a;
    CcsBytes second = *(const CcsBytes *)b;
    return first < second ? -1 : first > second ? 1 : 0;
}

static GArray *sizes_of(const CcsStudyResult *results, uint32_t n)
{
    GArray *sizes = g_array_new(false, false, sizeof(CcsBytes));
    guint n_kept = 0;

    for (uint32_t i = 0; i < n; i++)
        g_array_append_val(sizes, results[i].result.size);
    g_array_sort(sizes, compare_sizes);
    for (guint i = 0; i < sizes->len; i++) {
        CcsBytes size = g_array_index(sizes, CcsBytes, i);
        if (n_kept == 0 || g_array_index(sizes, CcsBytes, n_kept - 1) != size)
            g_array_index(sizes, CcsBytes, n_kept++) = size;
    }
    g_array_set_size(sizes, n_kept);
    return sizes;
}

static bool is_same_way(const CcsStudyResult *a, const CcsStudyResult *b)
{
    return a->asked.algorithm == b->asked.algorithm &&
           a->result.n_channels == b->result.n_channels && a->result.n_chunks == b->result.n_chunks;
}

/* Results of one way follow one another, so the last contender is the likely one. */
static Contender *contender_of(Contest *contest, const CcsStudyResult *result)
{
    for (guint i = contest->contenders->len; i > 0; i--) {
        if (is_same_way(contender_at(contest, i - 1)->first, result))
            return contender_at(contest, i - 1);
    }
    Contender fresh = {.first = result, .times = g_new(CcsTime, contest->sizes->len)};
    for (guint i = 0; i < contest->sizes->len; i++)
        fresh.times[i] = -1;
    g_array_append_val(contest->contenders, fresh);
    return contender_at(contest, contest->contenders->len - 1);
}

static void gather(Contest *contest, const CcsStudyResult *results, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        guint at = 0;
        Contender *contender = contender_of(contest, &results[i]);
        g_array_binary_search(contest->sizes, &results[i].result.size, compare_sizes, &at);
        contender->times[at] = results[i].result.time;
    }
}

static bool simulate(const Contest *contest, uint32_t index, CcsBytes size, CcsTime *ret_time,
                     GError **error)
{
    Contender *contender = contender_at(contest, index);
    CcsOutcome outcome;

    if (contender->schedule == NULL) {
        contender->schedule = ccs_case_schedule(&contender->first->asked, contest->machine, error);
        if (contender->schedule == NULL)
            return false;
    }
    if (contender->simulation == NULL) {
        contender->simulation =
            ccs_simulation_new(contender->schedule, &contest->machine->transport,
                               contest->machine->model, NULL, error);
        if (contender->simulation == NULL)
            return false;
    }
    if (!ccs_simulation_run(contender->simulation, size, &outcome, error))
        return false;
    *ret_time = outcome.time;
    return true;
}

static bool is_faster(CcsTime a, CcsTime b)
{
    return a < b - b / CCS_SAME_TIME;
}

/* Far apart, in the middle of the powers of two; else of the sizes. */
static CcsBytes middle(CcsBytes low, CcsBytes high)
{
    if (low > 0 && high / low >= 4)
        return low << (g_bit_storage(high / low) / 2);
    return low + (high - low) / 2;
}

/* Two contenders, of which the second is faster at the larger size but not at the smaller. */
typedef struct {
    uint32_t below;
    uint32_t above;
    CcsBytes low;
    CcsBytes high;
} Change;

/* Narrows @change down by bisection. @ret_time: that of the second at the larger size. */
static bool narrow(const Contest *contest, Change *change, CcsTime *ret_time, GError **error)
{
    if (!simulate(contest, change->above, change->high, ret_time, error))
        return false;
    while (change->high - change->low > MAX(change->low / 100, 4)) {
        CcsBytes size = middle(change->low, change->high);
        CcsTime below = 0;
        CcsTime above = 0;
        if (!simulate(contest, change->below, size, &below, error) ||
            !simulate(contest, change->above, size, &above, error))
            return false;
        if (!is_faster(above, below)) {
            change->low = size;
            continue;
        }
        change->high = size;
        *ret_time = above;
    }
    return true;
}

/* Whether a third contender is faster than both where these two cross. Since time does not fall
 * with size, one that is slower at the smaller size than the winner at the larger need not be
 * asked. @ret_third: contenders->len if there is none. */
static bool find_third(const Contest *contest, const Change *wide, guint low_at, guint high_at,
                       CcsBytes size, CcsTime time, uint32_t *ret_third, GError **error)
{
    CcsTime limit = contender_at(contest, wide->above)->times[high_at];

    *ret_third = contest->contenders->len;
    for (uint32_t i = 0; i < contest->contenders->len; i++) {
        CcsTime own = 0;
        if (i == wide->below || i == wide->above ||
            contender_at(contest, i)->times[low_at] >= limit)
            continue;
        if (!simulate(contest, i, size, &own, error))
            return false;
        if (is_faster(own, time)) {
            time = own;
            *ret_third = i;
        }
    }
    return true;
}

/* Adds the crossover of @wide, which lies between the sizes of these indices, or those on the way
 * by way of others that win in between, at most @n_more. */
static bool add_crossovers(Contest *contest, Change wide, guint low_at, guint high_at,
                           uint32_t n_more, GError **error)
{
    Change narrowed = wide;
    CcsCrossover crossover = {.below = contender_at(contest, wide.below)->first,
                              .above = contender_at(contest, wide.above)->first};
    uint32_t third = contest->contenders->len;

    if (!narrow(contest, &narrowed, &crossover.time, error) ||
        (n_more > 0 && !find_third(contest, &wide, low_at, high_at, narrowed.high, crossover.time,
                                   &third, error)))
        return false;
    if (third < contest->contenders->len) {
        Change first = {wide.below, third, wide.low, narrowed.high};
        Change second = {third, wide.above, narrowed.high, wide.high};
        return add_crossovers(contest, first, low_at, high_at, n_more - 1, error) &&
               add_crossovers(contest, second, low_at, high_at, n_more - 1, error);
    }
    crossover.size = narrowed.high;
    g_array_append_val(contest->crossovers, crossover);
    return true;
}

/* The fastest for the size of index @at; of equals @champion, or else the first. */
static uint32_t fastest(const Contest *contest, guint at, uint32_t champion)
{
    uint32_t best = champion;

    for (uint32_t i = 0; i < contest->contenders->len; i++) {
        CcsTime time = contender_at(contest, i)->times[at];
        if (time >= 0 && is_faster(time, contender_at(contest, best)->times[at]))
            best = i;
    }
    return best;
}

static bool find_crossovers(Contest *contest, GError **error)
{
    uint32_t champion = fastest(contest, 0, 0);

    for (guint at = 1; at < contest->sizes->len; at++) {
        uint32_t best = fastest(contest, at, champion);
        Change change = {champion, best, g_array_index(contest->sizes, CcsBytes, at - 1),
                         g_array_index(contest->sizes, CcsBytes, at)};
        if (best != champion &&
            !add_crossovers(contest, change, at - 1, at, contest->contenders->len, error))
            return false;
        champion = best;
    }
    return true;
}

GArray *ccs_crossovers_find(const CcsMachine *machine, const CcsStudyResult *results, uint32_t n,
                            GError **error)
{
    g_auto(Contest) contest = {
        .machine = machine,
        .sizes = sizes_of(results, n),
        .contenders = g_array_new(false, false, sizeof(Contender)),
        .crossovers = g_array_new(false, false, sizeof(CcsCrossover)),
    };

    g_array_set_clear_func(contest.contenders, contender_clear);
    gather(&contest, results, n);
    if (contest.contenders->len > 1 && !find_crossovers(&contest, error))
        return NULL;
    return g_steal_pointer(&contest.crossovers);
}
