/* command.h - a command of the program: "ccsim NAME ..." */
#pragma once

#include <stdbool.h>

#include <glib.h>

typedef struct {
    const char *name;
    const char *summary; /* one line, for the list of commands */
    /* argv[0] is the name of the command. Results go to stdout. The code of an error is the
     * exit status; false without an error means that --help was all that was asked for. */
    bool (*run)(int argc, char **argv, GError **error);
} CcsCommand;

/* ccs_command_parse:
 * Takes the options out of @argc and @argv. @arguments is what follows them: "[QUERY]"; NULL for
 * nothing.
 *
 * Returns: false with CCS_ERROR_USAGE; false without an error when --help was among them and how
 * to call @command has been printed. */
bool ccs_command_parse(const CcsCommand *command, const char *arguments,
                       const GOptionEntry *entries, int *argc, char ***argv, GError **error);

/* Options that several commands share, for a GOptionEntry: @variable is the address of a char *. */
#define CCS_OPTION_DB(variable)                                                                    \
    {                                                                                              \
        "db", 0, 0, G_OPTION_ARG_FILENAME, variable, "The database; else $CCSIM_DB or ccsim.db",   \
            "FILE"                                                                                 \
    }
#define CCS_OPTION_FORMAT(variable)                                                                \
    {                                                                                              \
        "format", 0, 0, G_OPTION_ARG_STRING, variable, "table, csv, json, ndjson or md", "FORMAT"  \
    }

/* All commands, in the order of the help; NULL ends the list. Each is one file and one line in
 * commands/meson.build. */
extern const CcsCommand *const ccs_commands[];

/* ccs_command_line: "ccsim NAME ARGUMENTS" with quotes where a shell needs them, for the record.
 * Returns: (transfer full). */
char *ccs_command_line(int argc, char **argv);
