/* main.c - finds the command that the user names, and turns its error into an exit status */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "commands/command.h"
#include "commands/version.h"
#include "trace/database.h"

static void print_help(FILE *out)
{
    fputs("ccsim simulates the communication of GPU clusters.\n\n"
          "Usage: ccsim COMMAND [OPTION...]\n\nCommands:\n",
          out);
    for (size_t i = 0; ccs_commands[i] != NULL; i++)
        fprintf(out, "  %-8s %s\n", ccs_commands[i]->name, ccs_commands[i]->summary);
    fputs("  help     Explain a command: ccsim help COMMAND\n\n"
          "Exit status: 0 done, 1 a check failed, 2 wrong usage, 3 invalid input, 4 I/O or"
          " database,\n130 interrupted. Data goes to stdout, all else to stderr.\n",
          out);
}

static const CcsCommand *find_command(const char *name, GError **error)
{
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();

    for (size_t i = 0; ccs_commands[i] != NULL; i++) {
        if (strcmp(ccs_commands[i]->name, name) == 0)
            return ccs_commands[i];
        g_strv_builder_add(names, ccs_commands[i]->name);
    }
    g_strv_builder_add(names, "help");
    g_auto(GStrv) list = g_strv_builder_end(names);
    g_autofree char *hint = ccs_did_you_mean(name, (const char *const *)list);
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "unknown command '%s'%s; see 'ccsim help'", name,
                hint);
    return NULL;
}

static bool explain(const char *name, GError **error)
{
    if (strcmp(name, "help") == 0) {
        print_help(stdout);
        return true;
    }
    const CcsCommand *command = find_command(name, error);
    g_autofree char *copy = g_strdup(name);
    char help[] = "--help";
    char *arguments[] = {copy, help, NULL};

    return command != NULL && command->run(2, arguments, error);
}

static bool run(int argc, char **argv, GError **error)
{
    const char *name = argc < 2 ? "" : argv[1];

    if (argc < 2) {
        print_help(stderr);
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "no command is given");
        return false;
    }
    if (strcmp(name, "--version") == 0) {
        ccs_version_print(stdout);
        return true;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        if (argc > 3) {
            g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "'%s' is one argument too many",
                        argv[3]);
            return false;
        }
        if (argc > 2)
            return explain(argv[2], error);
        print_help(stdout);
        return true;
    }
    const CcsCommand *command = find_command(name, error);
    return command != NULL && command->run(argc - 1, argv + 1, error);
}

/* What names its place already, "file:2:8: error: ...", is left as it is. */
static void report(const GError *error)
{
    if (strstr(error->message, ": error: ") != NULL)
        g_printerr("%s\n", error->message);
    else
        g_printerr("ccsim: error: %s\n", error->message);
}

static void finish_output(GError **error)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    g_set_error(error, CCS_ERROR, CCS_ERROR_IO, "standard output: error: cannot be written: %s",
                g_strerror(errno == 0 ? EIO : errno));
}

int main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;

    setlocale(LC_CTYPE, "");  /* for characters in tables; numbers keep their point */
    signal(SIGPIPE, SIG_DFL); /* whoever closes a pipe has read what it wanted: end quietly */
    ccs_database_ignore_size_signal();
    run(argc, argv, &error);
    finish_output(error == NULL ? &error : NULL);
    if (error == NULL)
        return 0;
    report(error);
    return error->domain == CCS_ERROR ? error->code : CCS_ERROR_IO;
}
