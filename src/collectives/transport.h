/* transport.h - what stands between an algorithm and the wire
 *
 * The ideal transport costs nothing: its results equal the closed forms. Each of its
 * parameters can be set. */
#pragma once

#include <stdint.h>

#include "base/units.h"

typedef struct {
    const char *name;
    CcsTime launch;       /* before the first message may start */
    CcsTime message_cost; /* a lane is busy so long before each message's bytes go out */
    CcsRate
        reduce_rate; /* of the receiver, for each lane; CCS_RATE_UNLIMITED if it costs nothing */
} CcsTransport;

extern const CcsTransport ccs_transport_ideal;
