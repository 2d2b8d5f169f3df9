#include "sim/symmetry.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "sim/refine.h"

/* Where chunks are unequal, the sizes of so many messages are compared one by one. */
#define MAX_COMPARED ((uint64_t)1 << 24)

/* With more classes than that the search is given up: it would soon cost more than it saves. */
static uint32_t max_classes(uint32_t n_vertices)
{
    return n_vertices < 2048 ? n_vertices : n_vertices / 8 + 1024;
}

/* Labels of arcs; others are hashes of dependencies. */
enum { USES, IS_USED_BY };

/* What a lane waits for. Without padding, so that it can be compared as memory. */
typedef struct {
    uint32_t before; /* the class of the lane */
    uint32_t event;
    uint32_t p_before;
    uint32_t p_after;
    uint32_t distance;
    uint32_t from;
} Need;

typedef struct {
    const CcsSchedule *schedule;
    const CcsTopology *topology;
    CcsPaths *paths;
    CcsBytes size;
    bool is_even;
    uint32_t n_lanes;
    uint32_t n_links;
    CcsLists needs;      /* by lane: indices of its dependencies */
    CcsLists users;      /* by link: lanes, once for each time that they use it */
    GArray *compared[2]; /* of Need: what two lanes wait for */
} Search;

static void search_clear(Search *search)
{
    ccs_lists_clear(&search->needs);
    ccs_lists_clear(&search->users);
    g_clear_pointer(&search->compared[0], g_array_unref);
    g_clear_pointer(&search->compared[1], g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Search, search_clear)

static const CcsRoute *route_of(const Search *search, CcsLaneId lane)
{
    return ccs_paths_route(search->paths, lane, 0, NULL); /* found already, as the peer is fixed */
}

static bool is_limited(const Search *search, CcsLinkId link)
{
    return ccs_topology_link(search->topology, link)->bandwidth < CCS_RATE_UNLIMITED;
}

static void count_to_first(uint32_t *first, uint32_t n_owners)
{
    for (uint32_t i = 2; i < n_owners + 2; i++)
        first[i] += first[i - 1];
}

static void list_users(Search *search)
{
    uint32_t *first = g_new0(uint32_t, search->n_links + 2);

    for (CcsLaneId lane = 0; lane < search->n_lanes; lane++) {
        const CcsRoute *route = route_of(search, lane);
        for (uint32_t i = 0; i < route->n_links; i++)
            first[route->links[i] + 2]++;
    }
    count_to_first(first, search->n_links);
    search->users = (CcsLists){first, g_new(uint32_t, first[search->n_links + 1] + 1)};
    for (CcsLaneId lane = 0; lane < search->n_lanes; lane++) {
        const CcsRoute *route = route_of(search, lane);
        for (uint32_t i = 0; i < route->n_links; i++)
            search->users.items[first[route->links[i] + 1]++] = lane;
    }
}

/* Unequal chunks are compared one by one, unless there are too many. */
static char *refuse_sizes(const CcsSchedule *schedule, bool is_even)
{
    uint64_t n_messages = 0;

    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(schedule); id++)
        n_messages += ccs_schedule_lane(schedule, id)->n_messages;
    return is_even || n_messages <= MAX_COMPARED
               ? NULL
               : g_strdup("chunks are unequal, as the size does not divide evenly");
}

static CcsBytes bytes_of(const Search *search, const CcsLane *lane, uint32_t message)
{
    return ccs_schedule_message_bytes(search->schedule, lane, message, search->size);
}

/* How many messages there are whose sizes may differ. */
static uint32_t n_sizes(const Search *search, const CcsLane *lane)
{
    return lane->has_fixed_bytes || search->is_even ? MIN(lane->n_messages, 1) : lane->n_messages;
}

static CcsTime delay_of(const Search *search, CcsRank rank)
{
    const CcsCommunicator *communicator = ccs_schedule_communicator(search->schedule);
    return ccs_topology_vertex(search->topology, ccs_communicator_gpu(communicator, rank))
        ->start_delay;
}

/* All that a lane's behaviour depends on, but for the links that may limit it and the lanes that
 * it waits for. */
typedef struct {
    uint64_t n_messages;
    uint64_t n_reduced;
    uint64_t flags;
    uint64_t phase;
    uint64_t duration;
    uint64_t delay;
    uint64_t latency;
    uint64_t n_links;
    uint64_t classes; /* a sum over the links: where the latency comes from */
} Character;

