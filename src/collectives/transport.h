/* transport.h - what stands between an algorithm and the wire
 *
 * The ideal transport costs nothing: its results equal the closed forms. Each of its
 * parameters can be set, in a file or by --set transport.KEY=VALUE. */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "base/units.h"
#include "config/field.h"

typedef struct {
    char name[64];
    CcsTime launch;       /* before the first message may start */
    CcsTime message_cost; /* a lane is busy so long before each message's bytes go out */
    CcsRate
        reduce_rate; /* of the receiver, for each lane; CCS_RATE_UNLIMITED if it costs nothing */
    bool is_synchronous; /* schedules are played as by ccs_schedule_synchronous() */
} CcsTransport;

extern const CcsTransport ccs_transport_ideal;

extern const char *const ccs_transport_names[]; /* of those built in; NULL ends the list */

/* What a file says of a transport; for tables that have one inside. */
typedef struct {
    const char *name;
    CcsTime launch;
    CcsTime message_cost;
    CcsRate reduce_rate; /* 0: not said */
    bool is_synchronous;
} CcsTransportSpec;

extern const CcsFieldTable ccs_transport_table;

/* ccs_transport_load:
 * "ideal", or a YAML file; then the @overrides ("transport.KEY=VALUE", NULL-terminated, may
 * be NULL). The values read are added to @params (of CcsParam) as "transport.KEY".
 *
 * Returns: false with CCS_ERROR_IO, CCS_ERROR_USAGE or CCS_ERROR_INPUT. */
bool ccs_transport_load(const char *name_or_file, const char *const *overrides, GPtrArray *params,
                        CcsTransport *ret_transport, GError **error);
