#include "commands/version.h"

#include <glib.h>
#include <libsmartcols.h>
#include <sqlite3.h>
#include <yaml.h>
#include <zstd.h>

#include "collectives/transport.h"
#include "models/network_model.h"

/* As they are now, which need not be what was compiled against. */
static void print_libraries(FILE *out)
{
    const char *smartcols = NULL;

    scols_get_library_version(&smartcols);
    fprintf(out, "libraries: glib %u.%u.%u, libyaml %s, sqlite %s, libsmartcols %s, zstd %s\n",
            glib_major_version, glib_minor_version, glib_micro_version, yaml_get_version_string(),
            sqlite3_libversion(), smartcols, ZSTD_versionString());
}

void ccs_version_print(FILE *out)
{
    fprintf(out, "ccsim " CCS_VERSION "\n");
    print_libraries(out);
    fprintf(out, "models:");
    for (size_t i = 0; ccs_network_models[i] != NULL; i++)
        fprintf(out, " %s (%s)", ccs_network_models[i]->name, ccs_network_models[i]->engine);
    fprintf(out, "\ntransports:");
    for (size_t i = 0; ccs_transport_names[i] != NULL; i++)
        fprintf(out, " %s", ccs_transport_names[i]);
    fprintf(out, "\n");
}
