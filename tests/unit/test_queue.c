#include "engine/queue.h"

#include "tests/support/check_main.h"

static void push(CcsQueue *queue, CcsTime time, uint32_t subject)
{
    ccs_queue_push(queue, &(CcsEventRecord){.time = time, .subject = subject});
}

START_TEST(events_of_one_time_come_in_the_order_of_asking)
{
    g_autoptr(CcsQueue) queue = ccs_queue_new();
    CcsEventRecord event;

    push(queue, 1000, 0);
    push(queue, 7, 1);
    push(queue, 1000, 2);
    ck_assert_int_eq(ccs_queue_next_time(queue), 7);
    ck_assert(ccs_queue_pop(queue, &event));
    push(queue, 1000, 3); /* asked for later, at a time nearer to now */
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert(ccs_queue_pop(queue, &event));
        ck_assert_int_eq(event.time, 1000);
        ck_assert_uint_eq(event.subject, i == 0 ? 0 : i + 1);
    }
    ck_assert(!ccs_queue_pop(queue, &event));
    ck_assert_int_eq(ccs_queue_next_time(queue), CCS_TIME_MAX);
}
END_TEST

START_TEST(a_look_at_the_next_time_takes_nothing)
{
    g_autoptr(CcsQueue) queue = ccs_queue_new();
    CcsEventRecord event;

    push(queue, 500, 1);
    ck_assert_int_eq(ccs_queue_next_time(queue), 500);
    push(queue, 20, 2); /* earlier than what was looked at */
    ck_assert_int_eq(ccs_queue_next_time(queue), 20);
    ck_assert(ccs_queue_pop(queue, &event));
    ck_assert_uint_eq(event.subject, 2);
}
END_TEST

/* Against the plainest queue there is: look at all, take the first of the least. */
START_TEST(random_events_come_in_order)
{
    g_autoptr(CcsQueue) queue = ccs_queue_new();
    g_autoptr(GArray) plain = g_array_new(false, false, sizeof(CcsEventRecord));
    GRand *random = g_rand_new_with_seed((guint32)_i);
    CcsTime now = 0;

    for (uint32_t step = 0; step < 4000; step++) {
        if (g_rand_int_range(random, 0, 3) > 0 || plain->len == 0) {
            int range = _i % 2 == 0 ? 8 : 1 << 30; /* many ties, or hardly any */
            CcsEventRecord event = {.time = now + g_rand_int_range(random, 0, range),
                                    .subject = step};
            ccs_queue_push(queue, &event);
            g_array_append_val(plain, event);
            continue;
        }
        guint first = 0;
        for (guint i = 1; i < plain->len; i++) {
            if (g_array_index(plain, CcsEventRecord, i).time <
                g_array_index(plain, CcsEventRecord, first).time)
                first = i;
        }
        CcsEventRecord expected = g_array_index(plain, CcsEventRecord, first);
        CcsEventRecord event;
        g_array_remove_index(plain, first);
        ck_assert_int_eq(ccs_queue_next_time(queue), expected.time);
        ck_assert(ccs_queue_pop(queue, &event));
        ck_assert_int_eq(event.time, expected.time);
        ck_assert_uint_eq(event.subject, expected.subject);
        now = event.time;
    }
    g_rand_free(random);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("queue");
    TCase *tcase = tcase_create("queue");

    tcase_add_test(tcase, events_of_one_time_come_in_the_order_of_asking);
    tcase_add_test(tcase, a_look_at_the_next_time_takes_nothing);
    tcase_add_loop_test(tcase, random_events_come_in_order, 0, 6);
    suite_add_tcase(suite, tcase);
    return suite;
}
