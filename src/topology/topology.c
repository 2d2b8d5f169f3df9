#include "topology/topology.h"

#include <string.h>

/* For each key (a vertex, a node) a slice of ids: those of key k are
 * ids[starts[k]] ... ids[starts[k + 1] - 1]. */
typedef struct {
    uint32_t *starts;
    uint32_t *ids;
} Index;

typedef struct {
    uint32_t key;
    uint32_t id;
} IndexPair;

struct CcsTopology {
    char *name;
    char *source;
    GStringChunk *texts;        /* names of vertices and classes */
    GArray *vertices;           /* CcsVertex */
    GArray *links;              /* CcsLink */
    GPtrArray *classes;         /* const char *, in texts */
    GHashTable *vertex_by_name; /* name in texts -> id */
    GHashTable *class_by_name;  /* name in texts -> index */
    uint32_t n_nodes;
    uint32_t n_gpus;
    CcsRouting routing;
    bool is_sealed;
    Index links_out; /* by vertex */
    Index links_in;  /* by vertex */
    Index node_gpus; /* by node */
    Index node_nics; /* by node */
    Index gpu_nics;  /* by vertex */
};

CcsTopology *ccs_topology_new(const char *name, const char *source)
{
    CcsTopology *topology = g_new0(CcsTopology, 1);

    topology->name = g_strdup(name);
    topology->source = g_strdup(source);
    topology->texts = g_string_chunk_new(4096);
    topology->vertices = g_array_new(FALSE, FALSE, sizeof(CcsVertex));
    topology->links = g_array_new(FALSE, FALSE, sizeof(CcsLink));
    topology->classes = g_ptr_array_new();
    topology->vertex_by_name = g_hash_table_new(g_str_hash, g_str_equal);
    topology->class_by_name = g_hash_table_new(g_str_hash, g_str_equal);
    return topology;
}

static void index_clear(Index *index)
{
    g_free(index->starts);
    g_free(index->ids);
}

void ccs_topology_free(CcsTopology *topology)
{
    if (topology == NULL)
        return;
    index_clear(&topology->links_out);
    index_clear(&topology->links_in);
    index_clear(&topology->node_gpus);
    index_clear(&topology->node_nics);
    index_clear(&topology->gpu_nics);
    g_hash_table_unref(topology->class_by_name);
    g_hash_table_unref(topology->vertex_by_name);
    g_ptr_array_unref(topology->classes);
    g_array_unref(topology->links);
    g_array_unref(topology->vertices);
    g_string_chunk_free(topology->texts);
    g_free(topology->source);
    g_free(topology->name);
    g_free(topology);
}

const char *ccs_vertex_kind_name(CcsVertexKind kind)
{
    static const char *const names[] = {
        [CCS_VERTEX_GPU] = "gpu",           [CCS_VERTEX_NIC] = "nic",
        [CCS_VERTEX_NVSWITCH] = "nvswitch", [CCS_VERTEX_SWITCH] = "switch",
        [CCS_VERTEX_HOST] = "host",
    };
    return names[kind];
}

CcsVertexId ccs_topology_add_vertex(CcsTopology *topology, CcsVertexKind kind, const char *name,
                                    CcsNodeId node)
{
    CcsVertexId id = topology->vertices->len;
    char *kept = g_string_chunk_insert(topology->texts, name);
    CcsVertex vertex = {.name = kept, .kind = kind, .node = node};

    g_assert(!topology->is_sealed && id != CCS_NO_VERTEX);
    bool is_new = g_hash_table_insert(topology->vertex_by_name, kept, GUINT_TO_POINTER(id));
    g_assert(is_new);
    g_array_append_val(topology->vertices, vertex);
    if (kind == CCS_VERTEX_GPU)
        topology->n_gpus++;
    if (node != CCS_NO_NODE)
        topology->n_nodes = MAX(topology->n_nodes, node + 1);
    return id;
}

static uint32_t class_index(CcsTopology *topology, const char *name)
{
    gpointer index;

    if (g_hash_table_lookup_extended(topology->class_by_name, name, NULL, &index))
        return GPOINTER_TO_UINT(index);
    char *kept = g_string_chunk_insert(topology->texts, name);
    g_hash_table_insert(topology->class_by_name, kept, GUINT_TO_POINTER(topology->classes->len));
    g_ptr_array_add(topology->classes, kept);
    return topology->classes->len - 1;
}

