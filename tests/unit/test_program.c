/* What programs mean. On the machine of these tests 50,000 bytes need 1 us at full rate and every
 * message travels 2 us; the eager threshold is 8 KiB. */
#include "workloads/program.h"

#include <string.h>

#include "base/error.h"
#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

#define FLAT                                                                                       \
    "nodes: 4\nnode: {gpus: 1, nics: {count: 1, bandwidth: 50 GB/s, latency: 1 us}}\n"             \
    "fabric: {kind: switch}\n"
#define US CCS_PS_PER_US

static CcsAnswer machine;

static void set_up(void)
{
    ccs_ask_machine(&(CcsAsked){.machine = FLAT}, &machine);
}

static void tear_down(void)
{
    ccs_answer_clear(&machine);
}

static CcsProgram *read_program(const char *text, GError **error)
{
    return ccs_program_read("p.yaml", text, strlen(text), machine.communicator, error);
}

static CcsSchedule *schedule_of(const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsProgram) program = read_program(text, &error);

    ck_assert_msg(program != NULL, "%s", error == NULL ? "" : error->message);
    CcsSchedule *schedule = ccs_program_schedule(program, &error);
    ck_assert_msg(schedule != NULL, "%s", error == NULL ? "" : error->message);
    return schedule;
}

static CcsTime time_with(const char *text, const CcsTransport *transport)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsSchedule) schedule = schedule_of(text);
    g_autoptr(CcsSimulation) simulation = ccs_simulation_new(
        schedule, transport, ccs_network_model_find("fluid", NULL, NULL), NULL, &error);
    CcsOutcome outcome;

    ck_assert_msg(simulation != NULL, "%s", error == NULL ? "" : error->message);
    ck_assert_msg(ccs_simulation_run(simulation, 0, &outcome, &error), "%s",
                  error == NULL ? "" : error->message);
    return outcome.time;
}

#define TWO(first, second)                                                                         \
    "title: t\nprogram:\n- ranks: 0\n  calls:\n" first "- ranks: 1\n  calls:\n" second
#define ONE(text) "title: t\nprogram:\n- ranks: 0\n  calls:\n" text

