/* What a user sees on a terminal while a run takes long, and when he stops it. */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cli/cli.h"
#include "tests/support/check_main.h"

/* With a slow NIC, so that every message counts; each size takes a fraction of a second. */
#define SLOW_NIC "faults=[{kind: link, from: n1.nic0, to: leaf0, bandwidth_factor: 0.5}]"
#define LONG_RUN                                                                                   \
    "bench", "alltoall", "-T", "cluster32", "--nodes", "16", "--set", SLOW_NIC, "--probe"
#define CLEAR     "\r\033[K"
#define INTERRUPT "\003" /* what Ctrl-C sends */

static CcsFolder *folder;

static void set_up(void)
{
    folder = ccs_folder_new();
}

static void tear_down(void)
{
    g_clear_pointer(&folder, ccs_folder_remove);
}

/* The program on a terminal of its own. */
typedef struct {
    pid_t pid;
    int fd;          /* the other side of the terminal */
    GString *output; /* all that was shown so far */
} Session;

static void run_program(const char *const *args, const char *terminal, const char *no_color)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

    g_strv_builder_add(builder, g_getenv("CCSIM"));
    for (size_t i = 0; args[i] != NULL; i++)
        g_strv_builder_add(builder, args[i]);
    setenv("TERM", terminal, 1);
    setenv("NO_COLOR", no_color, 1);
    if (chdir(folder) == 0) {
        char **all = g_strv_builder_end(builder);
        execv(all[0], all);
    }
    _exit(99);
}

static Session start(const char *const *args, const char *terminal, const char *no_color)
{
    Session session = {.output = g_string_new(NULL)};
    struct winsize size = {.ws_row = 24, .ws_col = 200};

    session.pid = forkpty(&session.fd, NULL, NULL, &size);
    ck_assert_int_ge(session.pid, 0);
    if (session.pid == 0)
        run_program(args, terminal, no_color);
    return session;
}

/* Returns: whether there can be more. */
static bool read_some(Session *session)
{
    char buffer[4096];
    struct pollfd polled = {.fd = session->fd, .events = POLLIN};

    ck_assert_msg(poll(&polled, 1, 100000) == 1, "nothing more comes after: %s",
                  session->output->str);
    ssize_t n = read(session->fd, buffer, sizeof buffer);
    if (n <= 0) /* EIO: nobody has the terminal open any more */
        return false;
    g_string_append_len(session->output, buffer, n);
    return true;
}

static void wait_for(Session *session, const char *text)
{
    while (strstr(session->output->str, text) == NULL)
        ck_assert_msg(read_some(session), "the end, without '%s': %s", text, session->output->str);
}

/* Reads all that is left. Returns: the exit status. */
static int end(Session *session)
{
    int status = 0;

    while (read_some(session))
        ;
    waitpid(session->pid, &status, 0);
    close(session->fd);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What is left to be seen: all behind the last time that the line was cleared. */
static const char *rest(const Session *session)
{
    const char *last = g_strrstr(session->output->str, CLEAR);

    return last == NULL ? session->output->str : last + strlen(CLEAR);
}

START_TEST(a_long_run_shows_how_far_it_is)
{
    static const char *const args[] = {LONG_RUN, "-A", "pairwise_eager", "-b", "512M", NULL};
    Session session = start(args, "xterm", "");
    int status = end(&session);

    ck_assert_int_eq(status, 0);
    assert_says(session.output->str, CLEAR "[\033[32m");
    assert_says(session.output->str, " left" CLEAR);
    assert_says_not(rest(&session), " left");
    assert_says(rest(&session), "size (B)");
    g_string_free(session.output, true);
}
END_TEST

static const struct {
    const char *terminal;
    const char *const args[20];
} without_bar[] = {
    {"dumb", {LONG_RUN, "-A", "pairwise_eager", "-b", "4G", NULL}},
    {"xterm", {"bench", "allreduce", "-T", "nvlink8", "-b", "8", "-e", "8", NULL}},
};

START_TEST(nothing_is_drawn_where_it_cannot_be_or_for_short_runs)
{
    Session session = start(without_bar[_i].args, without_bar[_i].terminal, "");
    int status = end(&session);

    ck_assert_int_eq(status, 0);
    assert_says_not(session.output->str, CLEAR);
    g_string_free(session.output, true);
}
END_TEST

START_TEST(a_program_that_reads_along_sees_no_bar)
{
    static const char *const args[] = {LONG_RUN, "-A", "pairwise_eager", "-b", "4G", NULL};
    static const char *const environment[] = {"TERM=xterm", NULL};
    g_auto(CcsProgramRun) run = ccs_program_run(&(CcsProgramCall){
        .args = args, .folder = folder, .environment = environment, .seconds = 240});

    assert_done(&run);
}
END_TEST

/* Interrupts @args once the bar is there, so that some sizes are done. Without color. */
static Session interrupt(const char *const *args)
{
    Session session = start(args, "xterm", "1");

    wait_for(&session, CLEAR "[#");
    ck_assert_int_eq(write(session.fd, INTERRUPT, 1), 1);
    return session;
}

START_TEST(ctrl_c_shows_what_is_done)
{
    static const char *const args[] = {LONG_RUN, "-A", "pairwise_eager,direct,pairwise", NULL};
    Session session = interrupt(args);
    int status = end(&session);
    g_auto(CcsProgramRun) runs = ccs_program_run_line(folder, "runs --format csv");

    ck_assert_int_eq(status, 130);
    assert_says(rest(&session), "size (B)");
    assert_says(rest(&session), "pairwise_eager");
    assert_says(rest(&session), "ccsim: error: interrupted");
    assert_says_not(rest(&session), " left");
    assert_says_not(session.output->str, "\033[32m");
    assert_says(runs.output, ",interrupted,");
    g_string_free(session.output, true);
}
END_TEST

START_TEST(ctrl_c_shows_the_cases_of_a_config_that_are_done)
{
    static const char *const args[] = {"run", "two.yaml", "--probe", NULL};
    write_file(folder, "two.yaml",
               "title: two cases\ntopology: cluster32\nnodes: 16\nset: ['" SLOW_NIC "']\ncases:\n"
               "  - {title: quick, collective: broadcast, algorithms: [flat], sizes: [1 MiB]}\n"
               "  - {title: slow, collective: alltoall, algorithms: [pairwise_eager],\n"
               "     sizes: {from: 8 B, to: 1024 TiB}}\n");
    Session session = interrupt(args);
    int status = end(&session);

    ck_assert_int_eq(status, 130);
    assert_says(rest(&session), "two cases");
    assert_says(rest(&session), "quick (broadcast, cluster32)");
    assert_says(rest(&session), "ccsim: error: interrupted");
    g_string_free(session.output, true);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("terminal");
    TCase *tcase = tcase_create("terminal");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_long_run_shows_how_far_it_is);
    tcase_add_loop_test(tcase, nothing_is_drawn_where_it_cannot_be_or_for_short_runs, 0,
                        G_N_ELEMENTS(without_bar));
    tcase_add_test(tcase, a_program_that_reads_along_sees_no_bar);
    tcase_add_test(tcase, ctrl_c_shows_what_is_done);
    tcase_add_test(tcase, ctrl_c_shows_the_cases_of_a_config_that_are_done);
    suite_add_tcase(suite, tcase);
    return suite;
}
