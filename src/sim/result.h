/* result.h - what one simulated collective came to
 *
 * Plain records, filled by the simulation and read by the database and the reports. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "models/network_model.h"
#include "topology/topology.h"

/* Why time passes on the critical path. */
typedef enum {
    CCS_CAUSE_LAUNCH,       /* before the first message may start, and for ranks that come late */
    CCS_CAUSE_MESSAGE_COST, /* start-up of messages */
    CCS_CAUSE_BANDWIDTH,    /* bytes going through the link that limits them */
    CCS_CAUSE_LATENCY,      /* messages travelling */
    CCS_CAUSE_REDUCTION,    /* arrived data being reduced, or waiting for that */
    CCS_CAUSE_LOCAL,        /* copies and computations inside a rank */
    CCS_N_CAUSES
} CcsCause;

const char *ccs_cause_name(CcsCause cause); /* "launch", "message_cost", ... */

typedef struct {
    CcsBytes bytes_sent;
    CcsBytes bytes_received;
    uint64_t messages_sent;
    uint64_t messages_received;
    CcsTime started;  /* of its first message sent; 0 if none */
    CcsTime finished; /* its last message sent has left and its last one received has arrived */
    CcsTime sending;  /* time during which at least one of its lanes was injecting or starting up;
                       CCS_TIME_UNKNOWN  where the engine does not tell */
} CcsRankTotal;

typedef CcsLinkUse CcsLinkTotal;

/* ccs_time_is_faster:
 * Whether @time is less than @other by more than roundings may make: by 1 ns, which is also the
 * last digit of most tables, and by a millionth part. run_json.sql and schema.sql have the same
 * rule. */
bool ccs_time_is_faster(CcsTime time, CcsTime other);

/* One message, as the trace level `flows` records it. */
typedef struct {
    uint32_t lane;    /* the first of those that are alike */
    uint32_t n_alike; /* so many lanes do the same at the same time; 1 unless asked for */
    uint32_t message; /* index in its lane */
    uint32_t channel;
    uint32_t phase; /* index into the phase names of the schedule */
    uint32_t src;   /* ranks */
    uint32_t dst;
    CcsBytes bytes;
    bool is_reduced;  /* added at the receiver, not copied */
    CcsTime started;  /* its lane became busy with it */
    CcsTime entered;  /* its first byte left: started + message cost */
    CcsTime injected; /* its last byte left the source */
    CcsTime arrived;  /* its last byte is at the receiver, and reduced */
} CcsFlow;

/* All messages of one phase with one index, as the trace level `steps` records them. */
typedef struct {
    uint32_t phase;
    uint32_t step;
    CcsTime started;  /* the first of them */
    CcsTime finished; /* the last of them */
    uint64_t messages;
    CcsBytes bytes;
} CcsStepTotal;

/* A result as DESIGN calls it: the JSON object's keys are made of these. Strings are not
 * owned. */
typedef struct {
    const char *case_title; /* in a config; NULL: not from one */
    const char *collective;
    const char *algorithm;
    const char *protocol; /* "none" under the ideal transport */
    const char *transport;
    const char *model;
    const char *topology;
    uint32_t n_nodes; /* that the communicator touches */
    uint32_t n_ranks;
    uint32_t n_channels;
    uint32_t n_chunks; /* pipeline depth; 0 where the algorithm has none */
    CcsBytes size;     /* as nccl-tests counts it: the whole vector */
    uint64_t count;    /* as nccl-tests counts it: elements per rank where it says so */
    const char *dtype;
    const char *op; /* "none" for collectives that do not reduce */
    int64_t root;   /* -1 for collectives without a root */
    CcsTime time;
    bool is_probed;
    uint32_t time_digits; /* of the time that mean anything; only if it is probed */
    double algbw_GBps;
    double busbw_GBps;
    CcsTime bound;                 /* no schedule can be faster on this topology */
    const char *bound_name;        /* which bound binds: "latency", "rank", "node", ... */
    double efficiency;             /* bound / time */
    CcsLinkId bottleneck;          /* the link that was busiest; CCS_NO_LINK with one rank */
    double bottleneck_utilisation; /* bytes / (bandwidth x time) */
    CcsBytes bytes_sent_max;       /* of any rank */
    uint64_t n_flows;              /* messages */
    const char *engine;            /* that computed it: "incremental", "quotient", ... */
    const char *engine_reason;     /* why that one */
} CcsResult;