static const struct {
    const char *what;
    const char *text;
    double us;
} times[] = {
    {"a small message takes its bytes and its way",
     TWO("  - send: {to: 1, size: 5000 B}\n", "  - recv: {from: 0}\n"), 2.1},
    {"a message of no bytes takes its way",
     TWO("  - send: {to: 1, size: 0 B}\n", "  - recv: {from: 0}\n"), 2},
    {"the time of a pair of calls: a large message",
     TWO("  - send: {to: 1, size: 50000 B}\n", "  - recv: {from: 0}\n"), 3},
    {"the sender of an eager message goes on when it has left",
     TWO("  - send: {to: 1, size: 5000 B}\n  - compute: 30 us\n",
         "  - compute: 20 us\n  - recv: {from: 0}\n"),
     30.1},
    {"an eager message waits for its receiver where it arrives",
     TWO("  - send: {to: 1, size: 5000 B}\n", "  - compute: 20 us\n  - recv: {from: 0}\n"), 20},
    {"a late receiver goes on after recv, not after the arrival",
     TWO("  - send: {to: 1, size: 5000 B}\n",
         "  - compute: 20 us\n  - recv: {from: 0}\n  - compute: 5 us\n"),
     25},
    {"a large message does not leave before its receiver is ready",
     TWO("  - send: {to: 1, size: 50000 B}\n", "  - compute: 20 us\n  - recv: {from: 0}\n"), 23},
    {"the sender of a large message waits with it",
     TWO("  - send: {to: 1, size: 50000 B}\n  - compute: 30 us\n",
         "  - compute: 20 us\n  - recv: {from: 0}\n"),
     51},
    {"the threshold itself is eager",
     "title: t\neager_threshold: 50000 B\nprogram:\n"
     "- {ranks: 0, calls: [send: {to: 1, size: 50000 B}, compute: 30 us]}\n"
     "- {ranks: 1, calls: [compute: 20 us, recv: {from: 0}]}\n",
     31},
    {"irecv makes its rank ready at once",
     TWO("  - send: {to: 1, size: 50000 B}\n",
         "  - irecv: {from: 0, request: r}\n  - compute: 20 us\n  - wait: r\n"),
     20},
    {"computation beside a message costs the longer of both",
     TWO("  - isend: {to: 1, size: 500000 B, request: s}\n  - compute: 4 us\n  - wait: s\n"
         "  - compute: 1 us\n",
         "  - recv: {from: 0}\n"),
     12},
    {"computation after a message costs both",
     TWO("  - send: {to: 1, size: 500000 B}\n  - compute: 4 us\n", "  - recv: {from: 0}\n"), 14},
    {"wait for a send is over when it has left",
     TWO("  - isend: {to: 1, size: 50000 B, request: s}\n  - wait: s\n  - compute: 9 us\n",
         "  - recv: {from: 0}\n"),
     10},
    {"wait for a receive is over when it is there",
     TWO("  - send: {to: 1, size: 50000 B}\n",
         "  - irecv: {from: 0, request: r}\n  - wait: r\n  - compute: 9 us\n"),
     12},
    {"streams of a rank run side by side",
     ONE("  - compute: {time: 5 us, stream: a}\n  - compute: {time: 7 us, stream: b}\n"
         "  - compute: {time: 1 us, stream: a}\n"),
     7},
    {"calls of a stream come one after the other",
     ONE("  - compute: 5 us\n  - compute: {time: 7 us, stream: main}\n"), 12},
    {"a message in one stream is beside computation in another",
     TWO("  - send: {to: 1, size: 500000 B, stream: net}\n  - compute: 11 us\n",
         "  - recv: {from: 0}\n"),
     12},
    {"a stream may wait for what another one has started",
     TWO("  - isend: {to: 1, size: 50000 B, request: s, stream: net}\n"
         "  - wait: {requests: [s], stream: work}\n  - compute: {time: 7 us, stream: work}\n",
         "  - recv: {from: 0}\n"),
     8},
    {"messages of one link share it",
     TWO("  - isend: {to: 1, size: 50000 B}\n  - isend: {to: 1, size: 50000 B}\n",
         "  - irecv: {from: 0}\n  - irecv: {from: 0}\n"),
     4},
    {"messages of one stream go one after the other",
     TWO("  - send: {to: 1, size: 50000 B}\n  - send: {to: 1, size: 50000 B}\n",
         "  - irecv: {from: 0}\n  - irecv: {from: 0}\n"),
     4},
    {"a blocking receive holds back the next rendezvous for its whole way",
     TWO("  - send: {to: 1, size: 50000 B}\n  - send: {to: 1, size: 50000 B}\n",
         "  - recv: {from: 0}\n  - recv: {from: 0}\n"),
     6},
    {"messages with different tags may be received in any order",
     TWO("  - send: {to: 1, size: 5000 B, tag: 1}\n  - send: {to: 1, size: 2500 B, tag: 2}\n",
         "  - recv: {from: 0, tag: 2, size: 2500 B}\n  - recv: {from: 0, tag: 1, size: 5000 B}\n"),
     2.15},
    {"in a group two ranks may send to each other",
     "title: t\nprogram:\n- ranks: 0-1\n  calls:\n  - group_start: {}\n"
     "  - send: {to: rank xor 1, size: 50000 B}\n  - recv: {from: rank xor 1}\n"
     "  - group_end: {}\n",
     3},
    {"a group is done when all of it is",
     TWO("  - group_start: {}\n  - send: {to: 1, size: 50000 B}\n  - recv: {from: 1}\n"
         "  - group_end: {}\n  - compute: 9 us\n",
         "  - group_start: {}\n  - send: {to: 0, size: 500000 B}\n  - recv: {from: 0}\n"
         "  - group_end: {}\n"),
     12 + 9},
    {"a group starts after what stands before it in its stream",
     TWO("  - compute: {time: 5 us, stream: net}\n  - group_start: {stream: net}\n"
         "  - send: {to: 1, size: 50000 B}\n  - group_end: {}\n",
         "  - recv: {from: 0}\n"),
     8},
    {"an empty group takes no time",
     ONE("  - compute: 2 us\n  - group_start: {}\n"
         "  - group_end: {}\n  - compute: 3 us\n"),
     5},
    {"messages of a group share the sender's link",
     "title: t\nprogram:\n- ranks: 0\n  calls:\n  - group_start: {}\n"
     "  - send: {to: 1, size: 50000 B}\n  - send: {to: 2, size: 50000 B}\n"
     "  - group_end: {}\n"
     "- ranks: 1-2\n  calls: [recv: {from: 0}]\n",
     4},
    {"a ring of ranks in a group turns in one step",
     "title: t\nprogram:\n- ranks: all\n  calls:\n  - group_start: {}\n"
     "  - send: {to: rank + 1 mod n, size: 50000 B}\n  - recv: {from: rank - 1 mod n}\n"
     "  - group_end: {}\n",
     3},
    {"ranks are counted in the communicator of the call",
     "title: t\ncommunicators: [{name: c, ranks: [3, 1]}]\nprogram:\n"
     "- {ranks: 3, calls: [send: {to: 1, size: 50000 B, communicator: c}]}\n"
     "- {ranks: 1, calls: [recv: {from: 0, communicator: c}]}\n",
     3},
    {"entries of one rank follow one another",
     "title: t\nprogram:\n- {ranks: 0, calls: [compute: 2 us]}\n"
     "- {ranks: all, calls: [compute: 3 us]}\n",
     5},
    {"a program may do nothing", "title: t\nprogram: []\n", 0},
};

