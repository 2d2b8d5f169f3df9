#include <string.h>

#include "config/config_private.h"

/* Where the decoder stands: the path of the value at hand, for the record of params. */
typedef struct {
    CcsConfig *config;
    GString *path;
    uint32_t n_lists; /* of mappings that the path passes through */
} Decoder;

/* Room for a part of a decoded struct, all zero. */
static void *allocate(Decoder *decoder, size_t n_bytes)
{
    void *memory = g_malloc0(MAX(n_bytes, 1));

    g_ptr_array_add(decoder->config->allocations, memory);
    return memory;
}

static void *at_offset(void *base, size_t offset)
{
    return (char *)base + offset;
}

/* What is known of where a value comes from. */
typedef struct {
    const char *kind;
    const char *source; /* not owned; NULL if not said */
    bool is_said;       /* by the file or an option, so that it is worth a record in a list */
} Provenance;

static void record(Decoder *decoder, const char *value_text, const Provenance *provenance)
{
    if (decoder->n_lists > 0 && !provenance->is_said)
        return;
    CcsParam *param = g_new0(CcsParam, 1);
    param->path = g_strdup(decoder->path->str);
    param->value_text = g_strdup(value_text);
    param->kind = provenance->kind;
    param->source = g_strdup(provenance->source);
    g_ptr_array_add(decoder->config->params, param);
}

/* The members of a mapping that says a value and where it comes from. */
typedef struct {
    const char *source;
    uint32_t kind;
} SourcedTexts;

static const char *const provenance_kinds[] = {"datasheet", "measured", "fitted", "guessed", NULL};

enum { SOURCE_ROW, KIND_ROW, VALUE_ROW, N_TEXTS = VALUE_ROW };

static const CcsField provenance_fields[] = {
    [SOURCE_ROW] = {.name = "source",
                    .kind = CCS_FIELD_TEXT,
                    .offset = offsetof(SourcedTexts, source)},
    [KIND_ROW] = {.name = "kind",
                  .kind = CCS_FIELD_ENUM,
                  .offset = offsetof(SourcedTexts, kind),
                  .choices = provenance_kinds},
    [VALUE_ROW] = {.name = "value", .kind = CCS_FIELD_TEXT},
};
static const CcsFieldTable provenance_table = {.size = sizeof(SourcedTexts),
                                               .fields = provenance_fields,
                                               .n_fields = G_N_ELEMENTS(provenance_fields)};

static const CcsField *known_key(Decoder *decoder, const CcsFieldTable *table, const CcsYaml *key)
{
    const CcsField *field = ccs_field_find(table, key->text);

    if (field != NULL)
        return field;
    bool is_full = ccs_config_is_full(decoder->config);
    g_autofree char *hint = is_full ? g_strdup("") : ccs_field_suggest(table, key->text);
    g_autofree char *shown = ccs_config_shown(key->text);
    ccs_config_error_on(decoder->config, key, "unknown key '%s'%s", shown, hint);
    return NULL;
}

static bool check_first(Decoder *decoder, const CcsYaml *key, const CcsYaml *earlier)
{
    if (earlier == NULL)
        return true;
    ccs_config_error_on(decoder->config, key, "repeated key '%s' (it stands on line %u already)",
                        key->text, earlier->line);
    return false;
}

/* The value of each row of @table that @mapping has; rows that share a name share the value
 * of the first. Unknown and repeated keys are errors. */
static void match_keys(Decoder *decoder, const CcsFieldTable *table, const CcsYaml *mapping,
                       const CcsYaml *ret_values[CCS_FIELDS_MAX])
{
    const CcsYaml *keys[CCS_FIELDS_MAX] = {NULL};

    g_assert(table->n_fields <= CCS_FIELDS_MAX);
    for (uint32_t i = 0; i < ccs_yaml_n_pairs(mapping); i++) {
        const CcsYaml *key = ccs_yaml_key(mapping, i);
        const CcsField *field = known_key(decoder, table, key);
        if (field == NULL)
            continue;
        size_t row = (size_t)(field - table->fields);
        if (!check_first(decoder, key, keys[row]))
            continue;
        keys[row] = key;
        ret_values[row] = ccs_yaml_value(mapping, i);
    }
}

