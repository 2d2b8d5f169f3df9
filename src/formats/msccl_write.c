#include "formats/msccl.h"

#include "formats/msccl_internal.h"

static const char *const buffer_names[CCS_N_BUFFERS] = {"i", "o", "s"};

/* -1 for CCS_MSCCL_NONE and CCS_NO_RANK. */
static int64_t number_of(uint32_t number)
{
    return number == UINT32_MAX ? -1 : (int64_t)number;
}

static void write_step(GString *text, const CcsMscclStep *step, uint32_t index)
{
    bool is_nop = step->type == CCS_MSCCL_NOP;

    g_string_append_printf(
        text,
        "      <step s=\"%u\" type=\"%s\" srcbuf=\"%s\" srcoff=\"%d\" dstbuf=\"%s\" dstoff=\"%d\""
        " cnt=\"%u\" depid=\"%" G_GINT64_FORMAT "\" deps=\"%" G_GINT64_FORMAT "\" hasdep=\"%d\"",
        index, ccs_msccl_type_info(step->type)->name, buffer_names[step->source],
        is_nop ? -1 : (int)step->source_chunk, is_nop ? "o" : buffer_names[step->target],
        is_nop ? -1 : (int)step->target_chunk, step->n_chunks, number_of(step->wait_block),
        number_of(step->wait_step), step->is_waited_for);
    if (step->is_rendezvous)
        g_string_append(text, " ccsim_rendezvous=\"1\"");
    if (step->is_reduced_next)
        g_string_append(text, " ccsim_reduced=\"1\"");
    if (step->is_unordered)
        g_string_append(text, " ccsim_unordered=\"1\"");
    if (step->is_early)
        g_string_append(text, " ccsim_early=\"1\"");
    g_string_append(text, "/>\n");
}

static void write_block(GString *text, const CcsMsccl *msccl, const CcsMscclBlock *block)
{
    g_string_append_printf(text,
                           "    <tb id=\"%u\" send=\"%" G_GINT64_FORMAT
                           "\" recv=\"%" G_GINT64_FORMAT "\" chan=\"%" G_GINT64_FORMAT "\"",
                           block->id, number_of(block->send), number_of(block->recv),
                           number_of(block->channel));
    if (block->nic_channel != block->channel)
        g_string_append_printf(text, " ccsim_channel=\"%u\"", block->nic_channel);
    if (block->is_on_rail)
        g_string_append(text, " ccsim_rail=\"1\"");
    g_string_append(text, ">\n");
    for (uint32_t i = 0; i < block->n_steps; i++)
        write_step(text, ccs_msccl_step(msccl, block->first_step + i), i);
    g_string_append(text, "    </tb>\n");
}

static void write_gpu(GString *text, const CcsMsccl *msccl, CcsRank rank)
{
    const CcsMscclGpu *gpu = &msccl->gpus[rank];
    CcsMscclLayout layout = ccs_msccl_layout(msccl);

    g_string_append_printf(text, "  <gpu id=\"%u\" i_chunks=\"%u\" o_chunks=\"%u\" s_chunks=\"%u\"",
                           rank, gpu->n_chunks[CCS_BUFFER_INPUT], gpu->n_chunks[CCS_BUFFER_OUTPUT],
                           gpu->n_chunks[CCS_BUFFER_SCRATCH]);
    for (uint32_t i = 0; gpu->order != NULL && i < layout.per_block; i++)
        g_string_append_printf(text, "%s%u", i == 0 ? " ccsim_order=\"" : " ", gpu->order[i]);
    g_string_append(text, gpu->order == NULL ? ">\n" : "\">\n");
    for (uint32_t i = 0; i < gpu->n_blocks; i++)
        write_block(text, msccl, ccs_msccl_block(msccl, rank, i));
    g_string_append(text, "  </gpu>\n");
}

char *ccs_msccl_text(const CcsMsccl *msccl)
{
    g_autofree char *name = g_markup_escape_text(msccl->name, -1);
    GString *text = g_string_new(NULL);

    g_string_append_printf(
        text,
        "<algo name=\"%s\" proto=\"%s\" nchannels=\"%u\" nchunksperloop=\"%u\" ngpus=\"%u\""
        " coll=\"%s\" inplace=\"%d\" outofplace=\"%d\" minBytes=\"%" G_GUINT64_FORMAT
        "\" maxBytes=\"%" G_GUINT64_FORMAT "\"",
        name, ccs_msccl_protocols[msccl->protocol], msccl->n_channels, msccl->n_chunks,
        msccl->n_ranks, msccl->coll, msccl->is_in_place, msccl->is_out_of_place, msccl->min_bytes,
        msccl->max_bytes);
    if (msccl->root != 0)
        g_string_append_printf(text, " ccsim_root=\"%u\"", msccl->root);
    if (msccl->n_parts != 1)
        g_string_append_printf(text, " ccsim_channels=\"%u\"", msccl->n_parts);
    g_string_append(text, ">\n");
    for (CcsRank rank = 0; rank < msccl->n_ranks; rank++)
        write_gpu(text, msccl, rank);
    g_string_append(text, "</algo>\n");
    return g_string_free(text, false);
}
