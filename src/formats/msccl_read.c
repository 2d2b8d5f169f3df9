#include "formats/msccl.h"

#include <string.h>

#include "base/read_file.h"
#include "formats/msccl_internal.h"

/* The collectives of MSCCL by the names that its writers and readers give them. What CCS_PROGRAM
 * stands for is executed as it is, with nothing promised. */
static const struct {
    const char *name;
    CcsCollective collective;
} collectives[] = {
    {"allreduce", CCS_ALLREDUCE},
    {"allgather", CCS_ALLGATHER},
    {"reducescatter", CCS_REDUCESCATTER},
    {"alltoall", CCS_ALLTOALL},
    {"broadcast", CCS_BROADCAST},
    {"reduce", CCS_REDUCE},
    {"gather", CCS_GATHER},
    {"scatter", CCS_SCATTER},
    {"custom", CCS_PROGRAM},
    {"reduce_scatter", CCS_REDUCESCATTER},
    {"alltoallv", CCS_PROGRAM},
    {"send", CCS_PROGRAM},
    {"recv", CCS_PROGRAM},
};

typedef enum { IN_FILE, IN_ALGO, IN_GPU, IN_BLOCK, IN_STEP } Where;

static const char *const elements[] = {"the file", "algo", "gpu", "tb", "step"};

typedef struct {
    CcsMsccl *msccl;
    Where where;
    bool has_algo;
    CcsRank rank;          /* of the gpu it is in */
    GHashTable *block_ids; /* of that gpu */
} Reader;

static bool read_number(const CcsMarkup *markup, const char *name, int64_t least, int64_t most,
                        uint32_t *ret_number, GError **error)
{
    int64_t number = 0;

    if (!ccs_markup_number(markup, &(CcsMarkupNumber){name, least, most, CCS_MARKUP_NEEDED},
                           &number, error))
        return false;
    *ret_number = (uint32_t)number; /* -1 becomes CCS_MSCCL_NONE */
    return true;
}

static bool read_flag(const CcsMarkup *markup, const char *name, bool otherwise, bool *ret_flag,
                      GError **error)
{
    int64_t number = 0;

    if (!ccs_markup_number(markup, &(CcsMarkupNumber){name, 0, 1, otherwise}, &number, error))
        return false;
    *ret_flag = number != 0;
    return true;
}

static bool read_bytes(const CcsMarkup *markup, const char *name, uint64_t *ret_bytes,
                       GError **error)
{
    int64_t number = 0;

    if (!ccs_markup_number(markup, &(CcsMarkupNumber){name, -1, INT64_MAX, 0}, &number, error))
        return false;
    *ret_bytes = (uint64_t)MAX(number, 0);
    return true;
}

/* The sizes that the file is made for; a largest of 0 is none. */
static bool read_sizes(CcsMsccl *msccl, const CcsMarkup *markup, GError **error)
{
    if (!read_bytes(markup, "minBytes", &msccl->min_bytes, error) ||
        !read_bytes(markup, "maxBytes", &msccl->max_bytes, error))
        return false;
    return msccl->max_bytes == 0 || msccl->min_bytes <= msccl->max_bytes ||
           ccs_markup_fail(markup, "minBytes", error,
                           "'minBytes' must not be above 'maxBytes', %" G_GUINT64_FORMAT
                           ", but is %" G_GUINT64_FORMAT,
                           msccl->max_bytes, msccl->min_bytes);
}

static bool read_collective(CcsMsccl *msccl, const CcsMarkup *markup, GError **error)
{
    const char *names[G_N_ELEMENTS(collectives) + 1] = {NULL};
    uint32_t index = 0;

    for (size_t i = 0; i < G_N_ELEMENTS(collectives); i++)
        names[i] = collectives[i].name;
    if (!ccs_markup_word(markup, "coll", names, &index, error))
        return false;
    msccl->coll = collectives[index].name;
    msccl->collective = collectives[index].collective;
    return true;
}

/* In place or not; older writers only say the first. */
static bool read_placing(CcsMsccl *msccl, const CcsMarkup *markup, GError **error)
{
    if (!read_flag(markup, "inplace", false, &msccl->is_in_place, error) ||
        !read_flag(markup, "outofplace", !msccl->is_in_place, &msccl->is_out_of_place, error))
        return false;
    if (msccl->is_in_place || msccl->is_out_of_place)
        return true;
    return ccs_markup_fail(markup, "outofplace", error,
                           "one of 'inplace' and 'outofplace' must be 1");
}

