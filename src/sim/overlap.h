/* overlap.h - how much of a rank's communication is hidden behind its computation
 *
 * A rank communicates while a message of it is being sent, or one for it is under way; it
 * computes while local work goes on. What happens in both at once is hidden. */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "sim/result.h"

typedef struct {
    CcsBytes bytes_sent;
    CcsBytes bytes_received;
    bool does_something; /* be it a message without bytes that takes no time */
    CcsTime finished;    /* the last of all that it does; 0 if it does nothing */
    CcsTime computing;
    CcsTime sending;
    CcsTime communicating;
    CcsTime hidden;
} CcsOverlap;

typedef struct CcsOverlaps CcsOverlaps;

CcsOverlaps *ccs_overlaps_new(uint32_t n_ranks);
void ccs_overlaps_free(CcsOverlaps *overlaps);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsOverlaps, ccs_overlaps_free)

/* As an observer is told of them. */
void ccs_overlaps_add_message(CcsOverlaps *overlaps, const CcsFlow *flow);
void ccs_overlaps_add_work(CcsOverlaps *overlaps, const CcsFlow *work);

uint32_t ccs_overlaps_n_ranks(const CcsOverlaps *overlaps);

/* The part of all communication of all ranks that is hidden; 0 if there is none. */
double ccs_overlaps_share(CcsOverlaps *overlaps);

CcsOverlap ccs_overlaps_of(CcsOverlaps *overlaps, uint32_t rank);
