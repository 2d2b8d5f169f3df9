/* broadcast_double_tree.c - two binary trees at once, in which nobody is interior twice
 *
 * In one binary tree half of the ranks are leaves, whose outgoing ports are idle. So there are
 * two trees: chunks of even number go down the first, the others down the second, and each
 * rank is a leaf of one of them at least. Every port then sends and receives about S bytes
 * (Sanders, Speck and Traff 2009).
 *
 * Positions are counted from the root, which is 0 in both. The first tree is in order: the
 * lowest set bit of a position is its height, so odd positions are leaves. With eight ranks:
 *
 *     0 -> 4;   4 -> 2, 6;   2 -> 1, 3;   6 -> 5, 7
 *
 * The second is the first with positions 1 ... n - 1 renamed such that even ones take the
 * places of odd ones: in a mirror if n is odd, else shifted by one. */
#include "collectives/algorithm.h"
#include "collectives/order.h"

static uint32_t first_parent(uint32_t at, uint32_t n)
{
    uint32_t bit = at & -at;
    uint32_t up = (at ^ bit) | bit << 1;

    return up < n ? up : at ^ bit;
}

/* The place in the first tree that position @at has in the second, and back. */
static uint32_t place_of(uint32_t at, uint32_t n)
{
    return n % 2 == 1 ? n - at : at == 1 ? n - 1 : at - 1;
}

static uint32_t position_at(uint32_t place, uint32_t n)
{
    if (place == 0)
        return 0;
    return n % 2 == 1 ? n - place : place == n - 1 ? 1 : place + 1;
}

static uint32_t parent_of(uint32_t tree, uint32_t at, uint32_t n)
{
    return tree == 0 ? first_parent(at, n) : position_at(first_parent(place_of(at, n), n), n);
}

static void add_tree(CcsSchedule *schedule, const CcsRank *order, uint32_t channel, uint32_t tree)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    uint32_t depth = ccs_schedule_pipeline(schedule);
    CcsBox box = {
        .buffer = CCS_BUFFER_OUTPUT, .scale = 1, .first = tree, .step = 2, .modulus = depth};
    CcsLaneId base = ccs_schedule_n_lanes(schedule);

    if (tree >= depth)
        return;
    for (uint32_t at = 1; at < n; at++) {
        CcsLane lane = {.source = order[parent_of(tree, at, n)],
                        .peer = order[at],
                        .channel = channel,
                        .phase = tree,
                        .n_messages = (depth - tree + 1) / 2,
                        .from = box,
                        .to = box};
        lane.path = ccs_schedule_rail_path(schedule, lane.source, lane.peer, channel);
        ccs_schedule_add_lane(schedule, &lane);
    }
    for (uint32_t at = 1; at < n; at++) {
        uint32_t parent = parent_of(tree, at, n);
        if (parent != 0)
            ccs_schedule_wait(schedule, base + at - 1, base + parent - 1, 0);
    }
}

static bool build(CcsSchedule *schedule, GError **error)
{
    (void)error;
    ccs_schedule_add_phase(schedule, "first tree");
    ccs_schedule_add_phase(schedule, "second tree");
    ccs_schedule_set_n_chunks(schedule, ccs_schedule_pipeline(schedule));
    for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
        g_autofree CcsRank *order = ccs_chain_order(schedule, channel);
        add_tree(schedule, order, channel, 0);
        add_tree(schedule, order, channel, 1);
    }
    return true;
}

const CcsAlgorithm ccs_broadcast_double_tree = {
    .collective = CCS_BROADCAST,
    .name = "double_tree",
    .summary = "pipelined down two binary trees, each rank interior in one of them only",
    .idea = "Chunks go down two binary trees in turn, and whoever passes chunks on in one tree "
            "is a leaf of the other. So every port is busy, and no chunk takes more than about "
            "2 log2 n hops.",
    .when = "For large buffers on many ranks: the bandwidth of a chain with a logarithmic start.",
    .assumption = "No closed form: the two children of a rank share its port. With many chunks "
                  "the time tends to S/B (Sanders, Speck and Traff 2009).",
    .is_pipelined = true,
    .build = build,
};
