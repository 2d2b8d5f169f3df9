#include "report/terms.h"

#include "tests/support/check_main.h"

#define GBPS (1000000000U * CCS_RATE_PER_BYTE)

static const CcsFlatSwitch flat = {.latency = 2000000, .bandwidth = 50 * GBPS};
static const CcsTransport transport = {
    .launch = 0, .message_cost = 500000, .reduce_rate = 100 * GBPS};

START_TEST(each_term_counts_as_often_as_it_says)
{
    CcsTerms terms = {.latencies = 3, .costs = 4, .sizes = 1.5, .reductions = 0.5};

    /* 3 x 2 + 4 x 0.5 + 1.5 x 20 + 0.5 x 10 us */
    ck_assert_double_eq_tol(ccs_terms_time_us(&terms, &flat, &transport, 1000000), 43, 1e-9);
}
END_TEST

START_TEST(what_costs_nothing_adds_nothing)
{
    CcsTerms terms = {.latencies = 3, .costs = 4, .sizes = 1.5, .reductions = 0.5};
    CcsTransport free = {.reduce_rate = CCS_RATE_UNLIMITED};

    ck_assert_double_eq_tol(ccs_terms_time_us(&terms, &flat, &free, 1000000), 36, 1e-9);
}
END_TEST

START_TEST(the_launch_comes_on_top)
{
    CcsTerms terms = {.latencies = 1};
    CcsTransport launched = {.launch = 5000000, .reduce_rate = CCS_RATE_UNLIMITED};
    g_autofree char *numbers = ccs_terms_in_numbers(&terms, &flat, &launched, 1000);

    ck_assert_double_eq_tol(ccs_terms_time_us(&terms, &flat, &launched, 1000), 7, 1e-9);
    ck_assert_str_eq(numbers, "5.000 us launch + 1 x 2.000 us");
}
END_TEST

START_TEST(terms_that_are_not_there_are_left_out)
{
    CcsTerms terms = {.latencies = 3, .sizes = 2.0 / 3};
    g_autofree char *letters = ccs_terms_in_letters(&terms);
    g_autofree char *numbers = ccs_terms_in_numbers(&terms, &flat, &transport, 1000000);

    ck_assert_str_eq(letters, "3 a + 0.666667 S/B");
    ck_assert_str_eq(numbers, "3 x 2.000 us + 0.666667 x 20.000 us");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("terms");
    TCase *tcase = tcase_create("terms");

    tcase_add_test(tcase, each_term_counts_as_often_as_it_says);
    tcase_add_test(tcase, what_costs_nothing_adds_nothing);
    tcase_add_test(tcase, the_launch_comes_on_top);
    tcase_add_test(tcase, terms_that_are_not_there_are_left_out);
    suite_add_tcase(suite, tcase);
    return suite;
}
