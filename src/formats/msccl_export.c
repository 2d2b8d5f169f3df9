/* Writes a schedule as a program.
 *
 * Each lane becomes a block at its source, which sends, and one at its peer, which receives; where
 * its peers differ, one of each for every peer. What a message waits for becomes what its send
 * waits for, if it is seen at the source. If it is seen at the peer, MSCCL cannot say it of the
 * send; the receive waits for it, so that data land where they may, and an attribute of the
 * send says that the message does, too.
 *
 * MSCCL moves chunks that follow one another. Others are put aside in scratch chunks first, in
 * order, and back into their places at the receiver.
 *
 * Two steps that add to the same chunk at once would disturb each other, so that the second waits
 * for the first, in the order of one play. In the schedule it does not, nor does what comes after
 * it in its block; an attribute says so.
 *
 * In the schedule a rank that comes late receives in the meantime. What is done here with copies,
 * another attribute says of these. */
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "collectives/cells.h"
#include "collectives/progress.h"
#include "formats/msccl_draft.h"
#include "formats/msccl_head.h"
#include "formats/msccl_internal.h"
#include "formats/msccl_places.h"

typedef struct {
    uint32_t sender; /* blocks of the draft */
    uint32_t receiver;
} Connection;

typedef struct {
    const CcsSchedule *schedule;
    CcsMsccl *msccl;
    CcsMscclPlaces *places;
    CcsMscclDraft *draft;
    CcsProgress *progress;
    GPtrArray *notes;
    bool is_paths_noted;
    uint32_t *first;      /* by lane: its first message in one row of all */
    CcsMscclRef *sent;    /* by message: the step after which it has left */
    CcsMscclRef *arrived; /* by message: the step after which it is where it belongs */
    uint32_t *first_need; /* by lane: its dependencies in `needs` */
    uint32_t *needs;
    GHashTable *joins;       /* of messages that move nothing: the steps (a GArray of CcsMscclRef,
                                owned) that they wait for */
    GHashTable *connections; /* of lane and peer to Connection, owned */
    GHashTable *n_between;   /* of source, peer and channel to how many lanes there are */
    GHashTable *added;       /* of cells to CcsMscclRef, owned: the last step that added to it */
    uint32_t *n_aside;       /* by rank: scratch chunks that have been used to put data aside */
    CcsMscclRef *copied_in;  /* by rank and channel: where the output begins with the input */
    GArray *waits;           /* of CcsMscclRef: of the step to be written */
    GArray *posted;          /* likewise, what its sender waits for, too */
    GArray *others;          /* likewise, other additions to the same chunks */
    GArray *from;            /* of CcsMscclPlace */
    GArray *to;
} Exporter;

static gint64 *new_key(uint64_t a, uint64_t b)
{
    gint64 key = (gint64)(a << 32 | b);
    return g_memdup2(&key, sizeof key);
}

/* Scratch chunks of @rank that nothing else uses, as many as @places. */
static GArray *put_aside(Exporter *exporter, CcsRank rank, const GArray *places)
{
    GArray *aside = g_array_new(false, false, sizeof(CcsMscclPlace));

    for (guint i = 0; i < places->len; i++) {
        uint32_t index = exporter->n_aside[rank]++;
        CcsMscclPlace place = {CCS_BUFFER_SCRATCH, exporter->msccl->n_chunks + index, index};
        g_array_append_val(aside, place);
    }
    return aside;
}

static gint64 added_key(CcsRank rank, const CcsMscclPlace *place)
{
    return (gint64)((uint64_t)(rank * CCS_N_BUFFERS + place->buffer) << 32 | place->chunk);
}

/* Finds what has added to these chunks before. */
static void find_others(Exporter *exporter, CcsRank rank, const GArray *places, uint32_t begin,
                        uint32_t n)
{
    g_array_set_size(exporter->others, 0);
    for (uint32_t i = begin; i < begin + n; i++) {
        gint64 key = added_key(rank, ccs_msccl_place_at(places, i));
        const CcsMscclRef *before = g_hash_table_lookup(exporter->added, &key);
        if (before != NULL)
            g_array_append_val(exporter->others, *before);
    }
}

