/* Allreduce up and down trees, for which there is no formula: the same messages played by a
 * simpler method, and what the trees make the busiest node send. */
#include "tests/support/catalogue.h"
#include "tests/support/check_main.h"
#include "tests/support/ports.h"

#define NO_PARENT UINT32_MAX

/* Fills in who hangs under whom between positions @first and @last: the largest power of two
 * @count from @first is above all others, in a perfect tree before it and the like behind it. */
static void hang(uint32_t *parents, uint32_t first, uint32_t count, uint32_t above)
{
    uint32_t height = 1;

    if (count == 0)
        return;
    while (2 * height <= count)
        height *= 2;
    uint32_t top = first + height - 1;
    parents[top] = above;
    hang(parents, first, height - 1, top);
    hang(parents, top + 1, count - height, top);
}

/* The two trees over @n positions: 0 on top of the first; the other one its mirror image or
 * shifted by one. */
static void double_tree(uint32_t *parents, uint32_t n, uint32_t tree)
{
    uint32_t first[128];

    first[0] = NO_PARENT;
    hang(first, 1, n - 1, 0);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = tree == 0 ? i : n % 2 == 0 ? n - 1 - i : (i + 1) % n;
        uint32_t above = first[i];
        if (above != NO_PARENT && tree == 1)
            above = n % 2 == 0 ? n - 1 - above : (above + 1) % n;
        parents[at] = above;
    }
}

static void heap(uint32_t *parents, uint32_t n, uint32_t tree)
{
    (void)tree;
    for (uint32_t i = 0; i < n; i++)
        parents[i] = i == 0 ? NO_PARENT : (i - 1) / 2;
}

static void chain(uint32_t *parents, uint32_t n, uint32_t tree)
{
    (void)tree;
    for (uint32_t i = 0; i < n; i++)
        parents[i] = i - 1; /* NO_PARENT for 0 */
}

typedef struct {
    const char *algorithm;
    uint32_t n_trees;
    void (*fill)(uint32_t *parents, uint32_t n, uint32_t tree);
} Shape;

static const Shape shapes[] = {
    {"tree", 1, heap}, {"double_tree", 2, double_tree}, {"chain", 1, chain}};

static uint32_t top_of(const uint32_t *parents, uint32_t n)
{
    uint32_t top = 0;

    while (top < n && parents[top] != NO_PARENT)
        top++;
    return top;
}

typedef struct {
    GArray *messages; /* of CcsPortMessage */
    const uint32_t *parents;
    uint32_t n;
    uint32_t top;
    uint32_t n_chunks;
    uint32_t base; /* messages of other trees */
    double bytes;  /* of a chunk */
} Builder;

/* The message of chunk @k between @rank, which is not the top, and its parent. */
static uint32_t index_of(const Builder *builder, uint32_t rank, bool is_down, uint32_t k)
{
    uint32_t place = rank < builder->top ? rank : rank - 1;
    return builder->base + (2 * place + (is_down ? 1 : 0)) * builder->n_chunks + k;
}

static void wait_for_children(const Builder *builder, CcsPortMessage *message, uint32_t rank,
                              uint32_t k)
{
    for (uint32_t child = 0; child < builder->n; child++) {
        if (builder->parents[child] == rank)
            message->waits[message->n_waits++] = index_of(builder, child, false, k);
    }
}

static void add_edge(const Builder *builder, uint32_t rank, bool is_down)
{
    uint32_t parent = builder->parents[rank];

    for (uint32_t k = 0; k < builder->n_chunks; k++) {
        CcsPortMessage message = {.source = is_down ? parent : rank,
                                  .peer = is_down ? rank : parent,
                                  .bytes = builder->bytes,
                                  .is_reduced = !is_down,
                                  .behind = k == 0 ? CCS_NO_MESSAGE : builder->messages->len - 1};
        if (is_down && parent != builder->top)
            message.waits[message.n_waits++] = index_of(builder, parent, true, k);
        else
            wait_for_children(builder, &message, is_down ? parent : rank, k);
        g_array_append_val(builder->messages, message);
    }
}

static double play(const Shape *shape, uint32_t n, uint32_t n_chunks, double size)
{
    g_autoptr(GArray) messages = g_array_new(false, false, sizeof(CcsPortMessage));
    uint32_t parents[128];

    for (uint32_t tree = 0; tree < shape->n_trees; tree++) {
        shape->fill(parents, n, tree);
        Builder builder = {.messages = messages,
                           .parents = parents,
                           .n = n,
                           .top = top_of(parents, n),
                           .n_chunks = n_chunks,
                           .base = messages->len,
                           .bytes = size / shape->n_trees / n_chunks};
        for (uint32_t rank = 0; rank < n; rank++) {
            for (int is_down = 0; is_down < 2 && rank != builder.top; is_down++)
                add_edge(&builder, rank, is_down == 1);
        }
    }
    return ccs_ports_play(
        messages, n,
        &(CcsPortCosts){
            .bytes_per_ps = 0.05, .latency_ps = 3e6, .cost_ps = 7e5, .reduced_per_ps = 0.25});
}

/* To a few ps per message that comes after another: rounding of one may make another share a
 * port for a moment longer. */
