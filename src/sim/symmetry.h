/* symmetry.h - which lanes and links of a schedule behave alike
 *
 * Lanes are alike if they have the same sizes, costs and delays, use links that are alike, and
 * wait in the same way for lanes that are alike. Links are alike if they have the same bandwidth
 * and latency, and the same numbers of alike lanes use them. Alike lanes then do the same at the
 * same time: max-min fair rates are unique, and the share that a link offers depends on nothing
 * but its bandwidth and its flows, so by induction over time nothing ever tells them apart.
 * (It is the reduction of linear programs by colour refinement, Grohe, Kersting, Mladenov and
 * Selman 2014, over the rounds of progressive filling.)
 *
 * The classes that are found are compared member by member before they are believed. */
#pragma once

#include <stdint.h>

#include <glib.h>

#include "collectives/schedule.h"
#include "sim/paths.h"

/* Classes of things numbered from 0. */
typedef struct {
    uint32_t n;
    uint32_t *of;    /* by thing: its class */
    uint32_t *first; /* by class: the member with the lowest number */
    uint32_t *count; /* by class: its members */
} CcsClasses;

typedef struct {
    CcsClasses lanes;
    CcsClasses links;
    bool is_even; /* the size gave all chunks one size: it holds for all such sizes */
} CcsSymmetry;

/* ccs_symmetry_find:
 * For a collective of @size bytes.
 *
 * Returns: (transfer full): NULL, with the reason (transfer full), where the form of the schedule
 * does not allow it, or most lanes are alike to no other. */
CcsSymmetry *ccs_symmetry_find(const CcsSchedule *schedule, CcsPaths *paths, CcsBytes size,
                               char **ret_reason);
void ccs_symmetry_free(CcsSymmetry *symmetry);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsSymmetry, ccs_symmetry_free)
