#include "engine/heap.h"

#include "tests/support/check_main.h"

#define N 200

START_TEST(the_earliest_comes_first_though_times_change)
{
    g_autoptr(CcsHeap) heap = ccs_heap_new(N);
    GRand *random = g_rand_new_with_seed((guint32)_i);
    CcsTime times[N];
    bool is_in[N] = {false};
    uint32_t n_in = 0;
    CcsTime now = 0;

    for (uint32_t step = 0; step < 5000; step++) {
        uint32_t number = (uint32_t)g_rand_int_range(random, 0, N);
        if (g_rand_int_range(random, 0, 3) > 0) {
            times[number] = now + g_rand_int_range(random, 0, g_rand_boolean(random) ? 5 : 5000);
            ccs_heap_set(heap, number, times[number]);
            n_in += is_in[number] ? 0 : 1;
            is_in[number] = true;
        } else if (n_in > 0) {
            CcsTime least = CCS_TIME_MAX;
            for (uint32_t i = 0; i < N; i++)
                least = is_in[i] ? MIN(least, times[i]) : least;
            ck_assert_int_eq(ccs_heap_least(heap), least);
            uint32_t taken = ccs_heap_take(heap);
            ck_assert(is_in[taken]);
            ck_assert_int_eq(times[taken], least);
            now = least;
            is_in[taken] = false;
            n_in--;
        }
        ck_assert(ccs_heap_is_empty(heap) == (n_in == 0));
    }
    g_rand_free(random);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("heap");
    TCase *tcase = tcase_create("heap");

    tcase_add_loop_test(tcase, the_earliest_comes_first_though_times_change, 0, 4);
    suite_add_tcase(suite, tcase);
    return suite;
}
