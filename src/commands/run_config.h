/* run_config.h - a config: which collectives to simulate on which machine, and what to say */
#pragma once

#include <glib.h>

#include "config/config.h"
#include "config/field.h"

/* Sizes from one to another by a factor. */
typedef struct {
    CcsBytes from;
    CcsBytes to;
    uint32_t factor;
} CcsSizeRangeSpec;

/* A time that people quote for the case, to be shown beside the simulation:
 * latency + factor size / bandwidth. */
typedef struct {
    const char *label;
    const char *algorithm; /* it speaks of; NULL: all */
    uint64_t factor;       /* millionths */
    CcsRate bandwidth;
    CcsTime latency;
} CcsEstimateSpec;

typedef struct {
    const char *title;
    const char *note;     /* shown below the results */
    const char *topology; /* NULL: that of the config */
    CcsList overrides;    /* of const char *: further ones */
    const char *collective;
    CcsList algorithms; /* of const char *; none: auto */
    CcsList sizes;      /* of CcsBytes */
    CcsSizeRangeSpec *size_range;
    CcsList channels; /* of uint32_t; none: as the transport chooses */
    CcsList chunks;   /* of uint32_t; none: the default */
    uint32_t root;
    uint32_t distance;  /* of sendrecv */
    uint64_t skew;      /* of alltoallv, in millionths; 0: not said */
    const char *matrix; /* of alltoallv, a file; NULL: none */
    const char *op;
    const char *type;
    CcsList estimates; /* of CcsEstimateSpec */
} CcsCaseSpec;

typedef struct {
    const char *title;
    const char *description;
    const char *topology;
    uint32_t n_nodes;
    uint32_t n_ranks;
    uint32_t ranks_per_node;
    CcsList overrides;     /* of const char *: "PATH=VALUE" */
    const char *transport; /* file or name */
    const char *model;
    CcsList cases; /* of CcsCaseSpec */
} CcsRunConfig;

extern const CcsFieldTable ccs_run_config_table;
