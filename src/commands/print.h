/* print.h - results in the forms that the user may ask for */
#pragma once

#include <stdio.h>

#include <glib.h>

#include "commands/study.h"
#include "report/rows.h"

/* ccs_print_results:
 * Prints @n results as a table, csv, md, or as nccl-tests does. JSON and NDJSON come from the
 * trace (ccs_trace_run_json()). */
bool ccs_print_results(const CcsStudyResult *results, uint32_t n, CcsFormat format, FILE *out,
                       GError **error);

/* ccs_print_crossovers:
 * Where @results, all of one collective on @machine and not for programs, answer a question in
 * several ways: an empty line, and from which size on which of them is the fastest. Simulates
 * more sizes for that. */
bool ccs_print_crossovers(const CcsMachine *machine, const CcsStudyResult *results, uint32_t n,
                          CcsFormat format, FILE *out, GError **error);

/* ccs_print_is_for_programs: nothing else may stand beside the results in this format. */
bool ccs_print_is_for_programs(CcsFormat format);
bool ccs_print_is_json(CcsFormat format); /* json or ndjson */

/* ccs_print_classes:
 * For each of these results a row per link class that carried something: how many links,
 * the bytes and the rate of the busiest, and how much of it was used. */
bool ccs_print_classes(const CcsStudyResult *results, uint32_t n, CcsFormat format, FILE *out,
                       GError **error);

/* ccs_print_nccl: as nccl-tests prints its own, up to its last line. */
void ccs_print_nccl(const CcsStudyResult *results, uint32_t n, FILE *out);

/* A time that people quote, to be shown beside a simulated one. */
typedef struct {
    const char *label;
    double time_us;
    const CcsStudyResult *beside;
} CcsEstimate;

bool ccs_print_estimates(const CcsEstimate *estimates, uint32_t n, CcsFormat format, FILE *out,
                         GError **error);
