#include <string.h>

#include "config/config_private.h"

/* Gives @yaml and all in it the last override as its origin. */
static void set_origin(const CcsConfig *config, CcsYaml *yaml)
{
    yaml->origin = config->overrides->len;
    yaml->line = 0;
    yaml->column = 0;
    for (uint32_t i = 0; yaml->children != NULL && i < yaml->children->len; i++)
        set_origin(config, yaml->children->pdata[i]);
}

static CcsYaml *new_value(const CcsConfig *config, CcsYamlKind kind)
{
    CcsYaml *yaml = ccs_yaml_new(kind, "");

    set_origin(config, yaml);
    return yaml;
}

/* An error of the last override itself. */
G_GNUC_PRINTF(2, 3)
static void fail(CcsConfig *config, const char *format, ...)
{
    g_autoptr(CcsYaml) at = new_value(config, CCS_YAML_SCALAR);
    va_list args;

    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    ccs_config_error_on(config, at, "%s", message);
}

static void fail_step(CcsConfig *config, const CcsYaml *yaml, const CcsPathStep *step)
{
    if (step->key != NULL)
        fail(config, "'%s' is no key here: its owner is not a mapping", step->key);
    else if (yaml->kind == CCS_YAML_LIST)
        fail(config, "there is no item [%u]: the list has %u", step->index, ccs_yaml_n_items(yaml));
    else
        fail(config, "there is no item [%u]: its owner is not a list", step->index);
}

/* Where @step leads from @yaml; a key that is missing is added with an empty mapping. */
static CcsYaml *enter(CcsConfig *config, CcsYaml *yaml, const CcsPathStep *step)
{
    CcsYaml *next = ccs_path_step(yaml, step);

    if (next != NULL)
        return next;
    if (step->key == NULL || yaml->kind != CCS_YAML_MAPPING) {
        fail_step(config, yaml, step);
        return NULL;
    }
    next = new_value(config, CCS_YAML_MAPPING);
    ccs_yaml_put(yaml, step->key, next);
    return next;
}

/* Takes @value. */
static void replace(CcsConfig *config, CcsYaml *yaml, const CcsPathStep *step, CcsYaml *value)
{
    if (step->key != NULL && yaml->kind == CCS_YAML_MAPPING) {
        ccs_yaml_put(yaml, step->key, value);
        return;
    }
    if (step->key == NULL && step->index < ccs_yaml_n_items(yaml)) {
        ccs_yaml_free(ccs_yaml_item(yaml, step->index));
        yaml->children->pdata[step->index] = value;
        return;
    }
    fail_step(config, yaml, step);
    ccs_yaml_free(value);
}

static CcsYaml *parse_value(CcsConfig *config, const char *text)
{
    CcsYamlProblem problem = {0};
    CcsYaml *value = NULL;

    if (text[strspn(text, " \t\r\n")] == '\0') {
        fail(config, "the value is missing: write PATH=VALUE");
        return NULL;
    }
    value = ccs_yaml_parse(text, strlen(text), &problem);
    if (value == NULL)
        fail(config, "%s", problem.message);
    else
        set_origin(config, value);
    g_free(problem.message);
    return value;
}

static void add_override(CcsConfig *config, const char *option, const char *label)
{
    CcsConfigOverride *override = g_new0(CcsConfigOverride, 1);

    override->option = g_strdup(option);
    override->label = g_utf8_make_valid(label, -1);
    g_ptr_array_add(config->overrides, override);
}

static void apply(CcsConfig *config, const char *path, const char *text)
{
    g_autoptr(GArray) steps = ccs_path_parse(path);
    CcsYaml *yaml = config->root;

    if (steps == NULL) {
        fail(config, "this is no path such as node.nics.bandwidth or links[3].latency");
        return;
    }
    CcsYaml *value = parse_value(config, text);
    for (uint32_t i = 0; value != NULL && yaml != NULL && i + 1 < steps->len; i++)
        yaml = enter(config, yaml, &g_array_index(steps, CcsPathStep, i));
    if (value != NULL && yaml != NULL)
        replace(config, yaml, &g_array_index(steps, CcsPathStep, steps->len - 1), value);
    else
        ccs_yaml_free(value);
}

