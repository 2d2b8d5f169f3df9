/* Finds for each send its receive, and an order in which all steps can come. */
#include <string.h>

#include "base/hash.h"
#include "formats/msccl_internal.h"

#define MAX_SHOWN 8U /* steps of a circle */

static bool fail_at(const CcsMsccl *msccl, CcsMarkupPlace place, GError **error, const char *format,
                    ...) G_GNUC_PRINTF(4, 5);

static bool fail_at(const CcsMsccl *msccl, CcsMarkupPlace place, GError **error, const char *format,
                    ...)
{
    CcsMarkupText source = ccs_msccl_source(msccl);
    va_list arguments;

    va_start(arguments, format);
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return ccs_markup_fail_at(&source, place, error, "%s", what);
}

static bool check_gpus(const CcsMsccl *msccl, GError **error)
{
    for (CcsRank rank = 0; rank < msccl->n_ranks; rank++) {
        if (!msccl->gpus[rank].is_there)
            return fail_at(msccl, msccl->place, error,
                           "GPU %u is missing, of %u that 'ngpus' names", rank, msccl->n_ranks);
    }
    return true;
}

/* Each place of a part must belong to one chunk: either all GPUs have an order, or none. */
static bool check_orders(const CcsMsccl *msccl, GError **error)
{
    CcsMscclLayout layout = ccs_msccl_layout(msccl);
    g_autofree bool *is_taken = g_new0(bool, msccl->n_chunks);

    if (!layout.has_blocks)
        return true;
    for (uint32_t chunk = 0; chunk < msccl->n_chunks; chunk++) {
        const CcsMscclGpu *gpu = &msccl->gpus[chunk / layout.per_block];
        uint32_t part = 0;
        uint32_t at = 0;
        ccs_msccl_place(&layout, chunk, &part, &at);
        bool *place = &is_taken[part * layout.per_part + at];
        if (*place)
            return fail_at(msccl, gpu->place, error,
                           "'ccsim_order' gives place %u of part %u to two chunks", at, part);
        *place = true;
    }
    return true;
}

/* The blocks at the two ends of a connection; CCS_MSCCL_NONE. */
typedef struct {
    CcsRank source;
    CcsRank target;
    uint32_t channel;
    uint32_t sender;
    uint32_t receiver;
} Connection;

static guint hash_connection(gconstpointer key)
{
    const Connection *of = key;
    uint64_t number =
        ((uint64_t)of->source << 32 | of->target) + (uint64_t)of->channel * 0x9E3779B9;

    return ccs_spread(number);
}

static gboolean is_same_connection(gconstpointer a, gconstpointer b)
{
    const Connection *first = a;
    const Connection *second = b;

    return first->source == second->source && first->target == second->target &&
           first->channel == second->channel;
}

static Connection *connection(GHashTable *connections, CcsRank source, CcsRank target,
                              uint32_t channel)
{
    Connection key = {source, target, channel, CCS_MSCCL_NONE, CCS_MSCCL_NONE};
    Connection *found = g_hash_table_lookup(connections, &key);

    if (found == NULL) {
        found = g_memdup2(&key, sizeof key);
        g_hash_table_add(connections, found);
    }
    return found;
}

static CcsMscclBlock *block_at(const CcsMsccl *msccl, uint32_t index)
{
    return &g_array_index(msccl->blocks, CcsMscclBlock, index);
}

static bool take_end(const CcsMsccl *msccl, uint32_t index, const char *name, uint32_t *end,
                     GError **error)
{
    const CcsMscclBlock *block = block_at(msccl, index);

    if (*end != CCS_MSCCL_NONE)
        return fail_at(msccl, block->place, error,
                       "block %u has '%s' and 'chan' of block %u, in line %u: who of them uses the"
                       " connection first?",
                       block->id, name, block_at(msccl, *end)->id,
                       block_at(msccl, *end)->place.line);
    *end = index;
    return true;
}

