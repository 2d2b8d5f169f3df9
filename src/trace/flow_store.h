/* flow_store.h - flows in a database, in either form
 *
 * A flow is a row of flow_row, or one of up to CCS_FLOW_CHUNK_FLOWS in a row of flow_chunk. The
 * flows of one result may be in both forms, as long as no id is in both. All this is for an open
 * transaction. */
#pragma once

#include "sim/result.h"
#include "trace/database.h"

#define CCS_FLOW_ID_BITS 32 /* flow_id is result_id * 2^32 + the number within the result */

/* ccs_flow_store_can_pack: whether the database has the table for it. */
bool ccs_flow_store_can_pack(CcsDatabase *database, bool *ret_can, GError **error);

/* ccs_flow_store_rows, ccs_flow_store_chunk: writes @flows, whose ids count up from @first_id. */
bool ccs_flow_store_rows(CcsDatabase *database, int64_t first_id, const CcsFlow *flows,
                         uint32_t n_flows, GError **error);
bool ccs_flow_store_chunk(CcsDatabase *database, int64_t first_id, const CcsFlow *flows,
                          uint32_t n_flows, GError **error);

/* ccs_flow_store_set_view: makes flow_any what reads packed flows as well, or what needs no module
 * but knows only rows. Does nothing where it is so. */
bool ccs_flow_store_set_view(CcsDatabase *database, bool is_packed, GError **error);
