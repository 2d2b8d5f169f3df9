#include "collectives/verify.h"

#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "collectives/cells.h"
#include "collectives/contract.h"
#include "collectives/progress.h"
#include "collectives/races.h"
#include "collectives/spread.h"

#define NOTHING 0 /* the origin of a cell that holds no data; others are chunk + 1 */

/* A message between its start and its arrival. Kept for another one afterwards, so that memory
 * is only asked for while there are more under way than ever before. */
typedef struct {
    CcsLaneId lane;
    uint32_t message;
    uint32_t n;        /* chunks of its box */
    uint32_t n_places; /* that the arrays have */
    CcsCell *from;     /* owned, as all of them */
    CcsCell *to;
    uint32_t *origins; /* of the data it carries */
    uint64_t *ranks;   /* n_words for each */
} Flight;

typedef struct {
    uint32_t lane; /* plus 1; 0: nothing has */
    uint32_t message;
} Writer;

/* Messages in the order in which they joined, of which any can be taken. */
typedef struct {
    GPtrArray *flights; /* of Flight, owned; the first `head` places are empty */
    guint head;
} Pool;

typedef struct {
    const CcsSchedule *schedule;
    CcsProgress *progress;
    CcsPlayOrder order;
    uint64_t random;   /* the state of its generator */
    uint32_t n_words;  /* of a set of ranks */
    uint32_t *origins; /* by cell */
    uint64_t *ranks;   /* likewise, n_words each */
    Writer *writers;   /* by cell: what has written to it last */
    Pool unsent;       /* being read at their source */
    Pool sent;         /* on their way */
    GPtrArray *spare;  /* of Flight, owned */
    GArray *ready;     /* of CcsLaneId: may be able to start */
    bool may_repeat;   /* contributions may be added twice */
} Player;

/* A number below @n. */
static uint32_t pick(Player *player, uint32_t n)
{
    uint64_t z = ccs_mix(player->random);

    player->random += CCS_MIX_STEP;
    return (uint32_t)((z >> 32) * n >> 32);
}

/* A place in a line of @n: the first one, unless the order is random. */
static uint32_t pick_next(Player *player, uint32_t n)
{
    return player->order == CCS_PLAY_RANDOM ? pick(player, n) : 0;
}

static uint64_t *set_of(const Player *player, CcsCell cell)
{
    return &player->ranks[cell * player->n_words];
}

static bool is_same_set(const Player *player, const uint64_t *a, const uint64_t *b)
{
    uint32_t word = 0;

    while (word < player->n_words && a[word] == b[word])
        word++;
    return word == player->n_words;
}

static void copy_set(const Player *player, uint64_t *to, const uint64_t *from)
{
    for (uint32_t word = 0; word < player->n_words; word++)
        to[word] = from[word];
}

/* What is there before the collective starts. */
static void fill_buffer(Player *player, CcsBuffer buffer)
{
    const CcsSchedule *schedule = player->schedule;
    CcsPlace place = {.buffer = buffer};

    for (place.rank = 0; place.rank < ccs_schedule_n_ranks(schedule); place.rank++) {
        for (uint32_t c = 0; c < ccs_schedule_n_channels(schedule); c++) {
            place.channel = c;
            for (place.chunk = 0; place.chunk < ccs_schedule_n_chunks(schedule); place.chunk++) {
                if (!ccs_contract_holds_at_start(schedule, buffer, place.rank, c, place.chunk))
                    continue;
                CcsCell cell = ccs_cell(schedule, &place);
                player->origins[cell] = place.chunk + 1;
                set_of(player, cell)[place.rank / 64] |= (uint64_t)1 << (place.rank % 64);
            }
        }
    }
}

static bool is_used(const CcsSchedule *schedule, CcsBuffer buffer)
{
    if (buffer == CCS_BUFFER_OUTPUT)
        return true;
    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(schedule, id);
        if (lane->from.buffer == buffer || lane->to.buffer == buffer)
            return true;
    }
    return false;
}

static void free_flight(gpointer data)
{
    Flight *flight = data;

    if (flight == NULL)
        return;
    g_free(flight->from);
    g_free(flight->to);
    g_free(flight->origins);
    g_free(flight->ranks);
    g_free(flight);
}

