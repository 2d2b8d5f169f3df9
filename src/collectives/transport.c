#include "collectives/transport.h"

const CcsTransport ccs_transport_ideal = {
    .name = "ideal",
    .reduce_rate = CCS_RATE_UNLIMITED,
};
