#include "tests/support/unrolled.h"

#include <string.h>

/* Chunks of one end of a message. */
typedef struct {
    CcsBuffer buffer;
    CcsRank rank;
    uint32_t channel;
    GArray *chunks; /* of uint32_t, owned */
} End;

typedef struct {
    CcsLaneId lane;
    uint32_t index; /* in the lane */
    bool is_added;
    bool is_idle; /* what it moves stays where it is */
    End from;
    End to;
} Message;

struct CcsUnrolled {
    const CcsSchedule *schedule;
    uint32_t *first;   /* by lane: its first message */
    GArray *messages;  /* of Message */
    uint32_t n_events; /* message m has events 3 m ... 3 m + 2 */
    uint32_t n_words;  /* of a set of events */
    GArray **direct;   /* by event: of uint32_t, what comes right before it */
    uint64_t *before;  /* by event: the set of all that come before it */
    uint8_t *state;    /* by event: while the sets are made */
};

enum { NEW, OPEN, DONE };

static End make_end(const CcsBox *box, const CcsLane *lane, uint32_t index, CcsRank peer,
                    CcsRank rank)
{
    End end = {box->buffer, rank, lane->channel, g_array_new(false, false, sizeof(uint32_t))};
    uint32_t begin = ccs_box_begin(box, lane, index, peer);

    for (uint32_t i = 0; i < ccs_box_n_chunks(box); i++) {
        uint32_t chunk = ccs_box_chunk(box, begin, i);
        g_array_append_val(end.chunks, chunk);
    }
    return end;
}

static void clear_message(gpointer data)
{
    Message *message = data;

    g_array_unref(message->from.chunks);
    g_array_unref(message->to.chunks);
}

static void add_messages(CcsUnrolled *unrolled)
{
    uint32_t n_lanes = ccs_schedule_n_lanes(unrolled->schedule);

    unrolled->first = g_new(uint32_t, n_lanes + 1);
    unrolled->messages = g_array_new(false, false, sizeof(Message));
    g_array_set_clear_func(unrolled->messages, clear_message);
    for (CcsLaneId id = 0; id < n_lanes; id++) {
        const CcsLane *lane = ccs_schedule_lane(unrolled->schedule, id);
        unrolled->first[id] = unrolled->messages->len;
        for (uint32_t k = 0; k < lane->n_messages; k++) {
            CcsRank peer = ccs_lane_peer(lane, k, ccs_schedule_n_ranks(unrolled->schedule));
            bool is_added = k < lane->n_reduced;
            Message message = {.lane = id, .index = k, .is_added = is_added};
            message.from = make_end(&lane->from, lane, k, peer, lane->source);
            message.to = make_end(&lane->to, lane, k, peer, peer);
            message.is_idle = ccs_lane_is_local(lane) && !is_added &&
                              memcmp(&lane->from, &lane->to, sizeof lane->from) == 0;
            g_array_append_val(unrolled->messages, message);
        }
    }
}

/* Event @a of message @m of one lane comes right before event @b of message @n of another. */
static void link_events(CcsUnrolled *unrolled, CcsLaneId before, uint32_t m, CcsUnrolledEvent a,
                        CcsLaneId after, uint32_t n, CcsUnrolledEvent b)
{
    uint32_t event = CCS_N_EVENTS * (unrolled->first[before] + m) + a;
    uint32_t later = CCS_N_EVENTS * (unrolled->first[after] + n) + b;

    g_array_append_val(unrolled->direct[later], event);
}

/* One message leaves after the other, and those to one rank arrive so. */
static void link_lane(CcsUnrolled *unrolled, CcsLaneId id)
{
    const CcsLane *lane = ccs_schedule_lane(unrolled->schedule, id);

    for (uint32_t k = 0; k < lane->n_messages; k++) {
        link_events(unrolled, id, k, CCS_STARTS, id, k, CCS_LEAVES);
        link_events(unrolled, id, k, CCS_LEAVES, id, k, CCS_ARRIVES);
        if (k > 0)
            link_events(unrolled, id, k - 1, CCS_LEAVES, id, k, CCS_STARTS);
        if (k > 0 && lane->peer_kind == CCS_PEER_FIXED)
            link_events(unrolled, id, k - 1, CCS_ARRIVES, id, k, CCS_ARRIVES);
    }
}

