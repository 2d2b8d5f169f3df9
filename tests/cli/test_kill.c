/* What is left behind when a process is killed or interrupted while it writes, and when two of
 * them write at once. */
#include <signal.h>

#include <glib/gstdio.h>

#include "tests/cli/cli.h"
#include "tests/support/check_main.h"

/* Half a million messages in 31 results: takes about a second. */
#define LONG_RUN "bench", "allreduce", "-T", "cluster32", "--trace", "flows", "--pack"
#define N_SIZES  31

static CcsFolder *folder;
static char *db;

static void set_up(void)
{
    folder = ccs_folder_new();
    db = g_build_filename(folder, "ccsim.db", NULL);
}

static void tear_down(void)
{
    g_clear_pointer(&db, g_free);
    g_clear_pointer(&folder, ccs_folder_remove);
}

/* The forms in which flows are kept. */
static const char *const packings[] = {"never", "always"};

static GSubprocess *start_long_run(const char *packing)
{
    const char *const args[] = {LONG_RUN, packing, NULL};
    return ccs_program_start(&(CcsProgramCall){.args = args, .folder = folder});
}

static void wait_ms(uint32_t ms)
{
    g_usleep((gulong)ms * 1000);
}

/* Waits until @n results have been begun. The program is asked, for it waits for others that use
 * the database, and finds no fault with one that is not yet made. */
static void wait_for_results(int n)
{
    g_autofree char *query =
        g_strdup_printf("sql --format csv 'SELECT count(*) >= %d FROM result'", n);

    for (int i = 0; i < 1000; i++) {
        g_auto(CcsProgramRun) asked = ccs_program_run_line(folder, query);
        if (asked.status == 0 && g_str_has_suffix(asked.output, "\n1\n"))
            return;
        wait_ms(2);
    }
    ck_abort_msg("%d results have never been begun", n);
}

static void assert_sound(void)
{
    g_autofree char *integrity = ccs_query_text(db, "PRAGMA integrity_check");
    ck_assert_str_eq(integrity, "ok");
}

/* Of the results that were written to their end no flow is missing, and no flow is without a
 * result. */
