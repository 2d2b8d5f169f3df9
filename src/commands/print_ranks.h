/* print_ranks.h - what each rank did with its time */
#pragma once

#include <stdio.h>

#include <glib.h>

#include "report/rows.h"
#include "sim/overlap.h"

/* ccs_print_ranks: a row for each rank that does anything: computing, communication that is not
 * hidden, and being idle make up @time. JSON is not among the formats. */
bool ccs_print_ranks(CcsOverlaps *overlaps, CcsTime time, CcsFormat format, FILE *out,
                     GError **error);
