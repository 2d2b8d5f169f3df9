/* simulate.h - collectives on machines that a test writes down in a few lines */
#pragma once

#include "collectives/algorithm.h"
#include "collectives/transport.h"
#include "sim/bound.h"
#include "sim/sim.h"
#include "topology/communicator.h"

/* One question; members that are 0 or NULL mean what they mean on the command line. */
typedef struct {
    const char *machine; /* YAML if it has a line break or a colon, else a built-in name */
    const char *set;     /* one override of the topology; NULL: none */
    uint32_t n_nodes;
    uint32_t n_ranks;
    uint32_t ranks_per_node;
    const char *collective;
    const char *algorithm; /* NULL: the default */
    CcsBytes size;
    uint32_t n_channels; /* 0: 1 */
    uint32_t n_chunks;   /* 0: 1 */
    CcsRank root;
    uint32_t distance;         /* 0: 1 */
    const CcsWeights *weights; /* NULL: none */
    CcsTransport transport;    /* all zero: ideal */
    const char *model;         /* NULL: fluid */
    const char *engine;
} CcsAsked;

/* All of it is owned. */
typedef struct {
    CcsTopology *topology;
    CcsCommunicator *communicator;
    CcsSchedule *schedule;
    CcsSimulation *simulation;
    CcsOutcome outcome;
    CcsBound bound;
} CcsAnswer;

void ccs_answer_clear(CcsAnswer *answer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CcsAnswer, ccs_answer_clear)

/* ccs_ask_machine: fails the test if the machine cannot be made. */
void ccs_ask_machine(const CcsAsked *asked, CcsAnswer *ret_answer);

/* ccs_ask_schedule: that and the schedule. Returns: false if the algorithm refuses. */
bool ccs_ask_schedule(const CcsAsked *asked, CcsAnswer *ret_answer);

/* ccs_ask: that and the run. Fails the test if something goes wrong. */
void ccs_ask(const CcsAsked *asked, CcsAnswer *ret_answer);

/* ccs_answer_class_bytes: what all links of the class @name carried together. */
CcsBytes ccs_answer_class_bytes(const CcsAnswer *answer, const char *name);

/* Another run of the same schedule. */
void ccs_ask_size(CcsAnswer *answer, const CcsAsked *asked, CcsBytes size);

/* ccs_ask_us: only the time, in microseconds. */
double ccs_ask_us(const CcsAsked *asked);
CcsTime ccs_ask_time(const CcsAsked *asked);
