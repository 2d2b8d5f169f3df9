#include "topology/generate.h"

/* Which leaf each NIC is on. Leaves are numbered rail by rail if the fabric is
 * rail-optimised, else in the order in which the NICs, node by node, fill them. */
typedef struct {
    uint32_t n_nics; /* in all nodes; NICs are counted node by node */
    uint32_t n_leaves;
    uint32_t *leaf_of_nic;
    uint32_t n_ports;      /* for NICs on each leaf */
    CcsWork *rate_of_leaf; /* of all its ports together; no sum of rates overflows 128 bits */
} Plan;

static void plan_clear(Plan *plan)
{
    g_free(plan->leaf_of_nic);
    g_free(plan->rate_of_leaf);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Plan, plan_clear)

static uint32_t count_nics(const CcsTopologySpec *spec, uint32_t *ret_most)
{
    uint32_t n_nics = 0;

    for (uint32_t node = 0; node < ccs_spec_n_nodes(spec); node++) {
        uint32_t n = ccs_spec_n_nics(ccs_spec_node(spec, node));
        n_nics += n;
        *ret_most = MAX(*ret_most, n);
    }
    return n_nics;
}

static uint32_t n_leaves_for(uint32_t n_nics, uint32_t n_ports)
{
    return n_nics / n_ports + (n_nics % n_ports != 0);
}

/* The first leaf of each of @n_rails rails and, behind them, the number of leaves. */
static uint32_t *first_leaf_of_rails(const CcsTopologySpec *spec, uint32_t n_rails,
                                     uint32_t n_ports)
{
    uint32_t *first = g_new0(uint32_t, (size_t)n_rails + 1);

    for (uint32_t node = 0; node < ccs_spec_n_nodes(spec); node++) {
        for (uint32_t nic = 0; nic < ccs_spec_n_nics(ccs_spec_node(spec, node)); nic++)
            first[nic]++;
    }
    uint32_t next = 0;
    for (uint32_t rail = 0; rail <= n_rails; rail++) {
        uint32_t n_leaves = rail < n_rails ? n_leaves_for(first[rail], n_ports) : 0;
        first[rail] = next;
        next += n_leaves;
    }
    return first;
}

static void plan_by_rail(Plan *plan, const CcsTopologySpec *spec, uint32_t n_rails)
{
    uint32_t n_ports = plan->n_ports;
    g_autofree uint32_t *first = first_leaf_of_rails(spec, n_rails, n_ports);
    g_autofree uint32_t *n_placed = g_new0(uint32_t, n_rails);
    uint32_t position = 0;

    plan->n_leaves = first[n_rails];
    for (uint32_t node = 0; node < ccs_spec_n_nodes(spec); node++) {
        for (uint32_t nic = 0; nic < ccs_spec_n_nics(ccs_spec_node(spec, node)); nic++)
            plan->leaf_of_nic[position++] = first[nic] + n_placed[nic]++ / n_ports;
    }
}

static void plan_in_order(Plan *plan)
{
    uint32_t n_ports = plan->n_ports;

    plan->n_leaves = n_leaves_for(plan->n_nics, n_ports);
    for (uint32_t position = 0; position < plan->n_nics; position++)
        plan->leaf_of_nic[position] = position / n_ports;
}

/* A leaf has links upwards for all of its ports, also where some of them are empty. */
static void plan_rates(Plan *plan, const CcsTopologySpec *spec)
{
    uint32_t position = 0;
    g_autofree uint32_t *n_taken = g_new0(uint32_t, plan->n_leaves);

    plan->rate_of_leaf = g_new0(CcsWork, plan->n_leaves);
    for (uint32_t node = 0; node < ccs_spec_n_nodes(spec); node++) {
        const CcsNodeSpec *node_spec = ccs_spec_node(spec, node);
        for (uint32_t nic = 0; nic < ccs_spec_n_nics(node_spec); nic++) {
            uint32_t leaf = plan->leaf_of_nic[position++];
            plan->rate_of_leaf[leaf] += node_spec->nics->bandwidth;
            n_taken[leaf]++;
        }
    }
    for (uint32_t leaf = 0; leaf < plan->n_leaves; leaf++)
        plan->rate_of_leaf[leaf] = plan->rate_of_leaf[leaf] * plan->n_ports / n_taken[leaf];
}

