#include "engine/queue.h"

#include "tests/support/check_main.h"

static CcsQueue *queue;

static void set_up(void)
{
    queue = ccs_queue_new();
}

static void tear_down(void)
{
    g_clear_pointer(&queue, ccs_queue_free);
}

static void push(CcsTime time, uint32_t subject)
{
    ccs_queue_push(queue, &(CcsEventRecord){.time = time, .subject = subject});
}

static void assert_pop(CcsTime time, uint32_t subject)
{
    CcsEventRecord event;

    ck_assert_int_eq(ccs_queue_next_time(queue), time);
    ck_assert(ccs_queue_pop(queue, &event));
    ck_assert_int_eq(event.time, time);
    ck_assert_uint_eq(event.subject, subject);
}

static void assert_empty(void)
{
    CcsEventRecord event;

    ck_assert_int_eq(ccs_queue_next_time(queue), CCS_TIME_MAX);
    ck_assert(!ccs_queue_pop(queue, &event));
}

START_TEST(events_come_in_the_order_of_their_time)
{
    push(30, 3);
    push(10, 1);
    push(20, 2);

    assert_pop(10, 1);
    assert_pop(20, 2);
    assert_pop(30, 3);
    assert_empty();
}
END_TEST

START_TEST(events_of_one_time_come_in_the_order_in_which_they_were_put_in)
{
    for (uint32_t i = 0; i < 100; i++)
        push(i % 2 == 0 ? 1000 : 1001, i);

    for (uint32_t i = 0; i < 100; i += 2)
        assert_pop(1000, i);
    for (uint32_t i = 1; i < 100; i += 2)
        assert_pop(1001, i);
}
END_TEST

START_TEST(shuffled_events_of_one_time_come_in_any_order_each_of_them_once)
{
    bool is_seen[100] = {false};
    bool is_in_order = true;
    CcsEventRecord event;

    ccs_queue_shuffle(queue, 1);
    for (uint32_t i = 0; i < 100; i++)
        push(7, i);
    push(8, 100);
    for (uint32_t i = 0; i < 100; i++) {
        ck_assert(ccs_queue_pop(queue, &event));
        ck_assert_int_eq(event.time, 7);
        ck_assert(!is_seen[event.subject]);
        is_seen[event.subject] = true;
        is_in_order = is_in_order && event.subject == i;
    }

    ck_assert(!is_in_order);
    assert_pop(8, 100);
}
END_TEST

START_TEST(an_event_may_be_added_at_the_time_of_the_last_one_taken)
{
    push(5, 1);
    push(5, 2);
    assert_pop(5, 1);
    push(5, 3);
    push(6, 4);

    assert_pop(5, 2);
    assert_pop(5, 3);
    assert_pop(6, 4);
    assert_empty();
}
END_TEST

START_TEST(an_event_that_was_looked_at_may_be_preceded)
{
    push(100, 2);
    ck_assert_int_eq(ccs_queue_next_time(queue), 100);
    push(50, 1);

    assert_pop(50, 1);
    assert_pop(100, 2);
}
END_TEST

START_TEST(all_of_an_event_comes_back)
{
    CcsEventRecord in = {.time = 9, .kind = 1, .subject = 2, .detail = 3, .note = 4};
    CcsEventRecord out;

    ccs_queue_push(queue, &in);
    ck_assert(ccs_queue_pop(queue, &out));

    ck_assert_mem_eq(&in, &out, sizeof in);
}
END_TEST

START_TEST(the_latest_times_are_kept)
{
    push(CCS_TIME_MAX, 2);
    push(CCS_TIME_MAX - 1, 1);
    push(0, 0);

    assert_pop(0, 0);
    assert_pop(CCS_TIME_MAX - 1, 1);
    assert_pop(CCS_TIME_MAX, 2);
}
END_TEST

START_TEST(a_cleared_queue_begins_at_zero)
{
    push(1000, 1);
    push(2000, 2);
    assert_pop(1000, 1);
    ck_assert_int_eq(ccs_queue_next_time(queue), 2000);

    ccs_queue_clear(queue);

    assert_empty();
    push(1, 3);
    assert_pop(1, 3);
    assert_empty();
}
END_TEST

/* The same events in a list, of which the first with the least time is taken. */
static CcsEventRecord take_least(GArray *list)
{
    guint least = 0;

    for (guint i = 1; i < list->len; i++) {
        if (g_array_index(list, CcsEventRecord, i).time <
            g_array_index(list, CcsEventRecord, least).time)
            least = i;
    }
    CcsEventRecord event = g_array_index(list, CcsEventRecord, least);
    g_array_remove_index(list, least);
    return event;
}

/* How far ahead events lie: often the same time, or anything up to so many bits. */
static CcsTime random_delay(GRand *random, int n_bits)
{
    uint64_t bits = ((uint64_t)g_rand_int(random) << 31) ^ g_rand_int(random);

    if (g_rand_int_range(random, 0, 3) == 0)
        return 0;
    return (CcsTime)(bits & (((uint64_t)1 << g_rand_int_range(random, 1, n_bits)) - 1));
}

START_TEST(random_events_come_as_from_a_sorted_list)
{
    static const int bits[] = {2, 4, 8, 20, 40, 55};
    g_autoptr(GRand) random = g_rand_new_with_seed((guint32)_i);
    g_autoptr(GArray) list = g_array_new(false, false, sizeof(CcsEventRecord));
    CcsTime now = 0;

    for (uint32_t i = 0; i < 5000; i++) {
        bool is_push = list->len == 0 || (list->len < 300 && g_rand_boolean(random));
        if (is_push) {
            CcsEventRecord event = {.time = now + random_delay(random, bits[_i]), .subject = i};
            ccs_queue_push(queue, &event);
            g_array_append_val(list, event);
            continue;
        }
        CcsEventRecord expected = take_least(list);
        assert_pop(expected.time, expected.subject);
        now = expected.time;
    }
    while (list->len > 0) {
        CcsEventRecord expected = take_least(list);
        assert_pop(expected.time, expected.subject);
    }
    assert_empty();
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("queue");
    TCase *tcase = tcase_create("queue");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, events_come_in_the_order_of_their_time);
    tcase_add_test(tcase, events_of_one_time_come_in_the_order_in_which_they_were_put_in);
    tcase_add_test(tcase, shuffled_events_of_one_time_come_in_any_order_each_of_them_once);
    tcase_add_test(tcase, an_event_may_be_added_at_the_time_of_the_last_one_taken);
    tcase_add_test(tcase, an_event_that_was_looked_at_may_be_preceded);
    tcase_add_test(tcase, all_of_an_event_comes_back);
    tcase_add_test(tcase, the_latest_times_are_kept);
    tcase_add_test(tcase, a_cleared_queue_begins_at_zero);
    tcase_add_loop_test(tcase, random_events_come_as_from_a_sorted_list, 0, 6);
    suite_add_tcase(suite, tcase);
    return suite;
}