static Character character_of(const Search *search, CcsLaneId id)
{
    const CcsLane *lane = ccs_schedule_lane(search->schedule, id);
    const CcsRoute *route = route_of(search, id);
    bool is_local = ccs_lane_is_local(lane);
    Character character = {
        .n_messages = lane->n_messages,
        .n_reduced = lane->n_reduced,
        .flags =
            (is_local ? 1U : 0U) + (lane->is_added_there ? 2U : 0U) + (lane->is_early ? 4U : 0U),
        .phase = lane->phase,
        .duration = is_local ? (uint64_t)lane->duration : 0,
        .delay = (uint64_t)delay_of(search, lane->source),
        .latency = (uint64_t)route->latency,
        .n_links = route->n_links,
    };

    for (uint32_t i = 0; i < route->n_links; i++) {
        const CcsLink *link = ccs_topology_link(search->topology, route->links[i]);
        character.classes += ccs_mix(ccs_mix((uint64_t)link->alpha) + link->link_class);
    }
    return character;
}

static uint64_t lane_colour(const Search *search, CcsLaneId id)
{
    const CcsLane *lane = ccs_schedule_lane(search->schedule, id);
    Character character = character_of(search, id);
    uint64_t parts[sizeof(Character) / sizeof(uint64_t)];
    uint64_t colour = 0;

    memcpy(parts, &character, sizeof parts);
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        colour = ccs_mix(colour ^ parts[i]);
    for (uint32_t k = 0; k < n_sizes(search, lane); k++)
        colour = ccs_mix(colour ^ bytes_of(search, lane, k));
    return colour;
}

static uint64_t link_colour(const Search *search, CcsLinkId id)
{
    const CcsLink *link = ccs_topology_link(search->topology, id);
    return ~ccs_mix(ccs_mix(ccs_mix(link->bandwidth) ^ (uint64_t)link->alpha) ^ link->link_class);
}

static uint32_t dependency_label(const CcsDependency *dependency)
{
    uint64_t label = ccs_mix(dependency->event);

    label = ccs_mix(label ^ dependency->p_before);
    label = ccs_mix(label ^ dependency->p_after);
    label = ccs_mix(label ^ dependency->distance);
    label = ccs_mix(label ^ dependency->from);
    return (uint32_t)label;
}

/* Lanes tell all links apart, but of links only those that may limit tell lanes apart. The
 * vertices are the lanes, then the links. */
static void fill_arcs(const Search *search, uint32_t *first, CcsArc *arcs)
{
    const CcsSchedule *schedule = search->schedule;
    const CcsLists *users = &search->users;

    for (CcsLaneId lane = 0; lane < search->n_lanes; lane++) {
        const CcsRoute *route = route_of(search, lane);
        for (uint32_t i = 0; i < route->n_links; i++)
            arcs[first[lane + 1]++] = (CcsArc){search->n_lanes + route->links[i], USES};
    }
    for (CcsLinkId link = 0; link < search->n_links; link++) {
        for (uint32_t i = users->first[link];
             is_limited(search, link) && i < users->first[link + 1]; i++)
            arcs[first[search->n_lanes + link + 1]++] = (CcsArc){users->items[i], IS_USED_BY};
    }
    for (uint32_t i = 0; i < ccs_schedule_n_dependencies(schedule); i++) {
        const CcsDependency *dependency = ccs_schedule_dependency(schedule, i);
        arcs[first[dependency->before + 1]++] =
            (CcsArc){dependency->after, dependency_label(dependency)};
    }
}

static uint32_t *count_arcs(const Search *search)
{
    uint32_t n_vertices = search->n_lanes + search->n_links;
    uint32_t *first = g_new0(uint32_t, n_vertices + 2);

    for (CcsLaneId lane = 0; lane < search->n_lanes; lane++)
        first[lane + 2] = route_of(search, lane)->n_links;
    for (CcsLinkId link = 0; link < search->n_links; link++)
        first[search->n_lanes + link + 2] =
            is_limited(search, link) ? search->users.first[link + 1] - search->users.first[link]
                                     : 0;
    for (uint32_t i = 0; i < ccs_schedule_n_dependencies(search->schedule); i++)
        first[ccs_schedule_dependency(search->schedule, i)->before + 2]++;
    count_to_first(first, n_vertices);
    return first;
}