static void remember_added(Exporter *exporter, CcsRank rank, const GArray *places, uint32_t begin,
                           uint32_t n, bool is_added, CcsMscclRef step)
{
    for (uint32_t i = begin; i < begin + n; i++) {
        gint64 key = added_key(rank, ccs_msccl_place_at(places, i));
        if (is_added)
            g_hash_table_insert(exporter->added, g_memdup2(&key, sizeof key),
                                g_memdup2(&step, sizeof step));
        else
            g_hash_table_remove(exporter->added, &key);
    }
}

static CcsMscclStep make_step(CcsMscclType type, const CcsMscclPlace *source,
                              const CcsMscclPlace *target, uint32_t n)
{
    return (CcsMscclStep){.type = type,
                          .source = source->buffer,
                          .source_chunk = source->chunk,
                          .target = target->buffer,
                          .target_chunk = target->chunk,
                          .n_chunks = n};
}

/* A step that adds to @places from @begin on, or copies to them. */
static CcsMscclRef add_step(Exporter *exporter, uint32_t block, CcsRank rank,
                            const CcsMscclStep *step, const GArray *places, uint32_t begin,
                            bool is_added)
{
    CcsMscclWaits waits = {.needed = exporter->waits};

    if (ccs_msccl_type_info(step->type)->receives)
        waits.posted = exporter->posted;
    if (is_added) {
        find_others(exporter, rank, places, begin, step->n_chunks);
        waits.added = exporter->others;
    }
    CcsMscclRef added = ccs_msccl_draft_add(exporter->draft, block, step, &waits);
    remember_added(exporter, rank, places, begin, step->n_chunks, is_added, added);
    g_array_set_size(exporter->waits, 0);
    return added;
}

/* Copies or adds @from to @to inside a rank, though it comes late if @is_early; the first step
 * waits for what is in `waits`. Returns: the last step. */
static CcsMscclRef add_local(Exporter *exporter, uint32_t block, CcsRank rank, const GArray *from,
                             const GArray *to, bool is_added, bool is_early)
{
    CcsMscclType type = is_added ? CCS_MSCCL_REDUCE : CCS_MSCCL_COPY;
    CcsMscclRef last = {CCS_MSCCL_NONE, CCS_MSCCL_NONE};

    for (uint32_t begin = 0; begin < from->len;) {
        uint32_t n = MIN(ccs_msccl_run_length(from, begin), ccs_msccl_run_length(to, begin));
        CcsMscclStep step =
            make_step(type, ccs_msccl_place_at(from, begin), ccs_msccl_place_at(to, begin), n);
        step.is_early = is_early;
        last = add_step(exporter, block, rank, &step, to, begin, is_added);
        begin += n;
    }
    return last;
}

static void wait_for(GArray *waits, CcsMscclRef step)
{
    g_array_append_val(waits, step);
}

/* Where the output begins with the input, it must have got there before the output is used, and
 * before the input is written. */
static void wait_for_copy(Exporter *exporter, CcsRank rank, const CcsLane *lane, bool is_source)
{
    CcsBuffer buffer = is_source ? lane->from.buffer : lane->to.buffer;

    if (exporter->copied_in != NULL &&
        (buffer == CCS_BUFFER_OUTPUT || (buffer == CCS_BUFFER_INPUT && !is_source)))
        wait_for(exporter->waits,
                 exporter->copied_in[rank * exporter->msccl->n_parts + lane->channel]);
}

static CcsMscclRef add_send(Exporter *exporter, uint32_t block, const CcsLane *lane)
{
    g_autoptr(GArray) aside = NULL;
    const GArray *from = exporter->from;

    wait_for_copy(exporter, lane->source, lane, true);
    if (!ccs_msccl_is_run(from)) {
        aside = put_aside(exporter, lane->source, from);
        add_local(exporter, block, lane->source, from, aside, false, false);
        from = aside;
    }
    CcsMscclStep step = make_step(CCS_MSCCL_SEND, ccs_msccl_place_at(from, 0),
                                  ccs_msccl_place_at(exporter->to, 0), from->len);
    step.is_rendezvous = exporter->posted->len > 0;
    CcsMscclRef added = ccs_msccl_draft_add(exporter->draft, block, &step,
                                            &(CcsMscclWaits){.needed = exporter->waits});
    g_array_set_size(exporter->waits, 0);
    return added;
}

