/* query.h - single values out of a database and out of JSON text
 *
 * The test fails when the SQL or the JSON is malformed. */
#pragma once

/* ccs_query_text:
 * The first column of the first row that @sql gives on the database file @path, which is
 * not changed and whose packed flows are read (but what a killed writer left half done is undone,
 * as every reader does). A NULL
 * @path stands for an empty database.
 *
 * Returns: (transfer full): its text; NULL for no row and for SQL's NULL. */
char *ccs_query_text(const char *path, const char *sql);

/* ccs_query_number:
 * The same as a number; NaN for no row and for SQL's NULL. */
double ccs_query_number(const char *path, const char *sql);

/* ccs_json_text:
 * The value at @place ("$.results[0].algorithm", "$.results[#-1].size_bytes") of @json;
 * objects and arrays come as JSON, true and false as 1 and 0.
 *
 * Returns: (transfer full): its text; NULL where nothing is or JSON's null stands. */
char *ccs_json_text(const char *json, const char *place);

/* ccs_json_number:
 * The same as a number; NaN where nothing is or JSON's null stands. */
double ccs_json_number(const char *json, const char *place);

/* ccs_json_types:
 * Returns: (transfer full): for each key of the object at @place of @json a line "KEY TYPE", where
 * TYPE is what SQLite's json_type() says: integer, real, text, object, null, ... */
char *ccs_json_types(const char *json, const char *place);

/* ccs_json_length:
 * The number of elements of the array at @place of @json; NaN if no array is there. */
double ccs_json_length(const char *json, const char *place);
