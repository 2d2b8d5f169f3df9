/* What the program does with input that is wrong, and with a world that does not let it work:
 * the exit status of the contract, a message with its place, and nothing half written. */
#include "tests/cli/cli.h"
#include "tests/support/check_main.h"

static CcsFolder *folder;

static void set_up(void)
{
    folder = ccs_folder_new();
}

static void tear_down(void)
{
    g_clear_pointer(&folder, ccs_folder_remove);
}

static const struct {
    const char *text;
    gssize n_bytes; /* -1: up to the zero byte */
    const char *message;
} unreadable[] = {
    {"", 0, "bad.yaml: error: is empty"},
    {"\n\n", -1, "bad.yaml: error: is empty"},
    {"\x7f"
     "ELF\0\1",
     6, "bad.yaml:1:5: error: a NUL byte"},
    {"name: \xff\xfe", -1, "bad.yaml:1:7: error: a byte that is not valid UTF-8"},
    {"nodes: [1\n", -1, "bad.yaml:2:1: error: not valid YAML"},
    {"just text", -1, "bad.yaml:1:1: error: "},
    {"- a\n- b\n", -1, "bad.yaml:1:1: error: "},
};

START_TEST(what_is_no_yaml_is_refused_with_its_place)
{
    g_autofree char *path = g_build_filename(folder, "bad.yaml", NULL);
    g_file_set_contents(path, unreadable[_i].text, unreadable[_i].n_bytes, NULL);
    g_auto(CcsProgramRun) bench = ccs_program_run_line(folder, "bench allreduce -T bad.yaml");
    g_auto(CcsProgramRun) topo = ccs_program_run_line(folder, "topo check bad.yaml");
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, "run bad.yaml");

    assert_refused(&bench, 3, unreadable[_i].message);
    assert_refused(&topo, 3, unreadable[_i].message);
    assert_refused(&run, 3, unreadable[_i].message);
    assert_none(folder, "ccsim.db");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("bad_input");
    TCase *tcase = tcase_create("bad_input");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, what_is_no_yaml_is_refused_with_its_place, 0,
                        G_N_ELEMENTS(unreadable));
    suite_add_tcase(suite, tcase);
    return suite;
}
