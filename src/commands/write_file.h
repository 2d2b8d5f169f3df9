/* write_file.h - texts written to stdout and to files that the user names
 *
 * Files are written whole or not at all. A regular file is replaced at once by a complete one; a
 * link stays a link to it. Devices and pipes are written into. */
#pragma once

#include <stdbool.h>

#include <glib.h>

/* ccs_file_check: whether ccs_file_write() may write @path, as far as can be told without doing
 * so; so that a long run does not end in an error that was to be seen at its beginning.
 *
 * Returns: false with CCS_ERROR_IO. */
bool ccs_file_check(const char *path, GError **error);

bool ccs_file_write(const char *path, const char *text, GError **error);

/* ccs_stdout_write: prints @text. Returns: false with CCS_ERROR_IO. */
bool ccs_stdout_write(const char *text, GError **error);
