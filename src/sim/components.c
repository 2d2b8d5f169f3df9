#include "sim/components.h"

#include <stdbool.h>

#define NOT_SEEN 0U

typedef struct {
    const CcsArcGraph *graph;
    uint32_t *number; /* by vertex: when it was first seen, from 1 */
    uint32_t *low;    /* by vertex: the least number that it is known to reach on the stack */
    uint32_t *next;   /* by vertex: its first arc that was not followed yet */
    uint32_t *of;     /* by vertex: its component from the last one, once that is complete */
    bool *is_on_stack;
    GArray *stack; /* of uint32_t: vertices whose component is not complete */
    GArray *path;  /* of uint32_t: vertices whose arcs are being followed */
    uint32_t n_seen;
    uint32_t n_components;
} Search;

static void enter(Search *search, uint32_t vertex)
{
    search->number[vertex] = ++search->n_seen;
    search->low[vertex] = search->number[vertex];
    search->next[vertex] = search->graph->first[vertex];
    search->is_on_stack[vertex] = true;
    g_array_append_val(search->stack, vertex);
    g_array_append_val(search->path, vertex);
}

/* Everything on the stack from @vertex on is one component. */
static void complete(Search *search, uint32_t vertex)
{
    uint32_t member = UINT32_MAX;

    while (member != vertex) {
        member = g_array_index(search->stack, uint32_t, search->stack->len - 1);
        g_array_set_size(search->stack, search->stack->len - 1);
        search->is_on_stack[member] = false;
        search->of[member] = search->n_components;
    }
    search->n_components++;
}

/* Follows one arc of the last vertex of the path, or leaves that vertex. */
static void step(Search *search)
{
    uint32_t vertex = g_array_index(search->path, uint32_t, search->path->len - 1);

    if (search->next[vertex] < search->graph->first[vertex + 1]) {
        uint32_t to = search->graph->arcs[search->next[vertex]++].to;
        if (search->number[to] == NOT_SEEN)
            enter(search, to);
        else if (search->is_on_stack[to])
            search->low[vertex] = MIN(search->low[vertex], search->number[to]);
        return;
    }
    g_array_set_size(search->path, search->path->len - 1);
    if (search->low[vertex] == search->number[vertex])
        complete(search, vertex);
    if (search->path->len == 0)
        return;
    uint32_t before = g_array_index(search->path, uint32_t, search->path->len - 1);
    search->low[before] = MIN(search->low[before], search->low[vertex]);
}

/* The last component is complete first, so the numbers are turned round. */
static CcsComponents *collect(const Search *search)
{
    CcsComponents *components = g_new0(CcsComponents, 1);
    uint32_t n_vertices = search->graph->n_vertices;

    components->n = search->n_components;
    components->of = g_new(uint32_t, n_vertices + 1);
    components->first = g_new0(uint32_t, components->n + 2);
    components->members = g_new(uint32_t, n_vertices + 1);
    for (uint32_t vertex = 0; vertex < n_vertices; vertex++) {
        components->of[vertex] = components->n - 1 - search->of[vertex];
        components->first[components->of[vertex] + 2]++;
    }
    for (uint32_t i = 2; i < components->n + 2; i++)
        components->first[i] += components->first[i - 1];
    for (uint32_t vertex = 0; vertex < n_vertices; vertex++)
        components->members[components->first[components->of[vertex] + 1]++] = vertex;
    return components;
}

CcsComponents *ccs_components_find(const CcsArcGraph *graph)
{
    uint32_t n = graph->n_vertices + 1;
    g_autofree uint32_t *number = g_new0(uint32_t, n);
    g_autofree uint32_t *low = g_new(uint32_t, n);
    g_autofree uint32_t *next = g_new(uint32_t, n);
    g_autofree uint32_t *of = g_new(uint32_t, n);
    g_autofree bool *is_on_stack = g_new0(bool, n);
    g_autoptr(GArray) stack = g_array_new(false, false, sizeof(uint32_t));
    g_autoptr(GArray) path = g_array_new(false, false, sizeof(uint32_t));
    Search search = {.graph = graph,
                     .number = number,
                     .low = low,
                     .next = next,
                     .of = of,
                     .is_on_stack = is_on_stack,
                     .stack = stack,
                     .path = path};

    for (uint32_t vertex = 0; vertex < graph->n_vertices; vertex++) {
        if (number[vertex] == NOT_SEEN)
            enter(&search, vertex);
        while (path->len > 0)
            step(&search);
    }
    return collect(&search);
}

void ccs_components_free(CcsComponents *components)
{
    if (components == NULL)
        return;
    g_free(components->first);
    g_free(components->members);
    g_free(components->of);
    g_free(components);
}
