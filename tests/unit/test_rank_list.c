#include "commands/rank_list.h"

#include "base/error.h"
#include "tests/support/check_main.h"

static const struct {
    const char *text;
    const char *numbers;
} good[] = {
    {"5", "5"},           {"1-4", "1 2 3 4"}, {"9,2-3,64", "9 2 3 64"},
    {" 7 , 8-8 ", "7 8"}, {"64", "64"},       {"3,3,1-4", "3 1 2 4"},
};

START_TEST(numbers_and_ranges_are_read_in_order)
{
    g_autoptr(GArray) numbers = ccs_rank_list_parse(good[_i].text, 64, NULL);
    g_autoptr(GString) text = g_string_new(NULL);

    ck_assert_ptr_nonnull(numbers);
    for (guint i = 0; i < numbers->len; i++)
        g_string_append_printf(text, "%s%u", i == 0 ? "" : " ",
                               g_array_index(numbers, uint32_t, i));
    ck_assert_str_eq(text->str, good[_i].numbers);
}
END_TEST

static const char *const bad[] = {
    "",  "x",    "0",  "65",    "1-65", "4-3", "1,",
    "-", "1--2", "-3", "1-2-3", "1.5",  "+2",  "99999999999999999999"};

START_TEST(anything_else_is_refused)
{
    g_autoptr(GError) error = NULL;

    ck_assert_ptr_null(ccs_rank_list_parse(bad[_i], 64, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_USAGE));
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("rank_list");
    TCase *tcase = tcase_create("rank_list");

    tcase_add_loop_test(tcase, numbers_and_ranges_are_read_in_order, 0, G_N_ELEMENTS(good));
    tcase_add_loop_test(tcase, anything_else_is_refused, 0, G_N_ELEMENTS(bad));
    suite_add_tcase(suite, tcase);
    return suite;
}
