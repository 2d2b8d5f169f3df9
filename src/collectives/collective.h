/* collective.h - the collectives, their data types, and how nccl-tests counts them */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/units.h"

typedef enum {
    CCS_ALLREDUCE,
    CCS_ALLGATHER,
    CCS_REDUCESCATTER,
    CCS_ALLTOALL,
    CCS_ALLTOALLV,
    CCS_BROADCAST,
    CCS_REDUCE,
    CCS_GATHER,
    CCS_SCATTER,
    CCS_SENDRECV,
    CCS_BARRIER,
    CCS_N_COLLECTIVES,
    CCS_PROGRAM = CCS_N_COLLECTIVES, /* no collective: what a program per rank does */
} CcsCollective;

/* What nccl-tests multiplies algbw by (its doc/PERFORMANCE.md). */
typedef enum {
    CCS_BUSBW_SAME,       /* 1 */
    CCS_BUSBW_OTHERS,     /* (n - 1) / n */
    CCS_BUSBW_TWO_OTHERS, /* 2 (n - 1) / n */
} CcsBusbwFactor;

typedef struct {
    const char *name;    /* as in NCCL, in lower case */
    const char *summary; /* what it does */
    CcsBusbwFactor factor;
    bool has_op;
    bool has_root;
    bool is_without_data;          /* no size changes anything: it is always 0 */
    bool is_count_per_rank;        /* the count column is elements per rank, the size all of them */
    const char *default_algorithm; /* under the ideal transport */
} CcsCollectiveInfo;

const CcsCollectiveInfo *ccs_collective_info(CcsCollective collective);

/* ccs_collective_parse:
 * "allreduce"; "all_reduce", "all-reduce" and other case mean the same.
 *
 * Returns: false with CCS_ERROR_USAGE and a hint. */
bool ccs_collective_parse(const char *name, CcsCollective *ret_collective, GError **error);

/* busbw / algbw; 0 where one rank has nobody to talk to. */
double ccs_collective_busbw_factor(CcsCollective collective, uint32_t n_ranks);

/* The data types and reduction operations of NCCL, by their nccl-tests names. */
typedef struct {
    const char *name;
    uint32_t bytes;
} CcsDataType;

const CcsDataType *ccs_data_type_find(const char *name, GError **error); /* CCS_ERROR_USAGE */
const char *ccs_reduction_find(const char *name, GError **error);        /* CCS_ERROR_USAGE */

/* The count column: whole elements in @size, per rank where the collective says so. */
uint64_t ccs_collective_count(CcsCollective collective, CcsBytes size, uint32_t n_ranks,
                              const CcsDataType *type);
