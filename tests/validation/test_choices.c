/* Which algorithm, how many pieces, which order of ranks: answers that people who plan clusters
 * were given, with where they come from. */
#include "collectives/verify.h"
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

#define MB  ((CcsBytes)1000000)
#define GB  (1000 * MB)
#define MIB ((CcsBytes)1 << 20)
#define GIB ((CcsBytes)1 << 30)

static double busbw(const CcsAsked *asked, CcsTime time, uint32_t n_ranks)
{
    return ccs_bandwidth_GBps((double)asked->size, time) *
           ccs_collective_busbw_factor(CCS_ALLREDUCE, n_ranks);
}

/* nccl-tests#22: two nodes of eight GPUs, 100 Gb/s a node, an allreduce of 1 GiB: the tree took
 * 134 ms, the ring 268. A tree of two nodes sends S over the cable, a ring 2 (n-1)/n S, so the
 * ring is the one that shows what the cable can do. */
START_TEST(on_two_nodes_a_tree_takes_half_the_time_of_a_ring)
{
    CcsAsked asked = {.machine = "nodes: 2\nnode: {gpus: 8, nvlink: {bandwidth: 300 GB/s}, nics:"
                                 " {count: 1, bandwidth: 100 Gb/s}}\nfabric: {kind: switch}\n",
                      .collective = "allreduce",
                      .algorithm = "ring",
                      .n_chunks = 256,
                      .size = GIB};
    CcsTime ring = ccs_ask_time(&asked);

    asked.algorithm = "tree";
    CcsTime tree = ccs_ask_time(&asked);
    double ratio = (double)ring / (double)tree;
    ck_assert_msg(ratio > 1.7 && ratio < 2.1, "ratio %.3f", ratio);
    ck_assert_double_eq_tol(busbw(&asked, ring, 16), 12.5, 0.001);
    ck_assert_double_eq_tol(ccs_time_us(tree) / 1000, 85.9, 5); /* S over the cable */
}
END_TEST

/* ml-engineering: on eight H200 one allreduce of 4 GB moved 3723 Gb/s of busbw, a thousand of
 * 4 MB 1146 Gb/s. With a cost for each call the ratio follows. */
static const double call_costs_us[] = {10, 15, 20};

START_TEST(a_thousand_small_allreduces_are_slower_than_one_large_one)
{
    CcsAsked asked = {.machine = "node: {gpus: 8, nvlink: {bandwidth: 465.375 GB/s, latency: 1"
                                 " us}}\n",
                      .collective = "allreduce",
                      .size = 4 * GB,
                      .transport = {.launch = (CcsTime)(call_costs_us[_i] * 1e6),
                                    .reduce_rate = CCS_RATE_UNLIMITED}};
    CcsTime one = ccs_ask_time(&asked);

    asked.size = 4 * MB;
    CcsTime thousand = 1000 * ccs_ask_time(&asked);
    double ratio = (double)thousand / (double)one;
    ck_assert_msg(ratio > 2.5 && ratio < 4, "ratio %.3f", ratio);

    /* the same bytes, so what is more are 999 calls with 14 steps of latency each; all of it to
     * 1 ps for each step */
    double more = 999 * (call_costs_us[_i] + 14);
    ck_assert_double_eq_tol(ccs_time_us(thousand - one), more, 1000 * 14 * 1e-6);
}
END_TEST

/* pytorch#52034: PowerSGD of rank r sends (x + y) r floats of an x by y gradient in two
 * allreduces, where that is less than half of x y, and else all of it. */
static const struct {
    CcsBytes x, y, r;
    CcsBytes bytes; /* of the gradient, as sent */
} gradients[] = {{1024, 1024, 4, 32768}, {64, 3, 2, 768}, {4096, 1024, 1, 20480}};

