#include "collectives/schedule.h"

#include <string.h>

struct CcsSchedule {
    CcsCollective collective;
    const CcsCommunicator *communicator;
    CcsRank root;
    uint32_t n_channels;
    uint32_t pipeline;
    uint32_t n_chunks;
    uint32_t n_scratch; /* 0: as many as chunks */
    CcsPlacing placing;
    CcsRank *owners;           /* by channel and chunk; NULL if dealt out in order */
    uint32_t distance;         /* of sendrecv */
    const CcsWeights *weights; /* not owned; may be NULL */
    GPtrArray *labels;         /* of owned texts */
    CcsPlaceName *place_name;  /* NULL: none */
    void *place_names;         /* owned, by the function below */
    GDestroyNotify free_place_names;
    GArray *sizes;        /* of uint32_t: for each list how many chunks, and which */
    GPtrArray *phases;    /* of owned names, NULL-terminated */
    GArray *lanes;        /* of CcsLane */
    GArray *dependencies; /* of CcsDependency */
};

CcsSchedule *ccs_schedule_new(CcsCollective collective, const CcsCommunicator *communicator,
                              CcsRank root, uint32_t n_channels, uint32_t pipeline)
{
    CcsSchedule *schedule = g_new0(CcsSchedule, 1);

    schedule->collective = collective;
    schedule->communicator = communicator;
    schedule->root = root;
    schedule->n_channels = n_channels;
    schedule->pipeline = pipeline;
    schedule->n_chunks = 1;
    schedule->distance = 1;
    schedule->labels = g_ptr_array_new_with_free_func(g_free);
    schedule->sizes = g_array_new(false, false, sizeof(uint32_t));
    schedule->phases = g_ptr_array_new_null_terminated(1, g_free, true);
    schedule->lanes = g_array_new(false, false, sizeof(CcsLane));
    schedule->dependencies = g_array_new(false, false, sizeof(CcsDependency));
    return schedule;
}

void ccs_schedule_free(CcsSchedule *schedule)
{
    if (schedule == NULL)
        return;
    g_free(schedule->owners);
    g_ptr_array_unref(schedule->labels);
    if (schedule->free_place_names != NULL)
        schedule->free_place_names(schedule->place_names);
    g_array_unref(schedule->sizes);
    g_ptr_array_unref(schedule->phases);
    g_array_unref(schedule->lanes);
    g_array_unref(schedule->dependencies);
    g_free(schedule);
}

CcsCollective ccs_schedule_collective(const CcsSchedule *schedule)
{
    return schedule->collective;
}

const CcsCommunicator *ccs_schedule_communicator(const CcsSchedule *schedule)
{
    return schedule->communicator;
}

CcsRank ccs_schedule_root(const CcsSchedule *schedule)
{
    return schedule->root;
}

uint32_t ccs_schedule_n_ranks(const CcsSchedule *schedule)
{
    return ccs_communicator_n_ranks(schedule->communicator);
}

uint32_t ccs_schedule_n_channels(const CcsSchedule *schedule)
{
    return schedule->n_channels;
}

uint32_t ccs_schedule_pipeline(const CcsSchedule *schedule)
{
    return schedule->pipeline;
}

uint32_t ccs_schedule_n_chunks(const CcsSchedule *schedule)
{
    return schedule->n_chunks;
}

uint32_t ccs_schedule_distance(const CcsSchedule *schedule)
{
    return schedule->distance;
}

void ccs_schedule_set_distance(CcsSchedule *schedule, uint32_t distance)
{
    schedule->distance = distance;
}

const CcsWeights *ccs_schedule_weights(const CcsSchedule *schedule)
{
    return schedule->weights;
}

void ccs_schedule_set_weights(CcsSchedule *schedule, const CcsWeights *weights)
{
    schedule->weights = weights;
}

void ccs_schedule_set_n_chunks(CcsSchedule *schedule, uint32_t n_chunks)
{
    schedule->n_chunks = n_chunks;
}

uint32_t ccs_schedule_n_places(const CcsSchedule *schedule, CcsBuffer buffer)
{
    return buffer == CCS_BUFFER_SCRATCH && schedule->n_scratch > 0 ? schedule->n_scratch
                                                                   : schedule->n_chunks;
}

void ccs_schedule_set_n_scratch(CcsSchedule *schedule, uint32_t n_places)
{
    schedule->n_scratch = n_places;
}

CcsPlacing ccs_schedule_placing(const CcsSchedule *schedule)
{
    return schedule->placing;
}

void ccs_schedule_set_placing(CcsSchedule *schedule, CcsPlacing placing)
{
    schedule->placing = placing;
}

