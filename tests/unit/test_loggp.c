#include "models/network_model.h"

#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

#define GBPS (1000000000U * CCS_RATE_PER_BYTE)
#define FLAT                                                                                       \
    "nodes: 8\nnode: {gpus: 1, nics: {count: 1, bandwidth: 50 GB/s, latency: 1 us}}\n"             \
    "fabric: {kind: switch}\n"

START_TEST(a_message_takes_its_bytes_over_the_least_bandwidth_on_its_way)
{
    CcsAsked asked = {.machine = "nodes: [{}, {nics: {bandwidth: 10 GB/s}}]\nnode: {gpus: 1, nics:"
                                 " {count: 1, bandwidth: 50 GB/s}}\nfabric: {kind: switch}\n",
                      .model = "loggp",
                      .collective = "broadcast",
                      .size = 50000};

    ck_assert_int_eq(ccs_ask_time(&asked), 5000000);
}
END_TEST

START_TEST(messages_on_one_link_do_not_slow_each_other)
{
    CcsAsked asked = {.machine = FLAT,
                      .model = "loggp",
                      .collective = "gather",
                      .algorithm = "flat",
                      .size = 8 * 50000};

    ck_assert_int_eq(ccs_ask_time(&asked), 1000000 + 2000000);
}
END_TEST

START_TEST(a_link_may_carry_more_than_its_bandwidth)
{
    g_auto(CcsAnswer) answer;
    CcsRate peak = 0;
    CcsBytes bytes = 0;

    ccs_ask(&(CcsAsked){.machine = FLAT,
                        .model = "loggp",
                        .collective = "gather",
                        .algorithm = "flat",
                        .size = 8 * 50000},
            &answer);
    for (CcsLinkId id = 0; id < ccs_topology_n_links(answer.topology); id++) {
        peak = MAX(peak, answer.outcome.links[id].peak);
        bytes = MAX(bytes, answer.outcome.links[id].bytes);
    }
    ck_assert_uint_eq(peak, 7 * 50 * GBPS);
    ck_assert_uint_eq(bytes, 7 * 50000);
    ck_assert_int_lt(answer.outcome.time, answer.bound.time);
}
END_TEST

/* What is the same on all links: bytes and messages always, times where nothing is shared. */
START_TEST(links_carry_what_they_carry_in_fluid)
{
    g_auto(CcsAnswer) fluid;
    g_auto(CcsAnswer) loggp;
    bool is_shared = _i == 1;
    CcsAsked asked = {.machine = FLAT,
                      .collective = "allreduce",
                      .algorithm = is_shared ? "naive" : "ring",
                      .size = 12345678};

    ccs_ask(&asked, &fluid);
    asked.model = "loggp";
    ccs_ask(&asked, &loggp);
    for (CcsLinkId id = 0; id < ccs_topology_n_links(fluid.topology); id++) {
        ck_assert_uint_eq(fluid.outcome.links[id].bytes, loggp.outcome.links[id].bytes);
        ck_assert_uint_eq(fluid.outcome.links[id].messages, loggp.outcome.links[id].messages);
        if (!is_shared)
            ck_assert_int_eq(fluid.outcome.links[id].busy, loggp.outcome.links[id].busy);
    }
    if (is_shared)
        ck_assert_int_gt(fluid.outcome.time, loggp.outcome.time);
    else
        ck_assert_int_eq(fluid.outcome.time, loggp.outcome.time);
}
END_TEST

START_TEST(only_models_that_share_promise_to_keep_to_bandwidths)
{
    ck_assert(ccs_network_model_find("fluid", NULL, NULL)->shares_links);
    ck_assert(ccs_network_model_find("fluid", "reference", NULL)->shares_links);
    ck_assert(!ccs_network_model_find("loggp", NULL, NULL)->shares_links);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("loggp");
    TCase *tcase = tcase_create("loggp");

    tcase_add_test(tcase, a_message_takes_its_bytes_over_the_least_bandwidth_on_its_way);
    tcase_add_test(tcase, messages_on_one_link_do_not_slow_each_other);
    tcase_add_test(tcase, a_link_may_carry_more_than_its_bandwidth);
    tcase_add_loop_test(tcase, links_carry_what_they_carry_in_fluid, 0, 2);
    tcase_add_test(tcase, only_models_that_share_promise_to_keep_to_bandwidths);
    suite_add_tcase(suite, tcase);
    return suite;
}
