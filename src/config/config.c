#include "config/config.h"

#include <string.h>

#include "base/error.h"
#include "base/read_file.h"
#include "config/config_private.h"
#include "config/problem.h"

#define MAX_SHOWN 60

static void override_free(CcsConfigOverride *override)
{
    g_free(override->option);
    g_free(override->label);
    g_free(override);
}

void ccs_param_free(CcsParam *param)
{
    if (param == NULL)
        return;
    g_free(param->path);
    g_free(param->value_text);
    g_free(param->source);
    g_free(param);
}

static GPtrArray *params_new(void)
{
    return g_ptr_array_new_with_free_func((GDestroyNotify)ccs_param_free);
}

static CcsConfig *config_new(const char *label, const char *text, size_t n_bytes)
{
    CcsConfig *config = g_new0(CcsConfig, 1);

    config->label = g_strdup(label);
    config->text = g_strndup(text, n_bytes);
    config->n_bytes = n_bytes;
    config->overrides = g_ptr_array_new_with_free_func((GDestroyNotify)override_free);
    config->problems = g_ptr_array_new_with_free_func((GDestroyNotify)ccs_problem_free);
    config->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    config->params = params_new();
    config->strings = g_string_chunk_new(1024);
    config->allocations = g_ptr_array_new_with_free_func(g_free);
    return config;
}

CcsConfig *ccs_config_new(const char *label, const char *text, size_t n_bytes, GError **error)
{
    CcsYamlProblem problem = {0};
    size_t n_skipped = ccs_byte_order_mark(text, n_bytes);

    text += n_skipped;
    n_bytes -= n_skipped;
    g_autoptr(CcsYaml) root = ccs_yaml_parse(text, n_bytes, &problem);

    if (root == NULL) {
        g_autofree char *where = ccs_problem_place(label, problem.line, problem.column);
        g_autofree char *excerpt = ccs_problem_excerpt(text, n_bytes, problem.line, problem.column);
        g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT, "%s: error: %s%s", where, problem.message,
                    excerpt);
        g_free(problem.message);
        return NULL;
    }
    CcsConfig *config = config_new(label, text, n_bytes);
    config->root = g_steal_pointer(&root);
    config->n_values = ccs_yaml_n_values(config->root);
    return config;
}

void ccs_config_free(CcsConfig *config)
{
    if (config == NULL)
        return;
    g_ptr_array_unref(config->allocations);
    g_string_chunk_free(config->strings);
    g_ptr_array_unref(config->params);
    g_hash_table_unref(config->known);
    g_ptr_array_unref(config->problems);
    g_ptr_array_unref(config->overrides);
    ccs_yaml_free(config->root);
    g_free(config->text);
    g_free(config->label);
    g_free(config);
}

const char *ccs_config_label(const CcsConfig *config)
{
    return config->label;
}

bool ccs_config_has(const CcsConfig *config, const char *path)
{
    return ccs_path_find(config->root, path, NULL) != NULL;
}

const char *ccs_config_text(const CcsConfig *config, const char *path)
{
    const CcsYaml *yaml = ccs_path_find(config->root, path, NULL);

    return yaml != NULL && yaml->kind == CCS_YAML_SCALAR ? yaml->text : NULL;
}

int64_t ccs_config_list_length(const CcsConfig *config, const char *path)
{
    const CcsYaml *yaml = ccs_path_find(config->root, path, NULL);

    return yaml != NULL && yaml->kind == CCS_YAML_LIST ? (int64_t)ccs_yaml_n_items(yaml) : -1;
}

bool ccs_config_is_sourced(const CcsYaml *yaml)
{
    return ccs_yaml_find(yaml, "value") != NULL;
}

char *ccs_config_shown(const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    GString *shown = g_string_new(NULL);
    const char *c = valid;

    for (; *c != '\0' && shown->len < MAX_SHOWN; c = ccs_utf8_next(c)) {
        gunichar character = g_utf8_get_char(c);
        g_string_append_unichar(shown, g_unichar_isprint(character) ? character : '?');
    }
    if (*c != '\0')
        g_string_append(shown, "...");
    return g_string_free(shown, FALSE);
}

