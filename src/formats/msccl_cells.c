#include "formats/msccl_cells.h"

#include "base/hash.h"

struct CcsMscclCells {
    const CcsMsccl *msccl;
    CcsMscclLayout layout;
    bool is_in_place;
    GHashTable *put_aside; /* of rank and scratch chunk to what it is counted as */
};

CcsMscclCells *ccs_msccl_cells_new(const CcsMsccl *msccl, bool is_in_place)
{
    CcsMscclCells *cells = g_new(CcsMscclCells, 1);

    *cells = (CcsMscclCells){.msccl = msccl,
                             .layout = ccs_msccl_layout(msccl),
                             .is_in_place = is_in_place,
                             .put_aside = g_hash_table_new(ccs_word_hash, NULL)};
    return cells;
}

void ccs_msccl_cells_free(CcsMscclCells *cells)
{
    if (cells == NULL)
        return;
    g_hash_table_unref(cells->put_aside);
    g_free(cells);
}

uint32_t ccs_msccl_cells_n(const CcsMscclCells *cells)
{
    const CcsMsccl *msccl = cells->msccl;
    uint32_t most_scratch = msccl->n_chunks;

    for (CcsRank rank = 0; rank < msccl->n_ranks; rank++)
        most_scratch = MAX(most_scratch, msccl->gpus[rank].n_chunks[CCS_BUFFER_SCRATCH]);
    return cells->layout.per_part + most_scratch - msccl->n_chunks;
}

static gpointer aside_key(CcsRank rank, uint32_t chunk)
{
    return GSIZE_TO_POINTER((gsize)rank << 32 | chunk);
}

static bool is_aside(const CcsMscclCells *cells, CcsBuffer buffer, uint32_t chunk)
{
    return buffer == CCS_BUFFER_SCRATCH && chunk >= cells->msccl->n_chunks;
}

uint32_t ccs_msccl_counted_as(const CcsMscclCells *cells, CcsRank rank, CcsBuffer buffer,
                              uint32_t chunk)
{
    uint32_t part = 0;
    uint32_t at = 0;
    gpointer found = NULL;

    if (is_aside(cells, buffer, chunk) &&
        g_hash_table_lookup_extended(cells->put_aside, aside_key(rank, chunk), NULL, &found))
        return GPOINTER_TO_UINT(found);
    if (buffer == CCS_BUFFER_SCRATCH)
        return chunk % cells->msccl->n_chunks;
    ccs_msccl_place(&cells->layout, ccs_msccl_window(&cells->layout, rank, buffer, chunk), &part,
                    &at);
    return part * cells->layout.per_part + at;
}

/* The cell of its part where a chunk of a buffer lies. */
static uint32_t cell_of(const CcsMscclCells *cells, CcsRank rank, CcsBuffer buffer, uint32_t chunk)
{
    if (is_aside(cells, buffer, chunk))
        return cells->layout.per_part + chunk - cells->msccl->n_chunks;
    return ccs_msccl_counted_as(cells, rank, buffer, chunk) % cells->layout.per_part;
}

static bool fail_at(const CcsMscclCells *cells, const CcsMscclStep *step, GError **error,
                    const char *what)
{
    CcsMarkupText source = ccs_msccl_source(cells->msccl);
    return ccs_markup_fail_at(&source, step->place, error, "%s", what);
}

bool ccs_msccl_find_run(const CcsMscclCells *cells, const CcsMscclStep *step, CcsRank rank,
                        bool is_source, uint32_t part, CcsMscclRun *ret_run, GError **error)
{
    CcsBuffer buffer = is_source ? step->source : step->target;
    uint32_t chunk = is_source ? step->source_chunk : step->target_chunk;
    bool is_moved = buffer != CCS_BUFFER_SCRATCH && cells->is_in_place;
    CcsMscclRun run = {is_moved ? CCS_BUFFER_OUTPUT : buffer, 0, 1};
    uint32_t before = 0;

    for (uint32_t i = 0; i < step->n_chunks; i++) {
        uint32_t cell = cell_of(cells, rank, buffer, chunk + i);
        uint32_t counted_as = ccs_msccl_counted_as(cells, rank, buffer, chunk + i);
        if (!is_aside(cells, buffer, chunk + i) && counted_as / cells->layout.per_part != part)
            return fail_at(cells, step, error, "its chunks lie in different parts of the buffer");
        if (i == 0)
            run.first = cell;
        else if (i == 1 && cell > run.first)
            run.stride = cell - run.first;
        else if (cell != before + run.stride)
            return fail_at(cells, step, error, "its chunks do not lie at equal distances");
        before = cell;
    }
    *ret_run = run;
    return true;
}

void ccs_msccl_remember(CcsMscclCells *cells, const CcsMscclStep *step, CcsRank rank,
                        const uint32_t *chunks)
{
    for (uint32_t i = 0; i < step->n_chunks; i++) {
        if (is_aside(cells, step->target, step->target_chunk + i))
            g_hash_table_insert(cells->put_aside, aside_key(rank, step->target_chunk + i),
                                GUINT_TO_POINTER(chunks[i]));
    }
}

bool ccs_msccl_is_natural(const CcsMscclCells *cells, const CcsMscclStep *step)
{
    return !is_aside(cells, step->source, step->source_chunk + step->n_chunks - 1);
}
