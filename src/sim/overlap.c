#include "sim/overlap.h"

typedef struct {
    CcsTime begin;
    CcsTime end;
} Span;

/* What one rank does, as spans in any order. */
typedef struct {
    CcsBytes bytes_sent;
    CcsBytes bytes_received;
    GArray *computing;
    GArray *sending;
    GArray *communicating;
} Rank;

struct CcsOverlaps {
    uint32_t n_ranks;
    Rank *ranks;
};

CcsOverlaps *ccs_overlaps_new(uint32_t n_ranks)
{
    CcsOverlaps *overlaps = g_new0(CcsOverlaps, 1);

    overlaps->n_ranks = n_ranks;
    overlaps->ranks = g_new0(Rank, n_ranks);
    for (uint32_t i = 0; i < n_ranks; i++)
        overlaps->ranks[i] = (Rank){.computing = g_array_new(false, false, sizeof(Span)),
                                    .sending = g_array_new(false, false, sizeof(Span)),
                                    .communicating = g_array_new(false, false, sizeof(Span))};
    return overlaps;
}

void ccs_overlaps_free(CcsOverlaps *overlaps)
{
    if (overlaps == NULL)
        return;
    for (uint32_t i = 0; i < overlaps->n_ranks; i++) {
        g_array_unref(overlaps->ranks[i].computing);
        g_array_unref(overlaps->ranks[i].sending);
        g_array_unref(overlaps->ranks[i].communicating);
    }
    g_free(overlaps->ranks);
    g_free(overlaps);
}

static void add(GArray *spans, CcsTime begin, CcsTime end)
{
    g_array_append_vals(spans, &(Span){begin, end}, 1);
}

void ccs_overlaps_add_message(CcsOverlaps *overlaps, const CcsFlow *flow)
{
    Rank *source = &overlaps->ranks[flow->src];
    Rank *target = &overlaps->ranks[flow->dst];

    source->bytes_sent += flow->bytes;
    target->bytes_received += flow->bytes;
    add(source->sending, flow->started, flow->injected);
    add(source->communicating, flow->started, flow->injected);
    add(target->communicating, flow->started, flow->arrived);
}

void ccs_overlaps_add_work(CcsOverlaps *overlaps, const CcsFlow *work)
{
    add(overlaps->ranks[work->src].computing, work->started, work->arrived);
}

static int compare_spans(const void *a, const void *b)
{
    const Span *one = a;
    const Span *other = b;
    return (one->begin > other->begin) - (one->begin < other->begin);
}

/* Sorts @spans and joins those that touch. */
static void unite(GArray *spans)
{
    guint n = 0;

    g_array_sort(spans, compare_spans);
    for (guint i = 0; i < spans->len; i++) {
        Span span = g_array_index(spans, Span, i);
        Span *last = n == 0 ? NULL : &g_array_index(spans, Span, n - 1);
        if (last != NULL && span.begin <= last->end)
            last->end = MAX(last->end, span.end);
        else
            g_array_index(spans, Span, n++) = span;
    }
    g_array_set_size(spans, n);
}

static CcsTime length_of(const GArray *spans)
{
    CcsTime length = 0;

    for (guint i = 0; i < spans->len; i++)
        length += g_array_index(spans, Span, i).end - g_array_index(spans, Span, i).begin;
    return length;
}

static CcsTime end_of(const GArray *spans)
{
    return spans->len == 0 ? 0 : g_array_index(spans, Span, spans->len - 1).end;
}

/* The time that is in both, once they are united. */
static CcsTime common_length(const GArray *one, const GArray *other)
{
    CcsTime length = 0;
    guint i = 0;
    guint j = 0;

    while (i < one->len && j < other->len) {
        const Span *a = &g_array_index(one, Span, i);
        const Span *b = &g_array_index(other, Span, j);
        length += MAX(MIN(a->end, b->end) - MAX(a->begin, b->begin), 0);
        if (a->end < b->end)
            i++;
        else
            j++;
    }
    return length;
}

CcsOverlap ccs_overlaps_of(CcsOverlaps *overlaps, uint32_t rank)
{
    const Rank *of = &overlaps->ranks[rank];

    unite(of->computing);
    unite(of->sending);
    unite(of->communicating);
    return (CcsOverlap){
        .bytes_sent = of->bytes_sent,
        .bytes_received = of->bytes_received,
        .does_something = of->computing->len + of->communicating->len > 0,
        .finished = MAX(end_of(of->computing), end_of(of->communicating)),
        .computing = length_of(of->computing),
        .sending = length_of(of->sending),
        .communicating = length_of(of->communicating),
        .hidden = common_length(of->computing, of->communicating),
    };
}

uint32_t ccs_overlaps_n_ranks(const CcsOverlaps *overlaps)
{
    return overlaps->n_ranks;
}

double ccs_overlaps_share(CcsOverlaps *overlaps)
{
    double hidden = 0;
    double communicating = 0;

    for (uint32_t rank = 0; rank < overlaps->n_ranks; rank++) {
        CcsOverlap of = ccs_overlaps_of(overlaps, rank);
        hidden += (double)of.hidden;
        communicating += (double)of.communicating;
    }
    return communicating == 0 ? 0 : hidden / communicating;
}
