/* heap.h - numbers with a time each, the earliest first; a number's time can be changed
 *
 * A monotone radix heap, as in queue.h: a number may not be put in at a time before the one
 * that was last taken. Cost per change: as for an event of the queue. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/units.h"

typedef struct CcsHeap CcsHeap;

/* ccs_heap_new: for numbers 0 ... n - 1, none of which is in it. */
CcsHeap *ccs_heap_new(uint32_t n);
void ccs_heap_free(CcsHeap *heap);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsHeap, ccs_heap_free)

bool ccs_heap_is_empty(const CcsHeap *heap);

/* Puts @number in, or changes its time; @time must be at least that of the last one taken. */
void ccs_heap_set(CcsHeap *heap, uint32_t number, CcsTime time);

/* The least time; the heap must not be empty. */
CcsTime ccs_heap_least(CcsHeap *heap);

/* Takes a number with the least time out. */
uint32_t ccs_heap_take(CcsHeap *heap);
