#include "collectives/origins.h"

#include "collectives/cells.h"
#include "collectives/contract.h"

struct CcsOrigins {
    const CcsSchedule *schedule;
    CcsOrigin *of_cells;
};

static void fill_row(CcsOrigins *origins, CcsPlace place)
{
    const CcsSchedule *schedule = origins->schedule;

    for (place.chunk = 0; place.chunk < ccs_schedule_n_chunks(schedule); place.chunk++) {
        if (ccs_contract_holds_at_start(schedule, place.buffer, place.rank, place.channel,
                                        place.chunk))
            origins->of_cells[ccs_cell(schedule, &place)] = (CcsOrigin){place.chunk, place.rank};
    }
}

CcsOrigins *ccs_origins_new(const CcsSchedule *schedule)
{
    uint64_t n_cells = ccs_n_cells(schedule);
    CcsOrigins *origins = g_new(CcsOrigins, 1);

    *origins = (CcsOrigins){schedule, g_new(CcsOrigin, n_cells)};
    for (CcsCell cell = 0; cell < n_cells; cell++)
        origins->of_cells[cell] = (CcsOrigin){CCS_NO_CHUNK, CCS_NO_RANK};
    for (int buffer = 0; buffer < CCS_N_BUFFERS; buffer++) {
        for (CcsRank rank = 0; rank < ccs_schedule_n_ranks(schedule); rank++) {
            for (uint32_t c = 0; c < ccs_schedule_n_channels(schedule); c++)
                fill_row(origins, (CcsPlace){(CcsBuffer)buffer, rank, c, 0});
        }
    }
    return origins;
}

void ccs_origins_free(CcsOrigins *origins)
{
    if (origins == NULL)
        return;
    g_free(origins->of_cells);
    g_free(origins);
}

/* Returns: (transfer full): the cells at one end of the message. */
static CcsCell *cells_at(const CcsOrigins *origins, const CcsLane *lane, uint32_t message,
                         CcsEnd end)
{
    const CcsBox *box = end == CCS_END_SOURCE ? &lane->from : &lane->to;
    CcsCell *cells = g_new(CcsCell, ccs_box_n_chunks(box));
    CcsPlace outside;
    bool is_inside = ccs_message_cells(origins->schedule, lane, message, end, cells, &outside);

    g_assert(is_inside);
    return cells;
}

void ccs_origins_read(const CcsOrigins *origins, const CcsLane *lane, uint32_t message,
                      CcsOrigin *ret_data)
{
    g_autofree CcsCell *cells = cells_at(origins, lane, message, CCS_END_SOURCE);

    for (uint32_t i = 0; i < ccs_box_n_chunks(&lane->from); i++)
        ret_data[i] = origins->of_cells[cells[i]];
}

void ccs_origins_write(CcsOrigins *origins, const CcsLane *lane, uint32_t message,
                       const CcsOrigin *data)
{
    g_autofree CcsCell *cells = cells_at(origins, lane, message, CCS_END_TARGET);

    if (message < lane->n_reduced) /* what is added to stays where it comes from */
        return;
    for (uint32_t i = 0; i < ccs_box_n_chunks(&lane->from); i++)
        origins->of_cells[cells[i]] = data[i];
}
