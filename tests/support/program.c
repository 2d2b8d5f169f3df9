#include "tests/support/program.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define DEFAULT_SECONDS 240
#define NOBODY          65534

static const char *const variables_of_users[] = {"CCSIM_DB", "NO_COLOR", NULL};

/* What the child does before it becomes the program. An alarm outlives exec, so that the kernel
 * ends the program when its time is over. */
static void set_up_child(gpointer data)
{
    const CcsProgramCall *call = data;
    struct rlimit limit = {.rlim_cur = call->file_size_limit, .rlim_max = call->file_size_limit};

    alarm(call->seconds == 0 ? DEFAULT_SECONDS : call->seconds);
    if (call->file_size_limit != 0 && setrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(126);
    if (call->is_ordinary && getuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        _exit(126);
}

/* A file in memory, not a pipe: a program may end before it has read it all. */
static int open_input(const char *input)
{
    int fd = memfd_create("stdin", MFD_CLOEXEC);
    size_t size = strlen(input);

    if (fd < 0 || write(fd, input, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
        g_error("cannot hold the input of a program: %s", g_strerror(errno));
    return fd;
}

static GSubprocessLauncher *launcher_new(const CcsProgramCall *call)
{
    GSubprocessFlags to_the_test = call->output_file == NULL ? G_SUBPROCESS_FLAGS_STDOUT_PIPE : 0;
    GSubprocessLauncher *launcher =
        g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDERR_PIPE | to_the_test);

    if (call->output_file != NULL)
        g_subprocess_launcher_set_stdout_file_path(launcher, call->output_file);
    if (call->input != NULL)
        g_subprocess_launcher_take_stdin_fd(launcher, open_input(call->input));
    for (size_t i = 0; variables_of_users[i] != NULL; i++)
        g_subprocess_launcher_unsetenv(launcher, variables_of_users[i]);
    for (size_t i = 0; call->environment != NULL && call->environment[i] != NULL; i++) {
        g_auto(GStrv) pair = g_strsplit(call->environment[i], "=", 2);
        g_subprocess_launcher_setenv(launcher, pair[0], pair[1], true);
    }
    if (call->folder != NULL)
        g_subprocess_launcher_set_cwd(launcher, call->folder);
    union {
        const CcsProgramCall *in;
        gpointer out;
    } data = {.in = call};
    g_subprocess_launcher_set_child_setup(launcher, set_up_child, data.out, NULL);
    return launcher;
}

GSubprocess *ccs_program_start(const CcsProgramCall *call)
{
    const char *program = g_getenv("CCSIM");
    if (program == NULL)
        g_error("CCSIM must name the program to test");
    g_autoptr(GSubprocessLauncher) launcher = launcher_new(call);
    g_autoptr(GStrvBuilder) argv = g_strv_builder_new();
    g_strv_builder_add(argv, program);
    for (size_t i = 0; call->args[i] != NULL; i++)
        g_strv_builder_add(argv, call->args[i]);
    g_auto(GStrv) list = g_strv_builder_end(argv);
    g_autoptr(GError) error = NULL;
    GSubprocess *process =
        g_subprocess_launcher_spawnv(launcher, (const char *const *)list, &error);
    if (process == NULL)
        g_error("cannot start %s: %s", program, error->message);
    return process;
}

static char *text_of(GBytes *bytes)
{
    gsize size = 0;
    const char *data = bytes == NULL ? NULL : g_bytes_get_data(bytes, &size);
    return g_strndup(data == NULL ? "" : data, size);
}

CcsProgramRun ccs_program_wait(GSubprocess *process)
{
    g_autoptr(GBytes) output = NULL;
    g_autoptr(GBytes) errors = NULL;
    g_autoptr(GError) error = NULL;

    if (!g_subprocess_communicate(process, NULL, NULL, &output, &errors, &error))
        g_error("cannot talk to the program: %s", error->message);
    bool has_exited = g_subprocess_get_if_exited(process);
    int end_signal = has_exited ? 0 : g_subprocess_get_term_sig(process);
    return (CcsProgramRun){
        .output = text_of(output),
        .errors = text_of(errors),
        .status = has_exited ? g_subprocess_get_exit_status(process) : -1,
        .signal = end_signal,
        .is_late = end_signal == SIGALRM,
    };
}

CcsProgramRun ccs_program_run(const CcsProgramCall *call)
{
    g_autoptr(GSubprocess) process = ccs_program_start(call);

    return ccs_program_wait(process);
}

CcsProgramRun ccs_program_run_line(const char *folder, const char *line)
{
    g_auto(GStrv) args = NULL;
    g_autoptr(GError) error = NULL;

    if (!g_shell_parse_argv(line, NULL, &args, &error))
        g_error("%s: %s", line, error->message);
    return ccs_program_run(&(CcsProgramCall){.args = (const char *const *)args, .folder = folder});
}

void ccs_program_run_clear(CcsProgramRun *run)
{
    g_clear_pointer(&run->output, g_free);
    g_clear_pointer(&run->errors, g_free);
}

char *ccs_source_path(const char *name)
{
    const char *root = g_getenv("CCSIM_SOURCE_ROOT");
    if (root == NULL)
        g_error("CCSIM_SOURCE_ROOT must name the top of the source tree");
    return g_build_filename(root, name, NULL);
}
