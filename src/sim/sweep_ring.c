/* sweep_ring.c - the recurrence over lanes each of which waits for the one before it
 *
 * Step k of all lanes is computed from step k - 1, side by side: the loops are written so that
 * compilers turn them into vector code, once for each set of instructions, of which the best that
 * the processor has is taken. All of them compute in integers, so all give the same. */
#include <string.h>

#include "base/interrupt.h"
#include "sim/sweep_internal.h"

/* By place in the ring; a lane waits for the one at the place before. */
typedef struct {
    uint32_t n;
    CcsTime *busy; /* for each message: cost and move */
    CcsTime *latency;
    CcsTime *reduce;  /* for each message that is reduced */
    CcsTime *left;    /* of the latest message */
    CcsTime *arrived; /* of the latest message, at places 1 ... n; the last one's again at 0 */
    CcsTime *next;    /* likewise, of the one after it */
} Ring;

#define STEP_PLAIN                                                                                 \
    for (uint32_t i = 0; i < n; i++) {                                                             \
        CcsTime start = left[i] > arrived[i] ? left[i] : arrived[i];                               \
        left[i] = start + busy[i];                                                                 \
        next[i + 1] = left[i] + latency[i];                                                        \
    }                                                                                              \
    next[0] = next[n]

#define STEP_REDUCING                                                                              \
    for (uint32_t i = 0; i < n; i++) {                                                             \
        CcsTime start = left[i] > arrived[i] ? left[i] : arrived[i];                               \
        left[i] = start + busy[i];                                                                 \
        CcsTime there = left[i] + latency[i];                                                      \
        next[i + 1] = (there > arrived[i + 1] ? there : arrived[i + 1]) + reduce[i];               \
    }                                                                                              \
    next[0] = next[n]

typedef void Step(uint32_t n, const CcsTime *restrict busy, const CcsTime *restrict latency,
                  const CcsTime *restrict reduce, CcsTime *restrict left,
                  const CcsTime *restrict arrived, CcsTime *restrict next);

#define DEFINE_STEP(name, attributes, body)                                                        \
    attributes static void name(uint32_t n, const CcsTime *restrict busy,                          \
                                const CcsTime *restrict latency, const CcsTime *restrict reduce,   \
                                CcsTime *restrict left, const CcsTime *restrict arrived,           \
                                CcsTime *restrict next)                                            \
    {                                                                                              \
        (void)reduce;                                                                              \
        body;                                                                                      \
    }

DEFINE_STEP(step_plain, , STEP_PLAIN)
DEFINE_STEP(step_reducing, , STEP_REDUCING)

#if defined(__x86_64__)
DEFINE_STEP(step_plain_avx2, __attribute__((target("avx2"))), STEP_PLAIN)
DEFINE_STEP(step_reducing_avx2, __attribute__((target("avx2"))), STEP_REDUCING)
DEFINE_STEP(step_plain_avx512, __attribute__((target("avx512f"))), STEP_PLAIN)
DEFINE_STEP(step_reducing_avx512, __attribute__((target("avx512f"))), STEP_REDUCING)
#endif

static const struct {
    const char *name;
    Step *plain;
    Step *reducing;
} kernels[CCS_N_KERNELS] = {
    [CCS_KERNEL_PLAIN] = {"plain", step_plain, step_reducing},
#if defined(__x86_64__)
    [CCS_KERNEL_AVX2] = {"avx2", step_plain_avx2, step_reducing_avx2},
    [CCS_KERNEL_AVX512] = {"avx512", step_plain_avx512, step_reducing_avx512},
#endif
};

bool ccs_sweep_has_kernel(CcsKernel kernel)
{
#if defined(__x86_64__)
    if (kernel == CCS_KERNEL_AVX512)
        return __builtin_cpu_supports("avx512f");
    if (kernel == CCS_KERNEL_AVX2)
        return __builtin_cpu_supports("avx2");
#endif
    return kernel == CCS_KERNEL_PLAIN;
}

static CcsKernel chosen = CCS_N_KERNELS; /* not yet */

void ccs_sweep_choose_kernel(CcsKernel kernel)
{
    chosen = kernel;
}

static CcsKernel best_kernel(void)
{
    for (CcsKernel kernel = CCS_N_KERNELS; kernel-- > 0;) {
        if (ccs_sweep_has_kernel(kernel))
            return kernel;
    }
    return CCS_KERNEL_PLAIN;
}

static Ring ring_new(uint32_t n)
{
    size_t size = (size_t)n + 1;

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

static bool take_steps(Ring *ring, uint32_t n, Step *step, GError **error)
{
    for (uint32_t k = 0; k < n; k++) {
        step(ring->n, ring->busy, ring->latency, ring->reduce, ring->left, ring->arrived,
             ring->next);
        CcsTime *arrived = ring->arrived;
        ring->arrived = ring->next;
        ring->next = arrived;
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
    if (chosen == CCS_N_KERNELS)
        chosen = best_kernel();
    g_autofree CcsLaneId *order = order_ring(sweep, members, n);
    g_auto(Ring) ring = ring_new(n);
    send_first(sweep, order, &ring, n_reduced > 0);
    uint32_t n_reducing = n_reduced > 0 ? n_reduced - 1 : 0;
    if (!take_steps(&ring, n_reducing, kernels[chosen].reducing, error))
        return false;
    /* What is not reduced does not overtake what is. */
    memset(ring.reduce, 0, n * sizeof(CcsTime));
    Step *rest = n_reduced > 0 ? kernels[chosen].reducing : kernels[chosen].plain;
    if (!take_steps(&ring, n_messages - 1 - n_reducing, rest, error))
        return false;
    finish(sweep, order, &ring);
    return true;
}
