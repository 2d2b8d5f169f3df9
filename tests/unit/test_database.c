#include "trace/database.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/support/check_main.h"
#include "tests/support/folder.h"
#include "tests/support/query.h"
#include "tests/support/sample_run.h"

#define NOBODY 65534

static char *folder;
static char *path;

static void set_up(void)
{
    folder = ccs_folder_new();
    path = g_build_filename(folder, "runs.db", NULL);
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

static void expect(const char *sql, const char *expected)
{
    g_autofree char *text = ccs_query_text(path, sql);
    ck_assert_msg(g_strcmp0(text, expected) == 0, "%s: %s, not %s", sql, text, expected);
}

/* What @body returns in a process of its own, which must end by itself. */
static int in_child(int (*body)(void))
{
    int status = 0;
    pid_t child = fork();

    if (child == 0)
        _exit(body());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

static void expect_refusal(CcsDatabaseMode mode, const char *part)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsDatabase) database = ccs_database_open(path, mode, &error);

    ck_assert(database == NULL);
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_IO));
    ck_assert_msg(g_str_has_prefix(error->message, path), "%s", error->message);
    ck_assert_msg(strstr(error->message, part) != NULL, "%s", error->message);
}

static void make_with_sql(const char *sql)
{
    sqlite3 *db = NULL;

    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

START_TEST(a_new_database_bears_the_marks_of_ours)
{
    g_autoptr(CcsDatabase) database = ccs_database_open(path, CCS_DATABASE_CREATE, NULL);

    ck_assert(database != NULL);
    expect("PRAGMA application_id", "1667461997");
    expect("PRAGMA user_version", "2");
    expect("PRAGMA journal_mode", "wal");
    expect("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
           " AND name NOT LIKE 'sqlite%' AND NOT strict",
           "0");
}
END_TEST

START_TEST(an_empty_file_becomes_a_database)
{
    write_file("runs.db", "");

    ck_assert(sample_write_run(path, CCS_TRACE_NONE, 0, NULL));
    expect("SELECT count(*) FROM last_run", "1");
}
END_TEST

START_TEST(a_closed_database_is_one_file)
{
    g_autofree char *log = g_strconcat(path, "-wal", NULL);

    ck_assert(sample_write_run(path, CCS_TRACE_NONE, 0, NULL));
    g_autoptr(CcsDatabase) reader = ccs_database_open(path, CCS_DATABASE_READ, NULL);
    ck_assert(reader != NULL);
    g_clear_pointer(&reader, ccs_database_free);
    ck_assert_int_ne(access(log, F_OK), 0);
}
END_TEST

START_TEST(a_name_with_special_characters_is_a_name)
{
    g_autofree char *odd = g_build_filename(folder, "a b?c#d%20.db", NULL);

    ck_assert(sample_write_run(odd, CCS_TRACE_NONE, 0, NULL));
    ck_assert_int_eq(access(odd, F_OK), 0);
}
END_TEST

START_TEST(a_file_that_is_no_database_is_refused_and_left_alone)
{
    write_file("runs.db", "name: nvlink8\n");

    expect_refusal(CCS_DATABASE_CREATE, "not a database");
    expect_refusal(CCS_DATABASE_READ, "not a database");
    g_autofree char *text = ccs_folder_read(folder, "runs.db");
    ck_assert_str_eq(text, "name: nvlink8\n");
}
END_TEST

START_TEST(a_database_of_another_program_is_refused)
{
    make_with_sql("PRAGMA application_id = 77; CREATE TABLE run (x)");
    expect_refusal(CCS_DATABASE_CREATE, "another program");
    expect_refusal(CCS_DATABASE_READ, "another program");
    expect("SELECT count(*) FROM sqlite_schema", "1");
}
END_TEST

START_TEST(a_database_with_tables_but_no_mark_is_refused)
{
    make_with_sql("CREATE TABLE run (x)");
    expect_refusal(CCS_DATABASE_CREATE, "another program");
}
END_TEST

START_TEST(a_database_of_a_newer_version_is_refused)
{
    make_with_sql("PRAGMA application_id = 1667461997; PRAGMA user_version = 3");
    expect_refusal(CCS_DATABASE_CREATE, "newer ccsim (database version 3, known here is 2)");
}
END_TEST

START_TEST(a_database_of_an_older_version_is_only_read)
{
    make_with_sql("PRAGMA application_id = 1667461997; PRAGMA user_version = 1;"
                  " CREATE TABLE run (x)");
    expect_refusal(CCS_DATABASE_CREATE, "made by an older ccsim");
    g_autoptr(CcsDatabase) database = ccs_database_open(path, CCS_DATABASE_READ, NULL);
    ck_assert(database != NULL);
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
    g_free(path);
    path = g_strdup(folder);
    expect_refusal(CCS_DATABASE_CREATE, "is a folder");
    g_free(path);
    path = g_strdup("/dev/null");
    expect_refusal(CCS_DATABASE_CREATE, "is not a file");
}
END_TEST

START_TEST(a_file_in_a_missing_folder_is_refused)
{
    g_free(path);
    path = g_build_filename(folder, "none", "runs.db", NULL);
    expect_refusal(CCS_DATABASE_CREATE, "No such file or directory");
}
END_TEST

START_TEST(to_read_a_missing_or_empty_file_is_refused)
{
    expect_refusal(CCS_DATABASE_READ, "run something first");
    ck_assert_int_ne(access(path, F_OK), 0);
    write_file("runs.db", "");
    expect_refusal(CCS_DATABASE_READ, "holds no runs");
}
END_TEST

START_TEST(a_database_opened_for_reading_is_not_changed)
{
    g_autoptr(GError) error = NULL;

    ck_assert(sample_write_run(path, CCS_TRACE_NONE, 0, NULL));
    g_autoptr(CcsDatabase) database = ccs_database_open(path, CCS_DATABASE_READ, NULL);
    ck_assert(!ccs_database_write(database, "DELETE FROM run", NULL, 0, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_IO));
}
END_TEST

/* As a user to whom permissions apply. Returns: whether that is so. */
static bool become_ordinary_user(void)
{
    return geteuid() != 0 || (setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
}

static int create_as_ordinary_user(void)
{
    if (!become_ordinary_user())
        return 99;
    expect_refusal(CCS_DATABASE_CREATE, "cannot be made: Permission denied");
    return access(path, F_OK) == 0 ? 1 : 0;
}

START_TEST(a_folder_that_may_not_be_written_is_refused)
{
    ck_assert_int_eq(chmod(folder, 0555), 0);
    int status = in_child(create_as_ordinary_user);
    ck_assert_int_eq(chmod(folder, 0755), 0);
    ck_assert_int_eq(status, 0);
}
END_TEST

static int write_as_ordinary_user(void)
{
    if (!become_ordinary_user())
        return 99;
    expect_refusal(CCS_DATABASE_CREATE, "may not be written");
    g_autoptr(CcsDatabase) database = ccs_database_open(path, CCS_DATABASE_READ, NULL);
    int64_t n_runs = 0;
    return database != NULL &&
                   ccs_database_read_integer(database, "SELECT count(*) FROM run", NULL, 0, &n_runs,
                                             NULL) &&
                   n_runs == 1
               ? 0
               : 1;
}

START_TEST(a_file_that_may_only_be_read_is_read_but_not_written)
{
    ck_assert(sample_write_run(path, CCS_TRACE_NONE, 0, NULL));
    ck_assert_int_eq(chmod(path, 0444), 0);
    ck_assert_int_eq(chmod(folder, 0777), 0);
    ck_assert_int_eq(in_child(write_as_ordinary_user), 0);
    ck_assert_int_eq(chmod(folder, 0555), 0);
    int status = in_child(write_as_ordinary_user);
    ck_assert_int_eq(chmod(folder, 0755), 0);
    ck_assert_int_eq(status, 0);
}
END_TEST

static void limit_file_size(rlim_t n_bytes)
{
    struct rlimit limit = {.rlim_cur = n_bytes, .rlim_max = n_bytes};

    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ccs_database_ignore_size_signal();
}

static int create_under_a_tight_limit(void)
{
    limit_file_size(8192);
    expect_refusal(CCS_DATABASE_CREATE, "");
    return 0;
}

START_TEST(a_database_that_cannot_be_made_whole_is_not_left_behind)
{
    g_autoptr(GDir) dir = NULL;

    ck_assert_int_eq(in_child(create_under_a_tight_limit), 0);
    dir = g_dir_open(folder, 0, NULL);
    ck_assert(g_dir_read_name(dir) == NULL);
}
END_TEST

static int write_rows_under_a_limit(void)
{
    g_autoptr(GError) error = NULL;

    limit_file_size(1 << 20);
    ck_assert(!sample_write_run_packing(path, CCS_TRACE_FLOWS, 200000, CCS_PACK_NEVER, &error));
    ck_assert_msg(g_str_has_prefix(error->message, path), "%s", error->message);
    ck_assert_msg(strstr(error->message, "File too large") != NULL, "%s", error->message);
    return error->code;
}

static CcsFlow noise(GRand *random)
{
    return (CcsFlow){.lane = g_rand_int(random),
                     .bytes = g_rand_int(random),
                     .started = g_rand_int(random),
                     .injected = g_rand_int(random),
                     .arrived = g_rand_int(random)};
}

/* Flows that cannot be packed into little. */
static bool write_noise(uint32_t n_flows, GError **error)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(5);
    g_autoptr(CcsTopology) topology = sample_topology();
    g_autoptr(CcsTrace) trace = ccs_trace_open(path, CCS_TRACE_FLOWS, error);
    CcsResult result = sample_result("ring", 1000, 4000000);
    int64_t id = 0;

    ck_assert(trace != NULL);
    ccs_trace_set_packing(trace, CCS_PACK_ALWAYS);
    ck_assert(ccs_trace_begin_run(trace, "noise", NULL, &id, NULL));
    ck_assert(ccs_trace_add_topology(trace, topology, &id, NULL));
    ck_assert(ccs_trace_begin_result(trace, &result, id, NULL));
    for (uint32_t i = 0; i < n_flows; i++) {
        CcsFlow flow = noise(random);
        if (!ccs_trace_add_flow(trace, &flow, error))
            return false;
    }
    return true;
}

static int write_chunks_under_a_limit(void)
{
    g_autoptr(GError) error = NULL;

    limit_file_size(1 << 20);
    ck_assert(!write_noise(400000, &error));
    ck_assert_msg(strstr(error->message, "File too large") != NULL, "%s", error->message);
    return error->code;
}

static int (*const writers_under_a_limit[])(void) = {write_rows_under_a_limit,
                                                     write_chunks_under_a_limit};

START_TEST(a_limit_of_file_size_hit_half_way_is_an_error_and_the_file_stays_good)
{
    ck_assert_int_eq(in_child(writers_under_a_limit[_i]), CCS_ERROR_IO);
    expect("PRAGMA integrity_check", "ok");
    ck_assert(sample_write_run(path, CCS_TRACE_FLOWS, 100, NULL));
    expect("SELECT count(*) FROM run WHERE status = 'complete'", "1");
    expect("SELECT count(*) FROM run WHERE status = 'running'", "0");
    expect("SELECT count(*) FROM flow", "100");
}
END_TEST

#define N_RUNS_EACH  10
#define N_FLOWS_EACH 70000

/* The mishaps of flows in either form. */
static const CcsPacking packings[] = {CCS_PACK_NEVER, CCS_PACK_ALWAYS};

static int write_many_runs(CcsPacking packing)
{
    for (int i = 0; i < N_RUNS_EACH; i++) {
        g_autoptr(GError) error = NULL;
        uint32_t n_flows = i == 0 ? N_FLOWS_EACH : 10;
        if (!sample_write_run_packing(path, CCS_TRACE_FLOWS, n_flows, packing, &error)) {
            fprintf(stderr, "%s\n", error->message);
            return error->code;
        }
    }
    return 0;
}

/* Both make the file, too. */
START_TEST(two_processes_that_write_one_file_lose_nothing)
{
    pid_t children[2];

    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(write_many_runs(packings[_i]));
    }
    for (int i = 0; i < 2; i++) {
        int status = -1;
        waitpid(children[i], &status, 0);
        ck_assert_int_eq(status, 0);
    }
    expect("PRAGMA integrity_check", "ok");
    expect("SELECT count(*) FROM run WHERE status = 'complete'", "20");
    expect("SELECT count(*) FROM topology", "1");
    expect("SELECT count(*) FROM flow", "140180");
    expect("SELECT count(*) FROM (SELECT result_id FROM flow GROUP BY result_id"
           " HAVING count(*) IN (10, 70000))",
           "20");
}
END_TEST

