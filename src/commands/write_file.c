#include "commands/write_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static bool fail(const char *path, const char *reason, GError **error)
{
    g_set_error(error, CCS_ERROR, CCS_ERROR_IO, "%s: error: cannot be written: %s", path, reason);
    return false;
}

/* Where the links of @path lead. Returns: (transfer full). */
static char *follow(const char *path)
{
    char *target = realpath(path, NULL);
    char *copy = g_strdup(target == NULL ? path : target);

    free(target);
    return copy;
}

/* A file can be replaced by one that is written beside it. */
static bool is_replaceable(const char *target)
{
    g_autofree char *folder = g_path_get_dirname(target);
    struct stat status;

    return access(folder, W_OK | X_OK) == 0 &&
           (stat(target, &status) != 0 || S_ISREG(status.st_mode));
}

bool ccs_file_check(const char *path, GError **error)
{
    if (*path == '\0') {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "the name of a file is empty");
        return false;
    }
    g_autofree char *target = follow(path);
    g_autofree char *folder = g_path_get_dirname(target);
    struct stat status;
    bool is_there = stat(target, &status) == 0;

    if (is_there && S_ISDIR(status.st_mode))
        return fail(path, g_strerror(EISDIR), error);
    if (is_replaceable(target) || access(is_there ? target : folder, W_OK) == 0)
        return true;
    return fail(path, g_strerror(errno), error);
}

static bool write_into(const char *path, const char *text, GError **error)
{
    FILE *file = fopen(path, "we");
    bool is_written = file != NULL && fputs(text, file) >= 0;

    if (file != NULL && fclose(file) != 0)
        is_written = false;
    return is_written || fail(path, g_strerror(errno), error);
}

bool ccs_file_write(const char *path, const char *text, GError **error)
{
    g_autofree char *target = follow(path);
    g_autoptr(GError) failure = NULL;

    if (!is_replaceable(target))
        return write_into(path, text, error);
    return g_file_set_contents(target, text, -1, &failure) || fail(path, failure->message, error);
}

bool ccs_stdout_write(const char *text, GError **error)
{
    if (fputs(text, stdout) >= 0 && fflush(stdout) == 0)
        return true;
    return fail("standard output", g_strerror(errno), error);
}
