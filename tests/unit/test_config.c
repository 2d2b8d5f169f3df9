#include "config/config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "tests/support/check_main.h"

/* What is wrong with a text as a whole, before any table of fields is asked. */
typedef struct {
    const char *text;
    const char *part; /* of the message */
} Refusal;

static const Refusal refusals[] = {
    {"", "f.yaml: error: is empty"},
    {"# only a comment\n", "f.yaml: error: is empty"},
    {"a: 1\n---\nb: 2\n", "f.yaml:2:1: error: a second document"},
    {"a: [1, 2\nb: 3\n", "f.yaml:2:"},
    {"a: 1\n\tb: 2\n", "f.yaml:2:1: error: a tab"},
    {"a: \xff\n", "f.yaml:1:4: error: a byte that is not valid UTF-8"},
    {"a: \x01\n", "f.yaml:1:4: error: not valid YAML: control characters"},
    {"a: \"x\\0y\"\n", "f.yaml:1:4: error: a NUL character"},
    {"%YAML 1.1\n---\na: 1\n", "f.yaml:1:1: error: a line may not start with '%'"},
    {"a: !!binary aGk=\n", "f.yaml:1:4: error: tags have no use here"},
    {"a: *b\n", "f.yaml:1:4: error: not valid YAML: found undefined alias"},
    {"a: &x [*x]\n", "f.yaml:1:4: error: an alias stands inside what it names"},
    {"[a]: 1\n", "f.yaml:1:1: error: a key must be a word"},
};

START_TEST(a_text_that_is_not_one_yaml_document_is_refused)
{
    const Refusal *refusal = &refusals[_i];
    g_autoptr(GError) error = NULL;

    CcsConfig *config = ccs_config_new("f.yaml", refusal->text, strlen(refusal->text), &error);
    ck_assert_ptr_null(config);
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    ck_assert_msg(strstr(error->message, refusal->part) != NULL, "%s", error->message);
}
END_TEST

static char *message_for(const char *text, size_t n_bytes)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsConfig) config = ccs_config_new("f.yaml", text, n_bytes, &error);

    ck_assert_ptr_null(config);
    return g_strdup(error->message);
}

START_TEST(a_byte_order_mark_is_skipped)
{
    const char *text = "\xef\xbb\xbf"
                       "a: *b\n";
    g_autofree char *message = message_for(text, strlen(text));

    ck_assert_msg(g_str_has_prefix(message, "f.yaml:1:4: error: not valid YAML"), "%s", message);
    ck_assert_msg(strstr(message, "\n a: *b\n") != NULL, "%s", message);
}
END_TEST

START_TEST(a_nul_byte_is_refused_at_its_place)
{
    g_autofree char *message = message_for("a: 1\nb\0: 2\n", 11);

    ck_assert_msg(g_str_has_prefix(message, "f.yaml:2:2: error: a NUL byte"), "%s", message);
}
END_TEST

START_TEST(a_text_above_the_size_limit_is_refused)
{
    size_t n_bytes = (size_t)16 * 1024 * 1024 + 1;
    g_autofree char *text = g_malloc(n_bytes);

    memset(text, '#', n_bytes);
    g_autofree char *message = message_for(text, n_bytes);
    ck_assert_str_eq(message, "f.yaml: error: is larger than 16 MiB");
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
    g_autofree char *text = g_strnfill(100000, '[');

    g_autofree char *message = message_for(text, 100000);
    ck_assert_msg(strstr(message, ":1:65: error: values are nested too deeply") != NULL, "%s",
                  message);
}
END_TEST

START_TEST(aliases_that_stand_for_too_much_are_refused)
{
    g_autoptr(GString) text = g_string_new("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");

    for (int i = 1; i < 9; i++) {
        g_string_append_printf(text, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++)
            g_string_append_printf(text, "*a%d,", i - 1);
        g_string_append(text, "]\n");
    }
    g_autofree char *message = message_for(text->str, text->len);
    ck_assert_msg(strstr(message, "too many values once aliases are replaced") != NULL, "%s",
                  message);
}
END_TEST

START_TEST(a_long_line_is_cut_around_the_place)
{
    g_autoptr(GString) text = g_string_new("a: ");

    for (int i = 0; i < 200; i++)
        g_string_append(text, "word ");
    g_string_append(text, ": ]\n");
    g_autofree char *message = message_for(text->str, text->len);
    g_auto(GStrv) lines = g_strsplit(message, "\n", -1);
    ck_assert_uint_eq(g_strv_length(lines), 3);
    ck_assert_uint_lt(strlen(lines[1]), 110);
    ck_assert_msg(g_str_has_prefix(lines[1], " ..."), "%s", message);
    ck_assert_uint_lt(strlen(lines[2]), strlen(lines[1]) + 2);
}
END_TEST

static char *folder;

static void make_folder(void)
{
    folder = g_dir_make_tmp("ccsim-config-XXXXXX", NULL);
    ck_assert_ptr_nonnull(folder);
}

