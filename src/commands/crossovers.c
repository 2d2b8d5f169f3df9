#include "commands/crossovers.h"

#include <string.h>

#include "sim/sim.h"

typedef struct {
    CcsBytes size;
    CcsTime time;
} Known;

/* One way to answer, which can be asked for further sizes. */
typedef struct {
    const CcsStudyResult *first; /* the first result of it */
    CcsTime *times;              /* by size, for those that it has results for; else -1 */
    GArray *known;               /* of Known: what was simulated beside them */
    CcsSchedule *schedule;       /* made when first needed */
    CcsSimulation *simulation;   /* likewise */
} Contender;

/* Contenders that are equally fast where they are the fastest. */
typedef struct {
    uint32_t lead; /* one of them, which is simulated in their place */
    GArray *all;   /* of uint32_t */
} Team;

typedef struct {
    const CcsMachine *machine;
    GArray *sizes;      /* of CcsBytes, rising */
    GArray *contenders; /* of Contender */
    GPtrArray *teams;   /* of Team, owned: those that win somewhere */
    GArray *crossovers; /* of CcsCrossover */
} Contest;

static void contender_clear(gpointer data)
{
    Contender *contender = data;

    g_free(contender->times);
    g_array_unref(contender->known);
    ccs_simulation_free(contender->simulation);
    ccs_schedule_free(contender->schedule);
}

static void team_free(gpointer data)
{
    g_array_unref(((Team *)data)->all);
    g_free(data);
}

static void crossover_clear(gpointer data)
{
    CcsCrossover *crossover = data;

    g_ptr_array_unref(crossover->below);
    g_ptr_array_unref(crossover->above);
}

