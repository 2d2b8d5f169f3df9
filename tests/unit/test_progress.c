#include "collectives/progress.h"

#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

static CcsTopology *topology;
static CcsCommunicator *communicator;
static CcsSchedule *schedule;
static CcsProgress *progress;

static void set_up(void)
{
    topology = ccs_ask_topology(&(CcsAsked){.machine = "flat8", .n_nodes = 4});
    communicator = ccs_communicator_new(topology, 0, 0, NULL);
    schedule = ccs_schedule_new(CCS_ALLREDUCE, communicator, 0, 1, 1);
}

static void tear_down(void)
{
    g_clear_pointer(&progress, ccs_progress_free);
    g_clear_pointer(&schedule, ccs_schedule_free);
    g_clear_pointer(&communicator, ccs_communicator_free);
    g_clear_pointer(&topology, ccs_topology_free);
}

static CcsLaneId add_lane(CcsRank source, CcsRank peer, uint32_t n_messages)
{
    return ccs_schedule_add_lane(
        schedule, &(CcsLane){.source = source, .peer = peer, .n_messages = n_messages});
}

static void begin(void)
{
    progress = ccs_progress_new(schedule);
}

static bool may_start(CcsLaneId lane)
{
    return ccs_progress_may_start(progress, lane);
}

/* Takes the next message of the lane all the way. */
static void move(CcsLaneId lane)
{
    uint32_t message = ccs_progress_start(progress, lane);
    ccs_progress_sent(progress, lane);
    ccs_progress_arrived(progress, lane, message);
}

START_TEST(a_lane_is_busy_until_its_message_has_left)
{
    CcsLaneId lane = add_lane(0, 1, 2);
    begin();

    ck_assert(may_start(lane));
    ck_assert_uint_eq(ccs_progress_start(progress, lane), 0);
    ck_assert(!may_start(lane));
    ccs_progress_sent(progress, lane);
    ck_assert(may_start(lane));
    ck_assert_uint_eq(ccs_progress_start(progress, lane), 1);
    ccs_progress_sent(progress, lane);
    ck_assert(!may_start(lane)); /* it has no other */
}
END_TEST

START_TEST(second_message_of_a_ring_waits_for_the_first_of_its_neighbour)
{
    CcsLaneId neighbour = add_lane(0, 1, 2);
    CcsLaneId lane = add_lane(1, 2, 2);
    ccs_schedule_wait(schedule, lane, neighbour, 1);
    begin();

    ck_assert(may_start(lane));
    move(lane);
    ck_assert(!may_start(lane));
    ccs_progress_start(progress, neighbour);
    ccs_progress_sent(progress, neighbour);
    ck_assert(!may_start(lane)); /* it has left, but not arrived */
    ccs_progress_arrived(progress, neighbour, 0);
    ck_assert(may_start(lane));
}
END_TEST

START_TEST(a_wait_for_sending_ends_when_the_message_leaves)
{
    CcsLaneId before = add_lane(0, 1, 1);
    CcsLaneId lane = add_lane(0, 2, 1);
    ccs_schedule_depend(
        schedule,
        &(CcsDependency){
            .after = lane, .before = before, .event = CCS_SENT, .p_before = 1, .p_after = 1});
    begin();

    ccs_progress_start(progress, before);
    ck_assert(!may_start(lane));
    ccs_progress_sent(progress, before);
    ck_assert(may_start(lane));
}
END_TEST

START_TEST(a_gate_opens_when_all_have_arrived)
{
    CcsLaneId before = add_lane(0, 1, 3);
    CcsLaneId lane = add_lane(1, 2, 2);
    ccs_schedule_gate(schedule, lane, before);
    begin();

    for (int i = 0; i < 3; i++) {
        ck_assert(!may_start(lane));
        move(before);
    }
    ck_assert(may_start(lane));
}
END_TEST

START_TEST(every_dependency_of_a_lane_counts)
{
    CcsLaneId one = add_lane(0, 2, 1);
    CcsLaneId other = add_lane(1, 2, 1);
    CcsLaneId lane = add_lane(2, 3, 1);
    ccs_schedule_wait(schedule, lane, one, 0);
    ccs_schedule_wait(schedule, lane, other, 0);
    begin();

    move(other);
    ck_assert(!may_start(lane));
    move(one);
    ck_assert(may_start(lane));
}
END_TEST

static void assert_waiters(CcsLaneId lane, CcsEvent event, uint32_t message, CcsLaneId expected)
{
    uint32_t n = 0;
    const CcsLaneId *waiters = ccs_progress_waiters(progress, lane, event, message, &n);

    ck_assert_uint_eq(n, expected == CCS_NO_LANE ? 0 : 1);
    if (n == 1)
        ck_assert_uint_eq(waiters[0], expected);
}

START_TEST(those_who_wait_for_an_event_are_known)
{
    CcsLaneId before = add_lane(0, 1, 1);
    CcsLaneId by_arrival = add_lane(1, 2, 1);
    CcsLaneId by_sending = add_lane(0, 2, 1);
    ccs_schedule_wait(schedule, by_arrival, before, 0);
    ccs_schedule_depend(
        schedule,
        &(CcsDependency){
            .after = by_sending, .before = before, .event = CCS_SENT, .p_before = 1, .p_after = 1});
    begin();

    assert_waiters(before, CCS_ARRIVED, 0, by_arrival);
    assert_waiters(before, CCS_SENT, 0, by_sending);
    assert_waiters(by_arrival, CCS_ARRIVED, 0, CCS_NO_LANE);
}
END_TEST

