#include "sim/result.h"

const char *ccs_cause_name(CcsCause cause)
{
    static const char *const names[CCS_N_CAUSES] = {
        [CCS_CAUSE_LAUNCH] = "launch",       [CCS_CAUSE_MESSAGE_COST] = "message_cost",
        [CCS_CAUSE_BANDWIDTH] = "bandwidth", [CCS_CAUSE_LATENCY] = "latency",
        [CCS_CAUSE_REDUCTION] = "reduction", [CCS_CAUSE_LOCAL] = "local",
    };
    return names[cause];
}

bool ccs_time_is_faster(CcsTime time, CcsTime other)
{
    return other - time >= MAX(1000, other / 1000000);
}
