#include "models/maxmin.h"

#include <string.h>

#include "tests/support/check_main.h"

#define MAX_LINKS 6 /* of a flow */

/* A star of so many links, whose bandwidths are what the solver looks at. */
static CcsTopology *topology;
static CcsMaxmin *solver;

static void build(const CcsRate *bandwidths, uint32_t n_links)
{
    topology = ccs_topology_new("links", "");
    CcsVertexId hub = ccs_topology_add_vertex(topology, CCS_VERTEX_SWITCH, "hub", CCS_NO_NODE);
    CcsVertexId gpu = ccs_topology_add_vertex(topology, CCS_VERTEX_GPU, "gpu", 0);
    for (uint32_t i = 0; i < n_links; i++)
        ccs_topology_add_link(topology, gpu, hub, 0, bandwidths[i], "link");
    ccs_topology_seal(topology);
    solver = ccs_maxmin_new(topology);
}

static void tear_down(void)
{
    g_clear_pointer(&solver, ccs_maxmin_free);
    g_clear_pointer(&topology, ccs_topology_free);
}

/* Flows with room for their links. */
typedef struct {
    CcsMaxminFlow *flows;
    CcsLinkId (*links)[MAX_LINKS];
    uint32_t (*weights)[MAX_LINKS];
    uint32_t n;
} Flows;

static Flows flows_new(uint32_t n)
{
    Flows flows = {g_new0(CcsMaxminFlow, n), g_malloc0_n(n, sizeof(CcsLinkId[MAX_LINKS])),
                   g_malloc0_n(n, sizeof(uint32_t[MAX_LINKS])), n};

    for (uint32_t i = 0; i < n; i++)
        flows.flows[i] = (CcsMaxminFlow){.links = flows.links[i]};
    return flows;
}

static void flows_clear(Flows *flows)
{
    g_free(flows->flows);
    g_free(flows->links);
    g_free(flows->weights);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Flows, flows_clear)

static void add_link(Flows *flows, uint32_t flow, CcsLinkId link)
{
    flows->links[flow][flows->flows[flow].n_links++] = link;
}

static void solve(Flows *flows)
{
    ccs_maxmin_solve(solver, flows->flows, flows->n);
}

START_TEST(a_single_flow_gets_its_slowest_link)
{
    build((CcsRate[]){900, 300, 500}, 3);
    g_auto(Flows) flows = flows_new(1);
    add_link(&flows, 0, 0);
    add_link(&flows, 0, 1);
    add_link(&flows, 0, 2);

    solve(&flows);

    ck_assert_uint_eq(flows.flows[0].rate, 300);
    ck_assert_uint_eq(flows.flows[0].limit, 1);
    ck_assert_uint_eq(ccs_maxmin_allocated(solver, 0), 300);
}
END_TEST

/* Bertsekas and Gallager's example: what one flow cannot use, the others share. */
START_TEST(what_a_slow_flow_leaves_is_shared_by_the_others)
{
    build((CcsRate[]){300, 900}, 2);
    g_auto(Flows) flows = flows_new(4);
    for (uint32_t i = 0; i < 3; i++)
        add_link(&flows, i, 0);
    add_link(&flows, 2, 1);
    add_link(&flows, 3, 1);

    solve(&flows);

    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(flows.flows[i].rate, 100);
    ck_assert_uint_eq(flows.flows[3].rate, 800);
    ck_assert_uint_eq(flows.flows[2].limit, 0);
    ck_assert_uint_eq(flows.flows[3].limit, 1);
}
END_TEST

START_TEST(shares_are_rounded_down_alike)
{
    build((CcsRate[]){100}, 1);
    g_auto(Flows) flows = flows_new(3);
    for (uint32_t i = 0; i < 3; i++)
        add_link(&flows, i, 0);

    solve(&flows);

    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(flows.flows[i].rate, 33);
    ck_assert_uint_eq(ccs_maxmin_allocated(solver, 0), 99);
}
END_TEST

START_TEST(a_flow_over_unlimited_links_is_not_limited)
{
    build((CcsRate[]){CCS_RATE_UNLIMITED, 50}, 2);
    g_auto(Flows) flows = flows_new(3);
    add_link(&flows, 0, 0);
    add_link(&flows, 1, 0);
    add_link(&flows, 1, 1);

    solve(&flows);

    ck_assert_uint_eq(flows.flows[0].rate, CCS_RATE_UNLIMITED);
    ck_assert_uint_eq(flows.flows[0].limit, CCS_NO_LINK);
    ck_assert_uint_eq(flows.flows[1].rate, 50);
    ck_assert_uint_eq(flows.flows[1].limit, 1);
    ck_assert_uint_eq(flows.flows[2].rate, CCS_RATE_UNLIMITED); /* uses no link at all */
}
END_TEST

