/* config_private.h - what the parts of a config share: config.c, decode.c, override.c */
#pragma once

#include "config/config.h"
#include "config/yaml.h"

/* A value on the command line that replaced one of the file. */
typedef struct {
    char *option; /* "--set" */
    char *label;  /* "--set node.gpus=4" */
} CcsConfigOverride;

struct CcsConfig {
    char *label; /* what messages call the file */
    char *text;  /* valid UTF-8 */
    size_t n_bytes;
    CcsYaml *root;
    uint32_t n_values;      /* in root, to keep copies within CCS_YAML_MAX_VALUES */
    GPtrArray *overrides;   /* CcsConfigOverride; an origin of k is the one at k - 1 */
    GPtrArray *problems;    /* those to be shown */
    GHashTable *known;      /* their places and texts, so that none is shown twice */
    uint32_t n_left_out;    /* problems not to be shown */
    GPtrArray *params;      /* CcsParam */
    GStringChunk *strings;  /* of decoded structs */
    GPtrArray *allocations; /* of decoded structs */
};

/* ccs_config_error_on: adds an error at the place of @yaml. */
G_GNUC_PRINTF(3, 4)
void ccs_config_error_on(CcsConfig *config, const CcsYaml *yaml, const char *format, ...);

/* ccs_config_shown: the user's @text, cut and without control characters, to be quoted in a
 * message. Returns: (transfer full). */
char *ccs_config_shown(const char *text);

/* ccs_config_is_sourced: a mapping that says a value and its provenance. */
bool ccs_config_is_sourced(const CcsYaml *yaml);

/* A step of a path: a key, or the index of an item. */
typedef struct {
    char *key; /* NULL for an index */
    uint32_t index;
} CcsPathStep;

/* ccs_path_parse: Returns: (transfer full) (element-type CcsPathStep): NULL if it is no path. */
GArray *ccs_path_parse(const char *path);

/* ccs_path_step: what @step leads to from @yaml, or NULL. */
CcsYaml *ccs_path_step(const CcsYaml *yaml, const CcsPathStep *step);

/* ccs_path_find: the value at @path. If there is none: NULL, and the last one on the way to
 * it in @ret_nearest (which may be NULL). */
CcsYaml *ccs_path_find(CcsYaml *root, const char *path, CcsYaml **ret_nearest);
