#include "collectives/counts.h"

#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

static const struct {
    const char *collective;
    const char *algorithm;
    CcsCounts counts; /* for 4 ranks and 400 bytes */
} rows[] = {
    {"allreduce", "ring", {4 * 6, 600, 600, 600}},
    {"allreduce", "naive", {6, 400, 1200, 1200}},
    {"allgather", "ring", {4 * 3, 300, 300, 300}},
    {"broadcast", "chain", {3, 0, 400, 400}},
    {"alltoall", "pairwise", {4 * 3, 300, 300, 300}}, /* own blocks stay */
    {"gather", "flat", {3, 0, 100, 300}},
    {"barrier", "dissemination", {4 * 2, 0, 0, 0}},
};

START_TEST(messages_and_bytes_are_those_of_the_textbook)
{
    g_auto(CcsAnswer) answer;
    ck_assert(ccs_ask_schedule(&(CcsAsked){.machine = "nvlink8",
                                           .n_ranks = 4,
                                           .collective = rows[_i].collective,
                                           .algorithm = rows[_i].algorithm},
                               &answer));

    CcsCounts counts = ccs_schedule_count(answer.schedule, 400);

    ck_assert_uint_eq(counts.n_messages, rows[_i].counts.n_messages);
    ck_assert_uint_eq(counts.sent_least, rows[_i].counts.sent_least);
    ck_assert_uint_eq(counts.sent_most, rows[_i].counts.sent_most);
    ck_assert_uint_eq(counts.received_most, rows[_i].counts.received_most);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("counts");
    TCase *tcase = tcase_create("counts");

    tcase_add_loop_test(tcase, messages_and_bytes_are_those_of_the_textbook, 0, G_N_ELEMENTS(rows));
    suite_add_tcase(suite, tcase);
    return suite;
}
