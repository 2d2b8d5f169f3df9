#include "engine/queue.h"

#define N_BUCKETS 64

/* Bucket 0 holds the events of time `now`, from `head` on; bucket i > 0 those whose time
 * differs from `now` in bit i - 1 and in no higher one. */
struct CcsQueue {
    CcsTime now;
    CcsTime next; /* of the earliest event; valid if is_next_known */
    bool is_next_known;
    guint head;
    uint64_t filled; /* bit i: bucket i is not empty */
    GArray *buckets[N_BUCKETS];
};

CcsQueue *ccs_queue_new(void)
{
    CcsQueue *queue = g_new0(CcsQueue, 1);

    for (int i = 0; i < N_BUCKETS; i++)
        queue->buckets[i] = g_array_new(false, false, sizeof(CcsEventRecord));
    return queue;
}

void ccs_queue_free(CcsQueue *queue)
{
    if (queue == NULL)
        return;
    for (int i = 0; i < N_BUCKETS; i++)
        g_array_unref(queue->buckets[i]);
    g_free(queue);
}

void ccs_queue_clear(CcsQueue *queue)
{
    for (int i = 0; i < N_BUCKETS; i++)
        g_array_set_size(queue->buckets[i], 0);
    queue->now = 0;
    queue->head = 0;
    queue->filled = 0;
    queue->is_next_known = false;
}

static void put(CcsQueue *queue, const CcsEventRecord *event)
{
    uint64_t difference = (uint64_t)(event->time ^ queue->now);
    int bucket = difference == 0 ? 0 : 64 - __builtin_clzll(difference);

    g_array_append_vals(queue->buckets[bucket], event, 1);
    queue->filled |= (uint64_t)1 << bucket;
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
        const GArray *lowest = queue->buckets[__builtin_ctzll(queue->filled)];
        queue->next = CCS_TIME_MAX;
        for (guint i = 0; i < lowest->len; i++)
            queue->next = MIN(queue->next, g_array_index(lowest, CcsEventRecord, i).time);
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
    int lowest = __builtin_ctzll(queue->filled);
    GArray *bucket = queue->buckets[lowest];
    const CcsEventRecord *events = (const CcsEventRecord *)(const void *)bucket->data;
    queue->now = next;
    queue->is_next_known = false;
    queue->filled &= ~((uint64_t)1 << lowest);
    for (guint i = 0; i < bucket->len; i++)
        put(queue, &events[i]);
    g_array_set_size(bucket, 0);
    return true;
}

bool ccs_queue_pop(CcsQueue *queue, CcsEventRecord *ret_event)
{
    if (!refill(queue))
        return false;
    GArray *due = queue->buckets[0];
    *ret_event = g_array_index(due, CcsEventRecord, queue->head++);
    if (queue->head == due->len) {
        g_array_set_size(due, 0);
        queue->head = 0;
        queue->filled &= ~(uint64_t)1;
    }
    return true;
}
