#include "topology/communicator.h"

#include "base/error.h"

typedef struct {
    CcsRank first;
    uint32_t n_ranks;
    GArray *nics; /* of CcsVertexId: those that serve a rank */
} Node;

struct CcsCommunicator {
    const CcsTopology *topology;
    GArray *gpus;    /* of CcsVertexId, by rank */
    GArray *node_of; /* of uint32_t, by rank */
    GArray *nodes;   /* of Node */
};

static Node *node_at(const CcsCommunicator *communicator, uint32_t node)
{
    return &g_array_index(communicator->nodes, Node, node);
}

static void clear_node(gpointer data)
{
    g_array_unref(((Node *)data)->nics);
}

static void add_nics(const CcsTopology *topology, CcsVertexId gpu, GArray *nics)
{
    uint32_t n_nics = 0;
    const CcsVertexId *of_gpu = ccs_topology_gpu_nics(topology, gpu, &n_nics);

    for (uint32_t i = 0; i < n_nics; i++) {
        bool is_known = false;
        for (guint j = 0; j < nics->len; j++)
            is_known = is_known || g_array_index(nics, CcsVertexId, j) == of_gpu[i];
        if (!is_known)
            g_array_append_val(nics, of_gpu[i]);
    }
}

static void add_node(CcsCommunicator *communicator, const CcsVertexId *gpus, uint32_t n_gpus)
{
    uint32_t index = communicator->nodes->len;
    Node node = {communicator->gpus->len, n_gpus, g_array_new(false, false, sizeof(CcsVertexId))};

    for (uint32_t i = 0; i < n_gpus; i++) {
        g_array_append_val(communicator->gpus, gpus[i]);
        g_array_append_val(communicator->node_of, index);
        add_nics(communicator->topology, gpus[i], node.nics);
    }
    g_array_append_val(communicator->nodes, node);
}

static bool check_ranks_per_node(const CcsTopology *topology, uint32_t ranks_per_node,
                                 GError **error)
{
    for (CcsNodeId node = 0; node < ccs_topology_n_nodes(topology); node++) {
        uint32_t n_gpus = 0;
        ccs_topology_node_gpus(topology, node, &n_gpus);
        if (n_gpus < ranks_per_node) {
            g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT,
                        "%u ranks per node do not fit: node %u of topology '%s' has %u GPUs",
                        ranks_per_node, node, ccs_topology_name(topology), n_gpus);
            return false;
        }
    }
    return true;
}

/* Adds GPUs until there are @n_ranks of them. */
static void fill(CcsCommunicator *communicator, uint32_t n_ranks, uint32_t ranks_per_node)
{
    const CcsTopology *topology = communicator->topology;

    for (CcsNodeId node = 0; node < ccs_topology_n_nodes(topology); node++) {
        uint32_t n_gpus = 0;
        const CcsVertexId *gpus = ccs_topology_node_gpus(topology, node, &n_gpus);
        n_gpus = ranks_per_node == 0 ? n_gpus : ranks_per_node;
        n_gpus = MIN(n_gpus, n_ranks - communicator->gpus->len);
        if (n_gpus > 0)
            add_node(communicator, gpus, n_gpus);
    }
    for (CcsVertexId id = 0; id < ccs_topology_n_vertices(topology); id++) {
        const CcsVertex *vertex = ccs_topology_vertex(topology, id);
        bool is_alone = vertex->kind == CCS_VERTEX_GPU && vertex->node == CCS_NO_NODE;
        if (is_alone && communicator->gpus->len < n_ranks)
            add_node(communicator, &id, 1);
    }
}

