#include "sim/result.h"
#include "tests/support/check_main.h"

static const struct {
    CcsTime time;
    CcsTime other;
    bool is_faster;
} pairs[] = {
    {0, 0, false},
    {5, 5, false},
    {0, 999, false}, /* less than 1 ns */
    {0, 1000, true},
    {1000, 0, false},
    {1000000000000 - 1000001, 1000000000000, true}, /* one second */
    {1000000000000 - 999999, 1000000000000, false},
};

START_TEST(a_time_is_faster_by_a_nanosecond_and_a_millionth_part)
{
    ck_assert_int_eq(ccs_time_is_faster(pairs[_i].time, pairs[_i].other), pairs[_i].is_faster);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("result");
    TCase *tcase = tcase_create("result");

    tcase_add_loop_test(tcase, a_time_is_faster_by_a_nanosecond_and_a_millionth_part, 0,
                        G_N_ELEMENTS(pairs));
    suite_add_tcase(suite, tcase);
    return suite;
}
