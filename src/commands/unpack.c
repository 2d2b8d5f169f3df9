/* unpack.c - ccsim unpack: packed flows become rows that every program with SQLite reads */
#include "trace/unpack.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "commands/command.h"
#include "commands/effects.h"

extern const CcsCommand ccs_command_unpack;

static bool check_id(const char *option, int64_t id, GError **error)
{
    if (id >= 0)
        return true;
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                "%s must be an id from 1 on, not %" G_GINT64_FORMAT, option, id);
    return false;
}

static bool unpack(const char *path, CcsUnpackChoice choice, GError **error)
{
    g_autoptr(CcsDatabase) database = ccs_database_open(path, CCS_DATABASE_CHANGE, error);
    uint64_t n_flows = 0;

    if (database == NULL)
        return false;
    ccs_interrupt_catch();
    if (!ccs_unpack_flows(database, choice, &n_flows, error))
        return false;
    ccs_note("%" G_GUINT64_FORMAT " flows unpacked", n_flows);
    return true;
}

static bool run(int argc, char **argv, GError **error)
{
    g_autofree char *given = NULL;
    CcsUnpackChoice choice = {0};
    const GOptionEntry entries[] = {
        CCS_OPTION_DB(&given),
        {"run", 0, 0, G_OPTION_ARG_INT64, &choice.run_id, "Only what this run wrote", "ID"},
        {"result", 0, 0, G_OPTION_ARG_INT64, &choice.result_id, "Only what belongs to this result",
         "ID"},
        G_OPTION_ENTRY_NULL,
    };

    if (!ccs_command_parse(&ccs_command_unpack, "[DB]", entries, &argc, &argv, error) ||
        !check_id("--run", choice.run_id, error) || !check_id("--result", choice.result_id, error))
        return false;
    if (argc > 2 || (argc == 2 && given != NULL)) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "'%s' is one argument too many",
                    argv[argc - 1]);
        return false;
    }
    g_autofree char *path = ccs_database_default_path(argc == 2 ? argv[1] : given);
    return unpack(path, choice, error);
}

const CcsCommand ccs_command_unpack = {
    .name = "unpack",
    .summary = "Make plain rows of the packed flows in a database.",
    .run = run,
};