static int write_for_ever(CcsPacking packing)
{
    while (sample_write_run_packing(path, CCS_TRACE_FLOWS, 70000, packing, NULL))
        ;
    return 1;
}

static void kill_a_writer_after(CcsPacking packing, gulong microseconds)
{
    pid_t child = fork();

    if (child == 0)
        _exit(write_for_ever(packing));
    g_usleep(microseconds);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

static void expect_only_whole_runs(void)
{
    expect("PRAGMA integrity_check", "ok");
    expect("SELECT count(*) FROM pragma_foreign_key_check", "0");
    expect("SELECT count(*) FROM flow_row WHERE flow_id >> 32 NOT IN (SELECT result_id FROM"
           " result)",
           "0");
    expect("SELECT count(*) FROM flow_chunk WHERE first_flow_id >> 32 NOT IN (SELECT result_id"
           " FROM result)",
           "0");
    expect("SELECT count(*) FROM complete_result WHERE 70000 <> (SELECT count(*) FROM flow"
           " WHERE flow.result_id = complete_result.result_id)",
           "0");
    expect("SELECT (SELECT count(*) FROM flow_any) - (SELECT count(*) FROM flow_row) -"
           " (SELECT total(flows) FROM flow_chunk)",
           "0.0");
    expect("SELECT count(*) FROM (SELECT run_id FROM last_run EXCEPT SELECT run_id FROM run"
           " WHERE status = 'complete')",
           "0");
}

static double n_interrupted(void)
{
    return ccs_query_number(path, "SELECT count(*) FROM run WHERE status = 'interrupted'");
}

/* Where everything is slow, a writer gets more time until it has begun a run. */
START_TEST(a_writer_may_be_killed_at_any_moment)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(7);
    double n_before = 0;
    gulong slowness = 1;

    for (int i = 0; i < 20 || n_before <= 10; i++) {
        ck_assert_int_lt(i, 200);
        kill_a_writer_after(packings[_i],
                            slowness * (gulong)g_rand_int_range(random, 1000, 150000));
        g_autoptr(CcsDatabase) database = ccs_database_open(path, CCS_DATABASE_CREATE, NULL);
        ck_assert(database != NULL);
        ck_assert(ccs_database_mark_dead_runs(database, NULL));
        expect("SELECT count(*) FROM run WHERE status NOT IN ('complete', 'interrupted')", "0");
        if (n_interrupted() == n_before)
            slowness = MIN(slowness * 2, 64);
        n_before = n_interrupted();
    }
    expect_only_whole_runs();
    ck_assert(sample_write_run(path, CCS_TRACE_FLOWS, 10, NULL));
    expect("SELECT flows FROM last_run", "4");
}
END_TEST

