/* schema.c - JSON Schemas of the files that ccsim reads, for editors and checkers */
#include <string.h>

#include "base/error.h"
#include "collectives/transport.h"
#include "commands/command.h"
#include "commands/run_config.h"
#include "commands/write_file.h"
#include "config/schema.h"
#include "topology/topology_yaml.h"
#include "workloads/program.h"

extern const CcsCommand ccs_command_schema;

static char *schema_of(const char *what)
{
    if (strcmp(what, "topology") == 0)
        return ccs_topology_schema();
    if (strcmp(what, "config") == 0)
        return ccs_schema_json(&ccs_run_config_table, "ccsim config");
    if (strcmp(what, "transport") == 0)
        return ccs_schema_json(&ccs_transport_table, "ccsim transport");
    if (strcmp(what, "program") == 0)
        return ccs_program_schema();
    return NULL;
}

static bool run(int argc, char **argv, GError **error)
{
    static const char *const names[] = {"topology", "config", "transport", "program", NULL};
    const GOptionEntry entries[] = {G_OPTION_ENTRY_NULL};

    if (!ccs_command_parse(&ccs_command_schema, "topology|config|transport|program", entries, &argc,
                           &argv, error))
        return false;
    if (argc != 2) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "one of topology, config, transport or program must be named");
        return false;
    }
    g_autofree char *schema = schema_of(argv[1]);
    if (schema != NULL)
        return ccs_stdout_write(schema, error);
    g_autofree char *hint = ccs_did_you_mean(argv[1], names);
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                "no schema is called '%s'%s; there are: topology config transport program", argv[1],
                hint);
    return false;
}

const CcsCommand ccs_command_schema = {
    .name = "schema",
    .summary = "Print the JSON Schema of topology, config, transport or program files.",
    .run = run,
};
