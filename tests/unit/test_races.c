#include "collectives/races.h"

#include <string.h>

#include "base/error.h"
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

#define N_CHUNKS 4U

static CcsAnswer answer;
static CcsSchedule *schedule;

/* An allreduce of four ranks without lanes. */
static void set_up(void)
{
    ccs_ask_machine(&(CcsAsked){.machine = "nvlink8", .n_ranks = 4}, &answer);
    answer.schedule = ccs_schedule_new(CCS_ALLREDUCE, answer.communicator, 0, 1, 1);
    schedule = answer.schedule;
    ccs_schedule_set_n_chunks(schedule, N_CHUNKS);
}

static void tear_down(void)
{
    ccs_answer_clear(&answer);
}

/* A message with chunk @chunk. */
static CcsLaneId add(CcsRank source, CcsRank peer, uint32_t chunk, uint32_t n_reduced)
{
    CcsBox box = {.buffer = CCS_BUFFER_OUTPUT, .base = chunk};

    return ccs_schedule_add_lane(schedule, &(CcsLane){.source = source,
                                                      .peer = peer,
                                                      .n_messages = 1,
                                                      .n_reduced = n_reduced,
                                                      .from = box,
                                                      .to = box});
}

/* The same with one chunk after the other, as many as there are. */
static CcsLaneId add_stream(CcsRank source, CcsRank peer)
{
    CcsLaneId id = add(source, peer, 0, 0);
    CcsLane *lane = ccs_schedule_edit_lane(schedule, id);

    lane->n_messages = N_CHUNKS;
    lane->from.scale = 1;
    lane->from.step = 1;
    lane->from.modulus = N_CHUNKS;
    lane->to = lane->from;
    return id;
}

/* @after waits until @n messages of @before have arrived. */
static void wait_for_some(CcsLaneId after, CcsLaneId before, uint32_t n)
{
    ccs_schedule_depend(
        schedule,
        &(CcsDependency){
            .after = after, .before = before, .event = CCS_ARRIVED, .p_before = n, .p_after = 1});
}

static void assert_race(const char *part)
{
    g_autoptr(GError) error = NULL;

    ck_assert(!ccs_races_check(schedule, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_CHECK));
    ck_assert_msg(strstr(error->message, part) != NULL, "%s", error->message);
}

static void assert_no_race(void)
{
    g_autoptr(GError) error = NULL;

    ck_assert_msg(ccs_races_check(schedule, &error), "%s", error == NULL ? "" : error->message);
}

START_TEST(two_copies_to_one_chunk_race)
{
    add(0, 1, 3, 0);
    add(2, 1, 3, 0);

    assert_race("overwrites chunk 3 at rank 1, which lane of channel 0, message 0 from rank");
}
END_TEST

START_TEST(two_additions_do_not)
{
    add(0, 1, 0, 1);
    add(2, 1, 0, 1);

    assert_no_race();
}
END_TEST

START_TEST(copies_to_different_chunks_do_not)
{
    add(0, 1, 0, 0);
    add(2, 1, 1, 0);

    assert_no_race();
}
END_TEST

START_TEST(reading_races_with_an_addition_that_it_does_not_wait_for)
{
    CcsLaneId in = add(0, 1, 0, 1);
    CcsLaneId out = add(1, 2, 0, 0);

    assert_race("from rank");
    ccs_schedule_gate_sent(schedule, out, in);
    assert_race("from rank");
    ccs_schedule_gate(schedule, out, in);
    assert_no_race();
}
END_TEST

START_TEST(what_is_overwritten_must_have_been_read)
{
    CcsLaneId out = add(1, 2, 0, 0);
    CcsLaneId in = add(0, 1, 0, 0);

    assert_race("from rank");
    ccs_schedule_gate_sent(schedule, in, out);
    assert_no_race();
}
END_TEST

