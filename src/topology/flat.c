#include "topology/flat.h"

#include "topology/route.h"

typedef struct {
    const CcsTopology *topology;
    CcsLinkId *up;   /* by rank: its port out; CCS_NO_LINK while not known */
    CcsLinkId *down; /* by rank: its port in */
    bool *is_up;     /* by link: it is some rank's port out */
    bool *is_down;   /* by link: likewise */
    CcsFlatSwitch flat;
    bool has_latency; /* that of the first way is known */
} Survey;

/* Whether @link is the port of @rank, or may become it. */
static bool take_port(const Survey *survey, CcsLinkId *ports, bool *is_port, CcsRank rank,
                      CcsLinkId link)
{
    if (ports[rank] == link)
        return true;
    if (ports[rank] != CCS_NO_LINK || is_port[link] ||
        ccs_topology_link(survey->topology, link)->bandwidth != survey->flat.bandwidth)
        return false;
    ports[rank] = link;
    is_port[link] = true;
    return true;
}

/* Whether the route fits into what is known of the others. */
static bool fits(Survey *survey, CcsRank from, CcsRank to, const GArray *links)
{
    CcsLinkId limited[2] = {CCS_NO_LINK, CCS_NO_LINK};
    uint32_t n_limited = 0;
    CcsTime latency = 0;

    for (guint i = 0; i < links->len; i++) {
        CcsLinkId id = g_array_index(links, CcsLinkId, i);
        const CcsLink *link = ccs_topology_link(survey->topology, id);
        latency += link->alpha;
        if (link->bandwidth >= CCS_RATE_UNLIMITED)
            continue;
        if (n_limited == 2)
            return false;
        limited[n_limited++] = id;
    }
    if (n_limited < 2)
        return false;
    if (!survey->has_latency) {
        survey->has_latency = true;
        survey->flat.latency = latency;
        survey->flat.bandwidth = ccs_topology_link(survey->topology, limited[0])->bandwidth;
    }
    return latency == survey->flat.latency &&
           take_port(survey, survey->up, survey->is_up, from, limited[0]) &&
           take_port(survey, survey->down, survey->is_down, to, limited[1]);
}

static bool look_at_pairs(Survey *survey, const CcsCommunicator *communicator)
{
    uint32_t n_ranks = ccs_communicator_n_ranks(communicator);
    g_autoptr(CcsRouter) router = ccs_router_new(survey->topology);
    g_autoptr(GArray) links = g_array_new(false, false, sizeof(CcsLinkId));

    for (CcsRank from = 0; from < n_ranks; from++) {
        for (CcsRank to = 0; to < n_ranks; to++) {
            g_array_set_size(links, 0);
            if (from != to &&
                (!ccs_router_append(router, ccs_communicator_gpu(communicator, from),
                                    ccs_communicator_gpu(communicator, to), links, NULL) ||
                 !fits(survey, from, to, links)))
                return false;
        }
    }
    return true;
}

/* All pairs. */
static bool is_flat_by_pairs(const CcsCommunicator *communicator, CcsFlatSwitch *ret_flat)
{
    const CcsTopology *topology = ccs_communicator_topology(communicator);
    uint32_t n_ranks = ccs_communicator_n_ranks(communicator);
    size_t n_links = ccs_topology_n_links(topology);
    g_autofree CcsLinkId *up = g_new(CcsLinkId, n_ranks);
    g_autofree CcsLinkId *down = g_new(CcsLinkId, n_ranks);
    g_autofree bool *is_up = g_new0(bool, n_links + 1);
    g_autofree bool *is_down = g_new0(bool, n_links + 1);
    Survey survey = {
        .topology = topology, .up = up, .down = down, .is_up = is_up, .is_down = is_down};

    for (CcsRank rank = 0; rank < n_ranks; rank++) {
        up[rank] = CCS_NO_LINK;
        down[rank] = CCS_NO_LINK;
    }
    if (!look_at_pairs(&survey, communicator))
        return false;
    *ret_flat = survey.flat;
    return true;
}

