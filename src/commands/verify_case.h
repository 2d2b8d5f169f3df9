/* verify_case.h - plays the schedules of an algorithm for one number of ranks in every way that
 * is worth a try */
#pragma once

#include <glib.h>

#include "collectives/algorithm.h"
#include "topology/communicator.h"

#define CCS_ALL_ROOTS    (-2)
#define CCS_USUAL_ROOTS  (-1)  /* the first, the last and one between */
#define CCS_VERIFY_RANKS 1024U /* at most */

/* The machines to try so many ranks on. */
typedef struct {
    uint32_t n_ranks;
    GPtrArray *communicators; /* of CcsCommunicator, owned */
    GPtrArray *topologies;    /* of CcsTopology, owned: those that nobody else owns */
} CcsVerifyMachines;

/* ccs_verify_machines_new:
 * The first @n_ranks of @topology, which must outlive them; if it is NULL, a flat switch with
 * one rank per node and, from 3 ranks on, nodes of unequal size.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_INPUT if there are fewer. */
CcsVerifyMachines *ccs_verify_machines_new(const CcsTopology *topology, uint32_t n_ranks,
                                           GError **error);
void ccs_verify_machines_free(CcsVerifyMachines *machines);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsVerifyMachines, ccs_verify_machines_free)

typedef struct {
    uint32_t n_channels;
    uint32_t n_chunks;
    int64_t root;      /* a rank, CCS_ALL_ROOTS or CCS_USUAL_ROOTS */
    uint32_t n_random; /* orders besides the two extremes */
} CcsVerifyOptions;

/* What came out, over all machines and roots. */
typedef struct {
    const CcsAlgorithm *algorithm;
    uint32_t n_ranks;
    uint32_t n_schedules;
    uint32_t n_orders;      /* in which each of them was played */
    uint64_t messages_most; /* of any of them */
    double sent_least;      /* by any rank, in sizes of the collective */
    double sent_most;
    bool is_long;  /* and said to be so */
    char *refusal; /* owned: why the algorithm cannot serve one of the machines; or NULL */
    char *failure; /* owned: the first wrong step; or NULL */
} CcsVerdict;

/* ccs_verify_case: fills @ret_verdict, which the caller clears.
 *
 * Returns: false with CCS_ERROR_INTERRUPTED, or with CCS_ERROR_INPUT where that takes too much
 * memory. What takes long is said on stderr. A wrong schedule is an answer, not an error. */
bool ccs_verify_case(const CcsAlgorithm *algorithm, const CcsVerifyMachines *machines,
                     const CcsVerifyOptions *options, CcsVerdict *ret_verdict, GError **error);
void ccs_verdict_clear(CcsVerdict *verdict);

/* ccs_verify_schedule: the same for one schedule, added to @verdict; it may send what nobody
 * needs. */
bool ccs_verify_schedule(const CcsSchedule *schedule, uint32_t n_random, CcsVerdict *verdict,
                         GError **error);