static void insert_running(const char *pid, const char *ticks, const char *boot_id)
{
    g_autofree char *sql =
        g_strdup_printf("INSERT INTO run (command, version, trace_level, status, started_at, pid,"
                        " pid_started_ticks, boot_id) VALUES ('', '', 'none', 'running', '', %s,"
                        " %s, %s)",
                        pid, ticks, boot_id);
    make_with_sql(sql);
}

START_TEST(a_run_is_dead_when_pid_start_or_boot_do_not_agree)
{
    g_autoptr(CcsTrace) trace = ccs_trace_open(path, CCS_TRACE_NONE, NULL);
    int64_t run_id = 0;

    ck_assert(ccs_trace_begin_run(trace, "alive", NULL, &run_id, NULL));
    insert_running("(SELECT pid FROM run)", "(SELECT pid_started_ticks + 1 FROM run)",
                   "(SELECT boot_id FROM run)");
    insert_running("(SELECT pid FROM run)", "(SELECT pid_started_ticks FROM run)", "'other'");
    insert_running("4194999", "5", "(SELECT boot_id FROM run)");
    g_autoptr(CcsDatabase) database = ccs_database_open(path, CCS_DATABASE_CHANGE, NULL);
    ck_assert(ccs_database_mark_dead_runs(database, NULL));
    expect("SELECT group_concat(status) FROM run", "running,interrupted,interrupted,interrupted");
}
END_TEST

