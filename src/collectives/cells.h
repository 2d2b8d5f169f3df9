/* cells.h - the places where data lie, and which of them a message reads and writes
 *
 * A cell is one chunk of one channel of one buffer of one rank. All cells of a schedule are
 * numbered in one row, so that what is known of each can be kept in plain arrays. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collectives/schedule.h"

typedef uint64_t CcsCell;

uint64_t ccs_n_cells(const CcsSchedule *schedule);
CcsCell ccs_cell(const CcsSchedule *schedule, const CcsPlace *place);
CcsPlace ccs_cell_place(const CcsSchedule *schedule, CcsCell cell);

typedef enum { CCS_END_SOURCE, CCS_END_TARGET } CcsEnd;

/* ccs_message_cells:
 * Writes the cells of one end of message @message to @ret_cells, in the order of its box. There
 * must be room for ccs_box_n_chunks().
 *
 * Returns: false if a chunk lies outside of the buffer or the rank is none; it is then in
 * @ret_outside. */
bool ccs_message_cells(const CcsSchedule *schedule, const CcsLane *lane, uint32_t message,
                       CcsEnd end, CcsCell *ret_cells, CcsPlace *ret_outside);

/* ccs_lane_is_join: it waits for others, and what it moves stays where it is. */
bool ccs_lane_is_join(const CcsLane *lane);

/* ccs_message_describe: "PHASE of channel 0, message 3 from rank 1 to rank 2", with the lane's
 * label if it has one. Returns: (transfer full). */
char *ccs_message_describe(const CcsSchedule *schedule, CcsLaneId lane, uint32_t message);