START_TEST(calls_mean_what_their_names_say)
{
    CcsTime time = time_with(times[_i].text, &ccs_transport_ideal);

    ck_assert_msg(time == (CcsTime)(times[_i].us * 1e6 + 0.5), "%s: %.6f us, not %.6f",
                  times[_i].what, ccs_time_us(time), times[_i].us);
}
END_TEST

START_TEST(the_transport_has_its_price)
{
    CcsTransport transport = ccs_transport_ideal;
    transport.launch = 5 * US;
    transport.message_cost = US;

    CcsTime time = time_with(
        TWO("  - send: {to: 1, size: 50000 B}\n  - compute: 10 us\n", "  - recv: {from: 0}\n"),
        &transport);
    ck_assert_int_eq(time, (5 + 1 + 1 + 10) * US);
}
END_TEST

/* The k-th recv gets the k-th message, which the sizes tell. */
START_TEST(messages_of_one_tag_are_received_in_order)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsProgram) right =
        read_program(TWO("  - isend: {to: 1, size: 1 KiB}\n  - isend: {to: 1, size: 2 KiB}\n",
                         "  - recv: {from: 0, size: 1 KiB}\n  - recv: {from: 0, size: 2 KiB}\n"),
                     &error);
    ck_assert_ptr_nonnull(right);
    ck_assert_uint_eq(ccs_program_bytes(right), 3072);

    g_autoptr(CcsProgram) wrong =
        read_program(TWO("  - isend: {to: 1, size: 1 KiB}\n  - isend: {to: 1, size: 2 KiB}\n",
                         "  - recv: {from: 0, size: 2 KiB}\n  - recv: {from: 0, size: 1 KiB}\n"),
                     &error);
    ck_assert_ptr_null(wrong);
    ck_assert_msg(strstr(error->message, "p.yaml:9:27: error: rank 1 receives 2 KiB here, but rank "
                                         "0 sends 1 KiB (p.yaml:5:5: isend to 1 (1 KiB))") != NULL,
                  "%s", error->message);
}
END_TEST

