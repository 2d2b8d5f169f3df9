/* sweep_ring.c - the recurrence over lanes each of which waits for the one before it
 *
 * Step k of all lanes is computed from step k - 1, side by side. A large ring does not fit into the
 * caches, so there a block of steps is taken for one tile of lanes after the other. Since a lane
 * looks at the one before it, a tile moves on by one lane with each step: it then finds all that it
 * needs in itself, but for its new last lane, which the tile after it, taken before, has left
 * behind at just that step. The ring closes with the first lanes, which are taken as far as they
 * go by themselves before all tiles. */
#include <string.h>

#include "base/interrupt.h"
#include "sim/sweep_internal.h"
#include "sim/sweep_kernels.h"

/* Lanes of a tile, and steps of a block: below the lanes of a tile, so that a tile never moves over
 * the next one. */
#define TILE  512U
#define BLOCK 128U

/* By place in the ring; a lane waits for the one at the place before. The first lanes come again
 * after the last ones, as many as a block has steps. */
typedef struct {
    uint32_t n;
    CcsTime *busy; /* for each message: cost and move */
    CcsTime *latency;
    CcsTime *reduce;  /* for each message that is reduced */
    CcsTime *left;    /* of the latest message */
    CcsTime *arrived; /* of the latest message, at places 1 ... n; the last one's again at 0 */
    CcsTime *next;    /* likewise, of the one after it */
} Ring;

static Ring ring_new(uint32_t n)
{
    size_t size = (size_t)n + BLOCK + 1;

    return (Ring){.n = n,
                  .busy = g_new(CcsTime, size),
                  .latency = g_new(CcsTime, size),
                  .reduce = g_new0(CcsTime, size),
                  .left = g_new(CcsTime, size),
                  .arrived = g_new(CcsTime, size),
                  .next = g_new(CcsTime, size)};
}

static void ring_clear(Ring *ring)
{
    g_free(ring->busy);
    g_free(ring->latency);
    g_free(ring->reduce);
    g_free(ring->left);
    g_free(ring->arrived);
    g_free(ring->next);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Ring, ring_clear)

/* The lane that @id waits for, and when all others are done that it waits for. */
static CcsLaneId before(const Sweep *sweep, CcsLaneId id, CcsTime *ret_others)
{
    CcsLaneId found = CCS_NO_LANE;

    *ret_others = 0;
    for (uint32_t i = sweep->needs.first[id]; i < sweep->needs.first[id + 1]; i++) {
        const CcsDependency *dependency =
            ccs_schedule_dependency(sweep->schedule, sweep->needs.items[i]);
        if (sweep->components->of[dependency->before] == sweep->components->of[id])
            found = dependency->before;
        else
            *ret_others = MAX(*ret_others, ccs_sweep_need(sweep, dependency, 0));
    }
    return found;
}

/* Puts the lanes in the order of the ring, the last one first. */
static CcsLaneId *order_ring(Sweep *sweep, const CcsLaneId *members, uint32_t n)
{
    CcsLaneId *order = g_new(CcsLaneId, (size_t)n + 1);
    CcsLaneId at = members[0];

    for (uint32_t i = n; i-- > 0;) {
        CcsTime others = 0;
        order[i] = at;
        at = before(sweep, at, &others);
        sweep->lanes[order[i]].started = MAX(sweep->lanes[order[i]].started, others);
    }
    return order;
}

/* The first message waits for no lane of the ring. */
static void send_first(const Sweep *sweep, const CcsLaneId *order, Ring *ring, bool is_reduced)
{
    for (uint32_t i = 0; i < ring->n; i++) {
        const SweepLane *lane = &sweep->lanes[order[i]];
        ring->busy[i] = lane->cost + ccs_sweep_move(sweep, order[i], 0);
        ring->latency[i] = lane->latency;
        ring->reduce[i] = MAX(ccs_sweep_reduce(sweep, order[i], 0), 0);
        ring->left[i] = lane->started + ring->busy[i];
        ring->arrived[i + 1] = ring->left[i] + lane->latency + (is_reduced ? ring->reduce[i] : 0);
    }
    ring->arrived[0] = ring->arrived[ring->n];
}

static void finish(Sweep *sweep, const CcsLaneId *order, const Ring *ring)
{
    for (uint32_t i = 0; i < ring->n; i++) {
        SweepLane *lane = &sweep->lanes[order[i]];
        lane->last_left = ring->left[i];
        lane->last_arrived = ring->arrived[i + 1];
        lane->moving = (ring->busy[i] - lane->cost) * (CcsTime)lane->n;
    }
}

static void take_step(Ring *ring, CcsRingStep *step)
{
    step(ring->n, ring->busy, ring->latency, ring->reduce, ring->left, ring->arrived, ring->next);
    CcsTime *arrived = ring->arrived;
    ring->arrived = ring->next;
    ring->next = arrived;
}

/* Takes the first @n_steps lanes as far as they go without the lanes before them: lane m by m
 * steps. @ret_history: when each message of the last of them arrives. */
static void take_corner(Ring *ring, uint32_t n_steps, CcsRingStep *step, CcsTime *ret_history)
{
    ret_history[0] = ring->arrived[n_steps];
    for (uint32_t k = 1; k < n_steps; k++) {
        step(n_steps - k, ring->busy + k, ring->latency + k, ring->reduce + k, ring->left + k,
             ring->arrived + k, ring->next + k);
        memcpy(ring->arrived + k + 1, ring->next + k + 1, (n_steps - k) * sizeof(CcsTime));
        ret_history[k] = ring->arrived[n_steps];
    }
}

