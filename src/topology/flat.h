/* flat.h - whether the ranks of a communicator sit around one switch, as textbook formulas take
 * for granted */
#pragma once

#include <stdbool.h>

#include "topology/communicator.h"

typedef struct {
    CcsTime latency;   /* from any rank to any other */
    CcsRate bandwidth; /* of each rank's port, in each direction */
} CcsFlatSwitch;

/* Up to so many ranks, every pair of them is looked at. */
#define CCS_FLAT_RANKS_MAX 512U

/* ccs_communicator_is_flat:
 * Whether each rank has one port out and one in, all of one bandwidth, through which all of its
 * messages go, with nothing in between that limits them, and all ways have one latency.
 *
 * With more than CCS_FLAT_RANKS_MAX ranks only the plainest such machine is found: one where each
 * rank has a single way to one vertex in the middle, and a single way back.
 *
 * Returns: false also where a rank cannot reach another, and with one rank. */
bool ccs_communicator_is_flat(const CcsCommunicator *communicator, CcsFlatSwitch *ret_flat);
