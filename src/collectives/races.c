#include "collectives/races.h"

#include <string.h>

#include "base/error.h"
#include "collectives/cells.h"
#include "collectives/contract.h"
#include "collectives/past.h"
#include "collectives/progress.h"

#define NONE UINT32_MAX /* the end of a list */

typedef enum { READS, ADDS, COPIES } Use;

/* What a message does to a cell, in a list of the cell. */
typedef struct {
    CcsMessage message;
    Use use;
    uint32_t next;
} Access;

/* Two accesses that must not come in the other order, in a list of the later message. */
typedef struct {
    CcsMessage before;
    Use use_before;
    Use use;
    CcsCell cell;
    uint32_t next;
} Pair;

typedef struct {
    const CcsSchedule *schedule;
    CcsProgress *progress;
    CcsPast *past;
    bool may_repeat;
    uint32_t *first;      /* by lane: the number of its first message in one row of all */
    GArray *accesses;     /* of Access */
    uint32_t *of_cell;    /* by cell: its accesses since it was last copied to, latest first */
    GArray *pairs;        /* of Pair */
    uint32_t *of_message; /* by message: the pairs in which it is the later one */
    uint32_t *n_checked;  /* by lane: messages up to the last one that is in a pair */
    uint32_t *numbers;    /* by message: where it comes in the order in which pairs are found */
    uint32_t *earliest;   /* by lane: the first number that comes first in a pair */
} Races;

static uint32_t *new_lists(uint64_t n)
{
    uint32_t *lists = g_new(uint32_t, n + 1);

    memset(lists, 0xff, (n + 1) * sizeof *lists); /* NONE */
    return lists;
}

static void races_init(Races *races, const CcsSchedule *schedule)
{
    uint32_t n_lanes = ccs_schedule_n_lanes(schedule);
    uint32_t n_messages = 0;

    *races = (Races){.schedule = schedule,
                     .progress = ccs_progress_new(schedule),
                     .may_repeat = ccs_contract_allows_repeats(ccs_schedule_collective(schedule)),
                     .first = g_new(uint32_t, n_lanes + 1),
                     .accesses = g_array_new(false, false, sizeof(Access)),
                     .of_cell = new_lists(ccs_n_cells(schedule)),
                     .pairs = g_array_new(false, false, sizeof(Pair)),
                     .n_checked = g_new0(uint32_t, n_lanes + 1),
                     .earliest = new_lists(n_lanes)};
    races->past = ccs_past_new(schedule, races->progress);
    for (CcsLaneId lane = 0; lane < n_lanes; lane++) {
        races->first[lane] = n_messages;
        n_messages += ccs_schedule_lane(schedule, lane)->n_messages;
    }
    races->of_message = new_lists(n_messages);
    races->numbers = g_new0(uint32_t, n_messages + 1);
}

static void races_clear(Races *races)
{
    ccs_past_free(races->past);
    ccs_progress_free(races->progress);
    g_free(races->first);
    g_array_unref(races->accesses);
    g_free(races->of_cell);
    g_array_unref(races->pairs);
    g_free(races->of_message);
    g_free(races->n_checked);
    g_free(races->numbers);
    g_free(races->earliest);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Races, races_clear)

/* Word that spreads may come sooner or later: spread.h looks at what that means. */
static bool is_order_free(const Races *races, Use a, Use b)
{
    return (a == READS && b == READS) || (a == ADDS && b == ADDS) ||
           (races->may_repeat && a != COPIES && b != COPIES);
}

static bool is_same(const CcsMessage *a, const CcsMessage *b)
{
    return a->lane == b->lane && a->message == b->message;
}

/* The chunks of a box mostly come from one message: one pair is enough for them. */
static void add_pair(Races *races, const Access *before, const Access *after, CcsCell cell)
{
    CcsLaneId lane = after->message.lane;
    uint32_t n = after->message.message + 1;
    uint32_t *list = &races->of_message[races->first[lane] + n - 1];
    const Pair *last = *list == NONE ? NULL : &g_array_index(races->pairs, Pair, *list);
    Pair pair = {before->message, before->use, after->use, cell, *list};

    if (last != NULL && is_same(&last->before, &pair.before) &&
        last->use_before == pair.use_before && last->use == pair.use)
        return;
    *list = races->pairs->len;
    g_array_append_val(races->pairs, pair);
    races->n_checked[lane] = MAX(races->n_checked[lane], n);
    uint32_t number = races->numbers[races->first[before->message.lane] + before->message.message];
    races->earliest[lane] = MIN(races->earliest[lane], number);
}

/* Adds an access that comes after all those before in one of the orders. What has been copied
 * over needs no more pairs: the copy is in pairs with all of it. */