static bool check_chunks(const CcsMsccl *msccl, const CcsMarkup *markup, GError **error)
{
    bool has_blocks = ccs_msccl_has_blocks(msccl->collective);
    uint32_t n_shares = (has_blocks ? msccl->n_ranks : 1) * msccl->n_parts;

    if (has_blocks && msccl->n_chunks % msccl->n_ranks != 0)
        return ccs_markup_fail(markup, "nchunksperloop", error,
                               "'nchunksperloop' must be a multiple of 'ngpus' for %s: each GPU"
                               " has a block of the chunks",
                               msccl->coll);
    if (msccl->n_chunks % n_shares != 0)
        return ccs_markup_fail(markup, "ccsim_channels", error,
                               "'ccsim_channels' does not divide the chunks");
    return true;
}

static bool start_algo(Reader *reader, const CcsMarkup *markup, GError **error)
{
    CcsMsccl *msccl = reader->msccl;
    const char *name = ccs_markup_attribute(markup, "name");
    int64_t root = 0;
    int64_t n_parts = 1;

    if (reader->has_algo)
        return ccs_markup_fail(markup, NULL, error, "there must be only one 'algo'");
    reader->has_algo = true;
    msccl->place = ccs_markup_place(markup);
    msccl->name = g_strdup(name == NULL || *name == '\0' ? "msccl" : name);
    if ((ccs_markup_attribute(markup, "proto") != NULL &&
         !ccs_markup_word(markup, "proto", ccs_msccl_protocols, &msccl->protocol, error)) ||
        !read_number(markup, "ngpus", 1, CCS_MSCCL_MAX_RANKS, &msccl->n_ranks, error))
        return false;
    msccl->gpus = g_new0(CcsMscclGpu, msccl->n_ranks);
    if (!read_number(markup, "nchannels", 0, CCS_MSCCL_MAX_CHANNELS, &msccl->n_channels, error) ||
        !read_number(markup, "nchunksperloop", 1, CCS_MSCCL_MAX_CHUNKS, &msccl->n_chunks, error) ||
        !read_collective(msccl, markup, error) || !read_placing(msccl, markup, error) ||
        !read_sizes(msccl, markup, error) ||
        !ccs_markup_number(markup, &(CcsMarkupNumber){"ccsim_root", 0, msccl->n_ranks - 1, 0},
                           &root, error) ||
        !ccs_markup_number(markup,
                           &(CcsMarkupNumber){"ccsim_channels", 1, CCS_MSCCL_MAX_CHANNELS, 1},
                           &n_parts, error))
        return false;
    msccl->root = (CcsRank)root;
    msccl->n_parts = (uint32_t)n_parts;
    return check_chunks(msccl, markup, error);
}

/* ccsim_order: a number for each chunk of the block. */
static bool read_order(const CcsMsccl *msccl, CcsMscclGpu *gpu, const CcsMarkup *markup,
                       GError **error)
{
    CcsMscclLayout layout = ccs_msccl_layout(msccl);
    const char *text = ccs_markup_attribute(markup, "ccsim_order");

    if (text == NULL)
        return true;
    if (!layout.has_blocks || msccl->collective == CCS_ALLTOALL)
        return ccs_markup_fail(markup, "ccsim_order", error, "'ccsim_order' says nothing about %s",
                               msccl->coll);
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    if (g_strv_length(words) != layout.per_block)
        return ccs_markup_fail(markup, "ccsim_order", error,
                               "'ccsim_order' must have %u numbers, as a GPU has chunks",
                               layout.per_block);
    gpu->order = g_new(uint32_t, layout.per_block);
    for (uint32_t i = 0; i < layout.per_block; i++) {
        guint64 number = 0;
        if (!g_ascii_string_to_unsigned(words[i], 10, 0, layout.per_part - 1, &number, NULL))
            return ccs_markup_fail(markup, "ccsim_order", error,
                                   "'ccsim_order' must have numbers from 0 to %u",
                                   layout.per_part - 1);
        gpu->order[i] = (uint32_t)number;
    }
    return true;
}

