#include "commands/command.h"

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
