#include "config/yaml.h"

#include <string.h>

CcsYaml *ccs_yaml_new(CcsYamlKind kind, const char *text)
{
    CcsYaml *yaml = g_new0(CcsYaml, 1);

    yaml->kind = kind;
    if (kind == CCS_YAML_SCALAR)
        yaml->text = g_strdup(text);
    else
        yaml->children = g_ptr_array_new_with_free_func((GDestroyNotify)ccs_yaml_free);
    return yaml;
}

CcsYaml *ccs_yaml_copy(const CcsYaml *yaml)
{
    CcsYaml *copy = ccs_yaml_new(yaml->kind, yaml->text);

    copy->is_quoted = yaml->is_quoted;
    copy->line = yaml->line;
    copy->column = yaml->column;
    copy->origin = yaml->origin;
    for (uint32_t i = 0; yaml->children != NULL && i < yaml->children->len; i++)
        g_ptr_array_add(copy->children, ccs_yaml_copy(yaml->children->pdata[i]));
    return copy;
}

void ccs_yaml_free(CcsYaml *yaml)
{
    if (yaml == NULL)
        return;
    g_clear_pointer(&yaml->children, g_ptr_array_unref);
    g_free(yaml->text);
    g_free(yaml);
}

uint32_t ccs_yaml_n_pairs(const CcsYaml *yaml)
{
    return yaml->kind == CCS_YAML_MAPPING ? yaml->children->len / 2 : 0;
}

CcsYaml *ccs_yaml_key(const CcsYaml *mapping, uint32_t i)
{
    return mapping->children->pdata[2 * i];
}

CcsYaml *ccs_yaml_value(const CcsYaml *mapping, uint32_t i)
{
    return mapping->children->pdata[2 * i + 1];
}

CcsYaml *ccs_yaml_find(const CcsYaml *yaml, const char *key)
{
    for (uint32_t i = 0; i < ccs_yaml_n_pairs(yaml); i++) {
        if (g_strcmp0(ccs_yaml_key(yaml, i)->text, key) == 0)
            return ccs_yaml_value(yaml, i);
    }
    return NULL;
}

uint32_t ccs_yaml_n_items(const CcsYaml *yaml)
{
    return yaml->kind == CCS_YAML_LIST ? yaml->children->len : 0;
}

CcsYaml *ccs_yaml_item(const CcsYaml *list, uint32_t i)
{
    return list->children->pdata[i];
}

void ccs_yaml_put(CcsYaml *mapping, const char *key, CcsYaml *value)
{
    for (uint32_t i = 0; i < ccs_yaml_n_pairs(mapping); i++) {
        if (g_strcmp0(ccs_yaml_key(mapping, i)->text, key) != 0)
            continue;
        ccs_yaml_free(ccs_yaml_value(mapping, i));
        mapping->children->pdata[2 * i + 1] = value;
        return;
    }
    CcsYaml *new_key = ccs_yaml_new(CCS_YAML_SCALAR, key);
    new_key->line = value->line;
    new_key->column = value->column;
    new_key->origin = value->origin;
    g_ptr_array_add(mapping->children, new_key);
    g_ptr_array_add(mapping->children, value);
}

void ccs_yaml_drop(CcsYaml *mapping, const char *key)
{
    for (uint32_t i = 0; i < ccs_yaml_n_pairs(mapping); i++) {
        if (g_strcmp0(ccs_yaml_key(mapping, i)->text, key) == 0) {
            g_ptr_array_remove_range(mapping->children, 2 * i, 2);
            return;
        }
    }
}

bool ccs_yaml_is_null(const CcsYaml *yaml)
{
    static const char *const names[] = {"", "~", "null", "Null", "NULL", NULL};

    return yaml->kind == CCS_YAML_SCALAR && !yaml->is_quoted && g_strv_contains(names, yaml->text);
}

uint32_t ccs_yaml_n_values(const CcsYaml *yaml)
{
    uint32_t n = 1;

    for (uint32_t i = 0; yaml->children != NULL && i < yaml->children->len; i++)
        n += ccs_yaml_n_values(yaml->children->pdata[i]);
    return n;
}

static void append_flow_text(GString *text, const CcsYaml *yaml)
{
    if (yaml->kind == CCS_YAML_SCALAR) {
        g_string_append(text, yaml->text);
        return;
    }
    bool is_list = yaml->kind == CCS_YAML_LIST;
    g_string_append_c(text, is_list ? '[' : '{');
    for (uint32_t i = 0; i < yaml->children->len; i++) {
        if (i > 0)
            g_string_append(text, is_list || i % 2 == 0 ? ", " : ": ");
        append_flow_text(text, yaml->children->pdata[i]);
    }
    g_string_append_c(text, is_list ? ']' : '}');
}

char *ccs_yaml_flow_text(const CcsYaml *yaml)
{
    GString *text = g_string_new(NULL);

    append_flow_text(text, yaml);
    return g_string_free(text, FALSE);
}
