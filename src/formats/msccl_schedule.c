/* Makes a schedule of the program.
 *
 * Each step becomes up to four lanes, with a message for each loop. What is sent lands in scratch
 * cells of its own at the receiver, as MSCCL's connections have buffers of their own; the step
 * that receives it works on it there, with local lanes that take no time: so it may come early,
 * and a step that reads, adds and stores can be seen to be disturbed by another one in between.
 *
 *     s      send from the source
 *     r      copy what has come to the target
 *     rcs    copy what has come to the target; send it on
 *     rrc    add the source to what has come; copy it to the target
 *     rrs    add the source to what has come; send it on
 *     rrcs   add the source to what has come; copy it to the target; send it on
 *     cpy    copy the source to the target
 *     re     add source and target up in scratch cells; copy that to the target
 *
 * Where a file says of some additions that their order does not matter, they do not wait for each
 * other; then each that adds to where it reads does so at once. */
#include "base/error.h"
#include "formats/msccl_cells.h"
#include "formats/msccl_internal.h"
#include "formats/msccl_names.h"

#define MAX_CELLS   ((uint64_t)1 << 26) /* of all buffers of one kind */
#define MAX_TOUCHED ((uint64_t)1 << 26) /* chunks of all steps together */
#define MAX_MOVED   ((uint64_t)1 << 28) /* chunks of all steps in all loops */
#define MAX_WAITS   ((uint64_t)1 << 25)

/* When a step is done: an event of a lane. */
typedef struct {
    CcsLaneId lane; /* CCS_NO_LANE for a step that only waits */
    CcsEvent event;
} Done;

/* What the schedule has of a step. */
typedef struct {
    CcsLaneId start; /* the lane that begins it; CCS_NO_LANE if it only waits */
    Done done;
    CcsLaneId message; /* of one that sends */
    uint32_t part;     /* of one that sends: of what it sends */
    uint32_t slot;     /* of one that receives: where that lands */
    uint32_t sized;    /* of one that sends: its chunks in `sized` */
    uint32_t seen;     /* the search that has met it last */
} Work;

typedef struct {
    const CcsMsccl *msccl;
    CcsMscclLayout layout;
    CcsSchedule *schedule;
    uint32_t n_loops;
    bool is_unordered;   /* additions do not wait for each other, nor do they disturb each other */
    Work *works;         /* by step */
    CcsLaneId *queues;   /* by block: its first message */
    uint32_t first_slot; /* behind what the file knows of as scratch chunks */
    uint32_t *n_slots;   /* by rank and part */
    uint32_t most_slots;
    GArray *sized; /* of uint32_t: chunks of the collective that are as large as those sent */
    CcsMscclCells *cells;
    CcsMscclNames *names; /* owned by the schedule */
    uint64_t n_touched;
    uint64_t n_waits;
    uint32_t search;
    GArray *open;   /* of uint32_t: steps that a search has to look at */
    GArray *events; /* of Done: what it has found */
    uint32_t label;
} Builder;

static const CcsMscclBlock *block_of(const Builder *builder, const CcsMscclStep *step)
{
    return &g_array_index(builder->msccl->blocks, CcsMscclBlock, step->block);
}

/* Cells that nothing else uses, for the chunks of @step. */
static uint32_t take_slot(Builder *builder, CcsRank rank, uint32_t part, const CcsMscclStep *step)
{
    uint32_t *n_slots = &builder->n_slots[rank * builder->msccl->n_parts + part];
    uint32_t slot = builder->first_slot + *n_slots;

    ccs_msccl_names_add_slot(builder->names, rank, part, slot, step);
    *n_slots += step->n_chunks;
    builder->most_slots = MAX(builder->most_slots, *n_slots);
    return slot;
}

static CcsBox box_of(const Builder *builder, CcsMscclRun run, uint32_t n)
{
    uint32_t n_loops = builder->n_loops;

    return (CcsBox){.buffer = run.buffer,
                    .base = run.first * n_loops,
                    .scale = 1,
                    .step = 1,
                    .modulus = n_loops,
                    .n1 = n,
                    .stride1 = run.stride * n_loops};
}

static CcsBox slot_box(const Builder *builder, uint32_t slot, uint32_t n)
{
    return box_of(builder, (CcsMscclRun){CCS_BUFFER_SCRATCH, slot, 1}, n);
}