static CcsRank owner_in_order(const CcsSchedule *schedule, uint32_t chunk)
{
    return (CcsRank)((uint64_t)chunk * ccs_schedule_n_ranks(schedule) / schedule->n_chunks);
}

CcsRank ccs_schedule_owner(const CcsSchedule *schedule, uint32_t channel, uint32_t chunk)
{
    if (schedule->owners == NULL)
        return owner_in_order(schedule, chunk);
    return schedule->owners[channel * schedule->n_chunks + chunk];
}

void ccs_schedule_set_owners(CcsSchedule *schedule, uint32_t channel, const CcsRank *owners)
{
    uint32_t n = schedule->n_chunks;

    if (schedule->owners == NULL) {
        schedule->owners = g_new(CcsRank, (size_t)schedule->n_channels * n);
        for (uint32_t i = 0; i < schedule->n_channels * n; i++)
            schedule->owners[i] = owner_in_order(schedule, i % n);
    }
    memcpy(&schedule->owners[channel * n], owners, n * sizeof(CcsRank));
}

uint32_t ccs_schedule_add_phase(CcsSchedule *schedule, const char *name)
{
    g_ptr_array_add(schedule->phases, g_strdup(name));
    return schedule->phases->len - 1;
}

uint32_t ccs_schedule_n_phases(const CcsSchedule *schedule)
{
    return schedule->phases->len;
}

const char *const *ccs_schedule_phases(const CcsSchedule *schedule)
{
    return (const char *const *)schedule->phases->pdata;
}

uint32_t ccs_schedule_add_label(CcsSchedule *schedule, const char *label)
{
    g_ptr_array_add(schedule->labels, g_strdup(label));
    return schedule->labels->len;
}

const char *ccs_schedule_label(const CcsSchedule *schedule, uint32_t label)
{
    return label == 0 ? NULL : g_ptr_array_index(schedule->labels, label - 1);
}

void ccs_schedule_set_place_names(CcsSchedule *schedule, CcsPlaceName *name, void *data,
                                  GDestroyNotify free)
{
    g_assert(schedule->place_name == NULL);
    schedule->place_name = name;
    schedule->place_names = data;
    schedule->free_place_names = free;
}

char *ccs_schedule_name_place(const CcsSchedule *schedule, const CcsPlace *place, bool is_full)
{
    if (schedule->place_name != NULL)
        return schedule->place_name(schedule->place_names, place);
    if (is_full)
        return g_strdup_printf("chunk %u of channel %u", place->chunk, place->channel);
    return g_strdup_printf("chunk %u", place->chunk);
}

uint32_t ccs_schedule_add_sizes(CcsSchedule *schedule, const uint32_t *chunks, uint32_t n)
{
    uint32_t number = schedule->sizes->len + 1;

    g_array_append_val(schedule->sizes, n);
    g_array_append_vals(schedule->sizes, chunks, n);
    return number;
}

CcsLaneId ccs_schedule_add_lane(CcsSchedule *schedule, const CcsLane *lane)
{
    g_assert(lane->n_messages > 0 && lane->n_reduced <= lane->n_messages);
    g_array_append_val(schedule->lanes, *lane);
    return schedule->lanes->len - 1;
}

uint32_t ccs_schedule_n_lanes(const CcsSchedule *schedule)
{
    return schedule->lanes->len;
}

const CcsLane *ccs_schedule_lane(const CcsSchedule *schedule, CcsLaneId lane)
{
    return &g_array_index(schedule->lanes, CcsLane, lane);
}

void ccs_schedule_depend(CcsSchedule *schedule, const CcsDependency *dependency)
{
    g_assert(dependency->p_before > 0 && dependency->p_after > 0);
    g_array_append_val(schedule->dependencies, *dependency);
}

uint32_t ccs_schedule_n_dependencies(const CcsSchedule *schedule)
{
    return schedule->dependencies->len;
}

const CcsDependency *ccs_schedule_dependency(const CcsSchedule *schedule, uint32_t index)
{
    return &g_array_index(schedule->dependencies, CcsDependency, index);
}

void ccs_schedule_wait(CcsSchedule *schedule, CcsLaneId after, CcsLaneId before, uint32_t distance)
{
    ccs_schedule_depend(schedule, &(CcsDependency){.after = after,
                                                   .before = before,
                                                   .event = CCS_ARRIVED,
                                                   .p_before = 1,
                                                   .p_after = 1,
                                                   .distance = distance});
}

