#include "collectives/synchronous.h"

#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

/* 50,000 bytes take 1 us, and the way from rank to rank 2 us. */
#define FLAT                                                                                       \
    "nodes: 4\nnode: {gpus: 1, nics: {count: 1, bandwidth: 50 GB/s, latency: 1 us}}\n"             \
    "fabric: {kind: switch}\n"

/* Two pairs of GPUs that are near to each other, with 50 GB/s over 5 us from pair to pair. */
#define PAIRS                                                                                      \
    "nodes: 2\nnode: {gpus: 2, nvlink: {bandwidth: 200 GB/s, latency: 1 us}}\n"                    \
    "vertices:\n  - {name: hub, kind: switch}\n"                                                   \
    "  - {name: p0, kind: switch}\n  - {name: p1, kind: switch}\n"                                 \
    "  - {name: p2, kind: switch}\n  - {name: p3, kind: switch}\n"                                 \
    "links:\n" PORT("n0.gpu0", "p0") PORT("n0.gpu1", "p1") PORT("n1.gpu0", "p2")                   \
        PORT("n1.gpu1", "p3")
#define PORT(gpu, port)                                                                            \
    "  - {from: " gpu ", to: " port ", bandwidth: 50 GB/s, latency: 2.5 us, both_ways: true}\n"    \
    "  - {from: " port ", to: hub, bandwidth: 1000 GB/s, both_ways: true}\n"

#define US 1000000

static const CcsTransport synchronous = {.is_synchronous = true, .reduce_rate = CCS_RATE_UNLIMITED};

typedef struct {
    CcsAsked asked;
    CcsTime plain;
    CcsTime time; /* if sends are synchronous */
} Case;

static const Case cases[] = {
    /* a pipeline has the latency once, or for each of its messages */
    {{.machine = FLAT, .collective = "broadcast", .n_ranks = 2, .n_chunks = 10, .size = 500000},
     (10 + 2) * US,
     10 * (1 + 2) * US},
    /* so has a root that serves one after the other */
    {{.machine = FLAT, .collective = "broadcast", .algorithm = "flat", .size = 50000},
     (3 + 2) * US,
     3 * (1 + 2) * US},
    /* and a rank whose next message waits for the last one to leave */
    {{.machine = FLAT, .collective = "broadcast", .algorithm = "binomial", .size = 50000},
     (1 + 2 + 1 + 2) * US,
     (1 + 2 + 1 + 2) * US},
    /* one switch: each step of a ring waits for the arrival of the one before anyway */
    {{.machine = FLAT, .collective = "allreduce", .algorithm = "ring", .size = 200000},
     6 * (1 + 2) * US,
     6 * (1 + 2) * US},
    /* Each message is under way for 4 + 5 us on a slow link, or for 1 + 1 us on a fast one, and the
     * last of six has a chain of five before it: two rounds over both kinds of links, and one
     * message that waits for the one before to leave its slow link. Synchronous sends are nowhere
     * faster than on the slow links. */
    {{.machine = PAIRS, .collective = "allreduce", .algorithm = "ring", .size = 4 * 200000},
     (2 * (4 + 5 + 1 + 1) + 4 + (4 + 5)) * US,
     6 * (4 + 5) * US},
    /* each message has a lane to itself */
    {{.machine = FLAT,
      .collective = "alltoall",
      .algorithm = "direct",
      .n_ranks = 3,
      .size = 150000},
     (2 + 2) * US,
     (2 + 2) * US},
};

START_TEST(a_synchronous_send_takes_the_way_of_the_message_too)
{
    CcsAsked asked = cases[_i].asked;

    if (cases[_i].plain > 0)
        ck_assert_int_eq(ccs_ask_time(&asked), cases[_i].plain);
    asked.transport = synchronous;
    ck_assert_int_eq(ccs_ask_time(&asked), cases[_i].time);
}
END_TEST

/* The receiver adds 50,000 bytes in 4 us. */
START_TEST(a_synchronous_send_ends_when_what_has_arrived_is_reduced)
{
    CcsAsked asked = {.machine = FLAT,
                      .n_ranks = 2,
                      .collective = "reduce",
                      .n_chunks = 10,
                      .size = 500000,
                      .transport = synchronous};

    asked.transport.reduce_rate = CCS_RATE_PER_BYTE * 12500000000U;
    ck_assert_int_eq(ccs_ask_time(&asked), 10 * (1 + 2 + 4) * US);
}
END_TEST

START_TEST(the_schedule_that_was_given_stays_as_it_is)
{
    CcsAsked asked = {.machine = FLAT, .collective = "broadcast", .algorithm = "binomial"};
    g_auto(CcsAnswer) answer = {0};
    ck_assert(ccs_ask_schedule(&asked, &answer));
    uint32_t n_before = ccs_schedule_n_dependencies(answer.schedule);

    g_autoptr(CcsSchedule) changed = ccs_schedule_synchronous(answer.schedule);

    ck_assert_uint_eq(ccs_schedule_n_dependencies(answer.schedule), n_before);
    for (uint32_t i = 0; i < ccs_schedule_n_dependencies(changed); i++)
        ck_assert_int_eq(ccs_schedule_dependency(changed, i)->event, CCS_ARRIVED);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("synchronous");
    TCase *tcase = tcase_create("synchronous");

    tcase_add_loop_test(tcase, a_synchronous_send_takes_the_way_of_the_message_too, 0,
                        G_N_ELEMENTS(cases));
    tcase_add_test(tcase, a_synchronous_send_ends_when_what_has_arrived_is_reduced);
    tcase_add_test(tcase, the_schedule_that_was_given_stays_as_it_is);
    suite_add_tcase(suite, tcase);
    return suite;
}
