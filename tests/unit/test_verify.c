#include "collectives/verify.h"

#include <string.h>

#include "base/error.h"
#include "collectives/algorithm.h"
#include "tests/support/check_main.h"
#include "tests/support/trial.h"

static CcsTrial *trial; /* a right schedule, of which broken copies are made */

static void build(const char *collective, const char *algorithm, uint32_t n_ranks)
{
    trial = ccs_trial_new(&(CcsTrialSpec){.topology = "flat8",
                                          .n_nodes = n_ranks,
                                          .collective = collective,
                                          .algorithm = algorithm,
                                          .n_chunks = 3});
}

static void tear_down(void)
{
    g_clear_pointer(&trial, ccs_trial_free);
}

/* What is wrong with a copy. */
typedef struct {
    bool has_lane; /* `lane` stands in place of lane `lane_id` */
    CcsLaneId lane_id;
    CcsLane lane;
    bool is_dropped; /* dependency `dropped` is left out */
    uint32_t dropped;
} Fault;

static CcsSchedule *copy(const Fault *fault)
{
    const CcsSchedule *of = trial->schedule;
    CcsSchedule *to = ccs_schedule_new(ccs_schedule_collective(of), trial->communicator,
                                       ccs_schedule_root(of), 1, ccs_schedule_pipeline(of));

    ccs_schedule_set_n_chunks(to, ccs_schedule_n_chunks(of));
    g_autofree CcsRank *owners = g_new(CcsRank, ccs_schedule_n_chunks(of));
    for (uint32_t chunk = 0; chunk < ccs_schedule_n_chunks(of); chunk++)
        owners[chunk] = ccs_schedule_owner(of, 0, chunk);
    ccs_schedule_set_owners(to, 0, owners);
    for (uint32_t i = 0; i < ccs_schedule_n_phases(of); i++)
        ccs_schedule_add_phase(to, ccs_schedule_phases(of)[i]);
    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(of); id++)
        ccs_schedule_add_lane(
            to, fault->has_lane && fault->lane_id == id ? &fault->lane : ccs_schedule_lane(of, id));
    for (uint32_t i = 0; i < ccs_schedule_n_dependencies(of); i++) {
        if (!fault->is_dropped || fault->dropped != i)
            ccs_schedule_depend(to, ccs_schedule_dependency(of, i));
    }
    return to;
}

/* The fault of having lane @id otherwise: change the copy of it that comes back. */
static Fault other_lane(CcsLaneId id)
{
    return (Fault){
        .has_lane = true, .lane_id = id, .lane = *ccs_schedule_lane(trial->schedule, id)};
}

static void assert_wrong(const CcsSchedule *schedule, const char *part)
{
    g_autoptr(GError) error = NULL;

    ck_assert(!ccs_verify(schedule, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_CHECK));
    ck_assert_msg(strstr(error->message, part) != NULL, "'%s' is not in: %s", part, error->message);
}

static const struct {
    const char *collective;
    const char *algorithm;
} right[] = {
    {"allreduce", "ring"},         {"allreduce", "naive"},    {"allreduce", "tree"},
    {"allreduce", "hierarchical"}, {"allgather", "ring"},     {"reducescatter", "ring"},
    {"broadcast", "chain"},        {"broadcast", "binomial"}, {"alltoall", "pairwise"},
    {"sendrecv", "shift"},
};

START_TEST(a_right_schedule_passes)
{
    g_autoptr(GError) error = NULL;
    build(right[_i].collective, right[_i].algorithm, 5);

    ck_assert_msg(ccs_verify(trial->schedule, &error), "%s", error == NULL ? "" : error->message);
    g_autoptr(CcsSchedule) same = copy(&(Fault){0});
    ck_assert(ccs_verify(same, NULL));
}
END_TEST

START_TEST(a_ring_that_does_not_wait_is_caught)
{
    build("allreduce", "ring", 4);
    g_autoptr(CcsSchedule) broken = copy(&(Fault){.is_dropped = true, .dropped = 2});

    assert_wrong(broken, "ends with the wrong data in chunk ");
}
END_TEST

/* A fault may show only if one lane is slower than all others. */
#define MANY_SEEDS 300

static bool is_caught(const Fault *fault)
{
    g_autoptr(CcsSchedule) broken = copy(fault);

    if (!ccs_verify(broken, NULL))
        return true;
    for (uint32_t seed = 2; seed < MANY_SEEDS; seed++) {
        if (!ccs_verify_play(broken, CCS_PLAY_RANDOM, seed, NULL))
            return true;
    }
    return false;
}

/* Pacing: a round of an alltoall waits for what came in the round before, and a rank of a
 * binomial broadcast sends one message after the other. The data would be right without. */
