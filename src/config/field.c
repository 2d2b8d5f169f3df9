#include "config/field.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "config/config_private.h"

#define MAX_NAME_LENGTH 128U

const CcsField *ccs_field_find(const CcsFieldTable *table, const char *name)
{
    for (uint32_t i = 0; i < table->n_fields; i++) {
        if (strcmp(table->fields[i].name, name) == 0)
            return &table->fields[i];
    }
    return NULL;
}

char *ccs_field_suggest(const CcsFieldTable *table, const char *name)
{
    const char *names[CCS_FIELDS_MAX + 1] = {NULL};

    for (uint32_t i = 0; i < table->n_fields; i++)
        names[i] = table->fields[i].name;
    return ccs_did_you_mean(name, names);
}

size_t ccs_field_item_size(const CcsField *field, uint32_t list_depth)
{
    if (list_depth > 0)
        return sizeof(CcsList);
    switch (field->kind) {
    case CCS_FIELD_TIME:
        return sizeof(CcsTime);
    case CCS_FIELD_RATE:
    case CCS_FIELD_SIZE:
    case CCS_FIELD_DECIMAL:
        return sizeof(uint64_t);
    case CCS_FIELD_COUNT:
    case CCS_FIELD_ENUM:
        return sizeof(uint32_t);
    case CCS_FIELD_NUMBER:
        return sizeof(double);
    case CCS_FIELD_BOOL:
        return sizeof(bool);
    case CCS_FIELD_TEXT:
    case CCS_FIELD_NAME:
        return sizeof(char *);
    case CCS_FIELD_MAPPING:
        return field->table->size;
    }
    g_assert_not_reached();
}

/* "", " from 1", " up to 8", " from 1 to 8". */
static char *range_text(const CcsField *field)
{
    if (field->max == 0)
        return field->min == 0 ? g_strdup("") : g_strdup_printf(" from %.10g", field->min);
    if (field->kind == CCS_FIELD_NUMBER && field->min == 0)
        return g_strdup_printf(" up to %.10g", field->max);
    return g_strdup_printf(" from %.10g to %.10g", field->min, field->max);
}

static char *choices_text(const char *const *choices)
{
    GString *text = g_string_new(NULL);

    for (uint32_t i = 0; choices[i] != NULL; i++) {
        const char *join = i == 0 ? "" : choices[i + 1] == NULL ? " or " : ", ";
        g_string_append_printf(text, "%s%s", join, choices[i]);
    }
    return g_string_free(text, FALSE);
}

static char *single_expectation(const CcsField *field, bool is_plural)
{
    g_autofree char *range = range_text(field);

    switch (field->kind) {
    case CCS_FIELD_TIME:
        return g_strdup(is_plural ? "times such as 2.5 us" : "a time such as 2.5 us");
    case CCS_FIELD_RATE:
        return g_strdup(is_plural ? "bandwidths such as 450 GB/s or 400 Gb/s"
                                  : "a bandwidth such as 450 GB/s or 400 Gb/s");
    case CCS_FIELD_SIZE:
        return g_strdup(is_plural ? "sizes such as 4 MiB" : "a size such as 4 MiB");
    case CCS_FIELD_COUNT:
        return g_strconcat(is_plural ? "whole numbers" : "a whole number", range, NULL);
    case CCS_FIELD_DECIMAL:
    case CCS_FIELD_NUMBER:
        return g_strconcat(is_plural ? "numbers" : "a number", range, NULL);
    case CCS_FIELD_BOOL:
        return g_strdup("true or false");
    case CCS_FIELD_TEXT:
        return g_strdup(is_plural ? "texts" : "a text");
    case CCS_FIELD_NAME:
        return g_strdup(is_plural ? "names" : "a name");
    case CCS_FIELD_ENUM:
        return choices_text(field->choices);
    case CCS_FIELD_MAPPING:
        return g_strdup(is_plural ? "mappings" : "a mapping (keys with values)");
    }
    g_assert_not_reached();
}

char *ccs_field_expectation(const CcsField *field)
{
    g_autofree char *item = single_expectation(field, field->list_depth > 0);

    if (field->list_depth == 0)
        return g_steal_pointer(&item);
    return g_strconcat(field->list_depth == 1 ? "a list of " : "a list of lists of ", item, NULL);
}

static char *refuse(const CcsField *field, const char *text, const char *hint)
{
    g_autofree char *expected = single_expectation(field, false);
    g_autofree char *shown = ccs_config_shown(text);

    return g_strdup_printf("must be %s, not '%s'%s", expected, shown, hint);
}

static char *read_quantity(CcsQuantity quantity, const char *text, uint64_t *member)
{
    g_autoptr(GError) error = NULL;

    if (ccs_quantity_parse(quantity, text, member, &error))
        return NULL;
    return g_strdup(error->message);
}

static char *read_time(const char *text, CcsTime *member)
{
    uint64_t picoseconds = 0;
    char *problem = read_quantity(CCS_QUANTITY_TIME, text, &picoseconds);

    if (problem == NULL)
        *member = (CcsTime)picoseconds; /* the parser allows much less than an int64 holds */
    return problem;
}

