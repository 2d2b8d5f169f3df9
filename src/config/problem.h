/* problem.h - an error in a YAML text, and how it is shown */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "config/yaml.h"

#define CCS_PROBLEMS_MAX 20U /* shown at once */

typedef struct {
    uint32_t origin; /* as in CcsYaml */
    uint32_t line;
    uint32_t column;
    char *text; /* owned */
} CcsProblem;

CcsProblem *ccs_problem_new(const CcsYaml *at, const char *text);
void ccs_problem_free(CcsProblem *problem);

/* ccs_problem_compare: by place, then by text; for g_ptr_array_sort(). */
int ccs_problem_compare(const void *a, const void *b);

/* ccs_problem_place: "file:line:column", or "file" if @line is 0. Returns: (transfer full). */
char *ccs_problem_place(const char *label, uint32_t line, uint32_t column);

/* ccs_problem_excerpt:
 * The line of @text and a line with a caret below @column, each after a line break; "" if
 * @line is 0 or not there. Lines end where libyaml ends them. Returns: (transfer full). */
char *ccs_problem_excerpt(const char *text, size_t n_bytes, uint32_t line, uint32_t column);

/* A place in a text that is found by going on from an earlier one. */
typedef struct {
    const char *at;
    uint32_t line;
    uint32_t column; /* in characters */
} CcsTextPlace;

/* ccs_text_place_advance: goes on to @to, in a text of valid UTF-8 that ends at @end. Lines end
 * as in ccs_problem_excerpt(). */
void ccs_text_place_advance(CcsTextPlace *place, const char *to, const char *end);