/* The only way from a GPU to where it divides, or the only one from there to the GPU. */
typedef struct {
    CcsVertexId end;
    CcsTime latency;
    CcsRate bandwidth;  /* of the last limited link */
    uint32_t n_limited; /* links */
} Stem;

/* The link out of (into) @vertex that does not go back to (come from) @previous, if there is just
 * one; else CCS_NO_LINK. @ret_next: its other end. */
static CcsLinkId only_link(const CcsTopology *topology, CcsVertexId vertex, CcsVertexId previous,
                           bool is_out, CcsVertexId *ret_next)
{
    uint32_t n = 0;
    CcsLinkId only = CCS_NO_LINK;
    const CcsLinkId *links = is_out ? ccs_topology_links_out(topology, vertex, &n)
                                    : ccs_topology_links_in(topology, vertex, &n);

    for (uint32_t i = 0; i < n; i++) {
        const CcsLink *link = ccs_topology_link(topology, links[i]);
        CcsVertexId other = is_out ? link->to : link->from;
        if (other == previous)
            continue;
        if (only != CCS_NO_LINK)
            return CCS_NO_LINK;
        only = links[i];
        *ret_next = other;
    }
    return only;
}

static Stem stem_of(const CcsTopology *topology, CcsVertexId gpu, bool is_out)
{
    Stem stem = {.end = gpu};
    CcsVertexId previous = CCS_NO_VERTEX;
    CcsVertexId next = CCS_NO_VERTEX;
    CcsLinkId id = only_link(topology, gpu, previous, is_out, &next);

    while (id != CCS_NO_LINK && ccs_topology_vertex(topology, next)->kind != CCS_VERTEX_GPU) {
        const CcsLink *link = ccs_topology_link(topology, id);
        stem.latency += link->alpha;
        if (link->bandwidth < CCS_RATE_UNLIMITED) {
            stem.bandwidth = link->bandwidth;
            stem.n_limited++;
        }
        previous = stem.end;
        stem.end = next;
        id = only_link(topology, next, previous, is_out, &next);
    }
    return stem;
}

static bool is_like(const Stem *stem, const Stem *first, CcsRate bandwidth)
{
    return stem->end == first->end && stem->latency == first->latency && stem->n_limited == 1 &&
           stem->bandwidth == bandwidth;
}

/* If the stems of all ranks end at one vertex, each route is one of them out and one back. */
static bool is_star(const CcsCommunicator *communicator, CcsFlatSwitch *ret_flat)
{
    const CcsTopology *topology = ccs_communicator_topology(communicator);
    Stem first_out = stem_of(topology, ccs_communicator_gpu(communicator, 0), true);
    Stem first_in = stem_of(topology, ccs_communicator_gpu(communicator, 0), false);

    for (CcsRank rank = 0; rank < ccs_communicator_n_ranks(communicator); rank++) {
        CcsVertexId gpu = ccs_communicator_gpu(communicator, rank);
        Stem out = stem_of(topology, gpu, true);
        Stem in = stem_of(topology, gpu, false);
        if (out.end != in.end || !is_like(&out, &first_out, first_out.bandwidth) ||
            !is_like(&in, &first_in, first_out.bandwidth))
            return false;
    }
    *ret_flat = (CcsFlatSwitch){first_out.latency + first_in.latency, first_out.bandwidth};
    return true;
}

bool ccs_communicator_is_flat(const CcsCommunicator *communicator, CcsFlatSwitch *ret_flat)
{
    uint32_t n_ranks = ccs_communicator_n_ranks(communicator);

    if (n_ranks < 2)
        return false;
    return n_ranks > CCS_FLAT_RANKS_MAX ? is_star(communicator, ret_flat)
                                        : is_flat_by_pairs(communicator, ret_flat);
}
