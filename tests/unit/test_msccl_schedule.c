/* What each kind of step does, and how long it takes. */
#include <string.h>

#include "base/error.h"
#include "collectives/verify.h"
#include "formats/msccl.h"
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

#define ALGO(n, chunks, coll, in, out, gpus)                                                       \
    "<algo nchannels='2' nchunksperloop='" chunks "' ngpus='" n "' coll='" coll "' inplace='" in   \
    "' outofplace='" out "'>" gpus "</algo>"
#define GPU(id, i, o, s, blocks)                                                                   \
    "<gpu id='" id "' i_chunks='" i "' o_chunks='" o "' s_chunks='" s "'>" blocks "</gpu>\n"
#define TB(id, send, recv, steps)                                                                  \
    "<tb id='" id "' send='" send "' recv='" recv "' chan='0'>" steps "</tb>\n"
#define AFTER(block, step) " depid='" block "' deps='" step "'"
#define STEP(s, type, from, at, to, into, more)                                                    \
    "<step s='" s "' type='" type "' srcbuf='" from "' srcoff='" at "' dstbuf='" to                \
    "' dstoff='" into "' cnt='1'" more "/>\n"

/* One GPU a node on one switch: 50 GB/s, and 3 us from any GPU to any other. */
#define MACHINE                                                                                    \
    "nodes: 8\n"                                                                                   \
    "node: {gpus: 1, nics: {count: 1, bandwidth: 50 GB/s, latency: 1.5 us}}\n"                     \
    "fabric: {kind: switch}\n"

#define CHAIN(middle)                                                                              \
    ALGO("3", "1", "allreduce", "1", "0",                                                          \
         GPU("0", "1", "0", "0",                                                                   \
             TB("0", "1", "1",                                                                     \
                STEP("0", "s", "i", "0", "i", "0", "") STEP("1", "r", "i", "0", "i", "0", "")))    \
             GPU("1", "1", "0", "0",                                                               \
                 TB("0", "2", "0", STEP("0", middle, "i", "0", "i", "0", ""))                      \
                     TB("1", "0", "2", STEP("0", "rcs", "i", "0", "i", "0", "")))                  \
                 GPU("2", "1", "0", "0",                                                           \
                     TB("0", "1", "1",                                                             \
                        STEP("0", "rrc", "i", "0", "i", "0", "")                                   \
                            STEP("1", "s", "i", "0", "i", "0", ""))))

/* Two GPUs send to one that adds both. */
#define FAN_IN(more)                                                                               \
    ALGO("3", "1", "reduce", "1", "0",                                                             \
         GPU("0", "1", "0", "0",                                                                   \
             TB("0", "-1", "1", STEP("0", "rrc", "i", "0", "i", "0", ""))                          \
                 TB("1", "-1", "2", STEP("0", "rrc", "i", "0", "i", "0", more)))                   \
             GPU("1", "1", "0", "0", TB("0", "0", "-1", STEP("0", "s", "i", "0", "i", "0", "")))   \
                 GPU("2", "1", "0", "0",                                                           \
                     TB("0", "0", "-1", STEP("0", "s", "i", "0", "i", "0", ""))))

/* A GPU receives beside, and another block adds it. */
#define ASIDE(id, peer, more)                                                                      \
    GPU(id, "1", "0", "1",                                                                         \
        TB("0", peer, peer,                                                                        \
           STEP("0", "s", "i", "0", "s", "0", "") STEP("1", "r", "i", "0", "s", "0", ""))          \
            TB("1", "-1", "-1", STEP("0", "re", "s", "0", "i", "0", more)))

/* The same, where the second addition waits only for MSCCL, and its block has something to do
 * afterwards that does not depend on the first. */
#define FAN_IN_ANYHOW(more)                                                                        \
    ALGO("3", "2", "custom", "1", "0",                                                             \
         GPU("0", "2", "0", "0",                                                                   \
             TB("0", "-1", "1", STEP("0", "rrc", "i", "0", "i", "0", ""))                          \
                 TB("1", "-1", "2",                                                                \
                    STEP("0", "rrc", "i", "0", "i", "0", AFTER("0", "0") more)                     \
                        STEP("1", "r", "i", "1", "i", "1", ""))                                    \
                     TB("2", "2", "-1", STEP("0", "s", "i", "1", "i", "1", AFTER("1", "1"))))      \
             GPU("1", "2", "0", "0",                                                               \
                 TB("0", "0", "-1", STEP("0", "s", "i", "0", "i", "0", AFTER("1", "0")))           \
                     TB("1", "-1", "2", STEP("0", "r", "i", "1", "i", "1", "")))                   \
                 GPU("2", "2", "0", "0",                                                           \
                     TB("0", "0", "-1",                                                            \
                        STEP("0", "s", "i", "0", "i", "0", "")                                     \
                            STEP("1", "s", "i", "1", "i", "1", ""))                                \
                         TB("1", "1", "-1", STEP("0", "s", "i", "1", "i", "1", ""))                \
                             TB("2", "-1", "0", STEP("0", "r", "i", "1", "i", "1", ""))))

