#include "config/schema.h"

#include <string.h>

/* Writes JSON, taking care of commas and indentation. */
typedef struct {
    GString *text;
    uint32_t depth;
    bool is_first;      /* nothing stands in the innermost object or array yet */
    uint32_t n_partial; /* mappings around that may be completed by others */
} Writer;

static void write_string(Writer *writer, const char *text)
{
    g_string_append_c(writer->text, '"');
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            g_string_append_c(writer->text, '\\');
        if ((unsigned char)*c < 0x20)
            g_string_append_printf(writer->text, "\\u%04x", (unsigned)*c);
        else
            g_string_append_c(writer->text, *c);
    }
    g_string_append_c(writer->text, '"');
}

static void begin_line(Writer *writer)
{
    g_string_append_printf(writer->text, "\n%*s", (int)writer->depth * 2, "");
}

/* Starts the next member of an object, or item of an array if @name is NULL. */
static void begin_member(Writer *writer, const char *name)
{
    if (!writer->is_first)
        g_string_append_c(writer->text, ',');
    writer->is_first = false;
    if (writer->depth > 0)
        begin_line(writer);
    if (name == NULL)
        return;
    write_string(writer, name);
    g_string_append(writer->text, ": ");
}

static void open_group(Writer *writer, const char *name, char bracket)
{
    begin_member(writer, name);
    g_string_append_c(writer->text, bracket);
    writer->depth++;
    writer->is_first = true;
}

static void close_group(Writer *writer, char bracket)
{
    writer->depth--;
    if (!writer->is_first)
        begin_line(writer);
    g_string_append_c(writer->text, bracket);
    writer->is_first = false;
}

static void member_text(Writer *writer, const char *name, const char *text)
{
    begin_member(writer, name);
    write_string(writer, text);
}

/* @json is a number, true or false. */
static void member_literal(Writer *writer, const char *name, const char *json)
{
    begin_member(writer, name);
    g_string_append(writer->text, json);
}

static void member_number(Writer *writer, const char *name, double number)
{
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];

    member_literal(writer, name, g_ascii_formatd(buffer, sizeof buffer, "%.15g", number));
}

static void write_quantity(Writer *writer, CcsQuantity quantity)
{
    g_auto(GStrv) units = ccs_quantity_units(quantity);
    g_autofree char *list = g_strjoinv("|", units);
    g_autofree char *pattern = g_strdup_printf("^ *([0-9]+[.]?[0-9]*|[.][0-9]+) *(%s) *$", list);

    member_text(writer, "type", "string");
    member_text(writer, "pattern", pattern);
}

static void write_range(Writer *writer, const CcsField *field)
{
    if (field->min != 0 || field->kind == CCS_FIELD_COUNT || field->kind == CCS_FIELD_DECIMAL)
        member_number(writer, "minimum", field->min);
    if (field->max != 0)
        member_number(writer, "maximum", field->max);
    else if (field->kind == CCS_FIELD_COUNT)
        member_number(writer, "maximum", UINT32_MAX);
}

static void write_number(Writer *writer, const CcsField *field)
{
    member_text(writer, "type", field->kind == CCS_FIELD_COUNT ? "integer" : "number");
    write_range(writer, field);
}

static void write_choices(Writer *writer, const char *const *choices)
{
    open_group(writer, "enum", '[');
    for (uint32_t i = 0; choices[i] != NULL; i++)
        member_text(writer, NULL, choices[i]);
    close_group(writer, ']');
}

static void write_table(Writer *writer, const CcsFieldTable *table);

/* The members of the schema of one value. */
static void write_single(Writer *writer, const CcsField *field)
{
    switch (field->kind) {
    case CCS_FIELD_TIME:
        write_quantity(writer, CCS_QUANTITY_TIME);
        return;
    case CCS_FIELD_RATE:
        write_quantity(writer, CCS_QUANTITY_RATE);
        return;
    case CCS_FIELD_SIZE:
        write_quantity(writer, CCS_QUANTITY_SIZE);
        return;
    case CCS_FIELD_COUNT:
    case CCS_FIELD_DECIMAL:
    case CCS_FIELD_NUMBER:
        write_number(writer, field);
        return;
    case CCS_FIELD_BOOL:
        member_text(writer, "type", "boolean");
        return;
    case CCS_FIELD_TEXT:
        member_text(writer, "type", "string");
        return;
    case CCS_FIELD_NAME:
        member_text(writer, "type", "string");
        member_text(writer, "pattern", "^[A-Za-z0-9._:/+@-]{1,128}$");
        return;
    case CCS_FIELD_ENUM:
        write_choices(writer, field->choices);
        return;
    case CCS_FIELD_MAPPING:
        writer->n_partial += field->is_partial ? 1 : 0;
        write_table(writer, field->table);
        writer->n_partial -= field->is_partial ? 1 : 0;
        return;
    }
    g_assert_not_reached();
}

