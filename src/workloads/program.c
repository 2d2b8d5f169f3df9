#include "workloads/program.h"

#include <string.h>

#include "base/error.h"
#include "config/schema.h"
#include "workloads/program_private.h"

const char *const ccs_call_names[CCS_N_CALL_KINDS] = {
    [CCS_CALL_SEND] = "send",
    [CCS_CALL_RECV] = "recv",
    [CCS_CALL_ISEND] = "isend",
    [CCS_CALL_IRECV] = "irecv",
    [CCS_CALL_COMPUTE] = "compute",
    [CCS_CALL_WAIT] = "wait",
    [CCS_CALL_GROUP_START] = "group_start",
    [CCS_CALL_GROUP_END] = "group_end",
};

static void clear_site(gpointer data)
{
    g_free(((CcsCallSite *)data)->place);
}

static void clear_communicator(gpointer data)
{
    CcsSubcommunicator *communicator = data;

    g_array_unref(communicator->ranks);
    g_hash_table_unref(communicator->indices);
}

static void clear_entry(gpointer data)
{
    g_array_unref(((CcsProgramEntry *)data)->ranks);
}

/* "exchange" for a file configs/exchange.yaml. */
static char *name_of_file(const char *label)
{
    char *name = g_path_get_basename(label);
    char *suffix = strrchr(name, '.');

    if (suffix != NULL && suffix != name)
        *suffix = '\0';
    return name;
}

static CcsProgram *program_new(CcsConfig *config, const CcsCommunicator *communicator)
{
    CcsProgram *program = g_new0(CcsProgram, 1);

    program->config = config;
    program->world = communicator;
    program->name = name_of_file(ccs_config_label(config));
    program->communicators = g_array_new(false, true, sizeof(CcsSubcommunicator));
    program->sites = g_array_new(false, true, sizeof(CcsCallSite));
    program->entries = g_array_new(false, true, sizeof(CcsProgramEntry));
    program->calls = g_array_new(false, false, sizeof(CcsCall));
    program->awaited = g_array_new(false, false, sizeof(uint32_t));
    g_array_set_clear_func(program->communicators, clear_communicator);
    g_array_set_clear_func(program->entries, clear_entry);
    g_array_set_clear_func(program->sites, clear_site);
    return program;
}

void ccs_program_free(CcsProgram *program)
{
    if (program == NULL)
        return;
    g_array_unref(program->communicators);
    g_array_unref(program->sites);
    g_array_unref(program->entries);
    g_array_unref(program->calls);
    g_array_unref(program->awaited);
    g_free(program->name);
    ccs_config_free(program->config);
    g_free(program);
}

/* Each step stands on those before it, so that the first one that finds errors is the last. */
static CcsProgram *make(CcsConfig *config, const CcsCommunicator *communicator, GError **error)
{
    static void (*const steps[])(CcsProgram * program) = {
        ccs_program_find_sites,
        ccs_program_expand,
        ccs_program_match,
    };
    g_autoptr(CcsProgram) program = program_new(config, communicator);

    if (ccs_config_has(config, "cases") && !ccs_config_has(config, "program"))
        ccs_config_error_at(config, "cases",
                            "this is a config with cases, not a program: 'ccsim run' runs it");
    else
        ccs_config_decode(config, &ccs_program_table, &program->spec);
    for (size_t i = 0; i < G_N_ELEMENTS(steps) && ccs_config_n_errors(config) == 0; i++)
        steps[i](program);
    return ccs_config_check(config, error) ? g_steal_pointer(&program) : NULL;
}

CcsProgram *ccs_program_load(const char *file_or_name, const char *const *overrides,
                             const CcsCommunicator *communicator, GError **error)
{
    CcsConfig *config = ccs_config_open("configs", file_or_name, error);

    for (size_t i = 0; config != NULL && overrides != NULL && overrides[i] != NULL; i++)
        ccs_config_override(config, overrides[i]);
    return config == NULL ? NULL : make(config, communicator, error);
}

CcsProgram *ccs_program_read(const char *label, const char *text, size_t n_bytes,
                             const CcsCommunicator *communicator, GError **error)
{
    CcsConfig *config = ccs_config_new(label, text, n_bytes, error);

    return config == NULL ? NULL : make(config, communicator, error);
}

bool ccs_program_is_key(const char *path)
{
    g_autofree char *key = g_strndup(path, strcspn(path, ".[="));
    return ccs_field_find(&ccs_program_table, g_strstrip(key)) != NULL;
}

const char *ccs_program_name(const CcsProgram *program)
{
    return program->name;
}

const char *ccs_program_title(const CcsProgram *program)
{
    return program->spec.title;
}

const char *ccs_program_description(const CcsProgram *program)
{
    return program->spec.description;
}

CcsBytes ccs_program_bytes(const CcsProgram *program)
{
    return program->bytes;
}

char *ccs_program_schema(void)
{
    return ccs_schema_json(&ccs_program_table, "ccsim program");
}

void ccs_program_error(CcsProgram *program, uint32_t site, const char *key, const char *format, ...)
{
    CcsCallSite *at = ccs_program_site(program, site);
    va_list args;

    if (at->is_wrong)
        return;
    at->is_wrong = true;
    g_autofree char *path =
        g_strdup_printf("program[%u].calls[%u].%s%s%s", at->entry, at->index,
                        ccs_call_names[at->kind], key == NULL ? "" : ".", key == NULL ? "" : key);
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    ccs_config_error_at(program->config, path, "%s", text);
}

static char *describe_requests(const CcsCallSite *site)
{
    GString *text = g_string_new("wait for");

    for (uint32_t i = 0; i < site->n_requests; i++)
        g_string_append_printf(text, "%s '%s'", i == 0 ? "" : ",", site->requests[i]);
    return g_string_free(text, false);
}

char *ccs_call_describe(const CcsProgram *program, uint32_t call)
{
    const CcsCall *of = ccs_program_call(program, call);
    const CcsCallSite *site = ccs_program_site(program, of->site);
    g_autofree char *size = ccs_quantity_format(CCS_QUANTITY_SIZE, of->bytes);
    g_autofree char *time = ccs_quantity_format(CCS_QUANTITY_TIME, (uint64_t)site->duration);
    const char *name = ccs_call_names[of->kind];

    switch (of->kind) {
    case CCS_CALL_SEND:
    case CCS_CALL_ISEND:
        return g_strdup_printf("%s: %s to %u (%s)", site->place, name, of->peer, size);
    case CCS_CALL_RECV:
    case CCS_CALL_IRECV:
        return g_strdup_printf("%s: %s from %u (%s)", site->place, name, of->peer, size);
    case CCS_CALL_COMPUTE:
        return g_strdup_printf("%s: compute %s", site->place, time);
    case CCS_CALL_WAIT: {
        g_autofree char *requests = describe_requests(site);
        return g_strdup_printf("%s: %s", site->place, requests);
    }
    case CCS_CALL_GROUP_START:
    case CCS_CALL_GROUP_END:
    case CCS_N_CALL_KINDS:
        break;
    }
    return g_strdup_printf("%s: %s", site->place, name);
}
