#include "collectives/past.h"

#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

/* What the past of a schedule is found with. */
typedef struct {
    CcsAnswer answer;
    CcsProgress *progress;
    CcsPast *past;
} Look;

static void look_clear(Look *look)
{
    ccs_past_free(look->past);
    ccs_progress_free(look->progress);
    ccs_answer_clear(&look->answer);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Look, look_clear)

static void look_init(Look *look, const CcsAsked *asked)
{
    *look = (Look){0};
    ck_assert(ccs_ask_schedule(asked, &look->answer));
    look->progress = ccs_progress_new(look->answer.schedule);
    look->past = ccs_past_new(look->answer.schedule, look->progress);
}

START_TEST(the_past_of_a_message_in_a_ring_reaches_back_as_far_as_the_message)
{
    g_auto(Look) look;
    look_init(&look, &(CcsAsked){.machine = "nvlink8", .collective = "allgather"});

    ccs_past_look_at(look.past, 5);
    ccs_past_extend(look.past, 3);

    ck_assert(ccs_past_has_left(look.past, 5, 3));
    ck_assert(!ccs_past_has_left(look.past, 5, 4));
    ck_assert(ccs_past_has_arrived(look.past, 4, 2));
    ck_assert(ccs_past_has_arrived(look.past, 3, 1));
    ck_assert(ccs_past_has_arrived(look.past, 2, 0));
    ck_assert(!ccs_past_has_arrived(look.past, 4, 3));
    ck_assert(!ccs_past_has_arrived(look.past, 5, 3));
    ck_assert(!ccs_past_has_left(look.past, 1, 0));
}
END_TEST

START_TEST(one_look_does_not_see_what_another_saw)
{
    g_auto(Look) look;
    look_init(&look, &(CcsAsked){.machine = "nvlink8", .collective = "allgather"});
    ccs_past_look_at(look.past, 5);
    ccs_past_extend(look.past, 6);

    ccs_past_look_at(look.past, 1);
    ccs_past_extend(look.past, 0);

    ck_assert(ccs_past_has_left(look.past, 1, 0));
    ck_assert(!ccs_past_has_left(look.past, 4, 0));
    ck_assert(!ccs_past_has_arrived(look.past, 4, 0));
}
END_TEST

START_TEST(with_many_peers_it_knows_whose_message_was_awaited)
{
    g_auto(Look) look;
    look_init(&look,
              &(CcsAsked){.machine = "nvlink8", .collective = "alltoall", .algorithm = "pairwise"});
    const CcsLane *lane = ccs_schedule_lane(look.answer.schedule, 5);
    CcsRank sender = ccs_lane_sender(lane, 0, 5, 8);

    ccs_past_look_at(look.past, 5);
    ccs_past_extend(look.past, 1);

    for (CcsLaneId other = 0; other < 8; other++)
        ck_assert_int_eq(ccs_past_has_arrived(look.past, other, 0), other == sender);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("past");
    TCase *tcase = tcase_create("past");

    tcase_add_test(tcase, the_past_of_a_message_in_a_ring_reaches_back_as_far_as_the_message);
    tcase_add_test(tcase, one_look_does_not_see_what_another_saw);
    tcase_add_test(tcase, with_many_peers_it_knows_whose_message_was_awaited);
    suite_add_tcase(suite, tcase);
    return suite;
}