static CcsMscclRef add_receive(Exporter *exporter, uint32_t block, const CcsLane *lane,
                               CcsRank peer, bool is_reduced)
{
    GArray *to = exporter->to;
    bool is_direct = ccs_msccl_is_run(to);
    g_autoptr(GArray) aside = is_direct ? NULL : put_aside(exporter, peer, to);
    CcsMscclStep step = make_step(CCS_MSCCL_RECV, ccs_msccl_place_at(exporter->from, 0),
                                  ccs_msccl_place_at(is_direct ? to : aside, 0), to->len);

    wait_for_copy(exporter, peer, lane, false);
    step.is_reduced_next = is_reduced && !is_direct;
    if (is_direct && is_reduced)
        step = make_step(CCS_MSCCL_RECV_REDUCE_COPY, ccs_msccl_place_at(to, 0),
                         ccs_msccl_place_at(to, 0), to->len);
    CcsMscclRef last =
        add_step(exporter, block, peer, &step, is_direct ? to : aside, 0, is_direct && is_reduced);
    return is_direct ? last : add_local(exporter, block, peer, aside, to, is_reduced, true);
}

static bool is_same_path(const CcsPath *a, const CcsPath *b)
{
    return a->leave_gpu == b->leave_gpu && a->leave_nic == b->leave_nic &&
           a->enter_nic == b->enter_nic && a->enter_gpu == b->enter_gpu;
}

/* Whether the lane's messages go by the rail of its channel. What is neither that nor the way
 * that they would take by themselves is noted. */
static bool is_on_rail(Exporter *exporter, const CcsLane *lane, CcsRank peer)
{
    CcsPath own = ccs_schedule_path(exporter->schedule, lane->source, peer, lane->channel);
    CcsPath rail = ccs_schedule_rail_path(exporter->schedule, lane->source, peer, lane->channel);

    if (lane->peer_kind != CCS_PEER_FIXED || is_same_path(&lane->path, &own))
        return false;
    if (is_same_path(&lane->path, &rail))
        return true;
    if (!exporter->is_paths_noted)
        g_ptr_array_add(exporter->notes,
                        g_strdup("the file does not say which NICs all messages take"));
    exporter->is_paths_noted = true;
    return false;
}

/* A channel of MSCCL for each lane between two ranks. */
static uint32_t take_channel(Exporter *exporter, const CcsLane *lane, CcsRank peer)
{
    CcsMsccl *msccl = exporter->msccl;
    g_autofree gint64 *key = new_key((uint64_t)lane->source * msccl->n_ranks + peer, lane->channel);
    uint32_t n = GPOINTER_TO_UINT(g_hash_table_lookup(exporter->n_between, key));
    uint32_t channel = lane->channel + n * msccl->n_parts;

    g_hash_table_insert(exporter->n_between, g_steal_pointer(&key), GUINT_TO_POINTER(n + 1));
    msccl->n_channels = MAX(msccl->n_channels, channel + 1);
    return channel;
}

static const Connection *find_connection(Exporter *exporter, CcsLaneId id, CcsRank peer)
{
    const CcsLane *lane = ccs_schedule_lane(exporter->schedule, id);
    g_autofree gint64 *key = new_key(id, peer);
    Connection *found = g_hash_table_lookup(exporter->connections, key);

    if (found != NULL)
        return found;
    bool is_local = ccs_lane_is_local(lane);
    CcsMscclBlock head = {.rank = lane->source,
                          .send = is_local ? CCS_NO_RANK : peer,
                          .recv = CCS_NO_RANK,
                          .channel = is_local ? lane->channel : take_channel(exporter, lane, peer),
                          .nic_channel = lane->channel,
                          .is_on_rail = !is_local && is_on_rail(exporter, lane, peer)};
    found = g_new(Connection, 1);
    found->sender = found->receiver = ccs_msccl_draft_add_block(exporter->draft, &head);
    if (!is_local) {
        head.rank = peer;
        head.send = CCS_NO_RANK;
        head.recv = lane->source;
        head.nic_channel = head.channel;
        head.is_on_rail = false;
        found->receiver = ccs_msccl_draft_add_block(exporter->draft, &head);
    }
    g_hash_table_insert(exporter->connections, g_steal_pointer(&key), found);
    return found;
}

/* Step @step, at @rank, must come before message @message of @lane. */
static bool add_wait(Exporter *exporter, const CcsLane *lane, uint32_t message, CcsRank rank,
                     CcsMscclRef step, GError **error)
{
    if (rank == lane->source)
        wait_for(exporter->waits, step);
    else if (rank == ccs_lane_peer(lane, message, exporter->msccl->n_ranks))
        wait_for(exporter->posted, step);
    else
        return ccs_msccl_refuse(error, "that rank %u waits for what happens at rank %u",
                                lane->source, rank);
    return true;
}

