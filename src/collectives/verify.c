#include "collectives/verify.h"

#include <string.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "collectives/contract.h"
#include "collectives/progress.h"

#define NOTHING UINT32_MAX /* the origin of a chunk that holds no data */

/* A message between its start and its arrival. */
typedef struct {
    CcsLaneId lane;
    uint32_t message;
    uint32_t *origins; /* by index in the box; owned */
    uint64_t *ranks;   /* likewise, n_words each; owned */
} Flight;

/* Messages in the order in which they joined, of which any can be taken. */
typedef struct {
    GPtrArray *flights; /* of Flight, owned; the first `head` places are empty */
    guint head;
} Pool;

typedef struct {
    const CcsSchedule *schedule;
    CcsProgress *progress;
    uint32_t n_ranks;
    uint32_t n_channels;
    uint32_t n_chunks;
    uint32_t n_places;                /* of a channel, in the largest buffer */
    uint32_t n_words;                 /* of a set of ranks */
    uint32_t *origins[CCS_N_BUFFERS]; /* by rank, channel, chunk; NULL if no lane uses it */
    uint64_t *ranks[CCS_N_BUFFERS];   /* likewise, n_words each */
    Pool unsent;                      /* being read at their source */
    Pool sent;                        /* on their way */
    GArray *ready;                    /* of CcsLaneId: may be able to start */
    GRand *random;
    bool may_repeat; /* contributions may be added twice */
} Player;

static size_t cell_of(const Player *player, CcsRank rank, uint32_t channel, uint32_t chunk)
{
    return ((size_t)rank * player->n_channels + channel) * player->n_places + chunk;
}

static uint64_t *set_of(const Player *player, CcsBuffer buffer, size_t cell)
{
    return &player->ranks[buffer][cell * player->n_words];
}

static void put(Player *player, CcsBuffer buffer, size_t cell, uint32_t origin, CcsRank rank)
{
    player->origins[buffer][cell] = origin;
    set_of(player, buffer, cell)[rank / 64] |= (uint64_t)1 << (rank % 64);
}

static void fill_buffer(Player *player, CcsBuffer buffer)
{
    size_t n_cells = (size_t)player->n_ranks * player->n_channels * player->n_places;

    player->origins[buffer] = g_new(uint32_t, n_cells);
    player->ranks[buffer] = g_new0(uint64_t, n_cells * player->n_words);
    for (size_t cell = 0; cell < n_cells; cell++)
        player->origins[buffer][cell] = NOTHING;
    for (CcsRank rank = 0; rank < player->n_ranks; rank++) {
        for (uint32_t channel = 0; channel < player->n_channels; channel++) {
            for (uint32_t chunk = 0; chunk < player->n_chunks; chunk++) {
                if (ccs_contract_holds_at_start(player->schedule, buffer, rank, channel, chunk))
                    put(player, buffer, cell_of(player, rank, channel, chunk), chunk, rank);
            }
        }
    }
}

static void free_flight(gpointer data)
{
    Flight *flight = data;

    if (flight == NULL)
        return;
    g_free(flight->origins);
    g_free(flight->ranks);
    g_free(flight);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Flight, free_flight)

static guint pool_size(const Pool *pool)
{
    return pool->flights->len - pool->head;
}

/* Takes the @index-th of those in the pool; the last one moves to its place, unless it is the
 * first. */
static Flight *pool_take(Pool *pool, guint index)
{
    GPtrArray *flights = pool->flights;
    Flight *flight = g_ptr_array_index(flights, pool->head + index);

    if (index == 0) {
        g_ptr_array_index(flights, pool->head++) = NULL;
    } else {
        g_ptr_array_index(flights, pool->head + index) =
            g_ptr_array_index(flights, flights->len - 1);
        g_ptr_array_index(flights, flights->len - 1) = NULL;
        g_ptr_array_set_size(flights, (gint)flights->len - 1);
    }
    if (pool->head > 1024 && pool->head > flights->len / 2) {
        g_ptr_array_remove_range(flights, 0, pool->head);
        pool->head = 0;
    }
    return flight;
}

