#include "base/hash.h"

#include <stdint.h>

/* Knuth's multiplicative hash: the upper bits of the product depend on all of the number. */
static guint mix(uint64_t number)
{
    return (guint)(number * 0x9E3779B97F4A7C15U >> 32);
}

guint ccs_int64_hash(gconstpointer key)
{
    return mix((uint64_t)(*(const gint64 *)key));
}

guint ccs_word_hash(gconstpointer key)
{
    return mix((uint64_t)(uintptr_t)key);
}
