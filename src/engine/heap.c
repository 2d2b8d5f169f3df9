#include "engine/heap.h"

#define N_BUCKETS   64
#define LEAST_SPACE 16U
#define OUTSIDE     ((CcsTime)-1)

typedef struct {
    CcsTime time;
    uint32_t number;
} Item;

typedef struct {
    Item *items;
    uint32_t n;
    uint32_t n_max;
} Bucket;

/* Bucket 0 holds the items of time `now`, from `head` on; bucket i > 0 those whose time differs
 * from `now` in bit i - 1 and in no higher one. When a number's time is changed, the item with
 * the old one stays behind: it is stale, and dropped when its bucket is next looked at. */
struct CcsHeap {
    CcsTime *times; /* by number; OUTSIDE if it is not in the heap */
    uint32_t n_in;
    uint32_t n_items; /* with stale ones */
    CcsTime now;
    CcsTime least;
    bool is_least_known;
    uint32_t head;
    uint64_t filled; /* bit i: bucket i is not empty */
    Bucket buckets[N_BUCKETS];
};

CcsHeap *ccs_heap_new(uint32_t n)
{
    CcsHeap *heap = g_new0(CcsHeap, 1);

    heap->times = g_new(CcsTime, (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++)
        heap->times[i] = OUTSIDE;
    return heap;
}

void ccs_heap_free(CcsHeap *heap)
{
    if (heap == NULL)
        return;
    for (uint32_t i = 0; i < N_BUCKETS; i++)
        g_free(heap->buckets[i].items);
    g_free(heap->times);
    g_free(heap);
}

bool ccs_heap_is_empty(const CcsHeap *heap)
{
    return heap->n_in == 0;
}

static bool is_stale(const CcsHeap *heap, const Item *item)
{
    return heap->times[item->number] != item->time;
}

static void put(CcsHeap *heap, Item item)
{
    uint64_t difference = (uint64_t)(item.time ^ heap->now);
    int number = difference == 0 ? 0 : 64 - __builtin_clzll(difference);
    Bucket *bucket = &heap->buckets[number];

    if (bucket->n == bucket->n_max) {
        bucket->n_max = MAX(LEAST_SPACE, bucket->n_max * 2);
        bucket->items = g_renew(Item, bucket->items, bucket->n_max);
    }
    bucket->items[bucket->n++] = item;
    heap->filled |= (uint64_t)1 << number;
}

/* Drops the stale items of a bucket. */
static void clean(CcsHeap *heap, uint32_t number)
{
    Bucket *bucket = &heap->buckets[number];
    uint32_t first = number == 0 ? heap->head : 0;
    uint32_t n_kept = 0;

    for (uint32_t i = first; i < bucket->n; i++) {
        if (!is_stale(heap, &bucket->items[i]))
            bucket->items[n_kept++] = bucket->items[i];
    }
    heap->n_items -= bucket->n - first - n_kept;
    bucket->n = n_kept;
    if (number == 0)
        heap->head = 0;
    if (n_kept == 0)
        heap->filled &= ~((uint64_t)1 << number);
}

/* Keeps memory in proportion to the numbers, at a constant cost per change. */
static void clean_all(CcsHeap *heap)
{
    for (uint32_t number = 0; number < N_BUCKETS; number++)
        clean(heap, number);
}

void ccs_heap_set(CcsHeap *heap, uint32_t number, CcsTime time)
{
    CcsTime before = heap->times[number];

    g_assert(time >= heap->now);
    if (time == before)
        return;
    heap->n_in += before == OUTSIDE ? 1 : 0;
    heap->times[number] = time;
    put(heap, (Item){time, number});
    if (++heap->n_items > 4 * heap->n_in + 1024)
        clean_all(heap);
    if (heap->is_least_known && time <= heap->least)
        heap->least = time;
    else if (before == heap->least)
        heap->is_least_known = false;
}

/* The earliest item is in the lowest bucket. */
CcsTime ccs_heap_least(CcsHeap *heap)
{
    while (!heap->is_least_known) {
        uint32_t lowest = (uint32_t)__builtin_ctzll(heap->filled);
        const Bucket *bucket = &heap->buckets[lowest];
        clean(heap, lowest);
        if (bucket->n == 0)
            continue;
        heap->least = CCS_TIME_MAX;
        for (uint32_t i = 0; i < bucket->n; i++)
            heap->least = MIN(heap->least, bucket->items[i].time);
        heap->is_least_known = true;
    }
    return heap->least;
}

/* Moves to the least time and spreads its bucket over the lower ones; buckets above keep their
 * place. */
static void advance(CcsHeap *heap)
{
    CcsTime least = ccs_heap_least(heap);
    uint32_t lowest = (uint32_t)__builtin_ctzll(heap->filled);
    Bucket *bucket = &heap->buckets[lowest];

    if (lowest == 0)
        return;
    heap->now = least;
    heap->filled &= ~((uint64_t)1 << lowest);
    for (uint32_t i = 0; i < bucket->n; i++) {
        if (is_stale(heap, &bucket->items[i]))
            heap->n_items--;
        else
            put(heap, bucket->items[i]);
    }
    bucket->n = 0;
}

/* Takes the next item of bucket 0 out. */
static Item take_due(CcsHeap *heap)
{
    Bucket *due = &heap->buckets[0];
    Item item = due->items[heap->head++];

    heap->n_items--;
    if (heap->head == due->n) {
        due->n = 0;
        heap->head = 0;
        heap->filled &= ~(uint64_t)1;
    }
    return item;
}

uint32_t ccs_heap_take(CcsHeap *heap)
{
    advance(heap);
    Item item = take_due(heap);
    while (is_stale(heap, &item))
        item = take_due(heap);
    heap->times[item.number] = OUTSIDE;
    heap->n_in--;
    while ((heap->filled & 1) != 0 && is_stale(heap, &heap->buckets[0].items[heap->head]))
        take_due(heap);
    heap->is_least_known = (heap->filled & 1) != 0;
    return item.number;
}
