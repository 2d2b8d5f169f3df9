/* How many digits of a time mean anything. */
#include "commands/probe.h"
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"
#include "topology/scale.h"

START_TEST(a_rate_moves_by_the_part_that_is_asked_for)
{
    CcsRate rate = 50000000000U * CCS_RATE_PER_BYTE;

    ck_assert_uint_eq(ccs_rate_scale(rate, 1), rate + 3277);
    ck_assert_uint_eq(ccs_rate_scale(rate, -1), rate - 3277);
    ck_assert_uint_eq(ccs_rate_scale(rate, 0), rate);
    ck_assert_uint_eq(ccs_rate_scale(rate, CCS_SCALE_ONE), 2 * rate);
}
END_TEST

START_TEST(a_slow_rate_moves_by_one_unit)
{
    ck_assert_uint_eq(ccs_rate_scale(1000, 1), 1001);
    ck_assert_uint_eq(ccs_rate_scale(1000, -1), 999);
    ck_assert_uint_eq(ccs_rate_scale(1, -1), 1);
}
END_TEST

START_TEST(what_is_unlimited_stays_so)
{
    ck_assert_uint_eq(ccs_rate_scale(CCS_RATE_UNLIMITED, -1), CCS_RATE_UNLIMITED);
}
END_TEST

START_TEST(a_scaled_topology_differs_in_its_bandwidths_only)
{
    CcsAsked asked = {.machine = "cluster32",
                      .set = {"faults=[{kind: late-gpu, gpu: n0.gpu1, "
                              "delay: 5 us}]"}};
    g_auto(CcsAnswer) answer;
    ccs_ask_machine(&asked, &answer);
    g_autoptr(CcsTopology) copy = ccs_topology_scale(answer.topology, 1);

    ck_assert_uint_eq(ccs_topology_n_links(copy), ccs_topology_n_links(answer.topology));
    ck_assert_uint_eq(ccs_topology_n_classes(copy), ccs_topology_n_classes(answer.topology));
    for (CcsLinkId id = 0; id < ccs_topology_n_links(copy); id++) {
        const CcsLink *link = ccs_topology_link(copy, id);
        const CcsLink *old = ccs_topology_link(answer.topology, id);
        ck_assert(link->from == old->from && link->to == old->to && link->alpha == old->alpha);
        ck_assert_uint_eq(link->link_class, old->link_class);
        ck_assert_uint_eq(link->bandwidth, ccs_rate_scale(old->bandwidth, 1));
    }
    CcsVertexId late = ccs_topology_find_vertex(copy, "n0.gpu1");
    ck_assert_int_eq(ccs_topology_vertex(copy, late)->start_delay, 5 * CCS_PS_PER_US);
}
END_TEST

static const struct {
    CcsTime time;
    CcsTime spread;
    uint64_t parts;
    uint32_t digits;
} counts[] = {
    {1000000, 10, 1000000, 5},      /* moves in the sixth digit */
    {1000000, 1000, 1000000, 3},    /* in the fourth */
    {1000000, 1000001, 1000000, 0}, /* altogether */
    {1000000, 0, CCS_SCALE_ONE, 7}, /* not at all: all that it has */
    {1000000, 1, CCS_SCALE_ONE, 7}, /* by rounding */
    {1000000, 2, CCS_SCALE_ONE, 5}, /* by more than that */
    {5000000000000000, 5001, CCS_SCALE_ONE, 12} /* as its bandwidths did */,
    {0, 0, CCS_SCALE_ONE, 1},
};

START_TEST(digits_are_those_before_the_first_that_moves)
{
    ck_assert_uint_eq(ccs_probe_digits(counts[_i].time, counts[_i].spread, counts[_i].parts),
                      counts[_i].digits);
}
END_TEST

/* The digits of an algorithm on 16 nodes, of which one NIC has half its bandwidth. */
static uint32_t digits_of(const char *collective, const char *algorithm, const char *model)
{
    const char *slow_nic[] = {"faults=[{kind: link, from: n1.nic0, to: leaf0, "
                              "bandwidth_factor: 0.5}]",
                              NULL};
    CcsMachineOptions options = {
        .topology = "cluster32", .overrides = slow_nic, .model = model, .n_nodes = 16};
    CcsCase of = {.n_channels = 1};
    CcsCollective kind = CCS_ALLREDUCE;
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsMachine) machine = ccs_machine_new(&options, &error);
    ck_assert_msg(machine != NULL, "%s", error == NULL ? "" : error->message);

    ck_assert(ccs_collective_parse(collective, &kind, NULL));
    of.algorithm = ccs_algorithm_find(kind, algorithm, NULL);
    g_autoptr(CcsSchedule) schedule = ccs_case_schedule(&of, machine, NULL);
    g_autoptr(CcsSimulation) simulation =
        ccs_simulation_new(schedule, &machine->transport, machine->model, NULL, NULL);
    CcsOutcome outcome;
    ck_assert(ccs_simulation_run(simulation, 1 << 30, &outcome, NULL));

    g_autoptr(CcsProbe) probe = ccs_probe_new(machine);
    uint32_t digits = 0;
    ck_assert(ccs_probe_set_case(probe, &of, NULL, NULL));
    ck_assert(ccs_probe_run(probe, 1 << 30, outcome.time, &digits, NULL));
    return digits;
}

START_TEST(a_ring_is_stable)
{
    ck_assert_uint_ge(digits_of("allreduce", "ring", "fluid"), 8);
    ck_assert_uint_ge(digits_of("allreduce", "ring", "loggp"), 8);
}
END_TEST

START_TEST(an_eager_alltoall_with_a_slow_nic_is_chaotic)
{
    uint32_t digits = digits_of("alltoall", "pairwise_eager", "fluid");

    ck_assert_msg(digits <= 4, "%u digits", digits);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("probe");
    TCase *tcase = tcase_create("probe");

    tcase_add_test(tcase, a_rate_moves_by_the_part_that_is_asked_for);
    tcase_add_test(tcase, a_slow_rate_moves_by_one_unit);
    tcase_add_test(tcase, what_is_unlimited_stays_so);
    tcase_add_test(tcase, a_scaled_topology_differs_in_its_bandwidths_only);
    tcase_add_loop_test(tcase, digits_are_those_before_the_first_that_moves, 0,
                        G_N_ELEMENTS(counts));
    tcase_add_test(tcase, a_ring_is_stable);
    tcase_add_test(tcase, an_eager_alltoall_with_a_slow_nic_is_chaotic);
    suite_add_tcase(suite, tcase);
    return suite;
}
