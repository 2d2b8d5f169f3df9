/* Which recv gets which message: the k-th of one tag the k-th, as they stand in the file. */
#include "workloads/program_private.h"

/* What a send and its recv have in common, and the call itself. */
typedef struct {
    CcsRank source;
    CcsRank target;
    uint32_t communicator;
    uint32_t tag;
    uint32_t call;
} Offer;

static int compare_numbers(uint32_t one, uint32_t other)
{
    return (one > other) - (one < other);
}

/* Whether two offers may meet: 0 if so. */
static int compare_keys(const Offer *one, const Offer *other)
{
    int by_source = compare_numbers(one->source, other->source);
    int by_target = compare_numbers(one->target, other->target);
    int by_communicator = compare_numbers(one->communicator, other->communicator);

    if (by_source != 0)
        return by_source;
    if (by_target != 0)
        return by_target;
    return by_communicator != 0 ? by_communicator : compare_numbers(one->tag, other->tag);
}

static int compare_offers(const void *a, const void *b)
{
    const Offer *one = a;
    const Offer *other = b;
    int by_key = compare_keys(one, other);
    return by_key != 0 ? by_key : compare_numbers(one->call, other->call);
}

/* All sends or all recvs, sorted. */
static GArray *find_offers(const CcsProgram *program, bool is_send)
{
    GArray *offers = g_array_new(false, false, sizeof(Offer));

    for (uint32_t i = 0; i < program->calls->len; i++) {
        const CcsCall *call = ccs_program_call(program, i);
        if (!(is_send ? ccs_call_sends(call->kind) : ccs_call_receives(call->kind)))
            continue;
        const CcsCallSite *site = ccs_program_site(program, call->site);
        Offer offer = {is_send ? call->rank : call->peer, is_send ? call->peer : call->rank,
                       site->communicator, site->transfer->tag, i};
        g_array_append_val(offers, offer);
    }
    g_array_sort(offers, compare_offers);
    return offers;
}

static void refuse_size(CcsProgram *program, const CcsCall *send, uint32_t send_call,
                        const CcsCall *receive)
{
    g_autofree char *place = ccs_call_describe(program, send_call);
    g_autofree char *own = ccs_quantity_format(CCS_QUANTITY_SIZE, receive->bytes);
    g_autofree char *sent = ccs_quantity_format(CCS_QUANTITY_SIZE, send->bytes);

    ccs_program_error(program, receive->site, "size",
                      "rank %u receives %s here, but rank %u sends %s (%s)", receive->rank, own,
                      send->rank, sent, place);
}

static void join(CcsProgram *program, uint32_t send_call, uint32_t receive_call)
{
    CcsCall *send = &g_array_index(program->calls, CcsCall, send_call);
    CcsCall *receive = &g_array_index(program->calls, CcsCall, receive_call);

    send->match = receive_call;
    receive->match = send_call;
    if (ccs_program_site(program, receive->site)->has_size && receive->bytes != send->bytes)
        refuse_size(program, send, send_call, receive);
    receive->bytes = send->bytes;
}

/* How many of @offers, from @first on, have one key. */
static guint count_equal(const GArray *offers, guint first)
{
    guint n = 1;

    while (first + n < offers->len && compare_keys(&g_array_index(offers, Offer, first),
                                                   &g_array_index(offers, Offer, first + n)) == 0)
        n++;
    return n;
}

/* @n_met of the @n offers from @first on have found each other; the next has not. */
static void refuse(CcsProgram *program, const GArray *offers, guint first, guint n, guint n_met)
{
    if (n_met == n)
        return;
    const Offer *offer = &g_array_index(offers, Offer, first + n_met);
    const CcsCall *call = ccs_program_call(program, offer->call);
    const CcsCallSite *site = ccs_program_site(program, call->site);
    const char *name = site->transfer->communicator;

    if (ccs_call_sends(call->kind))
        ccs_program_error(program, call->site, NULL,
                          "rank %u never receives this: rank %u sends it %u with tag %u in '%s', "
                          "and it receives %u",
                          offer->target, offer->source, n, offer->tag, name, n_met);
    else
        ccs_program_error(program, call->site, NULL,
                          "nobody sends this: rank %u receives %u with tag %u in '%s' from rank "
                          "%u, which sends %u",
                          offer->target, n, offer->tag, name, offer->source, n_met);
}

/* Both lists are sorted by key, so that they are gone through side by side. */
void ccs_program_match(CcsProgram *program)
{
    g_autoptr(GArray) sends = find_offers(program, true);
    g_autoptr(GArray) receives = find_offers(program, false);
    guint i = 0;
    guint j = 0;

    while (i < sends->len || j < receives->len) {
        const Offer *send = i < sends->len ? &g_array_index(sends, Offer, i) : NULL;
        const Offer *receive = j < receives->len ? &g_array_index(receives, Offer, j) : NULL;
        int order = send == NULL ? 1 : receive == NULL ? -1 : compare_keys(send, receive);
        guint n_sends = order > 0 ? 0 : count_equal(sends, i);
        guint n_receives = order < 0 ? 0 : count_equal(receives, j);
        guint n_met = MIN(n_sends, n_receives);
        for (guint k = 0; k < n_met; k++)
            join(program, g_array_index(sends, Offer, i + k).call,
                 g_array_index(receives, Offer, j + k).call);
        refuse(program, sends, i, n_sends, n_met);
        refuse(program, receives, j, n_receives, n_met);
        i += n_sends;
        j += n_receives;
    }
}