static uint32_t *refine(const Search *search, uint32_t *ret_n)
{
    uint32_t n_vertices = search->n_lanes + search->n_links;
    g_autofree uint64_t *colours = g_new(uint64_t, n_vertices + 1);
    g_autofree uint32_t *first = count_arcs(search);
    g_autofree CcsArc *arcs = g_new(CcsArc, (size_t)first[n_vertices + 1] + 1);

    for (CcsLaneId lane = 0; lane < search->n_lanes; lane++)
        colours[lane] = lane_colour(search, lane);
    for (CcsLinkId link = 0; link < search->n_links; link++)
        colours[search->n_lanes + link] = link_colour(search, link);
    fill_arcs(search, first, arcs);
    return ccs_refine(
        &(CcsArcGraph){.n_vertices = n_vertices, .colours = colours, .first = first, .arcs = arcs},
        max_classes(n_vertices), ret_n);
}

static CcsClasses classes_new(const uint32_t *numbers, uint32_t n_things)
{
    CcsClasses classes = {.of = g_new(uint32_t, n_things + 1)};
    uint32_t least = n_things > 0 ? numbers[0] : 0;

    for (uint32_t i = 0; i < n_things; i++) {
        classes.of[i] = numbers[i] - least;
        classes.n = MAX(classes.n, classes.of[i] + 1);
    }
    classes.first = g_new(uint32_t, classes.n + 1);
    classes.count = g_new0(uint32_t, classes.n + 1);
    for (uint32_t i = 0; i < n_things; i++) {
        if (classes.count[classes.of[i]]++ == 0)
            classes.first[classes.of[i]] = i;
    }
    return classes;
}

static int compare_needs(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(Need));
}

/* Puts what @lane waits for into @needs. */
static void list_needs(const Search *search, const CcsClasses *lanes, CcsLaneId lane, GArray *needs)
{
    g_array_set_size(needs, 0);
    for (uint32_t i = search->needs.first[lane]; i < search->needs.first[lane + 1]; i++) {
        const CcsDependency *of = ccs_schedule_dependency(search->schedule, search->needs.items[i]);
        g_array_append_vals(needs,
                            &(Need){.before = lanes->of[of->before],
                                    .event = of->event,
                                    .p_before = of->p_before,
                                    .p_after = of->p_after,
                                    .distance = of->distance,
                                    .from = of->from},
                            1);
    }
    if (needs->len > 1)
        g_array_sort(needs, compare_needs);
}

static bool have_like_needs(const Search *search, const CcsClasses *lanes, CcsLaneId a, CcsLaneId b)
{
    GArray *of_a = search->compared[0];
    GArray *of_b = search->compared[1];

    list_needs(search, lanes, a, of_a);
    list_needs(search, lanes, b, of_b);
    return of_a->len == of_b->len &&
           (of_a->len == 0 || memcmp(of_a->data, of_b->data, of_a->len * sizeof(Need)) == 0);
}

static void add_up_links(const Search *search, const CcsClasses *links, CcsLaneId lane,
                         int32_t *balance, int32_t what)
{
    const CcsRoute *route = route_of(search, lane);

    for (uint32_t i = 0; i < route->n_links; i++) {
        if (is_limited(search, route->links[i]))
            balance[links->of[route->links[i]]] += what;
    }
}

/* Whether that comes to nothing for all links of the lane; sets it to that. */
static bool clear_links(const Search *search, const CcsClasses *links, CcsLaneId lane,
                        int32_t *balance)
{
    const CcsRoute *route = route_of(search, lane);
    bool is_nothing = true;

    for (uint32_t i = 0; i < route->n_links; i++) {
        int32_t *of = &balance[links->of[route->links[i]]];
        is_nothing = is_nothing && *of == 0;
        *of = 0;
    }
    return is_nothing;
}

/* Whether the lanes use equally many links of each class, of those that may limit; @balance, by
 * class, is all 0 before and after. */
static bool have_like_links(const Search *search, const CcsClasses *links, CcsLaneId a, CcsLaneId b,
                            int32_t *balance)
{
    add_up_links(search, links, a, balance, 1);
    add_up_links(search, links, b, balance, -1);
    bool is_alike = clear_links(search, links, a, balance);
    return clear_links(search, links, b, balance) && is_alike;
}

static bool are_lanes_alike(const Search *search, const CcsSymmetry *found, CcsLaneId a,
                            CcsLaneId b, int32_t *balance)
{
    const CcsLane *lane_a = ccs_schedule_lane(search->schedule, a);
    const CcsLane *lane_b = ccs_schedule_lane(search->schedule, b);
    Character of_a = character_of(search, a);
    Character of_b = character_of(search, b);

    if (memcmp(&of_a, &of_b, sizeof of_a) != 0)
        return false;
    for (uint32_t k = 0; k < n_sizes(search, lane_a); k++) {
        if (bytes_of(search, lane_a, k) != bytes_of(search, lane_b, k))
            return false;
    }
    return lane_a->has_fixed_bytes == lane_b->has_fixed_bytes &&
           have_like_needs(search, &found->lanes, a, b) &&
           have_like_links(search, &found->links, a, b, balance);
}