#define EXCHANGE_BLOCK(id, peer, chunk)                                                            \
    TB("0", peer, peer,                                                                            \
       STEP("0", "s", "i", chunk, "i", "0", "") STEP("1", "r", "i", "0", "i", chunk, ""))

#define GATHER_GPU(id, peer)                                                                       \
    GPU(id, "1", "2", "0",                                                                         \
        TB("0", peer, peer,                                                                        \
           STEP("0", "s", "i", "0", "o", "0", "") STEP("1", "r", "o", "0", "o", peer, ""))         \
            TB("1", "-1", "-1", STEP("0", "cpy", "i", "0", "o", id, "")))

#define SCATTER_GPU(id, peer)                                                                      \
    GPU(id, "2", "1", "0",                                                                         \
        TB("0", peer, peer,                                                                        \
           STEP("0", "s", "i", peer, "o", "0", "") STEP("1", "rrc", "i", id, "o", "0", "")))

static const struct {
    const char *text;
    const char *what;
} right[] = {
    {CHAIN("rrcs"), "rrcs adds, stores and sends on; rcs stores and sends on"},
    {CHAIN("rrs"), "rrs adds and sends on"},
    {FAN_IN(AFTER("0", "0")), "steps that add to the same chunk come one after the other"},
    {ALGO("2", "1", "allreduce", "1", "0",
          ASIDE("0", "1", AFTER("0", "1")) ASIDE("1", "0", AFTER("0", "1"))),
     "re adds"},
    {ALGO("2", "1", "allreduce", "1", "0",
          ASIDE("0", "1", AFTER("0", "1"))
              GPU("1", "1", "0", "1",
                  TB("0", "0", "0",
                     STEP("0", "s", "i", "0", "s", "0", "") STEP("1", "r", "i", "0", "s", "0", ""))
                      TB("1", "-1", "-1",
                         "<step s='0' type='nop' depid='0' deps='0'/>"
                         "<step s='1' type='nop' depid='0' deps='1'/>" STEP("2", "re", "s", "0",
                                                                            "i", "0", "")))),
     "a step waits for what the nops before it wait for"},
    {ALGO("2", "2", "alltoall", "1", "0",
          GPU("0", "2", "2", "0", EXCHANGE_BLOCK("0", "1", "1"))
              GPU("1", "2", "2", "0", EXCHANGE_BLOCK("1", "0", "0"))),
     "what comes early waits until its step takes it"},
    {ALGO("2", "2", "allgather", "0", "1", GATHER_GPU("0", "1") GATHER_GPU("1", "0")),
     "cpy copies; the input of an allgather is one block"},
    {ALGO("2", "2", "allgather", "1", "0",
          GPU("0", "1", "2", "0",
              TB("0", "1", "1",
                 STEP("0", "s", "i", "0", "o", "0", "") STEP("1", "r", "o", "1", "o", "1", "")))
              GPU("1", "0", "2", "0",
                  TB("0", "0", "0",
                     STEP("0", "s", "o", "1", "o", "1", "")
                         STEP("1", "r", "o", "0", "o", "0", "")))),
     "in place the input is the rank's part of the output"},
    {ALGO("2", "2", "reducescatter", "0", "1", SCATTER_GPU("0", "1") SCATTER_GPU("1", "0")),
     "rrc adds its source and stores to its target; the output of a reducescatter is one block"},
    {ALGO("2", "2", "scatter", "0", "1",
          GPU("0", "2", "1", "0",
              TB("0", "1", "-1", STEP("0", "s", "i", "1", "o", "0", ""))
                  TB("1", "-1", "-1", STEP("0", "cpy", "i", "0", "o", "0", "")))
              GPU("1", "2", "1", "0", TB("0", "-1", "0", STEP("0", "r", "i", "1", "o", "0", "")))),
     "a scatter"},
    {ALGO("2", "2", "gather", "1", "0",
          GPU("0", "1", "2", "0", TB("0", "-1", "1", STEP("0", "r", "i", "0", "o", "1", "")))
              GPU("1", "1", "2", "0", TB("0", "0", "-1", STEP("0", "s", "i", "0", "o", "1", "")))),
     "a gather"},
};

