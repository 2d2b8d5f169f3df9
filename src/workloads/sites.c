/* Communicators, entries and their call sites, out of the decoded file. */
#include <string.h>

#include "base/error.h"
#include "workloads/program_private.h"

typedef struct {
    CcsProgram *program;
    GHashTable *communicators; /* from owned names to their index plus 1 */
} Finder;

/* The ranks that @spec names, without repetition, for the value at @path. */
static GArray *read_ranks(CcsProgram *program, const CcsRanksSpec *spec, const char *path)
{
    uint32_t n_ranks = ccs_communicator_n_ranks(program->world);
    GArray *ranks = g_array_new(false, false, sizeof(CcsRank));
    g_autofree bool *is_in = g_new0(bool, n_ranks);
    const char *const *texts = spec->text != NULL ? &spec->text : spec->list.items;
    uint32_t n_texts = spec->text != NULL ? 1 : spec->list.n_items;

    for (uint32_t i = 0; i < n_texts; i++) {
        g_autofree char *problem = ccs_rank_set_read(texts[i], n_ranks, is_in, ranks);
        if (problem == NULL)
            continue;
        g_autofree char *at = spec->text != NULL ? g_strdup_printf("%s.ranks", path)
                                                 : g_strdup_printf("%s.ranks[%u]", path, i);
        ccs_config_error_at(program->config, at, "'ranks' %s", problem);
    }
    return ranks;
}

static void add_communicator(Finder *finder, const char *name, GArray *ranks)
{
    CcsSubcommunicator communicator = {ranks, g_hash_table_new(NULL, NULL)};

    for (guint i = 0; i < ranks->len; i++)
        g_hash_table_insert(communicator.indices,
                            GUINT_TO_POINTER(g_array_index(ranks, CcsRank, i)),
                            GUINT_TO_POINTER(i + 1));
    g_array_append_val(finder->program->communicators, communicator);
    g_hash_table_insert(finder->communicators, g_strdup(name),
                        GUINT_TO_POINTER(finder->program->communicators->len));
}

static void find_communicators(Finder *finder)
{
    CcsProgram *program = finder->program;
    const CcsSubcommunicatorSpec *specs = program->spec.communicators.items;
    GArray *all = g_array_new(false, false, sizeof(CcsRank));

    for (CcsRank rank = 0; rank < ccs_communicator_n_ranks(program->world); rank++)
        g_array_append_val(all, rank);
    add_communicator(finder, "world", all);
    for (uint32_t i = 0; i < program->spec.communicators.n_items; i++) {
        g_autofree char *path = g_strdup_printf("communicators[%u]", i);
        g_autofree char *at = g_strconcat(path, ".name", NULL);
        if (g_hash_table_contains(finder->communicators, specs[i].name))
            ccs_config_error_at(program->config, at, "there is a communicator '%s' already",
                                specs[i].name);
        else
            add_communicator(finder, specs[i].name, read_ranks(program, &specs[i].ranks, path));
    }
}

/* Which calls @spec, which stands at @path, is; there should be one. */
static uint32_t find_kinds(const CcsProgram *program, const CcsCallSpec *spec, const char *path,
                           CcsCallKind ret_kinds[CCS_N_CALL_KINDS])
{
    g_autofree char *compute = g_strconcat(path, ".compute", NULL);
    const bool is_said[CCS_N_CALL_KINDS] = {
        [CCS_CALL_SEND] = spec->send != NULL,
        [CCS_CALL_RECV] = spec->recv != NULL,
        [CCS_CALL_ISEND] = spec->isend != NULL,
        [CCS_CALL_IRECV] = spec->irecv != NULL,
        [CCS_CALL_COMPUTE] = spec->compute != NULL || ccs_config_has(program->config, compute),
        [CCS_CALL_WAIT] = spec->wait != NULL || spec->wait_request != NULL,
        [CCS_CALL_GROUP_START] = spec->group_start != NULL,
        [CCS_CALL_GROUP_END] = spec->group_end != NULL,
    };
    uint32_t n = 0;

    for (uint32_t kind = 0; kind < CCS_N_CALL_KINDS; kind++) {
        if (is_said[kind])
            ret_kinds[n++] = (CcsCallKind)kind;
    }
    return n;
}

/* Returns: false with an error if @path is no call or more than one. */
static bool find_kind(CcsProgram *program, const CcsCallSpec *spec, const char *path,
                      CcsCallKind *ret_kind)
{
    CcsCallKind kinds[CCS_N_CALL_KINDS];
    uint32_t n = find_kinds(program, spec, path, kinds);

    if (n == 0)
        ccs_config_error_at(program->config, path,
                            "a call must be one of send, recv, isend, irecv, compute, wait, "
                            "group_start and group_end");
    else if (n > 1)
        ccs_config_error_at(program->config, path,
                            "a call has one key, so that '%s' and '%s' are two calls",
                            ccs_call_names[kinds[0]], ccs_call_names[kinds[1]]);
    *ret_kind = n == 1 ? kinds[0] : CCS_N_CALL_KINDS;
    return n == 1;
}

