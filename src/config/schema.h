/* schema.h - a JSON Schema (draft 2020-12) made from a table of fields */
#pragma once

#include "config/field.h"

/* ccs_schema_json:
 * The schema of a file that is decoded by @table, called @title, for editors and checkers.
 * Returns: (transfer full): JSON, indented, with a line break at its end. */
char *ccs_schema_json(const CcsFieldTable *table, const char *title);
