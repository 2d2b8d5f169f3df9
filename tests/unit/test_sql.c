/* The commands that read a database: sql and runs. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "commands/command.h"
#include "tests/support/check_main.h"
#include "tests/support/folder.h"
#include "tests/support/query.h"
#include "tests/support/sample_run.h"

extern const CcsCommand ccs_command_runs;
extern const CcsCommand ccs_command_sql;

static char *folder;
static char *path;

static void set_up(void)
{
    folder = ccs_folder_new();
    path = g_build_filename(folder, "runs.db", NULL);
    g_setenv("CCSIM_DB", path, TRUE);
    ck_assert(sample_write_run(path, CCS_TRACE_SUMMARY, 0, NULL));
}

static void tear_down(void)
{
    g_clear_pointer(&path, g_free);
    g_clear_pointer(&folder, ccs_folder_remove);
}

static void write_file(const char *name, const char *text)
{
    g_free(ccs_folder_write(folder, name, text));
}

static void redirect(FILE *stream, const char *name, int flags)
{
    g_autofree char *file = g_build_filename(folder, name, NULL);
    int descriptor = open(file, flags, 0644);

    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_ge(dup2(descriptor, fileno(stream)), 0);
}

static int run_command(const CcsCommand *command, const char *const *arguments, const char *input)
{
    g_auto(GStrv) argv = g_strdupv((char **)(uintptr_t)arguments);
    g_autofree char **left = g_memdup2(argv, (g_strv_length(argv) + 1) * sizeof(char *));
    write_file("in", input);
    g_autoptr(GError) error = NULL;

    redirect(stdin, "in", O_RDONLY);
    redirect(stdout, "out", O_CREAT | O_TRUNC | O_WRONLY);
    redirect(stderr, "err", O_CREAT | O_TRUNC | O_WRONLY);
    if (command->run((int)g_strv_length(argv), left, &error))
        return 0;
    fprintf(stderr, "%s", error->message);
    fflush(stderr);
    return error->code;
}

/* Runs the command in a process of its own and returns its exit status; "out" and "err" in
 * the folder hold what it said. */
static int run_with_input(const CcsCommand *command, const char *const *arguments,
                          const char *input)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0)
        _exit(run_command(command, arguments, input));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

#define SQL(...)  run_with_input(&ccs_command_sql, (const char *[]){"sql", __VA_ARGS__, NULL}, "")
#define RUNS(...) run_with_input(&ccs_command_runs, (const char *[]){"runs", __VA_ARGS__, NULL}, "")

static void expect_text(const char *name, const char *expected)
{
    g_autofree char *text = ccs_folder_read(folder, name);
    ck_assert_str_eq(text, expected);
}

static void expect_part(const char *name, const char *part)
{
    g_autofree char *text = ccs_folder_read(folder, name);
    ck_assert_msg(strstr(text, part) != NULL, "%s", text);
}

START_TEST(a_query_is_answered_with_a_table)
{
    ck_assert_int_eq(SQL("SELECT algorithm, size_bytes FROM last_run"), 0);
    expect_text("out", "algorithm  size_bytes\nring             1000\n");
}
END_TEST

START_TEST(several_statements_are_answered_one_after_the_other)
{
    ck_assert_int_eq(SQL("--format", "csv", "SELECT 1 AS a; SELECT 2 AS b; -- no more"), 0);
    expect_text("out", "a\n1\nb\n2\n");
}
END_TEST

START_TEST(a_query_is_read_from_stdin)
{
    static const char *const dash[] = {"sql", "--format", "csv", "-", NULL};
    static const char *const none[] = {"sql", "--format", "csv", NULL};

    ck_assert_int_eq(run_with_input(&ccs_command_sql, dash, "SELECT 1 AS a"), 0);
    expect_text("out", "a\n1\n");
    ck_assert_int_eq(run_with_input(&ccs_command_sql, none, "SELECT 2 AS b"), 0);
    expect_text("out", "b\n2\n");
}
END_TEST

typedef struct {
    const char *query;
    const char *message;
} Fault;

static const Fault faults[] = {
    {"SELECT 1;\nSELECT nowhere FROM run", "query:2:8: error: no such column: nowhere\n"
                                           "  SELECT nowhere FROM run\n"
                                           "         ^"},
    {"SELEC 1", "query:1:1: error: near \"SELEC\": syntax error\n  SELEC 1\n  ^"},
    {"SELECT 1 +", "query:1:1: error: incomplete input\n  SELECT 1 +\n  ^"},
    {" \n;", "query: error: there is nothing in it"},
    {"SELECT abs(-9223372036854775807 - 1)",
     "query:1:1: error: integer overflow\n  SELECT abs(-9223372036854775807 - 1)\n  ^"},
    {"PRAGMA query_only = off; DELETE FROM run",
     "query:1:26: error: the statement changes the database, which only --write allows\n"
     "  PRAGMA query_only = off; DELETE FROM run\n"
     "                           ^"},
    {"PRAGMA journal_mode = delete",
     "query:1:1: error: the statement changes the database, which only --write allows\n"
     "  PRAGMA journal_mode = delete\n  ^"},
};

