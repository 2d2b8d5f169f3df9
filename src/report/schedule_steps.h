/* schedule_steps.h - a schedule as a table: who sends which chunk to whom, step by step
 *
 * All messages that may start once those of the steps before have arrived are one step. A cell
 * says what a rank sends in it: "3->1+" is chunk 3 to rank 1, which adds it up; without the plus
 * the rank copies it. What is named are the data (data_names.h), not the place where they lie. What
 * a rank does for itself is not shown, and takes no step. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "collectives/schedule.h"
#include "report/rows.h"

/* ccs_schedule_steps_print:
 * Prints whole steps as long as they fit into @max_rows rows; with more than one message of a
 * rank in a step, the step has several. @ret_n_steps: all there are; @ret_n_shown: of them.
 *
 * Returns: false with CCS_ERROR_CHECK if the schedule comes to a stop before its end, or with an
 * error of ccs_rows_end(). */
bool ccs_schedule_steps_print(const CcsSchedule *schedule, uint32_t max_rows, CcsFormat format,
                              FILE *out, uint32_t *ret_n_steps, uint32_t *ret_n_shown,
                              GError **error);
