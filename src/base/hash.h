/* hash.h - numbers that tell things apart
 *
 * GLib's own hashes take the halves of a 64-bit number together, or only the lower one, so that
 * keys such as (rank, peer) meet again and again, and a table becomes a list. */
#pragma once

#include <stdint.h>

#include <glib.h>

/* ccs_mix:
 * One step of SplitMix64 (Steele, Lea and Flood 2014): a one-to-one map in which every bit of
 * the result depends on every bit of @x. For x, x + CCS_MIX_STEP, x + 2 CCS_MIX_STEP, ... it gives
 * the random numbers of that generator. */
#define CCS_MIX_STEP 0x9e3779b97f4a7c15U

static inline uint64_t ccs_mix(uint64_t x)
{
    x += CCS_MIX_STEP;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return x ^ x >> 31;
}

/* ccs_spread: Knuth's multiplicative hash, for tables: the upper bits of the product depend on all
 * of @number. */
static inline uint32_t ccs_spread(uint64_t number)
{
    return (uint32_t)(number * 0x9e3779b97f4a7c15U >> 32);
}

/* For keys that point to a 64-bit number, beside g_int64_equal(). */
guint ccs_int64_hash(gconstpointer key);

/* For keys that are the number, with NULL for the comparison. */
guint ccs_word_hash(gconstpointer key);
