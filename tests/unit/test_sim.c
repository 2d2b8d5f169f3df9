#include "sim/sim.h"

#include <string.h>

#include "base/error.h"
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

#define GBPS (1000000000U * CCS_RATE_PER_BYTE)
#define PAIR                                                                                       \
    "nodes: 2\nnode: {gpus: 1, nics: {count: 1, bandwidth: 50 GB/s, latency: 1 us}}\n"             \
    "fabric: {kind: switch}\n"

typedef struct {
    CcsTransport transport;
    CcsTime time; /* of one message of 50,000 bytes, 1 us at full rate, over 2 us of latency */
} Cost;

static const Cost costs[] = {
    {{.reduce_rate = CCS_RATE_UNLIMITED}, 3000000},
    {{.launch = 5000000, .reduce_rate = CCS_RATE_UNLIMITED}, 8000000},
    {{.message_cost = 700000, .reduce_rate = CCS_RATE_UNLIMITED}, 3700000},
    {{.reduce_rate = 10 * GBPS}, 3000000}, /* nothing is reduced here */
};

START_TEST(a_message_takes_its_cost_its_bytes_and_its_way)
{
    CcsAsked asked = {.machine = PAIR,
                      .collective = "broadcast",
                      .size = 50000,
                      .transport = costs[_i].transport};

    ck_assert_int_eq(ccs_ask_time(&asked), costs[_i].time);
}
END_TEST

/* Two ranks: one step adds, one copies. Each moves 25,000 bytes in 0.5 us over 2 us. */
START_TEST(what_arrives_is_reduced_at_its_rate)
{
    CcsAsked asked = {.machine = PAIR,
                      .collective = "allreduce",
                      .size = 50000,
                      .transport = {.reduce_rate = 10 * GBPS}};

    ck_assert_int_eq(ccs_ask_time(&asked), 2 * 2500000 + 2500000);
}
END_TEST

/* A lane's messages are reduced one after the other, so a slow receiver is the pipeline. */
START_TEST(reductions_of_a_lane_queue)
{
    CcsAsked asked = {.machine = PAIR,
                      .collective = "allreduce",
                      .algorithm = "tree",
                      .size = 50000,
                      .n_chunks = 10,
                      .transport = {.reduce_rate = 5 * GBPS}};

    /* the first chunk arrives after 2.1 us, ten are reduced in 1 us each, the last goes back */
    ck_assert_int_eq(ccs_ask_time(&asked), 2100000 + 10 * 1000000 + 2100000);
}
END_TEST

static CcsTime time_of(const CcsSchedule *schedule, const CcsTransport *transport)
{
    CcsOutcome outcome;
    g_autoptr(CcsSimulation) simulation = ccs_simulation_new(
        schedule, transport, ccs_network_model_find("fluid", NULL, NULL), NULL, NULL);

    ck_assert(ccs_simulation_run(simulation, 50000, &outcome, NULL));
    return outcome.time;
}

/* Two messages leave together, the first of which is added; what waits for that must not take the
 * second one for it. */
START_TEST(a_copy_does_not_overtake_a_reduction)
{
    CcsTransport transport = {.reduce_rate = 10 * GBPS};
    g_auto(CcsAnswer) answer;
    ccs_ask_machine(&(CcsAsked){.machine = PAIR}, &answer);
    g_autoptr(CcsSchedule) schedule = ccs_schedule_new(CCS_ALLREDUCE, answer.communicator, 0, 1, 1);
    CcsLane there = {.source = 0, .peer = 1, .n_messages = 2, .n_reduced = 1};
    CcsLane back = {.source = 1, .peer = 0, .n_messages = 1};

    ccs_schedule_set_n_chunks(schedule, 1);
    there.path = ccs_schedule_path(schedule, 0, 1, 0);
    back.path = ccs_schedule_path(schedule, 1, 0, 0);
    CcsLaneId first = ccs_schedule_add_lane(schedule, &there);
    ccs_schedule_wait(schedule, ccs_schedule_add_lane(schedule, &back), first, 0);

    /* they come after 3 us and 4 us; the first is added until 8 us */
    ck_assert_int_eq(time_of(schedule, &transport), 8000000 + 3000000);
}
END_TEST

START_TEST(the_critical_path_says_where_the_time_went)
{
    g_auto(CcsAnswer) answer;
    ccs_ask(
        &(CcsAsked){
            .machine = PAIR,
            .collective = "allreduce",
            .size = 50000,
            .transport = {.launch = 3000000, .message_cost = 700000, .reduce_rate = 10 * GBPS}},
        &answer);
    CcsTime by_cause[CCS_N_CAUSES] = {0};
    CcsTime total = 0;
    for (uint32_t i = 0; i < CCS_N_CAUSES * answer.outcome.n_classes; i++) {
        by_cause[i / answer.outcome.n_classes] += answer.outcome.critical_path[i];
        total += answer.outcome.critical_path[i];
    }

    ck_assert_int_eq(total, answer.outcome.time);
    ck_assert_int_eq(by_cause[CCS_CAUSE_LAUNCH], 3000000);
    ck_assert_int_eq(by_cause[CCS_CAUSE_MESSAGE_COST], 2 * 700000);
    ck_assert_int_eq(by_cause[CCS_CAUSE_BANDWIDTH], 2 * 500000);
    ck_assert_int_eq(by_cause[CCS_CAUSE_LATENCY], 2 * 2000000);
    ck_assert_int_eq(by_cause[CCS_CAUSE_REDUCTION], 2500000);
}
END_TEST

START_TEST(a_late_rank_makes_the_others_wait)
{
    CcsAsked asked = {.machine = PAIR "faults: [{kind: late-gpu, gpu: n1.gpu0, delay: 10 us}]\n",
                      .collective = "allreduce",
                      .size = 50000};

    ck_assert_int_eq(ccs_ask_time(&asked), 10000000 + 2 * 2500000);
}
END_TEST

