/* msccl_cells.h - where the chunks of an MSCCL file lie in the schedule that is made of it, and how
 * large they are
 *
 * Scratch chunks behind those that the collective has are as large as what was put there last, in
 * the order of the steps. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "formats/msccl.h"
#include "formats/msccl_internal.h"

/* Cells of one buffer at equal distances, in one part. */
typedef struct {
    CcsBuffer buffer;
    uint32_t first;
    uint32_t stride;
} CcsMscclRun;

typedef struct CcsMscclCells CcsMscclCells;

CcsMscclCells *ccs_msccl_cells_new(const CcsMsccl *msccl, bool is_in_place);
void ccs_msccl_cells_free(CcsMscclCells *cells);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsMscclCells, ccs_msccl_cells_free)

/* So many cells of each part the file knows of. */
uint32_t ccs_msccl_cells_n(const CcsMscclCells *cells);

/* ccs_msccl_counted_as: as which chunk of the collective, part by part, a chunk of a buffer is
 * counted. */
uint32_t ccs_msccl_counted_as(const CcsMscclCells *cells, CcsRank rank, CcsBuffer buffer,
                              uint32_t chunk);

/* ccs_msccl_find_run: the cells of one end of @step. @part is where they must lie, except those of
 * scratch chunks behind what the collective has, which may belong to any. CCS_ERROR_INPUT at the
 * step if that is not so. */
bool ccs_msccl_find_run(const CcsMscclCells *cells, const CcsMscclStep *step, CcsRank rank,
                        bool is_source, uint32_t part, CcsMscclRun *ret_run, GError **error);

/* ccs_msccl_remember: the target of @step is from now on counted as @chunks, one for each of its
 * chunks. */
void ccs_msccl_remember(CcsMscclCells *cells, const CcsMscclStep *step, CcsRank rank,
                        const uint32_t *chunks);

/* ccs_msccl_is_natural: whether the source of @step lies in cells that are as large as it is. */
bool ccs_msccl_is_natural(const CcsMscclCells *cells, const CcsMscclStep *step);
