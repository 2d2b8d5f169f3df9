#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <glib.h>

#include "tests/fuzz/fuzz.h"

static bool replay_file(const char *file)
{
    g_autofree char *bytes = NULL;
    gsize n_bytes;
    g_autoptr(GError) error = NULL;

    if (!g_file_get_contents(file, &bytes, &n_bytes, &error)) {
        fprintf(stderr, "%s\n", error->message);
        return false;
    }
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, n_bytes);
    return true;
}

/* Replays every file of a folder; returns how many, 0 after a failure. */
static uint32_t replay_folder(const char *folder)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GDir) dir = g_dir_open(folder, 0, &error);
    uint32_t n_files = 0;

    if (dir == NULL) {
        fprintf(stderr, "%s\n", error->message);
        return 0;
    }
    for (const char *name = g_dir_read_name(dir); name != NULL; name = g_dir_read_name(dir)) {
        g_autofree char *file = g_build_filename(folder, name, NULL);
        if (!replay_file(file))
            return 0;
        n_files++;
    }
    return n_files;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        uint32_t n_files = replay_folder(argv[i]);
        if (n_files == 0)
            return EXIT_FAILURE;
        printf("%s: %u files\n", argv[i], n_files);
    }
    return argc > 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