static void add_up_users(const Search *search, const CcsClasses *lanes, CcsLinkId link,
                         int32_t *balance, int32_t what)
{
    for (uint32_t i = search->users.first[link]; i < search->users.first[link + 1]; i++)
        balance[lanes->of[search->users.items[i]]] += what;
}

static bool clear_users(const Search *search, const CcsClasses *lanes, CcsLinkId link,
                        int32_t *balance)
{
    bool is_nothing = true;

    for (uint32_t i = search->users.first[link]; i < search->users.first[link + 1]; i++) {
        int32_t *of = &balance[lanes->of[search->users.items[i]]];
        is_nothing = is_nothing && *of == 0;
        *of = 0;
    }
    return is_nothing;
}

/* Whether equally many lanes of each class use them; @balance is as above. */
static bool are_links_alike(const Search *search, const CcsSymmetry *found, CcsLinkId a,
                            CcsLinkId b, int32_t *balance)
{
    const CcsLink *link_a = ccs_topology_link(search->topology, a);
    const CcsLink *link_b = ccs_topology_link(search->topology, b);
    bool is_alike = link_a->bandwidth == link_b->bandwidth && link_a->alpha == link_b->alpha &&
                    link_a->link_class == link_b->link_class;

    if (!is_alike)
        return false;
    add_up_users(search, &found->lanes, a, balance, 1);
    add_up_users(search, &found->lanes, b, balance, -1);
    is_alike = clear_users(search, &found->lanes, a, balance);
    return clear_users(search, &found->lanes, b, balance) && is_alike;
}

/* Whether each member is like the first one of its class. */
static bool holds(const Search *search, const CcsSymmetry *found)
{
    g_autofree int32_t *balance = g_new0(int32_t, MAX(found->lanes.n, found->links.n) + 1);

    for (CcsLaneId lane = 0; lane < search->n_lanes; lane++) {
        CcsLaneId first = found->lanes.first[found->lanes.of[lane]];
        if (first != lane && !are_lanes_alike(search, found, first, lane, balance))
            return false;
    }
    for (CcsLinkId link = 0; link < search->n_links; link++) {
        CcsLinkId first = found->links.first[found->links.of[link]];
        if (first != link && !are_links_alike(search, found, first, link, balance))
            return false;
    }
    return true;
}

CcsSymmetry *ccs_symmetry_find(const CcsSchedule *schedule, CcsPaths *paths, CcsBytes size,
                               char **ret_reason)
{
    const CcsTopology *topology = ccs_communicator_topology(ccs_schedule_communicator(schedule));
    g_auto(Search) search = {.schedule = schedule,
                             .topology = topology,
                             .paths = paths,
                             .size = size,
                             .is_even = ccs_schedule_is_even(schedule, size),
                             .n_lanes = ccs_schedule_n_lanes(schedule),
                             .n_links = ccs_topology_n_links(topology)};
    uint32_t n_classes = 0;

    *ret_reason = g_strdup(ccs_schedule_irregularity(schedule));
    if (*ret_reason == NULL)
        *ret_reason = refuse_sizes(schedule, search.is_even);
    if (*ret_reason != NULL)
        return NULL;
    search.needs = ccs_schedule_needs(schedule);
    search.compared[0] = g_array_new(false, false, sizeof(Need));
    search.compared[1] = g_array_new(false, false, sizeof(Need));
    list_users(&search);
    g_autofree uint32_t *classes = refine(&search, &n_classes);
    g_autoptr(CcsSymmetry) found = g_new0(CcsSymmetry, 1);
    found->is_even = search.is_even;
    if (classes != NULL) {
        found->lanes = classes_new(classes, search.n_lanes);
        found->links = classes_new(classes + search.n_lanes, search.n_links);
    }
    if (classes == NULL || found->lanes.n > search.n_lanes / 2) {
        *ret_reason = g_strdup("few lanes are alike");
        return NULL;
    }
    if (holds(&search, found))
        return g_steal_pointer(&found);
    *ret_reason = g_strdup("the likeness of lanes could not be confirmed");
    return NULL;
}

static void classes_clear(CcsClasses *classes)
{
    g_free(classes->of);
    g_free(classes->first);
    g_free(classes->count);
}

void ccs_symmetry_free(CcsSymmetry *symmetry)
{
    if (symmetry == NULL)
        return;
    classes_clear(&symmetry->lanes);
    classes_clear(&symmetry->links);
    g_free(symmetry);
}
