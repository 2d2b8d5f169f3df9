#include "collectives/cells.h"

#include <string.h>

/* The cells that each channel of each buffer of each rank has: as many as the largest needs. */
static uint32_t cells_in_row(const CcsSchedule *schedule)
{
    return MAX(ccs_schedule_n_chunks(schedule),
               ccs_schedule_n_places(schedule, CCS_BUFFER_SCRATCH));
}

static uint64_t cells_per_buffer(const CcsSchedule *schedule)
{
    return (uint64_t)ccs_schedule_n_ranks(schedule) * ccs_schedule_n_channels(schedule) *
           cells_in_row(schedule);
}

uint64_t ccs_n_cells(const CcsSchedule *schedule)
{
    return CCS_N_BUFFERS * cells_per_buffer(schedule);
}

CcsCell ccs_cell(const CcsSchedule *schedule, const CcsPlace *place)
{
    uint64_t row = ((uint64_t)place->buffer * ccs_schedule_n_ranks(schedule) + place->rank) *
                       ccs_schedule_n_channels(schedule) +
                   place->channel;

    return row * cells_in_row(schedule) + place->chunk;
}

CcsPlace ccs_cell_place(const CcsSchedule *schedule, CcsCell cell)
{
    uint32_t n_chunks = cells_in_row(schedule);
    uint32_t n_channels = ccs_schedule_n_channels(schedule);
    uint32_t n_ranks = ccs_schedule_n_ranks(schedule);
    uint64_t row = cell / n_chunks;

    return (CcsPlace){.buffer = (CcsBuffer)(row / n_channels / n_ranks),
                      .rank = (CcsRank)(row / n_channels % n_ranks),
                      .channel = (uint32_t)(row % n_channels),
                      .chunk = (uint32_t)(cell % n_chunks)};
}

bool ccs_message_cells(const CcsSchedule *schedule, const CcsLane *lane, uint32_t message,
                       CcsEnd end, CcsCell *ret_cells, CcsPlace *ret_outside)
{
    CcsRank peer = ccs_lane_peer(lane, message, ccs_schedule_n_ranks(schedule));
    const CcsBox *box = end == CCS_END_SOURCE ? &lane->from : &lane->to;
    CcsPlace place = {box->buffer, end == CCS_END_SOURCE ? lane->source : peer, lane->channel, 0};
    uint32_t begin = ccs_box_begin(box, lane, message, peer);
    uint32_t n = ccs_box_n_chunks(box);
    bool is_place = place.rank < ccs_schedule_n_ranks(schedule) &&
                    place.channel < ccs_schedule_n_channels(schedule);
    uint32_t n_chunks = is_place ? ccs_schedule_n_places(schedule, box->buffer) : 0;
    CcsCell first = ccs_cell(schedule, &place);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t chunk = ccs_box_chunk(box, begin, i);
        if (chunk >= n_chunks) {
            *ret_outside = place;
            ret_outside->chunk = chunk;
            return false;
        }
        ret_cells[i] = first + chunk;
    }
    return true;
}

bool ccs_lane_is_join(const CcsLane *lane)
{
    return ccs_lane_is_local(lane) && lane->n_reduced == 0 &&
           memcmp(&lane->from, &lane->to, sizeof lane->from) == 0;
}

char *ccs_message_describe(const CcsSchedule *schedule, CcsLaneId id, uint32_t message)
{
    const CcsLane *lane = ccs_schedule_lane(schedule, id);
    const char *label = ccs_schedule_label(schedule, lane->label);
    bool has_phase = lane->phase < ccs_schedule_n_phases(schedule);

    return g_strdup_printf("%s%s%s of channel %u, message %u from rank %u to rank %u",
                           label == NULL ? "" : label, label == NULL ? "" : ": ",
                           has_phase ? ccs_schedule_phases(schedule)[lane->phase] : "lane",
                           lane->channel, message, lane->source,
                           ccs_lane_peer(lane, message, ccs_schedule_n_ranks(schedule)));
}
