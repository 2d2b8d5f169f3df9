#include "engine/queue.h"

#define N_BUCKETS   64
#define LEAST_SPACE 16U

typedef struct {
    CcsEventRecord *events;
    uint32_t n;
    uint32_t n_max;
} Bucket;

/* Bucket 0 holds the events of time `now`, from `head` on; bucket i > 0 those whose time
 * differs from `now` in bit i - 1 and in no higher one. */
struct CcsQueue {
    CcsTime now;
    CcsTime next; /* of the earliest event; valid if is_next_known */
    bool is_next_known;
    uint32_t head;
    uint64_t filled; /* bit i: bucket i is not empty */
    GRand *shuffle;  /* NULL: in the order in which they were put in */
    Bucket buckets[N_BUCKETS];
};

CcsQueue *ccs_queue_new(void)
{
    return g_new0(CcsQueue, 1);
}

void ccs_queue_free(CcsQueue *queue)
{
    if (queue == NULL)
        return;
    for (int i = 0; i < N_BUCKETS; i++)
        g_free(queue->buckets[i].events);
    g_clear_pointer(&queue->shuffle, g_rand_free);
    g_free(queue);
}

void ccs_queue_clear(CcsQueue *queue)
{
    for (int i = 0; i < N_BUCKETS; i++)
        queue->buckets[i].n = 0;
    queue->now = 0;
    queue->head = 0;
    queue->filled = 0;
    queue->is_next_known = false;
}

void ccs_queue_shuffle(CcsQueue *queue, uint32_t seed)
{
    g_clear_pointer(&queue->shuffle, g_rand_free);
    queue->shuffle = g_rand_new_with_seed(seed);
}

static void put(CcsQueue *queue, const CcsEventRecord *event)
{
    uint64_t difference = (uint64_t)(event->time ^ queue->now);
    int number = difference == 0 ? 0 : 64 - __builtin_clzll(difference);
    Bucket *bucket = &queue->buckets[number];

    if (bucket->n == bucket->n_max) {
        bucket->n_max = MAX(LEAST_SPACE, bucket->n_max * 2);
        bucket->events = g_renew(CcsEventRecord, bucket->events, bucket->n_max);
    }
    bucket->events[bucket->n++] = *event;
    queue->filled |= (uint64_t)1 << number;
}

void ccs_queue_push(CcsQueue *queue, const CcsEventRecord *event)
{
    g_assert(event->time >= queue->now && event->time <= CCS_TIME_MAX);
    put(queue, event);
    if (queue->is_next_known)
        queue->next = MIN(queue->next, event->time);
}

CcsTime ccs_queue_next_time(CcsQueue *queue)
{
    if (queue->filled == 0)
        return CCS_TIME_MAX;
    if ((queue->filled & 1) != 0)
        return queue->now;
    if (!queue->is_next_known) {
        const Bucket *lowest = &queue->buckets[__builtin_ctzll(queue->filled)];
        queue->next = CCS_TIME_MAX;
        for (uint32_t i = 0; i < lowest->n; i++)
            queue->next = MIN(queue->next, lowest->events[i].time);
        queue->is_next_known = true;
    }
    return queue->next;
}

/* Moves to the time of the earliest event and spreads its bucket over the lower ones. Buckets
 * above keep their place, and order is kept, so events of one time stay together in order. */
static bool refill(CcsQueue *queue)
{
    if ((queue->filled & 1) != 0)
        return true;
    if (queue->filled == 0)
        return false;

    CcsTime next = ccs_queue_next_time(queue);
    int number = __builtin_ctzll(queue->filled);
    Bucket *lowest = &queue->buckets[number];
    queue->now = next;
    queue->is_next_known = false;
    queue->filled &= ~((uint64_t)1 << number);
    for (uint32_t i = 0; i < lowest->n; i++)
        put(queue, &lowest->events[i]);
    lowest->n = 0;
    return true;
}

/* Any of the events that are due comes first. */
static void choose_first(CcsQueue *queue)
{
    Bucket *due = &queue->buckets[0];
    uint32_t n = due->n - queue->head;
    uint32_t chosen = queue->head + (uint32_t)(g_rand_int(queue->shuffle) % n);
    CcsEventRecord first = due->events[chosen];

    due->events[chosen] = due->events[queue->head];
    due->events[queue->head] = first;
}

bool ccs_queue_pop(CcsQueue *queue, CcsEventRecord *ret_event)
{
    Bucket *due = &queue->buckets[0];

    if (!refill(queue))
        return false;
    if (queue->shuffle != NULL)
        choose_first(queue);
    *ret_event = due->events[queue->head++];
    if (queue->head == due->n) {
        due->n = 0;
        queue->head = 0;
        queue->filled &= ~(uint64_t)1;
    }
    return true;
}