static void add_access(Races *races, CcsCell cell, Access access)
{
    for (uint32_t i = races->of_cell[cell]; i != NONE;) {
        const Access *before = &g_array_index(races->accesses, Access, i);
        if (!is_same(&before->message, &access.message) &&
            !is_order_free(races, before->use, access.use))
            add_pair(races, before, &access, cell);
        i = before->next;
    }
    access.next = access.use == COPIES ? NONE : races->of_cell[cell];
    races->of_cell[cell] = races->accesses->len;
    g_array_append_val(races->accesses, access);
}

/* Returns: false if the message leaves the buffers. */
static bool add_accesses(Races *races, const CcsMessage *of, GArray *cells)
{
    const CcsLane *lane = ccs_schedule_lane(races->schedule, of->lane);
    const CcsBox *boxes[] = {&lane->from, &lane->to};
    CcsPlace outside;

    for (int end = CCS_END_SOURCE; end <= CCS_END_TARGET && !ccs_lane_is_join(lane); end++) {
        Use write = of->message < lane->n_reduced ? ADDS : COPIES;
        g_array_set_size(cells, ccs_box_n_chunks(boxes[end]));
        if (!ccs_message_cells(races->schedule, lane, of->message, (CcsEnd)end,
                               (CcsCell *)(void *)cells->data, &outside))
            return false;
        for (guint i = 0; i < cells->len; i++)
            add_access(races, g_array_index(cells, CcsCell, i),
                       (Access){*of, end == CCS_END_SOURCE ? READS : write, NONE});
    }
    return true;
}

/* Finds all pairs. Returns: false if the schedule has no answer. */
static bool find_pairs(Races *races)
{
    g_autoptr(GArray) order = ccs_progress_any_order(races->progress);
    g_autoptr(GArray) cells = g_array_new(false, false, sizeof(CcsCell));

    for (guint i = 0; order != NULL && i < order->len; i++) {
        const CcsMessage *message = &g_array_index(order, CcsMessage, i);
        races->numbers[races->first[message->lane] + message->message] = i;
        if (!add_accesses(races, message, cells))
            return false;
    }
    return order != NULL;
}

/* Whether the earlier one of @pair really must come before the later one, a message of @lane
 * that the past is about. */
static bool is_ordered(const Races *races, const Pair *pair, CcsLaneId lane)
{
    const CcsMessage *before = &pair->before;

    if (pair->use_before == READS)
        return ccs_past_has_left(races->past, before->lane, before->message);
    if (ccs_past_has_arrived(races->past, before->lane, before->message))
        return true;
    return pair->use != READS && before->lane == lane && /* they arrive in order */
           ccs_schedule_lane(races->schedule, lane)->peer_kind == CCS_PEER_FIXED;
}

static bool fail(const Races *races, const Pair *pair, const CcsMessage *message, GError **error)
{
    static const char *const does[] = {"reads", "adds to", "overwrites"};
    static const char *const may[] = {"may still be reading", "may or may not have added to",
                                      "may or may not have written"};
    CcsPlace place = ccs_cell_place(races->schedule, pair->cell);
    g_autofree char *after = ccs_message_describe(races->schedule, message->lane, message->message);
    g_autofree char *before =
        ccs_message_describe(races->schedule, pair->before.lane, pair->before.message);

    g_autofree char *name = ccs_schedule_name_place(races->schedule, &place, false);

    g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK, "%s: it %s %s at rank %u, which %s %s", after,
                does[pair->use], name, place.rank, before, may[pair->use_before]);
    return false;
}

static bool check_message(const Races *races, const CcsMessage *message, GError **error)
{
    uint32_t list = races->of_message[races->first[message->lane] + message->message];

    if (list != NONE)
        ccs_past_extend(races->past, message->message);
    for (uint32_t i = list; i != NONE;) {
        const Pair *pair = &g_array_index(races->pairs, Pair, i);
        if (!is_ordered(races, pair, message->lane))
            return fail(races, pair, message, error);
        i = pair->next;
    }
    return true;
}

bool ccs_races_check(const CcsSchedule *schedule, GError **error)
{
    g_auto(Races) races;

    races_init(&races, schedule);
    if (!find_pairs(&races))
        return true;
    for (CcsLaneId lane = 0; lane < ccs_schedule_n_lanes(schedule); lane++) {
        ccs_past_look_since(races.past, lane, races.numbers, races.earliest[lane]);
        for (uint32_t i = 0; i < races.n_checked[lane]; i++) {
            if (!check_message(&races, &(CcsMessage){lane, i}, error))
                return false;
        }
    }
    return true;
}

/* By message: its place in an order and in the past, its list, and its number; by chunk that is
 * moved: that it is read and written. */
uint64_t ccs_races_memory(uint64_t n_messages, uint64_t n_moves)
{
    return n_messages * (sizeof(CcsMessage) + 3 * sizeof(uint32_t)) + n_moves * 2 * sizeof(Access);
}