/* A file may have a million errors; those that are not shown are not even put into words. */
G_GNUC_PRINTF(3, 0)
static void add_problem(CcsConfig *config, const CcsYaml *yaml, const char *format, va_list args)
{
    if (ccs_config_is_full(config)) {
        config->n_left_out++;
        return;
    }
    g_autofree char *text = g_strdup_vprintf(format, args);
    char *key = g_strdup_printf("%u:%u:%u:%s", yaml->origin, yaml->line, yaml->column, text);
    if (g_hash_table_add(config->known, key))
        g_ptr_array_add(config->problems, ccs_problem_new(yaml, text));
}

void ccs_config_error_on(CcsConfig *config, const CcsYaml *yaml, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_problem(config, yaml, format, args);
    va_end(args);
}

void ccs_config_error_at(CcsConfig *config, const char *path, const char *format, ...)
{
    CcsYaml *nearest;
    va_list args;

    CcsYaml *yaml = ccs_path_find(config->root, path, &nearest);
    if (yaml != NULL && ccs_config_is_sourced(yaml))
        nearest = ccs_yaml_find(yaml, "value");
    va_start(args, format);
    add_problem(config, nearest, format, args);
    va_end(args);
}

uint32_t ccs_config_n_errors(const CcsConfig *config)
{
    return config->problems->len + config->n_left_out;
}

bool ccs_config_is_full(const CcsConfig *config)
{
    return config->problems->len >= CCS_PROBLEMS_MAX;
}

/* The place in the file, or the override, that @origin stands for. */
static char *place_of(const CcsConfig *config, uint32_t origin, uint32_t line, uint32_t column)
{
    if (origin == 0)
        return ccs_problem_place(config->label, line, column);
    const CcsConfigOverride *override = config->overrides->pdata[origin - 1];
    return ccs_config_shown(override->label);
}

char *ccs_config_place(const CcsConfig *config, const char *path)
{
    CcsYaml *nearest;

    ccs_path_find(config->root, path, &nearest);
    return place_of(config, nearest->origin, nearest->line, nearest->column);
}

static void append_problem(const CcsConfig *config, const CcsProblem *problem, GString *message)
{
    g_autofree char *where = place_of(config, problem->origin, problem->line, problem->column);
    g_autofree char *excerpt = NULL;

    if (problem->origin == 0)
        excerpt =
            ccs_problem_excerpt(config->text, config->n_bytes, problem->line, problem->column);
    g_string_append_printf(message, "%s%s: error: %s%s", message->len > 0 ? "\n" : "", where,
                           problem->text, excerpt != NULL ? excerpt : "");
}

bool ccs_config_check(const CcsConfig *config, GError **error)
{
    g_autoptr(GString) message = g_string_new(NULL);

    if (config->problems->len == 0)
        return true;
    g_ptr_array_sort(config->problems, ccs_problem_compare);
    for (uint32_t i = 0; i < config->problems->len; i++)
        append_problem(config, config->problems->pdata[i], message);
    if (config->n_left_out > 0)
        g_string_append_printf(message, "\nand %u more errors", config->n_left_out);
    g_set_error_literal(error, CCS_ERROR, CCS_ERROR_INPUT, message->str);
    return false;
}

GPtrArray *ccs_config_take_params(CcsConfig *config)
{
    GPtrArray *params = config->params;

    config->params = params_new();
    return params;
}

char *ccs_config_source(const CcsConfig *config)
{
    GString *source = g_string_new_len(config->text, (gssize)config->n_bytes);

    if (source->len > 0 && source->str[source->len - 1] != '\n')
        g_string_append_c(source, '\n');
    for (uint32_t i = 0; i < config->overrides->len; i++) {
        const CcsConfigOverride *override = config->overrides->pdata[i];
        g_autofree char *label = g_strdelimit(g_strdup(override->label), "\r\n", ' ');
        g_string_append_printf(source, "# %s\n", label);
    }
    return g_string_free(source, FALSE);
}