static void write_nested(Writer *writer, const CcsField *field, uint32_t list_depth)
{
    if (list_depth == 0) {
        write_single(writer, field);
        return;
    }
    member_text(writer, "type", "array");
    open_group(writer, "items", '{');
    write_nested(writer, field, list_depth - 1);
    close_group(writer, '}');
}

/* {value: ..., source: ..., kind: ...} */
static void write_sourced(Writer *writer, const CcsField *field)
{
    static const char *const kinds[] = {"datasheet", "measured", "fitted", "guessed", NULL};

    member_text(writer, "type", "object");
    open_group(writer, "properties", '{');
    open_group(writer, "value", '{');
    write_nested(writer, field, field->list_depth);
    close_group(writer, '}');
    open_group(writer, "source", '{');
    member_text(writer, "type", "string");
    close_group(writer, '}');
    open_group(writer, "kind", '{');
    write_choices(writer, kinds);
    close_group(writer, '}');
    close_group(writer, '}');
    open_group(writer, "required", '[');
    member_text(writer, NULL, "value");
    close_group(writer, ']');
    member_literal(writer, "additionalProperties", "false");
}

static void write_form(Writer *writer, const CcsField *field)
{
    open_group(writer, NULL, '{');
    write_nested(writer, field, field->list_depth);
    close_group(writer, '}');
    if (field->kind == CCS_FIELD_MAPPING)
        return;
    open_group(writer, NULL, '{');
    write_sourced(writer, field);
    close_group(writer, '}');
}

static void write_default(Writer *writer, const CcsField *field)
{
    bool is_literal = field->kind == CCS_FIELD_COUNT || field->kind == CCS_FIELD_DECIMAL ||
                      field->kind == CCS_FIELD_NUMBER || field->kind == CCS_FIELD_BOOL;

    if (field->default_text == NULL)
        return;
    if (is_literal)
        member_literal(writer, "default", field->default_text);
    else
        member_text(writer, "default", field->default_text);
}

/* "... (only with kind switch or mesh)" */
static char *describe(const CcsFieldTable *table, const CcsField *field)
{
    const CcsField *kind = ccs_field_find(table, "kind");
    GString *text = g_string_new(field->summary);
    const char *join = " (only with kind ";

    for (uint32_t i = 0; field->only_kinds != 0 && kind->choices[i] != NULL; i++) {
        if ((field->only_kinds & (1U << i)) == 0)
            continue;
        g_string_append_printf(text, "%s%s", join, kind->choices[i]);
        join = " or ";
    }
    if (field->only_kinds != 0)
        g_string_append_c(text, ')');
    return g_string_free(text, FALSE);
}

/* One property, whose @n_forms rows stand side by side from @first. */
static void write_property(Writer *writer, const CcsFieldTable *table, const CcsField *first,
                           uint32_t n_forms)
{
    g_autofree char *description = describe(table, first);

    open_group(writer, first->name, '{');
    member_text(writer, "description", description);
    write_default(writer, first);
    if (n_forms == 1 && first->kind == CCS_FIELD_MAPPING) {
        write_nested(writer, first, first->list_depth);
    } else {
        open_group(writer, "anyOf", '[');
        for (uint32_t i = 0; i < n_forms; i++)
            write_form(writer, &first[i]);
        close_group(writer, ']');
    }
    close_group(writer, '}');
}

static uint32_t count_forms(const CcsFieldTable *table, uint32_t row)
{
    uint32_t n = 1;

    while (row + n < table->n_fields &&
           strcmp(table->fields[row + n].name, table->fields[row].name) == 0)
        n++;
    return n;
}

static void write_required(Writer *writer, const CcsFieldTable *table)
{
    if (writer->n_partial > 0)
        return;
    open_group(writer, "required", '[');
    for (uint32_t row = 0; row < table->n_fields; row += count_forms(table, row)) {
        if (table->fields[row].is_required && table->fields[row].only_kinds == 0)
            member_text(writer, NULL, table->fields[row].name);
    }
    close_group(writer, ']');
}

static void write_table(Writer *writer, const CcsFieldTable *table)
{
    member_text(writer, "type", "object");
    member_literal(writer, "additionalProperties", "false");
    write_required(writer, table);
    open_group(writer, "properties", '{');
    for (uint32_t row = 0, n_forms; row < table->n_fields; row += n_forms) {
        n_forms = count_forms(table, row);
        write_property(writer, table, &table->fields[row], n_forms);
    }
    close_group(writer, '}');
}

char *ccs_schema_json(const CcsFieldTable *table, const char *title)
{
    Writer writer = {.text = g_string_new(NULL), .is_first = true};

    open_group(&writer, NULL, '{');
    member_text(&writer, "$schema", "https://json-schema.org/draft/2020-12/schema");
    member_text(&writer, "title", title);
    member_text(&writer, "description", table->summary);
    write_table(&writer, table);
    close_group(&writer, '}');
    g_string_append_c(writer.text, '\n');
    return g_string_free(writer.text, FALSE);
}