/* Message @k waits until @n messages of the lane before have arrived. Messages to several ranks
 * may pass each other: it is known which they are only if they are all, or all that started. */
static void link_arrivals(CcsUnrolled *unrolled, const CcsDependency *dependency, uint32_t k,
                          uint32_t n)
{
    const CcsLane *before = ccs_schedule_lane(unrolled->schedule, dependency->before);
    bool is_known = before->peer_kind == CCS_PEER_FIXED || n == before->n_messages ||
                    (dependency->before == dependency->after && n == k);

    for (uint32_t i = 0; i < n; i++)
        link_events(unrolled, dependency->before, i, is_known ? CCS_ARRIVES : CCS_LEAVES,
                    dependency->after, k, CCS_STARTS);
}

static void link_dependency(CcsUnrolled *unrolled, const CcsDependency *dependency, uint32_t k)
{
    const CcsLane *after = ccs_schedule_lane(unrolled->schedule, dependency->after);
    uint32_t n_ranks = ccs_schedule_n_ranks(unrolled->schedule);
    uint32_t n = ccs_dependency_needs(
        dependency, k, ccs_schedule_lane(unrolled->schedule, dependency->before)->n_messages);

    if (!dependency->is_by_sender && dependency->event == CCS_ARRIVED) {
        link_arrivals(unrolled, dependency, k, n);
    } else if (!dependency->is_by_sender && n > 0) {
        link_events(unrolled, dependency->before, n - 1, CCS_LEAVES, dependency->after, k,
                    CCS_STARTS);
    } else if (dependency->is_by_sender && k >= dependency->from && k >= dependency->distance) {
        uint32_t awaited = k - dependency->distance;
        CcsRank sender = ccs_lane_sender(after, awaited, after->source, n_ranks);
        link_events(unrolled, dependency->before + sender, awaited, CCS_ARRIVES, dependency->after,
                    k, CCS_STARTS);
    }
}

static void link_all(CcsUnrolled *unrolled)
{
    const CcsSchedule *schedule = unrolled->schedule;

    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(schedule); id++)
        link_lane(unrolled, id);
    for (uint32_t i = 0; i < ccs_schedule_n_dependencies(schedule); i++) {
        const CcsDependency *dependency = ccs_schedule_dependency(schedule, i);
        for (uint32_t k = 0; k < ccs_schedule_lane(schedule, dependency->after)->n_messages; k++)
            link_dependency(unrolled, dependency, k);
    }
}

/* Finds all that comes before @event, by what comes right before it. Returns: false if it comes
 * before itself. */
static bool close_event(CcsUnrolled *unrolled, uint32_t event)
{
    uint64_t *set = &unrolled->before[(size_t)event * unrolled->n_words];

    if (unrolled->state[event] != NEW)
        return unrolled->state[event] == DONE;
    unrolled->state[event] = OPEN;
    for (guint i = 0; i < unrolled->direct[event]->len; i++) {
        uint32_t earlier = g_array_index(unrolled->direct[event], uint32_t, i);
        if (!close_event(unrolled, earlier))
            return false;
        const uint64_t *of = &unrolled->before[(size_t)earlier * unrolled->n_words];
        for (uint32_t word = 0; word < unrolled->n_words; word++)
            set[word] |= of[word];
        set[earlier / 64] |= (uint64_t)1 << (earlier % 64);
    }
    unrolled->state[event] = DONE;
    return true;
}