static void player_init(Player *player, const CcsSchedule *schedule, uint32_t seed)
{
    *player =
        (Player){.schedule = schedule,
                 .progress = ccs_progress_new(schedule),
                 .n_ranks = ccs_schedule_n_ranks(schedule),
                 .n_channels = ccs_schedule_n_channels(schedule),
                 .n_chunks = ccs_schedule_n_chunks(schedule),
                 .n_places = MAX(ccs_schedule_n_chunks(schedule),
                                 ccs_schedule_n_places(schedule, CCS_BUFFER_SCRATCH)),
                 .n_words = (ccs_schedule_n_ranks(schedule) + 63) / 64,
                 .unsent = {g_ptr_array_new_with_free_func(free_flight), 0},
                 .sent = {g_ptr_array_new_with_free_func(free_flight), 0},
                 .ready = g_array_new(false, false, sizeof(CcsLaneId)),
                 .random = g_rand_new_with_seed(seed),
                 .may_repeat = ccs_contract_allows_repeats(ccs_schedule_collective(schedule))};
    fill_buffer(player, CCS_BUFFER_OUTPUT);
    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(schedule, id);
        if (player->origins[lane->from.buffer] == NULL)
            fill_buffer(player, lane->from.buffer);
        if (player->origins[lane->to.buffer] == NULL)
            fill_buffer(player, lane->to.buffer);
        g_array_append_val(player->ready, id);
    }
}

static void player_clear(Player *player)
{
    for (int buffer = 0; buffer < CCS_N_BUFFERS; buffer++) {
        g_free(player->origins[buffer]);
        g_free(player->ranks[buffer]);
    }
    g_ptr_array_unref(player->unsent.flights);
    g_ptr_array_unref(player->sent.flights);
    g_array_unref(player->ready);
    g_rand_free(player->random);
    ccs_progress_free(player->progress);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Player, player_clear)

/* One end of a message: the cells of its box in order. */
typedef struct {
    CcsBuffer buffer;
    CcsRank rank;
    uint32_t channel;
    const CcsBox *box;
    uint32_t begin;
} End;

static End source_end(const Player *player, CcsLaneId id, uint32_t message)
{
    const CcsLane *lane = ccs_schedule_lane(player->schedule, id);
    CcsRank peer = ccs_lane_peer(lane, message, player->n_ranks);
    return (End){lane->from.buffer, lane->source, lane->channel, &lane->from,
                 ccs_box_begin(&lane->from, lane, message, peer)};
}

static End target_end(const Player *player, CcsLaneId id, uint32_t message)
{
    const CcsLane *lane = ccs_schedule_lane(player->schedule, id);
    CcsRank peer = ccs_lane_peer(lane, message, player->n_ranks);
    return (End){lane->to.buffer, peer, lane->channel, &lane->to,
                 ccs_box_begin(&lane->to, lane, message, peer)};
}

static size_t end_cell(const Player *player, const End *end, uint32_t index)
{
    uint32_t chunk = ccs_box_chunk(end->box, end->begin, index);
    return cell_of(player, end->rank, end->channel, chunk);
}

static bool fail(const Player *player, CcsLaneId id, uint32_t message, const End *end,
                 uint32_t index, const char *what, GError **error)
{
    const CcsLane *lane = ccs_schedule_lane(player->schedule, id);
    g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK,
                "%s of channel %u, message %u from rank %u to rank %u: chunk %u at rank %u %s",
                lane->phase < ccs_schedule_n_phases(player->schedule)
                    ? ccs_schedule_phases(player->schedule)[lane->phase]
                    : "lane",
                lane->channel, message, lane->source, ccs_lane_peer(lane, message, player->n_ranks),
                ccs_box_chunk(end->box, end->begin, index), end->rank, what);
    return false;
}

/* The box must lie in the buffer, or nothing else can be looked at. */
static bool check_box(const Player *player, CcsLaneId id, uint32_t message, const End *end,
                      GError **error)
{
    uint32_t n_places = ccs_schedule_n_places(player->schedule, end->buffer);

    for (uint32_t i = 0; i < ccs_box_n_chunks(end->box); i++) {
        if (end->rank >= player->n_ranks || ccs_box_chunk(end->box, end->begin, i) >= n_places)
            return fail(player, id, message, end, i, "lies outside the buffer", error);
    }
    return true;
}

static bool start(Player *player, CcsLaneId lane, GError **error)
{
    uint32_t message = ccs_progress_start(player->progress, lane);
    End end = source_end(player, lane, message);
    End target = target_end(player, lane, message);
    uint32_t n = ccs_box_n_chunks(end.box);
    uint32_t n_words = player->n_words;

    if (!check_box(player, lane, message, &end, error) ||
        !check_box(player, lane, message, &target, error))
        return false;
    if (ccs_box_n_chunks(target.box) != n)
        return fail(player, lane, message, &target, 0, "has another size at the sender", error);
    Flight *flight = g_new(Flight, 1);
    *flight = (Flight){lane, message, g_new(uint32_t, n), g_new(uint64_t, (size_t)n * n_words)};
    g_ptr_array_add(player->unsent.flights, flight);
    for (uint32_t i = 0; i < n; i++) {
        size_t cell = end_cell(player, &end, i);
        flight->origins[i] = player->origins[end.buffer][cell];
        memcpy(&flight->ranks[(size_t)i * n_words], set_of(player, end.buffer, cell),
               n_words * sizeof(uint64_t));
        if (flight->origins[i] == NOTHING)
            return fail(player, lane, message, &end, i, "is sent but holds no data", error);
    }
    return true;
}

