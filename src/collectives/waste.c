#include "collectives/waste.h"

#include <string.h>

#include "base/error.h"
#include "collectives/cells.h"
#include "collectives/contract.h"
#include "collectives/progress.h"

#define NONE UINT32_MAX /* the end of a list */

/* A message that has written to a cell, in a list of the cell. */
typedef struct {
    uint32_t message; /* its place in the order */
    uint32_t next;
} Write;

typedef struct {
    const CcsSchedule *schedule;
    const GArray *order; /* of CcsMessage: one of those that are allowed */
    bool *is_needed;     /* by place in the order */
    GArray *writes;      /* of Write */
    uint32_t *of_cell;   /* by cell: what has been written to it and not been read */
    GArray *cells;       /* of CcsCell: room for one box */
} Waste;

static void waste_init(Waste *waste, const CcsSchedule *schedule, const GArray *order)
{
    uint64_t n_cells = ccs_n_cells(schedule);

    *waste = (Waste){.schedule = schedule,
                     .order = order,
                     .is_needed = g_new0(bool, order->len + 1),
                     .writes = g_array_new(false, false, sizeof(Write)),
                     .of_cell = g_new(uint32_t, n_cells),
                     .cells = g_array_new(false, false, sizeof(CcsCell))};
    memset(waste->of_cell, 0xff, n_cells * sizeof *waste->of_cell); /* NONE */
}

static void waste_clear(Waste *waste)
{
    g_free(waste->is_needed);
    g_array_unref(waste->writes);
    g_free(waste->of_cell);
    g_array_unref(waste->cells);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Waste, waste_clear)

/* What has been written to @cell is needed. */
static void read_cell(Waste *waste, CcsCell cell)
{
    for (uint32_t i = waste->of_cell[cell]; i != NONE;) {
        const Write *write = &g_array_index(waste->writes, Write, i);
        waste->is_needed[write->message] = true;
        i = write->next;
    }
    waste->of_cell[cell] = NONE;
}

static void write_cell(Waste *waste, CcsCell cell, uint32_t message, bool is_added)
{
    Write write = {message, is_added ? waste->of_cell[cell] : NONE};

    waste->of_cell[cell] = waste->writes->len;
    g_array_append_val(waste->writes, write);
}

/* Finds the cells of one end. Returns: false if the message leaves the buffers. */
static bool find_cells(Waste *waste, const CcsMessage *of, CcsEnd end)
{
    const CcsLane *lane = ccs_schedule_lane(waste->schedule, of->lane);
    CcsPlace outside;

    g_array_set_size(waste->cells,
                     ccs_box_n_chunks(end == CCS_END_SOURCE ? &lane->from : &lane->to));
    return ccs_message_cells(waste->schedule, lane, of->message, end,
                             (CcsCell *)(void *)waste->cells->data, &outside);
}

static bool play_message(Waste *waste, uint32_t at)
{
    const CcsMessage *message = &g_array_index(waste->order, CcsMessage, at);
    const CcsLane *lane = ccs_schedule_lane(waste->schedule, message->lane);

    if (ccs_lane_is_join(lane)) {
        waste->is_needed[at] = true;
        return true;
    }
    if (!find_cells(waste, message, CCS_END_SOURCE))
        return false;
    for (guint i = 0; i < waste->cells->len; i++)
        read_cell(waste, g_array_index(waste->cells, CcsCell, i));
    if (!find_cells(waste, message, CCS_END_TARGET))
        return false;
    for (guint i = 0; i < waste->cells->len; i++)
        write_cell(waste, g_array_index(waste->cells, CcsCell, i), at,
                   message->message < lane->n_reduced);
    return true;
}

/* What was promised is needed. */
static void read_result(Waste *waste)
{
    const CcsSchedule *schedule = waste->schedule;
    CcsPlace place = {.buffer = CCS_BUFFER_OUTPUT};
    CcsPromise promise;

    for (place.rank = 0; place.rank < ccs_schedule_n_ranks(schedule); place.rank++) {
        for (uint32_t channel = 0; channel < ccs_schedule_n_channels(schedule); channel++) {
            place.channel = channel;
            for (place.chunk = 0; place.chunk < ccs_schedule_n_chunks(schedule); place.chunk++) {
                if (ccs_contract_promises(schedule, place.rank, channel, place.chunk, &promise))
                    read_cell(waste, ccs_cell(schedule, &place));
            }
        }
    }
}

bool ccs_waste_check(const CcsSchedule *schedule, GError **error)
{
    g_autoptr(CcsProgress) progress = ccs_progress_new(schedule);
    g_autoptr(GArray) order = ccs_progress_any_order(progress);
    if (order == NULL)
        return true;

    g_auto(Waste) waste;
    waste_init(&waste, schedule, order);
    for (guint i = 0; i < order->len; i++) {
        if (!play_message(&waste, i))
            return true;
    }
    read_result(&waste);
    for (guint i = 0; i < order->len; i++) {
        const CcsMessage *message = &g_array_index(order, CcsMessage, i);
        if (waste.is_needed[i])
            continue;
        g_autofree char *text = ccs_message_describe(schedule, message->lane, message->message);
        g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK, "%s: nobody needs what it brings", text);
        return false;
    }
    return true;
}
