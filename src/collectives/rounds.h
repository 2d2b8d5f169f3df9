/* rounds.h - algorithms that go in rounds, as blocking calls do
 *
 * A message of a round starts when its sender has received and sent what it had to in the
 * rounds before, and when its receiver has received what it had to: until then the receiver
 * has not asked for it, and the message would only share the port of one that is in time. */
#pragma once

#include <glib.h>

#include "collectives/schedule.h"

typedef struct {
    CcsSchedule *schedule;
    uint32_t channel;
    uint32_t phase;     /* of the messages to come */
    CcsLaneId *sent;    /* by rank: its latest message of earlier rounds, or CCS_NO_LANE; owned */
    CcsLaneId *arrived; /* by rank: the latest one to it, likewise */
    GArray *lanes;      /* of CcsLaneId: the messages of this round; owned */
} CcsRounds;

/* The first round begins. Keeps @schedule. */
void ccs_rounds_init(CcsRounds *rounds, CcsSchedule *schedule, uint32_t channel);
void ccs_rounds_clear(CcsRounds *rounds);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CcsRounds, ccs_rounds_clear)

/* ccs_rounds_send:
 * Adds one message to this round: @lane's source, peer and boxes, and whether it is reduced.
 * A rank sends and receives one message in a round at most. If the peer is the source, it is
 * a copy that the rank makes in this round. */
void ccs_rounds_send(CcsRounds *rounds, const CcsLane *lane);

/* The messages to come belong to the next round. */
void ccs_rounds_end(CcsRounds *rounds);
