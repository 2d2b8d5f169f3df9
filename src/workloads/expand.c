/* A call for each rank that runs a site: streams, groups and requests become numbers. */
#include <string.h>

#include "workloads/program_private.h"

/* Where one rank stands in its program. */
typedef struct {
    CcsProgram *program;
    CcsRank rank;
    GHashTable *streams;   /* from a name to the last call plus 1 */
    GHashTable *requests;  /* from a name to the call that waits to be waited for, plus 1 */
    GHashTable *refused;   /* names of requests that there would be if their calls were right */
    uint32_t group;        /* the start of the group that is open; CCS_NO_CALL if none is */
    const char *in_stream; /* of that group */
    uint32_t n_nested;     /* group starts in it, which were refused, and have an end as well */
} Expander;

static guint find(GHashTable *table, const char *name)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(table, name));
}

static void put(GHashTable *table, const char *name, guint value)
{
    g_hash_table_insert(table, g_strdup(name), GUINT_TO_POINTER(value));
}

/* The peer of a message as a rank of the job; CCS_NO_RANK with an error if there is none. */
static CcsRank find_peer(Expander *expander, uint32_t index)
{
    CcsProgram *program = expander->program;
    const CcsCallSite *site = ccs_program_site(program, index);
    const CcsSubcommunicator *communicator =
        &g_array_index(program->communicators, CcsSubcommunicator, site->communicator);
    guint own = GPOINTER_TO_UINT(
        g_hash_table_lookup(communicator->indices, GUINT_TO_POINTER(expander->rank)));
    const char *name = site->transfer->communicator;
    const char *key = ccs_call_sends(site->kind) ? "to" : "from";

    if (own == 0) {
        ccs_program_error(program, index, "communicator", "rank %u is not in communicator '%s'",
                          expander->rank, name);
        return CCS_NO_RANK;
    }
    int64_t peer = ccs_peer_rule_apply(&site->peer, own - 1, communicator->ranks->len);
    if (peer == own - 1)
        ccs_program_error(program, index, key,
                          "rank %u cannot %s itself; for local work there is "
                          "compute",
                          expander->rank, ccs_call_sends(site->kind) ? "send to" : "receive from");
    else if (peer < 0 || peer >= communicator->ranks->len)
        ccs_program_error(program, index, key,
                          "for rank %u, '%s' is %" G_GINT64_FORMAT
                          ", and communicator '%s' has %u ranks",
                          expander->rank, key, peer, name, communicator->ranks->len);
    else
        return g_array_index(communicator->ranks, CcsRank, peer);
    return CCS_NO_RANK;
}

static void start_request(Expander *expander, uint32_t site, uint32_t call)
{
    const char *name = ccs_program_site(expander->program, site)->transfer->request;

    if (name == NULL)
        return;
    guint other = find(expander->requests, name);
    if (other == 0) {
        put(expander->requests, name, call + 1);
        return;
    }
    g_autofree char *first = ccs_call_describe(expander->program, other - 1);
    ccs_program_error(expander->program, site, "request",
                      "rank %u has not waited for the former request '%s' (%s)", expander->rank,
                      name, first);
}

static void await_requests(Expander *expander, uint32_t index, CcsCall *call)
{
    CcsProgram *program = expander->program;
    const CcsCallSite *site = ccs_program_site(program, index);

    call->awaited = program->awaited->len;
    call->n_awaited = site->n_requests;
    for (uint32_t i = 0; i < site->n_requests; i++) {
        guint request = find(expander->requests, site->requests[i]);
        uint32_t awaited = request - 1;
        if (request == 0 && !g_hash_table_contains(expander->refused, site->requests[i]))
            ccs_program_error(program, index, NULL,
                              "rank %u has no request '%s' here: isend and irecv make them, and "
                              "each is waited for once",
                              expander->rank, site->requests[i]);
        g_array_append_val(program->awaited, awaited);
        g_hash_table_remove(expander->requests, site->requests[i]);
    }
}

/* All calls since the group's start are its members. */
static void await_group(Expander *expander, CcsCall *call)
{
    CcsProgram *program = expander->program;

    call->before = expander->group;
    call->awaited = program->awaited->len;
    for (uint32_t member = expander->group + 1; member < program->calls->len; member++)
        g_array_append_val(program->awaited, member);
    call->n_awaited = program->awaited->len - call->awaited;
}

/* Returns: false with an error for what cannot stand in a group, or has no group. */
static bool check_group(Expander *expander, uint32_t index)
{
    CcsProgram *program = expander->program;
    const CcsCallSite *site = ccs_program_site(program, index);
    bool is_open = expander->group != CCS_NO_CALL;
    bool is_member = site->kind == CCS_CALL_SEND || site->kind == CCS_CALL_RECV;

    if (site->kind == CCS_CALL_GROUP_END && expander->n_nested > 0) {
        expander->n_nested--;
        return false;
    }
    if (site->kind == CCS_CALL_GROUP_END) {
        if (!is_open)
            ccs_program_error(program, index, NULL, "rank %u has no group open here",
                              expander->rank);
        return is_open;
    }
    if (!is_open)
        return true;
    if (!is_member)
        ccs_program_error(program, index, NULL, "only send and recv can stand in a group, not %s",
                          ccs_call_names[site->kind]);
    else if (site->stream != NULL && strcmp(site->stream, expander->in_stream) != 0)
        ccs_program_error(program, index, "stream",
                          "the group is in stream '%s', and so are its calls", expander->in_stream);
    return is_member;
}