START_TEST(the_default_file_is_given_or_in_the_environment_or_fixed)
{
    g_unsetenv("CCSIM_DB");
    g_autofree char *fixed = ccs_database_default_path(NULL);
    ck_assert_str_eq(fixed, "ccsim.db");
    g_setenv("CCSIM_DB", "/x/y.db", TRUE);
    g_autofree char *environment = ccs_database_default_path(NULL);
    ck_assert_str_eq(environment, "/x/y.db");
    g_autofree char *given = ccs_database_default_path("z.db");
    ck_assert_str_eq(given, "z.db");
}
END_TEST

static TCase *opening(void)
{
    TCase *tcase = tcase_create("opening");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_new_database_bears_the_marks_of_ours);
    tcase_add_test(tcase, an_empty_file_becomes_a_database);
    tcase_add_test(tcase, a_closed_database_is_one_file);
    tcase_add_test(tcase, a_name_with_special_characters_is_a_name);
    tcase_add_test(tcase, a_file_that_is_no_database_is_refused_and_left_alone);
    tcase_add_test(tcase, a_database_of_another_program_is_refused);
    tcase_add_test(tcase, a_database_with_tables_but_no_mark_is_refused);
    tcase_add_test(tcase, a_database_of_a_newer_version_is_refused);
    tcase_add_test(tcase, a_database_of_an_older_version_is_only_read);
    tcase_add_test(tcase, what_is_no_file_is_refused);
    tcase_add_test(tcase, a_file_in_a_missing_folder_is_refused);
    tcase_add_test(tcase, to_read_a_missing_or_empty_file_is_refused);
    tcase_add_test(tcase, a_database_opened_for_reading_is_not_changed);
    tcase_add_test(tcase, a_folder_that_may_not_be_written_is_refused);
    tcase_add_test(tcase, a_file_that_may_only_be_read_is_read_but_not_written);
    tcase_add_test(tcase, the_default_file_is_given_or_in_the_environment_or_fixed);
    return tcase;
}

static TCase *mishaps(void)
{
    TCase *tcase = tcase_create("mishaps");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_database_that_cannot_be_made_whole_is_not_left_behind);
    tcase_add_loop_test(tcase,
                        a_limit_of_file_size_hit_half_way_is_an_error_and_the_file_stays_good, 0,
                        G_N_ELEMENTS(writers_under_a_limit));
    tcase_add_loop_test(tcase, two_processes_that_write_one_file_lose_nothing, 0,
                        G_N_ELEMENTS(packings));
    tcase_add_loop_test(tcase, a_writer_may_be_killed_at_any_moment, 0, G_N_ELEMENTS(packings));
    tcase_add_test(tcase, a_run_is_dead_when_pid_start_or_boot_do_not_agree);
    return tcase;
}

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("database");

    suite_add_tcase(suite, opening());
    suite_add_tcase(suite, mishaps());
    return suite;
}
