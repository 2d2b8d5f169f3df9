#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gio/gio.h>
#include <glib.h>

#include "base/error.h"
#include "base/read_file.h"
#include "ccs_builtin.h"
#include "config/config.h"
#include "config/yaml.h"

static char *resource_path(const char *folder, const char *name)
{
    return g_strdup_printf("/ccsim/%s/%s.yaml", folder, name);
}

/* The built-in files are registered by code that runs before main(); asking for them here
 * keeps the linker from leaving it out of a static library. */
static GBytes *find_builtin(const char *folder, const char *name)
{
    g_autofree char *path = resource_path(folder, name);

    return g_resource_lookup_data(ccs_builtin_get_resource(), path, G_RESOURCE_LOOKUP_FLAGS_NONE,
                                  NULL);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char **ccs_config_builtin_names(const char *folder)
{
    g_autofree char *path = g_strdup_printf("/ccsim/%s", folder);
    char **names = g_resource_enumerate_children(ccs_builtin_get_resource(), path,
                                                 G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);

    if (names == NULL)
        return g_new0(char *, 1);
    for (uint32_t i = 0; names[i] != NULL; i++)
        names[i][strlen(names[i]) - strlen(".yaml")] = '\0';
    qsort(names, g_strv_length(names), sizeof *names, compare_names);
    return names;
}

static bool is_bare_name(const char *text)
{
    return strchr(text, '/') == NULL && !g_str_has_suffix(text, ".yaml") &&
           !g_str_has_suffix(text, ".yml");
}

static CcsConfig *fail_io(const char *file, const char *what, GError **error)
{
    g_set_error(error, CCS_ERROR, CCS_ERROR_IO, "%s: error: %s", file, what);
    return NULL;
}

static CcsConfig *config_from_fd(const char *label, int fd, GError **error)
{
    struct stat status;

    if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode))
        return fail_io(label, "is a directory, not a file", error);
    g_autoptr(GByteArray) bytes = ccs_read_all(fd, CCS_YAML_MAX_BYTES);
    if (bytes == NULL)
        return fail_io(label, g_strerror(errno), error);
    return ccs_config_new(label, (const char *)bytes->data, bytes->len, error);
}

/* Says what to write if only the folder of a built-in file is wrong. */
static CcsConfig *fail_to_open(const char *folder, const char *file, int reason, GError **error)
{
    g_autofree char *name = g_path_get_basename(file);
    char *suffix = strrchr(name, '.');

    if (suffix != NULL && suffix != name)
        *suffix = '\0';
    g_autoptr(GBytes) builtin = find_builtin(folder, name);
    if (builtin == NULL || reason != ENOENT)
        return fail_io(file, g_strerror(reason), error);
    g_autofree char *what =
        g_strdup_printf("%s (did you mean the built-in '%s'?)", g_strerror(reason), name);
    return fail_io(file, what, error);
}

static CcsConfig *open_file(const char *folder, const char *file, GError **error)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return fail_to_open(folder, file, errno, error);
    CcsConfig *config = config_from_fd(file, fd, error);
    close(fd);
    return config;
}

static CcsConfig *fail_unknown(const char *folder, const char *name, GError **error)
{
    g_auto(GStrv) names = ccs_config_builtin_names(folder);
    g_autofree char *list = g_strjoinv(", ", names);
    g_autofree char *hint = ccs_did_you_mean(name, (const char *const *)names);

    g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT,
                "%s: error: no file and none of the built-in %s has this name%s\nbuilt in are: %s",
                name, folder, hint, list);
    return NULL;
}

CcsConfig *ccs_config_open(const char *folder, const char *file_or_name, GError **error)
{
    if (strcmp(file_or_name, "-") == 0)
        return config_from_fd(ccs_file_label(file_or_name), STDIN_FILENO, error);
    if (!is_bare_name(file_or_name))
        return open_file(folder, file_or_name, error);

    g_autoptr(GBytes) builtin = find_builtin(folder, file_or_name);
    if (builtin == NULL && g_file_test(file_or_name, G_FILE_TEST_EXISTS))
        return open_file(folder, file_or_name, error);
    if (builtin == NULL)
        return fail_unknown(folder, file_or_name, error);
    gsize n_bytes;
    const char *text = g_bytes_get_data(builtin, &n_bytes);
    g_autofree char *label = g_strdup_printf("%s/%s.yaml", folder, file_or_name);
    return ccs_config_new(label, text, n_bytes, error);
}
