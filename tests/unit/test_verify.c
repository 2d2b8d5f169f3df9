#include "collectives/verify.h"

#include <string.h>

#include "base/error.h"
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

/* Breaks a right schedule. */
typedef void Break(CcsSchedule *schedule);

static void drop_a_message(CcsSchedule *schedule)
{
    ccs_schedule_edit_lane(schedule, 2)->n_messages--;
}

static void send_to_the_wrong_peer(CcsSchedule *schedule)
{
    ccs_schedule_edit_lane(schedule, 1)->peer = 0;
}

static void send_another_chunk(CcsSchedule *schedule)
{
    CcsLane *lane = ccs_schedule_edit_lane(schedule, 0);
    lane->from.first = (lane->from.first + 1) % lane->from.modulus;
    lane->to.first = lane->from.first;
}

static void put_it_elsewhere(CcsSchedule *schedule)
{
    CcsLane *lane = ccs_schedule_edit_lane(schedule, 0);
    lane->to.first = (lane->to.first + 1) % lane->to.modulus;
}

static void copy_in_place_of_adding(CcsSchedule *schedule)
{
    ccs_schedule_edit_lane(schedule, 3)->n_reduced--;
}

static void add_in_place_of_copying(CcsSchedule *schedule)
{
    ccs_schedule_edit_lane(schedule, 3)->n_reduced++;
}

static void drop_a_dependency(CcsSchedule *schedule)
{
    ccs_schedule_drop_dependency(schedule, 1);
}

static void wait_for_too_little(CcsSchedule *schedule)
{
    ccs_schedule_edit_dependency(schedule, 0)->distance = 2;
}

static void wait_in_a_circle(CcsSchedule *schedule)
{
    for (uint32_t i = 0; i < ccs_schedule_n_dependencies(schedule); i++)
        ccs_schedule_edit_dependency(schedule, i)->distance = 0;
}

static void leave_the_buffer(CcsSchedule *schedule)
{
    ccs_schedule_edit_lane(schedule, 0)->from.base = 7;
}

typedef struct {
    Break *break_it;
    const char *part; /* of the message */
} Broken;

static const Broken broken[] = {
    {drop_a_message, "ends with the wrong data in chunk 1 of channel 0, which this has written"},
    {send_to_the_wrong_peer, "rank"},
    {send_another_chunk, "chunk"},
    {put_it_elsewhere, "is added to another chunk's data"},
    {copy_in_place_of_adding, "rank"},
    {add_in_place_of_copying, "gets a contribution that it has already"},
    {drop_a_dependency, "chunk"},
    {wait_for_too_little, "chunk"},
    {wait_in_a_circle, "waits for rank"},
    {leave_the_buffer, "lies outside the buffer"},
};

START_TEST(a_broken_schedule_is_caught_and_the_step_named)
{
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;
    ck_assert(ccs_ask_schedule(
        &(CcsAsked){.machine = "nvlink8", .n_ranks = 4, .collective = "allreduce"}, &answer));
    ck_assert(ccs_verify(answer.schedule, NULL));

    broken[_i].break_it(answer.schedule);

    ck_assert(!ccs_verify(answer.schedule, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_CHECK));
    ck_assert_msg(strstr(error->message, broken[_i].part) != NULL, "%s", error->message);
}
END_TEST

START_TEST(a_block_in_the_wrong_place_is_caught)
{
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;
    ck_assert(ccs_ask_schedule(
        &(CcsAsked){.machine = "nvlink8", .n_ranks = 5, .collective = "alltoall"}, &answer));

    ccs_schedule_edit_lane(answer.schedule, 2)->to.kind = CCS_BOX_OF_PEER;

    ck_assert(!ccs_verify(answer.schedule, &error));
}
END_TEST

START_TEST(adding_to_what_was_never_written_is_caught)
{
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;
    ck_assert(ccs_ask_schedule(
        &(CcsAsked){.machine = "nvlink8", .n_ranks = 5, .collective = "broadcast"}, &answer));

    ccs_schedule_edit_lane(answer.schedule, 2)->n_reduced = 1;

    ck_assert(!ccs_verify(answer.schedule, &error));
    ck_assert_msg(strstr(error->message, "is added to but holds no data") != NULL, "%s",
                  error->message);
}
END_TEST

START_TEST(a_message_sent_twice_is_caught)
{
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;
    ck_assert(ccs_ask_schedule(
        &(CcsAsked){.machine = "nvlink8", .n_ranks = 5, .collective = "broadcast"}, &answer));
    CcsLane again = *ccs_schedule_lane(answer.schedule, 1);

    ccs_schedule_gate(answer.schedule, ccs_schedule_add_lane(answer.schedule, &again), 0);

    ck_assert(!ccs_verify(answer.schedule, &error));
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("verify");
    TCase *tcase = tcase_create("verify");

    tcase_add_loop_test(tcase, a_broken_schedule_is_caught_and_the_step_named, 0,
                        G_N_ELEMENTS(broken));
    tcase_add_test(tcase, a_block_in_the_wrong_place_is_caught);
    tcase_add_test(tcase, adding_to_what_was_never_written_is_caught);
    tcase_add_test(tcase, a_message_sent_twice_is_caught);
    suite_add_tcase(suite, tcase);
    return suite;
}
