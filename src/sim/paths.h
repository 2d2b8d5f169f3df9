/* paths.h - the links that each message of a schedule takes
 *
 * Routes of lanes with a fixed peer are looked up once; those of other lanes when the first
 * message to a peer needs one, and kept, up to a million of them. Further ones are looked up
 * each time, so that memory does not grow with the square of the ranks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "collectives/schedule.h"

typedef struct {
    const CcsLinkId *links; /* in order of travel */
    uint32_t n_links;
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
 * Returns: NULL with CCS_ERROR_INPUT if there is none; else valid until the next call, and its
 * links until the next call for @lane. */
const CcsRoute *ccs_paths_route(CcsPaths *paths, CcsLaneId lane, uint32_t message, GError **error);
