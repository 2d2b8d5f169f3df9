/* probe.h - how many digits of a simulated time mean anything
 *
 * Where many messages share links and nobody waits for anybody, who is served first may hang on
 * the last digit of a bandwidth, and the time then on who was served first: the collective is
 * chaotic, and no simulator knows its time to many digits. A probe plays each size twice more,
 * with all links faster and slower by one part in 1e12, and looks how far the times move. */
#pragma once

#include <stdint.h>

#include <glib.h>

#include "commands/machine.h"
#include "commands/study.h"

#define CCS_PROBE_MAX_DIGITS 12U
#define CCS_PROBE_RUNS       2U /* of each size */

typedef struct CcsProbe CcsProbe;

/* ccs_probe_new: copies the machine twice. */
CcsProbe *ccs_probe_new(const CcsMachine *machine);
void ccs_probe_free(CcsProbe *probe);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsProbe, ccs_probe_free)

/* ccs_probe_set_case: the sizes asked next are of @of, which the machine can serve. @observer is
 * told of progress, and should not mind what else it is told. */
bool ccs_probe_set_case(CcsProbe *probe, const CcsCase *of, const CcsObserver *observer,
                        GError **error);

/* ccs_probe_run:
 * Plays @size on both copies. @ret_digits are those of @time, the time on the machine itself,
 * that mean anything: see ccs_probe_digits(). */
bool ccs_probe_run(CcsProbe *probe, CcsBytes size, CcsTime time, uint32_t *ret_digits,
                   GError **error);

/* ccs_probe_digits:
 * How many digits of @time stand when it moves by @spread: the largest d for which @spread is at
 * most @time / 10^d. Where it moves by no more than the change of the bandwidths explains, one
 * part in @parts, and one picosecond for rounding, it is all the digits that @time has in
 * picoseconds. At most CCS_PROBE_MAX_DIGITS. */
uint32_t ccs_probe_digits(CcsTime time, CcsTime spread, uint64_t parts);