static void player_init(Player *player, const CcsSchedule *schedule, CcsPlayOrder order,
                        uint32_t seed)
{
    uint64_t n_cells = ccs_n_cells(schedule);
    uint32_t n_words = (ccs_schedule_n_ranks(schedule) + 63) / 64;

    *player =
        (Player){.schedule = schedule,
                 .progress = ccs_progress_new(schedule),
                 .order = order,
                 .random = seed,
                 .n_words = n_words,
                 .origins = g_new0(uint32_t, n_cells),
                 .ranks = g_new0(uint64_t, n_cells * n_words),
                 .writers = g_new0(Writer, n_cells),
                 .unsent = {g_ptr_array_new_with_free_func(free_flight), 0},
                 .sent = {g_ptr_array_new_with_free_func(free_flight), 0},
                 .spare = g_ptr_array_new_with_free_func(free_flight),
                 .ready = g_array_new(false, false, sizeof(CcsLaneId)),
                 .may_repeat = ccs_contract_allows_repeats(ccs_schedule_collective(schedule))};
    for (int buffer = 0; buffer < CCS_N_BUFFERS; buffer++) {
        if (is_used(schedule, (CcsBuffer)buffer))
            fill_buffer(player, (CcsBuffer)buffer);
    }
    for (CcsLaneId lane = 0; lane < ccs_schedule_n_lanes(schedule); lane++)
        g_array_append_val(player->ready, lane);
}

static void player_clear(Player *player)
{
    g_free(player->origins);
    g_free(player->ranks);
    g_free(player->writers);
    g_ptr_array_unref(player->unsent.flights);
    g_ptr_array_unref(player->sent.flights);
    g_ptr_array_unref(player->spare);
    g_array_unref(player->ready);
    ccs_progress_free(player->progress);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Player, player_clear)

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

static Flight *new_flight(Player *player, CcsLaneId lane, uint32_t message, uint32_t n)
{
    GPtrArray *spare = player->spare;
    Flight *flight =
        spare->len > 0 ? g_ptr_array_steal_index_fast(spare, spare->len - 1) : g_new0(Flight, 1);

    flight->lane = lane;
    flight->message = message;
    flight->n = n;
    if (flight->n_places < n) {
        flight->n_places = n;
        flight->from = g_renew(CcsCell, flight->from, n);
        flight->to = g_renew(CcsCell, flight->to, n);
        flight->origins = g_renew(uint32_t, flight->origins, n);
        flight->ranks = g_renew(uint64_t, flight->ranks, (size_t)n * player->n_words);
    }
    return flight;
}

static uint64_t *carried_set(const Player *player, const Flight *flight, uint32_t index)
{
    return &flight->ranks[(size_t)index * player->n_words];
}

static bool fail_at(const Player *player, const Flight *flight, const CcsPlace *place,
                    const char *what, GError **error)
{
    g_autofree char *message =
        ccs_message_describe(player->schedule, flight->lane, flight->message);
    g_autofree char *name = ccs_schedule_name_place(player->schedule, place, false);

    g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK, "%s: %s at rank %u %s", message, name,
                place->rank, what);
    return false;
}

static bool fail(const Player *player, const Flight *flight, CcsCell cell, const char *what,
                 GError **error)
{
    CcsPlace place = ccs_cell_place(player->schedule, cell);
    return fail_at(player, flight, &place, what, error);
}

/* The boxes must lie in the buffers, or nothing else can be looked at. */
static bool find_cells(const Player *player, const Flight *flight, GError **error)
{
    const CcsLane *lane = ccs_schedule_lane(player->schedule, flight->lane);
    CcsPlace outside;

    if (ccs_message_cells(player->schedule, lane, flight->message, CCS_END_SOURCE, flight->from,
                          &outside) &&
        ccs_message_cells(player->schedule, lane, flight->message, CCS_END_TARGET, flight->to,
                          &outside))
        return true;
    return fail_at(player, flight, &outside, "lies outside the buffer", error);
}

