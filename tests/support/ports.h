/* ports.h - messages on a flat switch, played by the simplest method there is
 *
 * To compare the simulation with where there is no formula. Every rank has one port in each
 * direction; rates of all messages rise together until a port is full, those through it stay,
 * the others rise on. All in doubles, and at every event anew. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#define CCS_NO_MESSAGE UINT32_MAX

typedef struct {
    uint32_t source;
    uint32_t peer;
    double bytes;
    bool is_reduced;
    uint32_t behind;   /* starts when this one, of the same lane, has left */
    uint32_t waits[4]; /* and when these have arrived */
    uint32_t n_waits;
    double left_ps; /* answers */
    double arrived_ps;
} CcsPortMessage;

typedef struct {
    double bytes_per_ps; /* of a port */
    double latency_ps;
    double cost_ps;        /* of a message, before its bytes go out */
    double reduced_per_ps; /* bytes; of each lane */
} CcsPortCosts;

/* ccs_ports_play: fills in the answers of @messages (of CcsPortMessage); a message may only
 * name earlier ones as `behind`. Fails the test if something waits for ever.
 *
 * Returns: when the last one has arrived. */
double ccs_ports_play(GArray *messages, uint32_t n_ranks, const CcsPortCosts *costs);
