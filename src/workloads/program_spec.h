/* program_spec.h - what a file says of a program per rank, as it is decoded */
#pragma once

#include <glib.h>

#include "config/field.h"

/* A set of ranks: "all", "0-7", "0-6/2", or a list of such. */
typedef struct {
    const char *text; /* NULL: `list` says it */
    CcsList list;     /* of const char * */
} CcsRanksSpec;

typedef struct {
    const char *name;
    CcsRanksSpec ranks;
} CcsSubcommunicatorSpec;

/* A send, recv, isend or irecv. */
typedef struct {
    const char *peer; /* a rank, or "rank + 1 mod n" */
    CcsBytes size;
    uint32_t tag;
    const char *communicator;
    const char *stream;  /* NULL: that of the group, or "main" */
    const char *request; /* NULL: nobody waits for it */
} CcsTransferSpec;

typedef struct {
    CcsTime time;
    const char *stream;
} CcsComputeSpec;

typedef struct {
    CcsList requests; /* of const char * */
    const char *stream;
} CcsWaitSpec;

typedef struct {
    const char *stream;
} CcsGroupSpec;

/* One call: exactly one member is set, `compute` and `wait` in one of two forms. */
typedef struct {
    CcsTransferSpec *send;
    CcsTransferSpec *recv;
    CcsTransferSpec *isend;
    CcsTransferSpec *irecv;
    CcsTime compute_time;
    CcsComputeSpec *compute;
    const char *wait_request;
    CcsWaitSpec *wait;
    CcsGroupSpec *group_start;
    CcsGroupSpec *group_end;
} CcsCallSpec;

typedef struct {
    CcsRanksSpec ranks;
    CcsList calls; /* of CcsCallSpec */
} CcsRankProgramSpec;

typedef struct {
    const char *title;
    const char *description;
    CcsBytes eager_threshold;
    CcsList communicators; /* of CcsSubcommunicatorSpec */
    CcsList programs;      /* of CcsRankProgramSpec */
} CcsProgramSpec;

extern const CcsFieldTable ccs_program_table;
