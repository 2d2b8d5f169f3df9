/* sweep_internal.h - what the files of sweep.h share */
#pragma once

#include <stdbool.h>

#include "base/lists.h"
#include "sim/components.h"
#include "sim/sweep.h"

#define CCS_NOT_REDUCED ((CcsTime)-1)

typedef struct {
    uint32_t n;       /* messages */
    bool is_constant; /* all messages have one size */
    bool keeps_left;
    bool keeps_arrived;
    CcsTime cost;
    CcsTime latency;
    CcsRate rate;
    CcsTime started;      /* of its first message; before the sweep: not before that */
    CcsTime last_left;    /* of its last message */
    CcsTime last_arrived; /* likewise */
    CcsTime reduced;      /* when its latest reduction is done */
    CcsTime moving;       /* sum over its messages */
    CcsTime *left;        /* by message; owned; NULL unless kept */
    CcsTime *arrived;     /* likewise */
} SweepLane;

typedef struct {
    const CcsSchedule *schedule;
    const CcsTopology *topology;
    const CcsTransport *transport;
    CcsPaths *paths;
    const CcsReduction *reduction; /* NULL: lanes stand for themselves */
    CcsBytes size;
    uint32_t n_lanes;
    SweepLane *lanes;
    CcsLists needs; /* by lane: its dependencies */
    CcsComponents *components;
    bool *is_ring; /* by component */
} Sweep;

/* The time that a message's bytes need on its route, and at the receiver; CCS_NOT_REDUCED if
 * nothing is done there. */
CcsTime ccs_sweep_move(const Sweep *sweep, CcsLaneId id, uint32_t message);
CcsTime ccs_sweep_reduce(const Sweep *sweep, CcsLaneId id, uint32_t message);

/* When the last of the messages that message @message of @dependency's lane waits for is done; 0
 * if it waits for none. */
CcsTime ccs_sweep_need(const Sweep *sweep, const CcsDependency *dependency, uint32_t message);

/* ccs_sweep_ring:
 * All messages of a ring of lanes. Returns: false with @error if it was interrupted. */
bool ccs_sweep_ring(Sweep *sweep, const CcsLaneId *members, uint32_t n, GError **error);

/* ccs_sweep_any:
 * All messages of lanes that wait for each other in any way. Returns: false with @ret_reason if
 * they wait in a circle, or with @error. */
bool ccs_sweep_any(Sweep *sweep, const CcsLaneId *members, uint32_t n, char **ret_reason,
                   GError **error);

/* ccs_sweep_total:
 * What it all came to. Returns: NULL with @ret_reason if a link could not have carried that. */
CcsSweep *ccs_sweep_total(const Sweep *sweep, bool shares_links, char **ret_reason);