START_TEST(used_links_are_the_limited_ones_with_flows)
{
    build((CcsRate[]){10, CCS_RATE_UNLIMITED, 20}, 3);
    g_auto(Flows) flows = flows_new(1);
    add_link(&flows, 0, 1);
    add_link(&flows, 0, 2);

    solve(&flows);

    uint32_t n = 0;
    const CcsLinkId *used = ccs_maxmin_used_links(solver, &n);
    ck_assert_uint_eq(n, 1);
    ck_assert_uint_eq(used[0], 2);
}
END_TEST

START_TEST(no_flows_need_no_rates)
{
    build((CcsRate[]){10}, 1);
    uint32_t n = 1;

    ccs_maxmin_solve(solver, NULL, 0);

    ccs_maxmin_used_links(solver, &n);
    ck_assert_uint_eq(n, 0);
}
END_TEST

/* A chain of links of rising bandwidth, each with a flow of its own and one that goes on to
 * the next: as many levels as links, far more than the solver scans before it makes a heap. */
START_TEST(many_levels_are_all_found)
{
    enum { N = 200 };
    CcsRate bandwidths[N];
    for (uint32_t i = 0; i < N; i++)
        bandwidths[i] = 1000 * (i + 1);
    build(bandwidths, N);
    g_auto(Flows) flows = flows_new(2 * N);
    for (uint32_t i = 0; i < N; i++) {
        add_link(&flows, i, i);
        add_link(&flows, N + i, i);
        if (i + 1 < N)
            add_link(&flows, N + i, i + 1);
    }

    solve(&flows);

    /* Link i has its own flow, the one from i - 1 (of known rate) and the one to i + 1. */
    CcsRate from_before = 0;
    for (uint32_t i = 0; i < N; i++) {
        CcsRate share = (bandwidths[i] - from_before) / 2;
        ck_assert_uint_eq(flows.flows[i].rate, share);
        ck_assert_uint_eq(flows.flows[N + i].rate, share);
        ck_assert_uint_eq(flows.flows[N + i].limit, i);
        from_before = share;
    }
}
END_TEST

/* Random cases: how many links and flows there are, how many different bandwidths. */
static const struct {
    uint32_t n_links;
    uint32_t n_flows;
    uint32_t n_rates;
} cases[] = {
    {1, 5, 1}, {4, 10, 2}, {10, 30, 3}, {30, 20, 1000}, {40, 300, 1000000}, {300, 300, 1000000},
};
#define N_ROUNDS 40

static Flows build_random(GRand *random, int of)
{
    uint32_t n_links = cases[of].n_links;
    g_autofree CcsRate *bandwidths = g_new(CcsRate, n_links);

    for (uint32_t i = 0; i < n_links; i++) {
        bandwidths[i] =
            (CcsRate)g_rand_int_range(random, 1, (gint32)cases[of].n_rates + 1) * 1000003;
        if (g_rand_int_range(random, 0, 12) == 0)
            bandwidths[i] = CCS_RATE_UNLIMITED;
    }
    build(bandwidths, n_links);
    Flows flows = flows_new(cases[of].n_flows);
    for (uint32_t i = 0; i < flows.n; i++) {
        int n = g_rand_int_range(random, 1, MAX_LINKS + 1);
        for (int j = 0; j < n; j++)
            add_link(&flows, i, (CcsLinkId)g_rand_int_range(random, 0, (gint32)n_links));
    }
    return flows;
}

/* The textbook's way: again and again the link with the least share, looked for everywhere.
 * A flow that crosses a link twice counts twice on it. */
typedef struct {
    CcsRate share;
    CcsLinkId link;
} Least;

static uint32_t n_crossings(const CcsMaxminFlow *flow, CcsLinkId link)
{
    uint32_t n = 0;

    for (uint32_t j = 0; j < flow->n_links; j++)
        n += flow->links[j] == link ? 1 : 0;
    return n;
}

static Least find_least(const Flows *flows, const bool *is_frozen, const CcsRate *room)
{
    Least least = {CCS_RATE_UNLIMITED, CCS_NO_LINK};

    for (CcsLinkId link = 0; link < ccs_topology_n_links(topology); link++) {
        uint64_t n = 0;
        for (uint32_t i = 0; i < flows->n; i++)
            n += is_frozen[i] ? 0 : n_crossings(&flows->flows[i], link);
        if (n > 0 && room[link] < CCS_RATE_UNLIMITED && room[link] / n < least.share)
            least = (Least){room[link] / n, link};
    }
    return least;
}

