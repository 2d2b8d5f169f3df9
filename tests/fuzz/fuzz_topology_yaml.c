#include "topology/topology_yaml.h"

#include <string.h>

#include <glib.h>

#include "base/error.h"
#include "config/config.h"
#include "tests/fuzz/fuzz.h"

/* Whatever the text, there is a topology or an error with a message in valid UTF-8. A first line
 * that is a comment may stand for an override: "#--set node.gpus=2". */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    g_autofree char *text = g_strndup((const char *)data, n_bytes);
    g_autofree char *line = g_strndup(text, strcspn(text, "\r\n"));
    bool has_override = g_str_has_prefix(line, "#--set ");
    const char *overrides[] = {has_override ? line + strlen("#--set ") : NULL, NULL};
    CcsTopologyOptions options = {.overrides = overrides};
    g_autoptr(GPtrArray) params = NULL;
    g_autoptr(GError) error = NULL;

    g_autoptr(CcsTopology) topology =
        ccs_topology_read("fuzz.yaml", (const char *)data, n_bytes, &options, &params, &error);
    g_assert((topology == NULL) == (error != NULL));
    g_assert(error == NULL ||
             (error->code == CCS_ERROR_INPUT && g_utf8_validate(error->message, -1, NULL)));
    g_assert((topology == NULL) == (params == NULL));
    return 0;
}
