#include "sim/sweep.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/interrupt.h"
#include "base/lists.h"
#include "sim/components.h"
#include "sim/sweep_internal.h"

/* So many times of messages are kept for lanes that others follow message by message. */
#define MAX_KEPT ((uint64_t)1 << 25)

/* Times stay below this, so that sums of two do not run over. */
#define MAX_TIME ((CcsWork)1 << 61)

static CcsRate rate_of(const Sweep *sweep, const CcsRoute *route)
{
    CcsRate rate = CCS_RATE_UNLIMITED;

    for (uint32_t i = 0; i < route->n_links; i++)
        rate = MIN(rate, ccs_topology_link(sweep->topology, route->links[i])->bandwidth);
    return rate;
}

CcsTime ccs_sweep_move(const Sweep *sweep, CcsLaneId id, uint32_t message)
{
    const CcsLane *lane = ccs_schedule_lane(sweep->schedule, id);
    CcsBytes bytes = ccs_schedule_message_bytes(sweep->schedule, lane, message, sweep->size);

    if (bytes == 0 || ccs_lane_is_local(lane))
        return 0;
    return ccs_time_to_move(bytes, sweep->lanes[id].rate);
}

CcsTime ccs_sweep_reduce(const Sweep *sweep, CcsLaneId id, uint32_t message)
{
    const CcsLane *lane = ccs_schedule_lane(sweep->schedule, id);
    bool is_reduced = message < lane->n_reduced || lane->is_added_there;

    if (!is_reduced || ccs_lane_is_local(lane) ||
        sweep->transport->reduce_rate >= CCS_RATE_UNLIMITED)
        return CCS_NOT_REDUCED;
    return ccs_time_to_move(ccs_schedule_message_bytes(sweep->schedule, lane, message, sweep->size),
                            sweep->transport->reduce_rate);
}

static void describe_lane(Sweep *sweep, CcsLaneId id)
{
    const CcsCommunicator *communicator = ccs_schedule_communicator(sweep->schedule);
    const CcsLane *lane = ccs_schedule_lane(sweep->schedule, id);
    const CcsRoute *route = ccs_paths_route(sweep->paths, id, 0, NULL);
    CcsVertexId gpu = ccs_communicator_gpu(communicator, lane->source);
    CcsTime delay = ccs_topology_vertex(sweep->topology, gpu)->start_delay;

    sweep->lanes[id] = (SweepLane){
        .n = lane->n_messages,
        .cost = ccs_lane_is_local(lane) ? lane->duration : sweep->transport->message_cost,
        .latency = route->latency,
        .rate = rate_of(sweep, route),
        .started = sweep->transport->launch + (lane->is_early ? 0 : delay),
        .is_constant = ccs_schedule_even_bytes(sweep->schedule, lane, sweep->size) != CCS_UNEVEN,
    };
}

/* Even if all messages came one after the other, the last one would not be too late. */
static char *refuse_length(const Sweep *sweep)
{
    CcsWork sum = 0;

    for (CcsLaneId id = 0; id < sweep->n_lanes; id++) {
        const SweepLane *lane = &sweep->lanes[id];
        CcsWork each = (CcsWork)lane->cost + (CcsWork)lane->latency;
        if (lane->n > 0)
            each += (CcsWork)ccs_sweep_move(sweep, id, 0) +
                    (CcsWork)MAX(ccs_sweep_reduce(sweep, id, 0), 0) + 2;
        sum += each * lane->n;
        if (sum > MAX_TIME || (CcsWork)lane->started > MAX_TIME)
            return g_strdup("times may run over");
    }
    return NULL;
}

/* Whether from its first message on @dependency asks for all messages of its lane. */
static bool is_for_all(const Sweep *sweep, const CcsDependency *dependency)
{
    uint32_t n = sweep->lanes[dependency->before].n;
    return ccs_dependency_needs(dependency, dependency->from, n) == n;
}

static bool is_inside(const Sweep *sweep, const CcsDependency *dependency)
{
    return sweep->components->of[dependency->before] == sweep->components->of[dependency->after];
}

/* Whether message k of a lane waits for a message of the lane before it that has the same number
 * or a lower one, and that is so for every k. */
static bool is_step_by_step(const CcsDependency *dependency)
{
    return dependency->p_before == 1 && dependency->p_after == 1;
}

/* Marks the lanes whose message times others ask for. */
static char *find_keepers(Sweep *sweep)
{
    uint64_t n_kept = 0;

    for (uint32_t i = 0; i < ccs_schedule_n_dependencies(sweep->schedule); i++) {
        const CcsDependency *dependency = ccs_schedule_dependency(sweep->schedule, i);
        SweepLane *before = &sweep->lanes[dependency->before];
        bool *keeps = dependency->event == CCS_SENT ? &before->keeps_left : &before->keeps_arrived;
        if (is_inside(sweep, dependency)) {
            if (!is_step_by_step(dependency))
                return g_strdup("lanes that wait for each other do so at different paces");
            if (sweep->is_ring[sweep->components->of[dependency->after]])
                continue;
        } else if (is_for_all(sweep, dependency)) {
            continue;
        }
        n_kept += *keeps ? 0 : before->n;
        *keeps = true;
    }
    return n_kept <= MAX_KEPT ? NULL : g_strdup("too many times would have to be kept");
}

/* A ring, of lanes like the @first: each lane waits for the one before it to be one message
 * further, and for others only before it begins. */
