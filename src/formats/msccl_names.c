#include "formats/msccl_names.h"

#include "formats/msccl_internal.h"

/* Cells that a step works in, and what it calls them. */
typedef struct {
    CcsRank rank;
    uint32_t part;
    uint32_t first;
    uint32_t n;
    CcsBuffer buffer;
    uint32_t chunk;
} Slot;

struct CcsMscclNames {
    uint32_t n_parts;
    uint32_t n_chunks;
    uint32_t per_part;
    uint32_t per_block;
    uint32_t n_loops;
    uint32_t first_slot;
    bool is_in_place;
    bool is_window[CCS_N_BUFFERS]; /* the buffer is one rank's block of the collective */
    bool *has_output;              /* by rank: the file speaks of an output buffer */
    uint32_t *chunk_of;            /* by part and place in it: of the collective, in the file */
    GArray *slots;                 /* of Slot */
};

CcsMscclNames *ccs_msccl_names_new(const CcsMsccl *msccl, const CcsMscclUse *use,
                                   uint32_t first_slot)
{
    CcsMscclNames *names = g_new0(CcsMscclNames, 1);
    CcsMscclLayout layout = ccs_msccl_layout(msccl);

    *names = (CcsMscclNames){.n_parts = msccl->n_parts,
                             .n_chunks = msccl->n_chunks,
                             .per_part = layout.per_part,
                             .per_block = MAX(layout.per_block, 1),
                             .n_loops = use->n_loops,
                             .first_slot = first_slot,
                             .is_in_place = use->is_in_place,
                             .has_output = g_new(bool, msccl->n_ranks),
                             .chunk_of = g_new(uint32_t, msccl->n_chunks),
                             .slots = g_array_new(false, false, sizeof(Slot))};
    for (int buffer = CCS_BUFFER_INPUT; buffer <= CCS_BUFFER_OUTPUT; buffer++)
        names->is_window[buffer] =
            ccs_msccl_window_size(&layout, (CcsBuffer)buffer) < msccl->n_chunks;
    for (CcsRank rank = 0; rank < msccl->n_ranks; rank++)
        names->has_output[rank] = msccl->gpus[rank].n_chunks[CCS_BUFFER_OUTPUT] > 0;
    for (uint32_t chunk = 0; chunk < msccl->n_chunks; chunk++) {
        uint32_t part = 0;
        uint32_t at = 0;
        ccs_msccl_place(&layout, chunk, &part, &at);
        names->chunk_of[part * layout.per_part + at] = chunk;
    }
    return names;
}

void ccs_msccl_names_free(CcsMscclNames *names)
{
    if (names == NULL)
        return;
    g_free(names->has_output);
    g_free(names->chunk_of);
    g_array_unref(names->slots);
    g_free(names);
}

void ccs_msccl_names_add_slot(CcsMscclNames *names, CcsRank rank, uint32_t part, uint32_t slot,
                              const CcsMscclStep *step)
{
    bool has_target = ccs_msccl_type_info(step->type)->has_target;
    Slot added = {.rank = rank,
                  .part = part,
                  .first = slot,
                  .n = step->n_chunks,
                  .buffer = has_target ? step->target : step->source,
                  .chunk = has_target ? step->target_chunk : step->source_chunk};

    g_array_append_val(names->slots, added);
}

/* Looks through all, which only an error asks for. */
static void name_slot(const CcsMscclNames *names, const CcsPlace *place, uint32_t cell,
                      CcsBuffer *ret_buffer, uint32_t *ret_chunk)
{
    for (guint i = 0; i < names->slots->len; i++) {
        const Slot *slot = &g_array_index(names->slots, Slot, i);
        if (slot->rank != place->rank || slot->part != place->channel || cell < slot->first ||
            cell - slot->first >= slot->n)
            continue;
        *ret_buffer = slot->buffer;
        *ret_chunk = slot->chunk + cell - slot->first;
        return;
    }
}

/* Of a chunk of the collective; where the buffer is a window, only those in it have a name there.
 */
static void name_chunk(const CcsMscclNames *names, const CcsPlace *place, uint32_t chunk,
                       CcsBuffer *ret_buffer, uint32_t *ret_chunk)
{
    CcsBuffer buffer = place->buffer;
    bool is_own = chunk / names->per_block == place->rank;

    if (names->is_in_place)
        buffer = names->has_output[place->rank] ? CCS_BUFFER_OUTPUT : CCS_BUFFER_INPUT;
    if (names->is_window[buffer] && !is_own)
        buffer = buffer == CCS_BUFFER_INPUT ? CCS_BUFFER_OUTPUT : CCS_BUFFER_INPUT;
    *ret_buffer = buffer;
    *ret_chunk = names->is_window[buffer] ? chunk % names->per_block : chunk;
}

char *ccs_msccl_names_find(const void *data, const CcsPlace *place)
{
    static const char *const buffers[CCS_N_BUFFERS] = {"input", "output", "scratch"};
    const CcsMscclNames *names = data;
    uint32_t cell = place->chunk / names->n_loops;
    uint32_t at = place->channel * names->per_part + cell;
    CcsBuffer buffer = place->buffer;
    uint32_t chunk = place->chunk;

    if (buffer == CCS_BUFFER_SCRATCH && cell >= names->first_slot)
        name_slot(names, place, cell, &buffer, &chunk);
    else if (buffer == CCS_BUFFER_SCRATCH)
        chunk = cell < names->per_part ? at : names->n_chunks + cell - names->per_part;
    else if (place->channel < names->n_parts && cell < names->per_part)
        name_chunk(names, place, names->chunk_of[at], &buffer, &chunk);
    if (names->n_loops == 1)
        return g_strdup_printf("%s chunk %u", buffers[buffer], chunk);
    return g_strdup_printf("%s chunk %u in loop %u", buffers[buffer], chunk,
                           place->chunk % names->n_loops + 1);
}
