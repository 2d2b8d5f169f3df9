/* play_internal.h - what the files of play.h share */
#pragma once

#include "collectives/progress.h"
#include "engine/queue.h"
#include "sim/chains.h"
#include "sim/play.h"

/* The message that a lane is busy with, and what the lane has done; with what the schedule says
 * of the lane, so that a message touches little memory. */
typedef struct {
    uint32_t message;
    CcsChainId chain; /* to what the message waited for; held while the lane is busy */
    CcsRank source;
    CcsRank peer; /* of the message */
    CcsBytes bytes;
    CcsRoute route;
    CcsTime started;
    CcsTime entered;
    CcsTime reduced;     /* until then the receiver reduces earlier messages of the queue */
    CcsBytes even_bytes; /* of every message, or CCS_UNEVEN */
    CcsBytes moved;      /* by all its messages */
    CcsTime left;        /* when the last of them left */
    CcsTime arrived;     /* when the last of them is there */
    uint32_t n_left;
    CcsLaneId reducer; /* whose queue its messages are reduced in */
    uint32_t n_reduced;
    bool has_fixed_peer;
    bool is_local;
    bool is_added_there;
    bool is_early;
} PlayLane;

typedef struct {
    CcsTime ready;   /* before that the rank starts nothing but what is early */
    uint32_t n_busy; /* lanes of the rank */
    bool has_started;
    CcsTime since;
    CcsTime sending; /* time for which some lane was busy */
} PlayRank;

struct CcsPlay {
    const CcsSchedule *schedule;
    const CcsTransport *transport;
    const CcsNetworkModel *model;
    const CcsTopology *topology;
    CcsObserver observer;
    uint32_t n_ranks;
    uint32_t n_lanes;
    CcsProgress *progress;
    CcsPaths *paths;
    CcsQueue *queue;
    CcsChains *chains;
    CcsNetwork *network;
    PlayLane *lanes;
    PlayRank *rank_states;
    CcsRankTotal *ranks;
    CcsTime *critical_path;
    GArray *starts; /* of CcsFlowStart: flows that start in this moment */
    CcsBytes size;
    CcsTime now;
    CcsTime next_end;  /* when the first flow of the network ends */
    bool is_unsettled; /* a flow has started or ended in this moment */
    CcsTime last;      /* time of the latest arrival */
    CcsChainId last_chain;
    CcsChainId growing; /* the chain of the message that leaves: time will be added to it */
    uint64_t n_messages;
    uint64_t n_gone;               /* messages that have left since the observer was told */
    uint32_t n_injecting;          /* flows in the network */
    CcsWork link_bytes;            /* bytes of each message times its links */
    const CcsReduction *reduction; /* what the lanes stand for; NULL: themselves */
    GRand *shuffle;                /* NULL: in the order of events */
    GArray *ended;                 /* of uint32_t: flows that end now, shuffled */
};

/* A message of the lane has left, and arrives at @arrival. */
void ccs_play_count_message(CcsPlay *play, PlayLane *state, CcsTime arrival);

/* @lane is the one that would take so long, or CCS_NO_LANE. */
bool ccs_play_fail_too_long(const CcsPlay *play, CcsLaneId lane, GError **error);

/* ccs_play_total: when nothing is under way any more: adds up what happened, and checks that
 * nothing is missing. */
bool ccs_play_total(CcsPlay *play, CcsOutcome *ret_outcome, GError **error);
