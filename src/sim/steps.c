#include "sim/steps.h"

struct CcsSteps {
    GPtrArray *phases; /* by phase: GArray of CcsStepTotal, by step */
    GArray *totals;    /* of CcsStepTotal: the answer */
};

CcsSteps *ccs_steps_new(void)
{
    CcsSteps *steps = g_new0(CcsSteps, 1);

    steps->phases = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    steps->totals = g_array_new(false, false, sizeof(CcsStepTotal));
    return steps;
}

void ccs_steps_free(CcsSteps *steps)
{
    if (steps == NULL)
        return;
    g_ptr_array_unref(steps->phases);
    g_array_unref(steps->totals);
    g_free(steps);
}

void ccs_steps_clear(CcsSteps *steps)
{
    g_ptr_array_set_size(steps->phases, 0);
}

void ccs_steps_add(CcsSteps *steps, const CcsFlow *flow)
{
    while (steps->phases->len <= flow->phase)
        g_ptr_array_add(steps->phases, g_array_new(false, true, sizeof(CcsStepTotal)));
    GArray *phase = g_ptr_array_index(steps->phases, flow->phase);
    if (phase->len <= flow->message)
        g_array_set_size(phase, flow->message + 1);

    CcsStepTotal *total = &g_array_index(phase, CcsStepTotal, flow->message);
    if (total->messages == 0)
        total->started = flow->started;
    total->phase = flow->phase;
    total->step = flow->message;
    total->started = MIN(total->started, flow->started);
    total->finished = MAX(total->finished, flow->arrived);
    total->messages += flow->n_alike;
    total->bytes += flow->bytes * flow->n_alike;
}

const CcsStepTotal *ccs_steps_totals(CcsSteps *steps, uint32_t *ret_n)
{
    g_array_set_size(steps->totals, 0);
    for (guint i = 0; i < steps->phases->len; i++) {
        const GArray *phase = g_ptr_array_index(steps->phases, i);
        for (guint step = 0; step < phase->len; step++) {
            const CcsStepTotal *total = &g_array_index(phase, CcsStepTotal, step);
            if (total->messages > 0)
                g_array_append_vals(steps->totals, total, 1);
        }
    }
    *ret_n = steps->totals->len;
    return (const CcsStepTotal *)(const void *)steps->totals->data;
}