static void gate(CcsSchedule *schedule, CcsLaneId after, CcsLaneId before, CcsEvent event)
{
    ccs_schedule_depend(
        schedule, &(CcsDependency){.after = after,
                                   .before = before,
                                   .event = event,
                                   .p_before = ccs_schedule_lane(schedule, before)->n_messages,
                                   .p_after = ccs_schedule_lane(schedule, after)->n_messages});
}

void ccs_schedule_gate(CcsSchedule *schedule, CcsLaneId after, CcsLaneId before)
{
    gate(schedule, after, before, CCS_ARRIVED);
}

void ccs_schedule_gate_sent(CcsSchedule *schedule, CcsLaneId after, CcsLaneId before)
{
    gate(schedule, after, before, CCS_SENT);
}

static uint32_t after_of(const void *data, uint32_t dependency)
{
    return ccs_schedule_dependency(data, dependency)->after;
}

CcsLists ccs_schedule_needs(const CcsSchedule *schedule)
{
    return ccs_lists_new(ccs_schedule_n_lanes(schedule), ccs_schedule_n_dependencies(schedule),
                         after_of, schedule);
}

const char *ccs_schedule_irregularity(const CcsSchedule *schedule)
{
    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(schedule, id);
        if (lane->peer_kind != CCS_PEER_FIXED)
            return "a lane sends to different ranks";
        if (lane->queue != 0)
            return "lanes reduce one after the other";
    }
    for (uint32_t i = 0; i < ccs_schedule_n_dependencies(schedule); i++) {
        if (ccs_schedule_dependency(schedule, i)->is_by_sender)
            return "a lane waits for different ranks";
    }
    return NULL;
}

static const CcsPath no_path = {CCS_NO_VERTEX, CCS_NO_VERTEX, CCS_NO_VERTEX, CCS_NO_VERTEX};

CcsSchedule *ccs_schedule_copy_empty(const CcsSchedule *schedule)
{
    CcsSchedule *copy = ccs_schedule_new(schedule->collective, schedule->communicator,
                                         schedule->root, schedule->n_channels, schedule->pipeline);

    copy->n_chunks = schedule->n_chunks;
    copy->n_scratch = schedule->n_scratch;
    copy->placing = schedule->placing;
    copy->distance = schedule->distance;
    copy->weights = schedule->weights;
    if (schedule->owners != NULL)
        copy->owners = g_memdup2(schedule->owners,
                                 sizeof(CcsRank) * schedule->n_channels * schedule->n_chunks);
    for (guint i = 0; i < schedule->phases->len; i++)
        ccs_schedule_add_phase(copy, g_ptr_array_index(schedule->phases, i));
    for (guint i = 0; i < schedule->labels->len; i++)
        ccs_schedule_add_label(copy, g_ptr_array_index(schedule->labels, i));
    g_array_append_vals(copy->sizes, schedule->sizes->data, schedule->sizes->len);
    return copy;
}

CcsSchedule *ccs_schedule_copy(const CcsSchedule *schedule)
{
    CcsSchedule *copy = ccs_schedule_copy_empty(schedule);

    g_array_append_vals(copy->lanes, schedule->lanes->data, schedule->lanes->len);
    g_array_append_vals(copy->dependencies, schedule->dependencies->data,
                        schedule->dependencies->len);
    return copy;
}

CcsLane *ccs_schedule_edit_lane(CcsSchedule *schedule, CcsLaneId lane)
{
    return &g_array_index(schedule->lanes, CcsLane, lane);
}

CcsDependency *ccs_schedule_edit_dependency(CcsSchedule *schedule, uint32_t index)
{
    return &g_array_index(schedule->dependencies, CcsDependency, index);
}

void ccs_schedule_drop_dependency(CcsSchedule *schedule, uint32_t index)
{
    g_array_remove_index(schedule->dependencies, index);
}

/* The NIC of @gpu that @channel takes; CCS_NO_VERTEX if it has none. */
static CcsVertexId own_nic(const CcsTopology *topology, CcsVertexId gpu, uint32_t channel)
{
    uint32_t n_nics = 0;
    const CcsVertexId *nics = ccs_topology_gpu_nics(topology, gpu, &n_nics);

    return n_nics == 0 ? CCS_NO_VERTEX : nics[channel % n_nics];
}