CcsCommunicator *ccs_communicator_new(const CcsTopology *topology, uint32_t n_ranks,
                                      uint32_t ranks_per_node, GError **error)
{
    if (!check_ranks_per_node(topology, ranks_per_node, error))
        return NULL;

    g_autoptr(CcsCommunicator) communicator = g_new0(CcsCommunicator, 1);
    communicator->topology = topology;
    communicator->gpus = g_array_new(false, false, sizeof(CcsVertexId));
    communicator->node_of = g_array_new(false, false, sizeof(uint32_t));
    communicator->nodes = g_array_new(false, false, sizeof(Node));
    g_array_set_clear_func(communicator->nodes, clear_node);
    fill(communicator, n_ranks == 0 ? UINT32_MAX : n_ranks, ranks_per_node);

    if (communicator->gpus->len == 0 || communicator->gpus->len < n_ranks) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT,
                    "%u ranks do not fit: topology '%s' has %u GPUs%s", MAX(n_ranks, 1),
                    ccs_topology_name(topology), communicator->gpus->len,
                    ranks_per_node == 0 ? "" : " at so many per node");
        return NULL;
    }
    return g_steal_pointer(&communicator);
}

void ccs_communicator_free(CcsCommunicator *communicator)
{
    if (communicator == NULL)
        return;
    g_array_unref(communicator->gpus);
    g_array_unref(communicator->node_of);
    g_array_unref(communicator->nodes);
    g_free(communicator);
}

const CcsTopology *ccs_communicator_topology(const CcsCommunicator *communicator)
{
    return communicator->topology;
}

uint32_t ccs_communicator_n_ranks(const CcsCommunicator *communicator)
{
    return communicator->gpus->len;
}

uint32_t ccs_communicator_n_nodes(const CcsCommunicator *communicator)
{
    return communicator->nodes->len;
}

CcsVertexId ccs_communicator_gpu(const CcsCommunicator *communicator, CcsRank rank)
{
    return g_array_index(communicator->gpus, CcsVertexId, rank);
}

const CcsVertexId *ccs_communicator_gpus(const CcsCommunicator *communicator)
{
    return (const CcsVertexId *)(const void *)communicator->gpus->data;
}

uint32_t ccs_communicator_node(const CcsCommunicator *communicator, CcsRank rank)
{
    return g_array_index(communicator->node_of, uint32_t, rank);
}

uint32_t ccs_communicator_local(const CcsCommunicator *communicator, CcsRank rank)
{
    return rank - node_at(communicator, ccs_communicator_node(communicator, rank))->first;
}

CcsRank ccs_communicator_first(const CcsCommunicator *communicator, uint32_t node)
{
    return node_at(communicator, node)->first;
}

uint32_t ccs_communicator_n_local(const CcsCommunicator *communicator, uint32_t node)
{
    return node_at(communicator, node)->n_ranks;
}

static bool serves(const CcsTopology *topology, CcsVertexId nic, CcsVertexId gpu)
{
    uint32_t n_nics = 0;
    const CcsVertexId *nics = ccs_topology_gpu_nics(topology, gpu, &n_nics);

    for (uint32_t i = 0; i < n_nics; i++) {
        if (nics[i] == nic)
            return true;
    }
    return false;
}

CcsRail ccs_communicator_rail(const CcsCommunicator *communicator, uint32_t node, uint32_t channel)
{
    const Node *of = node_at(communicator, node);
    uint32_t n_nics = of->nics->len;

    if (n_nics == 0)
        return (CcsRail){CCS_NO_VERTEX, of->first + channel % of->n_ranks};

    CcsVertexId nic = g_array_index(of->nics, CcsVertexId, channel % n_nics);
    g_autoptr(GArray) served = g_array_new(false, false, sizeof(CcsRank));
    for (CcsRank rank = of->first; rank < of->first + of->n_ranks; rank++) {
        if (serves(communicator->topology, nic, ccs_communicator_gpu(communicator, rank)))
            g_array_append_val(served, rank);
    }
    return (CcsRail){nic, g_array_index(served, CcsRank, channel / n_nics % served->len)};
}

uint32_t ccs_communicator_n_rails(const CcsCommunicator *communicator)
{
    uint32_t most = 0;

    for (uint32_t node = 0; node < communicator->nodes->len; node++)
        most = MAX(most, node_at(communicator, node)->nics->len);
    return most;
}