static CcsRate *plain_rates(const Flows *flows)
{
    uint32_t n_links = ccs_topology_n_links(topology);
    CcsRate *rates = g_new(CcsRate, flows->n);
    g_autofree bool *is_frozen = g_new0(bool, flows->n);
    g_autofree CcsRate *room = g_new(CcsRate, n_links);

    for (CcsLinkId link = 0; link < n_links; link++)
        room[link] = ccs_topology_link(topology, link)->bandwidth;
    for (uint32_t i = 0; i < flows->n; i++)
        rates[i] = CCS_RATE_UNLIMITED;
    for (Least least = find_least(flows, is_frozen, room); least.link != CCS_NO_LINK;
         least = find_least(flows, is_frozen, room)) {
        for (uint32_t i = 0; i < flows->n; i++) {
            if (is_frozen[i] || n_crossings(&flows->flows[i], least.link) == 0)
                continue;
            is_frozen[i] = true;
            rates[i] = least.share;
            for (uint32_t j = 0; j < flows->flows[i].n_links; j++) {
                CcsLinkId link = flows->flows[i].links[j];
                if (room[link] < CCS_RATE_UNLIMITED)
                    room[link] -= least.share;
            }
        }
    }
    return rates;
}

/* Freezing the links of one level one after the other may leave a later share a unit or two
 * higher, as each leaves its remainder; all at once is what the solver promises. */
#define ROUNDING 8

START_TEST(rates_are_those_of_the_textbook)
{
    g_autoptr(GRand) random = g_rand_new_with_seed((guint32)_i);

    for (int round = 0; round < N_ROUNDS / 4; round++) {
        g_auto(Flows) flows = build_random(random, _i);
        solve(&flows);
        g_autofree CcsRate *expected = plain_rates(&flows);
        for (uint32_t i = 0; i < flows.n; i++) {
            CcsRate rate = flows.flows[i].rate;
            if (rate > expected[i] + ROUNDING || expected[i] > rate + ROUNDING)
                ck_abort_msg("round %d, flow %u: %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT,
                             round, i, rate, expected[i]);
        }
        tear_down();
    }
}
END_TEST

typedef struct {
    CcsRate sum;
    CcsRate fastest;
    uint64_t n;
} Load;

/* The certificate of max-min fairness: no link is overloaded, and every flow has a full link
 * on which no flow is faster. Full: what is left is less than a unit for each flow. */
static void assert_certificate(const Flows *flows)
{
    uint32_t n_links = ccs_topology_n_links(topology);
    g_autofree Load *loads = g_new0(Load, n_links);

    for (uint32_t i = 0; i < flows->n; i++) {
        const CcsMaxminFlow *flow = &flows->flows[i];
        for (uint32_t j = 0; j < flow->n_links; j++) {
            Load *load = &loads[flow->links[j]];
            load->sum += flow->rate * ccs_flow_weight(flow->weights, j);
            load->fastest = MAX(load->fastest, flow->rate);
            load->n += ccs_flow_weight(flow->weights, j);
        }
    }
    for (uint32_t i = 0; i < flows->n; i++) {
        const CcsMaxminFlow *flow = &flows->flows[i];
        bool is_limited = false;
        for (uint32_t j = 0; j < flow->n_links; j++) {
            CcsRate bandwidth = ccs_topology_link(topology, flow->links[j])->bandwidth;
            is_limited = is_limited || bandwidth < CCS_RATE_UNLIMITED;
            if (bandwidth < CCS_RATE_UNLIMITED && loads[flow->links[j]].sum > bandwidth)
                ck_abort_msg("link %u carries too much", flow->links[j]);
        }
        ck_assert(is_limited == (flow->limit != CCS_NO_LINK));
        if (!is_limited)
            continue;
        const Load *load = &loads[flow->limit];
        ck_assert_uint_gt(n_crossings(flow, flow->limit), 0);
        ck_assert_uint_eq(load->fastest, flow->rate);
        ck_assert_uint_gt(load->sum + load->n, ccs_topology_link(topology, flow->limit)->bandwidth);
        ck_assert_uint_eq(load->sum, ccs_maxmin_allocated(solver, flow->limit));
    }
}