void ccs_config_set(CcsConfig *config, const char *option, const char *label, const char *path,
                    const char *value)
{
    add_override(config, option, label);
    apply(config, path, value);
}

void ccs_config_override(CcsConfig *config, const char *assignment)
{
    g_autofree char *label = g_strconcat("--set ", assignment, NULL);
    const char *equals = strchr(assignment, '=');

    add_override(config, "--set", label);
    if (equals == NULL) {
        fail(config, "there is no '=': write PATH=VALUE");
        return;
    }
    g_autofree char *path = g_strndup(assignment, (gsize)(equals - assignment));
    apply(config, g_strstrip(path), equals + 1);
}

/* Whether a mapping is to be merged key by key; one that says a value and its provenance
 * belongs together. */
static bool is_merged(const CcsYaml *yaml)
{
    return yaml->kind == CCS_YAML_MAPPING && !ccs_config_is_sourced(yaml);
}

/* A mapping of another `kind` than the one it would inherit from has other keys. */
static bool has_other_kind(const CcsYaml *mapping, const CcsYaml *base)
{
    const CcsYaml *kind = ccs_yaml_find(mapping, "kind");
    const CcsYaml *base_kind = ccs_yaml_find(base, "kind");

    return kind != NULL && g_strcmp0(kind->text, base_kind == NULL ? NULL : base_kind->text) != 0;
}

static void inherit(CcsYaml *mapping, const CcsYaml *base)
{
    if (has_other_kind(mapping, base))
        return;
    for (uint32_t i = 0; i < ccs_yaml_n_pairs(base); i++) {
        const CcsYaml *value = ccs_yaml_value(base, i);
        CcsYaml *own = ccs_yaml_find(mapping, ccs_yaml_key(base, i)->text);
        if (own != NULL && is_merged(own) && is_merged(value))
            inherit(own, value);
        if (own != NULL)
            continue;
        g_ptr_array_add(mapping->children, ccs_yaml_copy(ccs_yaml_key(base, i)));
        g_ptr_array_add(mapping->children, ccs_yaml_copy(value));
    }
}

static void inherit_in_list(CcsConfig *config, CcsYaml *list, const CcsYaml *base)
{
    uint64_t n_copied = (uint64_t)ccs_yaml_n_items(list) * ccs_yaml_n_values(base);

    if (config->n_values + n_copied > CCS_YAML_MAX_VALUES) {
        ccs_config_error_on(config, list, "too many values once each item has those it inherits");
        return;
    }
    config->n_values += (uint32_t)n_copied;
    for (uint32_t i = 0; i < ccs_yaml_n_items(list); i++) {
        if (ccs_yaml_item(list, i)->kind == CCS_YAML_MAPPING)
            inherit(ccs_yaml_item(list, i), base);
    }
}

void ccs_config_inherit(CcsConfig *config, const char *list, const char *base)
{
    CcsYaml *items = ccs_path_find(config->root, list, NULL);
    CcsYaml *inherited = ccs_yaml_find(config->root, base);

    if (items == NULL || items->kind != CCS_YAML_LIST || inherited == NULL ||
        inherited->kind != CCS_YAML_MAPPING)
        return;
    inherit_in_list(config, items, inherited);
    ccs_yaml_drop(config->root, base);
}

void ccs_config_truncate(CcsConfig *config, const char *option, const char *label, const char *path,
                         uint32_t n_items)
{
    CcsYaml *list = ccs_path_find(config->root, path, NULL);

    add_override(config, option, label);
    if (list == NULL || list->kind != CCS_YAML_LIST)
        fail(config, "'%s' is not a list", path);
    else if (n_items > ccs_yaml_n_items(list))
        fail(config, "'%s' lists only %u", path, ccs_yaml_n_items(list));
    else
        g_ptr_array_set_size(list->children, (int)n_items);
}