static const char *option_of(const Decoder *decoder, const CcsYaml *yaml)
{
    const CcsConfigOverride *override = decoder->config->overrides->pdata[yaml->origin - 1];
    return override->option;
}

/* @what is the name of the value, with its index in a list. */
static void wrong_type(Decoder *decoder, const CcsField *field, uint32_t list_depth,
                       const CcsYaml *yaml, const char *what)
{
    static const char *const kinds[] = {[CCS_YAML_SCALAR] = "single value",
                                        [CCS_YAML_LIST] = "list",
                                        [CCS_YAML_MAPPING] = "mapping"};
    CcsField inner = *field;
    inner.list_depth = list_depth;
    g_autofree char *expected = ccs_field_expectation(&inner);

    if (ccs_yaml_is_null(yaml))
        ccs_config_error_on(decoder->config, yaml, "'%s' has no value: it must be %s", what,
                            expected);
    else
        ccs_config_error_on(decoder->config, yaml, "'%s' must be %s, not a %s", what, expected,
                            kinds[yaml->kind]);
}

static void decode_scalar(Decoder *decoder, const CcsField *field, const CcsYaml *yaml,
                          const char *what, void *member)
{
    if (yaml->kind != CCS_YAML_SCALAR || ccs_yaml_is_null(yaml)) {
        wrong_type(decoder, field, 0, yaml, what);
        return;
    }
    g_autofree char *problem = ccs_field_read(field, yaml->text, member, decoder->config->strings);
    if (problem != NULL)
        ccs_config_error_on(decoder->config, yaml, "'%s' %s", what, problem);
}

/* Takes the value out of {value: ..., source: ..., kind: ...}. */
static const CcsYaml *unwrap_sourced(Decoder *decoder, const CcsYaml *yaml,
                                     Provenance *ret_provenance)
{
    const CcsYaml *values[CCS_FIELDS_MAX] = {NULL};
    SourcedTexts texts = {.kind = 0};

    match_keys(decoder, &provenance_table, yaml, values);
    for (uint32_t row = 0; row < N_TEXTS; row++) {
        const CcsField *field = &provenance_fields[row];
        if (values[row] != NULL)
            decode_scalar(decoder, field, values[row], field->name,
                          at_offset(&texts, field->offset));
    }
    *ret_provenance = (Provenance){.source = texts.source, .is_said = true};
    ret_provenance->kind = values[KIND_ROW] != NULL ? provenance_kinds[texts.kind] : "given";
    return values[VALUE_ROW];
}

static const CcsYaml *unwrap(Decoder *decoder, const CcsYaml *yaml, Provenance *ret_provenance)
{
    *ret_provenance = (Provenance){.kind = "given"};
    if (ccs_config_is_sourced(yaml))
        yaml = unwrap_sourced(decoder, yaml, ret_provenance);
    if (yaml->origin != 0)
        *ret_provenance =
            (Provenance){.kind = "given", .source = option_of(decoder, yaml), .is_said = true};
    return yaml;
}

static void decode_mapping(Decoder *decoder, const CcsFieldTable *table, const CcsYaml *mapping,
                           void *base);

static void decode_item(Decoder *decoder, const CcsField *field, const CcsYaml *yaml,
                        const char *what, void *member)
{
    if (field->kind != CCS_FIELD_MAPPING) {
        decode_scalar(decoder, field, yaml, what, member);
        return;
    }
    if (yaml->kind != CCS_YAML_MAPPING)
        wrong_type(decoder, field, 0, yaml, what);
    else
        decode_mapping(decoder, field->table, yaml, member);
}

/* Decodes the list @yaml, whose items are lists themselves if @list_depth is above 1. */
static void decode_list(Decoder *decoder, const CcsField *field, const CcsYaml *yaml,
                        const char *what, uint32_t list_depth, CcsList *ret_list)
{
    if (yaml->kind != CCS_YAML_LIST) {
        wrong_type(decoder, field, list_depth, yaml, what);
        return;
    }
    size_t item_size = ccs_field_item_size(field, list_depth - 1);
    uint32_t n_items = ccs_yaml_n_items(yaml);
    char *items = allocate(decoder, item_size * n_items);
    size_t path_length = decoder->path->len;

    for (uint32_t i = 0; i < n_items; i++) {
        g_autofree char *item = g_strdup_printf("%s[%u]", what, i);
        g_string_append_printf(decoder->path, "[%u]", i);
        void *member = items + i * item_size;
        if (list_depth > 1)
            decode_list(decoder, field, ccs_yaml_item(yaml, i), item, list_depth - 1, member);
        else
            decode_item(decoder, field, ccs_yaml_item(yaml, i), item, member);
        g_string_truncate(decoder->path, path_length);
    }
    *ret_list = (CcsList){.items = items, .n_items = n_items};
}

