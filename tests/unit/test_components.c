/* Which vertices can reach one another, and in which order they come. */
#include "sim/components.h"

#include <stdbool.h>

#include "tests/support/check_main.h"

#define MAX_VERTICES 40U

static bool has_arc[MAX_VERTICES][MAX_VERTICES];

static CcsComponents *find(uint32_t n_vertices)
{
    g_autoptr(GArray) arcs = g_array_new(false, false, sizeof(CcsArc));
    g_autofree uint32_t *first = g_new0(uint32_t, n_vertices + 1);

    for (uint32_t from = 0; from < n_vertices; from++) {
        for (uint32_t to = 0; to < n_vertices; to++) {
            if (has_arc[from][to])
                g_array_append_vals(arcs, &(CcsArc){.to = to}, 1);
        }
        first[from + 1] = arcs->len;
    }
    return ccs_components_find(&(CcsArcGraph){.n_vertices = n_vertices,
                                              .first = first,
                                              .arcs = (const CcsArc *)(const void *)arcs->data});
}

static void clear_arcs(void)
{
    for (uint32_t from = 0; from < MAX_VERTICES; from++) {
        for (uint32_t to = 0; to < MAX_VERTICES; to++)
            has_arc[from][to] = false;
    }
}

START_TEST(a_path_is_as_many_components_in_its_order)
{
    has_arc[2][0] = has_arc[0][3] = has_arc[3][1] = true;
    g_autoptr(CcsComponents) found = find(4);
    static const uint32_t order[] = {2, 0, 3, 1};

    ck_assert_uint_eq(found->n, 4);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(found->members[found->first[i]], order[i]);
}
END_TEST

START_TEST(two_rings_with_an_arc_between_are_two_components)
{
    has_arc[0][1] = has_arc[1][2] = has_arc[2][0] = true;
    has_arc[3][4] = has_arc[4][3] = has_arc[4][1] = true;
    g_autoptr(CcsComponents) found = find(5);

    ck_assert_uint_eq(found->n, 2);
    ck_assert_uint_eq(found->of[3], 0);
    ck_assert_uint_eq(found->of[4], 0);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(found->of[i], 1);
        ck_assert_uint_eq(found->members[found->first[1] + i], i);
    }
}
END_TEST

START_TEST(nothing_is_no_component)
{
    g_autoptr(CcsComponents) found = find(0);
    ck_assert_uint_eq(found->n, 0);
}
END_TEST

/* By the definition. */
START_TEST(random_graphs_are_cut_as_reachability_says)
{
    g_autoptr(GRand) random = g_rand_new_with_seed((guint32)_i);
    uint32_t n = (uint32_t)g_rand_int_range(random, 1, (gint32)MAX_VERTICES);
    bool reaches[MAX_VERTICES][MAX_VERTICES] = {0};

    for (uint32_t i = 0; i < n * 2; i++)
        has_arc[g_rand_int_range(random, 0, (gint32)n)][g_rand_int_range(random, 0, (gint32)n)] =
            true;
    for (uint32_t a = 0; a < n; a++) {
        for (uint32_t b = 0; b < n; b++)
            reaches[a][b] = a == b || has_arc[a][b];
    }
    for (uint32_t by = 0; by < n; by++) {
        for (uint32_t a = 0; a < n; a++) {
            for (uint32_t b = 0; b < n; b++)
                reaches[a][b] = reaches[a][b] || (reaches[a][by] && reaches[by][b]);
        }
    }
    g_autoptr(CcsComponents) found = find(n);
    for (uint32_t a = 0; a < n; a++) {
        for (uint32_t b = 0; b < n; b++) {
            ck_assert((found->of[a] == found->of[b]) == (reaches[a][b] && reaches[b][a]));
            ck_assert(!reaches[a][b] || found->of[a] <= found->of[b]);
        }
    }
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("components");
    TCase *tcase = tcase_create("components");

    tcase_add_checked_fixture(tcase, clear_arcs, NULL);
    tcase_add_test(tcase, a_path_is_as_many_components_in_its_order);
    tcase_add_test(tcase, two_rings_with_an_arc_between_are_two_components);
    tcase_add_test(tcase, nothing_is_no_component);
    tcase_add_loop_test(tcase, random_graphs_are_cut_as_reachability_says, 0, 200);
    suite_add_tcase(suite, tcase);
    return suite;
}