START_TEST(labels_say_where_the_call_of_a_lane_stands)
{
    g_autoptr(CcsSchedule) schedule = schedule_of(
        TWO("  - send: {to: 1, size: 64 KiB}\n  - compute: 3 us\n", "  - recv: {from: 0}\n"));

    ck_assert_uint_eq(ccs_schedule_n_lanes(schedule), 2);
    ck_assert_str_eq(ccs_schedule_label(schedule, ccs_schedule_lane(schedule, 0)->label),
                     "p.yaml:5:5: send to 1 (64 KiB)");
    ck_assert_str_eq(ccs_schedule_label(schedule, ccs_schedule_lane(schedule, 1)->label),
                     "p.yaml:6:5: compute 3 us");
    ck_assert_uint_eq(ccs_schedule_n_phases(schedule), 1);
    ck_assert_str_eq(ccs_schedule_phases(schedule)[0], "p.yaml:5:5: send");
}
END_TEST

static const struct {
    const char *text;
    const char *message;
} deadlocks[] = {
    /* two ranks both in blocking send */
    {"title: t\nprogram:\n- ranks: 0-1\n  calls:\n  - send: {to: rank xor 1, size: 64 KiB}\n"
     "  - recv: {from: rank xor 1}\n",
     "deadlock: 2 calls wait for each other, and none can go on\n"
     "  rank 0: p.yaml:5:5: send to 1 (64 KiB) waits for rank 1: p.yaml:6:5: recv from 0 (64 KiB)\n"
     "  rank 1: p.yaml:5:5: send to 0 (64 KiB) waits for rank 0: p.yaml:6:5: recv from 1 (64 KiB)"},
    /* two communicators in different order, as in nccl#195 and #574 */
    {"title: t\ncommunicators: [{name: a, ranks: 0-1}, {name: b, ranks: 0-1}]\nprogram:\n"
     "- ranks: 0\n  calls:\n"
     "  - send: {to: 1, size: 1 MiB, communicator: a}\n"
     "  - send: {to: 1, size: 1 MiB, communicator: b}\n"
     "- ranks: 1\n  calls:\n"
     "  - recv: {from: 0, communicator: b}\n"
     "  - recv: {from: 0, communicator: a}\n",
     "deadlock: 2 calls wait for each other, and none can go on\n"
     "  rank 0: p.yaml:6:5: send to 1 (1 MiB) waits for rank 1: p.yaml:11:5: recv from 0 (1 MiB)\n"
     "  rank 1: p.yaml:10:5: recv from 0 (1 MiB) waits for rank 0: p.yaml:7:5: send to 1 (1 MiB)"},
    /* both receive first, however small the messages */
    {"title: t\nprogram:\n- ranks: 0-1\n  calls:\n  - recv: {from: rank xor 1}\n"
     "  - send: {to: rank xor 1, size: 1 B}\n",
     "  rank 0: p.yaml:5:5: recv from 1 (1 B) waits for rank 1: p.yaml:6:5: send to 0 (1 B)\n"
     "  rank 1: p.yaml:5:5: recv from 0 (1 B) waits for rank 0: p.yaml:6:5: send to 1 (1 B)"},
    /* a wait stands in the way */
    {TWO("  - irecv: {from: 1, request: r}\n  - wait: r\n  - send: {to: 1, size: 1 KiB}\n",
         "  - recv: {from: 0}\n  - send: {to: 0, size: 1 KiB}\n"),
     "  rank 0: p.yaml:6:5: wait for 'r' waits for rank 0: p.yaml:5:5: irecv from 1 (1 KiB)\n"
     "  rank 0: p.yaml:5:5: irecv from 1 (1 KiB) waits for rank 1: p.yaml:11:5: send to 0 (1 KiB)\n"
     "  rank 1: p.yaml:10:5: recv from 0 (1 KiB) waits for rank 0: p.yaml:7:5: send to 1 (1 KiB)"},
    /* a ring of three */
    {"title: t\nprogram:\n- ranks: 0-2\n  calls:\n  - send: {to: rank + 1 mod 3, size: 1 MiB}\n"
     "  - recv: {from: rank - 1 mod 3}\n",
     "deadlock: 3 calls wait for each other"},
};

