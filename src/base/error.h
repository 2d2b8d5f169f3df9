/* error.h - the kinds of error that a user can cause
 *
 * The code of an error is the exit status of the program that ends with it. */
#pragma once

#include <glib.h>

#define CCS_ERROR (ccs_error_quark())

typedef enum {
    CCS_ERROR_CHECK = 1, /* a check failed, an invariant is broken, a regression was found */
    CCS_ERROR_USAGE = 2, /* the command line is wrong */
    CCS_ERROR_INPUT = 3, /* a file or a value in it is wrong */
    CCS_ERROR_IO = 4,    /* a file or the database cannot be read or written */
    CCS_ERROR_INTERRUPTED = 130, /* the user pressed Ctrl-C */
} CcsError;

GQuark ccs_error_quark(void);

/* ccs_did_you_mean:
 * The candidate (of a NULL-terminated list) that @word most likely stands for: the one
 * at the least edit distance, if that is small beside the length of the word.
 *
 * Returns: (transfer full): " (did you mean 'x'?)", or "" if none is near. */
char *ccs_did_you_mean(const char *word, const char *const *candidates);
