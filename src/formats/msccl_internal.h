/* msccl_internal.h - what the parts of msccl.h share */
#pragma once

#include "formats/msccl.h"

#define CCS_MSCCL_MAX_RANKS    4096
#define CCS_MSCCL_MAX_CHANNELS 1024
#define CCS_MSCCL_MAX_CHUNKS   1048576
#define CCS_MSCCL_MAX_STEPS    4194304

CcsMsccl *ccs_msccl_new(void);

/* The text that it was read from, for messages. */
CcsMarkupText ccs_msccl_source(const CcsMsccl *msccl);

/* ccs_msccl_check: finds the match of each step and the order of all; what of this cannot be is an
 * error at its place. */
bool ccs_msccl_check(CcsMsccl *msccl, GError **error);

/* ccs_msccl_adds_in_place: whether the step stores to where it has read one of the two that it
 * adds. */
bool ccs_msccl_adds_in_place(const CcsMscclStep *step);

/* ccs_msccl_posted_after: what a step that receives waits for in its own GPU: its own wait, and
 * those of the waiting `nop`s just before it. Returns: false if there are no more than @index of
 * them.
 * @ret_before is CCS_MSCCL_NONE where one does not wait. */
bool ccs_msccl_posted_after(const CcsMsccl *msccl, uint32_t receive, uint32_t index,
                            uint32_t *ret_before);

/* How chunks of the file lie in a schedule. The collective's chunks are dealt out to parts, a
 * channel of the schedule each. */
typedef struct {
    const CcsMsccl *msccl;
    uint32_t per_part;  /* chunks of a part */
    uint32_t per_block; /* chunks that belong to one rank, where the collective speaks of such */
    bool has_blocks;
} CcsMscclLayout;

CcsMscclLayout ccs_msccl_layout(const CcsMsccl *msccl);

/* Whether the collective speaks of what belongs to one rank. */
bool ccs_msccl_has_blocks(CcsCollective collective);

/* Which chunk of the collective chunk @chunk of a buffer is, the buffer being a window on it. */
uint32_t ccs_msccl_window(const CcsMscclLayout *layout, CcsRank rank, CcsBuffer buffer,
                          uint32_t chunk);

/* So many chunks of the collective there are in @buffer. */
uint32_t ccs_msccl_window_size(const CcsMscclLayout *layout, CcsBuffer buffer);

/* In which part, and where in it, chunk @chunk of the collective lies. */
void ccs_msccl_place(const CcsMscclLayout *layout, uint32_t chunk, uint32_t *ret_part,
                     uint32_t *ret_at);