START_TEST(compression_sends_so_many_bytes)
{
    CcsBytes x = gradients[_i].x;
    CcsBytes y = gradients[_i].y;
    CcsBytes r = gradients[_i].r;
    bool is_compressed = 2 * (x + y) * r < x * y;
    const CcsBytes buffers[] = {is_compressed ? 4 * x * r : 4 * x * y,
                                is_compressed ? 4 * y * r : 0};
    CcsBytes buffer_bytes = buffers[0] + buffers[1];
    CcsBytes sent = 0;

    for (size_t i = 0; i < 2; i++) {
        CcsAsked asked = {.machine = "nvlink8", .collective = "allreduce", .size = buffers[i]};
        g_auto(CcsAnswer) answer;
        ccs_ask(&asked, &answer);
        sent += answer.outcome.ranks[3].bytes_sent;
    }
    ck_assert_uint_eq(buffer_bytes, gradients[_i].bytes);
    ck_assert_uint_eq(sent, buffer_bytes * 14 / 8);
}
END_TEST

/* astra-sim#150: the same links everywhere, dimensions of 2 x 8, 8 x 2 or 4 x 4. */
START_TEST(the_order_of_two_dimensions_changes_only_the_number_of_steps)
{
    static const uint32_t inner[] = {2, 4, 8};

    for (size_t i = 0; i < G_N_ELEMENTS(inner); i++) {
        uint32_t outer = 16 / inner[i];
        g_autofree char *machine = g_strdup_printf(
            "nodes: %u\nnode: {gpus: %u, nvlink: {bandwidth: 50 GB/s, latency: 3 us}, nics:"
            " {count: %u, bandwidth: 50 GB/s, latency: 1.5 us}}\nfabric: {kind: switch}\n",
            outer, inner[i], inner[i]);
        CcsAsked asked = {
            .machine = machine, .collective = "allreduce", .algorithm = "hierarchical", .size = GB};
        double us = 2 * 15.0 / 16 * 1e9 / 50e3 + 2 * (inner[i] + outer - 2) * 3;
        ck_assert_double_eq_tol(ccs_ask_us(&asked), us, 1e-9 * us);
    }
}
END_TEST

/* The largest size, to within 1 %, at which @algorithm is faster than the ring; every size from
 * 1 KiB by factors of four that lies below must be won by it, and every one above by the ring. */
static CcsBytes crossover(CcsAsked asked, const char *algorithm)
{
    CcsAsked other = asked;
    g_auto(CcsAnswer) ring;
    g_auto(CcsAnswer) rival;
    CcsBytes low = 0;
    CcsBytes high = 0;

    asked.size = 1024;
    other.size = 1024;
    other.algorithm = algorithm;
    ccs_ask(&asked, &ring);
    ccs_ask(&other, &rival);
    for (CcsBytes size = 1024; size <= 4 * GIB; size *= 4) {
        ccs_ask_size(&ring, &asked, size);
        ccs_ask_size(&rival, &other, size);
        bool is_won = rival.outcome.time < ring.outcome.time;
        ck_assert_msg(!is_won || high == 0, "%s wins again at %" G_GUINT64_FORMAT, algorithm, size);
        low = is_won ? size : low;
        high = is_won || high != 0 ? high : size;
    }
    ck_assert_uint_gt(low, 0);
    ck_assert_uint_gt(high, 0);
    while (high - low > low / 100) {
        CcsBytes size = low + (high - low) / 2;
        ccs_ask_size(&ring, &asked, size);
        ccs_ask_size(&rival, &other, size);
        if (rival.outcome.time < ring.outcome.time)
            low = size;
        else
            high = size;
    }
    return low;
}

/* nccl#226, #790, #211, #457: the tree for latency, the ring for bandwidth, and the more nodes the
 * larger the size at which they change places. */