static void remove_folder(void)
{
    g_autofree char *file = g_build_filename(folder, "f.yaml", NULL);

    g_remove(file);
    g_rmdir(folder);
    g_clear_pointer(&folder, g_free);
}

START_TEST(a_file_is_opened_by_its_path)
{
    g_autofree char *file = g_build_filename(folder, "f.yaml", NULL);
    ck_assert(g_file_set_contents(file, "a: {b: [1, 2]}\n", -1, NULL));

    g_autoptr(GError) error = NULL;
    g_autoptr(CcsConfig) config = ccs_config_open("topologies", file, &error);
    ck_assert_msg(config != NULL, "%s", error ? error->message : "");
    ck_assert(ccs_config_has(config, "a.b[1]"));
    ck_assert(!ccs_config_has(config, "a.b[2]"));
    ck_assert_int_eq(ccs_config_list_length(config, "a.b"), 2);
    ck_assert_int_eq(ccs_config_list_length(config, "a"), -1);
}
END_TEST

START_TEST(a_missing_file_is_an_io_error)
{
    g_autofree char *file = g_build_filename(folder, "none.yaml", NULL);
    g_autoptr(GError) error = NULL;

    ck_assert_ptr_null(ccs_config_open("topologies", file, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_IO));
    ck_assert_msg(strstr(error->message, "none.yaml: error: No such file") != NULL, "%s",
                  error->message);
}
END_TEST

START_TEST(a_built_in_file_sought_in_a_wrong_folder_is_suggested)
{
    g_autofree char *file = g_build_filename(folder, "nvlink8.yaml", NULL);
    g_autoptr(GError) error = NULL;

    ck_assert_ptr_null(ccs_config_open("topologies", file, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_IO));
    ck_assert_msg(strstr(error->message, "did you mean the built-in 'nvlink8'?") != NULL, "%s",
                  error->message);
}
END_TEST

START_TEST(a_directory_is_an_io_error)
{
    g_autoptr(GError) error = NULL;

    ck_assert_ptr_null(ccs_config_open("topologies", folder, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_IO));
    ck_assert_msg(strstr(error->message, "is a directory") != NULL, "%s", error->message);
}
END_TEST

START_TEST(a_built_in_file_is_opened_by_its_bare_name)
{
    g_autoptr(CcsConfig) config = ccs_config_open("topologies", "nvlink8", NULL);

    ck_assert_ptr_nonnull(config);
    ck_assert(ccs_config_has(config, "node.nvlink"));
}
END_TEST

START_TEST(an_unknown_name_lists_the_known_ones)
{
    g_autoptr(GError) error = NULL;

    ck_assert_ptr_null(ccs_config_open("topologies", "nvlink9", &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    ck_assert_msg(strstr(error->message, "(did you mean 'nvlink8'?)") != NULL, "%s",
                  error->message);
    ck_assert_msg(strstr(error->message, "built in are:") != NULL, "%s", error->message);
}
END_TEST

START_TEST(the_source_has_the_text_and_the_overrides)
{
    g_autoptr(CcsConfig) config = ccs_config_new("f.yaml", "a: 1", 4, NULL);

    ccs_config_override(config, "a=2");
    ccs_config_set(config, "--nodes", "--nodes 4", "nodes", "4");
    g_autofree char *source = ccs_config_source(config);
    ck_assert_str_eq(source, "a: 1\n# --set a=2\n# --nodes 4\n");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("config");
    TCase *texts = tcase_create("texts");
    TCase *files = tcase_create("files");

    tcase_add_loop_test(texts, a_text_that_is_not_one_yaml_document_is_refused, 0,
                        G_N_ELEMENTS(refusals));
    tcase_add_test(texts, a_byte_order_mark_is_skipped);
    tcase_add_test(texts, a_nul_byte_is_refused_at_its_place);
    tcase_add_test(texts, a_text_above_the_size_limit_is_refused);
    tcase_add_test(texts, deep_nesting_is_refused);
    tcase_add_test(texts, aliases_that_stand_for_too_much_are_refused);
    tcase_add_test(texts, a_long_line_is_cut_around_the_place);
    tcase_add_test(texts, the_source_has_the_text_and_the_overrides);
    suite_add_tcase(suite, texts);

    tcase_add_checked_fixture(files, make_folder, remove_folder);
    tcase_add_test(files, a_file_is_opened_by_its_path);
    tcase_add_test(files, a_missing_file_is_an_io_error);
    tcase_add_test(files, a_built_in_file_sought_in_a_wrong_folder_is_suggested);
    tcase_add_test(files, a_directory_is_an_io_error);
    tcase_add_test(files, a_built_in_file_is_opened_by_its_bare_name);
    tcase_add_test(files, an_unknown_name_lists_the_known_ones);
    suite_add_tcase(suite, files);
    return suite;
}
