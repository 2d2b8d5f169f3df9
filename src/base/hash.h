/* hash.h - hashes of pairs of small numbers that are one 64-bit number
 *
 * GLib's own take the halves together, or only the lower one, so that keys such as (rank, peer)
 * meet again and again, and a table becomes a list. */
#pragma once

#include <glib.h>

/* For keys that point to a 64-bit number, beside g_int64_equal(). */
guint ccs_int64_hash(gconstpointer key);

/* For keys that are the number, with NULL for the comparison. */
guint ccs_word_hash(gconstpointer key);