static bool find_connections(const CcsMsccl *msccl, GHashTable *connections, GError **error)
{
    for (CcsRank rank = 0; rank < msccl->n_ranks; rank++) {
        for (uint32_t i = 0; i < msccl->gpus[rank].n_blocks; i++) {
            uint32_t index = msccl->gpus[rank].first_block + i;
            const CcsMscclBlock *block = block_at(msccl, index);
            if (block->send != CCS_NO_RANK &&
                !take_end(msccl, index, "send",
                          &connection(connections, rank, block->send, block->channel)->sender,
                          error))
                return false;
            if (block->recv != CCS_NO_RANK &&
                !take_end(msccl, index, "recv",
                          &connection(connections, block->recv, rank, block->channel)->receiver,
                          error))
                return false;
        }
    }
    return true;
}

/* The next step of the block, from step @from of it on, that sends (or receives); the end of the
 * block if none does. */
static uint32_t next_step(const CcsMsccl *msccl, const CcsMscclBlock *block, uint32_t from,
                          bool is_send)
{
    for (uint32_t i = from; i < block->n_steps; i++) {
        const CcsMscclTypeInfo *info =
            ccs_msccl_type_info(ccs_msccl_step(msccl, block->first_step + i)->type);
        if (is_send ? info->sends : info->receives)
            return i;
    }
    return block->n_steps;
}

static bool match_pair(CcsMsccl *msccl, uint32_t send, uint32_t receive, GError **error)
{
    CcsMscclStep *from = ccs_msccl_step(msccl, send);
    CcsMscclStep *to = ccs_msccl_step(msccl, receive);

    if (from->n_chunks != to->n_chunks)
        return fail_at(msccl, to->place, error,
                       "this receives %u chunks of a message that has %u, sent in line %u",
                       to->n_chunks, from->n_chunks, from->place.line);
    from->received_by = receive;
    to->sent_by = send;
    return true;
}

static bool fail_alone(const CcsMsccl *msccl, const Connection *of, const CcsMscclBlock *block,
                       uint32_t step, bool is_send, GError **error)
{
    CcsMarkupPlace place = ccs_msccl_step(msccl, block->first_step + step)->place;

    if (is_send)
        return fail_at(msccl, place, error, "GPU %u does not receive this on channel %u",
                       of->target, of->channel);
    return fail_at(msccl, place, error, "GPU %u does not send this on channel %u", of->source,
                   of->channel);
}

/* What is sent is received in the same order. */
static bool match_connection(CcsMsccl *msccl, const Connection *of, GError **error)
{
    static const CcsMscclBlock nobody = {0};
    const CcsMscclBlock *sender =
        of->sender == CCS_MSCCL_NONE ? &nobody : block_at(msccl, of->sender);
    const CcsMscclBlock *receiver =
        of->receiver == CCS_MSCCL_NONE ? &nobody : block_at(msccl, of->receiver);
    uint32_t send = next_step(msccl, sender, 0, true);
    uint32_t receive = next_step(msccl, receiver, 0, false);

    while (send < sender->n_steps && receive < receiver->n_steps) {
        if (!match_pair(msccl, sender->first_step + send, receiver->first_step + receive, error))
            return false;
        send = next_step(msccl, sender, send + 1, true);
        receive = next_step(msccl, receiver, receive + 1, false);
    }
    if (send < sender->n_steps)
        return fail_alone(msccl, of, sender, send, true, error);
    if (receive < receiver->n_steps)
        return fail_alone(msccl, of, receiver, receive, false, error);
    return true;
}

/* In the order of the blocks, so that the first error is always the same one. */
static bool match_all(CcsMsccl *msccl, GError **error)
{
    g_autoptr(GHashTable) connections =
        g_hash_table_new_full(hash_connection, is_same_connection, g_free, NULL);

    if (!find_connections(msccl, connections, error))
        return false;
    for (CcsRank rank = 0; rank < msccl->n_ranks; rank++) {
        for (uint32_t i = 0; i < msccl->gpus[rank].n_blocks; i++) {
            const CcsMscclBlock *block = ccs_msccl_block(msccl, rank, i);
            if (block->send != CCS_NO_RANK &&
                !match_connection(msccl, connection(connections, rank, block->send, block->channel),
                                  error))
                return false;
            if (block->recv != CCS_NO_RANK &&
                !match_connection(msccl, connection(connections, block->recv, rank, block->channel),
                                  error))
                return false;
        }
    }
    return true;
}