START_TEST(every_flow_has_a_full_link_on_which_none_is_faster)
{
    g_autoptr(GRand) random = g_rand_new_with_seed((guint32)_i);

    for (int round = 0; round < N_ROUNDS; round++) {
        g_auto(Flows) flows = build_random(random, _i);
        for (uint32_t i = 0; i < flows.n; i++) {
            flows.flows[i].weights = flows.weights[i];
            for (uint32_t j = 0; j < MAX_LINKS; j++)
                flows.weights[i][j] = (uint32_t)g_rand_int_range(random, 1, 6);
        }
        solve(&flows);
        assert_certificate(&flows);
        tear_down();
    }
}
END_TEST

static void shuffle(GRand *random, Flows *flows)
{
    for (uint32_t i = flows->n; i > 1; i--) {
        uint32_t other = (uint32_t)g_rand_int_range(random, 0, (gint32)i);
        CcsMaxminFlow swapped = flows->flows[i - 1];
        flows->flows[i - 1] = flows->flows[other];
        flows->flows[other] = swapped;
    }
}

START_TEST(the_order_of_the_flows_does_not_change_a_bit)
{
    g_autoptr(GRand) random = g_rand_new_with_seed((guint32)_i);

    for (int round = 0; round < N_ROUNDS; round++) {
        g_auto(Flows) flows = build_random(random, _i);
        solve(&flows);
        g_autofree CcsMaxminFlow *before = g_memdup2(flows.flows, flows.n * sizeof(CcsMaxminFlow));
        for (int again = 0; again < 3; again++) {
            shuffle(random, &flows);
            solve(&flows);
            for (uint32_t i = 0; i < flows.n; i++) {
                ptrdiff_t place = (flows.flows[i].links - flows.links[0]) / MAX_LINKS;
                ck_assert_mem_eq(&flows.flows[i], &before[place], sizeof(CcsMaxminFlow));
            }
        }
        tear_down();
    }
}
END_TEST

START_TEST(a_weight_of_m_on_every_link_is_m_flows)
{
    g_autoptr(GRand) random = g_rand_new_with_seed((guint32)_i);

    for (int round = 0; round < N_ROUNDS; round++) {
        g_auto(Flows) few = build_random(random, _i);
        uint32_t n = 0;
        for (uint32_t i = 0; i < few.n; i++) {
            uint32_t weight = (uint32_t)g_rand_int_range(random, 1, 5);
            few.flows[i].weights = few.weights[i];
            for (uint32_t j = 0; j < MAX_LINKS; j++)
                few.weights[i][j] = weight;
            n += weight;
        }
        g_auto(Flows) many = flows_new(n);
        uint32_t next = 0;
        for (uint32_t i = 0; i < few.n; i++) {
            for (uint32_t m = 0; m < few.weights[i][0]; m++, next++) {
                memcpy(many.links[next], few.links[i], sizeof few.links[i]);
                many.flows[next].n_links = few.flows[i].n_links;
            }
        }
        solve(&few);
        solve(&many);
        next = 0;
        for (uint32_t i = 0; i < few.n; i++) {
            for (uint32_t m = 0; m < few.weights[i][0]; m++, next++) {
                if (many.flows[next].rate != few.flows[i].rate ||
                    many.flows[next].limit != few.flows[i].limit)
                    ck_abort_msg("round %d: flow %u of many differs", round, next);
            }
        }
        tear_down();
    }
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("maxmin");
    TCase *tcase = tcase_create("maxmin");
    int n_cases = G_N_ELEMENTS(cases);

    tcase_add_checked_fixture(tcase, NULL, tear_down);
    tcase_add_test(tcase, a_single_flow_gets_its_slowest_link);
    tcase_add_test(tcase, what_a_slow_flow_leaves_is_shared_by_the_others);
    tcase_add_test(tcase, shares_are_rounded_down_alike);
    tcase_add_test(tcase, a_flow_over_unlimited_links_is_not_limited);
    tcase_add_test(tcase, used_links_are_the_limited_ones_with_flows);
    tcase_add_test(tcase, no_flows_need_no_rates);
    tcase_add_test(tcase, many_levels_are_all_found);
    tcase_add_loop_test(tcase, rates_are_those_of_the_textbook, 0, n_cases);
    tcase_add_loop_test(tcase, every_flow_has_a_full_link_on_which_none_is_faster, 0, n_cases);
    tcase_add_loop_test(tcase, the_order_of_the_flows_does_not_change_a_bit, 0, n_cases);
    tcase_add_loop_test(tcase, a_weight_of_m_on_every_link_is_m_flows, 0, n_cases);
    suite_add_tcase(suite, tcase);
    return suite;
}