static bool is_ring_lane(const Sweep *sweep, CcsLaneId id, CcsLaneId first)
{
    const CcsLane *lane = ccs_schedule_lane(sweep->schedule, id);
    const CcsLane *like = ccs_schedule_lane(sweep->schedule, first);
    uint32_t n_inside = 0;

    if (!sweep->lanes[id].is_constant || lane->n_messages != like->n_messages ||
        lane->n_reduced != like->n_reduced || lane->is_added_there)
        return false;
    for (uint32_t i = sweep->needs.first[id]; i < sweep->needs.first[id + 1]; i++) {
        const CcsDependency *dependency =
            ccs_schedule_dependency(sweep->schedule, sweep->needs.items[i]);
        if (!is_inside(sweep, dependency)) {
            if (dependency->from > 0 || !is_for_all(sweep, dependency))
                return false;
            continue;
        }
        n_inside++;
        if (!is_step_by_step(dependency) || dependency->event != CCS_ARRIVED ||
            dependency->distance != 1 || dependency->from > 1)
            return false;
    }
    return n_inside == 1;
}

/* Nobody asks for single messages of its lanes from outside. */
static bool is_followed_step_by_step(const Sweep *sweep, const CcsDependency *dependency)
{
    return !is_inside(sweep, dependency) && !is_for_all(sweep, dependency);
}

static void find_rings(Sweep *sweep)
{
    const CcsComponents *components = sweep->components;

    for (uint32_t c = 0; c < components->n; c++) {
        const uint32_t *members = &components->members[components->first[c]];
        uint32_t n = components->first[c + 1] - components->first[c];
        sweep->is_ring[c] = true;
        for (uint32_t i = 0; i < n && sweep->is_ring[c]; i++)
            sweep->is_ring[c] = is_ring_lane(sweep, members[i], members[0]);
    }
    for (uint32_t i = 0; i < ccs_schedule_n_dependencies(sweep->schedule); i++) {
        const CcsDependency *dependency = ccs_schedule_dependency(sweep->schedule, i);
        if (is_followed_step_by_step(sweep, dependency))
            sweep->is_ring[components->of[dependency->before]] = false;
    }
}

static void find_components(Sweep *sweep)
{
    uint32_t n = ccs_schedule_n_dependencies(sweep->schedule);
    g_autofree uint32_t *first = g_new0(uint32_t, (size_t)sweep->n_lanes + 2);
    g_autofree CcsArc *arcs = g_new(CcsArc, (size_t)n + 1);

    for (uint32_t i = 0; i < n; i++)
        first[ccs_schedule_dependency(sweep->schedule, i)->before + 2]++;
    for (uint32_t i = 2; i < sweep->n_lanes + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < n; i++) {
        const CcsDependency *dependency = ccs_schedule_dependency(sweep->schedule, i);
        arcs[first[dependency->before + 1]++] = (CcsArc){.to = dependency->after};
    }
    sweep->components = ccs_components_find(
        &(CcsArcGraph){.n_vertices = sweep->n_lanes, .first = first, .arcs = arcs});
    sweep->is_ring = g_new0(bool, (size_t)sweep->components->n + 1);
}

static bool sweep_all(Sweep *sweep, char **ret_reason, GError **error)
{
    const CcsComponents *components = sweep->components;

    for (uint32_t c = 0; c < components->n; c++) {
        const uint32_t *members = &components->members[components->first[c]];
        uint32_t n = components->first[c + 1] - components->first[c];
        if (sweep->is_ring[c]) {
            if (!ccs_sweep_ring(sweep, members, n, error))
                return false;
        } else if (!ccs_sweep_any(sweep, members, n, ret_reason, error)) {
            return false;
        }
    }
    return true;
}

static void sweep_clear(Sweep *sweep)
{
    for (CcsLaneId id = 0; id < sweep->n_lanes; id++) {
        g_free(sweep->lanes[id].arrived);
        g_free(sweep->lanes[id].left);
    }
    g_free(sweep->lanes);
    g_free(sweep->is_ring);
    ccs_lists_clear(&sweep->needs);
    ccs_components_free(sweep->components);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sweep, sweep_clear)

CcsSweep *ccs_sweep_run(const CcsSwept *swept, CcsBytes size, char **ret_reason, GError **error)
{
    const CcsSchedule *schedule = swept->schedule;

    *ret_reason = g_strdup(ccs_schedule_irregularity(schedule));
    if (*ret_reason != NULL)
        return NULL;

    uint32_t n_lanes = ccs_schedule_n_lanes(schedule);
    g_auto(Sweep) sweep = {
        .schedule = schedule,
        .topology = ccs_communicator_topology(ccs_schedule_communicator(schedule)),
        .transport = swept->transport,
        .paths = swept->paths,
        .reduction = swept->reduction,
        .size = size,
        .n_lanes = n_lanes,
        .lanes = g_new0(SweepLane, (size_t)n_lanes + 1),
        .needs = ccs_schedule_needs(schedule),
    };
    for (CcsLaneId id = 0; id < n_lanes; id++)
        describe_lane(&sweep, id);
    find_components(&sweep);
    find_rings(&sweep);
    *ret_reason = refuse_length(&sweep);
    if (*ret_reason == NULL)
        *ret_reason = find_keepers(&sweep);
    if (*ret_reason != NULL || !sweep_all(&sweep, ret_reason, error))
        return NULL;
    return ccs_sweep_total(&sweep, swept->shares_links, ret_reason);
}

void ccs_sweep_free(CcsSweep *sweep)
{
    if (sweep == NULL)
        return;
    g_free(sweep->ranks);
    g_free(sweep->links);
    g_free(sweep);
}
