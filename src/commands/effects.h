/* effects.h - says on stderr what was asked for and changes nothing */
#pragma once

#include <glib.h>

#include "commands/machine.h"
#include "commands/study.h"

G_GNUC_PRINTF(1, 2)
void ccs_warn(const char *format, ...); /* "ccsim: warning: ..." */
G_GNUC_PRINTF(1, 2)
void ccs_note(const char *format, ...); /* "ccsim: note: ..." */

/* What a user has said of one collective, under the names by which it was said ("--chunks",
 * "chunks"); NULL for what was not said. */
typedef struct {
    const char *where; /* it was said, with a colon and a blank; "" if that is plain */
    const char *chunks;
    const char *root;
    const char *op;
    const char *sizes;
    const char *distance;
    const char *skew;
    const char *matrix;
} CcsAsked;

/* ccs_effects_of_asked: what of it has no effect on @cases (of CcsCase, all of one collective). */
void ccs_effects_of_asked(const CcsAsked *asked, const GArray *cases);

/* ccs_effects_of_options: the same, and what of @machine is not as one may think. */
void ccs_effects_of_options(const CcsAsked *asked, const GArray *cases, const CcsMachine *machine);

/* ccs_effects_of_overrides: which of @overrides ("PATH=VALUE"; NULL-terminated, may be NULL)
 * speak of what none of @results, of which there is at least one, used. */
void ccs_effects_of_overrides(const char *where, const char *const *overrides,
                              const CcsStudyResult *results, uint32_t n_results);
