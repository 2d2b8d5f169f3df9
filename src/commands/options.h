/* options.h - the options that the commands which simulate have in common
 *
 * The letters are those of nccl-tests, but for -T and -A. */
#pragma once

#include <glib.h>

#include "commands/machine.h"
#include "commands/study.h"
#include "report/rows.h"
#include "trace/trace.h"

#define CCS_NOT_GIVEN G_MININT

/* As GOption fills it; all strings are owned, and all numbers CCS_NOT_GIVEN at first. */
typedef struct {
    char *topology;
    char *transport;
    char *model;
    char *engine;
    char **overrides;
    int n_nodes;
    int n_ranks;
    int ranks_per_node;
} CcsMachineArguments;

typedef struct {
    char *smallest;
    char *largest;
    int factor;
    char *step;
    char *op;
    char *type;
    int root;
    char *algorithms;
    int n_channels;
    int n_chunks;
    int distance;
    double skew; /* CCS_NOT_GIVEN, too */
    char *matrix;
} CcsCaseArguments;

typedef struct {
    char *db;
    gboolean has_no_db;
    char *trace;
    char *pack;
    char *format;
    char *json_file;
    gboolean is_verbose;
} CcsOutputArguments;

void ccs_machine_arguments_clear(CcsMachineArguments *arguments);
void ccs_case_arguments_clear(CcsCaseArguments *arguments);
void ccs_output_arguments_clear(CcsOutputArguments *arguments);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CcsMachineArguments, ccs_machine_arguments_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CcsCaseArguments, ccs_case_arguments_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CcsOutputArguments, ccs_output_arguments_clear)

/* What holds of a case where no option says otherwise. */
void ccs_case_arguments_init(CcsCaseArguments *arguments);

/* Append the options to @entries (of GOptionEntry, zero-terminated). */
void ccs_machine_arguments_add(GArray *entries, CcsMachineArguments *arguments);
void ccs_case_arguments_add(GArray *entries, CcsCaseArguments *arguments);
void ccs_traffic_arguments_add(GArray *entries, CcsCaseArguments *arguments); /* a part of these */
void ccs_output_arguments_add(GArray *entries, CcsOutputArguments *arguments);

/* ccs_probe_argument_add: the option that makes @ret_is_probed true. */
void ccs_probe_argument_add(GArray *entries, gboolean *ret_is_probed);

/* ccs_machine_arguments_load: CCS_ERROR_USAGE if -T is missing or a count is not at least 1. */
CcsMachine *ccs_machine_arguments_load(const CcsMachineArguments *arguments, GError **error);

/* ccs_case_sizes: the sizes that -b, -e, -f and -i ask for. Returns: (transfer full)
 * (element-type CcsBytes); NULL with CCS_ERROR_USAGE. */
GArray *ccs_case_sizes(const CcsCaseArguments *arguments, GError **error);

/* ccs_sizes_by_factor: from @smallest to @largest, each @factor (at least 2) times the one
 * before; 0 is followed by 1. NULL with CCS_ERROR_USAGE if there are none or too many. */
GArray *ccs_sizes_by_factor(CcsBytes smallest, CcsBytes largest, uint64_t factor, GError **error);

/* ccs_case_read: what @arguments say of a case, but its algorithm. CCS_ERROR_USAGE. */
bool ccs_case_read(const CcsCaseArguments *arguments, CcsCollective collective, uint32_t n_ranks,
                   CcsCase *ret_case, GError **error);

/* ccs_case_list: one case for each algorithm that -A asks for. Returns: (transfer full)
 * (element-type CcsCase). */
GArray *ccs_case_list(const CcsCaseArguments *arguments, CcsCollective collective, uint32_t n_ranks,
                      GError **error);

/* ccs_case_weights: those that --skew and --matrix ask for, put into all of @cases; for
 * alltoallv, and without effect on other collectives. @ret_weights takes them; they must
 * outlive the cases. */
bool ccs_case_weights(const CcsCaseArguments *arguments, CcsCollective collective, uint32_t n_ranks,
                      GArray *cases, CcsWeights **ret_weights, GError **error);

/* ccs_algorithm_list: those that @names (a list with commas, "all", "auto", or NULL) asks for.
 * Returns: (transfer full) (element-type const CcsAlgorithm *). */
GPtrArray *ccs_algorithm_list(const char *names, CcsCollective collective, GError **error);

/* ccs_output_check: reads --format, --trace and --pack, and finds out whether what the options ask
 * for can be had, before anything is simulated. Says on stderr which of them has no effect.
 *
 * Returns: false with CCS_ERROR_USAGE or CCS_ERROR_IO. */
bool ccs_output_check(const CcsOutputArguments *arguments, CcsFormat *ret_format,
                      CcsTraceLevel *ret_level, GError **error);

/* ccs_output_check_inputs: that -J writes over none of the files in @inputs, which are read; NULL
 * among them is skipped.
 *
 * Returns: false with CCS_ERROR_USAGE. */
bool ccs_output_check_inputs(const CcsOutputArguments *arguments, const char *const *inputs,
                             uint32_t n_inputs, GError **error);

/* ccs_algorithm_list_is_open: @names asks for all, so that those which cannot serve the job may
 * be left out. */
bool ccs_algorithm_list_is_open(const char *names);

/* The database that --db, --no-db and CCSIM_DB ask for. */
CcsTrace *ccs_output_open(const CcsOutputArguments *arguments, CcsTraceLevel level, GError **error);

/* ccs_output_json: writes the results of the run to the file of -J, if it is given, and prints
 * them if @format is json or ndjson. */
bool ccs_output_json(const CcsOutputArguments *arguments, CcsTrace *trace, CcsFormat format,
                     GError **error);
