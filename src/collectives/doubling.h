/* doubling.h - ranks in pairs whose positions differ in one bit, one bit after the other
 *
 * There are 2^h positions, as many as the ranks fill. Where n is no power of two, the first
 * n - 2^h positions stand for two ranks each: one of the two is folded, that is it hands over
 * what it has to the other before the first round, and gets the result from it after the last.
 *
 * Boxes hold the chunks that belong to some positions: chunk c belongs to position c modulo
 * 2^h, so that those of all positions which are equal in the low bits lie a stride apart. */
#pragma once

#include <glib.h>

#include "collectives/rounds.h"

typedef struct {
    CcsRounds rounds;
    const CcsRank *order; /* not owned */
    uint32_t n_ranks;
    uint32_t n_positions; /* 2^h */
    uint32_t n_bits;      /* h */
    uint32_t n_chunks;    /* of the schedule */
} CcsDoubling;

/* The largest power of two that is not above @n, as a number of bits. */
uint32_t ccs_doubling_bits(uint32_t n);

CcsRank ccs_doubling_rank(const CcsDoubling *doubling, uint32_t position);
CcsRank ccs_doubling_folded(const CcsDoubling *doubling, uint32_t position); /* or CCS_NO_RANK */

/* The chunks of all positions that are equal to @position modulo @modulus. */
CcsBox ccs_doubling_box(const CcsDoubling *doubling, uint32_t position, uint32_t modulus);

/* A message with the same box at both ends, in the output. */
void ccs_doubling_send(CcsDoubling *doubling, CcsRank source, CcsRank peer, CcsBox box,
                       bool is_reduced);

/* Every folded rank hands over all chunks, which are added up; or gets them all back. */
void ccs_doubling_fold(CcsDoubling *doubling);
void ccs_doubling_unfold(CcsDoubling *doubling);

/* ccs_doubling_halve:
 * A reduce-scatter in h rounds. In each, a rank gives its partner the half of its chunks that
 * belongs to the partner's bit. Low bits come first, so that the near partner gets the
 * largest message. */
void ccs_doubling_halve(CcsDoubling *doubling);

/* The same backwards: an all-gather, in which the near partner comes last. */
void ccs_doubling_double(CcsDoubling *doubling);

/* One part of an algorithm, and what its phase is called. */
typedef struct {
    const char *phase;
    void (*add)(CcsDoubling *doubling);
} CcsDoublingPart;

typedef CcsRank *CcsOrderOf(const CcsSchedule *schedule, uint32_t channel);

/* ccs_doubling_build:
 * Adds the parts to each channel, a phase for each, on the ranks in the order that @order_of gives
 * (transfer full), after the number of chunks has been set. The folded rank of position p is that
 * after the one which takes part. @has_blocks: the collective speaks of n blocks; chunk p is that
 * of the rank at position p, chunk 2^h + p that of the rank folded there. */
void ccs_doubling_build(CcsSchedule *schedule, CcsOrderOf *order_of, bool has_blocks,
                        const CcsDoublingPart *parts, uint32_t n_parts);
