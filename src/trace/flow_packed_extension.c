/* flow_packed_extension.c - the module flow_packed for programs that load it: .load flow_packed */
#include <glib.h>
#include <sqlite3ext.h>

#include "trace/flow_packed.h"

SQLITE_EXTENSION_INIT1

#define EXPORTED __attribute__((visibility("default")))

/* The name that SQLite looks for. */
EXPORTED int sqlite3_extension_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

/* It stays loaded when the database is closed: GLib keeps addresses of its texts. */
int sqlite3_extension_init(sqlite3 *db, G_GNUC_UNUSED char **message,
                           const sqlite3_api_routines *api)
{
    SQLITE_EXTENSION_INIT2(api);
    int code = ccs_flow_packed_register(db);
    return code == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : code;
}
