/* rank_list.h - several numbers of ranks, as a user writes them: "1-17,24,64" */
#pragma once

#include <stdint.h>

#include <glib.h>

/* ccs_rank_list_parse:
 * Numbers and ranges with commas between them, each from 1 to @most.
 *
 * Returns: (transfer full) (element-type uint32_t): in the order of @text, each once; NULL with
 * CCS_ERROR_USAGE. */
GArray *ccs_rank_list_parse(const char *text, uint32_t most, GError **error);
