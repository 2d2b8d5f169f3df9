/* process.h - whether the process that wrote something still lives
 *
 * A process id alone is used again and again. Together with the start time of the process
 * and the id of the system's boot it names one process for ever. Read from /proc. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int64_t pid;
    int64_t started_ticks; /* clock ticks after boot: field 22 of /proc/PID/stat; 0: not known */
    const char *boot_id;   /* "" if not known */
} CcsProcess;

/* ccs_process_boot_id:
 * Returns: (transfer full): the id of the running system's boot; "" if not known. */
char *ccs_process_boot_id(void);

/* ccs_process_started_ticks:
 * Returns: when the process @pid started; 0 if it is gone, is a zombie or cannot be seen. */
int64_t ccs_process_started_ticks(int64_t pid);

/* ccs_process_lives: where /proc tells too little, a process with that id counts. */
bool ccs_process_lives(const CcsProcess *process);
