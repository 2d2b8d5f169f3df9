#include "collectives/weights.h"

#include <string.h>

#include "base/error.h"
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

static CcsWeights *read_weights(const char *text, uint32_t n_ranks, GError **error)
{
    return ccs_weights_read("w.csv", text, strlen(text), n_ranks, error);
}

START_TEST(blocks_are_in_proportion_to_the_largest_row)
{
    g_autoptr(CcsWeights) weights = read_weights("1,3\n# half as much\n2, 0\n", 2, NULL);

    ck_assert_ptr_nonnull(weights);
    ck_assert_uint_eq(ccs_weights_bytes(weights, 0, 0, 1000), 250);
    ck_assert_uint_eq(ccs_weights_bytes(weights, 0, 1, 1000), 750);
    ck_assert_uint_eq(ccs_weights_bytes(weights, 1, 0, 1000), 500);
    ck_assert_uint_eq(ccs_weights_bytes(weights, 1, 1, 1000), 0);
}
END_TEST

START_TEST(a_byte_order_mark_is_skipped)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsWeights) weights = read_weights("\xef\xbb\xbf"
                                                 "1,3\n2,0\n",
                                                 2, NULL);

    ck_assert_ptr_nonnull(weights);
    ck_assert_ptr_null(read_weights("\xef\xbb\xbf"
                                    "1,x\n2,0\n",
                                    2, &error));
    ck_assert_str_eq(
        error->message,
        "w.csv:1:3: error: a weight must be a number that is not negative\n 1,x\n   ^");
}
END_TEST

START_TEST(the_blocks_of_the_largest_row_add_up_to_the_size)
{
    static const CcsBytes sizes[] = {0, 1, 2, 10, 1000003, CCS_BYTES_MAX};
    g_autoptr(CcsWeights) weights =
        read_weights("0.1, 999999999999.999999, 7\n1,1,1\n0,0,0 # nothing\n", 3, NULL);
    CcsBytes sum = 0;

    ck_assert_ptr_nonnull(weights);
    for (CcsRank target = 0; target < 3; target++)
        sum += ccs_weights_bytes(weights, 0, target, sizes[_i]);
    ck_assert_uint_eq(sum, sizes[_i]);
}
END_TEST

START_TEST(the_load_of_the_busiest_receiver_is_the_skew)
{
    static const double skews[] = {1, 1.25, 2, 7.5, 8};
    uint64_t skew = (uint64_t)(skews[_i] * (double)CCS_SKEW_ONE);
    g_autoptr(CcsWeights) weights = ccs_weights_new_skewed(8, skew, NULL);

    ck_assert_double_eq(ccs_weights_load_ratio(weights, NULL), skews[_i]);
}
END_TEST

/* As the all-to-all of an expert-parallel layer whose experts are all equally busy. */
START_TEST(a_balanced_load_is_one_for_every_number_of_ranks)
{
    uint32_t n = (uint32_t)_i;
    g_autoptr(CcsWeights) weights = ccs_weights_new_skewed(n, CCS_SKEW_ONE, NULL);

    ck_assert_double_eq(ccs_weights_load_ratio(weights, NULL), 1);
    for (CcsRank target = 0; target < n; target++)
        ck_assert_uint_eq(ccs_weights_bytes(weights, n - 1, target, 4096 * (CcsBytes)n), 4096);
}
END_TEST

START_TEST(balanced_blocks_are_even_and_others_are_not)
{
    g_autoptr(CcsWeights) balanced = ccs_weights_new_skewed((uint32_t)_i, CCS_SKEW_ONE, NULL);
    g_autoptr(CcsWeights) skewed = ccs_weights_new_skewed((uint32_t)_i, CCS_SKEW_ONE + 1, NULL);
    g_autoptr(CcsWeights) even = read_weights("2,2\n2,2\n", 2, NULL);
    g_autoptr(CcsWeights) crossed = read_weights("1,2\n2,1\n", 2, NULL);

    ck_assert(ccs_weights_are_even(balanced));
    ck_assert(!ccs_weights_are_even(skewed));
    ck_assert(ccs_weights_are_even(even));
    ck_assert(!ccs_weights_are_even(crossed)); /* though each rank receives as much */
}
END_TEST

START_TEST(a_skew_is_from_one_to_the_number_of_ranks)
{
    static const double skews[] = {0, 0.999999, 8.000001, 1e6};
    uint64_t skew = (uint64_t)(skews[_i] * (double)CCS_SKEW_ONE + 0.5);
    g_autoptr(GError) error = NULL;

    ck_assert_ptr_null(ccs_weights_new_skewed(8, skew, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_USAGE));
}
END_TEST