static void plan_leaves(Plan *plan, const CcsTopologySpec *spec)
{
    uint32_t n_rails = 0;

    plan->n_nics = count_nics(spec, &n_rails);
    plan->n_ports = spec->fabric->n_ports > 0 ? spec->fabric->n_ports : ccs_spec_n_nodes(spec);
    plan->leaf_of_nic = g_new(uint32_t, plan->n_nics);
    if (spec->fabric->is_rail_optimized)
        plan_by_rail(plan, spec, n_rails);
    else
        plan_in_order(plan);
    plan_rates(plan, spec);
}

static void join_nics(CcsTopology *topology, const CcsTopologySpec *spec,
                      const uint32_t *leaf_of_nic, CcsVertexId first_switch)
{
    uint32_t position = 0;

    for (uint32_t node = 0; node < ccs_spec_n_nodes(spec); node++) {
        const CcsNicsSpec *nics = ccs_spec_node(spec, node)->nics;
        for (uint32_t i = 0; nics != NULL && i < nics->count; i++, position++) {
            uint32_t leaf = leaf_of_nic == NULL ? 0 : leaf_of_nic[position];
            CcsLink link = {.from = ccs_generate_find(topology, node, "nic", i),
                            .to = first_switch + leaf,
                            .alpha = nics->latency,
                            .bandwidth = nics->bandwidth};
            ccs_generate_both_ways(topology, &link, "nic");
        }
    }
}

static CcsVertexId add_switches(CcsTopology *topology, const char *name, uint32_t n)
{
    CcsVertexId first = ccs_topology_n_vertices(topology);

    for (uint32_t i = 0; i < n; i++) {
        char text[32];
        g_snprintf(text, sizeof text, "%s%u", name, i);
        ccs_topology_add_vertex(topology, CCS_VERTEX_SWITCH, text, CCS_NO_NODE);
    }
    return first;
}

/* The bandwidth between @leaf and each spine: (rate of its ports) / (spines x oversubscription),
 * rounded down. Returns 0, which is no bandwidth, with an error if it cannot be written. */
static CcsRate uplink_rate(const Plan *plan, const CcsFabricSpec *fabric, uint32_t leaf,
                           CcsConfig *config)
{
    CcsWork rate = plan->rate_of_leaf[leaf] * CCS_DECIMAL_ONE /
                   ((CcsWork)fabric->n_spines * fabric->oversubscription);

    if (rate > 0 && rate <= CCS_RATE_MAX)
        return (CcsRate)rate;
    ccs_config_error_at(config, "fabric", "links between leaf and spine would be too %s to be told",
                        rate == 0 ? "slow" : "fast");
    return 0;
}

static void join_leaves(CcsTopology *topology, const CcsFabricSpec *fabric, const Plan *plan,
                        CcsVertexId first_leaf, CcsConfig *config)
{
    CcsVertexId first_spine = add_switches(topology, "spine", fabric->n_spines);

    for (uint32_t leaf = 0; leaf < plan->n_leaves; leaf++) {
        CcsRate rate = uplink_rate(plan, fabric, leaf, config);
        if (rate == 0)
            return;
        for (uint32_t spine = 0; spine < fabric->n_spines; spine++) {
            CcsLink link = {.from = first_leaf + leaf,
                            .to = first_spine + spine,
                            .alpha = fabric->latency,
                            .bandwidth = rate};
            ccs_generate_both_ways(topology, &link, "leaf-spine");
        }
    }
}

static void add_leaf_spine(CcsTopology *topology, const CcsTopologySpec *spec, CcsConfig *config)
{
    g_auto(Plan) plan = {0};

    plan_leaves(&plan, spec);
    if (2 * (uint64_t)plan.n_leaves * spec->fabric->n_spines > CCS_TOPOLOGY_MAX_PARTS) {
        ccs_config_error_at(config, "fabric",
                            "the fabric is too large: %u leaves joined to %u spines", plan.n_leaves,
                            spec->fabric->n_spines);
        return;
    }
    CcsVertexId first_leaf = add_switches(topology, "leaf", plan.n_leaves);
    join_nics(topology, spec, plan.leaf_of_nic, first_leaf);
    join_leaves(topology, spec->fabric, &plan, first_leaf, config);
}

void ccs_generate_fabric(CcsTopology *topology, const CcsTopologySpec *spec, CcsConfig *config)
{
    if (spec->fabric == NULL)
        return;
    if (spec->fabric->kind == CCS_FABRIC_LEAF_SPINE) {
        add_leaf_spine(topology, spec, config);
        return;
    }
    CcsVertexId fabric =
        ccs_topology_add_vertex(topology, CCS_VERTEX_SWITCH, "switch", CCS_NO_NODE);
    join_nics(topology, spec, NULL, fabric);
}
