/* The main() of a fuzz target that is built without libFuzzer: runs it on each file of the
 * folders given, and ignores options. */
#include <stdio.h>
#include <stdlib.h>

#include <glib.h>

#include "tests/fuzz/fuzz.h"

static uint32_t replay_folder(const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GDir) folder = g_dir_open(path, 0, &error);
    uint32_t n_files = 0;

    if (folder == NULL)
        g_error("%s", error->message);
    for (const char *name = g_dir_read_name(folder); name; name = g_dir_read_name(folder)) {
        g_autofree char *file = g_build_filename(path, name, NULL);
        g_autofree char *data = NULL;
        gsize size = 0;
        if (!g_file_get_contents(file, &data, &size, &error))
            g_error("%s", error->message);
        LLVMFuzzerTestOneInput((const uint8_t *)data, size);
        n_files++;
    }
    return n_files;
}

int main(int argc, char **argv)
{
    uint32_t n_files = 0;

    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-')
            n_files += replay_folder(argv[i]);
    }
    printf("%u inputs\n", n_files);
    return n_files > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
