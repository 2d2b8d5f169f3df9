/* schedule_file.h - a user's own schedule in the place of a collective and its algorithm */
#pragma once

#include <glib.h>

#include "commands/options.h"
#include "formats/msccl.h"

typedef struct {
    CcsMsccl *msccl;
    CcsAlgorithm algorithm; /* its name and its collective; it cannot be built */
} CcsScheduleFile;

/* ccs_schedule_file_is: whether @argument, where a collective may stand, means a file. */
bool ccs_schedule_file_is(const char *argument);

/* ccs_schedule_file_load: an MSCCL file; "-" is stdin.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_IO or CCS_ERROR_INPUT. */
CcsScheduleFile *ccs_schedule_file_load(const char *path, GError **error);
void ccs_schedule_file_free(CcsScheduleFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsScheduleFile, ccs_schedule_file_free)

/* ccs_schedule_file_cases: the one case that @arguments ask for, which keeps @file. Returns:
 * (transfer full) (element-type CcsCase); NULL with CCS_ERROR_USAGE. */
GArray *ccs_schedule_file_cases(const CcsScheduleFile *file, const CcsCaseArguments *arguments,
                                GError **error);

/* ccs_schedule_file_note: says on stderr what the file does not promise, and which options have no
 * effect on it. */
void ccs_schedule_file_note(const CcsScheduleFile *file, const CcsCaseArguments *arguments,
                            const GArray *sizes);
