#include "trace/flow_chunk.h"

#include <stdarg.h>
#include <string.h>

#include <zstd.h>

#include "base/error.h"

/* Levels above make the chunks hardly smaller, and take several times as long. */
#define ZSTD_LEVEL       3
#define LONGEST_VARINT   10
#define LONGEST_HEAD     ((1 + N_COLUMNS) * LONGEST_VARINT)
#define LONGEST_CONTENTS (LONGEST_HEAD + (size_t)N_COLUMNS * LONGEST_COLUMN)
#define LONGEST_COLUMN   ((size_t)CCS_FLOW_CHUNK_FLOWS * LONGEST_VARINT)

enum {
    LANE,
    MESSAGE,
    CHANNEL,
    PHASE,
    SRC,
    DST_FROM_SRC,
    BYTES,
    IS_REDUCED,
    INJECTED,
    INJECTED_FROM_ENTERED,
    ENTERED_FROM_STARTED,
    ARRIVED_FROM_INJECTED,
    N_COLUMNS
};

typedef struct {
    uint64_t values[N_COLUMNS];
} Row;

/* The last flow of each lane: a hash table with open addresses. */
typedef struct {
    struct {
        uint32_t lane;
        uint32_t place; /* 1 + index of the flow; 0: free */
    } * slots;          /* owned */
    uint32_t n_bits;
} Lanes;

typedef struct {
    const uint8_t *at;
    const uint8_t *end;
} Reader;

static Row row_of(const CcsFlow *flow)
{
    uint64_t injected = (uint64_t)flow->injected;
    uint64_t entered = (uint64_t)flow->entered;

    return (Row){{
        [LANE] = flow->lane,
        [MESSAGE] = flow->message,
        [CHANNEL] = flow->channel,
        [PHASE] = flow->phase,
        [SRC] = flow->src,
        [DST_FROM_SRC] = (uint64_t)flow->dst - flow->src,
        [BYTES] = flow->bytes,
        [IS_REDUCED] = flow->is_reduced,
        [INJECTED] = injected,
        [INJECTED_FROM_ENTERED] = injected - entered,
        [ENTERED_FROM_STARTED] = entered - (uint64_t)flow->started,
        [ARRIVED_FROM_INJECTED] = (uint64_t)flow->arrived - injected,
    }};
}

/* Returns: false if a value does not fit. */
static bool flow_of(const Row *row, CcsFlow *ret_flow)
{
    const uint64_t *values = row->values;
    uint64_t dst = values[SRC] + values[DST_FROM_SRC];
    uint64_t entered = values[INJECTED] - values[INJECTED_FROM_ENTERED];
    uint64_t wide = values[LANE] | values[MESSAGE] | values[CHANNEL] | values[PHASE] | values[SRC];

    if ((wide | dst) > UINT32_MAX || values[IS_REDUCED] > 1)
        return false;
    *ret_flow = (CcsFlow){.lane = (uint32_t)values[LANE],
                          .message = (uint32_t)values[MESSAGE],
                          .channel = (uint32_t)values[CHANNEL],
                          .phase = (uint32_t)values[PHASE],
                          .src = (uint32_t)values[SRC],
                          .dst = (uint32_t)dst,
                          .bytes = values[BYTES],
                          .is_reduced = values[IS_REDUCED] == 1,
                          .started = (CcsTime)(entered - values[ENTERED_FROM_STARTED]),
                          .entered = (CcsTime)entered,
                          .injected = (CcsTime)values[INJECTED],
                          .arrived = (CcsTime)(values[INJECTED] + values[ARRIVED_FROM_INJECTED])};
    return true;
}

static Lanes lanes_for(uint32_t n_flows)
{
    Lanes lanes = {.n_bits = 2 + (uint32_t)g_bit_storage(n_flows)}; /* at most half full */

    lanes.slots = g_malloc0(sizeof(*lanes.slots) << lanes.n_bits);
    return lanes;
}

static void lanes_clear(Lanes *lanes)
{
    g_free(lanes->slots);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Lanes, lanes_clear)

/* Returns: where the place of @lane stands. */
static uint32_t *place_of(const Lanes *lanes, uint32_t lane)
{
    uint32_t at = lane * 2654435769U >> (32 - lanes->n_bits); /* 2^32 / the golden ratio */

    while (lanes->slots[at].place != 0 && lanes->slots[at].lane != lane)
        at = (at + 1) & ((1U << lanes->n_bits) - 1);
    lanes->slots[at].lane = lane;
    return &lanes->slots[at].place;
}

