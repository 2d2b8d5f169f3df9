/* ports.h - what each rank of a communicator can send and receive, all its links together */
#pragma once

#include "sim/cuts.h"

/* ccs_ports_measure:
 * Fills @cuts, one for each rank. A link counts if data of the collective can go by it: to
 * another rank, or to switches and NICs that lead to one. Inside one node NICs count only where
 * there is no other way. */
void ccs_ports_measure(const CcsCommunicator *communicator, CcsCut *cuts);
