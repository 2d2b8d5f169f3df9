/* The formulas that the algorithms state, against the simulation: on a flat switch with latency
 * a, message cost o, ports of rate B and reduction rate G,
 * T = latencies a + costs o + sizes S/B + reductions S/G, to 1 ps per sequential message. */
#include <math.h>

#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

#define MACHINE                                                                                    \
    "nodes: 8\nnode: {gpus: 1, nics: {count: 1, bandwidth: 50 GB/s, latency: 0.5 us}}\n"           \
    "fabric: {kind: switch}\n"

static const uint32_t ranks[] = {2, 3, 5, 8, 12, 16, 64};

/* Times n and the chunks below divide it, so that all chunks are equal. */
static const CcsBytes units[] = {0, 1, 8, 1000, 1048576};

static uint32_t n_algorithms(void)
{
    uint32_t n = 0;

    while (ccs_algorithms[n] != NULL)
        n++;
    return n;
}

static void check(const CcsAlgorithm *algorithm, uint32_t n, uint32_t n_chunks)
{
    CcsTerms terms;
    CcsAsked asked = {
        .machine = MACHINE,
        .n_nodes = n,
        .collective = ccs_collective_info(algorithm->collective)->name,
        .algorithm = algorithm->name,
        .n_chunks = n_chunks,
        .transport = {.name = "costly",
                      .launch = 3000000,
                      .message_cost = 5000000,
                      .reduce_rate = 500 * (CCS_RATE_PER_BYTE * 1000000000U)},
    };
    if (algorithm->terms == NULL || !algorithm->terms(n, n_chunks, &terms))
        return;
    g_auto(CcsAnswer) answer;
    ccs_ask(&asked, &answer);
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
        CcsBytes size = units[i] * n * n_chunks * 60;
        double us = (double)size / 50e3;
        double expected = 3 + terms.latencies * 1 + terms.costs * 5 + terms.sizes * us +
                          terms.reductions * us / 10;
        ccs_ask_size(&answer, &asked, size);
        double got = ccs_time_us(answer.outcome.time);
        double messages = terms.latencies + terms.costs + 8;
        ck_assert_msg(fabs(got - expected) <= 2e-6 * messages + 1e-12 * expected,
                      "%s %s, %u ranks, %u chunks, %" G_GUINT64_FORMAT " B: %.6f us, not %.6f us",
                      asked.collective, asked.algorithm, n, n_chunks, size, got, expected);
    }
}

START_TEST(an_algorithm_takes_the_time_of_its_formula)
{
    for (size_t i = 0; i < G_N_ELEMENTS(ranks); i++) {
        check(ccs_algorithms[_i], ranks[i], 1);
        if (ccs_algorithms[_i]->is_pipelined) {
            check(ccs_algorithms[_i], ranks[i], 5);
            check(ccs_algorithms[_i], ranks[i], 64);
        }
    }
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("closed forms");
    TCase *tcase = tcase_create("closed forms");

    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, an_algorithm_takes_the_time_of_its_formula, 0, (int)n_algorithms());
    suite_add_tcase(suite, tcase);
    return suite;
}
