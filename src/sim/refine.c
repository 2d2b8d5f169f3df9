#include "sim/refine.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"

/* The members of a class are order[first] ... order[first + n - 1]; those that the splitter at
 * hand has an arc to are moved to its front. */
typedef struct {
    uint32_t first;
    uint32_t n;
    uint32_t n_touched;
    bool is_waiting; /* to be used as a splitter */
} Class;

typedef struct {
    const CcsArcGraph *graph;
    uint32_t *order; /* vertices, class by class */
    uint32_t *place; /* by vertex: where it is in order */
    uint32_t *class_of;
    uint64_t *sums; /* by vertex: of the labels of the arcs from the splitter; 0: none */
    GArray *classes;
    GArray *waiting;         /* of uint32_t: classes to be used as splitters */
    GArray *touched;         /* of uint32_t: vertices with a sum */
    GArray *touched_classes; /* of uint32_t */
} Refinement;

static Class *class_at(const Refinement *refinement, uint32_t id)
{
    return &g_array_index(refinement->classes, Class, id);
}

static uint32_t add_class(Refinement *refinement, uint32_t first, uint32_t n)
{
    g_array_append_vals(refinement->classes, &(Class){.first = first, .n = n}, 1);
    for (uint32_t i = first; i < first + n; i++)
        refinement->class_of[refinement->order[i]] = refinement->classes->len - 1;
    return refinement->classes->len - 1;
}

static void wait_as_splitter(Refinement *refinement, uint32_t id)
{
    if (class_at(refinement, id)->is_waiting)
        return;
    class_at(refinement, id)->is_waiting = true;
    g_array_append_val(refinement->waiting, id);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_colours(const void *a, const void *b, void *data)
{
    const uint64_t *colours = data;
    uint32_t first = *(const uint32_t *)a;
    uint32_t second = *(const uint32_t *)b;
    int order = compare_numbers(colours[first], colours[second]);

    return order != 0 ? order : compare_numbers(first, second);
}

/* Sorts order[first] ... by @numbers, then by vertex. */
static void sort_part(Refinement *refinement, uint32_t first, uint32_t n, const uint64_t *numbers)
{
    union {
        const uint64_t *in;
        void *out;
    } data = {.in = numbers};

    qsort_r(&refinement->order[first], n, sizeof(uint32_t), compare_colours, data.out);
    for (uint32_t i = first; i < first + n; i++)
        refinement->place[refinement->order[i]] = i;
}

/* Classes of one colour each; all of them are to be used as splitters. */
static void begin(Refinement *refinement)
{
    const CcsArcGraph *graph = refinement->graph;
    uint32_t n = graph->n_vertices;

    for (uint32_t i = 0; i < n; i++)
        refinement->order[i] = i;
    sort_part(refinement, 0, n, graph->colours);
    for (uint32_t first = 0, end = 0; first < n; first = end) {
        uint64_t colour = graph->colours[refinement->order[first]];
        while (end < n && graph->colours[refinement->order[end]] == colour)
            end++;
        wait_as_splitter(refinement, add_class(refinement, first, end - first));
    }
}

/* Moves @vertex to the touched ones at the front of its class. */
static void touch(Refinement *refinement, uint32_t vertex)
{
    uint32_t id = refinement->class_of[vertex];
    Class *of = class_at(refinement, id);
    uint32_t to = of->first + of->n_touched;
    uint32_t from = refinement->place[vertex];
    uint32_t other = refinement->order[to];

    if (of->n_touched++ == 0)
        g_array_append_val(refinement->touched_classes, id);
    g_array_append_val(refinement->touched, vertex);
    refinement->order[to] = vertex;
    refinement->place[vertex] = to;
    refinement->order[from] = other;
    refinement->place[other] = from;
}

/* Sums up for each vertex the arcs that come from the class @id. */
static void add_up_arcs(Refinement *refinement, uint32_t id)
{
    const CcsArcGraph *graph = refinement->graph;
    const Class *of = class_at(refinement, id);
    g_autofree uint32_t *members =
        g_memdup2(&refinement->order[of->first], of->n * sizeof(uint32_t));
    uint32_t n = of->n;

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = graph->first[members[i]]; j < graph->first[members[i] + 1]; j++) {
            uint32_t to = graph->arcs[j].to;
            if (refinement->sums[to] == 0)
                touch(refinement, to);
            refinement->sums[to] += ccs_mix(graph->arcs[j].label);
        }
    }
}

