#include "collectives/spread.h"

#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

static void ask(uint32_t n_ranks, CcsAnswer *ret_answer)
{
    ck_assert(ccs_ask_schedule(
        &(CcsAsked){.machine = "nvlink8", .n_ranks = n_ranks, .collective = "barrier"},
        ret_answer));
}

START_TEST(a_barrier_spreads_word_of_everyone)
{
    g_auto(CcsAnswer) answer;
    ask((uint32_t)_i, &answer);

    ck_assert(ccs_spread_check(answer.schedule, NULL));
}
END_TEST

/* Each message waits for the one that comes in, and until the rank's own last one has left: only
 * so does it wait for what came in before that. */
START_TEST(each_wait_but_that_for_the_first_messages_to_leave_is_needed)
{
    for (uint32_t i = 0;; i++) {
        g_auto(CcsAnswer) answer;
        ask(8, &answer);
        if (i == ccs_schedule_n_dependencies(answer.schedule))
            break;
        const CcsDependency *dependency = ccs_schedule_dependency(answer.schedule, i);
        bool is_needed = dependency->event == CCS_ARRIVED || dependency->before >= 8;
        ccs_schedule_drop_dependency(answer.schedule, i);
        ck_assert_int_eq(ccs_spread_check(answer.schedule, NULL), !is_needed);
    }
}
END_TEST

START_TEST(word_that_takes_the_place_of_other_word_is_caught)
{
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;
    ask(5, &answer);

    ccs_schedule_edit_lane(answer.schedule, 6)->n_reduced = 0;

    ck_assert(!ccs_spread_check(answer.schedule, &error));
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("spread");
    TCase *tcase = tcase_create("spread");

    tcase_add_loop_test(tcase, a_barrier_spreads_word_of_everyone, 1, 9);
    tcase_add_test(tcase, each_wait_but_that_for_the_first_messages_to_leave_is_needed);
    tcase_add_test(tcase, word_that_takes_the_place_of_other_word_is_caught);
    suite_add_tcase(suite, tcase);
    return suite;
}
