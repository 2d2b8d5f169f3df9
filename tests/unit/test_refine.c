/* The coarsest partition in which members of a class look alike. */
#include "sim/refine.h"

#include <stdbool.h>
#include <string.h>

#include "base/hash.h"
#include "tests/support/check_main.h"

#define MAX_VERTICES 64U

static uint64_t colours[MAX_VERTICES];
static GArray *pairs; /* of Pair */
static uint32_t n_vertices;

typedef struct {
    uint32_t from;
    CcsArc arc;
} Pair;

static void set_up(void)
{
    memset(colours, 0, sizeof colours);
    pairs = g_array_new(false, false, sizeof(Pair));
    n_vertices = 0;
}

static void tear_down(void)
{
    g_array_unref(pairs);
}

static void add_arc(uint32_t from, uint32_t to, uint32_t label)
{
    g_array_append_vals(pairs, &(Pair){from, {to, label}}, 1);
    n_vertices = MAX(n_vertices, MAX(from, to) + 1);
}

/* As "0 0 1 2": the class of each vertex; NULL if there are more than @max_classes. */
static char *refine(uint32_t max_classes)
{
    g_autoptr(GArray) arcs = g_array_new(false, false, sizeof(CcsArc));
    g_autofree uint32_t *first = g_new0(uint32_t, n_vertices + 1);
    uint32_t n = 0;

    for (uint32_t vertex = 0; vertex < n_vertices; vertex++) {
        for (guint i = 0; i < pairs->len; i++) {
            const Pair *pair = &g_array_index(pairs, Pair, i);
            if (pair->from == vertex)
                g_array_append_val(arcs, pair->arc);
        }
        first[vertex + 1] = arcs->len;
    }
    g_autofree uint32_t *classes = ccs_refine(
        &(CcsArcGraph){n_vertices, colours, first, (const CcsArc *)(const void *)arcs->data},
        max_classes, &n);
    if (classes == NULL)
        return NULL;
    GString *text = g_string_new(NULL);
    for (uint32_t vertex = 0; vertex < n_vertices; vertex++)
        g_string_append_printf(text, "%s%u", vertex == 0 ? "" : " ", classes[vertex]);
    return g_string_free(text, false);
}

static void expect(const char *classes)
{
    g_autofree char *found = refine(MAX_VERTICES);
    ck_assert_str_eq(found, classes);
}

START_TEST(a_ring_is_one_class)
{
    for (uint32_t i = 0; i < 7; i++)
        add_arc(i, (i + 1) % 7, 0);
    expect("0 0 0 0 0 0 0");
}
END_TEST

START_TEST(one_vertex_of_another_colour_tells_all_of_a_ring_apart)
{
    for (uint32_t i = 0; i < 7; i++)
        add_arc(i, (i + 1) % 7, 0);
    colours[3] = 1;
    expect("0 1 2 3 4 5 6");
}
END_TEST

START_TEST(a_path_is_split_by_the_distance_from_its_start)
{
    for (uint32_t i = 0; i < 5; i++)
        add_arc(i, i + 1, 0);
    expect("0 1 2 3 4 5");
}
END_TEST

START_TEST(a_tree_is_split_by_level)
{
    for (uint32_t i = 1; i < 7; i++)
        add_arc((i - 1) / 2, i, 0);
    expect("0 1 1 2 2 2 2");
}
END_TEST

START_TEST(arcs_are_counted_and_not_only_seen)
{
    add_arc(0, 2, 0);
    add_arc(0, 3, 0);
    add_arc(0, 3, 0);
    add_arc(1, 3, 0);
    expect("0 0 1 2");
}
END_TEST

START_TEST(labels_tell_apart)
{
    add_arc(0, 1, 5);
    add_arc(0, 2, 6);
    add_arc(0, 3, 5);
    expect("0 1 2 1");
}
END_TEST

START_TEST(more_classes_than_asked_for_are_none)
{
    for (uint32_t i = 0; i < 5; i++)
        add_arc(i, i + 1, 0);
    ck_assert_ptr_null(refine(5));
}
END_TEST

/* By the definition: rounds of splitting by the counts from every class, until nothing changes. */
static char *refine_plainly(void)
{
    uint64_t now[MAX_VERTICES];

    memcpy(now, colours, sizeof now);
    for (uint32_t round = 0; round < n_vertices; round++) {
        uint64_t next[MAX_VERTICES];
        for (uint32_t i = 0; i < n_vertices; i++)
            next[i] = ccs_mix(now[i]);
        for (guint i = 0; i < pairs->len; i++) {
            const Pair *pair = &g_array_index(pairs, Pair, i);
            next[pair->arc.to] += ccs_mix(ccs_mix(now[pair->from] + 77) ^ pair->arc.label);
        }
        memcpy(now, next, sizeof now);
    }
    GString *text = g_string_new(NULL);
    uint32_t n = 0;
    uint32_t number[MAX_VERTICES];
    for (uint32_t i = 0; i < n_vertices; i++) {
        uint32_t same = 0;
        while (now[same] != now[i])
            same++;
        number[i] = same == i ? n++ : number[same];
        g_string_append_printf(text, "%s%u", i == 0 ? "" : " ", number[i]);
    }
    return g_string_free(text, false);
}

START_TEST(random_graphs_are_split_as_the_definition_says)
{
    g_autoptr(GRand) random = g_rand_new_with_seed((guint32)_i);

    n_vertices = (uint32_t)g_rand_int_range(random, 2, (gint32)MAX_VERTICES);
    uint32_t n_arcs = (uint32_t)g_rand_int_range(random, 0, (gint32)(3 * n_vertices));
    for (uint32_t i = 0; i < n_vertices; i++)
        colours[i] = (uint64_t)g_rand_int_range(random, 0, 3);
    for (uint32_t i = 0; i < n_arcs; i++)
        add_arc((uint32_t)g_rand_int_range(random, 0, (gint32)n_vertices),
                (uint32_t)g_rand_int_range(random, 0, (gint32)n_vertices),
                (uint32_t)g_rand_int_range(random, 0, 2));
    g_autofree char *plainly = refine_plainly();
    expect(plainly);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("refine");
    TCase *tcase = tcase_create("refine");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_ring_is_one_class);
    tcase_add_test(tcase, one_vertex_of_another_colour_tells_all_of_a_ring_apart);
    tcase_add_test(tcase, a_path_is_split_by_the_distance_from_its_start);
    tcase_add_test(tcase, a_tree_is_split_by_level);
    tcase_add_test(tcase, arcs_are_counted_and_not_only_seen);
    tcase_add_test(tcase, labels_tell_apart);
    tcase_add_test(tcase, more_classes_than_asked_for_are_none);
    tcase_add_loop_test(tcase, random_graphs_are_split_as_the_definition_says, 0, 200);
    suite_add_tcase(suite, tcase);
    return suite;
}
