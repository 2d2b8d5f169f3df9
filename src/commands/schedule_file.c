#include "commands/schedule_file.h"

#include <string.h>

#include "commands/effects.h"

bool ccs_schedule_file_is(const char *argument)
{
    return strcmp(argument, "-") == 0 || strchr(argument, '/') != NULL ||
           g_str_has_suffix(argument, ".xml");
}

CcsScheduleFile *ccs_schedule_file_load(const char *path, GError **error)
{
    CcsMsccl *msccl = ccs_msccl_load(path, error);

    if (msccl == NULL)
        return NULL;
    CcsScheduleFile *file = g_new0(CcsScheduleFile, 1);
    file->msccl = msccl;
    file->algorithm =
        (CcsAlgorithm){.collective = msccl->collective, .name = msccl->name, .is_pipelined = true};
    return file;
}

void ccs_schedule_file_free(CcsScheduleFile *file)
{
    if (file == NULL)
        return;
    ccs_msccl_free(file->msccl);
    g_free(file);
}

GArray *ccs_schedule_file_cases(const CcsScheduleFile *file, const CcsCaseArguments *arguments,
                                GError **error)
{
    g_autoptr(GArray) cases = g_array_new(false, true, sizeof(CcsCase));
    CcsCase one = {.algorithm = &file->algorithm, .file = file->msccl};

    if (!ccs_case_read(arguments, file->msccl->collective, file->msccl->n_ranks, &one, error))
        return NULL;
    if (arguments->root == CCS_NOT_GIVEN)
        one.root = file->msccl->root;
    one.n_chunks = MAX(one.n_chunks, 1);
    g_array_append_val(cases, one);
    return g_steal_pointer(&cases);
}

static void note_sizes(const CcsMsccl *msccl, const GArray *sizes)
{
    uint32_t n_outside = 0;

    for (guint i = 0; i < sizes->len; i++) {
        CcsBytes size = g_array_index(sizes, CcsBytes, i);
        if (size < msccl->min_bytes || (msccl->max_bytes > 0 && size > msccl->max_bytes))
            n_outside++;
    }
    if (n_outside == 0)
        return;
    g_autofree char *limit = msccl->max_bytes == 0
                                 ? g_strdup("on")
                                 : g_strdup_printf("to %" G_GUINT64_FORMAT, msccl->max_bytes);
    ccs_note("%u of %u size%s outside of what %s is made for, %" G_GUINT64_FORMAT " bytes %s",
             n_outside, sizes->len, sizes->len == 1 ? " lies" : "s lie", msccl->label,
             msccl->min_bytes, limit);
}

void ccs_schedule_file_note(const CcsScheduleFile *file, const CcsCaseArguments *arguments,
                            const GArray *sizes)
{
    const CcsMsccl *msccl = file->msccl;

    if (msccl->collective == CCS_PROGRAM)
        ccs_note("what '%s' promises is not known, so that %s is executed without being verified",
                 msccl->coll, msccl->label);
    if (arguments->algorithms != NULL)
        ccs_warn("-A has no effect: %s is the algorithm", msccl->label);
    if (arguments->n_channels != CCS_NOT_GIVEN)
        ccs_warn("--channels has no effect: %s has its own", msccl->label);
    note_sizes(msccl, sizes);
}