CcsPath ccs_schedule_path(const CcsSchedule *schedule, CcsRank source, CcsRank peer,
                          uint32_t channel)
{
    const CcsCommunicator *communicator = schedule->communicator;
    const CcsTopology *topology = ccs_communicator_topology(communicator);
    CcsPath path = no_path;

    if (ccs_communicator_node(communicator, source) == ccs_communicator_node(communicator, peer))
        return path;
    CcsVertexId leave = own_nic(topology, ccs_communicator_gpu(communicator, source), channel);
    CcsVertexId enter = own_nic(topology, ccs_communicator_gpu(communicator, peer), channel);
    if (leave != CCS_NO_VERTEX && enter != CCS_NO_VERTEX) {
        path.leave_nic = leave;
        path.enter_nic = enter;
    }
    return path;
}

CcsPath ccs_schedule_rail_path(const CcsSchedule *schedule, CcsRank source, CcsRank peer,
                               uint32_t channel)
{
    const CcsCommunicator *communicator = schedule->communicator;
    uint32_t source_node = ccs_communicator_node(communicator, source);
    uint32_t peer_node = ccs_communicator_node(communicator, peer);

    if (source_node == peer_node)
        return no_path;
    CcsRail leave = ccs_communicator_rail(communicator, source_node, channel);
    CcsRail enter = ccs_communicator_rail(communicator, peer_node, channel);
    if (leave.nic == CCS_NO_VERTEX || enter.nic == CCS_NO_VERTEX)
        return no_path;
    return (CcsPath){
        .leave_gpu =
            leave.rank == source ? CCS_NO_VERTEX : ccs_communicator_gpu(communicator, leave.rank),
        .leave_nic = leave.nic,
        .enter_nic = enter.nic,
        .enter_gpu =
            enter.rank == peer ? CCS_NO_VERTEX : ccs_communicator_gpu(communicator, enter.rank),
    };
}

bool ccs_lane_is_local(const CcsLane *lane)
{
    return lane->peer_kind == CCS_PEER_FIXED && lane->peer == lane->source;
}

CcsRank ccs_lane_peer(const CcsLane *lane, uint32_t message, uint32_t n_ranks)
{
    switch (lane->peer_kind) {
    case CCS_PEER_FIXED:
        return lane->peer;
    case CCS_PEER_SHIFT:
        return (CcsRank)(((uint64_t)lane->source + lane->peer + message) % n_ranks);
    case CCS_PEER_XOR:
        return lane->source ^ (lane->peer + message);
    }
    return CCS_NO_RANK;
}

CcsRank ccs_lane_sender(const CcsLane *lane, uint32_t message, CcsRank receiver, uint32_t n_ranks)
{
    switch (lane->peer_kind) {
    case CCS_PEER_SHIFT: {
        uint32_t shift = (uint32_t)(((uint64_t)lane->peer + message) % n_ranks);
        return receiver >= shift ? receiver - shift : receiver + n_ranks - shift;
    }
    case CCS_PEER_XOR:
        return receiver ^ (lane->peer + message);
    case CCS_PEER_FIXED:
        break;
    }
    return CCS_NO_RANK;
}

uint32_t ccs_box_begin(const CcsBox *box, const CcsLane *lane, uint32_t message, CcsRank peer)
{
    switch (box->kind) {
    case CCS_BOX_RULE: {
        if (box->modulus == 0)
            return box->base;
        int64_t at = ((int64_t)box->first + (int64_t)box->step * message) % box->modulus;
        return box->base + box->scale * (uint32_t)(at < 0 ? at + box->modulus : at);
    }
    case CCS_BOX_OF_PEER:
        return box->base + box->scale * peer;
    case CCS_BOX_OF_SOURCE:
        return box->base + box->scale * lane->source;
    }
    return 0;
}

uint32_t ccs_box_n_chunks(const CcsBox *box)
{
    return MAX(box->n1, 1) * MAX(box->n2, 1) - box->n_left_out;
}

uint32_t ccs_box_chunk(const CcsBox *box, uint32_t begin, uint32_t index)
{
    uint32_t n1 = MAX(box->n1, 1);
    uint64_t chunk =
        begin + (uint64_t)(index % n1) * box->stride1 + (uint64_t)(index / n1) * box->stride2;

    return (uint32_t)(box->wrap == 0 ? chunk : chunk % box->wrap);
}

CcsBytes ccs_layout_offset(CcsBytes bytes, uint32_t index, uint32_t count)
{
    return bytes / count * index + MIN(bytes % count, index);
}

static CcsBytes run_bytes(CcsBytes channel_bytes, uint32_t first, uint32_t n, uint32_t n_chunks)
{
    uint32_t n_longer = (uint32_t)(channel_bytes % n_chunks);

    return channel_bytes / n_chunks * n + MIN(first + n, n_longer) - MIN(first, n_longer);
}