START_TEST(calls_that_wait_for_each_other_are_named_with_their_places)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsProgram) program = read_program(deadlocks[_i].text, &error);
    ck_assert_msg(program != NULL, "%s", error == NULL ? "" : error->message);
    g_autoptr(CcsSchedule) schedule = ccs_program_schedule(program, &error);

    ck_assert_ptr_null(schedule);
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_CHECK));
    ck_assert_msg(strstr(error->message, deadlocks[_i].message) != NULL, "%s", error->message);
}
END_TEST

#define CALLS(text) "title: t\nprogram:\n- ranks: 0-1\n  calls:\n" text

static const struct {
    const char *text;
    const char *message;
} wrong[] = {
    {CALLS("  - send: {to: 4, size: 1 B}\n"),
     "p.yaml:5:16: error: for rank 0, 'to' is 4, and communicator 'world' has 4 ranks"},
    {CALLS("  - recv: {from: rank - 1}\n"), "p.yaml:5:18: error: for rank 0, 'from' is -1"},
    {CALLS("  - send: {to: 0, size: 1 B}\n"), "p.yaml:5:16: error: rank 0 cannot send to itself"},
    {CALLS("  - send: {to: next, size: 1 B}\n"),
     "p.yaml:5:16: error: 'to' must be a rank such as 3, rank + 1,"},
    {CALLS("  - send: {to: 1}\n"), "'size' is missing"},
    {CALLS("  - send: {to: 1, size: 5}\n"), "p.yaml:5:25: error: 'size' must be a size such as"},
    {CALLS("  - send: {to: 1, size: 1 B, request: a}\n"), "unknown key 'request'"},
    {CALLS("  - compute: 5\n"), "p.yaml:5:14: error: 'compute' must be a time such as 2.5 us"},
    {CALLS("  - isned: {to: 1}\n"), "unknown key 'isned' (did you mean 'isend'?)"},
    {CALLS("  - {}\n"), "p.yaml:5:5: error: a call must be one of send, recv, "},
    {CALLS("  - {compute: 1 us, wait: a}\n"), "'compute' and 'wait' are two calls"},
    {CALLS("  - send: {to: rank xor 1, size: 1 B}\n"),
     "p.yaml:5:11: error: rank 1 never receives this: rank 0 sends it 1 with tag 0 in 'world', and "
     "it receives 0"},
    {CALLS("  - recv: {from: rank xor 1}\n"),
     "p.yaml:5:11: error: nobody sends this: rank 1 receives 1 with tag 0 in 'world' from rank 0, "
     "which sends 0"},
    {CALLS("  - isend: {to: rank xor 1, size: 1 B, tag: 1}\n  - recv: {from: rank xor 1}\n"),
     "p.yaml:6:11: error: nobody sends this"},
    {CALLS("  - isend: {to: rank xor 1, size: 2 B}\n  - recv: {from: rank xor 1, size: 1 B}\n"),
     "p.yaml:6:36: error: rank 1 receives 1 B here, but rank 0 sends 2 B (p.yaml:5:5: isend"},
    {CALLS("  - wait: a\n"), "p.yaml:5:11: error: rank 0 has no request 'a' here"},
    {CALLS("  - isend: {to: rank xor 1, size: 1 B, request: a}\n"
           "  - recv: {from: rank xor 1}\n  - wait: a\n  - wait: a\n"),
     "p.yaml:8:11: error: rank 0 has no request 'a' here"},
    {CALLS("  - isend: {to: rank xor 1, size: 1 B, request: a}\n"
           "  - irecv: {from: rank xor 1, request: a}\n"),
     "p.yaml:6:40: error: rank 0 has not waited for the former request 'a' (p.yaml:5:5: isend"},
    {CALLS("  - group_start: {}\n"), "p.yaml:5:18: error: rank 0 never ends this group"},
    {CALLS("  - group_end: {}\n"), "p.yaml:5:16: error: rank 0 has no group open here"},
    {CALLS("  - group_start: {}\n  - group_start: {}\n"),
     "p.yaml:6:18: error: only send and recv can stand in a group, not group_start"},
    {CALLS("  - group_start: {}\n  - compute: 1 us\n"), "only send and recv can stand in a group"},
    {CALLS("  - group_start: {}\n  - send: {to: 1, size: 1 B, stream: s}\n"),
     "p.yaml:6:38: error: the group is in stream 'main', and so are its calls"},
    {CALLS("  - send: {to: 1, size: 1 B, communicator: wrold}\n"),
     "p.yaml:5:44: error: there is no communicator 'wrold' (did you mean 'world'?)"},
    {"title: t\ncommunicators: [{name: a, ranks: 0-1}]\nprogram:\n- ranks: 2\n  calls:\n"
     "  - recv: {from: 0, communicator: a}\n",
     "p.yaml:6:35: error: rank 2 is not in communicator 'a'"},
    {"title: t\ncommunicators: [{name: world, ranks: 0-1}]\nprogram: []\n",
     "p.yaml:2:24: error: there is a communicator 'world' already"},
    {"title: t\ncommunicators: [{name: a, ranks: [0, 0]}]\nprogram: []\n",
     "p.yaml:2:38: error: 'ranks' names rank 0 twice"},
    {"title: t\nprogram:\n- {ranks: 0-4, calls: []}\n",
     "p.yaml:3:11: error: 'ranks' names rank 4, but the job has 4 ranks (0 to 3)"},
    {"title: t\nprogram:\n- {calls: []}\n", "'ranks' is missing"},
    {"title: t\n", "'program' is missing"},
    {CALLS("  - send: {to: rank xor 1, size: 1024 TiB}\n  - send: {to: rank xor 1, size: 1 B}\n"),
     "p.yaml:6:34: error: all messages together have more than"},
};

