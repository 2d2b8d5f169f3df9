#include "collectives/spread.h"

#include "base/error.h"
#include "collectives/cells.h"
#include "collectives/contract.h"
#include "collectives/past.h"
#include "collectives/progress.h"

/* The least that a message brings to a cell. */
typedef struct {
    CcsMessage message;
    CcsCell cell;
    uint64_t *ranks; /* owned */
} Word;

typedef struct {
    const CcsSchedule *schedule;
    CcsProgress *progress;
    CcsPast *past;
    uint32_t n_words; /* 64-bit words of a set of ranks */
    GArray *words;    /* of Word, in one of the orders that are allowed */
} Spread;

static void clear_word(gpointer data)
{
    g_free(((Word *)data)->ranks);
}

static void spread_init(Spread *spread, const CcsSchedule *schedule)
{
    *spread = (Spread){.schedule = schedule,
                       .progress = ccs_progress_new(schedule),
                       .n_words = (ccs_schedule_n_ranks(schedule) + 63) / 64,
                       .words = g_array_new(false, false, sizeof(Word))};
    spread->past = ccs_past_new(schedule, spread->progress);
    g_array_set_clear_func(spread->words, clear_word);
}

static void spread_clear(Spread *spread)
{
    ccs_past_free(spread->past);
    ccs_progress_free(spread->progress);
    g_array_unref(spread->words);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Spread, spread_clear)

/* What is in @cell at the least once all has happened that the past holds, or all that there is
 * for @is_end. What is copied to a cell takes the place of what was there. */
static uint64_t *least_in(const Spread *spread, CcsCell cell, bool is_end)
{
    CcsPlace place = ccs_cell_place(spread->schedule, cell);
    uint64_t *ranks = g_new0(uint64_t, spread->n_words);

    if (ccs_contract_holds_at_start(spread->schedule, place.buffer, place.rank, place.channel,
                                    place.chunk))
        ranks[place.rank / 64] |= (uint64_t)1 << (place.rank % 64);
    for (guint i = 0; i < spread->words->len; i++) {
        const Word *word = &g_array_index(spread->words, Word, i);
        const CcsMessage *by = &word->message;
        if (word->cell != cell ||
            (!is_end && !ccs_past_has_arrived(spread->past, by->lane, by->message)))
            continue;
        bool is_added = by->message < ccs_schedule_lane(spread->schedule, by->lane)->n_reduced;
        for (uint32_t w = 0; w < spread->n_words; w++)
            ranks[w] = (is_added ? ranks[w] : 0) | word->ranks[w];
    }
    return ranks;
}

/* Returns: false if the message leaves the buffers. */
static bool add_words(Spread *spread, const CcsMessage *message)
{
    const CcsLane *lane = ccs_schedule_lane(spread->schedule, message->lane);
    uint32_t n = MIN(ccs_box_n_chunks(&lane->from), ccs_box_n_chunks(&lane->to));
    g_autofree CcsCell *from = g_new(CcsCell, ccs_box_n_chunks(&lane->from));
    g_autofree CcsCell *to = g_new(CcsCell, ccs_box_n_chunks(&lane->to));
    CcsPlace outside;

    if (!ccs_message_cells(spread->schedule, lane, message->message, CCS_END_SOURCE, from,
                           &outside) ||
        !ccs_message_cells(spread->schedule, lane, message->message, CCS_END_TARGET, to, &outside))
        return false;
    ccs_past_look_at(spread->past, message->lane);
    ccs_past_extend(spread->past, message->message);
    for (uint32_t i = 0; i < n && !ccs_lane_is_join(lane); i++) {
        Word word = {*message, to[i], least_in(spread, from[i], false)};
        g_array_append_val(spread->words, word);
    }
    return true;
}

/* Whether all that was promised of a chunk of the output will have been heard of. */
static bool check_chunk(const Spread *spread, const CcsPlace *place, GError **error)
{
    CcsPromise promise;

    if (!ccs_contract_promises(spread->schedule, place->rank, place->channel, place->chunk,
                               &promise))
        return true;
    g_autofree uint64_t *ranks = least_in(spread, ccs_cell(spread->schedule, place), true);
    for (CcsRank rank = 0; rank < ccs_schedule_n_ranks(spread->schedule); rank++) {
        bool is_wanted = promise.only == CCS_NO_RANK || promise.only == rank;
        if (!is_wanted || (ranks[rank / 64] >> (rank % 64) & 1) != 0)
            continue;
        g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK,
                    "rank %u may come to the end of channel %u without having heard of rank %u",
                    place->rank, place->channel, rank);
        return false;
    }
    return true;
}

static bool check_end(const Spread *spread, GError **error)
{
    const CcsSchedule *schedule = spread->schedule;
    CcsPlace place = {.buffer = CCS_BUFFER_OUTPUT};

    for (place.rank = 0; place.rank < ccs_schedule_n_ranks(schedule); place.rank++) {
        for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
            place.channel = channel;
            for (place.chunk = 0; place.chunk < ccs_schedule_n_chunks(schedule); place.chunk++) {
                if (!check_chunk(spread, &place, error))
                    return false;
            }
        }
    }
    return true;
}

bool ccs_spread_check(const CcsSchedule *schedule, GError **error)
{
    if (!ccs_contract_allows_repeats(ccs_schedule_collective(schedule)))
        return true;

    g_auto(Spread) spread;
    spread_init(&spread, schedule);
    g_autoptr(GArray) order = ccs_progress_any_order(spread.progress);
    for (guint i = 0; order != NULL && i < order->len; i++) {
        if (!add_words(&spread, &g_array_index(order, CcsMessage, i)))
            return true;
    }
    return order == NULL || check_end(&spread, error);
}
