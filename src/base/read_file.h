/* read_file.h - whole files in memory, but never more than is allowed
 *
 * A user may name a device or a pipe that never ends, so reading stops at a limit. */
#pragma once

#include <stddef.h>

#include <glib.h>

/* ccs_read_all:
 * What can be read from @fd, but no more than one byte above @most. A zero byte that does not
 * count follows.
 *
 * Returns: (transfer full), or NULL with errno set. */
GByteArray *ccs_read_all(int fd, size_t most);

/* What messages call @file: its name, or what "-" stands for. */
const char *ccs_file_label(const char *file);

/* Some editors begin a UTF-8 text with a byte order mark. Returns: its length; 0 if there is
 * none. */
size_t ccs_byte_order_mark(const char *text, size_t n_bytes);

/* ccs_read_file:
 * The same for a file; "-" is stdin.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_IO, or with CCS_ERROR_INPUT if there are more
 * than @most bytes. */
GByteArray *ccs_read_file(const char *file, size_t most, GError **error);
