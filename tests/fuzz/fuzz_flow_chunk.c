/* Any bytes are flows or are refused with a message; flows that were read can be packed and come
 * back the same. The first three bytes are the number of flows that is expected; where the fourth
 * is 'Z', a frame is made of the rest, so that its contents are reached as well. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include <glib.h>
#include <zstd.h>

#include "base/error.h"
#include "trace/flow_chunk.h"

#define HEAD 4

static void check_again(const CcsFlow *flows, uint32_t n_flows)
{
    g_autoptr(GBytes) data = ccs_flow_chunk_pack(flows, n_flows);
    g_autofree CcsFlow *again = g_new0(CcsFlow, n_flows + 1);

    g_assert_true(ccs_flow_chunk_unpack(g_bytes_get_data(data, NULL), g_bytes_get_size(data),
                                        n_flows, again, NULL));
    for (uint32_t i = 0; i < n_flows; i++) {
        g_assert_cmpuint(flows[i].lane, ==, again[i].lane);
        g_assert_cmpuint(flows[i].dst, ==, again[i].dst);
        g_assert_cmpuint(flows[i].bytes, ==, again[i].bytes);
        for (uint32_t which = 0; which < CCS_N_FLOW_TIMES; which++)
            g_assert_cmpint(ccs_flow_time(&flows[i], which), ==, ccs_flow_time(&again[i], which));
    }
}

static void try_to_read(const uint8_t *data, size_t size, uint32_t n_flows)
{
    g_autoptr(GError) error = NULL;
    g_autofree CcsFlow *flows = g_new0(CcsFlow, MIN(n_flows, CCS_FLOW_CHUNK_FLOWS) + 1);

    if (ccs_flow_chunk_unpack(data, size, n_flows, flows, &error)) {
        g_assert_no_error(error);
        check_again(flows, n_flows);
        return;
    }
    g_assert_error(error, CCS_ERROR, CCS_ERROR_IO);
    g_assert_true(g_utf8_validate(error->message, -1, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    uint32_t n_flows = (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16;
    bool has_contents = data[3] == 'Z';

    data += HEAD;
    size -= HEAD;
    if (!has_contents) {
        try_to_read(data, size, n_flows);
        return 0;
    }
    size_t room = ZSTD_compressBound(size);
    g_autofree uint8_t *made = g_malloc(1 + room);
    made[0] = CCS_FLOW_CHUNK_FORMAT;
    try_to_read(made, 1 + ZSTD_compress(made + 1, room, data, size, 1), n_flows);
    return 0;
}