static const struct {
    const char *text;
    const char *problem;
} wrong[] = {
    /* both add to the same: one is lost */
    {FAN_IN(""),
     "f.xml:1:181: program of channel 0, message 0 from rank 0 to rank 0: it reads input"
     " chunk 0 at rank 0, which f.xml:3:40: program"},
    {ALGO("2", "1", "allreduce", "1", "0", ASIDE("0", "1", "") ASIDE("1", "0", AFTER("0", "1"))),
     "f.xml:4:"},
    {ALGO("2", "1", "allreduce", "0", "1",
          ASIDE("0", "1", AFTER("0", "1")) ASIDE("1", "0", AFTER("0", "1"))),
     "ends with the wrong data"},
    {ALGO("2", "2", "alltoall", "1", "0",
          GPU("0", "2", "2", "0", EXCHANGE_BLOCK("0", "1", "0"))
              GPU("1", "2", "2", "0", EXCHANGE_BLOCK("1", "0", "0"))),
     "ends with the wrong data"},
};

static CcsMsccl *read_text(const char *text)
{
    g_autoptr(GError) error = NULL;
    CcsMsccl *msccl = ccs_msccl_read("f.xml", text, strlen(text), &error);

    ck_assert_msg(msccl != NULL, "%s", error == NULL ? "" : error->message);
    return msccl;
}

/* The schedule of @text, executed @n_loops times, on a machine that @answer takes. */
static void make_schedule_on(const char *machine, const char *text, uint32_t n_loops,
                             CcsAnswer *answer)
{
    g_autoptr(CcsMsccl) msccl = read_text(text);
    g_autoptr(GError) error = NULL;

    ccs_ask_machine(&(CcsAsked){.machine = machine, .n_ranks = msccl->n_ranks}, answer);
    answer->schedule = ccs_msccl_schedule(
        msccl, answer->communicator,
        &(CcsMscclUse){.root = msccl->root, .n_loops = n_loops, .is_in_place = msccl->is_in_place},
        &error);
    ck_assert_msg(answer->schedule != NULL, "%s", error == NULL ? "" : error->message);
}

static void make_schedule(const char *text, uint32_t n_loops, CcsAnswer *answer)
{
    make_schedule_on(MACHINE, text, n_loops, answer);
}

START_TEST(a_step_does_what_its_type_says)
{
    for (uint32_t n_loops = 1; n_loops <= 3; n_loops++) {
        g_auto(CcsAnswer) answer;
        g_autoptr(GError) error = NULL;
        make_schedule(right[_i].text, n_loops, &answer);

        ck_assert_msg(ccs_verify(answer.schedule, &error), "%s, %u loops: %s", right[_i].what,
                      n_loops, error == NULL ? "" : error->message);
    }
}
END_TEST

START_TEST(a_wrong_program_is_found_out)
{
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;
    make_schedule(wrong[_i].text, 1, &answer);

    ck_assert(!ccs_verify(answer.schedule, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_CHECK));
    ck_assert_msg(strstr(error->message, wrong[_i].problem) != NULL, "%s", error->message);
}
END_TEST

START_TEST(rrs_stores_nothing)
{
    g_auto(CcsAnswer) answer;
    make_schedule(CHAIN("rrs"), 1, &answer);
    uint32_t n_stored = 0;

    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(answer.schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(answer.schedule, id);
        n_stored +=
            ccs_lane_is_local(lane) && lane->source == 1 && lane->to.buffer == CCS_BUFFER_OUTPUT;
    }
    ck_assert_uint_eq(n_stored, 1); /* by the rcs */
}
END_TEST

static CcsTime time_of(const CcsAnswer *answer, CcsBytes size)
{
    CcsOutcome outcome;
    g_autoptr(CcsSimulation) simulation =
        ccs_simulation_new(answer->schedule, &ccs_transport_ideal,
                           ccs_network_model_find("fluid", NULL, NULL), NULL, NULL);

    ck_assert(ccs_simulation_run(simulation, size, &outcome, NULL));
    return outcome.time;
}