static void wake(Player *player, CcsLaneId lane, CcsEvent event, uint32_t message)
{
    uint32_t n = 0;
    const CcsLaneId *waiters = ccs_progress_waiters(player->progress, lane, event, message, &n);

    if (n > 0)
        g_array_append_vals(player->ready, waiters, n);
    if (event == CCS_SENT)
        g_array_append_val(player->ready, lane);
}

/* The message leaves; what it was read from must not have changed meanwhile, unless it only
 * spreads word, which may become more at any time. */
static bool finish_sending(Player *player, guint index, GError **error)
{
    Flight *flight = pool_take(&player->unsent, index);
    End end = source_end(player, flight->lane, flight->message);
    size_t set_bytes = player->n_words * sizeof(uint64_t);

    g_ptr_array_add(player->sent.flights, flight);
    for (uint32_t i = 0; i < ccs_box_n_chunks(end.box) && !player->may_repeat; i++) {
        size_t cell = end_cell(player, &end, i);
        if (player->origins[end.buffer][cell] != flight->origins[i] ||
            memcmp(set_of(player, end.buffer, cell), &flight->ranks[(size_t)i * player->n_words],
                   set_bytes) != 0)
            return fail(player, flight->lane, flight->message, &end, i,
                        "changes while it is being sent", error);
    }
    ccs_progress_sent(player->progress, flight->lane);
    wake(player, flight->lane, CCS_SENT, flight->message);
    return true;
}

static bool add_into(Player *player, const Flight *flight, const End *end, uint32_t index,
                     GError **error)
{
    size_t cell = end_cell(player, end, index);
    uint64_t *to = set_of(player, end->buffer, cell);
    const uint64_t *from = &flight->ranks[(size_t)index * player->n_words];

    if (player->origins[end->buffer][cell] == NOTHING)
        player->origins[end->buffer][cell] = flight->origins[index];
    else if (player->origins[end->buffer][cell] != flight->origins[index])
        return fail(player, flight->lane, flight->message, end, index,
                    "is added to another chunk's data", error);
    for (uint32_t word = 0; word < player->n_words; word++) {
        if ((to[word] & from[word]) != 0 && !player->may_repeat)
            return fail(player, flight->lane, flight->message, end, index,
                        "gets a contribution that it has already", error);
        to[word] |= from[word];
    }
    return true;
}

static bool copy_into(Player *player, const Flight *flight, const End *end, uint32_t index,
                      GError **error)
{
    size_t cell = end_cell(player, end, index);
    size_t set_bytes = player->n_words * sizeof(uint64_t);
    uint64_t *to = set_of(player, end->buffer, cell);
    const uint64_t *from = &flight->ranks[(size_t)index * player->n_words];
    bool is_same = player->origins[end->buffer][cell] == flight->origins[index] &&
                   memcmp(to, from, set_bytes) == 0;

    if (is_same && !ccs_lane_is_local(ccs_schedule_lane(player->schedule, flight->lane)))
        return fail(player, flight->lane, flight->message, end, index,
                    "is received though it is there already", error);
    player->origins[end->buffer][cell] = flight->origins[index];
    memcpy(to, from, set_bytes);
    return true;
}

static bool deliver(Player *player, guint index, GError **error)
{
    g_autoptr(Flight) flight = pool_take(&player->sent, index);
    const CcsLane *lane = ccs_schedule_lane(player->schedule, flight->lane);
    End end = target_end(player, flight->lane, flight->message);

    for (uint32_t i = 0; i < ccs_box_n_chunks(end.box); i++) {
        if (!(flight->message < lane->n_reduced ? add_into(player, flight, &end, i, error)
                                                : copy_into(player, flight, &end, i, error)))
            return false;
    }
    ccs_progress_arrived(player->progress, flight->lane, flight->message);
    wake(player, flight->lane, CCS_ARRIVED, flight->message);
    return true;
}