static bool is_in_range(const CcsField *field, double value)
{
    if (field->kind == CCS_FIELD_NUMBER && field->min == 0 && field->max == 0)
        return true;
    return value >= field->min && (field->max == 0 || value <= field->max);
}

static char *read_count(const CcsField *field, const char *text, uint32_t *member)
{
    size_t n_digits = strspn(text, "0123456789");
    uint64_t value = 0;

    if (n_digits == 0 || text[n_digits] != '\0')
        return refuse(field, text, "");
    if (n_digits <= 18)
        value = g_ascii_strtoull(text, NULL, 10);
    if (n_digits > 18 || value > UINT32_MAX || !is_in_range(field, (double)value))
        return refuse(field, text, "");
    *member = (uint32_t)value;
    return NULL;
}

static char *read_decimal(const CcsField *field, const char *text, uint64_t *member)
{
    size_t n_whole = strspn(text, "0123456789");
    bool has_point = text[n_whole] == '.';
    const char *decimals = text + n_whole + (has_point ? 1 : 0);
    size_t n_decimals = strspn(decimals, "0123456789");

    if (n_whole + n_decimals == 0 || decimals[n_decimals] != '\0' || n_whole > 9)
        return refuse(field, text, "");
    if (n_decimals > 6)
        return refuse(field, text, " (at most 6 decimals)");
    uint64_t value = n_whole > 0 ? g_ascii_strtoull(text, NULL, 10) * CCS_DECIMAL_ONE : 0;
    uint64_t unit = CCS_DECIMAL_ONE;
    for (size_t i = 0; i < n_decimals; i++) {
        unit /= 10;
        value += (uint64_t)(decimals[i] - '0') * unit;
    }
    if (!is_in_range(field, (double)value / (double)CCS_DECIMAL_ONE))
        return refuse(field, text, "");
    *member = value;
    return NULL;
}

static char *read_number(const CcsField *field, const char *text, double *member)
{
    char *end;

    if (text[strspn(text, "+-.0123456789eE")] != '\0')
        return refuse(field, text, "");
    errno = 0;
    double value = g_ascii_strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value) || (errno != 0 && value != 0))
        return refuse(field, text, "");
    if (!is_in_range(field, value))
        return refuse(field, text, "");
    *member = value;
    return NULL;
}

static char *read_bool(const CcsField *field, const char *text, bool *member)
{
    bool is_true = strcmp(text, "true") == 0;

    if (!is_true && strcmp(text, "false") != 0)
        return refuse(field, text, "");
    *member = is_true;
    return NULL;
}

static char *read_enum(const CcsField *field, const char *text, uint32_t *member)
{
    for (uint32_t i = 0; field->choices[i] != NULL; i++) {
        if (strcmp(field->choices[i], text) == 0) {
            *member = i;
            return NULL;
        }
    }
    g_autofree char *hint = ccs_did_you_mean(text, field->choices);
    return refuse(field, text, hint);
}

static char *read_text(const char *text, const char **member, GStringChunk *strings)
{
    for (const char *c = text; *c != '\0'; c = ccs_utf8_next(c)) {
        gunichar character = g_utf8_get_char(c);
        if (!g_unichar_isprint(character) && *c != '\n' && *c != '\t')
            return g_strdup("must be text that can be printed");
    }
    *member = g_string_chunk_insert(strings, text);
    return NULL;
}

static char *read_name(const CcsField *field, const char *text, const char **member,
                       GStringChunk *strings)
{
    static const char valid[] = G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "._-:/+@";

    if (*text == '\0' || text[strspn(text, valid)] != '\0')
        return refuse(field, text, " (letters, digits and . _ - : / + @ make a name)");
    if (strlen(text) > MAX_NAME_LENGTH)
        return refuse(field, text, " (it is too long)");
    *member = g_string_chunk_insert(strings, text);
    return NULL;
}

char *ccs_field_read(const CcsField *field, const char *text, void *member, GStringChunk *strings)
{
    switch (field->kind) {
    case CCS_FIELD_TIME:
        return read_time(text, member);
    case CCS_FIELD_RATE:
        return read_quantity(CCS_QUANTITY_RATE, text, member);
    case CCS_FIELD_SIZE:
        return read_quantity(CCS_QUANTITY_SIZE, text, member);
    case CCS_FIELD_COUNT:
        return read_count(field, text, member);
    case CCS_FIELD_DECIMAL:
        return read_decimal(field, text, member);
    case CCS_FIELD_NUMBER:
        return read_number(field, text, member);
    case CCS_FIELD_BOOL:
        return read_bool(field, text, member);
    case CCS_FIELD_TEXT:
        return read_text(text, member, strings);
    case CCS_FIELD_NAME:
        return read_name(field, text, member, strings);
    case CCS_FIELD_ENUM:
        return read_enum(field, text, member);
    case CCS_FIELD_MAPPING:
        return refuse(field, text, "");
    }
    g_assert_not_reached();
}
