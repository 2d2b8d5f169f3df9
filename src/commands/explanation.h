/* explanation.h - what an algorithm does and costs on a machine, told to people */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "commands/machine.h"
#include "commands/study.h"
#include "report/rows.h"
#include "sim/sim.h"
#include "topology/flat.h"

/* The machine as the formulas see it. */
typedef struct {
    const CcsMachine *machine;
    uint32_t n_ranks;
    CcsBytes size;
    bool is_flat;       /* around one switch, with sends as formulas know them */
    CcsFlatSwitch flat; /* if it is */
} CcsSetting;

CcsSetting ccs_setting_of(const CcsMachine *machine, CcsBytes size);

/* An algorithm, what is asked of it, and what came of it. */
typedef struct {
    CcsCase asked;
    CcsSchedule *schedule;     /* owned */
    CcsSimulation *simulation; /* owned */
    CcsOutcome outcome;
    CcsBound bound;
} CcsExplanation;

/* ccs_explanation_new: simulates @asked. @setting must outlive it.
 *
 * Returns: (transfer full), or NULL; without an error, but with a note on stderr, where the
 * algorithm cannot serve the machine and may be left out. */
CcsExplanation *ccs_explanation_new(const CcsCase *asked, const CcsSetting *setting,
                                    GError **error);
void ccs_explanation_free(CcsExplanation *explanation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsExplanation, ccs_explanation_free)

/* ccs_explanation_print: one algorithm: its idea, its steps, its cost, when to choose it; as a
 * table or md, to stdout. */
bool ccs_explanation_print(const CcsExplanation *explanation, const CcsSetting *setting,
                           CcsFormat format, GError **error);

/* ccs_explanations_compare: all of @explanations (of CcsExplanation; at least one), side by
 * side. */
bool ccs_explanations_compare(const GPtrArray *explanations, const CcsSetting *setting,
                              CcsFormat format, GError **error);
