/* origins.h - whose data lie in which cell while a schedule goes on
 *
 * What a message carries is not told by the cells that it is read from: an algorithm may keep
 * its data in any order, or in scratch memory. So data are followed from where they are before the
 * collective (contract.h) through each message. Of a sum only its first part is kept in mind:
 * all of its parts come from the same chunk. */
#pragma once

#include <stdint.h>

#include <glib.h>

#include "collectives/schedule.h"

#define CCS_NO_CHUNK UINT32_MAX

typedef struct {
    uint32_t chunk; /* of the buffer that they come from; CCS_NO_CHUNK if there are no data */
    CcsRank rank;   /* whose buffer that is */
} CcsOrigin;

typedef struct CcsOrigins CcsOrigins;

/* ccs_origins_new: as it is before the collective. Keeps @schedule, which must outlive it, and
 * whose messages must stay inside the buffers. */
CcsOrigins *ccs_origins_new(const CcsSchedule *schedule);
void ccs_origins_free(CcsOrigins *origins);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsOrigins, ccs_origins_free)

/* ccs_origins_read: what message @message of @lane carries if it starts now, in the order of its
 * box; room for ccs_box_n_chunks() is needed. */
void ccs_origins_read(const CcsOrigins *origins, const CcsLane *lane, uint32_t message,
                      CcsOrigin *ret_data);

/* ccs_origins_write: the message arrives with @data. */
void ccs_origins_write(CcsOrigins *origins, const CcsLane *lane, uint32_t message,
                       const CcsOrigin *data);