static bool is_pacing(const CcsDependency *dependency)
{
    return dependency->is_by_sender || dependency->event == CCS_SENT;
}

START_TEST(no_dependency_can_be_left_out)
{
    build(right[_i].collective, right[_i].algorithm, 5);

    for (uint32_t i = 0; i < ccs_schedule_n_dependencies(trial->schedule); i++) {
        if (is_pacing(ccs_schedule_dependency(trial->schedule, i)))
            continue;
        ck_assert_msg(is_caught(&(Fault){.is_dropped = true, .dropped = i}),
                      "%s %s is right without dependency %u", right[_i].collective,
                      right[_i].algorithm, i);
    }
}
END_TEST

START_TEST(a_message_to_the_wrong_peer_is_caught_and_named)
{
    build("broadcast", "chain", 4);
    Fault fault = other_lane(1);
    fault.lane.peer = 3;
    g_autoptr(CcsSchedule) broken = copy(&fault);

    assert_wrong(broken, "from rank 2 to rank 3: chunk 0 at rank 2 is sent but holds no data");
}
END_TEST

START_TEST(a_swapped_chunk_is_caught_and_named)
{
    build("allreduce", "tree", 3);
    Fault fault = other_lane(0);
    fault.lane.to.first = 1; /* arrives one chunk further on */
    g_autoptr(CcsSchedule) broken = copy(&fault);

    assert_wrong(broken,
                 "reduce up the tree of channel 0, message 0 from rank 1 to rank 0: chunk 1 "
                 "at rank 0 is added to another chunk's data");
}
END_TEST

START_TEST(a_doubled_contribution_is_caught_and_named)
{
    build("allreduce", "naive", 3);
    CcsLaneId id = 1; /* rank 1 to the root */
    Fault fault = other_lane(id);
    fault.lane.n_messages = 2;
    fault.lane.n_reduced = 2;
    g_autoptr(CcsSchedule) broken = copy(&fault);

    assert_wrong(broken,
                 "all to the root of channel 0, message 1 from rank 1 to rank 0: chunk 0 at "
                 "rank 0 gets a contribution that it has already");
}
END_TEST

START_TEST(data_sent_twice_is_caught_and_named)
{
    build("broadcast", "binomial", 2);
    Fault fault = other_lane(0);
    fault.lane.n_messages = 2;
    g_autoptr(CcsSchedule) broken = copy(&fault);

    assert_wrong(broken, "message 1 from rank 0 to rank 1: chunk 0 at rank 1 is received though it "
                         "is there already");
}
END_TEST

START_TEST(a_missing_contribution_is_caught)
{
    build("allreduce", "naive", 3);
    Fault fault = other_lane(1);
    fault.lane.source = 2; /* both are from rank 2 now */
    fault.lane.n_reduced = 0;
    g_autoptr(CcsSchedule) broken = copy(&fault);

    ck_assert(!ccs_verify(broken, NULL));
}
END_TEST

START_TEST(a_sum_that_is_overwritten_is_caught)
{
    build("reducescatter", "ring", 4);
    Fault fault = other_lane(0);
    fault.lane.n_reduced--;
    g_autoptr(CcsSchedule) broken = copy(&fault);

    assert_wrong(broken, "rank 1 ends with the wrong data in chunk 1 of channel 0");
}
END_TEST

START_TEST(an_alltoall_with_blocks_in_the_wrong_place_is_caught)
{
    build("alltoall", "pairwise", 3);
    Fault fault = other_lane(0);
    fault.lane.from = (CcsBox){CCS_BUFFER_INPUT, CCS_BOX_OF_SOURCE, .scale = 1};
    g_autoptr(CcsSchedule) broken = copy(&fault);

    assert_wrong(broken, "ends with the wrong data in chunk 0 of channel 0");
}
END_TEST

START_TEST(a_chunk_beyond_the_buffer_is_caught_and_named)
{
    build("sendrecv", "shift", 3);
    Fault fault = other_lane(2);
    fault.lane.to.base = 1;
    g_autoptr(CcsSchedule) broken = copy(&fault);

    assert_wrong(broken,
                 "message 0 from rank 2 to rank 0: chunk 1 at rank 0 lies outside the buffer");
}
END_TEST

START_TEST(a_peer_that_does_not_exist_is_caught)
{
    build("sendrecv", "shift", 3);
    Fault fault = other_lane(1);
    fault.lane.peer = 7;
    g_autoptr(CcsSchedule) broken = copy(&fault);

    assert_wrong(broken, "chunk 0 at rank 7 lies outside the buffer");
}
END_TEST

