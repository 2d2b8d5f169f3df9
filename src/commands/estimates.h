/* estimates.h - times that people quote for a case, to stand beside simulated ones */
#pragma once

#include <glib.h>

#include "commands/run_config.h"

/* ccs_estimates_of:
 * What the estimates of @spec say of @size and @algorithm, in their order. @spec may be NULL.
 *
 * Returns: (transfer full) (element-type CcsEstimateRow): labels are those of @spec. */
GArray *ccs_estimates_of(const CcsCaseSpec *spec, const char *algorithm, CcsBytes size);
