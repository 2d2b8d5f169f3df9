#include "formats/msccl_places.h"

#include "base/error.h"
#include "formats/msccl_internal.h"

struct CcsMscclPlaces {
    const CcsSchedule *schedule;
    CcsMsccl *msccl;
    CcsMscclLayout layout;
    uint32_t *chunk_of; /* by channel and chunk: of the collective, in the file */
};

bool ccs_msccl_refuse(GError **error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT, "MSCCL files cannot say %s", what);
    return false;
}

/* Numbers the chunks of each rank's block, channel by channel, in the order of their places. */
static bool number_blocks(CcsMscclPlaces *places, GError **error)
{
    CcsMsccl *msccl = places->msccl;
    uint32_t n_chunks = places->layout.per_part;
    uint32_t per_share = n_chunks / msccl->n_ranks;
    g_autofree uint32_t *n_numbered = g_new0(uint32_t, msccl->n_ranks);
    bool is_in_order = true;

    for (uint32_t channel = 0; channel < msccl->n_parts; channel++) {
        for (uint32_t i = 0; i < n_chunks; i++) {
            CcsRank owner = ccs_schedule_owner(places->schedule, channel, i);
            uint32_t at = n_numbered[owner]++;
            if (at / per_share != channel)
                return ccs_msccl_refuse(error, "that some ranks have more chunks than others");
            is_in_order = is_in_order && i == owner * per_share + at % per_share;
            msccl->gpus[owner].order[at] = i;
            places->chunk_of[channel * n_chunks + i] = owner * places->layout.per_block + at;
        }
    }
    for (CcsRank rank = 0; rank < msccl->n_ranks && is_in_order; rank++)
        g_clear_pointer(&msccl->gpus[rank].order, g_free);
    return true;
}

static bool number_chunks(CcsMscclPlaces *places, GError **error)
{
    CcsMsccl *msccl = places->msccl;

    places->chunk_of = g_new(uint32_t, msccl->n_chunks);
    for (uint32_t i = 0; i < msccl->n_chunks; i++)
        places->chunk_of[i] = i;
    if (!places->layout.has_blocks)
        return true;
    if (places->layout.per_part % msccl->n_ranks != 0)
        return ccs_msccl_refuse(error, "that some ranks have more chunks than others");
    for (CcsRank rank = 0; rank < msccl->n_ranks; rank++)
        msccl->gpus[rank].order = g_new0(uint32_t, places->layout.per_block);
    return number_blocks(places, error);
}

CcsMscclPlaces *ccs_msccl_places_new(const CcsSchedule *schedule, CcsMsccl *msccl, GError **error)
{
    g_autoptr(CcsMscclPlaces) places = g_new0(CcsMscclPlaces, 1);

    places->schedule = schedule;
    places->msccl = msccl;
    places->layout = ccs_msccl_layout(msccl);
    return number_chunks(places, error) ? g_steal_pointer(&places) : NULL;
}

void ccs_msccl_places_free(CcsMscclPlaces *places)
{
    if (places == NULL)
        return;
    g_free(places->chunk_of);
    g_free(places);
}

/* What the data are called where input and output are one: the whole of them. */
static CcsBuffer home_buffer(const CcsMsccl *msccl)
{
    return msccl->collective == CCS_ALLGATHER || msccl->collective == CCS_GATHER ? CCS_BUFFER_OUTPUT
                                                                                 : CCS_BUFFER_INPUT;
}

uint32_t ccs_msccl_places_n(const CcsMscclPlaces *places, CcsBuffer buffer)
{
    if (places->msccl->is_in_place && buffer != home_buffer(places->msccl))
        return 0;
    return ccs_msccl_window_size(&places->layout, buffer);
}

/* What the file calls cell @cell of @channel of a buffer of @rank. */
static bool find_place(const CcsMscclPlaces *places, CcsRank rank, CcsBuffer buffer,
                       uint32_t channel, uint32_t cell, CcsMscclPlace *ret_place, GError **error)
{
    const CcsMsccl *msccl = places->msccl;
    CcsBuffer shown = msccl->is_in_place ? home_buffer(msccl) : buffer;
    uint32_t at = channel * places->layout.per_part + cell;

    if (buffer == CCS_BUFFER_SCRATCH) {
        *ret_place = (CcsMscclPlace){buffer, at, cell};
        return true;
    }
    uint32_t chunk = places->chunk_of[at];
    if (ccs_msccl_window_size(&places->layout, shown) < msccl->n_chunks) {
        if (chunk / places->layout.per_block != rank)
            return ccs_msccl_refuse(error, "that rank %u uses more of its output than it has",
                                    rank);
        chunk %= places->layout.per_block;
    }
    *ret_place = (CcsMscclPlace){shown, chunk, cell};
    return true;
}

bool ccs_msccl_places_find(const CcsMscclPlaces *places, const CcsLane *lane, uint32_t message,
                           bool is_source, GArray *ret_places, GError **error)
{
    CcsRank peer = ccs_lane_peer(lane, message, places->msccl->n_ranks);
    const CcsBox *box = is_source ? &lane->from : &lane->to;
    uint32_t begin = ccs_box_begin(box, lane, message, peer);

    g_array_set_size(ret_places, 0);
    for (uint32_t i = 0; i < ccs_box_n_chunks(box); i++) {
        CcsMscclPlace place;
        if (!find_place(places, is_source ? lane->source : peer, box->buffer, lane->channel,
                        ccs_box_chunk(box, begin, i), &place, error))
            return false;
        g_array_append_val(ret_places, place);
    }
    return true;
}

bool ccs_msccl_places_of_part(const CcsMscclPlaces *places, CcsRank rank, CcsBuffer buffer,
                              uint32_t channel, GArray *ret_places, GError **error)
{
    bool is_own_only = ccs_msccl_places_n(places, CCS_BUFFER_OUTPUT) < places->msccl->n_chunks;

    g_array_set_size(ret_places, 0);
    for (uint32_t i = 0; i < places->layout.per_part; i++) {
        CcsMscclPlace place;
        if (is_own_only && ccs_schedule_owner(places->schedule, channel, i) != rank)
            continue;
        if (!find_place(places, rank, buffer, channel, i, &place, error))
            return false;
        g_array_append_val(ret_places, place);
    }
    return true;
}

const CcsMscclPlace *ccs_msccl_place_at(const GArray *places, uint32_t index)
{
    return &g_array_index(places, CcsMscclPlace, index);
}

uint32_t ccs_msccl_run_length(const GArray *places, uint32_t begin)
{
    const CcsMscclPlace *first = ccs_msccl_place_at(places, begin);
    uint32_t n = 1;

    for (; begin + n < places->len; n++) {
        const CcsMscclPlace *place = ccs_msccl_place_at(places, begin + n);
        uint32_t distance = ccs_msccl_place_at(places, begin + 1)->cell - first->cell;
        if (place->buffer != first->buffer || place->chunk != first->chunk + n ||
            place->cell <= first->cell || place->cell != first->cell + n * distance)
            break;
    }
    return n;
}

bool ccs_msccl_is_run(const GArray *places)
{
    return ccs_msccl_run_length(places, 0) == places->len;
}
