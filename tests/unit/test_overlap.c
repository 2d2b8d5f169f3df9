#include "sim/overlap.h"

#include "tests/support/check_main.h"

static CcsOverlaps *overlaps;

static void set_up(void)
{
    overlaps = ccs_overlaps_new(2);
}

static void tear_down(void)
{
    ccs_overlaps_free(overlaps);
}

/* From rank 0 to rank 1. */
static void message(CcsTime started, CcsTime injected, CcsTime arrived)
{
    ccs_overlaps_add_message(overlaps, &(CcsFlow){.src = 0,
                                                  .dst = 1,
                                                  .bytes = 10,
                                                  .started = started,
                                                  .entered = started,
                                                  .injected = injected,
                                                  .arrived = arrived});
}

static void work(uint32_t rank, CcsTime started, CcsTime ended)
{
    ccs_overlaps_add_work(
        overlaps, &(CcsFlow){.src = rank, .dst = rank, .started = started, .arrived = ended});
}

START_TEST(a_sender_is_done_when_the_message_has_left_a_receiver_when_it_is_there)
{
    message(10, 30, 35);

    CcsOverlap sender = ccs_overlaps_of(overlaps, 0);
    CcsOverlap receiver = ccs_overlaps_of(overlaps, 1);
    ck_assert_int_eq(sender.sending, 20);
    ck_assert_int_eq(sender.communicating, 20);
    ck_assert_int_eq(sender.finished, 30);
    ck_assert_uint_eq(sender.bytes_sent, 10);
    ck_assert_int_eq(receiver.sending, 0);
    ck_assert_int_eq(receiver.communicating, 25);
    ck_assert_int_eq(receiver.finished, 35);
    ck_assert_uint_eq(receiver.bytes_received, 10);
}
END_TEST

START_TEST(messages_side_by_side_count_once)
{
    message(10, 30, 30);
    message(0, 15, 15);
    message(20, 25, 25);
    message(50, 60, 60);

    ck_assert_int_eq(ccs_overlaps_of(overlaps, 0).communicating, 40);
}
END_TEST

START_TEST(what_happens_while_the_rank_computes_is_hidden)
{
    message(0, 10, 10);
    message(20, 30, 30);
    work(0, 5, 22);
    work(0, 28, 50);

    CcsOverlap of = ccs_overlaps_of(overlaps, 0);
    ck_assert_int_eq(of.computing, 39);
    ck_assert_int_eq(of.hidden, 5 + 2 + 2);
    ck_assert_int_eq(of.finished, 50);
}
END_TEST

START_TEST(the_share_is_that_of_all_ranks)
{
    message(0, 10, 10);
    work(1, 0, 5);

    ck_assert_double_eq(ccs_overlaps_share(overlaps), 5.0 / 20);
}
END_TEST

START_TEST(without_messages_nothing_is_hidden)
{
    work(0, 0, 5);

    ck_assert_double_eq(ccs_overlaps_share(overlaps), 0);
    ck_assert_int_eq(ccs_overlaps_of(overlaps, 0).hidden, 0);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("overlap");
    TCase *tcase = tcase_create("overlap");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_sender_is_done_when_the_message_has_left_a_receiver_when_it_is_there);
    tcase_add_test(tcase, messages_side_by_side_count_once);
    tcase_add_test(tcase, what_happens_while_the_rank_computes_is_hidden);
    tcase_add_test(tcase, the_share_is_that_of_all_ranks);
    tcase_add_test(tcase, without_messages_nothing_is_hidden);
    suite_add_tcase(suite, tcase);
    return suite;
}
