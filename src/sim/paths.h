/* paths.h - the links that each message of a schedule takes
 *
 * Routes of lanes with a fixed peer are looked up once; those of other lanes for each message, as
 * memory would grow with the square of the ranks otherwise. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "collectives/schedule.h"

/* How much of the latency of a route is due to one class of links. */
typedef struct {
    CcsTime time; /* above 0 */
    uint32_t link_class;
} CcsClassLatency;

typedef struct {
    const CcsLinkId *links;           /* in order of travel */
    const CcsClassLatency *latencies; /* by class, where there are any */
    uint32_t n_links;
    uint32_t n_latencies;
    CcsTime latency; /* the sum over its links */
} CcsRoute;

typedef struct CcsPaths CcsPaths;

/* ccs_paths_new:
 * Keeps @schedule. Returns: NULL with CCS_ERROR_INPUT if some rank cannot reach its peer. */
CcsPaths *ccs_paths_new(const CcsSchedule *schedule, GError **error);
void ccs_paths_free(CcsPaths *paths);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsPaths, ccs_paths_free)

/* ccs_paths_route:
 * The route of message @message of @lane; no links for a local lane.
 *
 * Returns: NULL with CCS_ERROR_INPUT if there is none; else valid, with what it points to, until
 * the next but one message of @lane is looked up. */
const CcsRoute *ccs_paths_route(CcsPaths *paths, CcsLaneId lane, uint32_t message, GError **error);
