#include "commands/command.h"

#include <string.h>

#include "base/error.h"

bool ccs_command_parse(const CcsCommand *command, const char *arguments,
                       const GOptionEntry *entries, int *argc, char ***argv, GError **error)
{
    g_autoptr(GOptionContext) context = g_option_context_new(arguments);
    g_autofree char *name = g_strdup_printf("ccsim %s", command->name);
    g_autoptr(GError) failure = NULL;

    g_set_prgname(name); /* for the text of --help */
    g_option_context_set_summary(context, command->summary);
    g_option_context_add_main_entries(context, entries, NULL);
    if (g_option_context_parse(context, argc, argv, &failure))
        return true;
    g_set_error_literal(error, CCS_ERROR, CCS_ERROR_USAGE, failure->message);
    return false;
}

char *ccs_command_line(int argc, char **argv)
{
    GString *line = g_string_new("ccsim");

    for (int i = 0; i < argc; i++) {
        bool is_plain =
            argv[i][0] != '\0' && strpbrk(argv[i], " \t\n'\"\\$`*?;&|<>(){}[]#~!") == NULL;
        g_autofree char *quoted = is_plain ? g_strdup(argv[i]) : g_shell_quote(argv[i]);
        g_string_append_printf(line, " %s", quoted);
    }
    return g_string_free(line, false);
}