CcsUnrolled *ccs_unrolled_new(const CcsSchedule *schedule)
{
    g_autoptr(CcsUnrolled) unrolled = g_new0(CcsUnrolled, 1);

    unrolled->schedule = schedule;
    add_messages(unrolled);
    unrolled->n_events = CCS_N_EVENTS * unrolled->messages->len;
    unrolled->n_words = unrolled->n_events / 64 + 1;
    unrolled->direct = g_new(GArray *, unrolled->n_events + 1);
    for (uint32_t event = 0; event < unrolled->n_events; event++)
        unrolled->direct[event] = g_array_new(false, false, sizeof(uint32_t));
    unrolled->before = g_new0(uint64_t, (size_t)unrolled->n_events * unrolled->n_words + 1);
    unrolled->state = g_new0(uint8_t, unrolled->n_events + 1);
    link_all(unrolled);
    for (uint32_t event = 0; event < unrolled->n_events; event++) {
        if (!close_event(unrolled, event))
            return NULL;
    }
    return g_steal_pointer(&unrolled);
}

void ccs_unrolled_free(CcsUnrolled *unrolled)
{
    if (unrolled == NULL)
        return;
    for (uint32_t event = 0; event < unrolled->n_events; event++)
        g_array_unref(unrolled->direct[event]);
    g_free(unrolled->direct);
    g_array_unref(unrolled->messages);
    g_free(unrolled->first);
    g_free(unrolled->before);
    g_free(unrolled->state);
    g_free(unrolled);
}

uint32_t ccs_unrolled_n_messages(const CcsUnrolled *unrolled)
{
    return unrolled->messages->len;
}

bool ccs_unrolled_is_before(const CcsUnrolled *unrolled, uint32_t m, CcsUnrolledEvent a, uint32_t n,
                            CcsUnrolledEvent b)
{
    uint32_t event = CCS_N_EVENTS * m + a;
    const uint64_t *set = &unrolled->before[(size_t)(CCS_N_EVENTS * n + b) * unrolled->n_words];

    return (set[event / 64] >> (event % 64) & 1) != 0;
}

static bool is_same_end(const End *a, const End *b)
{
    return a->buffer == b->buffer && a->rank == b->rank && a->channel == b->channel &&
           a->chunks->len == b->chunks->len &&
           memcmp(a->chunks->data, b->chunks->data, a->chunks->len * sizeof(uint32_t)) == 0;
}

bool ccs_unrolled_does_same(const CcsUnrolled *a, const CcsUnrolled *b)
{
    if (a->messages->len != b->messages->len)
        return false;
    for (guint i = 0; i < a->messages->len; i++) {
        const Message *of_a = &g_array_index(a->messages, Message, i);
        const Message *of_b = &g_array_index(b->messages, Message, i);
        if (of_a->lane != of_b->lane || of_a->is_added != of_b->is_added ||
            !is_same_end(&of_a->from, &of_b->from) || !is_same_end(&of_a->to, &of_b->to))
            return false;
    }
    return true;
}

bool ccs_unrolled_allows_same(const CcsUnrolled *a, const CcsUnrolled *b)
{
    return memcmp(a->before, b->before, (size_t)a->n_events * a->n_words * sizeof *a->before) == 0;
}

bool ccs_unrolled_allows_less(const CcsUnrolled *a, const CcsUnrolled *b)
{
    for (size_t word = 0; word < (size_t)a->n_events * a->n_words; word++) {
        if ((b->before[word] & ~a->before[word]) != 0)
            return false;
    }
    return true;
}

static bool touches(const End *a, const End *b)
{
    if (a->buffer != b->buffer || a->rank != b->rank || a->channel != b->channel)
        return false;
    for (guint i = 0; i < a->chunks->len; i++) {
        for (guint j = 0; j < b->chunks->len; j++) {
            if (g_array_index(a->chunks, uint32_t, i) == g_array_index(b->chunks, uint32_t, j))
                return true;
        }
    }
    return false;
}