START_TEST(the_tree_wins_below_a_size_that_grows_with_the_nodes)
{
    static const uint32_t n_nodes[] = {3, 4, 8, 16};
    CcsBytes before = 0;

    for (size_t i = 0; i < G_N_ELEMENTS(n_nodes); i++) {
        CcsAsked asked = {.machine = "dgx-h100",
                          .n_nodes = n_nodes[i],
                          .collective = "allreduce",
                          .algorithm = "ring",
                          .n_channels = 1,
                          .n_chunks = 32};
        CcsBytes size = crossover(asked, "tree");
        ck_assert_msg(size > before, "%u nodes: %" G_GUINT64_FORMAT " after %" G_GUINT64_FORMAT,
                      n_nodes[i], size, before);
        before = size;
    }
}
END_TEST

/* nccl#1712: two to eight nodes of eight A100 with four NICs of 200 Gb/s: 1 GiB is as fast on all
 * of them, 4 to 64 MiB are the slower the more nodes there are. Latencies are those of the tuner
 * of NCCL 2.30 (src/graph/tuning.cc) for a ring with the protocol Simple: 3.4 us for a hop on
 * NVLink, 14 us for one over the network. At 64 MiB this ring has its NICs busy all the time, whose
 * seven other hops in a node hide the latency of the eighth: only the smaller ones fall here. */
#define A100                                                                                       \
    "node: {gpus: 8, nvlink: {bandwidth: 300 GB/s, latency: 3.4 us}, nics: {count: 4, bandwidth:"  \
    " 200 Gb/s, latency: 7 us}}\nfabric: {kind: switch}\n"

static double ring_busbw(uint32_t n_nodes, CcsBytes size)
{
    g_autofree char *machine = g_strdup_printf("nodes: %u\n" A100, n_nodes);
    CcsAsked asked = {.machine = machine,
                      .collective = "allreduce",
                      .algorithm = "ring",
                      .n_channels = 4,
                      .size = size};
    return busbw(&asked, ccs_ask_time(&asked), 8 * n_nodes);
}

START_TEST(middle_sizes_fall_with_the_nodes_and_large_ones_do_not)
{
    static const CcsBytes middle[] = {4 * MIB, 8 * MIB, 16 * MIB};
    static const uint32_t n_nodes[] = {2, 4, 6, 8};

    for (size_t i = 1; i < G_N_ELEMENTS(n_nodes); i++) {
        double two = ring_busbw(2, GIB);
        ck_assert_double_eq_tol(ring_busbw(n_nodes[i], GIB), two, 0.1 * two);
        for (size_t s = 0; s < G_N_ELEMENTS(middle); s++)
            ck_assert_double_lt(ring_busbw(n_nodes[i], middle[s]),
                                ring_busbw(n_nodes[i - 1], middle[s]));
    }
}
END_TEST

/* nccl#319: eight nodes in two racks with little between them. */
static char *two_racks(bool is_sorted)
{
    GString *yaml = g_string_new("vertices:\n  - {name: left, kind: switch}\n"
                                 "  - {name: right, kind: switch}\n");

    for (uint32_t i = 0; i < 8; i++)
        g_string_append_printf(yaml, "  - {name: gpu%u, kind: gpu, node: %u}\n", i, i);
    g_string_append(yaml, "links:\n  - {from: left, to: right, bandwidth: 50 GB/s,"
                          " both_ways: true}\n");
    for (uint32_t i = 0; i < 8; i++) {
        bool is_left = is_sorted ? i < 4 : i % 2 == 0;
        g_string_append_printf(yaml,
                               "  - {from: gpu%u, to: %s, bandwidth: 50 GB/s, both_ways: true}\n",
                               i, is_left ? "left" : "right");
    }
    return g_string_free(yaml, false);
}

