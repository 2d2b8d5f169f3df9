#include "formats/msccl.h"

#include "base/read_file.h"
#include "formats/msccl_internal.h"

#define MAX_BYTES ((size_t)256 * 1024 * 1024)

static const CcsMscclTypeInfo type_infos[CCS_MSCCL_N_TYPES] = {
    [CCS_MSCCL_SEND] = {.name = "s", .sends = true, .has_source = true},
    [CCS_MSCCL_RECV] = {.name = "r", .receives = true, .has_target = true},
    [CCS_MSCCL_RECV_COPY_SEND] = {.name = "rcs",
                                  .sends = true,
                                  .receives = true,
                                  .has_target = true},
    [CCS_MSCCL_RECV_REDUCE_SEND] =
        {.name = "rrs", .sends = true, .receives = true, .reduces = true, .has_source = true},
    [CCS_MSCCL_RECV_REDUCE_COPY] =
        {.name = "rrc", .receives = true, .reduces = true, .has_source = true, .has_target = true},
    [CCS_MSCCL_RECV_REDUCE_COPY_SEND] = {.name = "rrcs",
                                         .sends = true,
                                         .receives = true,
                                         .reduces = true,
                                         .has_source = true,
                                         .has_target = true},
    [CCS_MSCCL_COPY] = {.name = "cpy", .has_source = true, .has_target = true},
    [CCS_MSCCL_REDUCE] = {.name = "re", .reduces = true, .has_source = true, .has_target = true},
    [CCS_MSCCL_NOP] = {.name = "nop"},
};

const char *const ccs_msccl_protocols[] = {"Simple", "LL", "LL128", NULL};

const CcsMscclTypeInfo *ccs_msccl_type_info(CcsMscclType type)
{
    return &type_infos[type];
}

CcsMsccl *ccs_msccl_new(void)
{
    CcsMsccl *msccl = g_new0(CcsMsccl, 1);

    msccl->blocks = g_array_new(false, true, sizeof(CcsMscclBlock));
    msccl->steps = g_array_new(false, true, sizeof(CcsMscclStep));
    msccl->n_parts = 1;
    return msccl;
}

void ccs_msccl_free(CcsMsccl *msccl)
{
    if (msccl == NULL)
        return;
    for (CcsRank rank = 0; msccl->gpus != NULL && rank < msccl->n_ranks; rank++)
        g_free(msccl->gpus[rank].order);
    g_free(msccl->gpus);
    g_free(msccl->name);
    g_free(msccl->label);
    g_free(msccl->source);
    g_free(msccl->order);
    g_array_unref(msccl->blocks);
    g_array_unref(msccl->steps);
    g_free(msccl);
}

CcsMarkupText ccs_msccl_source(const CcsMsccl *msccl)
{
    return (CcsMarkupText){msccl->label, msccl->source, msccl->n_source};
}

CcsMsccl *ccs_msccl_load(const char *file, GError **error)
{
    g_autoptr(GByteArray) bytes = ccs_read_file(file, MAX_BYTES, error);

    if (bytes == NULL)
        return NULL;
    return ccs_msccl_read(ccs_file_label(file), (const char *)bytes->data, bytes->len, error);
}

const CcsMscclBlock *ccs_msccl_block(const CcsMsccl *msccl, CcsRank rank, uint32_t index)
{
    return &g_array_index(msccl->blocks, CcsMscclBlock, msccl->gpus[rank].first_block + index);
}

CcsMscclStep *ccs_msccl_step(const CcsMsccl *msccl, uint32_t index)
{
    return &g_array_index(msccl->steps, CcsMscclStep, index);
}

bool ccs_msccl_adds_in_place(const CcsMscclStep *step)
{
    return step->type == CCS_MSCCL_REDUCE ||
           (step->type == CCS_MSCCL_RECV_REDUCE_COPY && step->source == step->target &&
            step->source_chunk == step->target_chunk);
}

bool ccs_msccl_has_blocks(CcsCollective collective)
{
    switch (collective) {
    case CCS_ALLGATHER:
    case CCS_REDUCESCATTER:
    case CCS_ALLTOALL:
    case CCS_ALLTOALLV:
    case CCS_GATHER:
    case CCS_SCATTER:
        return true;
    case CCS_ALLREDUCE:
    case CCS_BROADCAST:
    case CCS_REDUCE:
    case CCS_SENDRECV:
    case CCS_BARRIER:
    case CCS_PROGRAM:
        break;
    }
    return false;
}

CcsMscclLayout ccs_msccl_layout(const CcsMsccl *msccl)
{
    return (CcsMscclLayout){.msccl = msccl,
                            .per_part = msccl->n_chunks / msccl->n_parts,
                            .per_block = msccl->n_chunks / msccl->n_ranks,
                            .has_blocks = ccs_msccl_has_blocks(msccl->collective)};
}

/* Whether @buffer is only as large as what belongs to one rank. */
static bool is_one_block(const CcsMsccl *msccl, CcsBuffer buffer)
{
    CcsCollective collective = msccl->collective;

    if (buffer == CCS_BUFFER_INPUT)
        return collective == CCS_ALLGATHER || collective == CCS_GATHER;
    return collective == CCS_REDUCESCATTER || collective == CCS_SCATTER;
}

uint32_t ccs_msccl_window_size(const CcsMscclLayout *layout, CcsBuffer buffer)
{
    return is_one_block(layout->msccl, buffer) ? layout->per_block : layout->msccl->n_chunks;
}

uint32_t ccs_msccl_window(const CcsMscclLayout *layout, CcsRank rank, CcsBuffer buffer,
                          uint32_t chunk)
{
    return is_one_block(layout->msccl, buffer) ? rank * layout->per_block + chunk : chunk;
}

/* Each part has its share of each rank's block; without blocks, one stretch of the whole. */
void ccs_msccl_place(const CcsMscclLayout *layout, uint32_t chunk, uint32_t *ret_part,
                     uint32_t *ret_at)
{
    if (!layout->has_blocks) {
        *ret_part = chunk / layout->per_part;
        *ret_at = chunk % layout->per_part;
        return;
    }
    CcsRank rank = chunk / layout->per_block;
    uint32_t in_block = chunk % layout->per_block;
    uint32_t per_share = layout->per_block / layout->msccl->n_parts;
    const uint32_t *order = layout->msccl->gpus[rank].order;

    *ret_part = in_block / per_share;
    *ret_at = order == NULL ? rank * per_share + in_block % per_share : order[in_block];
}
