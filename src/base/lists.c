#include "base/lists.h"

#include <glib.h>

CcsLists ccs_lists_new(uint32_t n_owners, uint32_t n_items, CcsOwnerOf *owner_of, const void *data)
{
    CcsLists lists = {g_new0(uint32_t, (size_t)n_owners + 2), g_new(uint32_t, (size_t)n_items + 1)};

    for (uint32_t i = 0; i < n_items; i++) {
        uint32_t owner = owner_of(data, i);
        if (owner != CCS_NO_OWNER)
            lists.first[owner + 2]++;
    }
    for (uint32_t i = 2; i < n_owners + 2; i++)
        lists.first[i] += lists.first[i - 1];
    for (uint32_t i = 0; i < n_items; i++) {
        uint32_t owner = owner_of(data, i);
        if (owner != CCS_NO_OWNER)
            lists.items[lists.first[owner + 1]++] = i;
    }
    return lists;
}

void ccs_lists_clear(CcsLists *lists)
{
    g_free(lists->first);
    g_free(lists->items);
    *lists = (CcsLists){NULL, NULL};
}
