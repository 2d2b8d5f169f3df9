/* synchronous.h - schedules whose senders are busy until each message has arrived */
#pragma once

#include "collectives/schedule.h"

/* ccs_schedule_synchronous:
 * What @schedule becomes where a send is over only when its message has arrived and is reduced:
 * the next message of its lane waits for that, and so does all that waited for it to leave. The
 * original's communicator and weights are kept.
 *
 * Returns: (transfer full) */
CcsSchedule *ccs_schedule_synchronous(const CcsSchedule *schedule);