START_TEST(the_busiest_receiver_is_named)
{
    g_autoptr(CcsWeights) weights = read_weights("0,1,5\n1,1,4\n0,0,1\n", 3, NULL);
    CcsRank busiest = 0;

    ck_assert_double_eq_tol(ccs_weights_load_ratio(weights, &busiest), 30.0 / 13, 1e-12);
    ck_assert_uint_eq(busiest, 2);
}
END_TEST

static const struct {
    const char *text;
    const char *problem;
} refusals[] = {
    {"1,2\n3,x\n", "w.csv:2:3: error: a weight must be a number that is not negative"},
    {"1,-2\n3,4\n", "w.csv:1:3: error: a weight must be a number that is not negative"},
    {"1,.\n3,4\n", "w.csv:1:3: error: a weight must be a number that is not negative"},
    {"1,\n3,4\n", "w.csv:1:3: error: a weight must be a number that is not negative"},
    {"1,1000000000000\n3,4\n", "w.csv:1:3: error: a weight must be below 10^12"},
    {"1,0.1234567\n3,4\n", "w.csv:1:3: error: a weight has up to 6 decimals"},
    {"1\n3,4\n", "w.csv:1:2: error: the line has 1 weights, but there are 2 ranks"},
    {"1,2,3\n3,4\n", "w.csv:1:4: error: the line has more weights than there are ranks, 2"},
    {"1;2\n3;4\n", "w.csv:1:2: error: a comma must follow a weight"},
    {"1,2\n\n", "w.csv:3:1: error: there is 1 line of weights, but 2 ranks"},
    {"1,2\n3,4\n\n5,6", "w.csv:4:1: error: there are more lines than ranks, 2"},
    {"0,0\n0,0.0\n", "w.csv: error: all weights are 0"},
    {"", "w.csv:1:1: error: there are 0 lines of weights, but 2 ranks"},
};

START_TEST(a_wrong_file_is_refused_at_its_place)
{
    g_autoptr(GError) error = NULL;

    ck_assert_ptr_null(read_weights(refusals[_i].text, 2, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    ck_assert_msg(g_str_has_prefix(error->message, refusals[_i].problem), "%s", error->message);
}
END_TEST

START_TEST(the_bytes_of_a_block_are_split_over_the_channels)
{
    g_autoptr(CcsWeights) weights = read_weights("1,2,4\n2,2,2\n0,1,0\n", 3, NULL);
    g_auto(CcsAnswer) answer;
    CcsBytes bytes = 0;
    ck_assert(
        ccs_ask_schedule(&(CcsAsked){.machine = "node: {gpus: 3, nvlink: {bandwidth: 1 GB/s}}",
                                     .collective = "alltoallv",
                                     .algorithm = "direct",
                                     .n_channels = 4,
                                     .weights = weights},
                         &answer));

    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(answer.schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(answer.schedule, id);
        if (lane->source == 0 && lane->peer == 2)
            bytes += ccs_schedule_message_bytes(answer.schedule, lane, 0, 1001);
    }
    ck_assert_uint_eq(bytes, ccs_weights_bytes(weights, 0, 2, 1001));
    ck_assert_uint_eq(bytes, 572);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("weights");
    TCase *tcase = tcase_create("weights");

    tcase_add_test(tcase, blocks_are_in_proportion_to_the_largest_row);
    tcase_add_test(tcase, a_byte_order_mark_is_skipped);
    tcase_add_loop_test(tcase, the_blocks_of_the_largest_row_add_up_to_the_size, 0, 6);
    tcase_add_loop_test(tcase, the_load_of_the_busiest_receiver_is_the_skew, 0, 5);
    tcase_add_loop_test(tcase, a_balanced_load_is_one_for_every_number_of_ranks, 2, 65);
    tcase_add_loop_test(tcase, balanced_blocks_are_even_and_others_are_not, 2, 20);
    tcase_add_loop_test(tcase, a_skew_is_from_one_to_the_number_of_ranks, 0, 4);
    tcase_add_test(tcase, the_busiest_receiver_is_named);
    tcase_add_loop_test(tcase, a_wrong_file_is_refused_at_its_place, 0, G_N_ELEMENTS(refusals));
    tcase_add_test(tcase, the_bytes_of_a_block_are_split_over_the_channels);
    suite_add_tcase(suite, tcase);
    return suite;
}
