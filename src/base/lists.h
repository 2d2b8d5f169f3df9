/* lists.h - numbers sorted into lists by their owner */
#pragma once

#include <stdint.h>

/* The list of owner i is items[first[i]] ... items[first[i + 1] - 1], in ascending order. */
typedef struct {
    uint32_t *first;
    uint32_t *items;
} CcsLists;

#define CCS_NO_OWNER UINT32_MAX /* of an item that is left out */

typedef uint32_t CcsOwnerOf(const void *data, uint32_t item);

/* ccs_lists_new: puts each of the items 0 ... @n_items - 1 into the list of its owner, which is
 * below @n_owners, or CCS_NO_OWNER. */
CcsLists ccs_lists_new(uint32_t n_owners, uint32_t n_items, CcsOwnerOf *owner_of, const void *data);
void ccs_lists_clear(CcsLists *lists);
