/* reduction.h - a schedule in which one lane stands for all that are alike
 *
 * What is simulated is the first lane of each class, as a schedule of its own, on the first link
 * of each class: a link there carries as many flows of a lane as a link of its class does in the
 * whole. What happens to a lane, a link or a rank then happens to all of its class. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "collectives/schedule.h"
#include "sim/paths.h"
#include "sim/result.h"

typedef struct CcsReduction CcsReduction;

/* ccs_reduction_new:
 * For a collective of @size bytes. The schedule must outlive it.
 *
 * Returns: NULL with the reason (transfer full) if there is none. */
CcsReduction *ccs_reduction_new(const CcsSchedule *schedule, CcsPaths *paths, CcsBytes size,
                                char **ret_reason);
void ccs_reduction_free(CcsReduction *reduction);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsReduction, ccs_reduction_free)

/* Whether it serves for a collective of @size bytes, too. */
bool ccs_reduction_serves(const CcsReduction *reduction, CcsBytes size);

const CcsSchedule *ccs_reduction_schedule(const CcsReduction *reduction);
/* What a lane, or a link that no other one stands for, stands for. Here and where ranks are asked
 * for, a NULL @reduction is a schedule in which each stands for itself. */
CcsLaneId ccs_reduction_first_member(const CcsReduction *reduction, CcsLaneId lane);
uint32_t ccs_reduction_n_members(const CcsReduction *reduction, CcsLaneId lane);
uint32_t ccs_reduction_n_link_members(const CcsReduction *reduction, CcsLinkId link);

/* The links that a lane uses, with its weight on each; NULL: 1. */
typedef struct {
    const CcsLinkId *links;
    const uint32_t *weights;
    uint32_t n;
} CcsLaneLinks;

/* ccs_reduction_links: of a lane that stands for itself they are those of its route @own. */
CcsLaneLinks ccs_reduction_links(const CcsReduction *reduction, CcsLaneId lane,
                                 const CcsRoute *own);

/* A rank that sends or receives, for each rank of its class, the messages of @n_lanes lanes of the
 * class of one. */
typedef struct {
    CcsRank rank;
    uint32_t n_lanes;
} CcsRankShare;

typedef enum { CCS_SENDS, CCS_RECEIVES } CcsRole;

/* ccs_reduction_ranks: who sends, or receives, the messages of @lane; of those that stand for
 * themselves it is the rank of @own, whose place the caller gives. */
const CcsRankShare *ccs_reduction_ranks(const CcsReduction *reduction, CcsLaneId lane, CcsRole role,
                                        const CcsRankShare *own, uint32_t *ret_n);

/* Give every rank and link what the first one of its class has. */
void ccs_reduction_lift_ranks(const CcsReduction *reduction, const CcsRankTotal *of_first,
                              CcsRankTotal *ret_ranks);
void ccs_reduction_lift_links(const CcsReduction *reduction, const CcsLinkUse *of_first,
                              CcsLinkUse *ret_links);
