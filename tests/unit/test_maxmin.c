#include "models/maxmin.h"

#include "tests/support/check_main.h"

#define MAX_LINKS 64
#define MAX_FLOWS 120
#define MAX_ROUTE 5

/* Links between as many pairs of vertices, with the rates given, in units of rate. */
static CcsTopology *make_links(const CcsRate *rates, uint32_t n)
{
    CcsTopology *topology = ccs_topology_new("links", "");

    for (uint32_t i = 0; i <= n; i++) {
        char name[16];
        g_snprintf(name, sizeof name, "v%u", i);
        ccs_topology_add_vertex(topology, CCS_VERTEX_SWITCH, name, CCS_NO_NODE);
    }
    for (uint32_t i = 0; i < n; i++)
        ccs_topology_add_link(topology, i, i + 1, 0, rates[i], "link");
    ccs_topology_seal(topology);
    return topology;
}

typedef struct {
    CcsTopology *topology;
    CcsRate rates[MAX_LINKS];
    uint32_t n_links;
    CcsLinkId routes[MAX_FLOWS][MAX_ROUTE];
    CcsMaxminFlow flows[MAX_FLOWS];
    CcsMaxminFlow *order[MAX_FLOWS];
    uint32_t n_flows;
} Case;

static void make_case(Case *random_case, guint32 seed)
{
    GRand *random = g_rand_new_with_seed(seed);

    random_case->n_links = (uint32_t)g_rand_int_range(random, 1, MAX_LINKS);
    random_case->n_flows = (uint32_t)g_rand_int_range(random, 1, MAX_FLOWS);
    for (uint32_t i = 0; i < random_case->n_links; i++)
        random_case->rates[i] =
            g_rand_int_range(random, 0, 20) == 0
                ? CCS_RATE_UNLIMITED
                : (CcsRate)g_rand_int_range(random, 1000, seed % 2 == 0 ? 1010 : 1000000);
    for (uint32_t i = 0; i < random_case->n_flows; i++) {
        uint32_t first = (uint32_t)g_rand_int_range(random, 0, (gint32)random_case->n_links);
        uint32_t n = (uint32_t)g_rand_int_range(random, 1, MAX_ROUTE + 1);
        n = MIN(n, random_case->n_links - first);
        for (uint32_t j = 0; j < n; j++)
            random_case->routes[i][j] = first + j;
        random_case->flows[i] =
            (CcsMaxminFlow){.links = random_case->routes[i],
                            .n_links = n,
                            .multiplicity = (uint32_t)g_rand_int_range(random, 1, 4)};
        random_case->order[i] = &random_case->flows[i];
    }
    random_case->topology = make_links(random_case->rates, random_case->n_links);
    g_rand_free(random);
}

/* What all flows together take of a link, and the rate of the fastest of them. */
static void sum_up(const Case *of, CcsLinkId link, CcsRate *ret_sum, CcsRate *ret_fastest)
{
    *ret_sum = 0;
    *ret_fastest = 0;
    for (uint32_t i = 0; i < of->n_flows; i++) {
        for (uint32_t j = 0; j < of->flows[i].n_links; j++) {
            if (of->flows[i].links[j] != link)
                continue;
            *ret_sum += of->flows[i].rate * of->flows[i].multiplicity;
            *ret_fastest = MAX(*ret_fastest, of->flows[i].rate);
        }
    }
}

static uint64_t count_users(const Case *of, CcsLinkId link)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < of->n_flows; i++) {
        for (uint32_t j = 0; j < of->flows[i].n_links; j++)
            n += of->flows[i].links[j] == link ? of->flows[i].multiplicity : 0;
    }
    return n;
}

START_TEST(every_flow_has_a_full_link_on_which_no_flow_is_faster)
{
    Case random_case;
    make_case(&random_case, (guint32)_i);
    g_autoptr(CcsMaxmin) solver = ccs_maxmin_new(random_case.topology);

    ccs_maxmin_solve(solver, random_case.order, random_case.n_flows, NULL);
    for (CcsLinkId link = 0; link < random_case.n_links; link++) {
        CcsRate sum;
        CcsRate fastest;
        sum_up(&random_case, link, &sum, &fastest);
        if (random_case.rates[link] < CCS_RATE_UNLIMITED) {
            ck_assert_uint_le(sum, random_case.rates[link]);
            if (sum > 0)
                ck_assert_uint_eq(ccs_maxmin_allocated(solver, link), sum);
        }
    }
    for (uint32_t i = 0; i < random_case.n_flows; i++) {
        const CcsMaxminFlow *flow = &random_case.flows[i];
        CcsRate sum;
        CcsRate fastest;
        if (flow->limit == CCS_NO_LINK) {
            ck_assert_uint_eq(flow->rate, CCS_RATE_UNLIMITED);
            continue;
        }
        sum_up(&random_case, flow->limit, &sum, &fastest);
        ck_assert_uint_eq(flow->rate, fastest);
        /* full but for what rounding down leaves over */
        ck_assert_uint_lt(random_case.rates[flow->limit] - sum,
                          count_users(&random_case, flow->limit));
    }
    ccs_topology_free(random_case.topology);
}
END_TEST