/* The message begins to be read. */
static bool start(Player *player, CcsLaneId id, GError **error)
{
    const CcsLane *lane = ccs_schedule_lane(player->schedule, id);
    uint32_t n = ccs_box_n_chunks(&lane->from);
    uint32_t n_at_peer = ccs_box_n_chunks(&lane->to);
    Flight *flight =
        new_flight(player, id, ccs_progress_start(player->progress, id), MAX(n, n_at_peer));

    g_ptr_array_add(player->unsent.flights, flight);
    if (!find_cells(player, flight, error))
        return false;
    if (n != n_at_peer)
        return fail(player, flight, flight->to[0], "has another size at the sender", error);
    if (ccs_lane_is_join(lane))
        flight->n = 0;
    for (uint32_t i = 0; i < flight->n; i++) {
        CcsCell cell = flight->from[i];
        flight->origins[i] = player->origins[cell];
        copy_set(player, carried_set(player, flight, i), set_of(player, cell));
        if (flight->origins[i] == NOTHING)
            return fail(player, flight, cell, "is sent but holds no data", error);
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

    g_ptr_array_add(player->sent.flights, flight);
    for (uint32_t i = 0; i < flight->n && !player->may_repeat; i++) {
        CcsCell cell = flight->from[i];
        if (player->origins[cell] != flight->origins[i] ||
            !is_same_set(player, set_of(player, cell), carried_set(player, flight, i)))
            return fail(player, flight, cell, "changes while it is being sent", error);
    }
    ccs_progress_sent(player->progress, flight->lane);
    wake(player, flight->lane, CCS_SENT, flight->message);
    return true;
}

static bool add_into(Player *player, const Flight *flight, uint32_t index, GError **error)
{
    CcsCell cell = flight->to[index];
    uint64_t *to = set_of(player, cell);
    const uint64_t *from = carried_set(player, flight, index);

    if (player->origins[cell] == NOTHING)
        return fail(player, flight, cell, "is added to but holds no data", error);
    if (player->origins[cell] != flight->origins[index])
        return fail(player, flight, cell, "is added to another chunk's data", error);
    for (uint32_t word = 0; word < player->n_words; word++) {
        if ((to[word] & from[word]) != 0 && !player->may_repeat)
            return fail(player, flight, cell, "gets a contribution that it has already", error);
        to[word] |= from[word];
    }
    return true;
}

/* Inside a rank data may be copied to where they are: the output may begin with the input. */
static bool copy_into(Player *player, const Flight *flight, uint32_t index, GError **error)
{
    CcsCell cell = flight->to[index];
    uint64_t *to = set_of(player, cell);
    const uint64_t *from = carried_set(player, flight, index);

    if (player->origins[cell] == flight->origins[index] && is_same_set(player, to, from) &&
        !ccs_lane_is_local(ccs_schedule_lane(player->schedule, flight->lane)))
        return fail(player, flight, cell, "is received though it is there already", error);
    player->origins[cell] = flight->origins[index];
    copy_set(player, to, from);
    return true;
}

static bool deliver(Player *player, guint index, GError **error)
{
    Flight *flight = pool_take(&player->sent, index);
    const CcsLane *lane = ccs_schedule_lane(player->schedule, flight->lane);
    bool is_added = flight->message < lane->n_reduced;

    g_ptr_array_add(player->spare, flight);
    for (uint32_t i = 0; i < flight->n; i++) {
        if (!(is_added ? add_into(player, flight, i, error) : copy_into(player, flight, i, error)))
            return false;
        player->writers[flight->to[i]] = (Writer){flight->lane + 1, flight->message};
    }
    ccs_progress_arrived(player->progress, flight->lane, flight->message);
    wake(player, flight->lane, CCS_ARRIVED, flight->message);
    return true;
}

/* Takes a lane that may start from the list; CCS_NO_LANE if there is none. */
static CcsLaneId take_ready(Player *player)
{
    while (player->ready->len > 0) {
        guint at = player->order == CCS_PLAY_RANDOM ? pick(player, player->ready->len)
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
static bool advance_flight(Player *player, GError **error)
{
    guint n_unsent = pool_size(&player->unsent);
    guint n_sent = pool_size(&player->sent);
    bool is_sending = n_sent == 0 || player->order == CCS_PLAY_DELIVER_LAST ||
                      (player->order == CCS_PLAY_RANDOM && pick(player, 2) == 0);

    if (n_unsent > 0 && is_sending)
        return finish_sending(player, pick_next(player, n_unsent), error);
    guint at = pick_next(player, n_sent);
    while (!may_deliver(player, at))
        at = (at + 1) % n_sent;
    return deliver(player, at, error);
}

/* One event. */
static bool step(Player *player, GError **error)
{
    guint n_under_way = pool_size(&player->unsent) + pool_size(&player->sent);
    bool is_start_first = player->order == CCS_PLAY_DELIVER_LAST ||
                          (player->order == CCS_PLAY_RANDOM && pick(player, 2) == 0);
    CcsLaneId lane = is_start_first || n_under_way == 0 ? take_ready(player) : CCS_NO_LANE;

    if (lane != CCS_NO_LANE)
        return start(player, lane, error);
    if (n_under_way > 0)
        return advance_flight(player, error);
    g_autofree char *wait = ccs_progress_describe_wait(player->progress);
    g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK, "deadlock: %s", wait);
    return false;
}

/* Only @only, or all ranks for CCS_NO_RANK. */
static void wanted_set(const Player *player, CcsRank only, uint64_t *ret_set)
{
    uint32_t n = ccs_schedule_n_ranks(player->schedule);

    for (uint32_t word = 0; word < player->n_words; word++)
        ret_set[word] = only == CCS_NO_RANK ? ~(uint64_t)0 : 0;
    if (only != CCS_NO_RANK)
        ret_set[only / 64] = (uint64_t)1 << (only % 64);
    else if (n % 64 != 0)
        ret_set[n / 64] = ((uint64_t)1 << (n % 64)) - 1;
}

/* The message that brought to the rank what @writer has then copied to @cell; a writer that is
 * none if it is not such a copy. */
static Writer bringer_of(const Player *player, Writer writer, CcsCell cell)
{
    const CcsLane *lane = ccs_schedule_lane(player->schedule, writer.lane - 1);
    uint32_t n = ccs_box_n_chunks(&lane->from);
    g_autofree CcsCell *from = g_new(CcsCell, n);
    g_autofree CcsCell *to = g_new(CcsCell, n);
    CcsPlace outside;
    Writer before = {0, 0};

    if (!ccs_lane_is_local(lane) || writer.message < lane->n_reduced ||
        !ccs_message_cells(player->schedule, lane, writer.message, CCS_END_SOURCE, from,
                           &outside) ||
        !ccs_message_cells(player->schedule, lane, writer.message, CCS_END_TARGET, to, &outside))
        return before;
    for (uint32_t i = 0; i < n; i++)
        before = to[i] == cell ? player->writers[from[i]] : before;
    bool is_bringer =
        before.lane > 0 && !ccs_lane_is_local(ccs_schedule_lane(player->schedule, before.lane - 1));
    return is_bringer ? before : (Writer){0, 0};
}

static bool fail_wrong(const Player *player, const CcsPlace *place, GError **error)
{
    const CcsSchedule *schedule = player->schedule;
    CcsCell cell = ccs_cell(schedule, place);
    Writer writer = player->writers[cell];
    g_autofree char *name = ccs_schedule_name_place(schedule, place, true);

    if (writer.lane == 0) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK,
                    "rank %u ends with the wrong data in %s, which nothing has written to",
                    place->rank, name);
        return false;
    }
    Writer bringer = bringer_of(player, writer, cell);
    g_autofree char *last = ccs_message_describe(schedule, writer.lane - 1, writer.message);
    g_autofree char *by = bringer.lane == 0
                              ? g_strdup("")
                              : ccs_message_describe(schedule, bringer.lane - 1, bringer.message);
    g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK,
                "%s: rank %u ends with the wrong data in %s, which this has written to last%s%s",
                last, place->rank, name, bringer.lane == 0 ? "" : ", with what came by ", by);
    return false;
}