static bool add_wait_for(Exporter *exporter, const CcsLane *lane, uint32_t message,
                         CcsLaneId before, CcsEvent event, uint32_t awaited, GError **error)
{
    const CcsLane *other = ccs_schedule_lane(exporter->schedule, before);
    uint32_t index = exporter->first[before] + awaited;
    const GArray *joined = g_hash_table_lookup(exporter->joins, GUINT_TO_POINTER(index));

    for (guint i = 0; joined != NULL && i < joined->len; i++) {
        if (!add_wait(exporter, lane, message, other->source, g_array_index(joined, CcsMscclRef, i),
                      error))
            return false;
    }
    if (joined != NULL)
        return true;
    if (event == CCS_SENT)
        return add_wait(exporter, lane, message, other->source, exporter->sent[index], error);
    return add_wait(exporter, lane, message,
                    ccs_lane_peer(other, awaited, exporter->msccl->n_ranks),
                    exporter->arrived[index], error);
}

/* What the message before this one has waited for has come. */
static bool add_need(Exporter *exporter, const CcsDependency *dependency, uint32_t message,
                     GError **error)
{
    const CcsSchedule *schedule = exporter->schedule;
    const CcsLane *lane = ccs_schedule_lane(schedule, dependency->after);
    const CcsLane *before = ccs_schedule_lane(schedule, dependency->before);

    if (dependency->is_by_sender) {
        if (message < dependency->from || message < dependency->distance)
            return true;
        uint32_t awaited = message - dependency->distance;
        CcsRank sender = ccs_lane_sender(lane, awaited, lane->source, exporter->msccl->n_ranks);
        return add_wait_for(exporter, lane, message, dependency->before + sender, CCS_ARRIVED,
                            awaited, error);
    }
    uint32_t n = ccs_dependency_needs(dependency, message, before->n_messages);
    uint32_t n_come =
        message == 0 ? 0 : ccs_dependency_needs(dependency, message - 1, before->n_messages);
    if (before->peer_kind == CCS_PEER_FIXED) /* the last one is enough */
        n_come = MAX(n_come, n == 0 ? 0 : n - 1);
    for (uint32_t i = n_come; i < n; i++) {
        if (!add_wait_for(exporter, lane, message, dependency->before, dependency->event, i, error))
            return false;
    }
    return true;
}

static bool add_needs(Exporter *exporter, CcsLaneId id, uint32_t message, GError **error)
{
    const CcsLane *lane = ccs_schedule_lane(exporter->schedule, id);

    g_array_set_size(exporter->waits, 0);
    g_array_set_size(exporter->posted, 0);
    for (uint32_t i = exporter->first_need[id]; i < exporter->first_need[id + 1]; i++) {
        if (!add_need(exporter, ccs_schedule_dependency(exporter->schedule, exporter->needs[i]),
                      message, error))
            return false;
    }
    if (message > 0 && lane->peer_kind != CCS_PEER_FIXED) /* they are in blocks of their own */
        wait_for(exporter->waits, exporter->sent[exporter->first[id] + message - 1]);
    return true;
}

/* What waits for this message waits for all that it waits for. */
static void join(Exporter *exporter, uint32_t message)
{
    GArray *joined = g_array_new(false, false, sizeof(CcsMscclRef));

    if (exporter->waits->len > 0)
        g_array_append_vals(joined, exporter->waits->data, exporter->waits->len);
    g_hash_table_insert(exporter->joins, GUINT_TO_POINTER(message), joined);
}

