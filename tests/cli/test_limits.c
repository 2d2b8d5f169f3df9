/* What the program does where the system does not let it write: no permission, no room, nobody
 * who reads. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "tests/cli/cli.h"
#include "tests/support/check_main.h"

#define COUNTS "counts"

static CcsFolder *folder;

/* The program itself lies in the folder, since an ordinary user may not look into that of the
 * build. */
static void set_up(void)
{
    folder = ccs_folder_new();
    g_autofree char *copy = g_build_filename(folder, "ccsim", NULL);
    g_autofree char *program = NULL;
    gsize n_bytes = 0;

    ck_assert(g_file_get_contents(g_getenv("CCSIM"), &program, &n_bytes, NULL));
    ck_assert(g_file_set_contents(copy, program, (gssize)n_bytes, NULL));
    ck_assert_int_eq(chmod(copy, 0755), 0);
    ck_assert_int_eq(chmod(folder, 0755), 0);
    g_autofree char *counts = g_build_filename(folder, COUNTS, NULL);
    ck_assert_int_eq(g_mkdir(counts, 0755), 0);
    ck_assert_int_eq(chmod(counts, 0777), 0);
    g_setenv("CCSIM", copy, true);
}

static void tear_down(void)
{
    chmod(folder, 0755);
    g_clear_pointer(&folder, ccs_folder_remove);
}

/* A program that counts what it executes writes that where it was built, unless told another
 * place, and tells stderr when it may not. */
static CcsProgramRun run_as_ordinary_user(const char *line)
{
    g_auto(GStrv) args = NULL;
    g_autofree char *prefix = g_strconcat("GCOV_PREFIX=", folder, "/" COUNTS, NULL);
    ck_assert(g_shell_parse_argv(line, NULL, &args, NULL));
    return ccs_program_run(&(CcsProgramCall){.args = (const char *const *)args,
                                             .folder = folder,
                                             .environment = (const char *const[]){prefix, NULL},
                                             .is_ordinary = true});
}

/* Takes the right to write from the folder, or from a file in it. */
static void protect(const char *name)
{
    g_autofree char *path = name == NULL ? g_strdup(folder) : g_build_filename(folder, name, NULL);
    ck_assert_int_eq(chmod(path, name == NULL ? 0555 : 0444), 0);
}

START_TEST(a_folder_that_may_not_be_written_is_named)
{
    protect(NULL);
    g_auto(CcsProgramRun) db = run_as_ordinary_user("bench allreduce -T nvlink8 -b 8 -e 8");
    g_auto(CcsProgramRun) json =
        run_as_ordinary_user("bench allreduce -T nvlink8 -b 8 -e 8 --no-db -J out.json");
    g_auto(CcsProgramRun) neither =
        run_as_ordinary_user("bench allreduce -T nvlink8 -b 8 -e 8 --no-db");

    assert_refused(&db, 4, "ccsim.db: error: cannot be made: Permission denied");
    assert_refused(&json, 4, "out.json: error: cannot be written: Permission denied");
    assert_done(&neither);
    assert_none(folder, "ccsim.db");
    assert_none(folder, "out.json");
}
END_TEST

START_TEST(a_database_that_may_not_be_written_can_be_read)
{
    g_auto(CcsProgramRun) made =
        ccs_program_run_line(folder, "bench allreduce -T nvlink8 -b 8 -e 8");
    protect("ccsim.db");
    protect(NULL);
    g_auto(CcsProgramRun) bench = run_as_ordinary_user("bench allreduce -T nvlink8 -b 8 -e 8");
    g_auto(CcsProgramRun) runs = run_as_ordinary_user("runs --format csv");
    g_auto(CcsProgramRun) sql =
        run_as_ordinary_user("sql --format csv 'SELECT count(*) FROM last_run'");

    assert_done(&made);
    assert_refused(&bench, 4, "ccsim.db: error: attempt to write a readonly database");
    assert_done(&runs);
    assert_says(runs.output, ",complete,1,");
    assert_done(&sql);
    ck_assert_str_eq(sql.output, "count(*)\n1\n");
}
END_TEST

START_TEST(a_file_that_may_not_be_read_is_named)
{
    g_autofree char *path = ccs_folder_write(folder, "t.yaml", "node: {gpus: 1}\n");
    ck_assert_int_eq(chmod(path, 0), 0);
    g_auto(CcsProgramRun) run = run_as_ordinary_user("topo show t.yaml");

    assert_refused(&run, 4, "t.yaml: error: Permission denied");
}
END_TEST

static CcsProgramRun run_with_limit(const char *line, uint64_t n_bytes)
{
    g_auto(GStrv) args = NULL;
    ck_assert(g_shell_parse_argv(line, NULL, &args, NULL));
    return ccs_program_run(&(CcsProgramCall){
        .args = (const char *const *)args, .folder = folder, .file_size_limit = n_bytes});
}

