#include "collectives/order.h"

/* Appends the ranks of @node to @order, beginning with @start and going round. */
static uint32_t append_node(const CcsCommunicator *communicator, uint32_t node, CcsRank start,
                            CcsRank *order)
{
    CcsRank first = ccs_communicator_first(communicator, node);
    uint32_t n_local = ccs_communicator_n_local(communicator, node);

    for (uint32_t i = 0; i < n_local; i++)
        order[i] = first + (start - first + i) % n_local;
    return n_local;
}

CcsRank *ccs_ring_order(const CcsSchedule *schedule, uint32_t channel)
{
    const CcsCommunicator *communicator = ccs_schedule_communicator(schedule);
    CcsRank *order = g_new(CcsRank, ccs_schedule_n_ranks(schedule));
    uint32_t n = 0;

    for (uint32_t node = 0; node < ccs_communicator_n_nodes(communicator); node++) {
        CcsRank start = ccs_communicator_rail(communicator, node, channel).rank;
        n += append_node(communicator, node, start, &order[n]);
    }
    return order;
}

CcsRank *ccs_chain_order(const CcsSchedule *schedule, uint32_t channel)
{
    const CcsCommunicator *communicator = ccs_schedule_communicator(schedule);
    CcsRank *order = g_new(CcsRank, ccs_schedule_n_ranks(schedule));
    CcsRank root = ccs_schedule_root(schedule);
    uint32_t n_nodes = ccs_communicator_n_nodes(communicator);
    uint32_t root_node = ccs_communicator_node(communicator, root);
    uint32_t n = append_node(communicator, root_node, root, order);

    for (uint32_t i = 1; i < n_nodes; i++) {
        uint32_t node = (root_node + i) % n_nodes;
        CcsRank start = ccs_communicator_rail(communicator, node, channel).rank;
        n += append_node(communicator, node, start, &order[n]);
    }
    return order;
}

CcsRank *ccs_tree_parents(const CcsSchedule *schedule, uint32_t channel)
{
    const CcsCommunicator *communicator = ccs_schedule_communicator(schedule);
    g_autofree CcsRank *order = ccs_ring_order(schedule, channel);
    CcsRank *parents = g_new(CcsRank, ccs_schedule_n_ranks(schedule));

    for (uint32_t node = 0; node < ccs_communicator_n_nodes(communicator); node++) {
        /* Nodes hold consecutive ranks, so their parts of the order begin where their ranks do. */
        const CcsRank *local = &order[ccs_communicator_first(communicator, node)];
        for (uint32_t i = 1; i < ccs_communicator_n_local(communicator, node); i++)
            parents[local[i]] = local[(i - 1) / 2];
        parents[local[0]] =
            node == 0 ? CCS_NO_RANK : order[ccs_communicator_first(communicator, (node - 1) / 2)];
    }
    return parents;
}

#define NO_PLACE UINT32_MAX

/* The place above place @at in the first of the two trees over @n places; NO_PLACE for the top. */
static uint32_t place_above(uint32_t at, uint32_t n)
{
    uint32_t bit = at & (~at + 1);
    uint32_t above = (at ^ bit) | bit << 1;

    if (at == 0)
        return NO_PLACE;
    return above < n ? above : at ^ bit;
}

/* The same in tree 0 or 1: place @at takes another one's in the first. */
static uint32_t place_above_in(uint32_t tree, uint32_t at, uint32_t n)
{
    bool is_mirrored = n % 2 == 0;

    if (tree == 0)
        return place_above(at, n);
    uint32_t above = place_above(is_mirrored ? n - 1 - at : (at + n - 1) % n, n);
    if (above == NO_PLACE)
        return NO_PLACE;
    return is_mirrored ? n - 1 - above : (above + 1) % n;
}

/* The heap of one node under @local[0]; in the second tree the others stand in it backwards. */
static void hang_node(const CcsRank *local, uint32_t n_local, uint32_t tree, CcsRank *parents)
{
    for (uint32_t i = 1; i < n_local; i++) {
        uint32_t above = (i - 1) / 2;
        if (tree == 0)
            parents[local[i]] = local[above];
        else
            parents[local[n_local - i]] = local[above == 0 ? 0 : n_local - above];
    }
}

CcsRank *ccs_double_tree_parents(const CcsSchedule *schedule, uint32_t channel, uint32_t tree)
{
    const CcsCommunicator *communicator = ccs_schedule_communicator(schedule);
    uint32_t n_nodes = ccs_communicator_n_nodes(communicator);
    uint32_t n_places = n_nodes == 1 ? ccs_schedule_n_ranks(schedule) : n_nodes;
    g_autofree CcsRank *order = ccs_ring_order(schedule, channel);
    CcsRank *parents = g_new(CcsRank, ccs_schedule_n_ranks(schedule));

    for (uint32_t place = 0; place < n_places; place++) {
        uint32_t above = place_above_in(tree, place, n_places);
        const CcsRank *local =
            &order[n_nodes == 1 ? place : ccs_communicator_first(communicator, place)];
        if (above == NO_PLACE)
            parents[local[0]] = CCS_NO_RANK;
        else
            parents[local[0]] =
                order[n_nodes == 1 ? above : ccs_communicator_first(communicator, above)];
        if (n_nodes > 1)
            hang_node(local, ccs_communicator_n_local(communicator, place), tree, parents);
    }
    return parents;
}

CcsLaneId ccs_schedule_add_ring(CcsSchedule *schedule, const CcsRing *ring)
{
    uint32_t n = ring->n_ranks;
    CcsLaneId base = ccs_schedule_n_lanes(schedule);

    for (uint32_t i = 0; i < n; i++) {
        CcsRank source = ring->ranks[i];
        CcsRank peer = ring->ranks[(i + 1) % n];
        CcsBox box = ring->block;
        box.first = (i + ring->first) % n;
        box.step = -1;
        box.modulus = n;
        ccs_schedule_add_lane(
            schedule,
            &(CcsLane){
                .source = source,
                .peer = peer,
                .channel = ring->channel,
                .phase = ring->phase,
                .n_messages = ring->n_messages,
                .n_reduced = ring->n_reduced,
                .from = box,
                .to = box,
                .path = ring->is_on_rail
                            ? ccs_schedule_rail_path(schedule, source, peer, ring->channel)
                            : ccs_schedule_path(schedule, source, peer, ring->channel),
            });
    }
    for (uint32_t i = 0; i < n; i++)
        ccs_schedule_wait(schedule, base + i, base + (i + n - 1) % n, 1);
    return base;
}