START_TEST(a_ring_that_goes_rack_by_rack_is_the_fastest)
{
    g_autofree char *sorted = two_racks(true);
    g_autofree char *interleaved = two_racks(false);
    CcsAsked asked = {.machine = sorted, .collective = "allreduce", .size = GB};
    CcsTime good = ccs_ask_time(&asked);

    /* sorted it crosses once each way; interleaved four times, which share the cable */
    asked.machine = interleaved;
    CcsTime bad = ccs_ask_time(&asked);
    ck_assert_double_eq_tol(busbw(&asked, good, 8), 50, 0.001);
    ck_assert_double_eq_tol((double)bad / (double)good, 4, 0.001);
}
END_TEST

/* astra-sim#370 and others: no deadlock, however many chunks, whatever the latencies and shapes.
 * Such a fault would be an error of the run. */
START_TEST(no_number_of_chunks_makes_a_schedule_hang)
{
    static const uint32_t chunks[] = {1, 2, 3, 7, 33};
    static const char *const latencies[] = {"nics.latency=0 us", "nics.latency=17 us"};
    static const uint32_t inner[] = {1, 2, 3, 5};
    const uint32_t n_gpus = inner[_i];

    for (size_t a = 0; ccs_algorithms[a] != NULL; a++) {
        for (size_t c = 0; c < G_N_ELEMENTS(chunks); c++) {
            g_autofree char *machine = g_strdup_printf(
                "nodes: 3\nnode: {gpus: %u, nvlink: {bandwidth: 300 GB/s, latency: 5 us}, nics:"
                " {count: %u, bandwidth: 50 GB/s}}\nfabric: {kind: switch}\n",
                n_gpus, n_gpus);
            g_autofree char *set = g_strconcat("node.", latencies[c % 2], NULL);
            CcsAsked asked = {.machine = machine,
                              .set = {set},
                              .collective =
                                  ccs_collective_info(ccs_algorithms[a]->collective)->name,
                              .algorithm = ccs_algorithms[a]->name,
                              .n_channels = 1 + (uint32_t)c % 3,
                              .n_chunks = chunks[c],
                              .size = 1000003};
            g_auto(CcsAnswer) answer;
            if (ccs_ask_schedule(&asked, &answer))
                ccs_ask_time(&asked);
        }
    }
}
END_TEST

/* simgrid#294, ompi#9385: an algorithm under another one's name, sums that are wrong from four
 * ranks on. Here data are played through each schedule; what is left is that a name is what it
 * says: only pairwise exchanges with each other rank once, only a ring has one neighbour. */
START_TEST(data_end_where_they_belong_for_every_number_of_ranks)
{
    for (size_t a = 0; ccs_algorithms[a] != NULL; a++) {
        CcsAsked asked = {.machine = "flat8",
                          .n_nodes = (uint32_t)_i,
                          .collective = ccs_collective_info(ccs_algorithms[a]->collective)->name,
                          .algorithm = ccs_algorithms[a]->name,
                          .n_chunks = 5};
        g_autoptr(GError) error = NULL;
        g_auto(CcsAnswer) answer;
        if (!ccs_ask_schedule(&asked, &answer))
            continue; /* not for so many */
        ck_assert_msg(ccs_verify(answer.schedule, &error), "%s %s on %d ranks: %s",
                      asked.collective, asked.algorithm, _i, error == NULL ? "" : error->message);
    }
}
END_TEST

/* How many ranks each rank sends to. */
static uint32_t n_peers_of(const CcsSchedule *schedule, CcsRank rank)
{
    uint32_t n_ranks = ccs_schedule_n_ranks(schedule);
    g_autofree bool *is_peer = g_new0(bool, n_ranks);
    uint32_t n_peers = 0;

    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(schedule, id);
        for (uint32_t k = 0; k < lane->n_messages && lane->source == rank; k++)
            is_peer[ccs_lane_peer(lane, k, n_ranks)] = true;
    }
    for (CcsRank peer = 0; peer < n_ranks; peer++)
        n_peers += is_peer[peer] && peer != rank;
    return n_peers;
}

