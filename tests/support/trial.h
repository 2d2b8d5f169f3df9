/* trial.h - one collective on one machine, from the text of a topology to its outcome
 *
 * Every step that should work but does not fails the test with the program's own message. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "collectives/algorithm.h"
#include "collectives/transport.h"
#include "sim/bound.h"
#include "sim/sim.h"
#include "topology/communicator.h"

/* What may be left out is 0 or NULL. */
typedef struct {
    const char *topology;        /* YAML text, or the name of a built-in file */
    const char *const *settings; /* "PATH=VALUE" as after --set, NULL-terminated */
    uint32_t n_nodes;
    uint32_t n_ranks;
    uint32_t ranks_per_node;
    const char *collective; /* allreduce */
    const char *algorithm;  /* that of the ideal transport */
    CcsRank root;
    uint32_t n_channels;    /* 1 */
    uint32_t n_chunks;      /* 1 */
    CcsTransport transport; /* a reduce_rate of 0 costs nothing */
    const CcsObserver *observer;
} CcsTrialSpec;

typedef struct {
    CcsTopology *topology; /* owned, as are the others */
    CcsCommunicator *communicator;
    CcsBounds *bounds;
    CcsSchedule *schedule;
    CcsSimulation *simulation;
    CcsTransport transport;
    CcsCollective collective;
    CcsRank root;
} CcsTrial;

/* ccs_trial_topology: only the machine of @spec. Returns: (transfer full). */
CcsTopology *ccs_trial_topology(const CcsTrialSpec *spec);

/* ccs_trial_new: keeps nothing of @spec but the observer's data. */
CcsTrial *ccs_trial_new(const CcsTrialSpec *spec);
void ccs_trial_free(CcsTrial *trial);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsTrial, ccs_trial_free)

/* ccs_trial_run: the arrays of the outcome last until the next run of @trial. */
CcsOutcome ccs_trial_run(CcsTrial *trial, CcsBytes size);

/* The bound on the time of ccs_trial_run(). */
CcsTime ccs_trial_bound(const CcsTrial *trial, CcsBytes size);

/* Time of a single run, in picoseconds. */
CcsTime ccs_trial_time(const CcsTrialSpec *spec, CcsBytes size);

/* ccs_find_link: fails the test if no link leads between the vertices of these names. */
CcsLinkId ccs_find_link(const CcsTopology *topology, const char *from, const char *to);

/* ccs_assert_time:
 * Fails the test unless @time is @expected_us (in microseconds) and, as each of @n_messages
 * that follow one another rounds up to the next picosecond, at most so many more. */
void ccs_assert_time(CcsTime time, double expected_us, uint64_t n_messages);