static void assert_no_flow_is_lost(void)
{
    static const char *const wrong[] = {
        "SELECT count(*) FROM result JOIN run USING (run_id) WHERE trace_level = 'flows'"
        " AND flows <> (SELECT count(*) FROM flow_any WHERE flow_id BETWEEN"
        "  result.result_id << 32 AND (result.result_id << 32) + 0xffffffff)",
        "SELECT count(*) FROM flow_any WHERE flow_id >> 32 NOT IN (SELECT result_id FROM result)",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
        ck_assert_msg(ccs_query_number(db, wrong[i]) == 0, "%s", wrong[i]);
}

static const uint32_t moments_ms[] = {0, 3, 6, 10, 15, 25, 50, 90, 160, 250, 400, 600};

START_TEST(a_killed_run_leaves_a_sound_database)
{
    const char *packing = packings[_i % (int)G_N_ELEMENTS(packings)];
    g_autoptr(GSubprocess) process = start_long_run(packing);
    wait_ms(moments_ms[_i / (int)G_N_ELEMENTS(packings)] + g_random_int() % 10);
    g_subprocess_send_signal(process, SIGKILL);
    g_auto(CcsProgramRun) killed = ccs_program_wait(process);
    bool has_db = g_file_test(db, G_FILE_TEST_EXISTS);

    ck_assert(killed.signal == SIGKILL || killed.status == 0);
    if (has_db)
        assert_sound();
    g_auto(CcsProgramRun) runs = ccs_program_run_line(folder, "runs --format csv");
    if (has_db && killed.signal == SIGKILL)
        assert_says_not(runs.output, ",running,");
    g_auto(CcsProgramRun) next =
        ccs_program_run_line(folder, "bench allreduce -T nvlink8 -b 8 -e 8");
    assert_done(&next);
    assert_sound();
    assert_no_flow_is_lost();
    ck_assert_double_eq(ccs_query_number(db, "SELECT count(*) FROM last_run"), 1);
}
END_TEST

START_TEST(a_killed_run_shows_as_interrupted)
{
    g_autoptr(GSubprocess) process = start_long_run(packings[_i]);
    wait_for_results(3);
    g_subprocess_send_signal(process, SIGKILL);
    g_auto(CcsProgramRun) killed = ccs_program_wait(process);
    g_auto(CcsProgramRun) runs = ccs_program_run_line(folder, "runs --format csv");

    ck_assert_int_eq(killed.signal, SIGKILL);
    assert_done(&runs);
    assert_says(runs.output, ",interrupted,");
    ck_assert_double_eq(ccs_query_number(db, "SELECT count(*) FROM last_run"), 0);
    ck_assert_double_eq(ccs_query_number(db, "SELECT count(*) FROM flow"), 0);
    ck_assert_double_gt(ccs_query_number(db, "SELECT count(*) FROM flow_any"), 0);
    assert_no_flow_is_lost();
}
END_TEST

START_TEST(a_run_under_way_shows_as_running)
{
    g_autoptr(GSubprocess) process = start_long_run(packings[_i]);
    wait_for_results(1);
    g_subprocess_send_signal(process, SIGSTOP);
    g_auto(CcsProgramRun) runs = ccs_program_run_line(folder, "runs --format csv");
    g_subprocess_send_signal(process, SIGKILL);
    g_auto(CcsProgramRun) killed = ccs_program_wait(process);

    assert_done(&runs);
    assert_says(runs.output, ",running,");
    ck_assert_int_eq(killed.signal, SIGKILL);
}
END_TEST

START_TEST(an_interrupted_run_ends_in_order)
{
    g_autoptr(GSubprocess) process = start_long_run(packings[_i]);
    wait_for_results(3);
    g_subprocess_send_signal(process, SIGINT);
    g_auto(CcsProgramRun) run = ccs_program_wait(process);
    g_autofree char *row = ccs_query_text(
        db, "SELECT status || '|' || error || '|' || (ended_at IS NOT NULL) FROM run");

    assert_status(&run, 130);
    ck_assert_str_eq(run.errors, "ccsim: error: interrupted\n");
    assert_says(run.output, "size (B)"); /* of the results that were finished */
    ck_assert_str_eq(row, "interrupted|interrupted|1");
    assert_none(folder, "ccsim.db-");
    assert_sound();
}
END_TEST

START_TEST(an_interrupted_config_ends_in_order)
{
    static const char *const args[] = {"run", "long.yaml", "-J", "out.json", NULL};
    write_file(folder, "long.yaml",
               "title: t\ntopology: cluster32\nset: [nodes=8]\ncases:\n"
               "  - title: one\n    collective: allreduce\n"
               "    sizes: {from: 1 KiB, to: 1 TiB}\n    channels: [8, 16, 32]\n");
    g_autoptr(GSubprocess) process =
        ccs_program_start(&(CcsProgramCall){.args = args, .folder = folder});
    wait_for_results(1);
    g_subprocess_send_signal(process, SIGINT);
    g_auto(CcsProgramRun) run = ccs_program_wait(process);

    assert_status(&run, 130);
    ck_assert_str_eq(run.errors, "ccsim: error: interrupted\n");
    assert_none(folder, "out.json");
}
END_TEST

START_TEST(two_processes_write_one_database_at_once)
{
    g_autoptr(GSubprocess) first = start_long_run(packings[_i]);
    g_autoptr(GSubprocess) second = start_long_run(packings[_i]);
    g_auto(CcsProgramRun) one = ccs_program_wait(first);
    g_auto(CcsProgramRun) two = ccs_program_wait(second);
    g_autofree char *counts = ccs_query_text(
        db, "SELECT group_concat(n, '|') FROM (SELECT count(*) AS n FROM complete_result"
            " GROUP BY run_id)");

    assert_done(&one);
    assert_done(&two);
    assert_sound();
    ck_assert_str_eq(counts, G_STRINGIFY(N_SIZES) "|" G_STRINGIFY(N_SIZES));
    ck_assert_double_eq(ccs_query_number(db, "SELECT count(*) FROM topology"), 1);
    ck_assert_double_eq(ccs_query_number(db, "SELECT (SELECT count(*) FROM flow_any) -"
                                             " (SELECT sum(flows) FROM result)"),
                        0);
}
END_TEST

#define N_AT_ONCE 4
#define N_ROUNDS  12

START_TEST(processes_that_make_one_database_at_once_agree)
{
    static const char *const args[] = {"bench", "allreduce", "-T", "nvlink8", "-b",
                                       "8",     "-e",        "8",  NULL};

    for (int round = 0; round < N_ROUNDS; round++) {
        GSubprocess *processes[N_AT_ONCE];
        g_remove(db);
        for (int i = 0; i < N_AT_ONCE; i++)
            processes[i] = ccs_program_start(&(CcsProgramCall){.args = args, .folder = folder});
        for (int i = 0; i < N_AT_ONCE; i++) {
            g_auto(CcsProgramRun) run = ccs_program_wait(processes[i]);
            assert_done(&run);
            g_object_unref(processes[i]);
        }
        ck_assert_double_eq(
            ccs_query_number(db, "SELECT count(*) FROM run WHERE status = 'complete'"), N_AT_ONCE);
    }
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("kill");
    TCase *tcase = tcase_create("kill");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, a_killed_run_leaves_a_sound_database, 0,
                        G_N_ELEMENTS(moments_ms) * G_N_ELEMENTS(packings));
    tcase_add_loop_test(tcase, a_killed_run_shows_as_interrupted, 0, G_N_ELEMENTS(packings));
    tcase_add_loop_test(tcase, a_run_under_way_shows_as_running, 0, G_N_ELEMENTS(packings));
    tcase_add_loop_test(tcase, an_interrupted_run_ends_in_order, 0, G_N_ELEMENTS(packings));
    tcase_add_test(tcase, an_interrupted_config_ends_in_order);
    tcase_add_test(tcase, processes_that_make_one_database_at_once_agree);
    tcase_add_loop_test(tcase, two_processes_write_one_database_at_once, 0, G_N_ELEMENTS(packings));
    suite_add_tcase(suite, tcase);
    return suite;
}
