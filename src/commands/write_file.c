#include "commands/write_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define MAX_LINKS 40U /* that lead to each other */

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

/* Databases begin like this (sqlite.org/fileformat.html, 1.2). */
static bool is_database(const char *target)
{
    static const char magic[16] = "SQLite format 3";
    char begin[sizeof magic] = "";
    struct stat status;
    FILE *file = stat(target, &status) == 0 && S_ISREG(status.st_mode) ? fopen(target, "re") : NULL;

    if (file == NULL)
        return false;
    size_t n_read = fread(begin, 1, sizeof begin, file);
    fclose(file);
    return n_read == sizeof begin && memcmp(begin, magic, sizeof magic) == 0;
}

/* The place where a file of this name is or would be made. Returns: (transfer full). */
static char *find_place(const char *path)
{
    g_autofree char *at = g_strdup(path);
    char *link = NULL;

    for (uint32_t i = 0; i < MAX_LINKS && (link = g_file_read_link(at, NULL)) != NULL; i++) {
        g_autofree char *target = link;
        g_autofree char *folder = g_path_get_dirname(at);
        g_free(at);
        at = g_path_is_absolute(target) ? g_strdup(target) : g_build_filename(folder, target, NULL);
    }
    g_autofree char *folder = g_path_get_dirname(at);
    g_autofree char *name = g_path_get_basename(at);
    g_autofree char *real = follow(folder);
    return g_build_filename(real, name, NULL);
}

bool ccs_file_is_same(const char *a, const char *b)
{
    struct stat of_a;
    struct stat of_b;

    if (stat(a, &of_a) == 0 && stat(b, &of_b) == 0)
        return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
    g_autofree char *place_of_a = find_place(a);
    g_autofree char *place_of_b = find_place(b);
    return strcmp(place_of_a, place_of_b) == 0;
}

bool ccs_file_check_inputs(const char *option, const char *path, const char *const *inputs,
                           uint32_t n_inputs, GError **error)
{
    struct stat status;

    for (uint32_t i = 0; i < n_inputs; i++) {
        if (inputs[i] == NULL || stat(inputs[i], &status) != 0 || !S_ISREG(status.st_mode) ||
            !ccs_file_is_same(path, inputs[i]))
            continue;
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "%s %s would write over a file that is read",
                    option, path);
        return false;
    }
    return true;
}

bool ccs_file_check(const char *path, GError **error)
{
    if (*path == '\0') {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "the name of a file is empty");
        return false;
    }
    if (is_database(path)) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "%s is a database, and nothing else is written over it", path);
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