static void depend(Builder *builder, CcsLaneId after, Done before, uint32_t distance)
{
    builder->n_waits++;
    ccs_schedule_depend(builder->schedule, &(CcsDependency){.after = after,
                                                            .before = before.lane,
                                                            .event = before.event,
                                                            .p_before = 1,
                                                            .p_after = 1,
                                                            .distance = distance});
}

/* The step that @step waits for. */
static uint32_t wait_of(const Builder *builder, const CcsMscclStep *step)
{
    return step->is_unordered && builder->is_unordered ? CCS_MSCCL_NONE : step->waits_for;
}

/* Adds to the events that are found when @step and those it only waits for are done. */
static void find_done(Builder *builder, uint32_t step)
{
    g_array_append_val(builder->open, step);
    while (builder->open->len > 0) {
        uint32_t index = g_array_index(builder->open, uint32_t, builder->open->len - 1);
        const CcsMscclStep *of = ccs_msccl_step(builder->msccl, index);
        Work *work = &builder->works[index];
        g_array_set_size(builder->open, builder->open->len - 1);
        if (work->seen == builder->search)
            continue;
        work->seen = builder->search;
        builder->n_waits++;
        if (of->type != CCS_MSCCL_NOP) {
            g_array_append_val(builder->events, work->done);
            continue;
        }
        uint32_t before = index - 1;
        if (index > block_of(builder, of)->first_step)
            g_array_append_val(builder->open, before);
        uint32_t other = wait_of(builder, of);
        if (other != CCS_MSCCL_NONE)
            g_array_append_val(builder->open, other);
    }
}

static void begin_search(Builder *builder)
{
    builder->search++;
    g_array_set_size(builder->events, 0);
}

static void depend_on_found(Builder *builder, CcsLaneId after, uint32_t distance)
{
    for (guint i = 0; i < builder->events->len; i++)
        depend(builder, after, g_array_index(builder->events, Done, i), distance);
}

/* The lane that begins step @index waits for all that the step does. */
static void add_waits(Builder *builder, uint32_t index, CcsLaneId lane)
{
    const CcsMscclStep *step = ccs_msccl_step(builder->msccl, index);

    begin_search(builder);
    if (index > block_of(builder, step)->first_step)
        find_done(builder, index - 1);
    uint32_t other = wait_of(builder, step);
    if (other != CCS_MSCCL_NONE)
        find_done(builder, other);
    depend_on_found(builder, lane, 0);
    if (step->sent_by != CCS_MSCCL_NONE)
        depend(builder, lane, (Done){builder->works[step->sent_by].message, CCS_ARRIVED}, 0);
    builder->works[index].start = lane;
}

/* A message that leaves only when its receive is posted. */
static void add_rendezvous(Builder *builder, const CcsMscclStep *step, CcsLaneId message)
{
    uint32_t before = CCS_MSCCL_NONE;

    begin_search(builder);
    for (uint32_t i = 0; ccs_msccl_posted_after(builder->msccl, step->received_by, i, &before);
         i++) {
        if (before != CCS_MSCCL_NONE)
            find_done(builder, before);
    }
    depend_on_found(builder, message, 0);
}

/* A rank that comes late receives in the meantime. */
static bool is_early(const CcsMscclStep *step)
{
    return step->is_early || ccs_msccl_type_info(step->type)->receives;
}

/* Local work of a step, after @before if that is a lane, else as the step's beginning. */
static CcsLaneId add_local(Builder *builder, uint32_t index, uint32_t part, CcsLaneId before,
                           CcsBox from, CcsBox to, bool is_added)
{
    const CcsMscclStep *step = ccs_msccl_step(builder->msccl, index);
    CcsRank rank = block_of(builder, step)->rank;
    CcsLaneId lane = ccs_schedule_add_lane(builder->schedule,
                                           &(CcsLane){.source = rank,
                                                      .peer = rank,
                                                      .channel = part,
                                                      .n_messages = builder->n_loops,
                                                      .n_reduced = is_added ? builder->n_loops : 0,
                                                      .from = from,
                                                      .to = to,
                                                      .is_early = is_early(step),
                                                      .label = builder->label});

    if (before == CCS_NO_LANE)
        add_waits(builder, index, lane);
    else
        depend(builder, lane, (Done){before, CCS_ARRIVED}, 0);
    builder->works[index].done = (Done){lane, CCS_ARRIVED};
    return lane;
}