static const char *stream_of(const Expander *expander, const CcsCallSite *site)
{
    if (expander->group != CCS_NO_CALL)
        return expander->in_stream;
    return site->stream == NULL ? "main" : site->stream;
}

/* Puts the call behind those of its stream, or into the group that is open. */
static void place_in_stream(Expander *expander, const CcsCallSite *site, CcsCall *call)
{
    const char *stream = stream_of(expander, site);
    uint32_t id = expander->program->calls->len;

    call->before = find(expander->streams, stream) - 1; /* 0 - 1 is CCS_NO_CALL */
    if (site->kind == CCS_CALL_GROUP_END) {
        await_group(expander, call);
        expander->group = CCS_NO_CALL;
    } else if (expander->group != CCS_NO_CALL) {
        call->before = expander->group;
        return;
    } else if (site->kind == CCS_CALL_GROUP_START) {
        expander->group = id;
        expander->in_stream = stream;
    }
    put(expander->streams, stream, id + 1);
}

static void count_bytes(Expander *expander, uint32_t index, const CcsCall *call)
{
    CcsProgram *program = expander->program;

    if (call->bytes > CCS_BYTES_MAX - program->bytes)
        ccs_program_error(program, index, "size",
                          "all messages together have more than %" G_GUINT64_FORMAT " bytes",
                          CCS_BYTES_MAX);
    else
        program->bytes += call->bytes;
}

/* Of a call that is left out because it is wrong: one error is enough. */
static void refuse_request(Expander *expander, const CcsCallSite *site)
{
    if (site->transfer != NULL && site->transfer->request != NULL)
        g_hash_table_add(expander->refused, g_strdup(site->transfer->request));
}

static void add_call(Expander *expander, uint32_t index)
{
    CcsProgram *program = expander->program;
    const CcsCallSite *site = ccs_program_site(program, index);
    CcsCall call = {
        .kind = site->kind, .site = index, .rank = expander->rank, .match = CCS_NO_CALL};

    if (site->kind == CCS_CALL_GROUP_START && expander->group != CCS_NO_CALL)
        expander->n_nested++;
    if (site->is_wrong || !check_group(expander, index)) {
        refuse_request(expander, site);
        return;
    }
    if (site->transfer != NULL) {
        call.peer = find_peer(expander, index);
        call.bytes = site->transfer->size;
        start_request(expander, index, program->calls->len);
    }
    if (ccs_call_sends(site->kind))
        count_bytes(expander, index, &call);
    if (site->kind == CCS_CALL_WAIT)
        await_requests(expander, index, &call);
    place_in_stream(expander, site, &call);
    g_array_append_val(program->calls, call);
}

/* A rank and an entry that it runs, as one number that sorts by both. */
typedef uint64_t Run;

static int compare_runs(const void *a, const void *b)
{
    Run one = *(const Run *)a;
    Run other = *(const Run *)b;
    return (one > other) - (one < other);
}

/* Returns: (transfer full): NULL with an error if there are too many calls. */
static GArray *find_runs(CcsProgram *program)
{
    g_autoptr(GArray) runs = g_array_new(false, false, sizeof(Run));
    uint64_t n_calls = 0;

    for (guint i = 0; i < program->entries->len; i++) {
        const CcsProgramEntry *entry = &g_array_index(program->entries, CcsProgramEntry, i);
        n_calls += (uint64_t)entry->ranks->len * MAX(entry->n_sites, 1);
        if (n_calls > CCS_PROGRAM_MAX_CALLS) {
            ccs_config_error_at(program->config, "program",
                                "all ranks together make more than %u "
                                "calls",
                                CCS_PROGRAM_MAX_CALLS);
            return NULL;
        }
        for (guint j = 0; j < entry->ranks->len; j++) {
            Run run = (Run)g_array_index(entry->ranks, CcsRank, j) << 32 | i;
            g_array_append_val(runs, run);
        }
    }
    g_array_sort(runs, compare_runs);
    return g_steal_pointer(&runs);
}

static void begin_rank(Expander *expander, CcsRank rank)
{
    g_hash_table_remove_all(expander->streams);
    g_hash_table_remove_all(expander->requests);
    g_hash_table_remove_all(expander->refused);
    expander->group = CCS_NO_CALL;
    expander->n_nested = 0;
    expander->rank = rank;
}

static void end_rank(Expander *expander)
{
    if (expander->group == CCS_NO_CALL)
        return;
    uint32_t site = ccs_program_call(expander->program, expander->group)->site;
    ccs_program_error(expander->program, site, NULL, "rank %u never ends this group",
                      expander->rank);
}

void ccs_program_expand(CcsProgram *program)
{
    g_autoptr(GArray) runs = find_runs(program);
    g_autoptr(GHashTable) streams = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) requests = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) refused = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Expander expander = {.program = program,
                         .rank = CCS_NO_RANK,
                         .streams = streams,
                         .requests = requests,
                         .refused = refused,
                         .group = CCS_NO_CALL};

    for (guint i = 0; runs != NULL && i < runs->len; i++) {
        Run run = g_array_index(runs, Run, i);
        const CcsProgramEntry *entry =
            &g_array_index(program->entries, CcsProgramEntry, run & UINT32_MAX);
        if ((CcsRank)(run >> 32) != expander.rank) {
            end_rank(&expander);
            begin_rank(&expander, (CcsRank)(run >> 32));
        }
        for (uint32_t site = 0; site < entry->n_sites; site++)
            add_call(&expander, entry->first_site + site);
    }
    end_rank(&expander);
}