/* The step that a step waits for is known by the id of its block until here. */
static bool resolve_wait(const CcsMsccl *msccl, GHashTable *ids, const CcsMscclBlock *block,
                         uint32_t index, GError **error)
{
    CcsMscclStep *step = ccs_msccl_step(msccl, block->first_step + index);
    gpointer found = NULL;

    if (step->wait_block == CCS_MSCCL_NONE)
        return true;
    if (!g_hash_table_lookup_extended(ids, GUINT_TO_POINTER(step->wait_block), NULL, &found))
        return fail_at(msccl, step->place, error,
                       "it waits for block %u, which its GPU does not have", step->wait_block);
    const CcsMscclBlock *other = block_at(msccl, GPOINTER_TO_UINT(found));
    if (step->wait_step >= other->n_steps)
        return fail_at(msccl, step->place, error,
                       "it waits for step %u of block %u, which has %u steps", step->wait_step,
                       step->wait_block, other->n_steps);
    if (other == block && step->wait_step >= index)
        return fail_at(msccl, step->place, error,
                       "it waits for step %u of its own block, which does not come before it",
                       step->wait_step);
    step->waits_for = other->first_step + step->wait_step;
    ccs_msccl_step(msccl, step->waits_for)->is_waited_for = true;
    return true;
}

static bool resolve_waits(const CcsMsccl *msccl, GError **error)
{
    g_autoptr(GHashTable) ids = g_hash_table_new(NULL, NULL);

    for (CcsRank rank = 0; rank < msccl->n_ranks; rank++) {
        const CcsMscclGpu *gpu = &msccl->gpus[rank];
        g_hash_table_remove_all(ids);
        for (uint32_t i = gpu->first_block; i < gpu->first_block + gpu->n_blocks; i++)
            g_hash_table_insert(ids, GUINT_TO_POINTER(block_at(msccl, i)->id), GUINT_TO_POINTER(i));
        for (uint32_t i = gpu->first_block; i < gpu->first_block + gpu->n_blocks; i++) {
            const CcsMscclBlock *block = block_at(msccl, i);
            for (uint32_t step = 0; step < block->n_steps; step++) {
                if (!resolve_wait(msccl, ids, block, step, error))
                    return false;
            }
        }
    }
    return true;
}

static bool check_unordered(const CcsMsccl *msccl, uint32_t index, GError **error)
{
    const CcsMscclStep *step = ccs_msccl_step(msccl, index);
    const CcsMscclBlock *block = block_at(msccl, step->block);
    uint32_t end = block->first_step + block->n_steps;

    while (index < end && ccs_msccl_step(msccl, index)->type == CCS_MSCCL_NOP)
        index++;
    if (index < end && ccs_msccl_adds_in_place(ccs_msccl_step(msccl, index)) &&
        ccs_msccl_adds_in_place(ccs_msccl_step(msccl, step->waits_for)))
        return true;
    return fail_at(msccl, step->place, error,
                   "'ccsim_unordered' is for steps that add to where they read, and wait for others"
                   " that do");
}

static bool check_all_unordered(const CcsMsccl *msccl, GError **error)
{
    for (guint i = 0; i < msccl->steps->len && msccl->has_unordered; i++) {
        if (ccs_msccl_step(msccl, i)->is_unordered && !check_unordered(msccl, i, error))
            return false;
    }
    return true;
}

/* A step whose order is looked for, and how many of those before it have been. */
typedef struct {
    uint32_t step;
    uint32_t n_seen;
} Visit;

/* The @index-th step that must come before @step; CCS_MSCCL_NONE for one that is not there, and
 * false after the last. */
