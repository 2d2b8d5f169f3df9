/* program.h - point to point: what each rank computes, sends and receives, call by call
 *
 * A program is read from YAML (configs/program-reference.yaml explains every key) for the ranks
 * of one communicator, and becomes a schedule. The calls mean what a user of MPI or NCCL expects:
 *
 *   - Calls of one stream of a rank come one after the other; streams run side by side.
 *   - A message of at most the eager threshold leaves as soon as it is called for. A larger one
 *     (rendezvous) does not leave before its receiver has called recv or irecv.
 *   - send returns when the message has left, recv when it is there; isend and irecv at once, and
 *     wait does the rest. What stands in a group starts together, and the group returns when all
 *     of it is done.
 *   - The k-th send of one rank to another with one tag in one communicator meets the k-th recv,
 *     both counted in the order of the file.
 *
 * Matching does not depend on time, so a message that nobody receives and a deadlock are found
 * before anything is simulated. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "collectives/schedule.h"
#include "topology/communicator.h"

/* Calls of all ranks together; more are refused. */
#define CCS_PROGRAM_MAX_CALLS 4000000U

typedef struct CcsProgram CcsProgram;

/* ccs_program_load:
 * Reads @file_or_name, a file or the name of a built-in config, with @overrides ("PATH=VALUE",
 * NULL-terminated, may be NULL) for the ranks of @communicator, which it keeps.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_IO, or with CCS_ERROR_INPUT and the places of
 * all that is wrong. */
CcsProgram *ccs_program_load(const char *file_or_name, const char *const *overrides,
                             const CcsCommunicator *communicator, GError **error);

/* ccs_program_read: the same for @n_bytes of text, which messages call @label. */
CcsProgram *ccs_program_read(const char *label, const char *text, size_t n_bytes,
                             const CcsCommunicator *communicator, GError **error);
void ccs_program_free(CcsProgram *program);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsProgram, ccs_program_free)

/* ccs_program_is_key: whether an override of @path ("eager_threshold") speaks of a program. */
bool ccs_program_is_key(const char *path);

const char *ccs_program_name(const CcsProgram *program); /* the file's, without folder and suffix */
const char *ccs_program_title(const CcsProgram *program);
const char *ccs_program_description(const CcsProgram *program); /* NULL if there is none */
CcsBytes ccs_program_bytes(const CcsProgram *program);          /* of all messages */

/* ccs_program_schedule:
 * Each message and each computation becomes a lane that carries one message, labelled with the
 * place of its call. The schedule does not need @program.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_CHECK if calls wait for each other in a
 * circle; the message names each with its place. */
CcsSchedule *ccs_program_schedule(const CcsProgram *program, GError **error);

char *ccs_program_schema(void); /* JSON Schema of the file; (transfer full) */
