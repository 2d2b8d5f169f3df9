/* flow_chunk.h - many flows as few bytes, and back
 *
 * A chunk lies apart by columns. A column holds for each flow how much its value differs from what
 * was to be expected, as a varint (7 bits a byte, least first, signs folded in by zigzag). Expected
 * is the value of the flow before; or, but for lane and injected, that of the last flow of the same
 * lane, if the chunk has one, whose message is expected to be followed by the next. (Flows come in
 * the order in which they are injected, mixed from all lanes.) Before the first flow all is 0. The
 * other times and the receiver are kept as distances from what they mostly follow. All this,
 * compressed by zstd with a checksum, makes the bytes:
 *
 *     1 byte          format: CCS_FLOW_CHUNK_FORMAT
 *     zstd frame of   varint: number of flows
 *                     for each column   varint: number of its bytes
 *                     for each column   its bytes
 *
 * The columns are lane, message, channel, phase, src, dst - src, bytes, is_reduced, injected,
 * injected - entered, entered - started, arrived - injected. Numbers are of 64 bits and wrap
 * around, so that any values come back.
 *
 * This file knows nothing of SQLite: the loadable extension is built from it as well. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "sim/result.h"

#define CCS_FLOW_CHUNK_FORMAT 1
#define CCS_FLOW_CHUNK_FLOWS  65536 /* at most in one chunk */

/* The four times of a flow, in the order in which they come. */
enum { CCS_FLOW_STARTED, CCS_FLOW_ENTERED, CCS_FLOW_INJECTED, CCS_FLOW_ARRIVED, CCS_N_FLOW_TIMES };

typedef struct {
    CcsTime least[CCS_N_FLOW_TIMES];
    CcsTime most[CCS_N_FLOW_TIMES];
} CcsFlowSpan;

CcsTime ccs_flow_time(const CcsFlow *flow, uint32_t which);

/* ccs_flow_chunk_span: of the times of @flows; all 0 where there are none. */
CcsFlowSpan ccs_flow_chunk_span(const CcsFlow *flows, uint32_t n_flows);

/* ccs_flow_chunk_pack: at most CCS_FLOW_CHUNK_FLOWS of them.
 *
 * Returns: (transfer full). */
GBytes *ccs_flow_chunk_pack(const CcsFlow *flows, uint32_t n_flows);

/* ccs_flow_chunk_unpack:
 * @ret_flows has room for @n_flows, which must be the number that the chunk holds. Any bytes
 * may be given.
 *
 * Returns: false with CCS_ERROR_IO if @data is not what ccs_flow_chunk_pack() made. */
bool ccs_flow_chunk_unpack(const void *data, size_t size, uint32_t n_flows, CcsFlow *ret_flows,
                           GError **error);