static bool start_gpu(Reader *reader, const CcsMarkup *markup, GError **error)
{
    CcsMsccl *msccl = reader->msccl;

    if (!read_number(markup, "id", 0, msccl->n_ranks - 1, &reader->rank, error))
        return false;
    CcsMscclGpu *gpu = &msccl->gpus[reader->rank];
    if (gpu->is_there)
        return ccs_markup_fail(markup, "id", error, "GPU %u is there already, in line %u",
                               reader->rank, gpu->place.line);
    gpu->is_there = true;
    gpu->place = ccs_markup_place(markup);
    gpu->first_block = msccl->blocks->len;
    g_hash_table_remove_all(reader->block_ids);
    CcsMscclLayout layout = ccs_msccl_layout(msccl);
    return read_number(markup, "i_chunks", 0, ccs_msccl_window_size(&layout, CCS_BUFFER_INPUT),
                       &gpu->n_chunks[CCS_BUFFER_INPUT], error) &&
           read_number(markup, "o_chunks", 0, ccs_msccl_window_size(&layout, CCS_BUFFER_OUTPUT),
                       &gpu->n_chunks[CCS_BUFFER_OUTPUT], error) &&
           read_number(markup, "s_chunks", 0, CCS_MSCCL_MAX_CHUNKS,
                       &gpu->n_chunks[CCS_BUFFER_SCRATCH], error) &&
           read_order(msccl, gpu, markup, error);
}

static bool check_peer(const Reader *reader, const CcsMarkup *markup, const char *name,
                       CcsRank peer, GError **error)
{
    return peer != reader->rank ||
           ccs_markup_fail(markup, name, error, "'%s' is the GPU itself", name);
}

/* The channel of a block; -1 is CCS_MSCCL_NONE. */
static bool read_channel(const CcsMsccl *msccl, const CcsMarkup *markup, bool may_be_none,
                         uint32_t *ret_channel, GError **error)
{
    int64_t least = may_be_none ? -1 : 0;

    if (!read_number(markup, "chan", least, CCS_MSCCL_MAX_CHANNELS, ret_channel, error))
        return false;
    if (*ret_channel == CCS_MSCCL_NONE || *ret_channel < msccl->n_channels)
        return true;
    return ccs_markup_fail(markup, "chan", error,
                           "'chan' must be below 'nchannels', which is %u, not '%u'",
                           msccl->n_channels, *ret_channel);
}

static bool start_block(Reader *reader, const CcsMarkup *markup, GError **error)
{
    CcsMsccl *msccl = reader->msccl;
    CcsMscclBlock block = {
        .rank = reader->rank, .first_step = msccl->steps->len, .place = ccs_markup_place(markup)};
    int64_t most_rank = (int64_t)msccl->n_ranks - 1;
    int64_t nic_channel = 0;

    if (!read_number(markup, "id", 0, CCS_MSCCL_MAX_STEPS, &block.id, error) ||
        !read_number(markup, "send", -1, most_rank, &block.send, error) ||
        !read_number(markup, "recv", -1, most_rank, &block.recv, error) ||
        !check_peer(reader, markup, "send", block.send, error) ||
        !check_peer(reader, markup, "recv", block.recv, error))
        return false;
    bool is_alone =
        block.send == CCS_NO_RANK && block.recv == CCS_NO_RANK; /* may have channel -1 */
    if (!read_channel(msccl, markup, is_alone, &block.channel, error) ||
        !ccs_markup_number(
            markup, &(CcsMarkupNumber){"ccsim_channel", 0, CCS_MSCCL_MAX_CHANNELS, block.channel},
            &nic_channel, error) ||
        !read_flag(markup, "ccsim_rail", false, &block.is_on_rail, error))
        return false;
    block.nic_channel = (uint32_t)nic_channel;
    if (!g_hash_table_add(reader->block_ids, GUINT_TO_POINTER(block.id)))
        return ccs_markup_fail(markup, "id", error, "GPU %u has a block %u already", reader->rank,
                               block.id);
    g_array_append_val(msccl->blocks, block);
    msccl->gpus[reader->rank].n_blocks++;
    return true;
}

