#include "config/config_private.h"

#include <string.h>

#define MAX_INDEX_DIGITS 9

static void step_clear(void *step)
{
    g_free(((CcsPathStep *)step)->key);
}

/* Reads "[12]"; returns what follows it, or NULL. */
static const char *scan_index(const char *text, CcsPathStep *ret_step)
{
    size_t n_digits = strspn(text + 1, "0123456789");

    if (n_digits == 0 || n_digits > MAX_INDEX_DIGITS || text[1 + n_digits] != ']')
        return NULL;
    ret_step->key = NULL;
    ret_step->index = (uint32_t)g_ascii_strtoull(text + 1, NULL, 10);
    return text + n_digits + 2;
}

/* Reads a key and the dot before it; returns what follows it, or NULL. */
static const char *scan_key(const char *text, bool is_first, CcsPathStep *ret_step)
{
    if (!is_first && *text++ != '.')
        return NULL;
    size_t length = strcspn(text, ".[]");
    if (length == 0)
        return NULL;
    ret_step->key = g_strndup(text, length);
    return text + length;
}

GArray *ccs_path_parse(const char *path)
{
    g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(CcsPathStep));
    const char *rest = path;

    g_array_set_clear_func(steps, step_clear);
    while (rest != NULL && *rest != '\0' && steps->len < CCS_YAML_MAX_DEPTH) {
        CcsPathStep step = {0};
        bool is_index = *rest == '[' && steps->len > 0;
        rest = is_index ? scan_index(rest, &step) : scan_key(rest, steps->len == 0, &step);
        if (rest != NULL)
            g_array_append_val(steps, step);
    }
    if (steps->len == 0 || rest == NULL || *rest != '\0')
        return NULL;
    return g_steal_pointer(&steps);
}

CcsYaml *ccs_path_step(const CcsYaml *yaml, const CcsPathStep *step)
{
    if (step->key != NULL)
        return ccs_yaml_find(yaml, step->key);
    return step->index < ccs_yaml_n_items(yaml) ? ccs_yaml_item(yaml, step->index) : NULL;
}

CcsYaml *ccs_path_find(CcsYaml *root, const char *path, CcsYaml **ret_nearest)
{
    g_autoptr(GArray) steps = ccs_path_parse(path);
    CcsYaml *yaml = root;
    CcsYaml *nearest = root;

    for (uint32_t i = 0; steps != NULL && i < steps->len && yaml != NULL; i++) {
        nearest = yaml;
        yaml = ccs_path_step(yaml, &g_array_index(steps, CcsPathStep, i));
    }
    if (ret_nearest != NULL)
        *ret_nearest = yaml != NULL ? yaml : nearest;
    return steps != NULL ? yaml : NULL;
}
