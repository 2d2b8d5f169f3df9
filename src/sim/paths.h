/* paths.h - the links that each message of a schedule takes
 *
 * Routes of lanes with a fixed peer are looked up once; those of other lanes when the first
 * message to a peer needs one, and kept. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "collectives/schedule.h"

typedef struct {
    uint32_t first; /* index of its first link; see ccs_paths_links() */
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
 * Returns: NULL with CCS_ERROR_INPUT if there is none; else valid until the next call. */
const CcsRoute *ccs_paths_route(CcsPaths *paths, CcsLaneId lane, uint32_t message, GError **error);

/* The links of @route in order of travel. They stay where they are as long as @paths does. */
const CcsLinkId *ccs_paths_links(const CcsPaths *paths, const CcsRoute *route);