/* Takes @width lanes from @first on, one lane further on with each step. */
static void take_tile(Ring *ring, uint32_t first, uint32_t width, uint32_t n_steps,
                      CcsRingStep *step)
{
    CcsTime buffers[2][2 * TILE + BLOCK + 1];
    CcsTime *now = buffers[0];
    CcsTime *next = buffers[1];

    memcpy(now, ring->arrived + first, (width + 1) * sizeof(CcsTime));
    for (uint32_t k = 1; k <= n_steps; k++) {
        uint32_t at = first + k;
        now[k + width] = ring->arrived[at + width];
        step(width, ring->busy + at, ring->latency + at, ring->reduce + at, ring->left + at,
             now + k, next + k);
        ring->arrived[at + 1] = next[k + 1];
        CcsTime *before = now;
        now = next;
        next = before;
    }
    memcpy(ring->arrived + first + n_steps + 1, now + n_steps + 1, width * sizeof(CcsTime));
}

/* Takes the first tile, without the lanes of the corner, whose @history is known. */
static void take_first_tile(Ring *ring, uint32_t width, uint32_t n_steps, CcsRingStep *step,
                            const CcsTime *history)
{
    CcsTime buffers[2][2 * TILE + BLOCK + 1];
    CcsTime *now = buffers[0];
    CcsTime *next = buffers[1];
    uint32_t at = n_steps;

    memcpy(now, ring->arrived + at, (width - n_steps + 1) * sizeof(CcsTime));
    for (uint32_t k = 1; k <= n_steps; k++) {
        uint32_t n = width - n_steps + k;
        now[0] = history[k - 1];
        now[n] = ring->arrived[at + n];
        step(n, ring->busy + at, ring->latency + at, ring->reduce + at, ring->left + at, now, next);
        CcsTime *before = now;
        now = next;
        next = before;
    }
    memcpy(ring->arrived + at + 1, now + 1, width * sizeof(CcsTime));
}

/* Copies the state of the first @n lanes behind the last ones, or back. */
static void copy_corner(Ring *ring, uint32_t n, bool is_back)
{
    uint32_t from = is_back ? ring->n : 0;
    uint32_t to = is_back ? 0 : ring->n;

    memcpy(ring->left + to, ring->left + from, n * sizeof(CcsTime));
    memcpy(ring->arrived + to + 1, ring->arrived + from + 1, n * sizeof(CcsTime));
}

static void take_block(Ring *ring, uint32_t n_steps, CcsRingStep *step)
{
    CcsTime history[BLOCK];
    uint32_t n_tiles = ring->n / TILE;
    uint32_t end = ring->n;

    take_corner(ring, n_steps, step, history);
    copy_corner(ring, n_steps, false);
    for (uint32_t tile = n_tiles; tile-- > 1;) {
        uint32_t first = (uint32_t)((uint64_t)ring->n * tile / n_tiles);
        take_tile(ring, first, end - first, n_steps, step);
        end = first;
    }
    copy_corner(ring, n_steps, true);
    take_first_tile(ring, end, n_steps, step, history);
    ring->arrived[0] = ring->arrived[ring->n];
}

/* What the first lanes have for good comes again after the last ones. */
static void extend(Ring *ring)
{
    for (uint32_t i = 0; i < BLOCK; i++) {
        ring->busy[ring->n + i] = ring->busy[i];
        ring->latency[ring->n + i] = ring->latency[i];
        ring->reduce[ring->n + i] = ring->reduce[i];
    }
}

static bool take_steps(Ring *ring, uint32_t n, CcsRingStep *step, GError **error)
{
    bool is_large = ring->n >= 4 * TILE;

    if (is_large)
        extend(ring);
    for (uint32_t k = 0; k < n;) {
        uint32_t n_steps = is_large ? MIN(n - k, BLOCK) : 1;
        if (n_steps > 1)
            take_block(ring, n_steps, step);
        else
            take_step(ring, step);
        k += n_steps;
        if (!ccs_interrupt_check(error))
            return false;
    }
    return true;
}

bool ccs_sweep_ring(Sweep *sweep, const CcsLaneId *members, uint32_t n, GError **error)
{
    uint32_t n_messages = sweep->lanes[members[0]].n;
    bool is_free = ccs_sweep_reduce(sweep, members[0], 0) == CCS_NOT_REDUCED;
    uint32_t n_reduced =
        is_free ? 0 : MIN(ccs_schedule_lane(sweep->schedule, members[0])->n_reduced, n_messages);

    if (n_messages == 0)
        return true;
    g_autofree CcsLaneId *order = order_ring(sweep, members, n);
    g_auto(Ring) ring = ring_new(n);
    send_first(sweep, order, &ring, n_reduced > 0);
    uint32_t n_reducing = n_reduced > 0 ? n_reduced - 1 : 0;
    if (!take_steps(&ring, n_reducing, ccs_sweep_step(true), error))
        return false;
    /* What is not reduced does not overtake what is. */
    memset(ring.reduce, 0, n * sizeof(CcsTime));
    if (!take_steps(&ring, n_messages - 1 - n_reducing, ccs_sweep_step(n_reduced > 0), error))
        return false;
    finish(sweep, order, &ring);
    return true;
}