START_TEST(the_order_of_flows_changes_nothing)
{
    Case random_case;
    CcsRate rates[MAX_FLOWS];
    make_case(&random_case, (guint32)_i + 1000);
    g_autoptr(CcsMaxmin) solver = ccs_maxmin_new(random_case.topology);

    ccs_maxmin_solve(solver, random_case.order, random_case.n_flows, NULL);
    for (uint32_t i = 0; i < random_case.n_flows; i++) {
        rates[i] = random_case.flows[i].rate;
        random_case.order[i] = &random_case.flows[random_case.n_flows - 1 - i];
    }
    ccs_maxmin_solve(solver, random_case.order, random_case.n_flows, NULL);
    for (uint32_t i = 0; i < random_case.n_flows; i++)
        ck_assert_uint_eq(random_case.flows[i].rate, rates[i]);
    ccs_topology_free(random_case.topology);
}
END_TEST

START_TEST(three_flows_over_two_links)
{
    /* the textbook case: one flow over both links, one on each */
    const CcsRate rates[] = {10000, 16000};
    const CcsLinkId both[] = {0, 1};
    g_autoptr(CcsTopology) topology = make_links(rates, 2);
    g_autoptr(CcsMaxmin) solver = ccs_maxmin_new(topology);
    CcsMaxminFlow flows[] = {{.links = both, .n_links = 2, .multiplicity = 1},
                             {.links = &both[0], .n_links = 1, .multiplicity = 1},
                             {.links = &both[1], .n_links = 1, .multiplicity = 1}};
    CcsMaxminFlow *order[] = {&flows[0], &flows[1], &flows[2]};

    ccs_maxmin_solve(solver, order, 3, NULL);

    ck_assert_uint_eq(flows[0].rate, 5000);
    ck_assert_uint_eq(flows[1].rate, 5000);
    ck_assert_uint_eq(flows[2].rate, 11000);
    ck_assert_uint_eq(flows[0].limit, 0);
    ck_assert_uint_eq(flows[2].limit, 1);
}
END_TEST

START_TEST(many_levels_are_solved_too)
{
    /* flow i shares link i with flow i + 1; each link has its own level */
    CcsRate rates[40];
    CcsLinkId routes[40][2];
    CcsMaxminFlow flows[40];
    CcsMaxminFlow *order[40];
    for (uint32_t i = 0; i < 40; i++)
        rates[i] = 1000 * (i + 1);
    g_autoptr(CcsTopology) topology = make_links(rates, 40);
    g_autoptr(CcsMaxmin) solver = ccs_maxmin_new(topology);
    for (uint32_t i = 0; i < 40; i++) {
        routes[i][0] = i;
        routes[i][1] = i + 1;
        flows[i] =
            (CcsMaxminFlow){.links = routes[i], .n_links = i < 39 ? 2 : 1, .multiplicity = 1};
        order[i] = &flows[i];
    }

    ccs_maxmin_solve(solver, order, 40, NULL);

    CcsRate before = 0;
    for (uint32_t i = 0; i < 40; i++) { /* link 0 has flow 0 alone; link i what is left of it */
        ck_assert_uint_eq(flows[i].rate, rates[i] - before);
        before = flows[i].rate;
    }
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("maxmin");
    TCase *tcase = tcase_create("maxmin");

    tcase_add_loop_test(tcase, every_flow_has_a_full_link_on_which_no_flow_is_faster, 0, 60);
    tcase_add_loop_test(tcase, the_order_of_flows_changes_nothing, 0, 30);
    tcase_add_test(tcase, three_flows_over_two_links);
    tcase_add_test(tcase, many_levels_are_solved_too);
    suite_add_tcase(suite, tcase);
    return suite;
}
