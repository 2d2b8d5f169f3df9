/* refine.h - the coarsest partition of a graph in which all members of a class look alike
 *
 * Colour refinement: vertices of different colours are in different classes, and two vertices of
 * one class have, for each label and each class, equally many arcs with that label coming in
 * from that class. It is found by splitting classes against a list of splitters, of which the
 * largest piece of a split class need not be looked at again (Hopcroft 1971; Paige and Tarjan
 * 1987), in time proportional to arcs x log of vertices.
 *
 * Arcs are counted by sums of hashes. Two classes may so be taken for one, with a chance of
 * about 2^-64 for each split; who needs certainty compares each vertex with the first one of its
 * class. */
#pragma once

#include <stdint.h>

#include <glib.h>

typedef struct {
    uint32_t to;
    uint32_t label;
} CcsArc;

typedef struct {
    uint32_t n_vertices;
    const uint64_t *colours; /* by vertex */
    const uint32_t
        *first; /* by vertex, and one more: its outgoing arcs are at arcs[first[v]] ... */
    const CcsArc *arcs;
} CcsArcGraph;

/* ccs_refine:
 * @max_classes: gives up as soon as there are more.
 *
 * Returns: (transfer full): the class of each vertex; classes are numbered by their vertex with
 * the lowest number. NULL if there are more than @max_classes. */
uint32_t *ccs_refine(const CcsArcGraph *graph, uint32_t max_classes, uint32_t *ret_n_classes);
