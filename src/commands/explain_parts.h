/* explain_parts.h - what the forms of an explanation have in common */
#pragma once

#include "collectives/algorithm.h"
#include "commands/explanation.h"

/* Least and most over all ranks. */
typedef struct {
    uint64_t least;
    uint64_t most;
} CcsRange;

typedef struct {
    CcsRange messages;
    CcsRange bytes;
} CcsTraffic;

/* What the ranks send, or receive. */
CcsTraffic ccs_explanation_traffic(const CcsExplanation *explanation, bool is_sent);

/* ccs_explanation_terms:
 * The terms of the algorithm for these ranks, chunks and blocks; with one rank all are 0.
 *
 * Returns: NULL; or why there are none: (transfer full). */
char *ccs_explanation_terms(const CcsExplanation *explanation, CcsTerms *ret_terms);

/* Why no times can be put into any formula. */
#define CCS_NOT_FLAT "these ranks are not around one switch"

/* ccs_explanation_doubt: why the formula says nothing of the time here, though it may hold for so
 * many ranks; NULL if it does. */
const char *ccs_explanation_doubt(const CcsExplanation *explanation, const CcsSetting *setting);

/* The bound over the time; 1 where both are 0. */
double ccs_explanation_efficiency(const CcsExplanation *explanation);

/* The size, the ranks and what the letters of the formulas stand for. Returns: (transfer full). */
char *ccs_setting_describe(const CcsSetting *setting);

/* Prints @text to stdout, broken between words, with a line break at its end. */
void ccs_print_text(const char *text);

/* Prints a heading and an empty line. @level: of md, from 1. */
void ccs_print_heading(CcsFormat format, uint32_t level, const char *heading);

/* ccs_explain_steps: prints who sends what to whom, on few ranks of @machine, with one channel, and
 * with few chunks unless the user wants many. */
bool ccs_explain_steps(const CcsCase *asked, const CcsMachine *machine, CcsFormat format,
                       GError **error);
