#include "collectives/waste.h"

#include <string.h>

#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

static CcsAnswer answer;

static CcsSchedule *ask(const char *collective, const char *algorithm)
{
    ck_assert(ccs_ask_schedule(
        &(CcsAsked){
            .machine = "nvlink8", .n_ranks = 4, .collective = collective, .algorithm = algorithm},
        &answer));
    return answer.schedule;
}

static void tear_down(void)
{
    ccs_answer_clear(&answer);
}

static void assert_waste(const CcsSchedule *schedule, const char *part)
{
    g_autoptr(GError) error = NULL;

    ck_assert(!ccs_waste_check(schedule, &error));
    ck_assert_msg(strstr(error->message, part) != NULL, "%s", error->message);
}

START_TEST(a_round_too_many_is_named)
{
    CcsSchedule *schedule = ask("reducescatter", "ring");
    ck_assert(ccs_waste_check(schedule, NULL));

    ccs_schedule_edit_lane(schedule, 1)->n_messages++;

    assert_waste(schedule, "message 3 from rank 1 to rank 2: nobody needs what it brings");
}
END_TEST

START_TEST(what_is_overwritten_unread_is_waste)
{
    CcsSchedule *schedule = ask("broadcast", "chain");
    CcsLane again = *ccs_schedule_lane(schedule, 1);
    CcsLaneId twin = ccs_schedule_add_lane(schedule, &again);

    ccs_schedule_gate(schedule, twin, 0);
    ccs_schedule_gate(schedule, 1, twin);

    assert_waste(schedule, "from rank 1 to rank 2: nobody needs");
}
END_TEST

START_TEST(what_others_pass_on_is_needed)
{
    ck_assert(ccs_waste_check(ask("gather", "binomial"), NULL));
}
END_TEST

START_TEST(every_addition_is_needed_if_the_sum_is)
{
    ck_assert(ccs_waste_check(ask("allreduce", "naive"), NULL));
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("waste");
    TCase *tcase = tcase_create("waste");

    tcase_add_checked_fixture(tcase, NULL, tear_down);
    tcase_add_test(tcase, a_round_too_many_is_named);
    tcase_add_test(tcase, what_is_overwritten_unread_is_waste);
    tcase_add_test(tcase, what_others_pass_on_is_needed);
    tcase_add_test(tcase, every_addition_is_needed_if_the_sum_is);
    suite_add_tcase(suite, tcase);
    return suite;
}
