/* field.h - tables that say which keys a YAML mapping may have and where their values go
 *
 * A table describes one plain struct: each row names a key, what it means, and the offset
 * of the member that takes its value. The same table decodes a file (config.h), and prints
 * a JSON Schema (schema.h), so the two cannot disagree.
 *
 * Members that a file does not set and that have no default stay zero or NULL. All memory
 * behind a decoded struct (strings, lists, nested structs) belongs to the CcsConfig. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "base/units.h"

typedef enum {
    CCS_FIELD_TIME,    /* CcsTime: 2.5 us */
    CCS_FIELD_RATE,    /* CcsRate: 450 GB/s, 400 Gb/s */
    CCS_FIELD_SIZE,    /* CcsBytes: 4 MiB */
    CCS_FIELD_COUNT,   /* uint32_t: a whole number */
    CCS_FIELD_DECIMAL, /* uint64_t: millionths; 1.5 is 1500000, read without floating point */
    CCS_FIELD_NUMBER,  /* double: finite */
    CCS_FIELD_BOOL,    /* bool: true or false */
    CCS_FIELD_TEXT,    /* const char *: any printable text */
    CCS_FIELD_NAME,    /* const char *: letters, digits and . _ - : / + @ */
    CCS_FIELD_ENUM,    /* uint32_t, or an enum that starts at 0: index into choices */
    CCS_FIELD_MAPPING, /* a pointer to a struct, NULL if absent; an item of a list is the struct
                          itself */
} CcsFieldKind;

#define CCS_DECIMAL_ONE ((uint64_t)1000000)

/* What a list decodes to: @n_items of the kind's C type (CcsList where lists are nested),
 * side by side. */
typedef struct {
    const void *items;
    uint32_t n_items;
} CcsList;

typedef struct CcsFieldTable CcsFieldTable;

/* One key. Two rows of one name side by side are two forms of it, one value and a list: the
 * form in the file says which one is meant. */
typedef struct {
    const char *name;
    CcsFieldKind kind;
    size_t offset;
    uint32_t list_depth; /* 0: one value; 1: a list of them; 2: a list of lists */
    bool is_required;
    const char *default_text;   /* as a file would say it; NULL: none */
    double min;                 /* of counts, decimals and numbers */
    double max;                 /* 0: as much as the type holds */
    const char *const *choices; /* of an enum, NULL-terminated */
    const CcsFieldTable *table; /* of a mapping */
    bool is_partial;            /* a mapping that ccs_config_inherit() may complete, so that a
                                   schema cannot say what it must have */
    uint32_t only_kinds;        /* if not 0: the key has an effect only if the key `kind` of the
                                   same mapping has a choice whose bit (1 << index) is set;
                                   required and default then apply in that case only */
    const char *summary;
} CcsField;

struct CcsFieldTable {
    const char *summary;
    size_t size; /* of the struct */
    const CcsField *fields;
    uint32_t n_fields; /* at most CCS_FIELDS_MAX */
};

#define CCS_FIELDS_MAX 32U

/* ccs_field_find: the first row of @name, or NULL. */
const CcsField *ccs_field_find(const CcsFieldTable *table, const char *name);

/* ccs_field_suggest: " (did you mean 'x'?)" for an unknown key. Returns: (transfer full). */
char *ccs_field_suggest(const CcsFieldTable *table, const char *name);

/* ccs_field_item_size: the size of one item of a list of @field whose items are themselves
 * lists @list_depth deep. */
size_t ccs_field_item_size(const CcsField *field, uint32_t list_depth);

/* ccs_field_read:
 * Reads @text, a single value of @field (not a mapping), into @member.
 *
 * Strings are kept in @strings.
 *
 * Returns: (transfer full): NULL if it is valid; else the predicate of a sentence: "must
 * be a time such as 2.5 us, not '1'". */
char *ccs_field_read(const CcsField *field, const char *text, void *member, GStringChunk *strings);

/* ccs_field_expectation: what a value must be: "a time such as 2.5 us", "one of switch or
 * mesh", "a list of whole numbers from 1 to 8". Returns: (transfer full). */
char *ccs_field_expectation(const CcsField *field);
