/* sweep_lanes.c - the recurrence over lanes that wait for each other */
#include <string.h>

#include "base/interrupt.h"
#include "sim/sweep_internal.h"

CcsTime ccs_sweep_need(const Sweep *sweep, const CcsDependency *dependency, uint32_t message)
{
    const SweepLane *before = &sweep->lanes[dependency->before];
    uint32_t n = ccs_dependency_needs(dependency, message, before->n);
    bool is_sent = dependency->event == CCS_SENT;
    const CcsTime *kept = is_sent ? before->left : before->arrived;

    if (n == 0)
        return 0;
    if (n == before->n && kept == NULL)
        return is_sent ? before->last_left : before->last_arrived;
    return kept[n - 1];
}

static CcsTime latest_need(const Sweep *sweep, CcsLaneId id, uint32_t message)
{
    CcsTime latest = 0;

    for (uint32_t i = sweep->needs.first[id]; i < sweep->needs.first[id + 1]; i++) {
        CcsTime need = ccs_sweep_need(
            sweep, ccs_schedule_dependency(sweep->schedule, sweep->needs.items[i]), message);
        latest = MAX(latest, need);
    }
    return latest;
}

/* The next message of a lane. */
static void send(Sweep *sweep, CcsLaneId id, uint32_t message)
{
    SweepLane *lane = &sweep->lanes[id];
    CcsTime free = message == 0 ? lane->started : lane->last_left;
    CcsTime start = MAX(free, latest_need(sweep, id, message));
    CcsTime move = ccs_sweep_move(sweep, id, message);
    CcsTime reduce = ccs_sweep_reduce(sweep, id, message);

    if (message == 0)
        lane->started = start;
    lane->moving += move;
    lane->last_left = start + lane->cost + move;
    CcsTime there = lane->last_left + lane->latency;
    /* A lane's reductions follow one another, and nothing overtakes them. */
    lane->last_arrived = MAX(there, lane->reduced) + MAX(reduce, 0);
    if (reduce != CCS_NOT_REDUCED)
        lane->reduced = lane->last_arrived;
    if (lane->left != NULL)
        lane->left[message] = lane->last_left;
    if (lane->arrived != NULL)
        lane->arrived[message] = lane->last_arrived;
}

/* Visits the lanes that @id waits for within one and the same step first. */
typedef struct {
    const Sweep *sweep;
    uint32_t component;
    GHashTable *is_placed; /* of lanes: placed, or being visited */
    GArray *order;         /* of CcsLaneId */
} Ordering;

typedef enum { VISITING = 1, PLACED } Mark;

static bool is_of_one_step(const Ordering *ordering, const CcsDependency *dependency)
{
    return dependency->distance == 0 &&
           ordering->sweep->components->of[dependency->before] == ordering->component;
}

typedef struct {
    CcsLaneId lane;
    uint32_t next; /* index in needs */
} Visit;

static bool visit(Ordering *ordering, CcsLaneId lane)
{
    const Sweep *sweep = ordering->sweep;
    g_autoptr(GArray) path = g_array_new(false, false, sizeof(Visit));

    if (g_hash_table_lookup(ordering->is_placed, GUINT_TO_POINTER(lane)) != NULL)
        return true;
    g_hash_table_insert(ordering->is_placed, GUINT_TO_POINTER(lane), GINT_TO_POINTER(VISITING));
    g_array_append_vals(path, &(Visit){lane, sweep->needs.first[lane]}, 1);
    while (path->len > 0) {
        Visit *at = &g_array_index(path, Visit, path->len - 1);
        if (at->next == sweep->needs.first[at->lane + 1]) {
            g_hash_table_insert(ordering->is_placed, GUINT_TO_POINTER(at->lane),
                                GINT_TO_POINTER(PLACED));
            g_array_append_val(ordering->order, at->lane);
            g_array_set_size(path, path->len - 1);
            continue;
        }
        const CcsDependency *dependency =
            ccs_schedule_dependency(sweep->schedule, sweep->needs.items[at->next++]);
        if (!is_of_one_step(ordering, dependency))
            continue;
        gpointer key = GUINT_TO_POINTER(dependency->before);
        gint mark = GPOINTER_TO_INT(g_hash_table_lookup(ordering->is_placed, key));
        if (mark == VISITING)
            return false;
        if (mark == PLACED)
            continue;
        g_hash_table_insert(ordering->is_placed, key, GINT_TO_POINTER(VISITING));
        Visit next = {dependency->before, sweep->needs.first[dependency->before]};
        g_array_append_val(path, next);
    }
    return true;
}

/* Returns: (transfer full) (element-type CcsLaneId): NULL if lanes wait in a circle. */
static GArray *order_lanes(const Sweep *sweep, const CcsLaneId *members, uint32_t n)
{
    g_autoptr(GHashTable) is_placed = g_hash_table_new(NULL, NULL);
    g_autoptr(GArray) order = g_array_new(false, false, sizeof(CcsLaneId));
    Ordering ordering = {sweep, sweep->components->of[members[0]], is_placed, order};

    for (uint32_t i = 0; i < n; i++) {
        if (!visit(&ordering, members[i]))
            return NULL;
    }
    return g_steal_pointer(&order);
}

static void make_room(SweepLane *lane)
{
    if (lane->keeps_left)
        lane->left = g_new(CcsTime, (size_t)lane->n + 1);
    if (lane->keeps_arrived)
        lane->arrived = g_new(CcsTime, (size_t)lane->n + 1);
}

bool ccs_sweep_any(Sweep *sweep, const CcsLaneId *members, uint32_t n, char **ret_reason,
                   GError **error)
{
    g_autoptr(GArray) order = order_lanes(sweep, members, n);
    uint32_t n_steps = 0;

    if (order == NULL) {
        *ret_reason = g_strdup("lanes wait for each other in a circle");
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        make_room(&sweep->lanes[members[i]]);
        n_steps = MAX(n_steps, sweep->lanes[members[i]].n);
    }
    for (uint32_t step = 0; step < n_steps; step++) {
        for (uint32_t i = 0; i < n; i++) {
            CcsLaneId id = g_array_index(order, CcsLaneId, i);
            if (step < sweep->lanes[id].n)
                send(sweep, id, step);
        }
        if (!ccs_interrupt_check(error))
            return false;
    }
    return true;
}
