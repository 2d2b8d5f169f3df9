/* write_file.h - texts written to stdout and to files that the user names
 *
 * Files are written whole or not at all. A regular file is replaced at once by a complete one; a
 * link stays a link to it. Devices and pipes are written into. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/* ccs_file_check: whether ccs_file_write() may write @path, as far as can be told without doing
 * so; so that a long run does not end in an error that was to be seen at its beginning. A
 * database is never written over.
 *
 * Returns: false with CCS_ERROR_IO or CCS_ERROR_USAGE. */
bool ccs_file_check(const char *path, GError **error);

/* ccs_file_is_same: whether both names lead to one file, be it there already or not. */
bool ccs_file_is_same(const char *a, const char *b);

/* ccs_file_check_inputs: that what @option writes to @path is none of the files in @inputs, which
 * are read; NULL among them is skipped.
 *
 * Returns: false with CCS_ERROR_USAGE. */
bool ccs_file_check_inputs(const char *option, const char *path, const char *const *inputs,
                           uint32_t n_inputs, GError **error);

bool ccs_file_write(const char *path, const char *text, GError **error);

/* ccs_stdout_write: prints @text. Returns: false with CCS_ERROR_IO. */
bool ccs_stdout_write(const char *text, GError **error);