START_TEST(a_database_that_runs_into_the_size_limit_stays_sound)
{
    g_autofree char *db = g_build_filename(folder, "ccsim.db", NULL);
    g_auto(CcsProgramRun) run =
        run_with_limit("bench allreduce -T cluster32 --trace flows -J out.json", 4 << 20);
    g_autofree char *integrity = ccs_query_text(db, "PRAGMA integrity_check");
    g_autofree char *status = ccs_query_text(db, "SELECT status FROM run");
    g_auto(CcsProgramRun) next =
        ccs_program_run_line(folder, "bench allreduce -T nvlink8 -b 8 -e 8");

    assert_refused(&run, 4, "ccsim.db: error: ");
    assert_says(run.errors, "File too large");
    ck_assert_str_eq(integrity, "ok");
    ck_assert_msg(strcmp(status, "failed") == 0 || strcmp(status, "interrupted") == 0, "%s",
                  status);
    assert_none(folder, "out.json");
    assert_done(&next);
    ck_assert_double_eq(ccs_query_number(db, "SELECT count(*) FROM last_run"), 1);
}
END_TEST

START_TEST(a_database_that_cannot_even_begin_leaves_nothing)
{
    g_auto(CcsProgramRun) run = run_with_limit("bench allreduce -T nvlink8", 1024);

    assert_refused(&run, 4, "File too large");
    assert_none(folder, "ccsim.db");
}
END_TEST

START_TEST(a_json_file_is_written_whole_or_not_at_all)
{
    write_file(folder, "out.json", "{}");
    g_auto(CcsProgramRun) run =
        run_with_limit("bench allreduce -T nvlink8 --no-db -J out.json", 1024);
    g_autofree char *text = ccs_folder_read(folder, "out.json");

    assert_refused(&run, 4, "out.json: error: cannot be written: ");
    ck_assert_str_eq(text, "{}");
    assert_none(folder, "out.json.");
}
END_TEST

static const char *const lines_that_print[] = {
    "bench allreduce -T nvlink8",
    "bench allreduce -T nvlink8 --format csv",
    "bench allreduce -T nvlink8 --format json",
    "bench allreduce -T nvlink8 --format ndjson",
    "bench allreduce -T nvlink8 --format md",
    "bench allreduce -T nvlink8 --format nccl",
    "bench allreduce -T nvlink8 -J -",
    "run quickstart",
    "list",
    "topo show nvlink8",
    "topo check nvlink8",
    "schema topology",
    "--version",
    "help",
};

START_TEST(a_full_device_as_stdout_is_an_error)
{
    g_auto(GStrv) args = NULL;
    ck_assert(g_shell_parse_argv(lines_that_print[_i], NULL, &args, NULL));
    g_auto(CcsProgramRun) run = ccs_program_run(&(CcsProgramCall){
        .args = (const char *const *)args, .folder = folder, .output_file = "/dev/full"});

    assert_status(&run, 4);
    ck_assert_str_eq(run.errors, "standard output: error: cannot be written: No space left on "
                                 "device\n");
}
END_TEST

/* Puts a pipe that nobody reads in the place of stdout, by way of /dev/fd. */
START_TEST(a_pipe_that_nobody_reads_ends_the_program_without_a_word)
{
    g_autofree char *fifo = g_build_filename(folder, "fifo", NULL);
    g_auto(GStrv) args = NULL;
    ck_assert(g_shell_parse_argv(lines_that_print[_i], NULL, &args, NULL));
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    int reader = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    g_autoptr(GSubprocess) process = ccs_program_start(&(CcsProgramCall){
        .args = (const char *const *)args, .folder = folder, .output_file = fifo});
    close(reader);
    g_auto(CcsProgramRun) run = ccs_program_wait(process);

    ck_assert_str_eq(run.errors, "");
    ck_assert_msg(run.signal == SIGPIPE || run.status == 0, "status %d, signal %d", run.status,
                  run.signal);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("limits");
    TCase *tcase = tcase_create("limits");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_folder_that_may_not_be_written_is_named);
    tcase_add_test(tcase, a_database_that_may_not_be_written_can_be_read);
    tcase_add_test(tcase, a_file_that_may_not_be_read_is_named);
    tcase_add_test(tcase, a_database_that_runs_into_the_size_limit_stays_sound);
    tcase_add_test(tcase, a_database_that_cannot_even_begin_leaves_nothing);
    tcase_add_test(tcase, a_json_file_is_written_whole_or_not_at_all);
    tcase_add_loop_test(tcase, a_full_device_as_stdout_is_an_error, 0,
                        G_N_ELEMENTS(lines_that_print));
    tcase_add_loop_test(tcase, a_pipe_that_nobody_reads_ends_the_program_without_a_word, 0,
                        G_N_ELEMENTS(lines_that_print));
    suite_add_tcase(suite, tcase);
    return suite;
}