/* What is sent back on the way, 3 us after it has come, need not wait for the first addition. */
START_TEST(an_unordered_addition_holds_up_nothing)
{
    g_auto(CcsAnswer) ordered;
    g_auto(CcsAnswer) unordered;
    make_schedule(FAN_IN_ANYHOW(""), 1, &ordered);
    make_schedule(FAN_IN_ANYHOW(" ccsim_unordered='1'"), 1, &unordered);

    ck_assert_int_eq(time_of(&ordered, 0), 9 * CCS_PS_PER_US);
    ck_assert_int_eq(time_of(&unordered, 0), 6 * CCS_PS_PER_US);
}
END_TEST

START_TEST(by_the_letter_additions_wait_for_each_other)
{
    g_autoptr(CcsMsccl) msccl = read_text(FAN_IN_ANYHOW(" ccsim_unordered='1'"));
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;
    CcsMscclUse use = {.n_loops = 1, .is_in_place = true, .is_by_letter = true};

    ccs_ask_machine(&(CcsAsked){.machine = MACHINE, .n_ranks = 3}, &answer);
    answer.schedule = ccs_msccl_schedule(msccl, answer.communicator, &use, &error);
    ck_assert_int_eq(time_of(&answer, 0), 9 * CCS_PS_PER_US);
}
END_TEST

/* A rank that comes late receives in the meantime, and copies only what belongs to that. */
START_TEST(a_late_gpu_copies_only_what_is_early)
{
    static const char *const texts[] = {
        ALGO(
            "1", "2", "custom", "1", "0",
            GPU("0", "2", "0", "0", TB("0", "-1", "-1", STEP("0", "cpy", "i", "0", "i", "1", "")))),
        ALGO("1", "2", "custom", "1", "0",
             GPU("0", "2", "0", "0",
                 TB("0", "-1", "-1", STEP("0", "cpy", "i", "0", "i", "1", " ccsim_early='1'")))),
        ALGO("2", "1", "custom", "1", "0",
             GPU("0", "1", "0", "0", TB("0", "-1", "1", STEP("0", "rrc", "i", "0", "i", "0", "")))
                 GPU("1", "1", "0", "0",
                     TB("0", "0", "-1", STEP("0", "s", "i", "0", "i", "0", "")))),
    };
    static const CcsTime times[] = {50, 0, 3};
    g_auto(CcsAnswer) answer;
    make_schedule_on(MACHINE "faults: [{kind: late-gpu, gpu: n0.gpu0, delay: 50 us}]\n", texts[_i],
                     1, &answer);

    ck_assert_int_eq(time_of(&answer, 0), times[_i] * CCS_PS_PER_US);
}
END_TEST

static const struct {
    const char *text;
    uint32_t n_loops;
    CcsPlace place;
    const char *name;
} names[] = {
    {FAN_IN(""), 1, {CCS_BUFFER_OUTPUT, 0, 0, 0}, "input chunk 0"}, /* in place, without outputs */
    {FAN_IN(""), 3, {CCS_BUFFER_OUTPUT, 0, 0, 2}, "input chunk 0 in loop 3"},
    {FAN_IN(""), 1, {CCS_BUFFER_SCRATCH, 0, 0, 1}, "input chunk 0"}, /* where a message lands */
    {CHAIN("rrs"), 1, {CCS_BUFFER_SCRATCH, 1, 0, 1}, "input chunk 0"},
    {ALGO("2", "1", "allreduce", "1", "0", ASIDE("0", "1", "") ASIDE("1", "0", "")),
     1,
     {CCS_BUFFER_SCRATCH, 1, 0, 0},
     "scratch chunk 0"},
    {ALGO("2", "2", "allgather", "0", "1", GATHER_GPU("0", "1") GATHER_GPU("1", "0")),
     1,
     {CCS_BUFFER_INPUT, 1, 0, 1},
     "input chunk 0"},
    {ALGO("2", "2", "allgather", "0", "1", GATHER_GPU("0", "1") GATHER_GPU("1", "0")),
     1,
     {CCS_BUFFER_OUTPUT, 1, 0, 1},
     "output chunk 1"},
    {ALGO("2", "2", "reducescatter", "0", "1", SCATTER_GPU("0", "1") SCATTER_GPU("1", "0")),
     1,
     {CCS_BUFFER_OUTPUT, 1, 0, 1},
     "output chunk 0"},
};