static bool add_message(Exporter *exporter, CcsLaneId id, uint32_t message, GError **error)
{
    const CcsLane *lane = ccs_schedule_lane(exporter->schedule, id);
    CcsRank peer = ccs_lane_peer(lane, message, exporter->msccl->n_ranks);
    bool is_reduced = message < lane->n_reduced;
    uint32_t index = exporter->first[id] + message;
    CcsMscclRef *sent = &exporter->sent[index];
    CcsMscclRef *arrived = &exporter->arrived[index];

    if (!add_needs(exporter, id, message, error))
        return false;
    if (ccs_lane_is_join(lane)) {
        join(exporter, index);
        return true;
    }
    const Connection *connection = find_connection(exporter, id, peer);
    if (!ccs_msccl_places_find(exporter->places, lane, message, true, exporter->from, error) ||
        !ccs_msccl_places_find(exporter->places, lane, message, false, exporter->to, error))
        return false;
    if (ccs_lane_is_local(lane)) {
        wait_for_copy(exporter, peer, lane, true);
        wait_for_copy(exporter, peer, lane, false);
        *sent = *arrived = add_local(exporter, connection->sender, peer, exporter->from,
                                     exporter->to, is_reduced, false);
        return true;
    }
    *sent = add_send(exporter, connection->sender, lane);
    *arrived = add_receive(exporter, connection->receiver, lane, peer, is_reduced);
    return true;
}

static void wake(Exporter *exporter, CcsLaneId lane, CcsEvent event, uint32_t message,
                 GArray *ready)
{
    uint32_t n = 0;
    const CcsLaneId *waiters = ccs_progress_waiters(exporter->progress, lane, event, message, &n);

    if (n > 0)
        g_array_append_vals(ready, waiters, n);
}

/* The messages of all lanes of @ready that may start do, at once; then they arrive. In @ready there
 * are then the lanes that may be able to start next. */
static bool play_round(Exporter *exporter, GArray *ready, GArray *started, GError **error)
{
    g_array_set_size(started, 0);
    for (guint i = 0; i < ready->len; i++) {
        CcsLaneId lane = g_array_index(ready, CcsLaneId, i);
        if (!ccs_progress_may_start(exporter->progress, lane))
            continue;
        if (!add_message(exporter, lane, ccs_progress_start(exporter->progress, lane), error))
            return false;
        g_array_append_val(started, lane);
    }
    g_array_set_size(ready, 0);
    for (guint i = 0; i < started->len; i++) {
        CcsLaneId lane = g_array_index(started, CcsLaneId, i);
        uint32_t message = ccs_progress_of(exporter->progress, lane)->n_started - 1;
        ccs_progress_sent(exporter->progress, lane);
        ccs_progress_arrived(exporter->progress, lane, message);
        wake(exporter, lane, CCS_SENT, message, ready);
        wake(exporter, lane, CCS_ARRIVED, message, ready);
        g_array_append_val(ready, lane);
    }
    return true;
}

/* All messages, in the order in which they come if each takes as long as any other. */
static bool add_messages(Exporter *exporter, GError **error)
{
    g_autoptr(GArray) ready = g_array_new(false, false, sizeof(CcsLaneId));
    g_autoptr(GArray) started = g_array_new(false, false, sizeof(CcsLaneId));

    for (CcsLaneId lane = 0; lane < ccs_schedule_n_lanes(exporter->schedule); lane++)
        g_array_append_val(ready, lane);
    while (ready->len > 0) {
        if (!play_round(exporter, ready, started, error))
            return false;
    }
    if (ccs_progress_is_done(exporter->progress))
        return true;
    g_autofree char *wait = ccs_progress_describe_wait(exporter->progress);
    g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK, "deadlock: %s", wait);
    return false;
}

/* The input is copied to the output, where the schedule expects it, before anything else. */
static bool copy_in(Exporter *exporter, GError **error)
{
    uint32_t n_parts = exporter->msccl->n_parts;

    exporter->copied_in = g_new(CcsMscclRef, (size_t)exporter->msccl->n_ranks * n_parts);
    for (CcsRank rank = 0; rank < exporter->msccl->n_ranks; rank++) {
        for (uint32_t channel = 0; channel < n_parts; channel++) {
            CcsMscclBlock head = {.rank = rank,
                                  .send = CCS_NO_RANK,
                                  .recv = CCS_NO_RANK,
                                  .channel = channel,
                                  .nic_channel = channel};
            if (!ccs_msccl_places_of_part(exporter->places, rank, CCS_BUFFER_INPUT, channel,
                                          exporter->from, error) ||
                !ccs_msccl_places_of_part(exporter->places, rank, CCS_BUFFER_OUTPUT, channel,
                                          exporter->to, error))
                return false;
            exporter->copied_in[rank * n_parts + channel] =
                add_local(exporter, ccs_msccl_draft_add_block(exporter->draft, &head), rank,
                          exporter->from, exporter->to, false, true);
        }
    }
    return true;
}

