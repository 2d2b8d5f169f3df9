/* msccl_places.h - what an MSCCL file calls the chunks of a schedule */
#pragma once

#include <glib.h>

#include "formats/msccl.h"

/* A chunk of a buffer as the file counts it, and where it lies in its channel of the schedule. */
typedef struct {
    CcsBuffer buffer;
    uint32_t chunk;
    uint32_t cell;
} CcsMscclPlace;

typedef struct CcsMscclPlaces CcsMscclPlaces;

/* ccs_msccl_places_new:
 * Says in @msccl how the chunks of @schedule are dealt out; both are kept. All of @msccl but its
 * blocks must be there.
 *
 * Returns: NULL with CCS_ERROR_INPUT if a file cannot say it. */
CcsMscclPlaces *ccs_msccl_places_new(const CcsSchedule *schedule, CcsMsccl *msccl, GError **error);
void ccs_msccl_places_free(CcsMscclPlaces *places);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsMscclPlaces, ccs_msccl_places_free)

/* The places that a message is read from, or written to, in the order of its box, in @ret_places
 * (of CcsMscclPlace). CCS_ERROR_INPUT if a rank uses what it does not have in a file. */
bool ccs_msccl_places_find(const CcsMscclPlaces *places, const CcsLane *lane, uint32_t message,
                           bool is_source, GArray *ret_places, GError **error);

/* All places of a channel that @rank has in its output, or what of its input belongs there. */
bool ccs_msccl_places_of_part(const CcsMscclPlaces *places, CcsRank rank, CcsBuffer buffer,
                              uint32_t channel, GArray *ret_places, GError **error);

/* How many chunks of the collective there are in @buffer, if the file uses it. */
uint32_t ccs_msccl_places_n(const CcsMscclPlaces *places, CcsBuffer buffer);

const CcsMscclPlace *ccs_msccl_place_at(const GArray *places, uint32_t index);

/* How many of @places from @begin on one step can name: they follow one another in the file, and
 * in the schedule that is read from it they lie at equal distances. */
uint32_t ccs_msccl_run_length(const GArray *places, uint32_t begin);
bool ccs_msccl_is_run(const GArray *places); /* one step can name all of them */

/* Sets CCS_ERROR_INPUT: "MSCCL files cannot say ...". Returns: false. */
bool ccs_msccl_refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
