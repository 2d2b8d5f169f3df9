/* trace_internal.h - what the files of trace.h share */
#pragma once

#include "trace/database.h"
#include "trace/trace.h"

struct CcsTrace {
    CcsDatabase *database; /* owned */
    CcsTraceLevel level;
    bool is_in_memory;
    int64_t run_id; /* stays after the end of the run; 0 before the first */
    bool is_run_open;
    int64_t result_id; /* of the result that is open; 0 if none */
    uint64_t n_flows;  /* of it, written so far */
    GArray *flows;     /* owned, CcsFlow: of it, not yet written */
    GTree *settings;   /* owned: path -> value of the transport's and model's parameters */
};
