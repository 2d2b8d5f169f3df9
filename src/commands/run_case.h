/* run_case.h - a case of a config with all that its simulation needs
 *
 * All cases are made ready before anything is simulated or written, so that what is wrong in a
 * config is told at once and leaves nothing behind. */
#pragma once

#include <glib.h>

#include "commands/machine.h"
#include "commands/run_config.h"
#include "commands/study.h"

typedef struct {
    const CcsCaseSpec *spec; /* not owned */
    char **overrides;        /* of topology and transport; owned, as all below */
    GPtrArray *inputs;       /* of char *: the files it asks for, and names that may be files */
    CcsMachine *machine;
    GArray *sizes;       /* of CcsBytes */
    CcsWeights *weights; /* of the blocks; NULL unless it is an alltoallv */
    GArray *cases;       /* of CcsCase: algorithms times channels times chunks */
    CcsStudy *study;     /* once it is simulated; else NULL */
} CcsRunCase;

/* ccs_run_case_new:
 * Makes case @index of @config ready, of which @file is the name and @spec the content;
 * @overrides (of char *) are those of the command line.
 *
 * Returns: (transfer full), of no use if errors were added to @config; NULL with @error for
 * what is wrong outside of it. */
CcsRunCase *ccs_run_case_new(CcsConfig *config, const char *file, const CcsRunConfig *spec,
                             uint32_t index, const GPtrArray *overrides, GError **error);
void ccs_run_case_free(CcsRunCase *run_case);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsRunCase, ccs_run_case_free)

/* How the cases of a config are simulated. */
typedef struct {
    CcsTrace *trace; /* with an open run */
    CcsTraceLevel level;
    bool is_probed; /* see ccs_study_probe() */
    CcsBar *bar;    /* NULL: none */
} CcsRunSetting;

bool ccs_run_case_simulate(CcsRunCase *run_case, const CcsRunSetting *setting, GError **error);

/* ccs_run_case_warn: says, after the simulation, what of that which only this case asks for had no
 * effect; @index as above. */
void ccs_run_case_warn(const CcsRunCase *run_case, const CcsConfig *config, uint32_t index);
