#include "sim/sweep_kernels.h"

#include <glib.h>

#define STEP_PLAIN                                                                                 \
    for (uint32_t i = 0; i < n; i++) {                                                             \
        CcsTime start = left[i] > arrived[i] ? left[i] : arrived[i];                               \
        left[i] = start + busy[i];                                                                 \
        next[i + 1] = left[i] + latency[i];                                                        \
    }                                                                                              \
    next[0] = next[n]

#define STEP_REDUCING                                                                              \
    for (uint32_t i = 0; i < n; i++) {                                                             \
        CcsTime start = left[i] > arrived[i] ? left[i] : arrived[i];                               \
        left[i] = start + busy[i];                                                                 \
        CcsTime there = left[i] + latency[i];                                                      \
        next[i + 1] = (there > arrived[i + 1] ? there : arrived[i + 1]) + reduce[i];               \
    }                                                                                              \
    next[0] = next[n]

#define DEFINE_STEP(name, attributes, body)                                                        \
    attributes static void name(uint32_t n, const CcsTime *restrict busy,                          \
                                const CcsTime *restrict latency, const CcsTime *restrict reduce,   \
                                CcsTime *restrict left, const CcsTime *restrict arrived,           \
                                CcsTime *restrict next)                                            \
    {                                                                                              \
        (void)reduce;                                                                              \
        body;                                                                                      \
    }

DEFINE_STEP(step_plain, , STEP_PLAIN)
DEFINE_STEP(step_reducing, , STEP_REDUCING)

#if defined(__x86_64__)
DEFINE_STEP(step_plain_avx2, __attribute__((target("avx2"))), STEP_PLAIN)
DEFINE_STEP(step_reducing_avx2, __attribute__((target("avx2"))), STEP_REDUCING)
DEFINE_STEP(step_plain_avx512, __attribute__((target("avx512f"))), STEP_PLAIN)
DEFINE_STEP(step_reducing_avx512, __attribute__((target("avx512f"))), STEP_REDUCING)
#endif

static const struct {
    CcsRingStep *plain;
    CcsRingStep *reducing;
} kernels[CCS_N_KERNELS] = {
    [CCS_KERNEL_PLAIN] = {step_plain, step_reducing},
#if defined(__x86_64__)
    [CCS_KERNEL_AVX2] = {step_plain_avx2, step_reducing_avx2},
    [CCS_KERNEL_AVX512] = {step_plain_avx512, step_reducing_avx512},
#endif
};

bool ccs_sweep_has_kernel(CcsKernel kernel)
{
#if defined(__x86_64__)
    if (kernel == CCS_KERNEL_AVX512)
        return __builtin_cpu_supports("avx512f");
    if (kernel == CCS_KERNEL_AVX2)
        return __builtin_cpu_supports("avx2");
#endif
    return kernel == CCS_KERNEL_PLAIN;
}

static CcsKernel chosen = CCS_N_KERNELS; /* not yet */

void ccs_sweep_choose_kernel(CcsKernel kernel)
{
    chosen = kernel;
}

static CcsKernel best_kernel(void)
{
    for (CcsKernel kernel = CCS_N_KERNELS; kernel-- > 0;) {
        if (ccs_sweep_has_kernel(kernel))
            return kernel;
    }
    return CCS_KERNEL_PLAIN;
}

CcsRingStep *ccs_sweep_step(bool is_reducing)
{
    if (chosen == CCS_N_KERNELS)
        chosen = best_kernel();
    return is_reducing ? kernels[chosen].reducing : kernels[chosen].plain;
}