/* One end of a step: which chunks of which buffer. */
static bool read_end(const Reader *reader, const CcsMarkup *markup, bool is_source,
                     CcsMscclStep *step, GError **error)
{
    static const char *const buffers[] = {"i", "o", "s", NULL};
    const char *buffer_name = is_source ? "srcbuf" : "dstbuf";
    const char *offset_name = is_source ? "srcoff" : "dstoff";
    uint32_t buffer = 0;
    uint32_t chunk = 0;

    if (!ccs_markup_word(markup, buffer_name, buffers, &buffer, error) ||
        !read_number(markup, offset_name, 0, CCS_MSCCL_MAX_CHUNKS, &chunk, error))
        return false;
    uint32_t n_chunks = reader->msccl->gpus[reader->rank].n_chunks[buffer];
    if (chunk + step->n_chunks > n_chunks)
        return ccs_markup_fail(markup, offset_name, error,
                               "chunks %u to %u do not lie in buffer '%s', which has %u", chunk,
                               chunk + step->n_chunks - 1, buffers[buffer], n_chunks);
    *(is_source ? &step->source : &step->target) = (CcsBuffer)buffer;
    *(is_source ? &step->source_chunk : &step->target_chunk) = chunk;
    return true;
}

static bool check_peers(const Reader *reader, const CcsMarkup *markup, const CcsMscclStep *step,
                        GError **error)
{
    const CcsMscclTypeInfo *info = ccs_msccl_type_info(step->type);
    const CcsMscclBlock *block =
        &g_array_index(reader->msccl->blocks, CcsMscclBlock, reader->msccl->blocks->len - 1);

    if (info->sends && block->send == CCS_NO_RANK)
        return ccs_markup_fail(markup, "type", error,
                               "'%s' sends, but its block has no GPU to send to", info->name);
    if (info->receives && block->recv == CCS_NO_RANK)
        return ccs_markup_fail(markup, "type", error,
                               "'%s' receives, but its block has no GPU to receive from",
                               info->name);
    return true;
}

/* A local step must not write what it has yet to read. */
static bool check_overlap(const CcsMarkup *markup, const CcsMscclStep *step, GError **error)
{
    bool is_local = step->type == CCS_MSCCL_COPY || step->type == CCS_MSCCL_REDUCE;

    if (!is_local || step->source != step->target ||
        step->source_chunk + step->n_chunks <= step->target_chunk ||
        step->target_chunk + step->n_chunks <= step->source_chunk)
        return true;
    return ccs_markup_fail(markup, "dstoff", error, "its source and its target overlap");
}

static bool read_wait(const CcsMarkup *markup, CcsMscclStep *step, GError **error)
{
    int64_t block = -1;
    int64_t index = -1;

    if (!ccs_markup_number(markup, &(CcsMarkupNumber){"depid", -1, CCS_MSCCL_MAX_STEPS, -1}, &block,
                           error) ||
        !ccs_markup_number(markup, &(CcsMarkupNumber){"deps", -1, CCS_MSCCL_MAX_STEPS, -1}, &index,
                           error))
        return false;
    if ((block < 0) != (index < 0))
        return ccs_markup_fail(markup, block < 0 ? "deps" : "depid", error,
                               "'depid' and 'deps' must both name something, or both be -1");
    step->wait_block = (uint32_t)block;
    step->wait_step = (uint32_t)index;
    if (!read_flag(markup, "ccsim_unordered", false, &step->is_unordered, error))
        return false;
    return !step->is_unordered || block >= 0 ||
           ccs_markup_fail(markup, "ccsim_unordered", error,
                           "'ccsim_unordered' says nothing about a step that does not wait");
}

static bool read_work(const Reader *reader, const CcsMarkup *markup, CcsMscclStep *step,
                      GError **error)
{
    const CcsMscclTypeInfo *info = ccs_msccl_type_info(step->type);
    bool is_local = !info->sends && !info->receives;

    if (step->type == CCS_MSCCL_NOP)
        return true;
    return check_peers(reader, markup, step, error) &&
           read_number(markup, "cnt", 1, CCS_MSCCL_MAX_CHUNKS, &step->n_chunks, error) &&
           (!info->has_source || read_end(reader, markup, true, step, error)) &&
           (!info->has_target || read_end(reader, markup, false, step, error)) &&
           check_overlap(markup, step, error) &&
           (!info->sends ||
            read_flag(markup, "ccsim_rendezvous", false, &step->is_rendezvous, error)) &&
           (!info->receives ||
            read_flag(markup, "ccsim_reduced", false, &step->is_reduced_next, error)) &&
           (!is_local || read_flag(markup, "ccsim_early", false, &step->is_early, error));
}

