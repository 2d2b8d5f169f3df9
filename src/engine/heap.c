#include "engine/heap.h"

#define OUTSIDE UINT32_MAX

typedef struct {
    CcsTime time;
    uint32_t number;
} Item;

struct CcsHeap {
    Item *items;
    uint32_t n_items;
    uint32_t *places; /* by number */
};

CcsHeap *ccs_heap_new(uint32_t n)
{
    CcsHeap *heap = g_new0(CcsHeap, 1);

    heap->items = g_new(Item, (size_t)n + 1);
    heap->places = g_new(uint32_t, (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++)
        heap->places[i] = OUTSIDE;
    return heap;
}

void ccs_heap_free(CcsHeap *heap)
{
    if (heap == NULL)
        return;
    g_free(heap->items);
    g_free(heap->places);
    g_free(heap);
}

bool ccs_heap_is_empty(const CcsHeap *heap)
{
    return heap->n_items == 0;
}

static void put(CcsHeap *heap, uint32_t place, Item item)
{
    heap->items[place] = item;
    heap->places[item.number] = place;
}

static void rise(CcsHeap *heap, uint32_t place, Item item)
{
    while (place > 0 && item.time < heap->items[(place - 1) / 2].time) {
        put(heap, place, heap->items[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(heap, place, item);
}

static void sink(CcsHeap *heap, uint32_t place, Item item)
{
    for (uint32_t child = 2 * place + 1; child < heap->n_items; child = 2 * place + 1) {
        if (child + 1 < heap->n_items && heap->items[child + 1].time < heap->items[child].time)
            child++;
        if (heap->items[child].time >= item.time)
            break;
        put(heap, place, heap->items[child]);
        place = child;
    }
    put(heap, place, item);
}

void ccs_heap_set(CcsHeap *heap, uint32_t number, CcsTime time)
{
    uint32_t place = heap->places[number];
    Item item = {time, number};

    if (place == OUTSIDE)
        rise(heap, heap->n_items++, item);
    else if (time < heap->items[place].time)
        rise(heap, place, item);
    else
        sink(heap, place, item);
}

CcsTime ccs_heap_least(const CcsHeap *heap)
{
    return heap->items[0].time;
}

uint32_t ccs_heap_take(CcsHeap *heap)
{
    uint32_t number = heap->items[0].number;
    Item last = heap->items[--heap->n_items];

    heap->places[number] = OUTSIDE;
    if (heap->n_items > 0)
        sink(heap, 0, last);
    return number;
}
