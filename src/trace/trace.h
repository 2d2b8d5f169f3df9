/* trace.h - the SQLite database of runs
 *
 * One file holds many runs; several processes may write to it at once. A run is opened,
 * filled with results and closed; its status becomes 'complete' in the transaction that
 * writes the end of it. A process that dies leaves a run whose status is 'running' but
 * whose process is gone, and the readers call that run interrupted.
 *
 * Every write happens in a short transaction, so that no writer keeps another one waiting:
 * flows are collected in memory and written in portions.
 *
 * docs/database.md explains every table, view and column. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/units.h"
#include "sim/result.h"
#include "topology/topology.h"

typedef enum {
    CCS_TRACE_NONE,    /* runs, results and parameters */
    CCS_TRACE_SUMMARY, /* and totals per rank and link, and the critical path */
    CCS_TRACE_STEPS,   /* and one row per phase and step */
    CCS_TRACE_FLOWS,   /* and one row per message */
} CcsTraceLevel;

const char *ccs_trace_level_name(CcsTraceLevel level); /* "none", "summary", ... */

/* ccs_trace_level_parse:
 * Returns: true with @ret_level set; false with CCS_ERROR_USAGE. */
bool ccs_trace_level_parse(const char *text, CcsTraceLevel *ret_level, GError **error);

/* Whether the flows of a result are packed: some bytes each in place of about fifty, but read
 * only where the module flow_packed is at hand. */
typedef enum {
    CCS_PACK_AUTO, /* those of a result that has more than CCS_PACKED_FROM */
    CCS_PACK_ALWAYS,
    CCS_PACK_NEVER,
} CcsPacking;

#define CCS_PACKED_FROM 131072

/* ccs_packing_parse: "auto", "always" or "never".
 * Returns: true with @ret_packing set; false with CCS_ERROR_USAGE. */
bool ccs_packing_parse(const char *text, CcsPacking *ret_packing, GError **error);

typedef struct CcsTrace CcsTrace;

/* ccs_trace_open:
 * Opens or makes the database at @path; NULL is one in memory that nobody else sees.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_IO if the file cannot be made, is no
 * database, or belongs to another program or a newer version. */
CcsTrace *ccs_trace_open(const char *path, CcsTraceLevel level, GError **error);
void ccs_trace_free(CcsTrace *trace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsTrace, ccs_trace_free)

/* ccs_trace_set_packing: of the results begun from now on; CCS_PACK_AUTO until then. A database
 * made before flows could be packed keeps them as rows. */
void ccs_trace_set_packing(CcsTrace *trace, CcsPacking packing);

/* ccs_trace_begin_run:
 * Writes the run with status 'running', and turns running ones whose process is gone to
 * 'interrupted'. @command is the command line as the user wrote it; @title may be NULL. */
bool ccs_trace_begin_run(CcsTrace *trace, const char *command, const char *title,
                         int64_t *ret_run_id, GError **error);

/* ccs_trace_add_topology:
 * Writes the topology with its vertices and links, unless the same one (by the hash of
 * its name, source, vertices and links, so with what was overridden) is there already. */
bool ccs_trace_add_topology(CcsTrace *trace, const CcsTopology *topology, int64_t *ret_topology_id,
                            GError **error);

/* A value that the run was made with. */
typedef struct {
    const char *path;       /* "node.nvlink.bandwidth", "transport.message_cost" */
    const char *value_text; /* as the user would write it: "300 GB/s" */
    const char *kind;       /* "datasheet", "measured", "fitted", "guessed", "default", "given" */
    const char *source;     /* where it comes from; NULL if not said */
} CcsParamRow;

/* ccs_trace_add_param:
 * Writes the value, once for each run. Parameters of the transport and the model
 * ("transport...", "model...") whose kind is not "default" become part of the question that
 * the results begun from now on answer, so that the views do not compare unlike results; a
 * later value of the same path takes the place of the former. */
bool ccs_trace_add_param(CcsTrace *trace, const CcsParamRow *param, GError **error);

/* ccs_trace_begin_result:
 * Writes what is asked: the members of @question up to root. The rest is not read. */
bool ccs_trace_begin_result(CcsTrace *trace, const CcsResult *question, int64_t topology_id,
                            GError **error);

/* ccs_trace_add_flow: does nothing below CCS_TRACE_FLOWS. */
bool ccs_trace_add_flow(CcsTrace *trace, const CcsFlow *flow, GError **error);

/* A time that someone quotes for a result. */
typedef struct {
    const char *label; /* the formula in words */
    double time_us;
} CcsEstimateRow;

/* Everything that is known of a result at its end. Arrays that the level does not ask for
 * may be NULL. */
typedef struct {
    const CcsResult *result;
    const CcsTopology *topology;
    const CcsRankTotal *ranks;        /* one per rank */
    const CcsVertexId *rank_vertices; /* the GPU of each rank */
    const CcsLinkTotal
        *links; /* one per link of the topology; those without messages are left out */
    const CcsTime
        *critical_path; /* [cause * n + link class], n link classes, at least 1; only bandwidth
                           and latency use the class, the other causes use class 0 */
    const CcsStepTotal *steps;
    uint32_t n_steps;
    const char *const *phases; /* names, by CcsFlow.phase */
    uint32_t n_phases;
    const CcsEstimateRow *estimates;
    uint32_t n_estimates;
} CcsResultRows;

/* ccs_trace_end_result: writes the answer and all rows that are still in memory, in one
 * transaction. */
bool ccs_trace_end_result(CcsTrace *trace, const CcsResultRows *rows, GError **error);

/* ccs_trace_end_run: turns the status to 'complete'. No result may be open. */
bool ccs_trace_end_run(CcsTrace *trace, GError **error);

/* ccs_trace_fail_run:
 * Turns the status of a run that is open to 'failed', or to 'interrupted' where @why is
 * CCS_ERROR_INTERRUPTED, and records the message. Best effort: what cannot be written is
 * found out by whoever reads the database next. ccs_trace_free() does the same without a
 * message for a run that was not ended. */
void ccs_trace_fail_run(CcsTrace *trace, const GError *why);

/* ccs_trace_run_id: of the current run; 0 in memory, where nobody finds it again. */
int64_t ccs_trace_run_id(const CcsTrace *trace);

/* ccs_trace_run_json:
 * The object {"schema":"ccsim.result/1","results":[...]} of the current run, made by
 * SQLite's JSON functions from the tables.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_IO. */
char *ccs_trace_run_json(CcsTrace *trace, GError **error);

/* ccs_trace_run_ndjson: the same results, each an object on a line of its own. */
char *ccs_trace_run_ndjson(CcsTrace *trace, GError **error);
