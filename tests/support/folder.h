/* folder.h - an empty folder for one test, and files in it
 *
 * The test fails when a file or folder cannot be made. */
#pragma once

#include <glib.h>

/* ccs_folder_new:
 * Makes an empty folder where the system keeps its temporary files.
 *
 * Returns: (transfer full): its path. */
char *ccs_folder_new(void);

/* ccs_folder_remove:
 * Removes the folder @path with all it holds, and frees @path, which may be NULL. */
void ccs_folder_remove(char *path);

/* The path of a temporary folder, removed when the variable goes out of scope. */
typedef char CcsFolder;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsFolder, ccs_folder_remove)

/* ccs_folder_write:
 * Writes @text to the file @name in @folder, in place of what was there.
 *
 * Returns: (transfer full): the path of the file. */
char *ccs_folder_write(const char *folder, const char *name, const char *text);

/* ccs_folder_read:
 * Returns: (transfer full): what the file @name in @folder holds; NULL if there is none. */
char *ccs_folder_read(const char *folder, const char *name);