/* A read lasts from the start of message @m until it leaves; @n writes when it arrives. */
static bool has_order(const CcsUnrolled *a, const CcsUnrolled *b, uint32_t m, uint32_t n)
{
    bool is_first = ccs_unrolled_is_before(a, m, CCS_LEAVES, n, CCS_ARRIVES) &&
                    ccs_unrolled_is_before(b, m, CCS_LEAVES, n, CCS_ARRIVES);
    bool is_last = ccs_unrolled_is_before(a, n, CCS_ARRIVES, m, CCS_STARTS) &&
                   ccs_unrolled_is_before(b, n, CCS_ARRIVES, m, CCS_STARTS);

    return is_first || is_last;
}

static bool have_order(const CcsUnrolled *a, const CcsUnrolled *b, uint32_t m, uint32_t n)
{
    bool is_first = ccs_unrolled_is_before(a, m, CCS_ARRIVES, n, CCS_ARRIVES) &&
                    ccs_unrolled_is_before(b, m, CCS_ARRIVES, n, CCS_ARRIVES);
    bool is_last = ccs_unrolled_is_before(a, n, CCS_ARRIVES, m, CCS_ARRIVES) &&
                   ccs_unrolled_is_before(b, n, CCS_ARRIVES, m, CCS_ARRIVES);

    return is_first || is_last;
}

static bool agrees_on(const CcsUnrolled *a, const CcsUnrolled *b, uint32_t m, uint32_t n)
{
    const Message *one = &g_array_index(a->messages, Message, m);
    const Message *other = &g_array_index(a->messages, Message, n);

    if (one->is_idle || other->is_idle)
        return true;
    if (touches(&one->from, &other->to) && m != n && !has_order(a, b, m, n))
        return false;
    return m >= n || (one->is_added && other->is_added) || !touches(&one->to, &other->to) ||
           have_order(a, b, m, n);
}

bool ccs_unrolled_agrees(const CcsUnrolled *a, const CcsUnrolled *b)
{
    for (uint32_t m = 0; m < a->messages->len; m++) {
        for (uint32_t n = 0; n < a->messages->len; n++) {
            if (!agrees_on(a, b, m, n))
                return false;
        }
    }
    return true;
}

/* The ranks whose word message @m carries at least, and in @words what is known of the others; 0
 * is not known yet. */
static uint64_t least_word(const CcsUnrolled *unrolled, uint32_t m, uint64_t *words)
{
    const Message *message = &g_array_index(unrolled->messages, Message, m);

    if (words[m] != 0)
        return words[m];
    words[m] = (uint64_t)1 << message->from.rank;
    for (uint32_t i = 0; i < unrolled->messages->len; i++) {
        if (ccs_unrolled_is_before(unrolled, i, CCS_ARRIVES, m, CCS_STARTS) &&
            touches(&g_array_index(unrolled->messages, Message, i).to, &message->from))
            words[m] |= least_word(unrolled, i, words);
    }
    return words[m];
}

bool ccs_unrolled_spreads(const CcsUnrolled *unrolled)
{
    uint32_t n = ccs_schedule_n_ranks(unrolled->schedule);
    g_autofree uint64_t *words = g_new0(uint64_t, unrolled->messages->len + 1);
    g_autofree uint64_t *at_end = g_new0(uint64_t, n);
    bool is_all_added = true;
    uint32_t n_full = 0;

    for (uint32_t m = 0; m < unrolled->messages->len; m++) {
        const Message *message = &g_array_index(unrolled->messages, Message, m);
        is_all_added = is_all_added && message->is_added;
        if (message->to.rank < n)
            at_end[message->to.rank] |= least_word(unrolled, m, words);
    }
    for (CcsRank rank = 0; rank < n; rank++)
        n_full += (at_end[rank] | (uint64_t)1 << rank) == ((uint64_t)1 << n) - 1;
    return is_all_added && n_full == n && ccs_schedule_n_channels(unrolled->schedule) == 1;
}
