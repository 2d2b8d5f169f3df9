#include "commands/command.h"

#include <string.h>

#include "base/error.h"
#include "commands/write_file.h"

/* " (did you mean '--format'?)" where GLib's @message speaks of an unknown long option. */
static char *option_hint(const GOptionEntry *entries, const char *message)
{
    const char *word = strstr(message, "--");
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

    if (word == NULL)
        return g_strdup("");
    for (size_t i = 0; entries[i].long_name != NULL; i++)
        g_ptr_array_add(names, g_strconcat("--", entries[i].long_name, NULL));
    g_ptr_array_add(names, NULL);
    g_autofree char *given = g_strndup(word, strcspn(word, "="));
    return ccs_did_you_mean(given, (const char *const *)names->pdata);
}

/* Not GLib's own --help, which ends the program with success even if it cannot print. */
static GOptionContext *context_new(const CcsCommand *command, const char *arguments,
                                   const GOptionEntry *entries, gboolean *is_help)
{
    GOptionContext *context = g_option_context_new(arguments);
    const GOptionEntry help[] = {
        {"help", 'h', 0, G_OPTION_ARG_NONE, is_help, "Show this help", NULL},
        G_OPTION_ENTRY_NULL,
    };

    g_option_context_set_help_enabled(context, false);
    g_option_context_set_summary(context, command->summary);
    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_add_main_entries(context, help, NULL);
    return context;
}

bool ccs_command_parse(const CcsCommand *command, const char *arguments,
                       const GOptionEntry *entries, int *argc, char ***argv, GError **error)
{
    gboolean is_help = false;
    g_autoptr(GOptionContext) context = context_new(command, arguments, entries, &is_help);
    g_autofree char *name = g_strdup_printf("ccsim %s", command->name);
    g_autoptr(GError) failure = NULL;

    g_set_prgname(name); /* for the text of --help */
    if (!g_option_context_parse(context, argc, argv, &failure)) {
        bool is_unknown = g_error_matches(failure, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION);
        g_autofree char *hint = is_unknown ? option_hint(entries, failure->message) : g_strdup("");
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "%s%s; see '%s --help'", failure->message,
                    hint, name);
        return false;
    }
    if (!is_help)
        return true;
    g_autofree char *text = g_option_context_get_help(context, true, NULL);
    ccs_stdout_write(text, error);
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