/* The list of sizes of what @step sends; 0 if it is as large as the cells that it lies in. */
static uint32_t list_sizes(Builder *builder, const Work *work, uint32_t n, bool is_natural)
{
    g_autofree uint32_t *chunks = NULL;

    if (is_natural)
        return 0;
    chunks = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        chunks[i] = g_array_index(builder->sized, uint32_t, work->sized + i) %
                    builder->layout.per_part * builder->n_loops;
    return ccs_schedule_add_sizes(builder->schedule, chunks, n);
}

/* Sends the cells of @from, of which `sized` tells the sizes. */
static void add_message(Builder *builder, uint32_t index, CcsLaneId before, CcsBox from,
                        bool is_natural)
{
    const CcsMscclStep *step = ccs_msccl_step(builder->msccl, index);
    const CcsMscclStep *receive = ccs_msccl_step(builder->msccl, step->received_by);
    const CcsMscclBlock *block = block_of(builder, step);
    Work *work = &builder->works[index];
    CcsLaneId *queue = &builder->queues[step->block];
    bool is_reduced = ccs_msccl_type_info(receive->type)->reduces || receive->is_reduced_next;
    uint32_t slot = take_slot(builder, block->send, work->part, receive);

    builder->works[step->received_by].slot = slot;
    work->message = ccs_schedule_add_lane(
        builder->schedule,
        &(CcsLane){.source = block->rank,
                   .peer = block->send,
                   .channel = work->part,
                   .n_messages = builder->n_loops,
                   .from = from,
                   .to = slot_box(builder, slot, step->n_chunks),
                   .is_added_there = is_reduced,
                   .sizes = list_sizes(builder, work, step->n_chunks, is_natural),
                   .queue = *queue == CCS_NO_LANE ? 0 : *queue + 1,
                   .label = builder->label,
                   .path = (block->is_on_rail ? ccs_schedule_rail_path : ccs_schedule_path)(
                       builder->schedule, block->rank, block->send, block->nic_channel)});
    if (*queue == CCS_NO_LANE)
        *queue = work->message;
    if (before == CCS_NO_LANE)
        add_waits(builder, index, work->message);
    else
        depend(builder, work->message, (Done){before, CCS_ARRIVED}, 0);
    if (step->is_rendezvous)
        add_rendezvous(builder, step, work->message);
    work->done = (Done){work->message, CCS_SENT};
}

/* As which chunks what the step moves is counted: by its source, or as what it has received. */
static void find_sizes(Builder *builder, uint32_t index)
{
    const CcsMscclStep *step = ccs_msccl_step(builder->msccl, index);
    Work *work = &builder->works[index];
    CcsRank rank = block_of(builder, step)->rank;

    if (step->sent_by != CCS_MSCCL_NONE) {
        work->sized = builder->works[step->sent_by].sized;
        work->part = builder->works[step->sent_by].part;
        return;
    }
    work->sized = builder->sized->len;
    for (uint32_t i = 0; i < step->n_chunks; i++) {
        uint32_t chunk =
            ccs_msccl_counted_as(builder->cells, rank, step->source, step->source_chunk + i);
        g_array_append_val(builder->sized, chunk);
    }
    work->part = g_array_index(builder->sized, uint32_t, work->sized) / builder->layout.per_part;
}

/* What a step does with the message that it receives, in the message's cells. */
static void add_receive(Builder *builder, uint32_t index, CcsBox source, CcsBox target)
{
    const CcsMscclStep *step = ccs_msccl_step(builder->msccl, index);
    const CcsMscclTypeInfo *info = ccs_msccl_type_info(step->type);
    const Work *work = &builder->works[index];
    CcsBox slot = slot_box(builder, work->slot, step->n_chunks);
    CcsLaneId lane = CCS_NO_LANE;

    if (builder->is_unordered && ccs_msccl_adds_in_place(step)) {
        add_local(builder, index, work->part, lane, slot, target, true);
        return;
    }
    if (info->reduces)
        lane = add_local(builder, index, work->part, lane, source, slot, true);
    if (info->has_target)
        lane = add_local(builder, index, work->part, lane, slot, target, false);
    if (info->sends)
        add_message(builder, index, lane, slot, false);
}

