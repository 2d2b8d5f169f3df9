/* yaml.h - a YAML text as a tree of values that know their place
 *
 * The text comes from anyone, so size, depth and number of values are limited before
 * memory is spent on them. Aliases are replaced by copies of what they name, and count as
 * such. Tags, directives and several documents are refused: nothing here needs them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#define CCS_YAML_MAX_BYTES  ((size_t)16 * 1024 * 1024)
#define CCS_YAML_MAX_DEPTH  64U
#define CCS_YAML_MAX_VALUES 2000000U

typedef enum {
    CCS_YAML_SCALAR,
    CCS_YAML_LIST,
    CCS_YAML_MAPPING,
} CcsYamlKind;

typedef struct CcsYaml CcsYaml;
struct CcsYaml {
    CcsYamlKind kind;
    bool is_quoted;      /* a scalar that cannot stand for "no value" */
    uint32_t line;       /* from 1; 0 if not from a text */
    uint32_t column;     /* from 1, in characters */
    uint32_t origin;     /* 0: the file; k: the k-th override of a config */
    char *text;          /* of a scalar, else NULL; owned */
    GPtrArray *children; /* owned values, NULL in a scalar; a mapping has its keys and values
                            in turn */
};

/* What is wrong with a text, and where. */
typedef struct {
    uint32_t line; /* from 1; 0 if no place can be given */
    uint32_t column;
    char *message; /* owned */
} CcsYamlProblem;

/* ccs_utf8_next: the character after that at @at; g_utf8_next_char() casts const away. */
static inline const char *ccs_utf8_next(const char *at)
{
    return at + g_utf8_skip[(unsigned char)*at];
}

/* ccs_yaml_parse:
 * Reads the one document in @text, of which @n_bytes count.
 *
 * Returns: (transfer full): its root, or NULL with @ret_problem set. */
CcsYaml *ccs_yaml_parse(const char *text, size_t n_bytes, CcsYamlProblem *ret_problem);

CcsYaml *ccs_yaml_new(CcsYamlKind kind, const char *text);
CcsYaml *ccs_yaml_copy(const CcsYaml *yaml);
void ccs_yaml_free(CcsYaml *yaml);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsYaml, ccs_yaml_free)

/* A mapping's pairs; the rest of these functions takes any kind and finds nothing in others. */
uint32_t ccs_yaml_n_pairs(const CcsYaml *yaml);
CcsYaml *ccs_yaml_key(const CcsYaml *mapping, uint32_t i);
CcsYaml *ccs_yaml_value(const CcsYaml *mapping, uint32_t i);
CcsYaml *ccs_yaml_find(const CcsYaml *yaml, const char *key); /* NULL if it has no such key */
uint32_t ccs_yaml_n_items(const CcsYaml *yaml);               /* of a list */
CcsYaml *ccs_yaml_item(const CcsYaml *list, uint32_t i);

/* ccs_yaml_put: replaces the value of @key or adds the pair; takes @value. */
void ccs_yaml_put(CcsYaml *mapping, const char *key, CcsYaml *value);

/* ccs_yaml_drop: takes the pair of @key away, if there is one. */
void ccs_yaml_drop(CcsYaml *mapping, const char *key);

/* ccs_yaml_is_null: an empty value, ~ or null. */
bool ccs_yaml_is_null(const CcsYaml *yaml);

/* ccs_yaml_n_values: how many values the tree has, keys included. */
uint32_t ccs_yaml_n_values(const CcsYaml *yaml);

/* ccs_yaml_flow_text: on one line: "[[0, 1], [2]]". Returns: (transfer full). */
char *ccs_yaml_flow_text(const CcsYaml *yaml);
