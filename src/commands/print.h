/* print.h - results in the forms that the user may ask for */
#pragma once

#include <stdio.h>

#include <glib.h>

#include "commands/study.h"
#include "report/rows.h"

/* ccs_print_results:
 * Prints results first ... first + n - 1 of @study as a table, csv, ndjson, md, or as
 * nccl-tests does. JSON comes from the trace (ccs_trace_run_json()). */
bool ccs_print_results(const CcsStudy *study, uint32_t first, uint32_t n, CcsFormat format,
                       FILE *out, GError **error);

/* ccs_print_classes:
 * For each of these results a row per link class that carried something: how many links,
 * the bytes and the rate of the busiest, and how much of it was used. */
bool ccs_print_classes(const CcsStudy *study, uint32_t first, uint32_t n, CcsFormat format,
                       FILE *out, GError **error);
