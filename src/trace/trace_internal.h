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
    CcsPacking packing;
    bool is_packed;   /* its flows from now on */
    uint64_t n_flows; /* of it, written so far */
    GArray *flows;    /* owned, CcsFlow: of it, not yet written */
    GTree *settings;  /* owned: path -> value of the transport's and model's parameters */
};

void ccs_trace_begin_flows(CcsTrace *trace);

/* ccs_trace_write_last_flows: those that are still in memory, in the transaction that is open. */
bool ccs_trace_write_last_flows(CcsTrace *trace, GError **error);
