#include "trace/process.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include <glib.h>

#define FIELD_STATE   3
#define FIELD_STARTED 22

char *ccs_process_boot_id(void)
{
    char *id = NULL;

    if (!g_file_get_contents("/proc/sys/kernel/random/boot_id", &id, NULL, NULL))
        return g_strdup("");
    return g_strchomp(id);
}

/* The line of /proc/PID/stat from its third field on: the second one, the name in brackets,
 * may hold spaces and brackets of its own. NULL if there is no such process to be seen. */
static char **stat_fields_from_state(int64_t pid)
{
    g_autofree char *path = g_strdup_printf("/proc/%" G_GINT64_FORMAT "/stat", pid);
    g_autofree char *line = NULL;

    if (!g_file_get_contents(path, &line, NULL, NULL))
        return NULL;
    const char *name_end = strrchr(line, ')');
    if (name_end == NULL || name_end[1] != ' ')
        return NULL;
    return g_strsplit(name_end + 2, " ", -1);
}

int64_t ccs_process_started_ticks(int64_t pid)
{
    g_auto(GStrv) fields = stat_fields_from_state(pid);

    if (fields == NULL || g_strv_length(fields) <= FIELD_STARTED - FIELD_STATE)
        return 0;
    if (strchr("ZXx", fields[0][0]) != NULL)
        return 0;
    return g_ascii_strtoll(fields[FIELD_STARTED - FIELD_STATE], NULL, 10);
}

/* Without a look into /proc: a process of another user counts as well. */
static bool takes_signals(int64_t pid)
{
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

bool ccs_process_lives(const CcsProcess *process)
{
    g_autofree char *boot_id = ccs_process_boot_id();
    g_auto(GStrv) fields = stat_fields_from_state(process->pid);

    if (strcmp(boot_id, process->boot_id) != 0 || process->pid <= 0)
        return false;
    if (fields == NULL || process->started_ticks == 0)
        return takes_signals(process->pid);
    return ccs_process_started_ticks(process->pid) == process->started_ticks;
}
