/* msccl_head.h - what an MSCCL file that is written says of the whole and of each GPU */
#pragma once

#include <glib.h>

#include "formats/msccl.h"
#include "formats/msccl_places.h"

/* ccs_msccl_head: a file for @schedule, without blocks as yet.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_INPUT if no file can say what @schedule does. */
CcsMsccl *ccs_msccl_head(const CcsSchedule *schedule, const char *name, GError **error);

/* ccs_msccl_finish_head: when all steps are there: how many chunks each GPU has; and in @notes (of
 * owned texts), what MSCCL has no room for. */
void ccs_msccl_finish_head(CcsMsccl *msccl, const CcsMscclPlaces *places, GPtrArray *notes);
