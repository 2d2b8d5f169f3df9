/* catalogue.h - what must hold for every algorithm of a group of collectives */
#pragma once

#include "collectives/algorithm.h"
#include "tests/support/simulate.h"

/* Numbers of ranks that are worth a try: all up to 17, and some larger ones of each kind. */
extern const uint32_t ccs_rank_counts[];
extern const int ccs_n_rank_counts;

/* Nodes of unequal size. */
typedef struct {
    const char *machine;
    uint32_t n_ranks;
} CcsUneven;

extern const CcsUneven ccs_uneven[];
extern const int ccs_n_uneven;

/* ccs_flat_switch: one GPU a node on one switch: 50 GB/s, and 3 us from any GPU to any other.
 * Returns: (transfer full): the machine. */
char *ccs_flat_switch(uint32_t n_ranks);

/* Beside that, a message costs 0.7 us, and 250 GB/s are added. */
extern const CcsTransport ccs_costly;

/* The collectives of a group; CCS_N_COLLECTIVES ends them. */
typedef CcsCollective CcsCollectives;

bool ccs_is_among(const CcsAlgorithm *algorithm, const CcsCollectives *group);

/* ccs_try_all: calls @try for each algorithm of @group, with each root that is worth a try, and
 * all else as @asked says. */
typedef void CcsTry(const CcsAsked *asked);
void ccs_try_all(const CcsCollectives *group, CcsAsked asked, uint32_t n_ranks, CcsTry *try);

/* Tries. The first fails if the algorithm refuses an even number of ranks. */
void ccs_try_to_verify(const CcsAsked *asked);
void ccs_try_bound(const CcsAsked *asked);

/* ccs_try_formulas:
 * The formula of each algorithm of @group on flat switches, to 1 ps per sequential message.
 * Fails also where a formula holds for less than six numbers of ranks. */
void ccs_try_formulas(const CcsCollectives *group);

/* Every algorithm of @group says all that `explain` wants to say. */
void ccs_try_explanations(const CcsCollectives *group);
