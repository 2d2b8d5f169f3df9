#include "base/hash.h"

#include "tests/support/check_main.h"

#define N 256U

/* How many of all pairs of numbers below N have a hash of their own. */
static guint count_hashes(guint (*hash_of)(guint64 pair))
{
    g_autoptr(GHashTable) hashes = g_hash_table_new(NULL, NULL);

    for (guint64 a = 0; a < N; a++) {
        for (guint64 b = 0; b < N; b++)
            g_hash_table_add(hashes, GUINT_TO_POINTER(hash_of(a << 32 | b)));
    }
    return g_hash_table_size(hashes);
}

static guint hash_number(guint64 pair)
{
    gint64 number = (gint64)pair;
    return ccs_int64_hash(&number);
}

static guint hash_word(guint64 pair)
{
    return ccs_word_hash(GSIZE_TO_POINTER(pair));
}

START_TEST(pairs_of_small_numbers_hardly_ever_meet)
{
    ck_assert_uint_gt(count_hashes(hash_number), N * N - N);
    ck_assert_uint_gt(count_hashes(hash_word), N * N - N);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("hash");
    TCase *tcase = tcase_create("hash");

    tcase_add_test(tcase, pairs_of_small_numbers_hardly_ever_meet);
    suite_add_tcase(suite, tcase);
    return suite;
}