START_TEST(an_algorithm_is_the_one_it_is_called)
{
    static const struct {
        const char *collective;
        const char *algorithm;
        uint32_t n_peers; /* of rank 1 of 8 */
    } rows[] = {{"allreduce", "ring", 1},     {"allgather", "ring", 1},
                {"reducescatter", "ring", 1}, {"broadcast", "chain", 1},
                {"alltoall", "pairwise", 7},  {"alltoall", "direct", 7},
                {"alltoall", "bruck", 3},     {"allreduce", "recursive_doubling", 3}};

    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        CcsAsked asked = {
            .machine = "nvlink8", .collective = rows[i].collective, .algorithm = rows[i].algorithm};
        g_auto(CcsAnswer) answer;
        ck_assert(ccs_ask_schedule(&asked, &answer));
        ck_assert_msg(n_peers_of(answer.schedule, 1) == rows[i].n_peers, "%s %s has %u peers",
                      rows[i].collective, rows[i].algorithm, n_peers_of(answer.schedule, 1));
    }
}
END_TEST

/* astra-sim#155: more chunks made it slower for no reason. Without latency and without costs
 * cutting a buffer into more pieces never does: a pipeline fills sooner, and each channel is the
 * whole pattern on a part of the buffer. Only the channels of trees have different ranks at the
 * top, so that they get in each other's way. */
START_TEST(splitting_without_latency_is_never_slower)
{
    for (size_t a = 0; ccs_algorithms[a] != NULL; a++) {
        CcsAsked asked = {.machine = "nvlink8",
                          .collective = ccs_collective_info(ccs_algorithms[a]->collective)->name,
                          .algorithm = ccs_algorithms[a]->name,
                          .size = 720720 * 64};
        CcsTime whole = ccs_ask_time(&asked);
        CcsTime before = whole;
        for (asked.n_chunks = 1; asked.n_chunks <= 64; asked.n_chunks *= 2) {
            CcsTime time = ccs_ask_time(&asked);
            ck_assert_msg(time <= before + 1000, "%s %s, %u chunks: %.6f us after %.6f us",
                          asked.collective, asked.algorithm, asked.n_chunks, ccs_time_us(time),
                          ccs_time_us(before));
            before = time;
        }
        asked.n_chunks = 1;
        for (asked.n_channels = 2; asked.n_channels <= 8 && !ccs_algorithms[a]->is_pipelined;
             asked.n_channels *= 2) {
            CcsTime time = ccs_ask_time(&asked);
            ck_assert_msg(time <= whole + 1000, "%s %s, %u channels: %.6f us after %.6f us",
                          asked.collective, asked.algorithm, asked.n_channels, ccs_time_us(time),
                          ccs_time_us(whole));
        }
    }
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("choices");
    TCase *tcase = tcase_create("choices");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, on_two_nodes_a_tree_takes_half_the_time_of_a_ring);
    tcase_add_loop_test(tcase, a_thousand_small_allreduces_are_slower_than_one_large_one, 0,
                        G_N_ELEMENTS(call_costs_us));
    tcase_add_loop_test(tcase, compression_sends_so_many_bytes, 0, G_N_ELEMENTS(gradients));
    tcase_add_test(tcase, the_order_of_two_dimensions_changes_only_the_number_of_steps);
    tcase_add_test(tcase, the_tree_wins_below_a_size_that_grows_with_the_nodes);
    tcase_add_test(tcase, middle_sizes_fall_with_the_nodes_and_large_ones_do_not);
    tcase_add_test(tcase, a_ring_that_goes_rack_by_rack_is_the_fastest);
    tcase_add_loop_test(tcase, no_number_of_chunks_makes_a_schedule_hang, 0, 4);
    tcase_add_loop_test(tcase, data_end_where_they_belong_for_every_number_of_ranks, 1, 18);
    tcase_add_test(tcase, an_algorithm_is_the_one_it_is_called);
    tcase_add_test(tcase, splitting_without_latency_is_never_slower);
    suite_add_tcase(suite, tcase);
    return suite;
}
