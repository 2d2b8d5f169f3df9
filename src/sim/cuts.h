/* cuts.h - sets of ranks, and how much can flow out of them and into them
 *
 * Take any set of vertices that has the GPUs of some ranks in it and those of the others not:
 * what these ranks send to the others must cross its border, so that the bandwidth of the links
 * there bounds its rate. Which sets are worth a look depends on the machine:
 *
 *   rank        a GPU
 *   node        all that is in a node
 *   leaf group  nodes with the leaves they are plugged into, as far as one gets without a spine
 *   rail        the GPUs that NICs of one index serve, with their leaf
 *   bisection   one half of the nodes, or of the ranks of one node: the first, or every other */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "topology/communicator.h"

typedef struct {
    uint32_t n_ranks;
    CcsWork egress; /* sums of rates */
    CcsWork ingress;
} CcsCut;

#define CCS_NO_CUT UINT32_MAX

/* Cuts of one kind, no two of which share a rank. */
typedef struct {
    const char *name;    /* "node" */
    const char *plural;  /* "nodes"; NULL where the cuts are not all there is */
    bool is_in_sequence; /* the ranks of each cut follow one another */
    CcsCut *cuts;
    uint32_t n_cuts;
    uint32_t *cut_of; /* by rank; CCS_NO_CUT for one that is in none */
} CcsCutFamily;

typedef enum {
    CCS_CUTS_RANKS,
    CCS_CUTS_NODES,
    CCS_CUTS_LEAF_GROUPS,
    CCS_CUTS_RAILS,
    CCS_CUTS_FIRST_HALF,
    CCS_CUTS_EVERY_OTHER,
    CCS_N_CUT_FAMILIES
} CcsCutKind;

typedef struct {
    CcsCutFamily families[CCS_N_CUT_FAMILIES];
} CcsCuts;

/* ccs_cuts_new: cost: a few times the links of the machine. */
CcsCuts *ccs_cuts_new(const CcsCommunicator *communicator);
void ccs_cuts_free(CcsCuts *cuts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsCuts, ccs_cuts_free)