static void decode_submapping(Decoder *decoder, const CcsField *field, const CcsYaml *yaml,
                              void *member)
{
    if (yaml->kind != CCS_YAML_MAPPING) {
        wrong_type(decoder, field, 0, yaml, field->name);
        return;
    }
    void *nested = allocate(decoder, field->table->size);
    decode_mapping(decoder, field->table, yaml, nested);
    memcpy(member, &nested, sizeof nested);
}

/* Values that are not mappings may say where they come from. */
static void decode_leaf(Decoder *decoder, const CcsField *field, const CcsYaml *yaml, void *member)
{
    uint32_t n_errors = ccs_config_n_errors(decoder->config);
    Provenance provenance;
    const CcsYaml *value = unwrap(decoder, yaml, &provenance);

    if (field->list_depth == 0)
        decode_scalar(decoder, field, value, field->name, member);
    else
        decode_list(decoder, field, value, field->name, field->list_depth, member);
    if (ccs_config_n_errors(decoder->config) != n_errors)
        return;
    g_autofree char *text = ccs_yaml_flow_text(value);
    record(decoder, g_strstrip(text), &provenance);
}

static void decode_mappings(Decoder *decoder, const CcsField *field, const CcsYaml *yaml,
                            void *member)
{
    decoder->n_lists++;
    decode_list(decoder, field, yaml, field->name, field->list_depth, member);
    decoder->n_lists--;
}

static void decode_value(Decoder *decoder, const CcsField *field, const CcsYaml *yaml, void *base)
{
    void *member = at_offset(base, field->offset);

    if (field->kind != CCS_FIELD_MAPPING)
        decode_leaf(decoder, field, yaml, member);
    else if (field->list_depth == 0)
        decode_submapping(decoder, field, yaml, member);
    else
        decode_mappings(decoder, field, yaml, member);
}

static void decode_default(Decoder *decoder, const CcsField *field, void *base)
{
    Provenance provenance = {.kind = "default"};
    g_autofree char *problem = ccs_field_read(
        field, field->default_text, at_offset(base, field->offset), decoder->config->strings);

    g_assert(problem == NULL);
    record(decoder, field->default_text, &provenance);
}

/* The choice that the key `kind` of the same mapping made, as a bit; 0 if it made none. */
static uint32_t kind_bit(const CcsFieldTable *table, const void *base)
{
    const CcsField *field = ccs_field_find(table, "kind");
    uint32_t kind;

    if (field == NULL)
        return 0;
    memcpy(&kind, (const char *)base + field->offset, sizeof kind);
    return 1U << kind;
}

static bool has_effect(const CcsFieldTable *table, const CcsField *field, const void *base)
{
    return field->only_kinds == 0 || (field->only_kinds & kind_bit(table, base)) != 0;
}

static void report_no_effect(Decoder *decoder, const CcsFieldTable *table, const CcsField *field,
                             const CcsYaml *yaml, const void *base)
{
    const CcsField *kind_field = ccs_field_find(table, "kind");
    uint32_t kind;

    memcpy(&kind, (const char *)base + kind_field->offset, sizeof kind);
    ccs_config_error_on(decoder->config, yaml, "'%s' has no effect with kind '%s'", field->name,
                        kind_field->choices[kind]);
}

static const CcsField *other_form(const CcsFieldTable *table, const CcsField *field)
{
    const CcsField *next = field + 1;
    bool has_next = next < table->fields + table->n_fields && strcmp(next->name, field->name) == 0;

    return has_next ? next : NULL;
}

/* Whether @yaml is a list, a mapping or a single value, as @field is. */
static bool has_form(const CcsField *field, const CcsYaml *yaml)
{
    if (field->list_depth > 0)
        return yaml->kind == CCS_YAML_LIST;
    if (field->kind == CCS_FIELD_MAPPING)
        return yaml->kind == CCS_YAML_MAPPING;
    return !ccs_yaml_is_null(yaml) &&
           (yaml->kind == CCS_YAML_SCALAR || ccs_config_is_sourced(yaml));
}

