#include "collectives/two_level.h"

#include "base/error.h"
#include "collectives/order.h"

#define MAX_SLOTS 65536U

enum { REDUCE_SCATTER, ALLREDUCE, ALL_GATHER };

typedef struct {
    CcsSchedule *schedule;
    const CcsGroup *groups;
    uint32_t n_groups;
    uint32_t channel;
    uint32_t n_slots;
    CcsLaneId *scattered; /* by rank: the lane that brings the last part of its sum; or none */
    CcsLaneId *gathering; /* by rank: its lane of the third phase; or none */
} Builder;

static uint64_t gcd(uint64_t a, uint64_t b)
{
    return b == 0 ? a : gcd(b, a % b);
}

CcsGroup *ccs_schedule_node_groups(const CcsSchedule *schedule)
{
    const CcsCommunicator *communicator = ccs_schedule_communicator(schedule);
    uint32_t n = ccs_communicator_n_nodes(communicator);
    CcsGroup *groups = g_new(CcsGroup, n);

    for (uint32_t node = 0; node < n; node++)
        groups[node] = (CcsGroup){ccs_communicator_first(communicator, node),
                                  ccs_communicator_n_local(communicator, node)};
    return groups;
}

bool ccs_groups_n_slots(const CcsGroup *groups, uint32_t n_groups, uint32_t *ret_n, GError **error)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < n_groups; i++) {
        n = n / gcd(n, groups[i].n) * groups[i].n;
        if (n > MAX_SLOTS) {
            g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT,
                        "the buffer cannot be cut into equal parts for these nodes: the least"
                        " common multiple of their ranks is above %u",
                        MAX_SLOTS);
            return false;
        }
    }
    *ret_n = (uint32_t)n;
    return true;
}

/* One of the two rings inside a group. Block l is what place l has: all chunks of its slots.
 * A group need not be a node; where it is not, the ring crosses between nodes by rail. */
static CcsLaneId add_local_ring(const Builder *builder, const CcsGroup *group, uint32_t phase)
{
    g_autofree CcsRank *ranks = g_new(CcsRank, group->n);

    for (uint32_t i = 0; i < group->n; i++)
        ranks[i] = group->first + i;
    return ccs_schedule_add_ring(builder->schedule,
                                 &(CcsRing){.ranks = ranks,
                                            .n_ranks = group->n,
                                            .channel = builder->channel,
                                            .phase = phase,
                                            .n_messages = group->n - 1,
                                            .n_reduced = phase == REDUCE_SCATTER ? group->n - 1 : 0,
                                            .first = phase == REDUCE_SCATTER ? group->n - 1 : 0,
                                            .block = {.buffer = CCS_BUFFER_OUTPUT,
                                                      .scale = builder->n_groups,
                                                      .n1 = builder->n_groups,
                                                      .stride1 = 1,
                                                      .n2 = builder->n_slots / group->n,
                                                      .stride2 = builder->n_groups * group->n},
                                            .is_on_rail = true});
}

static void add_local_rings(const Builder *builder, uint32_t phase)
{
    for (uint32_t g = 0; g < builder->n_groups; g++) {
        const CcsGroup *group = &builder->groups[g];
        CcsLaneId base = group->n == 1 ? CCS_NO_LANE : add_local_ring(builder, group, phase);
        for (uint32_t i = 0; i < group->n; i++) {
            if (phase == REDUCE_SCATTER)
                builder->scattered[group->first + i] =
                    group->n == 1 ? CCS_NO_LANE : base + (i + group->n - 1) % group->n;
            else
                builder->gathering[group->first + i] = group->n == 1 ? CCS_NO_LANE : base + i;
        }
    }
}

/* The ring of one slot over the groups, between the phases inside them. */
static void add_slot_ring(const Builder *builder, uint32_t slot)
{
    CcsSchedule *schedule = builder->schedule;
    uint32_t n = builder->n_groups;
    g_autofree CcsRank *ranks = g_new(CcsRank, n);

    for (uint32_t g = 0; g < n; g++)
        ranks[g] = builder->groups[g].first + slot % builder->groups[g].n;
    CcsLaneId base = ccs_schedule_add_ring(
        schedule, &(CcsRing){.ranks = ranks,
                             .n_ranks = n,
                             .channel = builder->channel,
                             .phase = ALLREDUCE,
                             .n_messages = 2 * (n - 1),
                             .n_reduced = n - 1,
                             .block = {.buffer = CCS_BUFFER_OUTPUT, .base = slot * n, .scale = 1}});
    for (uint32_t i = 0; i < n; i++) {
        if (builder->scattered[ranks[i]] != CCS_NO_LANE)
            ccs_schedule_gate(schedule, base + i, builder->scattered[ranks[i]]);
        if (builder->gathering[ranks[i]] != CCS_NO_LANE)
            ccs_schedule_gate(schedule, builder->gathering[ranks[i]], base + (i + n - 1) % n);
    }
}

/* With one group the third phase follows the first. */
static void join_phases(const Builder *builder)
{
    for (CcsRank rank = 0; rank < ccs_schedule_n_ranks(builder->schedule); rank++)
        ccs_schedule_gate(builder->schedule, builder->gathering[rank], builder->scattered[rank]);
}

static void add_channel(const Builder *builder)
{
    add_local_rings(builder, REDUCE_SCATTER);
    add_local_rings(builder, ALL_GATHER);
    for (uint32_t slot = 0; slot < builder->n_slots && builder->n_groups > 1; slot++)
        add_slot_ring(builder, slot);
    if (builder->n_groups == 1)
        join_phases(builder);
}

bool ccs_schedule_add_two_level(CcsSchedule *schedule, const CcsGroup *groups, uint32_t n_groups,
                                const char *const phases[3], GError **error)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    g_autofree CcsLaneId *scattered = g_new(CcsLaneId, n);
    g_autofree CcsLaneId *gathering = g_new(CcsLaneId, n);
    Builder builder = {.schedule = schedule,
                       .groups = groups,
                       .n_groups = n_groups,
                       .scattered = scattered,
                       .gathering = gathering};

    if (!ccs_groups_n_slots(groups, n_groups, &builder.n_slots, error))
        return false;
    for (uint32_t i = 0; i < 3; i++)
        ccs_schedule_add_phase(schedule, phases[i]);
    ccs_schedule_set_n_chunks(schedule, builder.n_slots * n_groups);
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        builder.channel = channel;
        add_channel(&builder);
    }
    return true;
}
