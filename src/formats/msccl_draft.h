/* msccl_draft.h - an MSCCL program that is being written: blocks that grow step by step
 *
 * A step may wait for any number of others of its GPU; where the format has room for one only,
 * `nop` steps before it wait for the rest. What must have happened anyway is not waited for. */
#pragma once

#include <glib.h>

#include "formats/msccl.h"

/* A step of a draft. */
typedef struct {
    uint32_t block; /* CCS_MSCCL_NONE: no step */
    uint32_t step;
} CcsMscclRef;

typedef struct CcsMscclDraft CcsMscclDraft;

CcsMscclDraft *ccs_msccl_draft_new(void);
void ccs_msccl_draft_free(CcsMscclDraft *draft);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsMscclDraft, ccs_msccl_draft_free)

/* ccs_msccl_draft_add_block: like @head, whose id and steps do not matter. Returns: its number. */
uint32_t ccs_msccl_draft_add_block(CcsMscclDraft *draft, const CcsMscclBlock *head);

/* What a step waits for; all are of CcsMscclRef, and any may be NULL. */
typedef struct {
    const GArray *needed;
    const GArray *posted; /* its sender waits for these, too */
    const GArray *added;  /* other additions to the same chunks, in whatever order */
} CcsMscclWaits;

/* ccs_msccl_draft_add: appends a step to @block. */
CcsMscclRef ccs_msccl_draft_add(CcsMscclDraft *draft, uint32_t block, const CcsMscclStep *step,
                                const CcsMscclWaits *waits);

/* ccs_msccl_draft_finish: moves all blocks and steps to @msccl, whose GPUs are there. */
void ccs_msccl_draft_finish(CcsMscclDraft *draft, CcsMsccl *msccl);