/* Of two rows that share a name, the one whose form @yaml has. If it has neither, that is
 * an error and the answer is NULL. */
static const CcsField *choose_form(Decoder *decoder, const CcsFieldTable *table,
                                   const CcsField *first, const CcsYaml *yaml)
{
    const CcsField *second = other_form(table, first);

    if (second == NULL || has_form(first, yaml))
        return first;
    if (has_form(second, yaml))
        return second;
    g_autofree char *one = ccs_field_expectation(first);
    g_autofree char *other = ccs_field_expectation(second);
    ccs_config_error_on(decoder->config, yaml, "'%s' must be %s, or %s", first->name, one, other);
    return NULL;
}

static void decode_field(Decoder *decoder, const CcsFieldTable *table, const CcsField *field,
                         const CcsYaml *yaml, void *base)
{
    size_t path_length = decoder->path->len;

    if (yaml != NULL && !has_effect(table, field, base)) {
        report_no_effect(decoder, table, field, yaml, base);
        return;
    }
    g_string_append_printf(decoder->path, "%s%s", path_length > 0 ? "." : "", field->name);
    const CcsField *form = yaml == NULL ? NULL : choose_form(decoder, table, field, yaml);
    if (form != NULL)
        decode_value(decoder, form, yaml, base);
    else if (yaml == NULL && field->default_text != NULL && has_effect(table, field, base))
        decode_default(decoder, field, base);
    g_string_truncate(decoder->path, path_length);
}

static void check_required(Decoder *decoder, const CcsFieldTable *table, const CcsField *field,
                           const CcsYaml *mapping, const void *base)
{
    if (!field->is_required || !has_effect(table, field, base))
        return;
    const char *where = decoder->path->len > 0 ? decoder->path->str : NULL;
    g_autofree char *expected = ccs_field_expectation(field);
    ccs_config_error_on(decoder->config, mapping, "'%s' is missing%s%s%s: it must be %s",
                        field->name, where != NULL ? " in '" : "", where != NULL ? where : "",
                        where != NULL ? "'" : "", expected);
}

static bool is_other_form(const CcsFieldTable *table, uint32_t row)
{
    return row > 0 && strcmp(table->fields[row].name, table->fields[row - 1].name) == 0;
}

static void decode_rows(Decoder *decoder, const CcsFieldTable *table, const CcsYaml *mapping,
                        const CcsYaml *const *values, void *base)
{
    const CcsField *kind = ccs_field_find(table, "kind");

    for (uint32_t row = 0; row < table->n_fields; row++) {
        const CcsField *field = &table->fields[row];
        if (field == kind || is_other_form(table, row))
            continue;
        decode_field(decoder, table, field, values[row], base);
        if (values[row] == NULL)
            check_required(decoder, table, field, mapping, base);
    }
}

/* The key `kind` comes first: it says which of the others have an effect. If it is wrong,
 * nothing can be said of them. */
static void decode_mapping(Decoder *decoder, const CcsFieldTable *table, const CcsYaml *mapping,
                           void *base)
{
    const CcsYaml *values[CCS_FIELDS_MAX] = {NULL};
    const CcsField *kind = ccs_field_find(table, "kind");

    match_keys(decoder, table, mapping, values);
    if (kind != NULL) {
        uint32_t n_errors = ccs_config_n_errors(decoder->config);
        const CcsYaml *value = values[kind - table->fields];
        decode_field(decoder, table, kind, value, base);
        if (value == NULL)
            check_required(decoder, table, kind, mapping, base);
        if (ccs_config_n_errors(decoder->config) != n_errors)
            return;
    }
    decode_rows(decoder, table, mapping, values, base);
}

void ccs_config_decode(CcsConfig *config, const CcsFieldTable *table, void *ret_struct)
{
    g_autoptr(GString) path = g_string_new(NULL);
    Decoder decoder = {.config = config, .path = path};

    memset(ret_struct, 0, table->size);
    if (config->root->kind != CCS_YAML_MAPPING)
        ccs_config_error_on(config, config->root, "the file must be a mapping (keys with values)");
    else
        decode_mapping(&decoder, table, config->root, ret_struct);
}
