/* msccl_names.h - what an MSCCL file calls the cells of the schedule that is made of it */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "formats/msccl.h"

typedef struct CcsMscclNames CcsMscclNames;

/* ccs_msccl_names_new: keeps nothing of @msccl. Scratch cells from @first_slot on, counted without
 * loops, are none of the file; there messages land, and sums are made. */
CcsMscclNames *ccs_msccl_names_new(const CcsMsccl *msccl, const CcsMscclUse *use,
                                   uint32_t first_slot);
void ccs_msccl_names_free(CcsMscclNames *names);

/* ccs_msccl_names_add_slot: @step of @rank works in as many such cells as it has chunks, from
 * @slot on. They are called as what it stores to, or else as what it adds. */
void ccs_msccl_names_add_slot(CcsMscclNames *names, CcsRank rank, uint32_t part, uint32_t slot,
                              const CcsMscclStep *step);

/* ccs_msccl_names_find: a CcsPlaceName: "output chunk 3". @names is a CcsMscclNames. */
char *ccs_msccl_names_find(const void *names, const CcsPlace *place);
