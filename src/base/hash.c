#include "base/hash.h"

guint ccs_int64_hash(gconstpointer key)
{
    return ccs_spread((uint64_t)(*(const gint64 *)key));
}

guint ccs_word_hash(gconstpointer key)
{
    return ccs_spread((uint64_t)(uintptr_t)key);
}