static bool have_one_sum(const Refinement *refinement, uint32_t first, uint32_t n)
{
    for (uint32_t i = first + 1; i < first + n; i++) {
        if (refinement->sums[refinement->order[i]] != refinement->sums[refinement->order[first]])
            return false;
    }
    return true;
}

/* Makes classes of the pieces of one sum each of class @id, the largest of which keeps its
 * number, and needs not be a splitter again unless it was to be one. */
static void split(Refinement *refinement, uint32_t id)
{
    Class whole = *class_at(refinement, id);
    uint32_t n_rest = whole.n - whole.n_touched;
    uint32_t end = whole.first + whole.n_touched;
    Class largest = {.first = end, .n = n_rest};
    uint32_t first_new = refinement->classes->len;

    class_at(refinement, id)->n_touched = 0;
    if (n_rest == 0 && have_one_sum(refinement, whole.first, whole.n))
        return;
    if (!have_one_sum(refinement, whole.first, whole.n_touched))
        sort_part(refinement, whole.first, whole.n_touched, refinement->sums);
    for (uint32_t from = whole.first, to = from; from < end; from = to) {
        uint64_t sum = refinement->sums[refinement->order[from]];
        while (to < end && refinement->sums[refinement->order[to]] == sum)
            to++;
        Class piece = {.first = from, .n = to - from};
        Class smaller = piece.n > largest.n ? largest : piece;
        largest = piece.n > largest.n ? piece : largest;
        if (smaller.n > 0)
            add_class(refinement, smaller.first, smaller.n);
    }
    class_at(refinement, id)->first = largest.first;
    class_at(refinement, id)->n = largest.n;
    for (uint32_t piece = first_new; piece < refinement->classes->len; piece++)
        wait_as_splitter(refinement, piece);
}

/* Splits all classes whose members differ in what comes from class @id. */
static void split_by(Refinement *refinement, uint32_t id)
{
    add_up_arcs(refinement, id);
    for (guint i = 0; i < refinement->touched_classes->len; i++)
        split(refinement, g_array_index(refinement->touched_classes, uint32_t, i));
    for (guint i = 0; i < refinement->touched->len; i++)
        refinement->sums[g_array_index(refinement->touched, uint32_t, i)] = 0;
    g_array_set_size(refinement->touched, 0);
    g_array_set_size(refinement->touched_classes, 0);
}

/* Numbers the classes by their first vertex. */
static uint32_t *number_classes(const Refinement *refinement)
{
    uint32_t n = refinement->graph->n_vertices;
    uint32_t *numbers = g_new(uint32_t, n + 1);
    g_autofree uint32_t *number_of = g_new0(uint32_t, refinement->classes->len + 1);
    uint32_t n_numbered = 0;

    for (uint32_t vertex = 0; vertex < n; vertex++) {
        uint32_t id = refinement->class_of[vertex];
        if (number_of[id] == 0)
            number_of[id] = ++n_numbered;
        numbers[vertex] = number_of[id] - 1;
    }
    return numbers;
}

static void refinement_clear(Refinement *refinement)
{
    g_free(refinement->order);
    g_free(refinement->place);
    g_free(refinement->class_of);
    g_free(refinement->sums);
    g_array_unref(refinement->classes);
    g_array_unref(refinement->waiting);
    g_array_unref(refinement->touched);
    g_array_unref(refinement->touched_classes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Refinement, refinement_clear)

uint32_t *ccs_refine(const CcsArcGraph *graph, uint32_t max_classes, uint32_t *ret_n_classes)
{
    g_auto(Refinement) refinement = {
        .graph = graph,
        .order = g_new(uint32_t, graph->n_vertices + 1),
        .place = g_new(uint32_t, graph->n_vertices + 1),
        .class_of = g_new(uint32_t, graph->n_vertices + 1),
        .sums = g_new0(uint64_t, graph->n_vertices + 1),
        .classes = g_array_new(false, false, sizeof(Class)),
        .waiting = g_array_new(false, false, sizeof(uint32_t)),
        .touched = g_array_new(false, false, sizeof(uint32_t)),
        .touched_classes = g_array_new(false, false, sizeof(uint32_t)),
    };

    begin(&refinement);
    while (refinement.waiting->len > 0 && refinement.classes->len <= max_classes) {
        uint32_t id = g_array_index(refinement.waiting, uint32_t, refinement.waiting->len - 1);
        g_array_set_size(refinement.waiting, refinement.waiting->len - 1);
        class_at(&refinement, id)->is_waiting = false;
        split_by(&refinement, id);
    }
    *ret_n_classes = refinement.classes->len;
    return refinement.classes->len > max_classes ? NULL : number_classes(&refinement);
}
