#include "tests/support/folder.h"

#include <ftw.h>
#include <stdio.h>

#define MAX_OPEN_FOLDERS 16

char *ccs_folder_new(void)
{
    g_autoptr(GError) error = NULL;
    char *path = g_dir_make_tmp("ccsim-test-XXXXXX", &error);

    if (path == NULL)
        g_error("%s", error->message);
    return path;
}

static int remove_entry(const char *path, G_GNUC_UNUSED const struct stat *status,
                        G_GNUC_UNUSED int kind, G_GNUC_UNUSED struct FTW *place)
{
    return remove(path);
}

void ccs_folder_remove(char *path)
{
    if (path != NULL)
        nftw(path, remove_entry, MAX_OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    g_free(path);
}

char *ccs_folder_write(const char *folder, const char *name, const char *text)
{
    g_autoptr(GError) error = NULL;
    char *path = g_build_filename(folder, name, NULL);

    if (!g_file_set_contents(path, text, -1, &error))
        g_error("%s", error->message);
    return path;
}

char *ccs_folder_read(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    char *text = NULL;

    return g_file_get_contents(path, &text, NULL, NULL) ? text : NULL;
}