static bool start_step(Reader *reader, const CcsMarkup *markup, GError **error)
{
    GArray *steps = reader->msccl->steps;
    CcsMscclBlock *block =
        &g_array_index(reader->msccl->blocks, CcsMscclBlock, reader->msccl->blocks->len - 1);
    CcsMscclStep step = {.block = reader->msccl->blocks->len - 1,
                         .waits_for = CCS_MSCCL_NONE,
                         .sent_by = CCS_MSCCL_NONE,
                         .received_by = CCS_MSCCL_NONE,
                         .place = ccs_markup_place(markup)};
    const char *types[CCS_MSCCL_N_TYPES + 1] = {NULL};
    uint32_t type = 0;
    uint32_t index = 0;

    for (uint32_t i = 0; i < CCS_MSCCL_N_TYPES; i++)
        types[i] = ccs_msccl_type_info((CcsMscclType)i)->name;
    if (steps->len == CCS_MSCCL_MAX_STEPS)
        return ccs_markup_fail(markup, NULL, error, "there are more than %u steps",
                               CCS_MSCCL_MAX_STEPS);
    if (!read_number(markup, "s", 0, CCS_MSCCL_MAX_STEPS, &index, error))
        return false;
    if (index != block->n_steps)
        return ccs_markup_fail(markup, "s", error,
                               "'s' must be %u: the steps of a block are counted from 0",
                               block->n_steps);
    if (!ccs_markup_word(markup, "type", types, &type, error))
        return false;
    step.type = (CcsMscclType)type;
    if (!read_work(reader, markup, &step, error) || !read_wait(markup, &step, error))
        return false;
    g_array_append_val(steps, step);
    block->n_steps++;
    reader->msccl->has_unordered = reader->msccl->has_unordered || step.is_unordered;
    return true;
}

static bool start(CcsMarkup *markup, const char *element, void *data, GError **error)
{
    static bool (*const starts[])(Reader *, const CcsMarkup *,
                                  GError **) = {start_algo, start_gpu, start_block, start_step};
    Reader *reader = data;

    if (reader->where == IN_BLOCK && strcmp(element, "op") == 0)
        return ccs_markup_fail(markup, NULL, error,
                               "'op' belongs to another form of these files, without buffers of"
                               " source and target; only 'step' is read");
    if (reader->where == IN_STEP || strcmp(element, elements[reader->where + 1]) != 0) {
        g_autofree char *shown = ccs_markup_shorten(element);
        return ccs_markup_fail(markup, NULL, error, "'%s' has no place in %s", shown,
                               elements[reader->where]);
    }
    return starts[reader->where++](reader, markup, error);
}

static bool end(CcsMarkup *markup, const char *element, void *data, GError **error)
{
    Reader *reader = data;

    (void)markup;
    (void)element;
    (void)error;
    reader->where--;
    return true;
}

CcsMsccl *ccs_msccl_read(const char *label, const char *text, size_t n_bytes, GError **error)
{
    static const CcsMarkupHandlers handlers = {start, end};
    g_autoptr(CcsMsccl) msccl = ccs_msccl_new();
    g_autoptr(GHashTable) block_ids = g_hash_table_new(NULL, NULL);
    Reader reader = {.msccl = msccl, .block_ids = block_ids};

    size_t n_skipped = ccs_byte_order_mark(text, n_bytes);

    n_bytes -= n_skipped;
    msccl->label = g_strdup(label);
    msccl->source = g_strndup("", n_bytes);
    memcpy(msccl->source, text + n_skipped, n_bytes);
    msccl->n_source = n_bytes;
    CcsMarkupText source = ccs_msccl_source(msccl);
    if (!ccs_markup_parse(&source, &handlers, &reader, error))
        return NULL;
    if (!reader.has_algo) { /* a comment alone is no error of XML for GMarkup */
        ccs_markup_fail_at(&source, (CcsMarkupPlace){1, 1}, error, "there is no 'algo'");
        return NULL;
    }
    if (!ccs_msccl_check(msccl, error))
        return NULL;
    return g_steal_pointer(&msccl);
}