/* What follows @before, and the last flow of the lane, which is at @place. */
static Row expected_row(const Row *before, const CcsFlow *flows, uint32_t place)
{
    if (place == 0)
        return *before;
    Row row = row_of(&flows[place - 1]);
    row.values[MESSAGE]++;
    row.values[INJECTED] = before->values[INJECTED];
    return row;
}

static uint8_t *put(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

/* Small numbers of either sign become small ones without. */
static uint64_t fold(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static uint64_t unfold(uint64_t folded)
{
    return folded >> 1 ^ (0 - (folded & 1));
}

/* Returns: false if the bytes end too early or are more than a number of 64 bits has. */
static bool take(Reader *reader, uint64_t *ret_value)
{
    uint64_t value = 0;

    for (uint32_t shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
        uint8_t byte = *reader->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret_value = value;
            return shift < 63 || byte <= 1;
        }
    }
    return false;
}

CcsTime ccs_flow_time(const CcsFlow *flow, uint32_t which)
{
    const CcsTime times[CCS_N_FLOW_TIMES] = {
        [CCS_FLOW_STARTED] = flow->started,
        [CCS_FLOW_ENTERED] = flow->entered,
        [CCS_FLOW_INJECTED] = flow->injected,
        [CCS_FLOW_ARRIVED] = flow->arrived,
    };
    return times[which];
}

CcsFlowSpan ccs_flow_chunk_span(const CcsFlow *flows, uint32_t n_flows)
{
    CcsFlowSpan span = {0};

    for (uint32_t i = 0; i < n_flows; i++) {
        for (uint32_t which = 0; which < CCS_N_FLOW_TIMES; which++) {
            CcsTime time = ccs_flow_time(&flows[i], which);
            span.least[which] = i == 0 ? time : MIN(span.least[which], time);
            span.most[which] = i == 0 ? time : MAX(span.most[which], time);
        }
    }
    return span;
}

/* Writes each column to a place of its own in @columns; sets where each ends. */
static void write_columns(const CcsFlow *flows, uint32_t n_flows, uint8_t *columns, uint8_t **ends)
{
    g_auto(Lanes) lanes = lanes_for(n_flows);
    Row before = {{0}};

    for (uint32_t column = 0; column < N_COLUMNS; column++)
        ends[column] = columns + column * (size_t)n_flows * LONGEST_VARINT;
    for (uint32_t i = 0; i < n_flows; i++) {
        Row row = row_of(&flows[i]);
        uint32_t *place = place_of(&lanes, flows[i].lane);
        Row expected = expected_row(&before, flows, *place);
        expected.values[LANE] = before.values[LANE];
        for (uint32_t column = 0; column < N_COLUMNS; column++)
            ends[column] = put(ends[column], fold(row.values[column] - expected.values[column]));
        *place = i + 1;
        before = row;
    }
}

/* Moves the columns together behind the head. Returns: the end of all. */
static uint8_t *write_contents(const CcsFlow *flows, uint32_t n_flows, uint8_t *contents)
{
    g_autofree uint8_t *columns = g_malloc((size_t)N_COLUMNS * n_flows * LONGEST_VARINT + 1);
    uint8_t *ends[N_COLUMNS];
    uint8_t *at = put(contents, n_flows);

    write_columns(flows, n_flows, columns, ends);
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t column = 0; column < N_COLUMNS; column++) {
            const uint8_t *start = columns + column * (size_t)n_flows * LONGEST_VARINT;
            size_t length = (size_t)(ends[column] - start);
            if (pass == 0) {
                at = put(at, length);
                continue;
            }
            memcpy(at, start, length);
            at += length;
        }
    }
    return at;
}

static size_t compress(void *to, size_t room, const void *contents, size_t size)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();

    g_assert(context != NULL);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, ZSTD_LEVEL);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t n = ZSTD_compress2(context, to, room, contents, size);
    ZSTD_freeCCtx(context);
    g_assert(!ZSTD_isError(n)); /* there is room for the worst case */
    return n;
}

GBytes *ccs_flow_chunk_pack(const CcsFlow *flows, uint32_t n_flows)
{
    g_assert(n_flows <= CCS_FLOW_CHUNK_FLOWS);
    g_autofree uint8_t *contents =
        g_malloc(LONGEST_HEAD + (size_t)N_COLUMNS * n_flows * LONGEST_VARINT);
    size_t size = (size_t)(write_contents(flows, n_flows, contents) - contents);
    size_t room = ZSTD_compressBound(size);
    g_autofree uint8_t *data = g_malloc(1 + room);

    data[0] = CCS_FLOW_CHUNK_FORMAT;
    return g_bytes_new(data, 1 + compress(data + 1, room, contents, size));
}

