/* What the program prints, compared with the files *.txt beside this one.
 *
 * The first line of a file is a command line, "$ ccsim ..."; the rest is what it must print. A
 * new file is a new test. When the output is meant to change, renew all files and look at the
 * difference:
 *
 *     CCSIM_RENEW_GOLDEN=1 meson test -C build --suite golden && git diff tests/golden */
#include <string.h>

#include "tests/support/check_main.h"
#include "tests/support/folder.h"
#include "tests/support/program.h"

#define PROMPT "$ ccsim "

static GPtrArray *files; /* of paths, sorted */

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void find_files(void)
{
    g_autofree char *folder = ccs_source_path("tests/golden");
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;

    files = g_ptr_array_new_with_free_func(g_free);
    while ((name = g_dir_read_name(dir)) != NULL) {
        if (g_str_has_suffix(name, ".txt"))
            g_ptr_array_add(files, g_build_filename(folder, name, NULL));
    }
    g_ptr_array_sort(files, compare_paths);
}

/* The first line in which the texts differ, to be shown. */
static char *first_difference(const char *expected, const char *printed)
{
    g_auto(GStrv) a = g_strsplit(expected, "\n", -1);
    g_auto(GStrv) b = g_strsplit(printed, "\n", -1);
    size_t i = 0;

    while (a[i] != NULL && b[i] != NULL && strcmp(a[i], b[i]) == 0)
        i++;
    return g_strdup_printf("line %zu\nexpected: %.300s\nprinted:  %.300s", i + 2,
                           a[i] == NULL ? "(nothing)" : a[i], b[i] == NULL ? "(nothing)" : b[i]);
}

START_TEST(the_program_prints_what_the_file_says)
{
    const char *file = files->pdata[_i];
    g_autoptr(CcsFolder) folder = ccs_folder_new();
    g_autofree char *text = NULL;
    ck_assert(g_file_get_contents(file, &text, NULL, NULL));
    ck_assert_msg(g_str_has_prefix(text, PROMPT), "%s: has no command line", file);
    g_autofree char *line = g_strndup(text, strcspn(text, "\n"));
    const char *expected = text + MIN(strlen(line) + 1, strlen(text));
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, line + strlen(PROMPT));

    ck_assert_msg(run.status == 0, "%s: exit status %d: %.1000s", file, run.status, run.errors);
    if (g_getenv("CCSIM_RENEW_GOLDEN") != NULL) {
        g_autofree char *renewed = g_strconcat(line, "\n", run.output, NULL);
        ck_assert(g_file_set_contents(file, renewed, -1, NULL));
        return;
    }
    g_autofree char *difference = first_difference(expected, run.output);
    ck_assert_msg(strcmp(expected, run.output) == 0, "%s: %s", file, difference);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("output");
    TCase *tcase = tcase_create("output");

    tcase_set_timeout(tcase, 300);
    find_files();
    tcase_add_loop_test(tcase, the_program_prints_what_the_file_says, 0, (int)files->len);
    suite_add_tcase(suite, tcase);
    return suite;
}
