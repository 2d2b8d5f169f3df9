/* config.h - a YAML file that is being read: its values, overrides, errors and provenance
 *
 * The order of use: open it, apply overrides, decode it by a table of fields, check what the
 * table cannot say, and ask ccs_config_check() whether all was well. Errors are collected
 * on the way, so that a user sees up to 20 of them at once, each with its place, the line
 * and a caret:
 *
 *     link.yaml:2:8: error: 'latency' must be a time such as 2.5 us, not '1'
 *      link: {latency: 1}
 *                      ^
 *
 * A path names a value: "node.nics.bandwidth", "links[3].from". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "config/field.h"

typedef struct CcsConfig CcsConfig;

/* A value that was decoded, and where it comes from. */
typedef struct {
    char *path;       /* "node.nvlink.bandwidth" */
    char *value_text; /* as written: "300 GB/s", "[[0], [1]]" */
    const char *kind; /* as the file says ("datasheet", "measured", "fitted", "guessed");
                         "default" if no one said anything; "given" for a plain value in the
                         file or in an option. Static */
    char *source;     /* as the file says; "--set" or the like for an option; NULL if not said */
} CcsParam;

void ccs_param_free(CcsParam *param);

/* ccs_config_open:
 * Reads @file_or_name: a path, "-" for standard input, or the bare name of a file that is
 * built in under @folder ("topologies", "configs"), such as "dgx-h100". A word without '/'
 * and without .yaml or .yml at its end is such a name, unless only a file has it.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_IO if there is no such file or it cannot
 * be read, with CCS_ERROR_INPUT if the name is unknown or the text is not YAML. */
CcsConfig *ccs_config_open(const char *folder, const char *file_or_name, GError **error);

/* ccs_config_new:
 * The same for @n_bytes of text in memory, which messages call @label. */
CcsConfig *ccs_config_new(const char *label, const char *text, size_t n_bytes, GError **error);
void ccs_config_free(CcsConfig *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsConfig, ccs_config_free)

/* ccs_config_label: what messages call the file. */
const char *ccs_config_label(const CcsConfig *config);

/* ccs_config_builtin_names: the names of the files built in under @folder, sorted.
 * Returns: (transfer full). */
char **ccs_config_builtin_names(const char *folder);

/* ccs_config_override:
 * Applies "PATH=VALUE", the argument of --set, where VALUE is YAML. Mappings that the path
 * passes through are made where they are missing; items of lists are not. Later ones win. */
void ccs_config_override(CcsConfig *config, const char *assignment);

/* ccs_config_set:
 * The same for an option of its own, which messages and the record of params call @option
 * ("--nodes") and @label ("--nodes 4"). */
void ccs_config_set(CcsConfig *config, const char *option, const char *label, const char *path,
                    const char *value);

/* ccs_config_inherit:
 * Where @list is a list, gives each mapping in it what the mapping @base has and it has not,
 * nested mappings included, and takes @base away. A mapping whose key `kind` says something
 * else than that of the base inherits nothing. */
void ccs_config_inherit(CcsConfig *config, const char *list, const char *base);

/* ccs_config_truncate:
 * Shortens the list at @path to @n_items, on behalf of an option as in ccs_config_set(). It
 * is an error if the list has fewer. */
void ccs_config_truncate(CcsConfig *config, const char *option, const char *label, const char *path,
                         uint32_t n_items);

bool ccs_config_has(const CcsConfig *config, const char *path);

/* ccs_config_text: the plain value at @path, as written; NULL if there is none. It lives as long as
 * @config. */
const char *ccs_config_text(const CcsConfig *config, const char *path);

/* ccs_config_list_length: -1 if there is no list at @path. */
int64_t ccs_config_list_length(const CcsConfig *config, const char *path);

/* ccs_config_decode:
 * Fills @ret_struct (of the table's size) from the whole file. What it points to lives as
 * long as @config. After an error its members are of no use, but valid. */
void ccs_config_decode(CcsConfig *config, const CcsFieldTable *table, void *ret_struct);

/* ccs_config_place: where the value at @path, or the nearest part of it that exists, stands:
 * "link.yaml:2:8", or the option that gave it. Returns: (transfer full). */
char *ccs_config_place(const CcsConfig *config, const char *path);

/* ccs_config_error_at:
 * Adds an error at the place of @path, or of the nearest part of it that exists. */
G_GNUC_PRINTF(3, 4)
void ccs_config_error_at(CcsConfig *config, const char *path, const char *format, ...);

uint32_t ccs_config_n_errors(const CcsConfig *config);

/* ccs_config_is_full: so many errors are known that no more will be shown. */
bool ccs_config_is_full(const CcsConfig *config);

/* ccs_config_check:
 * Returns: true if there was no error; else false with CCS_ERROR_INPUT, whose message has
 * all of them. */
bool ccs_config_check(const CcsConfig *config, GError **error);

/* ccs_config_take_params:
 * The values decoded so far, in the order of the tables. Values inside lists of mappings
 * are there only if they say where they come from: the file has the others.
 *
 * Returns: (transfer full) (element-type CcsParam). */
GPtrArray *ccs_config_take_params(CcsConfig *config);

/* ccs_config_source: the text of the file and, as comments, the overrides. Returns:
 * (transfer full). */
char *ccs_config_source(const CcsConfig *config);