/* Sorts the dependencies by the lanes that wait. */
static void index_needs(Exporter *exporter)
{
    const CcsSchedule *schedule = exporter->schedule;
    uint32_t n_lanes = ccs_schedule_n_lanes(schedule);
    uint32_t n = ccs_schedule_n_dependencies(schedule);

    exporter->first_need = g_new0(uint32_t, n_lanes + 2);
    exporter->needs = g_new(uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        exporter->first_need[ccs_schedule_dependency(schedule, i)->after + 2]++;
    for (CcsLaneId lane = 2; lane < n_lanes + 2; lane++)
        exporter->first_need[lane] += exporter->first_need[lane - 1];
    for (uint32_t i = 0; i < n; i++)
        exporter->needs[exporter->first_need[ccs_schedule_dependency(schedule, i)->after + 1]++] =
            i;
}

static void exporter_init(Exporter *exporter, const CcsSchedule *schedule, CcsMsccl *msccl,
                          GPtrArray *notes)
{
    uint32_t n_lanes = ccs_schedule_n_lanes(schedule);
    uint32_t n_messages = 0;

    *exporter = (Exporter){
        .schedule = schedule,
        .msccl = msccl,
        .draft = ccs_msccl_draft_new(),
        .progress = ccs_progress_new(schedule),
        .notes = notes,
        .first = g_new(uint32_t, n_lanes + 1),
        .joins = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref),
        .connections = g_hash_table_new_full(ccs_int64_hash, g_int64_equal, g_free, g_free),
        .n_between = g_hash_table_new_full(ccs_int64_hash, g_int64_equal, g_free, NULL),
        .added = g_hash_table_new_full(ccs_int64_hash, g_int64_equal, g_free, g_free),
        .n_aside = g_new0(uint32_t, msccl->n_ranks),
        .waits = g_array_new(false, false, sizeof(CcsMscclRef)),
        .posted = g_array_new(false, false, sizeof(CcsMscclRef)),
        .others = g_array_new(false, false, sizeof(CcsMscclRef)),
        .from = g_array_new(false, false, sizeof(CcsMscclPlace)),
        .to = g_array_new(false, false, sizeof(CcsMscclPlace))};
    for (CcsLaneId lane = 0; lane < n_lanes; lane++) {
        exporter->first[lane] = n_messages;
        n_messages += ccs_schedule_lane(schedule, lane)->n_messages;
    }
    exporter->sent = g_new0(CcsMscclRef, n_messages + 1);
    exporter->arrived = g_new0(CcsMscclRef, n_messages + 1);
    index_needs(exporter);
}

static void exporter_clear(Exporter *exporter)
{
    ccs_msccl_places_free(exporter->places);
    ccs_msccl_draft_free(exporter->draft);
    ccs_progress_free(exporter->progress);
    g_free(exporter->first);
    g_free(exporter->sent);
    g_free(exporter->arrived);
    g_free(exporter->first_need);
    g_free(exporter->needs);
    g_hash_table_unref(exporter->joins);
    g_hash_table_unref(exporter->connections);
    g_hash_table_unref(exporter->n_between);
    g_hash_table_unref(exporter->added);
    g_free(exporter->n_aside);
    g_free(exporter->copied_in);
    g_array_unref(exporter->waits);
    g_array_unref(exporter->posted);
    g_array_unref(exporter->others);
    g_array_unref(exporter->from);
    g_array_unref(exporter->to);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Exporter, exporter_clear)

CcsMsccl *ccs_msccl_from_schedule(const CcsSchedule *schedule, const char *name, GPtrArray *notes,
                                  GError **error)
{
    g_autoptr(CcsMsccl) msccl = ccs_msccl_head(schedule, name, error);
    if (msccl == NULL)
        return NULL;

    bool is_copied = msccl->is_out_of_place && msccl->collective != CCS_ALLTOALL;
    g_auto(Exporter) exporter;
    exporter_init(&exporter, schedule, msccl, notes);
    exporter.places = ccs_msccl_places_new(schedule, msccl, error);
    if (exporter.places == NULL || (is_copied && !copy_in(&exporter, error)) ||
        !add_messages(&exporter, error))
        return NULL;
    ccs_msccl_draft_finish(exporter.draft, msccl);
    ccs_msccl_finish_head(msccl, exporter.places, notes);
    return g_steal_pointer(&msccl);
}