START_TEST(a_late_rank_does_in_the_meantime_what_is_early)
{
    g_auto(CcsAnswer) answer;
    ccs_ask_machine(
        &(CcsAsked){.machine = PAIR "faults: [{kind: late-gpu, gpu: n1.gpu0, delay: 10 us}]\n"},
        &answer);
    g_autoptr(CcsSchedule) schedule = ccs_schedule_new(CCS_ALLREDUCE, answer.communicator, 0, 1, 1);
    CcsLane work = {.source = 1, .peer = 1, .n_messages = 1, .duration = 2000000};

    ccs_schedule_set_n_chunks(schedule, 1);
    CcsLaneId lane = ccs_schedule_add_lane(schedule, &work);
    ck_assert_int_eq(time_of(schedule, &ccs_transport_ideal), 10000000 + 2000000);
    ccs_schedule_edit_lane(schedule, lane)->is_early = true;
    ck_assert_int_eq(time_of(schedule, &ccs_transport_ideal), 2000000);
}
END_TEST

START_TEST(one_rank_needs_only_the_launch)
{
    CcsAsked asked = {.machine = "node: {gpus: 1}\n",
                      .collective = "allreduce",
                      .size = 50000,
                      .transport = {.launch = 3000000, .reduce_rate = CCS_RATE_UNLIMITED}};

    ck_assert_int_eq(ccs_ask_time(&asked), 3000000);
}
END_TEST

START_TEST(time_that_runs_over_is_an_error)
{
    CcsAsked asked = {.machine = "nodes: 2\nnode: {gpus: 1, nics: {count: 1, bandwidth: 1 B/s}}\n"
                                 "fabric: {kind: switch}\n",
                      .collective = "sendrecv",
                      .size = 1};
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;
    ccs_ask(&asked, &answer);

    ck_assert(!ccs_simulation_run(answer.simulation, CCS_BYTES_MAX, &answer.outcome, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    ck_assert_ptr_nonnull(strstr(error->message, "runs over"));
}
END_TEST

/* Costs and latencies that may be written, but not so many of them in a row. */
static const CcsAsked too_long[] = {
    {.machine = "nvlink8",
     .transport = {.message_cost = CCS_PS_PER_S * 1000000, .reduce_rate = CCS_RATE_UNLIMITED}},
    {.machine = "nvlink8", .set = {"node.nvlink.latency=1000000 s"}},
    /* three messages share a link of one unit of rate, so the share of each is nothing */
    {.machine = "node: {gpus: 4, nvlink: {bandwidth: 1 b/s}}\n"
                "faults: [{kind: link, from: n0.gpu0, to: n0.nvswitch, bandwidth_factor: 0.000123}]"
                "\n",
     .algorithm = "naive"},
};

START_TEST(what_never_ends_is_an_error_in_every_engine)
{
    CcsAsked asked = too_long[_i / 2];
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;
    asked.collective = "allreduce";
    asked.engine = _i % 2 == 0 ? "incremental" : "reference";
    ck_assert(ccs_ask_schedule(&asked, &answer));
    answer.simulation = ccs_simulation_new(
        answer.schedule,
        asked.transport.reduce_rate == 0 ? &ccs_transport_ideal : &too_long[_i / 2].transport,
        ccs_network_model_find("fluid", asked.engine, NULL), NULL, NULL);

    ck_assert(!ccs_simulation_run(answer.simulation, 1000, &answer.outcome, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    ck_assert_ptr_nonnull(strstr(error->message, "runs over"));
}
END_TEST

START_TEST(a_deadlock_is_told_as_a_circle)
{
    CcsAsked asked = {.machine = "nvlink8", .n_ranks = 3, .collective = "allreduce"};
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;
    ck_assert(ccs_ask_schedule(&asked, &answer));
    for (uint32_t i = 0; i < ccs_schedule_n_dependencies(answer.schedule); i++)
        ccs_schedule_edit_dependency(answer.schedule, i)->distance = 0;
    answer.simulation = ccs_simulation_new(answer.schedule, &ccs_transport_ideal,
                                           ccs_network_model_find("fluid", NULL, NULL), NULL, NULL);

    ck_assert(!ccs_simulation_run(answer.simulation, 99, &answer.outcome, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_CHECK));
    ck_assert_ptr_nonnull(strstr(error->message, "deadlock"));
    ck_assert_ptr_nonnull(
        strstr(error->message, "rank 0 (message 0 to rank 1 on channel 0) waits"));
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("sim");
    TCase *tcase = tcase_create("sim");

    tcase_add_loop_test(tcase, a_message_takes_its_cost_its_bytes_and_its_way, 0,
                        G_N_ELEMENTS(costs));
    tcase_add_test(tcase, what_arrives_is_reduced_at_its_rate);
    tcase_add_test(tcase, reductions_of_a_lane_queue);
    tcase_add_test(tcase, a_copy_does_not_overtake_a_reduction);
    tcase_add_test(tcase, the_critical_path_says_where_the_time_went);
    tcase_add_test(tcase, a_late_rank_makes_the_others_wait);
    tcase_add_test(tcase, a_late_rank_does_in_the_meantime_what_is_early);
    tcase_add_test(tcase, one_rank_needs_only_the_launch);
    tcase_add_test(tcase, time_that_runs_over_is_an_error);
    tcase_add_loop_test(tcase, what_never_ends_is_an_error_in_every_engine, 0,
                        2 * G_N_ELEMENTS(too_long));
    tcase_add_test(tcase, a_deadlock_is_told_as_a_circle);
    suite_add_tcase(suite, tcase);
    return suite;
}