static bool check_chunk(const Player *player, CcsRank rank, uint32_t channel, uint32_t chunk,
                        uint64_t *set, GError **error)
{
    CcsPlace place = {CCS_BUFFER_OUTPUT, rank, channel, chunk};
    CcsCell cell = ccs_cell(player->schedule, &place);
    CcsPromise promise;

    if (!ccs_contract_promises(player->schedule, rank, channel, chunk, &promise))
        return true;
    wanted_set(player, promise.only, set);
    if (player->origins[cell] == promise.origin + 1 &&
        is_same_set(player, set_of(player, cell), set))
        return true;
    return fail_wrong(player, &place, error);
}

static bool check_result(const Player *player, GError **error)
{
    const CcsSchedule *schedule = player->schedule;
    g_autofree uint64_t *set = g_new(uint64_t, player->n_words);

    for (CcsRank rank = 0; rank < ccs_schedule_n_ranks(schedule); rank++) {
        for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
            for (uint32_t chunk = 0; chunk < ccs_schedule_n_chunks(schedule); chunk++) {
                if (!check_chunk(player, rank, channel, chunk, set, error))
                    return false;
            }
        }
    }
    return true;
}

/* Of wrong data a race names the cause, and not only the place. */
static bool check_end(const Player *player, GError **error)
{
    g_autoptr(GError) wrong = NULL;

    if (check_result(player, &wrong))
        return true;
    if (ccs_races_check(player->schedule, error))
        g_propagate_error(error, g_steal_pointer(&wrong));
    return false;
}

