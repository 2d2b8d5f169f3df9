/* list.c - what there is to choose from */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "collectives/algorithm.h"
#include "commands/command.h"
#include "commands/run_config.h"
#include "config/config.h"
#include "models/network_model.h"
#include "report/rows.h"
#include "workloads/program_spec.h"

extern const CcsCommand ccs_command_list;

static void add(CcsRows *rows, const char *kind, const char *name, const char *of,
                const char *summary)
{
    const CcsCell cells[] = {
        {CCS_CELL_TEXT, kind},
        {of == NULL ? CCS_CELL_NULL : CCS_CELL_TEXT, of},
        {CCS_CELL_TEXT, name},
        {summary == NULL ? CCS_CELL_NULL : CCS_CELL_TEXT, summary},
    };
    ccs_rows_add(rows, cells);
}

static void list_collectives(CcsRows *rows)
{
    for (uint32_t i = 0; i < CCS_N_COLLECTIVES; i++) {
        const CcsCollectiveInfo *info = ccs_collective_info((CcsCollective)i);
        add(rows, "collective", info->name, NULL, info->summary);
    }
}

static void list_algorithms(CcsRows *rows)
{
    for (uint32_t i = 0; i < CCS_N_COLLECTIVES; i++) {
        for (size_t j = 0; ccs_algorithms[j] != NULL; j++) {
            const CcsAlgorithm *algorithm = ccs_algorithms[j];
            if (algorithm->collective == (CcsCollective)i)
                add(rows, "algorithm", algorithm->name, ccs_collective_info((CcsCollective)i)->name,
                    algorithm->summary);
        }
    }
}

static void list_topologies(CcsRows *rows)
{
    g_auto(GStrv) names = ccs_config_builtin_names("topologies");

    for (size_t i = 0; names[i] != NULL; i++)
        add(rows, "topology", names[i], NULL, NULL);
}

/* Configs for 'ccsim run' and programs for 'ccsim program' lie in one folder. */
static void list_of_folder(CcsRows *rows, bool is_program)
{
    g_auto(GStrv) names = ccs_config_builtin_names("configs");

    for (size_t i = 0; names[i] != NULL; i++) {
        g_autoptr(CcsConfig) config = ccs_config_open("configs", names[i], NULL);
        CcsRunConfig run = {0};
        CcsProgramSpec program = {0};
        if (ccs_config_has(config, "program") != is_program)
            continue;
        if (is_program)
            ccs_config_decode(config, &ccs_program_table, &program);
        else
            ccs_config_decode(config, &ccs_run_config_table, &run);
        add(rows, is_program ? "program" : "config", names[i], NULL,
            is_program ? program.title : run.title);
    }
}

static void list_configs(CcsRows *rows)
{
    list_of_folder(rows, false);
}

static void list_programs(CcsRows *rows)
{
    list_of_folder(rows, true);
}

static void list_models(CcsRows *rows)
{
    for (size_t i = 0; ccs_network_models[i] != NULL; i++)
        add(rows, "model", ccs_network_models[i]->name, ccs_network_models[i]->engine,
            ccs_network_models[i]->summary);
}

static void list_transports(CcsRows *rows)
{
    add(rows, "transport", "ideal", NULL, "costs nothing; see 'ccsim schema transport'");
}

static const struct {
    const char *name;
    void (*list)(CcsRows *rows);
} kinds[] = {
    {"collectives", list_collectives}, {"algorithms", list_algorithms},
    {"topologies", list_topologies},   {"configs", list_configs},
    {"programs", list_programs},       {"models", list_models},
    {"transports", list_transports},
};

static bool print(const char *wanted, CcsFormat format, GError **error)
{
    static const CcsColumn columns[] = {{"kind", CCS_ALIGN_LEFT},
                                        {"of", CCS_ALIGN_LEFT},
                                        {"name", CCS_ALIGN_LEFT},
                                        {"summary", CCS_ALIGN_LEFT}};
    g_autoptr(CcsRows) rows = ccs_rows_new(stdout, format, columns, G_N_ELEMENTS(columns));
    const char *names[G_N_ELEMENTS(kinds) + 1] = {NULL};
    bool is_known = wanted == NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        names[i] = kinds[i].name;
        if (wanted != NULL && strcmp(wanted, kinds[i].name) != 0)
            continue;
        kinds[i].list(rows);
        is_known = true;
    }
    if (is_known)
        return ccs_rows_end(rows, error);
    g_autofree char *hint = ccs_did_you_mean(wanted, names);
    g_autofree char *all = g_strjoinv(" ", (char **)(gpointer)names);
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "nothing is called '%s'%s; there are: %s",
                wanted, hint, all);
    return false;
}

static bool run(int argc, char **argv, GError **error)
{
    g_autofree char *format_name = NULL;
    CcsFormat format = CCS_FORMAT_TABLE;
    const GOptionEntry entries[] = {
        CCS_OPTION_FORMAT(&format_name),
        G_OPTION_ENTRY_NULL,
    };

    if (!ccs_command_parse(&ccs_command_list, "[WHAT]", entries, &argc, &argv, error) ||
        !ccs_format_parse(format_name, CCS_FORMATS_OF_ROWS, &format, error))
        return false;
    if (argc > 2) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "'%s' is one argument too many", argv[2]);
        return false;
    }
    return print(argc == 2 ? argv[1] : NULL, format, error);
}

const CcsCommand ccs_command_list = {
    .name = "list",
    .summary =
        "Show the collectives, algorithms, topologies, configs, programs, models and transports.",
    .run = run,
};