START_TEST(waiting_may_lead_over_others)
{
    CcsLaneId in = add(0, 1, 0, 1);
    CcsLaneId between = add(1, 3, 1, 0);
    CcsLaneId out = add(1, 2, 0, 0);

    ccs_schedule_gate(schedule, between, in);
    assert_race("chunk 0 at rank 1");
    ccs_schedule_gate_sent(schedule, out, between);
    assert_no_race();
}
END_TEST

START_TEST(messages_to_one_rank_do_not_pass_each_other)
{
    CcsLaneId in = add_stream(0, 1);
    CcsLaneId out = add(1, 2, 1, 0);

    wait_for_some(out, in, N_CHUNKS - 1);
    assert_no_race();
    ccs_schedule_edit_dependency(schedule, 0)->p_before = 1;
    assert_race("chunk 1 at rank 1");
}
END_TEST

START_TEST(messages_to_several_ranks_do)
{
    CcsLaneId in = add_stream(0, 1);
    CcsLane *lane = ccs_schedule_edit_lane(schedule, in);
    lane->peer_kind = CCS_PEER_SHIFT; /* to ranks 1, 2, 3 */
    lane->n_messages = 3;
    CcsLaneId out = add(1, 2, 0, 0);

    wait_for_some(out, in, 2);
    assert_race("chunk 0 at rank 1");
    ccs_schedule_edit_dependency(schedule, 0)->p_before = 3;
    assert_no_race();
}
END_TEST

START_TEST(a_join_touches_nothing)
{
    CcsLaneId in = add(0, 1, 0, 1);
    CcsLaneId join = add(1, 1, 0, 0);

    assert_no_race();
    ccs_schedule_gate(schedule, join, in);
    ccs_schedule_gate(schedule, add(1, 2, 0, 0), join);
    assert_no_race();
}
END_TEST

START_TEST(a_schedule_without_an_end_has_no_answer)
{
    add(0, 1, 0, 0);
    ccs_schedule_gate(schedule, 0, add(2, 1, 0, 0));
    ccs_schedule_gate(schedule, 1, 0);

    assert_no_race();
}
END_TEST

static const struct {
    const char *collective;
    const char *algorithm;
} tight[] = {{"allreduce", "ring"}, {"allgather", "ring"}, {"broadcast", "chain"}};

/* Not only in the orders that somebody tried. */
START_TEST(every_dependency_of_a_ring_or_chain_is_needed)
{
    for (uint32_t i = 0;; i++) {
        g_auto(CcsAnswer) of = {0};
        g_autoptr(GError) error = NULL;
        ck_assert(ccs_ask_schedule(&(CcsAsked){.machine = "nvlink8",
                                               .n_ranks = 6,
                                               .collective = tight[_i].collective,
                                               .algorithm = tight[_i].algorithm,
                                               .n_channels = 2,
                                               .n_chunks = 3},
                                   &of));
        ck_assert(ccs_races_check(of.schedule, &error));
        if (i == ccs_schedule_n_dependencies(of.schedule))
            break;
        ccs_schedule_drop_dependency(of.schedule, i);
        ck_assert(!ccs_races_check(of.schedule, &error));
    }
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("races");
    TCase *tcase = tcase_create("races");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, two_copies_to_one_chunk_race);
    tcase_add_test(tcase, two_additions_do_not);
    tcase_add_test(tcase, copies_to_different_chunks_do_not);
    tcase_add_test(tcase, reading_races_with_an_addition_that_it_does_not_wait_for);
    tcase_add_test(tcase, what_is_overwritten_must_have_been_read);
    tcase_add_test(tcase, waiting_may_lead_over_others);
    tcase_add_test(tcase, messages_to_one_rank_do_not_pass_each_other);
    tcase_add_test(tcase, messages_to_several_ranks_do);
    tcase_add_test(tcase, a_join_touches_nothing);
    tcase_add_test(tcase, a_schedule_without_an_end_has_no_answer);
    tcase_add_loop_test(tcase, every_dependency_of_a_ring_or_chain_is_needed, 0,
                        G_N_ELEMENTS(tight));
    suite_add_tcase(suite, tcase);
    return suite;
}
