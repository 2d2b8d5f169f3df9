/* Nothing that the program writes takes the place of its database or of what it reads. */
#include <unistd.h>

#include "tests/cli/cli.h"
#include "tests/support/check_main.h"

static CcsFolder *folder;

#define BENCH "bench allreduce -T nvlink8 -b 8 -e 8 "

static void link_to(const char *target, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    ck_assert_int_eq(symlink(target, path), 0);
}

static void set_up(void)
{
    folder = ccs_folder_new();
    write_file(folder, "t.yaml", "node: {gpus: 2, nvlink: {bandwidth: 1 GB/s}}\n");
    write_file(folder, "transport.yaml", "name: t\n");
    write_file(folder, "m.csv", "0,1\n1,0\n");
    write_file(folder, "run.yaml",
               "title: x\ntopology: t.yaml\ntransport: transport.yaml\n"
               "cases:\n  - {title: y, collective: alltoallv, sizes: [1 KiB], matrix: m.csv}\n");
    write_file(folder, "program.yaml",
               "title: x\nprogram:\n  - {ranks: 0, calls: [compute: 1 us]}\n");
    link_to("later.db", "link.db");
    link_to("t.yaml", "link.yaml");
}

static void tear_down(void)
{
    g_clear_pointer(&folder, ccs_folder_remove);
}

static const struct {
    const char *line;
    const char *problem;
} refusals[] = {
    {BENCH "-J later.db --db later.db", "-J later.db would write over the database, later.db"},
    {BENCH "-J ./later.db --db later.db", "would write over the database"},
    {BENCH "-J link.db --db later.db", "would write over the database"},
    {BENCH "-J later.db --db link.db", "would write over the database"},
    {BENCH "-J ccsim.db", "would write over the database, ccsim.db"},
    {BENCH "-J ccsim.db-wal", "would write over the database, ccsim.db"},
    {BENCH "-J t.yaml -T t.yaml", "-J t.yaml would write over a file that is read"},
    {BENCH "-J link.yaml -T ./t.yaml", "would write over a file that is read"},
    {BENCH "-J transport.yaml --transport transport.yaml", "a file that is read"},
    {"bench alltoallv -T nvlink8 --ranks 2 --matrix m.csv -J m.csv", "a file that is read"},
    {"run run.yaml -J run.yaml", "-J run.yaml would write over a file that is read"},
    {"run run.yaml -J t.yaml", "-J t.yaml would write over a file that is read"},
    {"run run.yaml -J transport.yaml", "-J transport.yaml would write over a file that is read"},
    {"run run.yaml -J m.csv", "-J m.csv would write over a file that is read"},
    {"program program.yaml -T t.yaml -J program.yaml", "a file that is read"},
    {"program program.yaml -T t.yaml -J t.yaml", "a file that is read"},
    {"export msccl allreduce -T t.yaml -o link.yaml", "-o link.yaml would write over a file"},
};

START_TEST(what_is_read_or_recorded_is_not_written_over)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, refusals[_i].line);

    assert_refused(&run, 2, refusals[_i].problem);
    assert_none(folder, "ccsim.db");
    assert_none(folder, "later.db");
}
END_TEST

START_TEST(a_database_is_not_written_over)
{
    g_auto(CcsProgramRun) first = ccs_program_run_line(folder, BENCH "--db kept.db");
    g_auto(CcsProgramRun) json = ccs_program_run_line(folder, BENCH "-J kept.db --no-db");
    g_auto(CcsProgramRun) file =
        ccs_program_run_line(folder, "export msccl allreduce --ranks 2 -o kept.db");
    g_auto(CcsProgramRun) again = ccs_program_run_line(folder, "runs --db kept.db");

    assert_done(&first);
    assert_refused(&json, 2, "kept.db is a database, and nothing else is written over it");
    assert_refused(&file, 2, "kept.db is a database, and nothing else is written over it");
    assert_done(&again);
}
END_TEST

START_TEST(results_take_the_place_of_older_ones)
{
    g_auto(CcsProgramRun) first = ccs_program_run_line(folder, BENCH "-J a.json");
    g_auto(CcsProgramRun) second = ccs_program_run_line(folder, BENCH "-J a.json -T t.yaml");

    assert_done(&first);
    assert_done(&second);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("outputs");
    TCase *tcase = tcase_create("outputs");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, what_is_read_or_recorded_is_not_written_over, 0,
                        G_N_ELEMENTS(refusals));
    tcase_add_test(tcase, a_database_is_not_written_over);
    tcase_add_test(tcase, results_take_the_place_of_older_ones);
    suite_add_tcase(suite, tcase);
    return suite;
}