CcsLinkId ccs_topology_add_link(CcsTopology *topology, CcsVertexId from, CcsVertexId to,
                                CcsTime alpha, CcsRate bandwidth, const char *link_class)
{
    CcsLinkId id = topology->links->len;
    CcsLink link = {.from = from,
                    .to = to,
                    .alpha = alpha,
                    .bandwidth = bandwidth,
                    .link_class = class_index(topology, link_class)};

    g_assert(!topology->is_sealed && id != CCS_NO_LINK);
    g_assert(from < topology->vertices->len && to < topology->vertices->len && from != to);
    g_assert(alpha >= 0 && bandwidth > 0);
    g_array_append_val(topology->links, link);
    return id;
}

/* A counting sort of @pairs by key, which keeps the order of pairs of one key. */
static Index index_new(uint32_t n_keys, const GArray *pairs)
{
    const IndexPair *pair = (const IndexPair *)(const void *)pairs->data;
    Index index = {.starts = g_new0(uint32_t, (size_t)n_keys + 1),
                   .ids = g_new(uint32_t, pairs->len)};

    for (uint32_t i = 0; i < pairs->len; i++)
        index.starts[pair[i].key]++;
    uint32_t end = 0;
    for (uint32_t key = 0; key <= n_keys; key++) {
        end += index.starts[key];
        index.starts[key] = end;
    }
    for (uint32_t i = pairs->len; i-- > 0;)
        index.ids[--index.starts[pair[i].key]] = pair[i].id;
    return index;
}

static const uint32_t *index_slice(const Index *index, uint32_t key, uint32_t *ret_n)
{
    *ret_n = index->starts[key + 1] - index->starts[key];
    return &index->ids[index->starts[key]];
}

static GArray *pairs_new(void)
{
    return g_array_new(FALSE, FALSE, sizeof(IndexPair));
}

static void pairs_add(GArray *pairs, uint32_t key, uint32_t id)
{
    IndexPair pair = {key, id};
    g_array_append_val(pairs, pair);
}

static void index_links(CcsTopology *topology)
{
    g_autoptr(GArray) by_from = pairs_new();
    g_autoptr(GArray) by_to = pairs_new();

    for (CcsLinkId id = 0; id < topology->links->len; id++) {
        const CcsLink *link = ccs_topology_link(topology, id);
        pairs_add(by_from, link->from, id);
        pairs_add(by_to, link->to, id);
    }
    topology->links_out = index_new(topology->vertices->len, by_from);
    topology->links_in = index_new(topology->vertices->len, by_to);
}

static Index index_nodes(const CcsTopology *topology, CcsVertexKind kind)
{
    g_autoptr(GArray) pairs = pairs_new();

    for (CcsVertexId id = 0; id < topology->vertices->len; id++) {
        const CcsVertex *vertex = ccs_topology_vertex(topology, id);
        if (vertex->kind == kind && vertex->node != CCS_NO_NODE)
            pairs_add(pairs, vertex->node, id);
    }
    return index_new(topology->n_nodes, pairs);
}

/* Going through the NICs in the order of adding puts each GPU's NICs in that order. A GPU
 * with two parallel links to a NIC has that NIC once. */
static Index index_gpu_nics(const CcsTopology *topology)
{
    uint32_t n_vertices = topology->vertices->len;
    g_autoptr(GArray) pairs = pairs_new();
    g_autofree CcsVertexId *last_nic = g_new(CcsVertexId, (size_t)n_vertices + 1);

    memset(last_nic, 0xff, n_vertices * sizeof *last_nic);
    for (CcsVertexId nic = 0; nic < n_vertices; nic++) {
        if (ccs_topology_vertex(topology, nic)->kind != CCS_VERTEX_NIC)
            continue;
        uint32_t n_links;
        const CcsLinkId *links = ccs_topology_links_in(topology, nic, &n_links);
        for (uint32_t i = 0; i < n_links; i++) {
            CcsVertexId gpu = ccs_topology_link(topology, links[i])->from;
            bool is_gpu = ccs_topology_vertex(topology, gpu)->kind == CCS_VERTEX_GPU;
            if (is_gpu && last_nic[gpu] != nic)
                pairs_add(pairs, gpu, nic);
            last_nic[gpu] = nic;
        }
    }
    return index_new(n_vertices, pairs);
}

void ccs_topology_change_link(CcsTopology *topology, CcsLinkId id, CcsTime alpha, CcsRate bandwidth)
{
    CcsLink *link = &g_array_index(topology->links, CcsLink, id);

    g_assert(!topology->is_sealed && alpha >= 0 && bandwidth > 0);
    link->alpha = alpha;
    link->bandwidth = bandwidth;
}