START_TEST(places_are_called_as_in_the_file)
{
    g_auto(CcsAnswer) answer;
    make_schedule(names[_i].text, names[_i].n_loops, &answer);
    g_autofree char *name = ccs_schedule_name_place(answer.schedule, &names[_i].place, true);

    ck_assert_str_eq(name, names[_i].name);
}
END_TEST

#define PASS_ON                                                                                    \
    ALGO("3", "1", "broadcast", "1", "0",                                                          \
         GPU("0", "1", "0", "0", TB("0", "1", "-1", STEP("0", "s", "i", "0", "i", "0", ""))) GPU(  \
             "1", "1", "0", "0", TB("0", "2", "0", STEP("0", "rcs", "i", "0", "i", "0", "")))      \
             GPU("2", "1", "0", "0", TB("0", "-1", "1", STEP("0", "r", "i", "0", "i", "0", ""))))

START_TEST(loops_follow_each_other_through_the_blocks)
{
    CcsTime whole = 12 * 1000 * CCS_PS_PER_US; /* of 600 million bytes at 50 GB/s */
    CcsTime latency = 3 * CCS_PS_PER_US;
    uint32_t n_loops = (uint32_t)_i;
    g_auto(CcsAnswer) answer;
    make_schedule(PASS_ON, n_loops, &answer);

    ck_assert_int_eq(time_of(&answer, 600000000), whole / n_loops * (n_loops + 1) + 2 * latency);
}
END_TEST

START_TEST(a_block_does_one_step_after_the_other)
{
    static const char *const text =
        ALGO("3", "2", "custom", "0", "1",
             GPU("0", "2", "0", "0",
                 TB("0", "1", "2",
                    STEP("0", "r", "i", "0", "i", "1", "") STEP("1", "s", "i", "0", "o", "0", "")))
                 GPU("1", "0", "1", "0", TB("0", "-1", "0", STEP("0", "r", "i", "0", "o", "0", "")))
                     GPU("2", "1", "0", "0",
                         TB("0", "0", "-1", STEP("0", "s", "i", "0", "i", "1", ""))));
    g_auto(CcsAnswer) answer;
    make_schedule(text, 1, &answer);

    ck_assert_int_eq(time_of(&answer, 1000000), 2 * (3 + 10) * CCS_PS_PER_US);
}
END_TEST

START_TEST(chunks_are_as_large_as_what_was_put_into_them)
{
    static const char *const text = ALGO(
        "2", "3", "custom", "0", "1",
        GPU("0", "3", "0", "5",
            TB("0", "1", "-1",
               STEP("0", "cpy", "i", "0", "s", "4", "") STEP("1", "s", "s", "4", "o", "0", "")
                   STEP("2", "s", "s", "2", "o", "1", "") STEP("3", "s", "i", "0", "o", "2", "")))
            GPU("1", "0", "3", "0",
                TB("0", "-1", "0",
                   STEP("0", "r", "i", "0", "o", "0", "") STEP("1", "r", "i", "0", "o", "1", "")
                       STEP("2", "r", "i", "0", "o", "2", ""))));
    static const CcsBytes expected[] = {4, 3, 4}; /* 10 bytes are 4 + 3 + 3 */
    g_auto(CcsAnswer) answer;
    make_schedule(text, 1, &answer);
    uint32_t n = 0;

    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(answer.schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(answer.schedule, id);
        if (ccs_lane_is_local(lane))
            continue;
        ck_assert_uint_eq(ccs_schedule_message_bytes(answer.schedule, lane, 0, 10), expected[n]);
        n++;
    }
    ck_assert_uint_eq(n, 3);
}
END_TEST

START_TEST(a_lane_says_where_its_step_stands)
{
    g_auto(CcsAnswer) answer;
    make_schedule(PASS_ON, 1, &answer);

    ck_assert_str_eq(
        ccs_schedule_label(answer.schedule, ccs_schedule_lane(answer.schedule, 0)->label),
        "f.xml:1:184");
}
END_TEST