static bool step_before(const CcsMsccl *msccl, uint32_t step, uint32_t index, uint32_t *ret_before)
{
    const CcsMscclStep *of = ccs_msccl_step(msccl, step);

    switch (index) {
    case 0:
        *ret_before = step == block_at(msccl, of->block)->first_step ? CCS_MSCCL_NONE : step - 1;
        return true;
    case 1:
        *ret_before = of->waits_for;
        return true;
    case 2:
        *ret_before = of->sent_by;
        return true;
    }
    return of->is_rendezvous &&
           ccs_msccl_posted_after(msccl, of->received_by, index - 3, ret_before);
}

bool ccs_msccl_posted_after(const CcsMsccl *msccl, uint32_t receive, uint32_t index,
                            uint32_t *ret_before)
{
    const CcsMscclStep *of = ccs_msccl_step(msccl, receive);
    uint32_t n_earlier = receive - block_at(msccl, of->block)->first_step;

    if (index > n_earlier)
        return false;
    const CcsMscclStep *waiter = ccs_msccl_step(msccl, receive - index);
    if (index > 0 && (waiter->type != CCS_MSCCL_NOP || waiter->waits_for == CCS_MSCCL_NONE))
        return false;
    *ret_before = waiter->waits_for;
    return true;
}

/* The steps of @path from @start on wait for each other in a circle. */
static bool fail_circle(const CcsMsccl *msccl, const GArray *path, uint32_t start, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    uint32_t n = path->len - start;

    for (uint32_t i = 0; i < MIN(n, MAX_SHOWN); i++) {
        const CcsMscclStep *step =
            ccs_msccl_step(msccl, g_array_index(path, Visit, start + (i + 1) % n).step);
        g_string_append_printf(text, "%s the '%s' in line %u", i == 0 ? "" : ", which waits for",
                               ccs_msccl_type_info(step->type)->name, step->place.line);
    }
    return fail_at(msccl, ccs_msccl_step(msccl, g_array_index(path, Visit, start).step)->place,
                   error, "steps wait for each other in a circle: this one waits for%s%s",
                   text->str, n > MAX_SHOWN ? ", and so on" : "");
}

/* Appends @step and all before it that have not been to the order. @found: where on @path each step
 * is, plus 1; UINT32_MAX when it is in the order. */
static bool append_with_those_before(CcsMsccl *msccl, uint32_t step, GArray *path, uint32_t *found,
                                     uint32_t *n_ordered, GError **error)
{
    g_array_append_val(path, ((Visit){step, 0}));
    found[step] = 1;
    while (path->len > 0) {
        Visit *last = &g_array_index(path, Visit, path->len - 1);
        uint32_t before = CCS_MSCCL_NONE;
        if (!step_before(msccl, last->step, last->n_seen++, &before)) {
            found[last->step] = UINT32_MAX;
            msccl->order[(*n_ordered)++] = last->step;
            g_array_set_size(path, path->len - 1);
        } else if (before != CCS_MSCCL_NONE && found[before] == 0) {
            found[before] = path->len + 1;
            g_array_append_val(path, ((Visit){before, 0}));
        } else if (before != CCS_MSCCL_NONE && found[before] != UINT32_MAX) {
            return fail_circle(msccl, path, found[before] - 1, error);
        }
    }
    return true;
}

static bool find_order(CcsMsccl *msccl, GError **error)
{
    g_autoptr(GArray) path = g_array_new(false, false, sizeof(Visit));
    g_autofree uint32_t *found = g_new0(uint32_t, msccl->steps->len + 1);
    uint32_t n_ordered = 0;

    msccl->order = g_new(uint32_t, msccl->steps->len + 1);
    for (uint32_t step = 0; step < msccl->steps->len; step++) {
        if (found[step] == 0 &&
            !append_with_those_before(msccl, step, path, found, &n_ordered, error))
            return false;
    }
    return true;
}

bool ccs_msccl_check(CcsMsccl *msccl, GError **error)
{
    return check_gpus(msccl, error) && check_orders(msccl, error) && resolve_waits(msccl, error) &&
           check_all_unordered(msccl, error) && match_all(msccl, error) && find_order(msccl, error);
}
