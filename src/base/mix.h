/* mix.h - numbers that tell things apart */
#pragma once

#include <stdint.h>

/* ccs_mix:
 * One step of SplitMix64 (Steele, Lea and Flood 2014): a one-to-one map in which every bit of
 * the result depends on every bit of @x. */
static inline uint64_t ccs_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return x ^ x >> 31;
}
