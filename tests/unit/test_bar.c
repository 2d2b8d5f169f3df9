/* The line that shows how far a run is. */
#include "report/bar.h"
#include "tests/support/check_main.h"

static const struct {
    double share;
    double elapsed_s;
    uint32_t n_columns;
    bool has_color;
    const char *text;
} rows[] = {
    {0.5, 12.34, 80, false,
     "[####################--------------------]  50%  12.3 s, about 12.3 s left"},
    {0.25, 2, 80, true,
     "[\033[32m##########\033[0m------------------------------]  25%  2.0 s, about 6.0 s left"},
    {0.5, 245, 50, false, "[#########----------]  50%  4:05, about 4:05 left"},
    {0.5, 7207, 58, false, "[##########-----------]  50%  2:00:07, about 2:00:07 left"},
    {0, 1.5, 80, false, "[----------------------------------------]   0%  1.5 s"},
    {1.5, 1.5, 80, false,
     "[########################################] 100%  1.5 s, about 0.0 s left"},
    {0.5, 12.34, 20, true, " 50%  12.3 s, about"},
};

START_TEST(a_line_says_what_is_done_and_what_is_left)
{
    g_autofree char *text =
        ccs_bar_text(rows[_i].share, rows[_i].elapsed_s, rows[_i].n_columns, rows[_i].has_color);

    ck_assert_str_eq(text, rows[_i].text);
}
END_TEST

START_TEST(nothing_is_drawn_on_a_file)
{
    FILE *file = tmpfile();

    ck_assert_ptr_null(ccs_bar_new(file, 1));
    ccs_bar_begin_part(NULL, 10);
    ccs_bar_set(NULL, 5);
    ccs_bar_clear(NULL);
    ccs_bar_free(NULL);
    fclose(file);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("bar");
    TCase *tcase = tcase_create("bar");

    tcase_add_loop_test(tcase, a_line_says_what_is_done_and_what_is_left, 0, G_N_ELEMENTS(rows));
    tcase_add_test(tcase, nothing_is_drawn_on_a_file);
    suite_add_tcase(suite, tcase);
    return suite;
}
