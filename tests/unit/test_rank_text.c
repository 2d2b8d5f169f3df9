#include "workloads/rank_text.h"

#include <string.h>

#include "tests/support/check_main.h"

#define N_RANKS 8

static const struct {
    const char *text;
    const char *ranks; /* as "0 1 2", or what is wrong */
} sets[] = {
    {"all", "0 1 2 3 4 5 6 7"},
    {"3", "3"},
    {"2-4", "2 3 4"},
    {"0-6/2", "0 2 4 6"},
    {"all/3", "0 3 6"},
    {" 7 , 0-1 ", "7 0 1"},
    {"0-8", "names rank 8, but the job has 8 ranks (0 to 7)"},
    {"1, 0-1", "names rank 1 twice"},
    {"", "must be ranks such as all, 3, 0-7, 0-6/2 or 0-3, 8, not ''"},
    {"1-", "must be ranks such as all, 3, 0-7, 0-6/2 or 0-3, 8, not '1-'"},
    {"3-1", "must be ranks such as all, 3, 0-7, 0-6/2 or 0-3, 8, not '3-1'"},
    {"0-3/0", "must be ranks such as all, 3, 0-7, 0-6/2 or 0-3, 8, not '0-3/0'"},
    {"1,", "must be ranks such as all, 3, 0-7, 0-6/2 or 0-3, 8, not '1,'"},
    {"some", "must be ranks such as all, 3, 0-7, 0-6/2 or 0-3, 8, not 'some'"},
    {"12345678901", "must be ranks such as all, 3, 0-7, 0-6/2 or 0-3, 8, not '12345678901'"},
};

START_TEST(a_set_names_ranks_once_and_in_order)
{
    bool is_in[N_RANKS] = {false};
    g_autoptr(GArray) ranks = g_array_new(false, false, sizeof(uint32_t));
    g_autoptr(GString) found = g_string_new(NULL);
    g_autofree char *problem = ccs_rank_set_read(sets[_i].text, N_RANKS, is_in, ranks);

    for (guint i = 0; i < ranks->len && problem == NULL; i++)
        g_string_append_printf(found, "%s%u", i == 0 ? "" : " ", g_array_index(ranks, uint32_t, i));
    ck_assert_str_eq(problem == NULL ? found->str : problem, sets[_i].ranks);
}
END_TEST

START_TEST(several_texts_make_one_set)
{
    bool is_in[N_RANKS] = {false};
    g_autoptr(GArray) ranks = g_array_new(false, false, sizeof(uint32_t));
    g_autofree char *first = ccs_rank_set_read("4-5", N_RANKS, is_in, ranks);
    g_autofree char *second = ccs_rank_set_read("5", N_RANKS, is_in, ranks);

    ck_assert_ptr_null(first);
    ck_assert_str_eq(second, "names rank 5 twice");
}
END_TEST

static const struct {
    const char *text;
    uint32_t rank;
    int64_t peer; /* among 8 ranks */
} peers[] = {
    {"3", 5, 3},          {"rank", 5, 5},
    {"rank + 1", 7, 8},   {"rank+1 mod n", 7, 0},
    {"rank - 1", 0, -1},  {"rank - 1 mod n", 0, 7},
    {"rank xor 1", 6, 7}, {"rank + 3 mod 4", 2, 1},
    {"rank mod 4", 6, 2}, {"9", 0, 9},
};

START_TEST(a_peer_is_a_rank_or_follows_a_rule)
{
    CcsPeerRule rule;
    g_autofree char *problem = ccs_peer_rule_read(peers[_i].text, &rule);

    ck_assert_ptr_null(problem);
    ck_assert_int_eq(ccs_peer_rule_apply(&rule, peers[_i].rank, N_RANKS), peers[_i].peer);
}
END_TEST

static const char *const bad_peers[] = {
    "", "ranks", "rank +", "rank + 1 mod", "rank + 1 mod 0", "3 mod 2", "-1", "rank * 2", "n",
};

START_TEST(what_is_no_rule_is_refused)
{
    CcsPeerRule rule;
    g_autofree char *problem = ccs_peer_rule_read(bad_peers[_i], &rule);
    g_autofree char *expected = g_strdup_printf(
        "must be a rank such as 3, rank + 1, rank - 1 mod n or rank xor 1, not '%s'",
        bad_peers[_i]);

    ck_assert_ptr_nonnull(problem);
    ck_assert_str_eq(problem, expected);
}
END_TEST

START_TEST(a_long_text_is_cut_between_characters)
{
    g_autoptr(GString) text = g_string_new(NULL);
    CcsPeerRule rule;

    for (int i = 0; i < 1000; i++)
        g_string_append(text, "\xc3\xa9");
    g_autofree char *problem = ccs_peer_rule_read(text->str, &rule);
    ck_assert_uint_lt(strlen(problem), 300);
    ck_assert(g_utf8_validate(problem, -1, NULL));
    ck_assert(g_str_has_suffix(problem, "...'"));
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("rank_text");
    TCase *tcase = tcase_create("rank_text");

    tcase_add_loop_test(tcase, a_set_names_ranks_once_and_in_order, 0, G_N_ELEMENTS(sets));
    tcase_add_test(tcase, several_texts_make_one_set);
    tcase_add_loop_test(tcase, a_peer_is_a_rank_or_follows_a_rule, 0, G_N_ELEMENTS(peers));
    tcase_add_loop_test(tcase, what_is_no_rule_is_refused, 0, G_N_ELEMENTS(bad_peers));
    tcase_add_test(tcase, a_long_text_is_cut_between_characters);
    suite_add_tcase(suite, tcase);
    return suite;
}