/* Takes a lane that may start from the list; CCS_NO_LANE if there is none. */
static CcsLaneId take_ready(Player *player, CcsPlayOrder order)
{
    while (player->ready->len > 0) {
        guint at = order == CCS_PLAY_RANDOM
                       ? (guint)g_rand_int_range(player->random, 0, (gint32)player->ready->len)
                       : player->ready->len - 1;
        CcsLaneId lane = g_array_index(player->ready, CcsLaneId, at);
        g_array_remove_index_fast(player->ready, at);
        if (ccs_progress_may_start(player->progress, lane))
            return lane;
    }
    return CCS_NO_LANE;
}

/* Messages to one rank arrive in order, so the next one of the lane is the only one that may,
 * unless the lane's peers differ. */
static bool may_deliver(const Player *player, guint index)
{
    const Pool *sent = &player->sent;
    const Flight *flight = g_ptr_array_index(sent->flights, sent->head + index);

    return ccs_schedule_lane(player->schedule, flight->lane)->peer_kind != CCS_PEER_FIXED ||
           ccs_progress_of(player->progress, flight->lane)->n_arrived == flight->message;
}

/* Moves one message under way a step on: out of its source, or to its peer. */
static bool advance_flight(Player *player, CcsPlayOrder order, GError **error)
{
    guint n_unsent = pool_size(&player->unsent);
    guint n_sent = pool_size(&player->sent);
    bool is_random = order == CCS_PLAY_RANDOM;
    bool is_sending = n_sent == 0 || order == CCS_PLAY_DELIVER_LAST ||
                      (is_random && g_rand_boolean(player->random));

    if (n_unsent > 0 && is_sending) {
        guint at = is_random ? (guint)g_rand_int_range(player->random, 0, (gint32)n_unsent) : 0;
        return finish_sending(player, at, error);
    }
    guint at = is_random ? (guint)g_rand_int_range(player->random, 0, (gint32)n_sent) : 0;
    while (!may_deliver(player, at))
        at = (at + 1) % n_sent;
    return deliver(player, at, error);
}

static bool is_wanted_set(const Player *player, const uint64_t *set, CcsRank only)
{
    for (CcsRank rank = 0; rank < player->n_ranks; rank++) {
        bool is_in = (set[rank / 64] >> (rank % 64) & 1) != 0;
        if (is_in != (only == CCS_NO_RANK || only == rank))
            return false;
    }
    return true;
}

static bool check_result(const Player *player, GError **error)
{
    for (CcsRank rank = 0; rank < player->n_ranks; rank++) {
        for (uint32_t channel = 0; channel < player->n_channels; channel++) {
            for (uint32_t chunk = 0; chunk < player->n_chunks; chunk++) {
                size_t cell = cell_of(player, rank, channel, chunk);
                CcsPromise promise;
                if (!ccs_contract_promises(player->schedule, rank, channel, chunk, &promise))
                    continue;
                if (player->origins[CCS_BUFFER_OUTPUT][cell] == promise.origin &&
                    is_wanted_set(player, set_of(player, CCS_BUFFER_OUTPUT, cell), promise.only))
                    continue;
                g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK,
                            "rank %u ends with the wrong data in chunk %u of channel %u", rank,
                            chunk, channel);
                return false;
            }
        }
    }
    return true;
}

static guint n_under_way(const Player *player)
{
    return pool_size(&player->unsent) + pool_size(&player->sent);
}

bool ccs_verify_play(const CcsSchedule *schedule, CcsPlayOrder order, uint32_t seed, GError **error)
{
    if (ccs_schedule_n_ranks(schedule) == 1)
        return true;

    g_auto(Player) player;
    player_init(&player, schedule, seed);
    while (!ccs_progress_is_done(player.progress)) {
        bool is_start_first = order == CCS_PLAY_DELIVER_LAST ||
                              (order == CCS_PLAY_RANDOM && g_rand_boolean(player.random));
        CcsLaneId lane = CCS_NO_LANE;
        if (is_start_first || n_under_way(&player) == 0)
            lane = take_ready(&player, order);
        if (lane == CCS_NO_LANE && n_under_way(&player) == 0) {
            g_autofree char *wait = ccs_progress_describe_wait(player.progress);
            g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK, "deadlock: %s", wait);
            return false;
        }
        if (!ccs_interrupt_check(error) ||
            !(lane == CCS_NO_LANE ? advance_flight(&player, order, error)
                                  : start(&player, lane, error)))
            return false;
    }
    return check_result(&player, error);
}

bool ccs_verify(const CcsSchedule *schedule, GError **error)
{
    return ccs_verify_play(schedule, CCS_PLAY_DELIVER_FIRST, 0, error) &&
           ccs_verify_play(schedule, CCS_PLAY_DELIVER_LAST, 0, error) &&
           ccs_verify_play(schedule, CCS_PLAY_RANDOM, 1, error);
}