void ccs_topology_delay_start(CcsTopology *topology, CcsVertexId gpu, CcsTime delay)
{
    g_assert(!topology->is_sealed && delay >= 0);
    g_array_index(topology->vertices, CcsVertex, gpu).start_delay = delay;
}

void ccs_topology_set_routing(CcsTopology *topology, CcsRouting routing)
{
    topology->routing = routing;
}

CcsRouting ccs_topology_routing(const CcsTopology *topology)
{
    return topology->routing;
}

void ccs_topology_seal(CcsTopology *topology)
{
    g_assert(!topology->is_sealed);
    topology->is_sealed = true;
    index_links(topology);
    topology->node_gpus = index_nodes(topology, CCS_VERTEX_GPU);
    topology->node_nics = index_nodes(topology, CCS_VERTEX_NIC);
    topology->gpu_nics = index_gpu_nics(topology);
}

const char *ccs_topology_name(const CcsTopology *topology)
{
    return topology->name;
}

const char *ccs_topology_source(const CcsTopology *topology)
{
    return topology->source;
}

uint32_t ccs_topology_n_vertices(const CcsTopology *topology)
{
    return topology->vertices->len;
}

const CcsVertex *ccs_topology_vertex(const CcsTopology *topology, CcsVertexId id)
{
    g_assert(id < topology->vertices->len);
    return &g_array_index(topology->vertices, CcsVertex, id);
}

CcsVertexId ccs_topology_find_vertex(const CcsTopology *topology, const char *name)
{
    gpointer id;

    if (!g_hash_table_lookup_extended(topology->vertex_by_name, name, NULL, &id))
        return CCS_NO_VERTEX;
    return GPOINTER_TO_UINT(id);
}

uint32_t ccs_topology_n_links(const CcsTopology *topology)
{
    return topology->links->len;
}

const CcsLink *ccs_topology_link(const CcsTopology *topology, CcsLinkId id)
{
    g_assert(id < topology->links->len);
    return &g_array_index(topology->links, CcsLink, id);
}

char *ccs_topology_link_name(const CcsTopology *topology, CcsLinkId id)
{
    const CcsLink *link = ccs_topology_link(topology, id);
    const char *from = ccs_topology_vertex(topology, link->from)->name;
    const char *to = ccs_topology_vertex(topology, link->to)->name;
    uint32_t n_links;
    const CcsLinkId *links = ccs_topology_links_out(topology, link->from, &n_links);
    uint32_t number = 1;

    for (uint32_t i = 0; i < n_links && links[i] < id; i++)
        number += ccs_topology_link(topology, links[i])->to == link->to ? 1 : 0;
    if (number == 1)
        return g_strconcat(from, "->", to, NULL);
    return g_strdup_printf("%s->%s#%u", from, to, number);
}

uint32_t ccs_topology_n_classes(const CcsTopology *topology)
{
    return topology->classes->len;
}

const char *ccs_topology_class_name(const CcsTopology *topology, uint32_t link_class)
{
    g_assert(link_class < topology->classes->len);
    return topology->classes->pdata[link_class];
}

const CcsLinkId *ccs_topology_links_out(const CcsTopology *topology, CcsVertexId id,
                                        uint32_t *ret_n)
{
    g_assert(topology->is_sealed && id < topology->vertices->len);
    return index_slice(&topology->links_out, id, ret_n);
}

const CcsLinkId *ccs_topology_links_in(const CcsTopology *topology, CcsVertexId id, uint32_t *ret_n)
{
    g_assert(topology->is_sealed && id < topology->vertices->len);
    return index_slice(&topology->links_in, id, ret_n);
}

uint32_t ccs_topology_n_nodes(const CcsTopology *topology)
{
    return topology->n_nodes;
}

uint32_t ccs_topology_n_gpus(const CcsTopology *topology)
{
    return topology->n_gpus;
}

const CcsVertexId *ccs_topology_node_gpus(const CcsTopology *topology, CcsNodeId node,
                                          uint32_t *ret_n)
{
    g_assert(topology->is_sealed && node < topology->n_nodes);
    return index_slice(&topology->node_gpus, node, ret_n);
}

const CcsVertexId *ccs_topology_node_nics(const CcsTopology *topology, CcsNodeId node,
                                          uint32_t *ret_n)
{
    g_assert(topology->is_sealed && node < topology->n_nodes);
    return index_slice(&topology->node_nics, node, ret_n);
}

const CcsVertexId *ccs_topology_gpu_nics(const CcsTopology *topology, CcsVertexId gpu,
                                         uint32_t *ret_n)
{
    g_assert(topology->is_sealed && gpu < topology->vertices->len);
    return index_slice(&topology->gpu_nics, gpu, ret_n);
}
