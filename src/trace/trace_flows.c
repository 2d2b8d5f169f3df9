#include "trace/flow_chunk.h"
#include "trace/flow_store.h"
#include "trace/trace_internal.h"

void ccs_trace_set_packing(CcsTrace *trace, CcsPacking packing)
{
    trace->packing = packing;
}

void ccs_trace_begin_flows(CcsTrace *trace)
{
    trace->is_packed = false;
    trace->n_flows = 0;
    g_array_set_size(trace->flows, 0);
}

/* The @n_flows that came first, in the transaction that is open. */
static bool write_flows(CcsTrace *trace, uint32_t n_flows, GError **error)
{
    int64_t first_id = trace->result_id << CCS_FLOW_ID_BITS | (int64_t)trace->n_flows;
    const CcsFlow *flows = (const CcsFlow *)(void *)trace->flows->data;

    if (trace->is_packed &&
        !(ccs_flow_store_set_view(trace->database, true, error) &&
          ccs_flow_store_chunk(trace->database, first_id, flows, n_flows, error)))
        return false;
    if (!trace->is_packed && !ccs_flow_store_rows(trace->database, first_id, flows, n_flows, error))
        return false;
    g_array_remove_range(trace->flows, 0, n_flows);
    trace->n_flows += n_flows;
    return true;
}

/* Other processes may write between two portions. */
static bool write_portions(CcsTrace *trace, GError **error)
{
    while (trace->flows->len >= CCS_FLOW_CHUNK_FLOWS) {
        if (!ccs_database_begin(trace->database, error) ||
            !ccs_database_end(trace->database, write_flows(trace, CCS_FLOW_CHUNK_FLOWS, error),
                              error))
            return false;
    }
    return true;
}

/* In which form the flows of this result are written, when the first of them are. */
static bool choose_form(CcsTrace *trace, GError **error)
{
    bool can_pack = false;

    if (trace->n_flows > 0 || trace->packing == CCS_PACK_NEVER)
        return true;
    if (!ccs_flow_store_can_pack(trace->database, &can_pack, error))
        return false;
    trace->is_packed =
        can_pack && (trace->packing == CCS_PACK_ALWAYS || trace->flows->len > CCS_PACKED_FROM);
    return true;
}

bool ccs_trace_add_flow(CcsTrace *trace, const CcsFlow *flow, GError **error)
{
    bool may_still_be_few = trace->packing == CCS_PACK_AUTO && trace->n_flows == 0;
    uint32_t n_most = may_still_be_few ? CCS_PACKED_FROM : CCS_FLOW_CHUNK_FLOWS - 1;

    if (trace->level < CCS_TRACE_FLOWS)
        return true;
    g_assert(trace->result_id != 0);
    g_array_append_vals(trace->flows, flow, 1);
    return trace->flows->len <= n_most ||
           (choose_form(trace, error) && write_portions(trace, error));
}

bool ccs_trace_write_last_flows(CcsTrace *trace, GError **error)
{
    return trace->flows->len == 0 ||
           (choose_form(trace, error) && write_flows(trace, trace->flows->len, error));
}