/* Playing needs to know what each cell holds; to look for races, what each message does to its
 * cells. */
CcsVerifyCost ccs_verify_cost(const CcsSchedule *schedule)
{
    uint64_t n_cells = ccs_n_cells(schedule);
    uint64_t n_words = (ccs_schedule_n_ranks(schedule) + 63) / 64;
    uint64_t n_messages = 0;
    CcsVerifyCost cost = {0};

    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(schedule, id);
        n_messages += lane->n_messages;
        cost.n_moves += (uint64_t)lane->n_messages * ccs_box_n_chunks(&lane->from);
    }
    uint64_t playing = n_cells * (sizeof(uint32_t) + n_words * sizeof(uint64_t));
    uint64_t racing = n_cells * sizeof(uint32_t) + ccs_races_memory(n_messages, cost.n_moves);
    cost.memory = MAX(playing, racing);
    return cost;
}

bool ccs_verify_fits(const CcsSchedule *schedule, GError **error)
{
    uint64_t memory = ccs_verify_cost(schedule).memory;

    if (memory <= CCS_VERIFY_MEMORY)
        return true;
    g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT,
                "to play %s on %u ranks in this way takes %.1f GiB of memory or more, and %.0f are"
                " allowed",
                ccs_collective_info(ccs_schedule_collective(schedule))->name,
                ccs_schedule_n_ranks(schedule), (double)memory / (1 << 30),
                (double)CCS_VERIFY_MEMORY / (1 << 30));
    return false;
}

bool ccs_verify_play(const CcsSchedule *schedule, CcsPlayOrder order, uint32_t seed, GError **error)
{
    if (ccs_schedule_n_ranks(schedule) == 1)
        return true;
    if (!ccs_verify_fits(schedule, error))
        return false;

    g_auto(Player) player;
    player_init(&player, schedule, order, seed);
    while (!ccs_progress_is_done(player.progress)) {
        if (!ccs_interrupt_check(error) || !step(&player, error))
            return false;
    }
    return check_end(&player, error);
}

bool ccs_verify_orders(const CcsSchedule *schedule, uint32_t n_random, GError **error)
{
    if (!ccs_verify_fits(schedule, error) ||
        !ccs_verify_play(schedule, CCS_PLAY_DELIVER_FIRST, 0, error) ||
        !ccs_verify_play(schedule, CCS_PLAY_DELIVER_LAST, 0, error))
        return false;
    for (uint32_t seed = 1; seed <= n_random; seed++) {
        if (!ccs_verify_play(schedule, CCS_PLAY_RANDOM, seed, error))
            return false;
    }
    return ccs_races_check(schedule, error) && ccs_spread_check(schedule, error);
}

bool ccs_verify(const CcsSchedule *schedule, GError **error)
{
    return ccs_verify_orders(schedule, 1, error);
}
