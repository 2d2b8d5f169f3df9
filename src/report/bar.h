/* bar.h - how far a long run is, on a terminal
 *
 * A run has parts of equal weight, and a part has steps of which so many are done. What takes
 * less than a second shows nothing. The line is drawn over itself, and nothing is left of it at
 * the end; whoever writes to the terminal in between clears it first. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <glib.h>

typedef struct CcsBar CcsBar;

/* ccs_bar_new:
 * Returns: (transfer full), or NULL where @out is no terminal, or one on which nothing can be
 * drawn over. All functions here take NULL and do nothing. @out is not owned. */
CcsBar *ccs_bar_new(FILE *out, uint32_t n_parts);
void ccs_bar_free(CcsBar *bar); /* clears it */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsBar, ccs_bar_free)

/* ccs_bar_begin_part: the parts before it are done. */
void ccs_bar_begin_part(CcsBar *bar, uint64_t n_steps);

/* ccs_bar_set: @n_done steps of the part are done. Draws now and then; else costs next to
 * nothing. */
void ccs_bar_set(CcsBar *bar, uint64_t n_done);
void ccs_bar_clear(CcsBar *bar);

/* ccs_bar_text:
 * The line for a run of which @share is done after @elapsed_s, at most @n_columns wide: the bar,
 * the share, the time and an estimate of what is left.
 *
 * Returns: (transfer full). */
char *ccs_bar_text(double share, double elapsed_s, uint32_t n_columns, bool has_color);
