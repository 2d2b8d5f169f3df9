#include "formats/msccl_head.h"

#include "formats/msccl_internal.h"

/* Beyond what MSCCL has room for (Azure/msccl-executor-nccl, src/include/msccl/msccl_struct.h;
 * channels as in NCCL, blocks that can be waited for by the type of dependentBid). */
#define MSCCL_MAX_STEPS    256U
#define MSCCL_MAX_COUNT    72U
#define MSCCL_MAX_CHANNELS 32U
#define MSCCL_MAX_BLOCKS   128U

static bool uses_input(const CcsSchedule *schedule)
{
    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(schedule, id);
        if (lane->from.buffer == CCS_BUFFER_INPUT || lane->to.buffer == CCS_BUFFER_INPUT)
            return true;
    }
    return false;
}

static bool check_schedule(const CcsSchedule *schedule, GError **error)
{
    CcsCollective collective = ccs_schedule_collective(schedule);
    uint64_t n_messages = 0;
    uint64_t n_chunks =
        (uint64_t)ccs_schedule_n_chunks(schedule) * ccs_schedule_n_channels(schedule);

    if (collective == CCS_ALLTOALLV || collective == CCS_SENDRECV || collective == CCS_BARRIER ||
        collective == CCS_PROGRAM)
        return ccs_msccl_refuse(error, "what %s does", ccs_collective_info(collective)->name);
    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(schedule, id);
        n_messages += lane->n_messages;
        if (lane->has_fixed_bytes || lane->sizes != 0)
            return ccs_msccl_refuse(error, "how large messages are");
        if (lane->duration > 0)
            return ccs_msccl_refuse(error, "how long a rank works");
    }
    if (ccs_schedule_n_ranks(schedule) <= CCS_MSCCL_MAX_RANKS && n_chunks <= CCS_MSCCL_MAX_CHUNKS &&
        2 * n_messages <= CCS_MSCCL_MAX_STEPS)
        return true;
    return ccs_msccl_refuse(
        error, "so much: %u ranks, %" G_GUINT64_FORMAT " chunks, %" G_GUINT64_FORMAT " messages",
        ccs_schedule_n_ranks(schedule), n_chunks, n_messages);
}

CcsMsccl *ccs_msccl_head(const CcsSchedule *schedule, const char *name, GError **error)
{
    if (!check_schedule(schedule, error))
        return NULL;

    CcsMsccl *msccl = ccs_msccl_new();
    bool is_separate = ccs_schedule_collective(schedule) == CCS_ALLTOALL || uses_input(schedule);

    msccl->name = g_strdup(name);
    msccl->collective = ccs_schedule_collective(schedule);
    msccl->coll = ccs_collective_info(msccl->collective)->name;
    msccl->n_ranks = ccs_schedule_n_ranks(schedule);
    msccl->n_parts = ccs_schedule_n_channels(schedule);
    msccl->n_channels = msccl->n_parts;
    msccl->n_chunks = ccs_schedule_n_chunks(schedule) * msccl->n_parts;
    msccl->is_in_place = !is_separate;
    msccl->is_out_of_place = is_separate;
    msccl->root = ccs_schedule_root(schedule);
    msccl->gpus = g_new0(CcsMscclGpu, msccl->n_ranks);
    return msccl;
}

/* How much of each buffer there is: what the collective has, and as much scratch as is used. */
static void count_chunks(CcsMsccl *msccl, const CcsMscclPlaces *places)
{
    for (CcsRank rank = 0; rank < msccl->n_ranks; rank++) {
        for (int i = CCS_BUFFER_INPUT; i <= CCS_BUFFER_OUTPUT; i++)
            msccl->gpus[rank].n_chunks[i] = ccs_msccl_places_n(places, (CcsBuffer)i);
    }
    for (guint i = 0; i < msccl->steps->len; i++) {
        const CcsMscclStep *step = ccs_msccl_step(msccl, i);
        CcsRank rank = g_array_index(msccl->blocks, CcsMscclBlock, step->block).rank;
        uint32_t *n_scratch = &msccl->gpus[rank].n_chunks[CCS_BUFFER_SCRATCH];
        const CcsMscclTypeInfo *info = ccs_msccl_type_info(step->type);
        if (info->has_source && step->source == CCS_BUFFER_SCRATCH)
            *n_scratch = MAX(*n_scratch, step->source_chunk + step->n_chunks);
        if (info->has_target && step->target == CCS_BUFFER_SCRATCH)
            *n_scratch = MAX(*n_scratch, step->target_chunk + step->n_chunks);
    }
}

static void note_limit(GPtrArray *notes, uint32_t used, uint32_t limit, const char *what)
{
    if (used > limit)
        g_ptr_array_add(notes, g_strdup_printf("the file has %u %s, and MSCCL has room for %u",
                                               used, what, limit));
}

static void note_limits(const CcsMsccl *msccl, GPtrArray *notes)
{
    uint32_t n_steps = 0;
    uint32_t n_chunks = 0;
    uint32_t n_blocks = 0;

    for (CcsRank rank = 0; rank < msccl->n_ranks; rank++)
        n_blocks = MAX(n_blocks, msccl->gpus[rank].n_blocks);
    for (guint i = 0; i < msccl->blocks->len; i++)
        n_steps = MAX(n_steps, g_array_index(msccl->blocks, CcsMscclBlock, i).n_steps);
    for (guint i = 0; i < msccl->steps->len; i++)
        n_chunks = MAX(n_chunks, ccs_msccl_step(msccl, i)->n_chunks);
    note_limit(notes, n_blocks, MSCCL_MAX_BLOCKS, "blocks on a GPU");
    note_limit(notes, n_steps, MSCCL_MAX_STEPS, "steps in a block");
    note_limit(notes, n_chunks, MSCCL_MAX_COUNT - 1, "chunks in a step");
    note_limit(notes, msccl->n_channels, MSCCL_MAX_CHANNELS, "channels");
}

void ccs_msccl_finish_head(CcsMsccl *msccl, const CcsMscclPlaces *places, GPtrArray *notes)
{
    count_chunks(msccl, places);
    note_limits(msccl, notes);
}