START_TEST(the_job_must_have_as_many_ranks)
{
    g_autoptr(CcsMsccl) msccl = read_text(PASS_ON);
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;
    CcsMscclUse use = {.n_loops = 1, .is_in_place = true};
    ccs_ask_machine(&(CcsAsked){.machine = MACHINE, .n_ranks = 4}, &answer);

    ck_assert_ptr_null(ccs_msccl_schedule(msccl, answer.communicator, &use, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    ck_assert_str_eq(error->message, "f.xml is for 3 GPUs, and the job has 4");
}
END_TEST

START_TEST(a_file_that_asks_for_too_much_is_refused)
{
    g_autoptr(CcsMsccl) msccl = read_text(PASS_ON);
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;
    CcsMscclUse use = {.n_loops = 1U << 30, .is_in_place = true};
    ccs_ask_machine(&(CcsAsked){.machine = MACHINE, .n_ranks = 3}, &answer);

    ck_assert_ptr_null(ccs_msccl_schedule(msccl, answer.communicator, &use, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
}
END_TEST

START_TEST(chunks_that_no_step_moves_count_too)
{
    g_autoptr(CcsMsccl) msccl =
        read_text(ALGO("1", "4096", "allreduce", "1", "0", GPU("0", "4096", "4096", "0", "")));
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;
    ccs_ask_machine(&(CcsAsked){.machine = MACHINE, .n_ranks = 1}, &answer);

    ck_assert_ptr_null(ccs_msccl_schedule(msccl, answer.communicator,
                                          &(CcsMscclUse){.n_loops = 1U << 20, .is_in_place = true},
                                          &error));
    ck_assert_ptr_nonnull(strstr(error->message, ":1:1: error: there is too much up to here to"
                                                 " take all of it in with 1048576 loops"));
}
END_TEST

static const struct {
    const char *collective;
    const char *problem;
} unsaid[] = {
    {"barrier", "MSCCL files cannot say what barrier does"},
    {"sendrecv", "MSCCL files cannot say what sendrecv does"},
    {"alltoallv", "MSCCL files cannot say what alltoallv does"},
};

START_TEST(what_a_file_cannot_say_is_refused)
{
    g_auto(CcsAnswer) answer;
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;
    ck_assert(ccs_ask_schedule(
        &(CcsAsked){.machine = MACHINE, .n_ranks = 4, .collective = unsaid[_i].collective},
        &answer));

    ck_assert_ptr_null(ccs_msccl_from_schedule(answer.schedule, "x", notes, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    ck_assert_str_eq(error->message, unsaid[_i].problem);
}
END_TEST

START_TEST(what_msccl_has_no_room_for_is_noted)
{
    g_auto(CcsAnswer) answer;
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    ck_assert(ccs_ask_schedule(
        &(CcsAsked){.machine = MACHINE, .n_ranks = 2, .collective = "broadcast", .n_chunks = 257},
        &answer));
    g_autoptr(CcsMsccl) msccl = ccs_msccl_from_schedule(answer.schedule, "x", notes, NULL);

    ck_assert_ptr_nonnull(msccl);
    ck_assert_uint_eq(notes->len, 1);
    ck_assert_str_eq(g_ptr_array_index(notes, 0),
                     "the file has 257 steps in a block, and MSCCL has room for 256");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("msccl_schedule");
    TCase *tcase = tcase_create("msccl_schedule");

    tcase_add_loop_test(tcase, a_step_does_what_its_type_says, 0, G_N_ELEMENTS(right));
    tcase_add_loop_test(tcase, a_wrong_program_is_found_out, 0, G_N_ELEMENTS(wrong));
    tcase_add_test(tcase, rrs_stores_nothing);
    tcase_add_test(tcase, an_unordered_addition_holds_up_nothing);
    tcase_add_test(tcase, by_the_letter_additions_wait_for_each_other);
    tcase_add_loop_test(tcase, a_late_gpu_copies_only_what_is_early, 0, 3);
    tcase_add_loop_test(tcase, places_are_called_as_in_the_file, 0, G_N_ELEMENTS(names));
    tcase_add_loop_test(tcase, loops_follow_each_other_through_the_blocks, 1, 6);
    tcase_add_test(tcase, a_block_does_one_step_after_the_other);
    tcase_add_test(tcase, chunks_are_as_large_as_what_was_put_into_them);
    tcase_add_test(tcase, a_lane_says_where_its_step_stands);
    tcase_add_test(tcase, the_job_must_have_as_many_ranks);
    tcase_add_test(tcase, a_file_that_asks_for_too_much_is_refused);
    tcase_add_test(tcase, chunks_that_no_step_moves_count_too);
    tcase_add_loop_test(tcase, what_a_file_cannot_say_is_refused, 0, G_N_ELEMENTS(unsaid));
    tcase_add_test(tcase, what_msccl_has_no_room_for_is_noted);
    suite_add_tcase(suite, tcase);
    return suite;
}