START_TEST(a_fault_in_a_query_is_shown_at_its_place)
{
    ck_assert_int_eq(SQL(faults[_i].query), CCS_ERROR_INPUT);
    expect_text("err", faults[_i].message);
}
END_TEST

START_TEST(to_write_must_be_asked_for)
{
    ck_assert_int_eq(SQL("DELETE FROM run"), CCS_ERROR_INPUT);
    ck_assert_int_eq(SQL("--write", "DELETE FROM run"), 0);
    ck_assert_int_eq(SQL("--format", "csv", "SELECT count(*) AS n FROM rank_summary"), 0);
    expect_text("out", "n\n0\n");
}
END_TEST

START_TEST(a_missing_database_is_an_error_with_a_hint)
{
    g_autofree char *other = g_build_filename(folder, "other.db", NULL);

    ck_assert_int_eq(SQL("--db", other, "SELECT 1"), CCS_ERROR_IO);
    expect_part("err", "run something first");
    ck_assert_int_eq(RUNS("--db", other), CCS_ERROR_IO);
    expect_part("err", "run something first");
    ck_assert_int_ne(access(other, F_OK), 0);
}
END_TEST

START_TEST(a_wrong_command_line_is_a_usage_error)
{
    ck_assert_int_eq(SQL("--no-such-option"), CCS_ERROR_USAGE);
    ck_assert_int_eq(SQL("SELECT", "1"), CCS_ERROR_USAGE);
    expect_part("err", "a query is one argument, in quotes");
    ck_assert_int_eq(RUNS("--format", "xml"), CCS_ERROR_USAGE);
    ck_assert_int_eq(RUNS("more"), CCS_ERROR_USAGE);
}
END_TEST

static void write_and_wait(int ready)
{
    g_autoptr(CcsTopology) topology = sample_topology();
    CcsTrace *trace = ccs_trace_open(path, CCS_TRACE_NONE, NULL);
    CcsResult result = sample_result("tree", 1000, 1);
    int64_t run_id = 0;

    if (!ccs_trace_begin_run(trace, "ccsim run, second", NULL, &run_id, NULL) ||
        !sample_add_result(trace, topology, &result, 0, NULL) ||
        !sample_add_result(trace, topology, &result, 0, NULL) || write(ready, "", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

/* Returns: a process that has written a run with two results and is still at it. */
static pid_t start_a_run(void)
{
    char byte;
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0)
        write_and_wait(ends[1]);
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return child;
}

static void expect_runs(const char *first_end, const char *second_end)
{
    ck_assert_int_eq(RUNS("--format", "csv"), 0);
    g_autofree char *text = ccs_folder_read(folder, "out");
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    ck_assert_str_eq(lines[0], "id,started,status,results,topology,collective,command");
    ck_assert(g_str_has_prefix(lines[1], "1,"));
    ck_assert_msg(g_str_has_suffix(lines[1], first_end), "%s", lines[1]);
    ck_assert_msg(g_str_has_suffix(lines[2], second_end), "%s", lines[2]);
}

START_TEST(runs_shows_whether_the_process_of_a_run_lives)
{
    pid_t child = start_a_run();

    expect_runs("Z,complete,1,pair,allreduce,ccsim bench",
                "Z,running,2,pair,allreduce,\"ccsim run, second\"");
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    expect_runs("Z,complete,1,pair,allreduce,ccsim bench",
                "Z,interrupted,2,pair,allreduce,\"ccsim run, second\"");
    g_autofree char *status = ccs_query_text(path, "SELECT status FROM run WHERE run_id = 2");
    ck_assert_str_eq(status, "interrupted");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("sql");
    TCase *tcase = tcase_create("sql");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_query_is_answered_with_a_table);
    tcase_add_test(tcase, several_statements_are_answered_one_after_the_other);
    tcase_add_test(tcase, a_query_is_read_from_stdin);
    tcase_add_loop_test(tcase, a_fault_in_a_query_is_shown_at_its_place, 0, G_N_ELEMENTS(faults));
    tcase_add_test(tcase, to_write_must_be_asked_for);
    tcase_add_test(tcase, a_missing_database_is_an_error_with_a_hint);
    tcase_add_test(tcase, a_wrong_command_line_is_a_usage_error);
    tcase_add_test(tcase, runs_shows_whether_the_process_of_a_run_lives);
    suite_add_tcase(suite, tcase);
    return suite;
}
