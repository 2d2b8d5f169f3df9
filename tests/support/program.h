/* program.h - run a program as a process of its own, as a user would
 *
 * The program is the one that the environment variable CCSIM names, which meson sets to the
 * ccsim just built. It sees none of the variables by which a user sets ccsim up, so that a
 * test gives the same result everywhere. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <gio/gio.h>
#include <glib.h>

typedef struct {
    const char *const *args;        /* NULL-terminated, without the program's name */
    const char *input;              /* what stdin gives; NULL: nothing */
    const char *const *environment; /* NULL-terminated "NAME=value" to add; may be NULL */
    const char *folder;             /* working folder; NULL: that of the test */
    uint32_t seconds;               /* killed when it runs longer; 0: a minute */
    const char *output_file;        /* stdout goes to this file or device; NULL: to the test */
    uint64_t file_size_limit;       /* no file may grow beyond so many bytes; 0: no limit */
    bool is_ordinary;               /* as the user nobody, if the test runs as root */
} CcsProgramCall;

typedef struct {
    char *output; /* owned: stdout, with a zero byte behind it */
    char *errors; /* owned: stderr, likewise */
    int status;   /* exit status; -1 when a signal ended it */
    int signal;   /* that ended it; 0 when it exited */
    bool is_late; /* it was killed because its time was over */
} CcsProgramRun;

/* ccs_program_run:
 * Runs @call to its end. The test fails when the program cannot be started. */
CcsProgramRun ccs_program_run(const CcsProgramCall *call);

/* ccs_program_start, ccs_program_wait:
 * The same in two steps, to do something to the process in between.
 *
 * Returns: (transfer full): the process. */
GSubprocess *ccs_program_start(const CcsProgramCall *call);
CcsProgramRun ccs_program_wait(GSubprocess *process);

/* ccs_program_run_line:
 * The same for a command line written as in a shell ("bench allreduce --set 'a=1 us'"),
 * without the program's name, in @folder, which may be NULL. */
CcsProgramRun ccs_program_run_line(const char *folder, const char *line);

void ccs_program_run_clear(CcsProgramRun *run);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CcsProgramRun, ccs_program_run_clear)

/* ccs_source_path:
 * Where the file @name of the source tree ("topologies/nvlink8.yaml") lies.
 *
 * Returns: (transfer full). */
char *ccs_source_path(const char *name);
