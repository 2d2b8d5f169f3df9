/* steps.h - totals of all messages of one phase with one index, gathered while they leave */
#pragma once

#include <glib.h>

#include "sim/result.h"

typedef struct CcsSteps CcsSteps;

CcsSteps *ccs_steps_new(void);
void ccs_steps_free(CcsSteps *steps);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsSteps, ccs_steps_free)

void ccs_steps_clear(CcsSteps *steps);
void ccs_steps_add(CcsSteps *steps, const CcsFlow *flow);

/* By phase, then step; valid until the next call. */
const CcsStepTotal *ccs_steps_totals(CcsSteps *steps, uint32_t *ret_n);
