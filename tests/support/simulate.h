/* simulate.h - collectives on machines that a test writes down in a few lines
 *
 * Every step that should work but does not fails the test with the program's own message. */
#pragma once

#include "collectives/algorithm.h"
#include "collectives/transport.h"
#include "sim/bound.h"
#include "sim/sim.h"
#include "topology/communicator.h"

/* One question; members that are 0 or NULL mean what they mean on the command line. */
typedef struct {
    const char *machine; /* YAML if it has a line break or a colon, else a built-in name */
    const char *set[4];  /* overrides of the topology, as after --set */
    uint32_t n_nodes;
    uint32_t n_ranks;
    uint32_t ranks_per_node;
    const char *collective; /* NULL: allreduce */
    const char *algorithm;  /* NULL: the default */
    CcsBytes size;
    uint32_t n_channels; /* 0: 1 */
    uint32_t n_chunks;   /* 0: 1 */
    CcsRank root;
    uint32_t distance;         /* 0: 1 */
    const CcsWeights *weights; /* NULL: none */
    CcsTransport transport;    /* a reduce_rate of 0 costs nothing */
    const char *model;         /* NULL: fluid */
    const char *engine;
} CcsAsked;

/* All of it is owned. */
typedef struct {
    CcsTopology *topology;
    CcsCommunicator *communicator;
    CcsSchedule *schedule;
    CcsTransport transport;
    CcsSimulation *simulation;
    CcsOutcome outcome;
    CcsBound bound;
} CcsAnswer;

void ccs_answer_clear(CcsAnswer *answer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CcsAnswer, ccs_answer_clear)

/* ccs_ask_topology: only the machine. Returns: (transfer full). */
CcsTopology *ccs_ask_topology(const CcsAsked *asked);

/* ccs_ask_machine: that and the ranks. @ret_answer must stay where it is. */
void ccs_ask_machine(const CcsAsked *asked, CcsAnswer *ret_answer);

/* ccs_ask_schedule: that and the schedule. Returns: false if the algorithm refuses. */
bool ccs_ask_schedule(const CcsAsked *asked, CcsAnswer *ret_answer);

/* ccs_ask: that and the run. */
void ccs_ask(const CcsAsked *asked, CcsAnswer *ret_answer);

/* ccs_answer_class_bytes: what all links of the class @name carried together. */
CcsBytes ccs_answer_class_bytes(const CcsAnswer *answer, const char *name);

/* Another run of the same schedule. */
void ccs_ask_size(CcsAnswer *answer, const CcsAsked *asked, CcsBytes size);

/* Only the time. */
double ccs_ask_us(const CcsAsked *asked);
CcsTime ccs_ask_time(const CcsAsked *asked);

/* ccs_find_link: fails the test if no link leads between the vertices of these names. */
CcsLinkId ccs_find_link(const CcsTopology *topology, const char *from, const char *to);

/* ccs_assert_time:
 * Fails the test unless @time is @expected_us (in microseconds) and, as each of @n_messages
 * that follow one another rounds up to the next picosecond, at most so many more. */
void ccs_assert_time(CcsTime time, double expected_us, uint64_t n_messages);
