/* interrupt.h - ends what takes long when the user presses Ctrl-C
 *
 * A signal reaches a process, not a run, so this flag is the one piece of state that all runs of
 * a process share. Long loops ask for it now and then and end with an error like any other, so
 * that what was written is closed in order. */
#pragma once

#include <stdbool.h>

#include <glib.h>

/* ccs_interrupt_catch: from now on the first SIGINT only sets the flag; a second one ends the
 * process. */
void ccs_interrupt_catch(void);

/* ccs_interrupt_check: Returns: false with CCS_ERROR_INTERRUPTED once the flag is set. */
bool ccs_interrupt_check(GError **error);