static void contest_clear(Contest *contest)
{
    g_clear_pointer(&contest->sizes, g_array_unref);
    g_clear_pointer(&contest->contenders, g_array_unref);
    g_clear_pointer(&contest->teams, g_ptr_array_unref);
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
    Contender fresh = {.first = result,
                       .times = g_new(CcsTime, contest->sizes->len),
                       .known = g_array_new(false, false, sizeof(Known))};
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

/* What is known already. */
static bool look_up(const Contest *contest, const Contender *contender, CcsBytes size,
                    CcsTime *ret_time)
{
    guint at = 0;

    if (g_array_binary_search(contest->sizes, &size, compare_sizes, &at) &&
        contender->times[at] >= 0) {
        *ret_time = contender->times[at];
        return true;
    }
    for (guint i = 0; i < contender->known->len; i++) {
        const Known *known = &g_array_index(contender->known, Known, i);
        if (known->size == size) {
            *ret_time = known->time;
            return true;
        }
    }
    return false;
}

static bool make_simulation(const Contest *contest, Contender *contender, GError **error)
{
    if (contender->schedule == NULL)
        contender->schedule = ccs_case_schedule(&contender->first->asked, contest->machine, error);
    if (contender->schedule != NULL && contender->simulation == NULL)
        contender->simulation =
            ccs_simulation_new(contender->schedule, &contest->machine->transport,
                               contest->machine->model, NULL, error);
    return contender->simulation != NULL;
}

static bool simulate(const Contest *contest, uint32_t index, CcsBytes size, CcsTime *ret_time,
                     GError **error)
{
    Contender *contender = contender_at(contest, index);
    CcsOutcome outcome;

    if (look_up(contest, contender, size, ret_time))
        return true;
    if (!make_simulation(contest, contender, error) ||
        !ccs_simulation_run(contender->simulation, size, &outcome, error))
        return false;
    *ret_time = outcome.time;
    g_array_append_vals(contender->known, &(Known){size, outcome.time}, 1);
    return true;
}

/* Sizes that ranks and channels do not divide make more of a difference than roundings of time do;
 * a way that wins only by that is none to tell of. */
static bool is_clearly_faster(CcsTime a, CcsTime b)
{
    return ccs_time_is_faster(a, b) && a < b - b / 10000;
}

/* Far apart, in the middle of the powers of two; else of the sizes. */
static CcsBytes middle(CcsBytes low, CcsBytes high)
{
    if (low > 0 && high / low >= 4)
        return low << (g_bit_storage(high / low) / 2);
    return low + (high - low) / 2;
}

/* Two teams, of which the second is faster at the larger size but not at the smaller; and by how
 * much. */
typedef struct {
    const Team *below;
    const Team *above;
    CcsBytes low;
    CcsBytes high;
    CcsTime lag;  /* of the second at the smaller size, at least 0 */
    CcsTime lead; /* at the larger, above 0 */
} Change;

/* Half of how far apart the two sizes may be in the end. */
static CcsBytes half_tolerance(const Change *change)
{
    return MAX(change->low / 200, 2);
}

/* Where the two cross if their times are straight lines, but a little towards the end that did
 * not move last, so that the ends close in from both sides. */
static CcsBytes estimate(const Change *change, bool is_low_last)
{
    double lag = (double)change->lag;
    double part = lag / (lag + (double)change->lead);
    CcsBytes size = change->low + (CcsBytes)((double)(change->high - change->low) * part);
    CcsBytes nudge = half_tolerance(change);

    size = is_low_last ? size + nudge : size - MIN(size, nudge);
    return CLAMP(size, change->low + nudge, change->high - nudge);
}

/* A rounder one not far below, which is more likely to be cut evenly. */
static CcsBytes round_size(const Change *change, CcsBytes size)
{
    CcsBytes grain = (CcsBytes)1 << (g_bit_storage(half_tolerance(change)) - 1);
    return size - size % MAX(grain / 2, 1);
}

/* How much the second is slower (below 0: faster) for @size. */
static bool measure_lag(const Contest *contest, const Change *change, CcsBytes size,
                        CcsTime *ret_lag, bool *ret_is_faster, GError **error)
{
    CcsTime below = 0;
    CcsTime above = 0;

    if (!simulate(contest, change->below->lead, size, &below, error) ||
        !simulate(contest, change->above->lead, size, &above, error))
        return false;
    *ret_lag = above - below;
    *ret_is_faster = ccs_time_is_faster(above, below);
    return true;
}

static bool try_ends(const Contest *contest, Change *change, GError **error)
{
    CcsTime lag = 0;
    bool is_faster_there = false;

    if (!measure_lag(contest, change, change->low, &lag, &is_faster_there, error))
        return false;
    change->lag = MAX(lag, 0);
    if (!measure_lag(contest, change, change->high, &lag, &is_faster_there, error))
        return false;
    change->lead = MAX(-lag, 1);
    return true;
}

/* @size becomes one of the ends. */
static bool try_size(const Contest *contest, Change *change, CcsBytes size, bool *ret_is_low,
                     GError **error)
{
    CcsTime lag = 0;
    bool is_high = false;

    if (!measure_lag(contest, change, size, &lag, &is_high, error))
        return false;
    *ret_is_low = !is_high;
    *(is_high ? &change->high : &change->low) = size;
    if (is_high)
        change->lead = -lag;
    else
        change->lag = MAX(lag, 0);
    return true;
}

/* Brings the sizes of @change together. */
static bool narrow(const Contest *contest, Change *change, GError **error)
{
    bool is_low_last = false;

    for (uint32_t n_tries = 1; change->high - change->low > 2 * half_tolerance(change); n_tries++) {
        bool is_plain = n_tries > 6 && n_tries % 2 == 0; /* lest one end never moves */
        CcsBytes size =
            is_plain ? middle(change->low, change->high) : estimate(change, is_low_last);
        if (!try_size(contest, change, round_size(change, size), &is_low_last, error))
            return false;
    }
    return true;
}

/* Whether it takes @time or longer already for a smaller size. Time does not fall with size. */
static bool is_known_slower(const Contest *contest, const Contender *contender, CcsBytes size,
                            CcsTime time)
{
    for (guint i = 0; i < contest->sizes->len; i++) {
        if (g_array_index(contest->sizes, CcsBytes, i) <= size && contender->times[i] >= time)
            return true;
    }
    for (guint i = 0; i < contender->known->len; i++) {
        const Known *known = &g_array_index(contender->known, Known, i);
        if (known->size <= size && known->time >= time)
            return true;
    }
    return false;
}

/* Makes a team, which the contest owns, of contenders that are about to be added to it. */
static Team *add_team(Contest *contest, uint32_t lead)
{
    Team *team = g_new(Team, 1);

    *team = (Team){lead, g_array_new(false, false, sizeof(uint32_t))};
    g_ptr_array_add(contest->teams, team);
    return team;
}

/* Those that take no longer than @lead for @size, of which that is known. */
static Team *team_around(Contest *contest, uint32_t lead, CcsBytes size, CcsTime time)
{
    Team *team = add_team(contest, lead);

    for (uint32_t i = 0; i < contest->contenders->len; i++) {
        CcsTime own = 0;
        if (look_up(contest, contender_at(contest, i), size, &own) &&
            !ccs_time_is_faster(time, own))
            g_array_append_val(team->all, i);
    }
    return team;
}

/* A third team that is faster than the two that cross at the larger size of @crossing, where the
 * faster of them takes @time. @ret_third: NULL if there is none. */
static bool find_third(Contest *contest, const Change *crossing, CcsTime time,
                       const Team **ret_third, GError **error)
{
    uint32_t third = contest->contenders->len;

    for (uint32_t i = 0; i < contest->contenders->len; i++) {
        CcsTime own = 0;
        if (is_known_slower(contest, contender_at(contest, i), crossing->high, time))
            continue;
        if (!simulate(contest, i, crossing->high, &own, error))
            return false;
        if (is_clearly_faster(own, time)) {
            time = own;
            third = i;
        }
    }
    *ret_third = third == contest->contenders->len
                     ? NULL
                     : team_around(contest, third, crossing->high, time);
    return true;
}

static bool add_crossovers(Contest *contest, Change change, uint32_t n_more, GError **error);

/* From one to the other of @wide by way of @third, which wins at @size. */
static bool add_by_way_of(Contest *contest, const Change *wide, const Team *third, CcsBytes size,
                          uint32_t n_more, GError **error)
{
    Change first = {.below = wide->below, .above = third, .low = wide->low, .high = size};
    Change second = {.below = third, .above = wide->above, .low = size, .high = wide->high};

    return add_crossovers(contest, first, n_more - 1, error) &&
           add_crossovers(contest, second, n_more - 1, error);
}

/* Returns: (transfer full): one result of each. */
static GPtrArray *results_of(const Contest *contest, const Team *team)
{
    GPtrArray *results = g_ptr_array_new();

    for (guint i = 0; i < team->all->len; i++) {
        const Contender *contender = contender_at(contest, g_array_index(team->all, uint32_t, i));
        g_ptr_array_add(results, (gpointer)(guintptr)contender->first);
    }
    return results;
}

/* Adds the crossover of @wide, or those by way of others that win in between, at most @n_more. */
static bool add_crossovers(Contest *contest, Change wide, uint32_t n_more, GError **error)
{
    Change crossing = wide;
    const Team *third = NULL;
    CcsTime time = 0;

    if (!try_ends(contest, &crossing, error) || !narrow(contest, &crossing, error) ||
        !simulate(contest, wide.above->lead, crossing.high, &time, error) ||
        (n_more > 0 && !find_third(contest, &crossing, time, &third, error)))
        return false;
    if (third != NULL)
        return add_by_way_of(contest, &wide, third, crossing.high, n_more, error);
    CcsCrossover crossover = {.below = results_of(contest, wide.below),
                              .above = results_of(contest, wide.above),
                              .size = crossing.high,
                              .time = time};
    g_array_append_val(contest->crossovers, crossover);
    return true;
}

/* The least time for the size of index @at; @among: NULL for all contenders. */
static uint32_t fastest(const Contest *contest, guint at, const bool *among)
{
    uint32_t best = contest->contenders->len;

    for (uint32_t i = 0; i < contest->contenders->len; i++) {
        CcsTime time = contender_at(contest, i)->times[at];
        if (time >= 0 && (among == NULL || among[i]) &&
            (best == contest->contenders->len || time < contender_at(contest, best)->times[at]))
            best = i;
    }
    return best;
}

/* Takes those from @is_in that do not win for the size of index @at. Returns: false, with all as
 * before, if none would be left. */
static bool keep_winners(const Contest *contest, guint at, bool *is_in)
{
    uint32_t n = contest->contenders->len;
    CcsTime best = contender_at(contest, fastest(contest, at, NULL))->times[at];
    g_autofree bool *is_left = g_new0(bool, n);
    bool is_any = false;

    for (uint32_t i = 0; i < n; i++) {
        CcsTime time = contender_at(contest, i)->times[at];
        is_left[i] = is_in[i] && time >= 0 && !ccs_time_is_faster(best, time);
        is_any = is_any || is_left[i];
    }
    if (is_any)
        memcpy(is_in, is_left, n * sizeof *is_in);
    return is_any;
}

/* Those that win for as many sizes as possible from index @at on; moves @at behind these. */
static Team *next_winners(Contest *contest, guint *at)
{
    uint32_t n = contest->contenders->len;
    g_autofree bool *is_in = g_new(bool, n);
    guint first = *at;

    for (uint32_t i = 0; i < n; i++)
        is_in[i] = true;
    while (*at < contest->sizes->len && keep_winners(contest, *at, is_in))
        ++*at;
    Team *team = add_team(contest, fastest(contest, first, is_in));
    for (uint32_t i = 0; i < n; i++) {
        if (is_in[i])
            g_array_append_val(team->all, i);
    }
    return team;
}

/* @ret_last: those that win at the last size. */
static bool find_crossovers(Contest *contest, const Team **ret_last, GError **error)
{
    guint at = 0;
    const Team *below = next_winners(contest, &at);

    while (at < contest->sizes->len) {
        Change change = {.below = below,
                         .low = g_array_index(contest->sizes, CcsBytes, at - 1),
                         .high = g_array_index(contest->sizes, CcsBytes, at)};
        change.above = next_winners(contest, &at);
        if (!add_crossovers(contest, change, contest->contenders->len, error))
            return false;
        below = change.above;
    }
    *ret_last = below;
    return true;
}

GArray *ccs_crossovers_find(const CcsMachine *machine, const CcsStudyResult *results, uint32_t n,
                            GPtrArray **ret_always, GError **error)
{
    g_auto(Contest) contest = {
        .machine = machine,
        .sizes = sizes_of(results, n),
        .contenders = g_array_new(false, false, sizeof(Contender)),
        .teams = g_ptr_array_new_with_free_func(team_free),
        .crossovers = g_array_new(false, false, sizeof(CcsCrossover)),
    };
    const Team *last = NULL;

    g_array_set_clear_func(contest.contenders, contender_clear);
    g_array_set_clear_func(contest.crossovers, crossover_clear);
    gather(&contest, results, n);
    if (!find_crossovers(&contest, &last, error))
        return NULL;
    *ret_always = contest.crossovers->len > 0 ? g_ptr_array_new() : results_of(&contest, last);
    return g_steal_pointer(&contest.crossovers);
}