/* Rank r sends to r + 1, then to r + 2, and so on, each time after it has received. */
static void add_family(void)
{
    for (CcsRank rank = 0; rank < 4; rank++)
        ccs_schedule_add_lane(
            schedule,
            &(CcsLane){.source = rank, .peer_kind = CCS_PEER_SHIFT, .peer = 1, .n_messages = 3});
    for (CcsRank rank = 0; rank < 4; rank++)
        ccs_schedule_depend(schedule, &(CcsDependency){.after = rank,
                                                       .before = 0,
                                                       .event = CCS_ARRIVED,
                                                       .p_before = 1,
                                                       .p_after = 1,
                                                       .distance = 1,
                                                       .is_by_sender = true});
}

START_TEST(a_wait_by_sender_is_for_whoever_sends_that_message)
{
    add_family();
    begin();

    move(1);
    ck_assert(!may_start(1)); /* rank 0 sends message 0 to rank 1 */
    move(2);
    move(3);
    ck_assert(!may_start(1));
    move(0);
    ck_assert(may_start(1));
    move(1);                  /* message 1, to rank 3 */
    ck_assert(!may_start(1)); /* rank 3 sends message 1 to rank 1 */
    move(3);
    ck_assert(may_start(1));
}
END_TEST

START_TEST(the_receiver_in_a_family_waits_for_its_message)
{
    add_family();
    begin();

    assert_waiters(1, CCS_ARRIVED, 0, 2);
    assert_waiters(1, CCS_ARRIVED, 1, 3);
    assert_waiters(3, CCS_ARRIVED, 2, 2);
}
END_TEST

START_TEST(it_is_done_when_all_messages_have_arrived)
{
    CcsLaneId one = add_lane(0, 1, 2);
    CcsLaneId other = add_lane(1, 2, 1);
    begin();

    move(one);
    move(other);
    ck_assert(!ccs_progress_is_done(progress));
    ccs_progress_start(progress, one);
    ccs_progress_sent(progress, one);
    ck_assert(!ccs_progress_is_done(progress));
    ccs_progress_arrived(progress, one, 1);
    ck_assert(ccs_progress_is_done(progress));
    ck_assert_uint_eq(ccs_progress_of(progress, one)->n_arrived, 2);
}
END_TEST

START_TEST(a_reset_goes_back_to_the_beginning)
{
    add_family();
    begin();
    for (CcsLaneId lane = 0; lane < 4; lane++)
        move(lane);
    ck_assert(may_start(1));

    ccs_progress_reset(progress);

    ck_assert_uint_eq(ccs_progress_of(progress, 1)->n_started, 0);
    move(1);
    ck_assert(!may_start(1));
}
END_TEST

START_TEST(a_schedule_without_lanes_is_done)
{
    begin();
    ck_assert(ccs_progress_is_done(progress));
}
END_TEST

static void assert_wait(const char *expected)
{
    g_autofree char *text = ccs_progress_describe_wait(progress);
    ck_assert_str_eq(text, expected);
}

START_TEST(a_cycle_of_waits_is_told)
{
    CcsLaneId one = add_lane(0, 1, 2);
    CcsLaneId other = add_lane(1, 0, 1);
    ccs_schedule_wait(schedule, one, other, 1);
    ccs_schedule_wait(schedule, other, one, 0);
    begin();
    ccs_progress_start(progress, one);
    ccs_progress_sent(progress, one);

    assert_wait("rank 0 (message 1 to rank 1 on channel 0) waits for rank 1 (message 0 to rank 0 on"
                " channel 0) waits for rank 0 (message 1 to rank 1 on channel 0)");
}
END_TEST

START_TEST(where_nothing_waits_that_is_told)
{
    CcsLaneId lane = add_lane(0, 1, 1);
    begin();
    move(lane);

    assert_wait("no lane waits");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("progress");
    TCase *tcase = tcase_create("progress");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_lane_is_busy_until_its_message_has_left);
    tcase_add_test(tcase, second_message_of_a_ring_waits_for_the_first_of_its_neighbour);
    tcase_add_test(tcase, a_wait_for_sending_ends_when_the_message_leaves);
    tcase_add_test(tcase, a_gate_opens_when_all_have_arrived);
    tcase_add_test(tcase, every_dependency_of_a_lane_counts);
    tcase_add_test(tcase, those_who_wait_for_an_event_are_known);
    tcase_add_test(tcase, a_wait_by_sender_is_for_whoever_sends_that_message);
    tcase_add_test(tcase, the_receiver_in_a_family_waits_for_its_message);
    tcase_add_test(tcase, it_is_done_when_all_messages_have_arrived);
    tcase_add_test(tcase, a_reset_goes_back_to_the_beginning);
    tcase_add_test(tcase, a_schedule_without_lanes_is_done);
    tcase_add_test(tcase, a_cycle_of_waits_is_told);
    tcase_add_test(tcase, where_nothing_waits_that_is_told);
    suite_add_tcase(suite, tcase);
    return suite;
}