/* Chunks that follow one another are taken at once. */
static CcsBytes box_bytes(const CcsSchedule *schedule, const CcsBox *box, uint32_t begin,
                          CcsBytes channel_bytes)
{
    uint32_t n = ccs_box_n_chunks(box);
    uint32_t n1 = MAX(box->n1, 1);
    bool is_run = n1 > 1 && box->stride1 == 1 && box->wrap == 0;
    CcsBytes bytes = 0;

    for (uint32_t i = 0, length = 1; i < n; i += length) {
        length = is_run ? MIN(n1, n - i) : 1;
        bytes += run_bytes(channel_bytes, ccs_box_chunk(box, begin, i), length, schedule->n_chunks);
    }
    return bytes;
}

/* The same where each chunk is a block of its own size. */
static CcsBytes weighted_bytes(const CcsSchedule *schedule, const CcsLane *lane, uint32_t begin,
                               CcsBytes size)
{
    CcsBytes bytes = 0;

    for (uint32_t i = 0; i < ccs_box_n_chunks(&lane->from); i++) {
        CcsRank target = ccs_box_chunk(&lane->from, begin, i);
        CcsBytes block = ccs_weights_bytes(schedule->weights, lane->source, target, size);
        bytes += run_bytes(block, lane->channel, 1, schedule->n_channels);
    }
    return bytes;
}

static CcsBytes listed_bytes(const CcsSchedule *schedule, const CcsLane *lane, uint32_t message,
                             CcsBytes channel_bytes)
{
    const uint32_t *list = &g_array_index(schedule->sizes, uint32_t, lane->sizes - 1);
    CcsBytes bytes = 0;

    for (uint32_t i = 1; i <= list[0]; i++)
        bytes += run_bytes(channel_bytes, list[i] + message, 1, schedule->n_chunks);
    return bytes;
}

CcsBytes ccs_schedule_message_bytes(const CcsSchedule *schedule, const CcsLane *lane,
                                    uint32_t message, CcsBytes size)
{
    if (lane->has_fixed_bytes)
        return lane->bytes;

    CcsRank peer = ccs_lane_peer(lane, message, ccs_schedule_n_ranks(schedule));
    uint32_t begin = ccs_box_begin(&lane->from, lane, message, peer);
    if (schedule->weights != NULL)
        return weighted_bytes(schedule, lane, begin, size);
    CcsBytes channel_bytes = run_bytes(size, lane->channel, 1, schedule->n_channels);
    if (lane->sizes != 0)
        return listed_bytes(schedule, lane, message, channel_bytes);
    return box_bytes(schedule, &lane->from, begin, channel_bytes);
}

CcsBytes ccs_schedule_even_bytes(const CcsSchedule *schedule, const CcsLane *lane, CcsBytes size)
{
    if (lane->has_fixed_bytes)
        return lane->bytes;
    if (lane->n_messages == 1)
        return ccs_schedule_message_bytes(schedule, lane, 0, size);
    CcsBytes channel_bytes = run_bytes(size, lane->channel, 1, schedule->n_channels);
    if (schedule->weights != NULL || channel_bytes % schedule->n_chunks != 0)
        return CCS_UNEVEN;
    uint32_t n_chunks = lane->sizes == 0
                            ? ccs_box_n_chunks(&lane->from)
                            : g_array_index(schedule->sizes, uint32_t, lane->sizes - 1);
    return channel_bytes / schedule->n_chunks * n_chunks;
}

bool ccs_schedule_is_even(const CcsSchedule *schedule, CcsBytes size)
{
    uint64_t n_chunks = (uint64_t)schedule->n_channels * schedule->n_chunks;
    return schedule->weights == NULL && size % n_chunks == 0;
}

CcsBytes ccs_schedule_lane_bytes(const CcsSchedule *schedule, const CcsLane *lane, CcsBytes size)
{
    CcsBytes even = ccs_schedule_even_bytes(schedule, lane, size);
    CcsBytes bytes = 0;

    if (even != CCS_UNEVEN)
        return even * lane->n_messages;
    for (uint32_t k = 0; k < lane->n_messages; k++)
        bytes += ccs_schedule_message_bytes(schedule, lane, k, size);
    return bytes;
}

uint32_t ccs_dependency_needs(const CcsDependency *dependency, uint32_t message,
                              uint32_t n_messages_before)
{
    if (message < dependency->from)
        return 0;
    int64_t turns = (int64_t)(message / dependency->p_after) + 1 - dependency->distance;
    if (turns <= 0)
        return 0;
    return (uint32_t)MIN((uint64_t)turns * dependency->p_before, (uint64_t)n_messages_before);
}