START_TEST(what_is_wrong_is_named_with_its_place)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsProgram) program = read_program(wrong[_i].text, &error);

    ck_assert_msg(program == NULL, "no error: %s", wrong[_i].message);
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    ck_assert_msg(strstr(error->message, wrong[_i].message) != NULL, "'%s' is not in: %s",
                  wrong[_i].message, error->message);
}
END_TEST

START_TEST(one_call_of_many_ranks_has_one_error)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsProgram) program =
        read_program("title: t\nprogram:\n- {ranks: all, calls: [wait: a]}\n", &error);

    ck_assert_ptr_null(program);
    ck_assert_ptr_null(strstr(error->message, "rank 1"));
}
END_TEST

START_TEST(a_program_of_too_many_calls_is_refused)
{
    g_autoptr(GString) text = g_string_new("title: t\nprogram:\n- &e {ranks: all, calls: [");
    g_autoptr(GError) error = NULL;

    tear_down();
    ccs_ask_machine(&(CcsAsked){.machine = FLAT, .n_nodes = 16}, &machine);
    for (int i = 0; i < 1000; i++)
        g_string_append(text, "compute: 1 us, ");
    g_string_append(text, "compute: 1 us]}\n");
    for (int i = 0; i < 300; i++)
        g_string_append(text, "- *e\n");
    g_autoptr(CcsProgram) program = read_program(text->str, &error);
    ck_assert_ptr_null(program);
    ck_assert_msg(strstr(error->message, "all ranks together make more than 4000000 calls") != NULL,
                  "%.300s", error->message);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("program");
    TCase *tcase = tcase_create("program");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, calls_mean_what_their_names_say, 0, G_N_ELEMENTS(times));
    tcase_add_test(tcase, the_transport_has_its_price);
    tcase_add_test(tcase, messages_of_one_tag_are_received_in_order);
    tcase_add_test(tcase, labels_say_where_the_call_of_a_lane_stands);
    tcase_add_loop_test(tcase, calls_that_wait_for_each_other_are_named_with_their_places, 0,
                        G_N_ELEMENTS(deadlocks));
    tcase_add_loop_test(tcase, what_is_wrong_is_named_with_its_place, 0, G_N_ELEMENTS(wrong));
    tcase_add_test(tcase, one_call_of_many_ranks_has_one_error);
    tcase_add_test(tcase, a_program_of_too_many_calls_is_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}