START_TEST(boxes_of_unequal_size_are_caught)
{
    build("allreduce", "ring", 3);
    Fault fault = other_lane(0);
    fault.lane.from.n1 = 2;
    fault.lane.from.stride1 = 1;
    fault.lane.from.first = 0;
    g_autoptr(CcsSchedule) broken = copy(&fault);

    assert_wrong(broken, "has another size at the sender");
}
END_TEST

START_TEST(a_wait_in_a_circle_is_a_deadlock_with_its_ranks)
{
    build("broadcast", "chain", 3);
    g_autoptr(CcsSchedule) broken = copy(&(Fault){0});
    ccs_schedule_wait(broken, 0, 1, 0); /* the root waits for what it is to send */

    assert_wrong(broken, "deadlock: rank 0 (message 0 to rank 1 on channel 0) waits for rank 1 "
                         "(message 0 to rank 2 on channel 0) waits for rank 0");
}
END_TEST

START_TEST(what_is_sent_must_not_change_meanwhile)
{
    /* The root sends its own data to rank 1 while rank 2 adds to it. */
    build("allreduce", "naive", 3);
    g_autoptr(CcsSchedule) broken = ccs_schedule_new(CCS_ALLREDUCE, trial->communicator, 0, 1, 1);
    ccs_schedule_add_phase(broken, "both");
    ccs_schedule_add_lane(broken, &(CcsLane){.source = 0,
                                             .peer = 1,
                                             .n_messages = 1,
                                             .n_reduced = 1,
                                             .from.buffer = CCS_BUFFER_OUTPUT,
                                             .to.buffer = CCS_BUFFER_OUTPUT});
    ccs_schedule_add_lane(broken, &(CcsLane){.source = 2,
                                             .peer = 0,
                                             .n_messages = 1,
                                             .n_reduced = 1,
                                             .from.buffer = CCS_BUFFER_OUTPUT,
                                             .to.buffer = CCS_BUFFER_OUTPUT});

    uint32_t n_named = 0;
    for (uint32_t seed = 0; seed < 50; seed++) {
        g_autoptr(GError) error = NULL;
        ck_assert(!ccs_verify_play(broken, CCS_PLAY_RANDOM, seed, &error));
        n_named += strstr(error->message, "message 0 from rank 0 to rank 1: chunk 0 at rank 0 "
                                          "changes while it is being sent") != NULL
                       ? 1
                       : 0;
    }
    ck_assert_uint_gt(n_named, 0);
}
END_TEST

START_TEST(the_same_seed_plays_the_same_order)
{
    build("allreduce", "ring", 6);
    g_autoptr(CcsSchedule) broken = copy(&(Fault){.is_dropped = true, .dropped = 3});

    for (uint32_t seed = 0; seed < 20; seed++) {
        g_autoptr(GError) first = NULL;
        g_autoptr(GError) second = NULL;
        bool is_right = ccs_verify_play(broken, CCS_PLAY_RANDOM, seed, &first);
        ck_assert(ccs_verify_play(broken, CCS_PLAY_RANDOM, seed, &second) == is_right);
        if (!is_right)
            ck_assert_str_eq(first->message, second->message);
    }
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("verify");
    TCase *tcase = tcase_create("verify");

    tcase_add_checked_fixture(tcase, NULL, tear_down);
    tcase_add_loop_test(tcase, a_right_schedule_passes, 0, G_N_ELEMENTS(right));
    tcase_add_test(tcase, a_ring_that_does_not_wait_is_caught);
    tcase_add_loop_test(tcase, no_dependency_can_be_left_out, 0, G_N_ELEMENTS(right));
    tcase_add_test(tcase, a_message_to_the_wrong_peer_is_caught_and_named);
    tcase_add_test(tcase, a_swapped_chunk_is_caught_and_named);
    tcase_add_test(tcase, a_doubled_contribution_is_caught_and_named);
    tcase_add_test(tcase, data_sent_twice_is_caught_and_named);
    tcase_add_test(tcase, a_missing_contribution_is_caught);
    tcase_add_test(tcase, a_sum_that_is_overwritten_is_caught);
    tcase_add_test(tcase, an_alltoall_with_blocks_in_the_wrong_place_is_caught);
    tcase_add_test(tcase, a_chunk_beyond_the_buffer_is_caught_and_named);
    tcase_add_test(tcase, a_peer_that_does_not_exist_is_caught);
    tcase_add_test(tcase, boxes_of_unequal_size_are_caught);
    tcase_add_test(tcase, a_wait_in_a_circle_is_a_deadlock_with_its_ranks);
    tcase_add_test(tcase, what_is_sent_must_not_change_meanwhile);
    tcase_add_test(tcase, the_same_seed_plays_the_same_order);
    suite_add_tcase(suite, tcase);
    return suite;
}