static void add_reduce(Builder *builder, uint32_t index, CcsBox source, CcsBox target)
{
    const CcsMscclStep *step = ccs_msccl_step(builder->msccl, index);
    uint32_t part = builder->works[index].part;

    if (builder->is_unordered) {
        add_local(builder, index, part, CCS_NO_LANE, source, target, true);
        return;
    }
    uint32_t slot = take_slot(builder, block_of(builder, step)->rank, part, step);
    CcsBox sum = slot_box(builder, slot, step->n_chunks);
    CcsLaneId lane = add_local(builder, index, part, CCS_NO_LANE, source, sum, false);

    lane = add_local(builder, index, part, lane, target, sum, true);
    add_local(builder, index, part, lane, sum, target, false);
}

/* Messages about the lanes of a step say where it stands. */
static void set_label(Builder *builder, const CcsMscclStep *step)
{
    const char *file = builder->msccl->label;

    builder->label = 0;
    if (file == NULL)
        return;
    g_autofree char *label =
        g_strdup_printf("%s:%u:%u", file, step->place.line, step->place.column);
    builder->label = ccs_schedule_add_label(builder->schedule, label);
}

/* Limits hold what a hostile file may ask for. @place is how far it has been taken in. */
static bool check_limits(const Builder *builder, CcsMarkupPlace place, GError **error)
{
    CcsMarkupText source = ccs_msccl_source(builder->msccl);
    uint64_t n_cells = ((uint64_t)builder->first_slot + builder->most_slots) * builder->n_loops *
                       builder->msccl->n_parts * builder->msccl->n_ranks;

    if (n_cells <= MAX_CELLS && builder->n_touched <= MAX_TOUCHED &&
        builder->n_touched * builder->n_loops <= MAX_MOVED && builder->n_waits <= MAX_WAITS)
        return true;
    if (builder->n_loops == 1)
        return ccs_markup_fail_at(&source, place, error,
                                  "there is too much up to here to take all of it in");
    return ccs_markup_fail_at(&source, place, error,
                              "there is too much up to here to take all of it in with %u loops",
                              builder->n_loops);
}

static bool add_step(Builder *builder, uint32_t index, GError **error)
{
    const CcsMscclStep *step = ccs_msccl_step(builder->msccl, index);
    const CcsMscclTypeInfo *info = ccs_msccl_type_info(step->type);
    Work *work = &builder->works[index];
    CcsRank rank = block_of(builder, step)->rank;
    CcsMscclRun source = {CCS_BUFFER_SCRATCH, 0, 1};
    CcsMscclRun target = {CCS_BUFFER_SCRATCH, 0, 1};

    if (step->type == CCS_MSCCL_NOP)
        return true;
    builder->n_touched += step->n_chunks;
    if (!check_limits(builder, step->place, error))
        return false;
    find_sizes(builder, index);
    if ((info->has_source &&
         !ccs_msccl_find_run(builder->cells, step, rank, true, work->part, &source, error)) ||
        (info->has_target &&
         !ccs_msccl_find_run(builder->cells, step, rank, false, work->part, &target, error)))
        return false;
    if (info->has_target)
        ccs_msccl_remember(builder->cells, step, rank,
                           &g_array_index(builder->sized, uint32_t, work->sized));
    set_label(builder, step);
    CcsBox from = box_of(builder, source, step->n_chunks);
    CcsBox to = box_of(builder, target, step->n_chunks);
    if (info->receives)
        add_receive(builder, index, from, to);
    else if (step->type == CCS_MSCCL_SEND)
        add_message(builder, index, CCS_NO_LANE, from, ccs_msccl_is_natural(builder->cells, step));
    else if (step->type == CCS_MSCCL_COPY)
        add_local(builder, index, work->part, CCS_NO_LANE, from, to, false);
    else
        add_reduce(builder, index, from, to);
    return true;
}

/* A block begins a loop when it has ended the one before. */
static void join_loops(Builder *builder, const CcsMscclBlock *block)
{
    for (uint32_t i = block->first_step; i < block->first_step + block->n_steps; i++) {
        if (ccs_msccl_step(builder->msccl, i)->type == CCS_MSCCL_NOP)
            continue;
        begin_search(builder);
        find_done(builder, block->first_step + block->n_steps - 1);
        depend_on_found(builder, builder->works[i].start, 1);
        return;
    }
}

