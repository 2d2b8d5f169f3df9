/* flow_packed.h - the module `flow_packed`: a virtual table of all flows of a database
 *
 * It gives the rows of `flow_row` and those packed in `flow_chunk`, by ascending flow_id. What a
 * query asks of flow_id, result_id and the times is used to pass over chunks unread. A chunk
 * that is damaged ends the query with SQLITE_CORRUPT.
 *
 * The file is compiled twice: into the program, which calls SQLite as linked, and into the
 * loadable extension, which calls the SQLite that loads it. */
#pragma once

struct sqlite3;

/* ccs_flow_packed_register: Returns: a code of SQLite. */
int ccs_flow_packed_register(struct sqlite3 *db);