START_TEST(a_tree_takes_the_time_of_its_messages_on_ports)
{
    static const uint32_t counts[] = {2, 3, 4, 5, 6, 7, 8, 11};
    static const uint32_t chunks[] = {1, 2, 5};
    static const CcsBytes factors[] = {0, 1, 100, 10007, 1000000};
    const Shape *shape = &shapes[_i % 3];
    uint32_t n = counts[_i / 3];
    g_autofree char *machine = ccs_flat_switch(n);

    for (size_t c = 0; c < G_N_ELEMENTS(chunks); c++) {
        CcsAsked asked = {.machine = machine,
                          .collective = "allreduce",
                          .algorithm = shape->algorithm,
                          .n_chunks = chunks[c],
                          .transport = ccs_costly};
        g_auto(CcsAnswer) answer;
        ccs_ask(&asked, &answer);
        for (size_t f = 0; f < G_N_ELEMENTS(factors); f++) {
            CcsBytes size = factors[f] * chunks[c] * 2 * 50;
            ccs_ask_size(&answer, &asked, size);
            ck_assert_double_eq_tol((double)answer.outcome.time,
                                    play(shape, n, chunks[c], (double)size), 8.0 * (n + chunks[c]));
        }
    }
}
END_TEST

START_TEST(who_has_two_children_in_one_tree_is_a_leaf_of_the_other)
{
    uint32_t n = ccs_rank_counts[_i];
    uint32_t n_children[2][128] = {{0}};

    for (uint32_t tree = 0; tree < 2; tree++) {
        uint32_t parents[128];
        double_tree(parents, n, tree);
        for (uint32_t i = 0; i < n; i++) {
            if (parents[i] != NO_PARENT)
                n_children[tree][parents[i]]++;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        ck_assert_uint_le(n_children[0][i], 2);
        ck_assert_uint_le(n_children[0][i] + n_children[1][i], 2);
    }
}
END_TEST

/* NVLink does not bind: the network does. */
static char *cluster(uint32_t n_nodes)
{
    return g_strdup_printf("nodes: %u\n"
                           "node: {gpus: 8, nvlink: {bandwidth: 50000 GB/s},"
                           " nics: {count: 8, bandwidth: 50 GB/s}}\n"
                           "fabric: {kind: switch}\n",
                           n_nodes);
}

/* What leaves the node that sends most. */
static CcsBytes busiest_node(const CcsAnswer *answer)
{
    const CcsTopology *topology = answer->topology;
    g_autofree CcsBytes *sent = g_new0(CcsBytes, ccs_topology_n_nodes(topology));
    CcsBytes most = 0;

    for (CcsLinkId id = 0; id < ccs_topology_n_links(topology); id++) {
        const CcsLink *link = ccs_topology_link(topology, id);
        CcsNodeId node = ccs_topology_vertex(topology, link->from)->node;
        if (node == CCS_NO_NODE || ccs_topology_vertex(topology, link->to)->node != CCS_NO_NODE)
            continue;
        sent[node] += answer->outcome.links[id].bytes;
        most = MAX(most, sent[node]);
    }
    return most;
}

static CcsBytes busiest_node_of(const char *algorithm, uint32_t n_nodes, CcsBytes size)
{
    g_autofree char *machine = cluster(n_nodes);
    g_auto(CcsAnswer) answer;

    ccs_ask(&(CcsAsked){.machine = machine,
                        .collective = "allreduce",
                        .algorithm = algorithm,
                        .size = size,
                        .n_channels = 8,
                        .n_chunks = 2},
            &answer);
    return busiest_node(&answer);
}

START_TEST(the_busiest_node_sends_as_much_as_its_places_in_the_trees_ask)
{
    static const uint32_t counts[] = {2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 24, 31, 32, 33, 63, 64};
    uint32_t n_nodes = counts[_i];
    CcsBytes size = (CcsBytes)8 * 2 * 2 * 1000 * n_nodes; /* channels, trees, chunks */

    ck_assert_uint_eq(busiest_node_of("double_tree", n_nodes, size), n_nodes == 2   ? size
                                                                     : n_nodes == 3 ? size / 2 * 3
                                                                                    : 2 * size);
    ck_assert_uint_eq(busiest_node_of("ring", n_nodes, size * 2),
                      size * 2 / (8 * n_nodes) * 2 * (8 * n_nodes - 1));
}
END_TEST

/* The bound on busbw of trees, that of a ring being 1 (the NICs of a node together). */
typedef struct {
    uint32_t n_nodes;
    double ratio;
} Ratio;

static const Ratio ratios[] = {{2, 1.875}, {3, 1.278}, {4, 0.969}, {8, 0.984}};

static double us_of(const char *machine, const char *algorithm, uint32_t n_chunks)
{
    return ccs_ask_us(&(CcsAsked){.machine = machine,
                                  .collective = "allreduce",
                                  .algorithm = algorithm,
                                  .size = (CcsBytes)1 << 30,
                                  .n_channels = 8,
                                  .n_chunks = n_chunks});
}

START_TEST(many_chunks_take_trees_to_the_limit_of_the_network)
{
    g_autofree char *machine = cluster(ratios[_i].n_nodes);
    double ring = us_of(machine, "ring", 1);

    for (uint32_t n_chunks = 32; n_chunks <= 128; n_chunks *= 2) {
        double ratio = ring / us_of(machine, "double_tree", n_chunks);
        ck_assert_double_le(ratio, ratios[_i].ratio + 0.001);
        ck_assert_double_ge(ratio, ratios[_i].ratio * (1 - 2.0 / n_chunks));
    }
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("trees");
    TCase *tcase = tcase_create("trees");

    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, a_tree_takes_the_time_of_its_messages_on_ports, 0, 3 * 8);
    tcase_add_loop_test(tcase, who_has_two_children_in_one_tree_is_a_leaf_of_the_other, 1,
                        ccs_n_rank_counts);
    tcase_add_loop_test(tcase, the_busiest_node_sends_as_much_as_its_places_in_the_trees_ask, 0,
                        17);
    tcase_add_loop_test(tcase, many_chunks_take_trees_to_the_limit_of_the_network, 0,
                        G_N_ELEMENTS(ratios));
    suite_add_tcase(suite, tcase);
    return suite;
}