static bool add_steps(Builder *builder, GError **error)
{
    const CcsMsccl *msccl = builder->msccl;

    for (guint i = 0; i < msccl->steps->len; i++) {
        if (!add_step(builder, msccl->order[i], error))
            return false;
    }
    for (guint i = 0; i < msccl->blocks->len && builder->n_loops > 1; i++)
        join_loops(builder, &g_array_index(msccl->blocks, CcsMscclBlock, i));
    ccs_schedule_set_n_scratch(builder->schedule,
                               (builder->first_slot + builder->most_slots) * builder->n_loops);
    return true;
}

/* Which rank each chunk of a part belongs to, where that is not simply in order. */
static void set_owners(const Builder *builder)
{
    const CcsMsccl *msccl = builder->msccl;
    uint32_t n_loops = builder->n_loops;
    g_autofree CcsRank *owners = NULL;

    if (msccl->gpus[0].order == NULL)
        return;
    owners = g_new(CcsRank, (size_t)msccl->n_chunks * n_loops);
    for (uint32_t chunk = 0; chunk < msccl->n_chunks; chunk++) {
        uint32_t part = 0;
        uint32_t at = 0;
        ccs_msccl_place(&builder->layout, chunk, &part, &at);
        for (uint32_t loop = 0; loop < n_loops; loop++)
            owners[(part * builder->layout.per_part + at) * n_loops + loop] =
                chunk / builder->layout.per_block;
    }
    for (uint32_t part = 0; part < msccl->n_parts; part++)
        ccs_schedule_set_owners(builder->schedule, part,
                                &owners[part * builder->layout.per_part * n_loops]);
}

static void builder_init(Builder *builder, const CcsMsccl *msccl, const CcsMscclUse *use)
{
    *builder = (Builder){.msccl = msccl,
                         .layout = ccs_msccl_layout(msccl),
                         .n_loops = use->n_loops,
                         .is_unordered = msccl->has_unordered && !use->is_by_letter,
                         .works = g_new0(Work, msccl->steps->len + 1),
                         .queues = g_new(CcsLaneId, msccl->blocks->len + 1),
                         .n_slots = g_new0(uint32_t, (size_t)msccl->n_ranks * msccl->n_parts),
                         .sized = g_array_new(false, false, sizeof(uint32_t)),
                         .cells = ccs_msccl_cells_new(msccl, use->is_in_place),
                         .open = g_array_new(false, false, sizeof(uint32_t)),
                         .events = g_array_new(false, false, sizeof(Done))};
    builder->first_slot = ccs_msccl_cells_n(builder->cells);
    for (guint i = 0; i < msccl->blocks->len; i++)
        builder->queues[i] = CCS_NO_LANE;
}

static void builder_clear(Builder *builder)
{
    ccs_schedule_free(builder->schedule);
    g_free(builder->works);
    g_free(builder->queues);
    g_free(builder->n_slots);
    g_array_unref(builder->sized);
    ccs_msccl_cells_free(builder->cells);
    g_array_unref(builder->open);
    g_array_unref(builder->events);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Builder, builder_clear)

static void free_names(void *names)
{
    ccs_msccl_names_free(names);
}

CcsSchedule *ccs_msccl_schedule(const CcsMsccl *msccl, const CcsCommunicator *communicator,
                                const CcsMscclUse *use, GError **error)
{
    g_auto(Builder) builder;

    builder_init(&builder, msccl, use);
    if (!check_limits(&builder, msccl->place, error))
        return NULL;
    builder.schedule =
        ccs_schedule_new(msccl->collective, communicator, use->root, msccl->n_parts, use->n_loops);
    if (ccs_communicator_n_ranks(communicator) != msccl->n_ranks) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT, "%s is for %u GPUs, and the job has %u",
                    msccl->label, msccl->n_ranks, ccs_communicator_n_ranks(communicator));
        return NULL;
    }
    builder.names = ccs_msccl_names_new(msccl, use, builder.first_slot);
    ccs_schedule_set_place_names(builder.schedule, ccs_msccl_names_find, builder.names, free_names);
    ccs_schedule_add_phase(builder.schedule, "program");
    ccs_schedule_set_n_chunks(builder.schedule, builder.layout.per_part * use->n_loops);
    ccs_schedule_set_placing(builder.schedule, use->is_in_place ? CCS_PLACING_IN : CCS_PLACING_OUT);
    set_owners(&builder);
    if (!add_steps(&builder, error))
        return NULL;
    return g_steal_pointer(&builder.schedule);
}
