/* sweep_kernels.h - one step of a ring of lanes, for several sets of instructions
 *
 * The loops are written so that compilers turn them into vector code, once for each set of
 * instructions, of which the best that the processor has is taken. All of them compute in
 * integers, so all give the same. */
#pragma once

#include <stdbool.h>

#include "base/units.h"

/* The next message of @n lanes side by side. By lane: @busy, the time that a message occupies it,
 * its @latency, and the time to @reduce a message; @left, when the one before has left, then when
 * this one has. @arrived is when the message before of the lane before each is there, with one more
 * for the last lane itself; @next is for this message, with those of the lanes themselves from
 * next[1] on, and the last one again in next[0]. */
typedef void CcsRingStep(uint32_t n, const CcsTime *restrict busy, const CcsTime *restrict latency,
                         const CcsTime *restrict reduce, CcsTime *restrict left,
                         const CcsTime *restrict arrived, CcsTime *restrict next);

typedef enum {
    CCS_KERNEL_PLAIN,
#if defined(__x86_64__)
    CCS_KERNEL_AVX2,
    CCS_KERNEL_AVX512,
#endif
    CCS_N_KERNELS,
} CcsKernel;

bool ccs_sweep_has_kernel(CcsKernel kernel);    /* whether the processor has it */
void ccs_sweep_choose_kernel(CcsKernel kernel); /* for tests; else the best is taken */

/* ccs_sweep_step: for lanes that reduce, or do not. */
CcsRingStep *ccs_sweep_step(bool is_reducing);