G_GNUC_PRINTF(2, 3) static bool fail(GError **error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, CCS_ERROR, CCS_ERROR_IO, "damaged flows: %s", message);
    return false;
}

/* The size that the frame states is believed only as far as a chunk can be long. */
static bool decompress(const uint8_t *data, size_t size, uint8_t **ret_contents, size_t *ret_size,
                       GError **error)
{
    if (size == 0)
        return fail(error, "nothing is there");
    if (data[0] != CCS_FLOW_CHUNK_FORMAT)
        return fail(error, "the format %u is not known", data[0]);
    unsigned long long stated = ZSTD_getFrameContentSize(data + 1, size - 1);
    if (stated == ZSTD_CONTENTSIZE_UNKNOWN || stated == ZSTD_CONTENTSIZE_ERROR ||
        stated > LONGEST_CONTENTS)
        return fail(error, "no length that could be right");
    g_autofree uint8_t *contents = g_malloc(stated + 1);
    size_t n = ZSTD_decompress(contents, stated, data + 1, size - 1);
    if (ZSTD_isError(n) || n != stated)
        return fail(error, "%s", ZSTD_isError(n) ? ZSTD_getErrorName(n) : "too short");
    *ret_contents = g_steal_pointer(&contents);
    *ret_size = n;
    return true;
}

/* Finds the columns: together they must fill what is behind the head. */
static bool read_head(Reader reader, uint32_t n_flows, Reader *columns, GError **error)
{
    uint64_t n_stated = 0;
    uint64_t lengths[N_COLUMNS];

    if (!take(&reader, &n_stated))
        return fail(error, "no number of flows");
    if (n_stated != n_flows)
        return fail(error, "%" G_GUINT64_FORMAT " flows where %u were expected", n_stated, n_flows);
    for (uint32_t column = 0; column < N_COLUMNS; column++) {
        if (!take(&reader, &lengths[column]))
            return fail(error, "a column without a length");
    }
    for (uint32_t column = 0; column < N_COLUMNS; column++) {
        if (lengths[column] > (size_t)(reader.end - reader.at))
            return fail(error, "a column that is too long");
        columns[column] = (Reader){reader.at, reader.at + lengths[column]};
        reader.at += lengths[column];
    }
    return reader.at == reader.end || fail(error, "bytes behind the last column");
}

/* Reads on in the columns from @first on. Returns: false if one of them is too short. */
static bool read_row(Reader *columns, uint32_t first, uint32_t end, Row *row)
{
    for (uint32_t column = first; column < end; column++) {
        uint64_t folded = 0;
        if (!take(&columns[column], &folded))
            return false;
        row->values[column] += unfold(folded);
    }
    return true;
}

static bool read_flows(Reader *columns, uint32_t n_flows, CcsFlow *flows, GError **error)
{
    g_auto(Lanes) lanes = lanes_for(n_flows);
    Row row = {{0}};

    for (uint32_t i = 0; i < n_flows; i++) {
        if (!read_row(columns, LANE, LANE + 1, &row))
            return fail(error, "a column that is too short");
        uint64_t lane = row.values[LANE];
        uint32_t *place = place_of(&lanes, (uint32_t)lane);
        row = expected_row(&row, flows, *place);
        row.values[LANE] = lane;
        if (!read_row(columns, LANE + 1, N_COLUMNS, &row))
            return fail(error, "a column that is too short");
        if (!flow_of(&row, &flows[i]))
            return fail(error, "a value that is too large");
        *place = i + 1;
    }
    return true;
}

static bool read_columns(Reader *columns, uint32_t n_flows, CcsFlow *flows, GError **error)
{
    if (!read_flows(columns, n_flows, flows, error))
        return false;
    for (uint32_t column = 0; column < N_COLUMNS; column++) {
        if (columns[column].at != columns[column].end)
            return fail(error, "a column that is too long");
    }
    return true;
}

bool ccs_flow_chunk_unpack(const void *data, size_t size, uint32_t n_flows, CcsFlow *ret_flows,
                           GError **error)
{
    g_autofree uint8_t *contents = NULL;
    Reader columns[N_COLUMNS];

    if (n_flows > CCS_FLOW_CHUNK_FLOWS)
        return fail(error, "%u flows are more than a chunk holds", n_flows);
    return decompress(data, size, &contents, &size, error) &&
           read_head((Reader){contents, contents + size}, n_flows, columns, error) &&
           read_columns(columns, n_flows, ret_flows, error);
}