static const CcsTransferSpec *transfer_of(const CcsCallSpec *spec, CcsCallKind kind)
{
    return kind == CCS_CALL_SEND    ? spec->send
           : kind == CCS_CALL_RECV  ? spec->recv
           : kind == CCS_CALL_ISEND ? spec->isend
                                    : spec->irecv;
}

static void fail_communicator(CcsProgram *program, uint32_t site, const char *name)
{
    const CcsSubcommunicatorSpec *specs = program->spec.communicators.items;
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

    g_ptr_array_add(names, g_strdup("world"));
    for (uint32_t i = 0; i < program->spec.communicators.n_items && i < 100; i++)
        g_ptr_array_add(names, g_strdup(specs[i].name));
    g_ptr_array_add(names, NULL);
    g_autofree char *hint = ccs_did_you_mean(name, (const char *const *)names->pdata);
    ccs_program_error(program, site, "communicator", "there is no communicator '%s'%s", name, hint);
}

static void fill_transfer(Finder *finder, uint32_t index, const char *path)
{
    CcsProgram *program = finder->program;
    CcsCallSite *site = ccs_program_site(program, index);
    const char *key = ccs_call_sends(site->kind) ? "to" : "from";
    const char *communicator = site->transfer->communicator;
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(finder->communicators, communicator));
    g_autofree char *problem = ccs_peer_rule_read(site->transfer->peer, &site->peer);
    g_autofree char *size = g_strdup_printf("%s.%s.size", path, ccs_call_names[site->kind]);

    site->stream = site->transfer->stream;
    site->has_size = ccs_config_has(program->config, size);
    if (problem != NULL)
        ccs_program_error(program, index, key, "'%s' %s", key, problem);
    else if (known == 0)
        fail_communicator(program, index, communicator);
    else
        site->communicator = known - 1;
}

static void fill_wait(CcsCallSite *site, const CcsCallSpec *spec)
{
    if (spec->wait == NULL) {
        site->requests = &spec->wait_request;
        site->n_requests = 1;
        return;
    }
    site->requests = spec->wait->requests.items;
    site->n_requests = spec->wait->requests.n_items;
    site->stream = spec->wait->stream;
}

static void fill_site(Finder *finder, uint32_t index, const CcsCallSpec *spec, const char *path)
{
    CcsCallSite *site = ccs_program_site(finder->program, index);

    switch (site->kind) {
    case CCS_CALL_SEND:
    case CCS_CALL_RECV:
    case CCS_CALL_ISEND:
    case CCS_CALL_IRECV:
        site->transfer = transfer_of(spec, site->kind);
        fill_transfer(finder, index, path);
        return;
    case CCS_CALL_COMPUTE:
        site->duration = spec->compute == NULL ? spec->compute_time : spec->compute->time;
        site->stream = spec->compute == NULL ? NULL : spec->compute->stream;
        return;
    case CCS_CALL_WAIT:
        fill_wait(site, spec);
        return;
    case CCS_CALL_GROUP_START:
        site->stream = spec->group_start->stream;
        return;
    case CCS_CALL_GROUP_END:
    case CCS_N_CALL_KINDS:
        return;
    }
}

static void find_entry(Finder *finder, uint32_t index)
{
    CcsProgram *program = finder->program;
    const CcsRankProgramSpec *spec =
        &((const CcsRankProgramSpec *)program->spec.programs.items)[index];
    const CcsCallSpec *calls = spec->calls.items;
    g_autofree char *path = g_strdup_printf("program[%u]", index);
    CcsProgramEntry entry = {.ranks = read_ranks(program, &spec->ranks, path),
                             .first_site = program->sites->len,
                             .n_sites = spec->calls.n_items};

    for (uint32_t i = 0; i < entry.n_sites; i++) {
        g_autofree char *at = g_strdup_printf("%s.calls[%u]", path, i);
        CcsCallSite site = {
            .entry = index, .index = i, .place = ccs_config_place(program->config, at)};
        bool is_good = find_kind(program, &calls[i], at, &site.kind);
        g_array_append_val(program->sites, site);
        if (is_good)
            fill_site(finder, program->sites->len - 1, &calls[i], at);
    }
    g_array_append_val(program->entries, entry);
}

void ccs_program_find_sites(CcsProgram *program)
{
    g_autoptr(GHashTable) communicators =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Finder finder = {program, communicators};

    find_communicators(&finder);
    for (uint32_t i = 0; i < program->spec.programs.n_items; i++)
        find_entry(&finder, i);
}
