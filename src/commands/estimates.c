#include "commands/estimates.h"

#include <string.h>

#include "trace/trace.h"

static double time_us(const CcsEstimateSpec *spec, CcsBytes size)
{
    double factor = (double)spec->factor / (double)CCS_DECIMAL_ONE;

    return ccs_time_us(spec->latency) +
           factor * (double)size / ccs_rate_GBps(spec->bandwidth) / 1e3;
}

GArray *ccs_estimates_of(const CcsCaseSpec *spec, const char *algorithm, CcsBytes size)
{
    GArray *estimates = g_array_new(false, false, sizeof(CcsEstimateRow));

    for (uint32_t i = 0; spec != NULL && i < spec->estimates.n_items; i++) {
        const CcsEstimateSpec *one = &((const CcsEstimateSpec *)spec->estimates.items)[i];
        CcsEstimateRow row = {one->label, time_us(one, size)};
        if (one->algorithm == NULL || strcmp(one->algorithm, algorithm) == 0)
            g_array_append_val(estimates, row);
    }
    return estimates;
}
