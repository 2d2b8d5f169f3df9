#include "collectives/cells.h"

#include "tests/support/check_main.h"
#include "tests/support/simulate.h"

static void ask(CcsAnswer *ret_answer)
{
    ck_assert(ccs_ask_schedule(
        &(CcsAsked){.machine = "nvlink8", .n_ranks = 5, .collective = "allreduce", .n_channels = 3},
        ret_answer));
}

START_TEST(every_cell_is_one_place)
{
    g_auto(CcsAnswer) answer;
    ask(&answer);

    ck_assert_uint_eq(ccs_n_cells(answer.schedule), CCS_N_BUFFERS * 5 * 3 * 5);
    for (CcsCell cell = 0; cell < ccs_n_cells(answer.schedule); cell++) {
        CcsPlace place = ccs_cell_place(answer.schedule, cell);
        ck_assert_uint_eq(ccs_cell(answer.schedule, &place), cell);
    }
}
END_TEST

START_TEST(a_message_is_read_at_its_source_and_written_at_its_peer)
{
    g_auto(CcsAnswer) answer;
    CcsCell from = 0;
    CcsCell to = 0;
    CcsPlace outside;
    ask(&answer);
    const CcsLane *lane = ccs_schedule_lane(answer.schedule, 7); /* rank 2, channel 1 */

    ck_assert(ccs_message_cells(answer.schedule, lane, 1, CCS_END_SOURCE, &from, &outside));
    ck_assert(ccs_message_cells(answer.schedule, lane, 1, CCS_END_TARGET, &to, &outside));

    CcsPlace source = ccs_cell_place(answer.schedule, from);
    CcsPlace target = ccs_cell_place(answer.schedule, to);
    ck_assert_uint_eq(source.rank, lane->source);
    ck_assert_uint_eq(source.channel, lane->channel);
    ck_assert_uint_eq(target.rank, lane->peer);
    ck_assert_uint_eq(target.chunk, source.chunk);
}
END_TEST

START_TEST(a_chunk_beyond_the_end_is_outside)
{
    g_auto(CcsAnswer) answer;
    CcsCell cell = 0;
    CcsPlace outside = {0};
    ask(&answer);
    CcsLane *lane = ccs_schedule_edit_lane(answer.schedule, 0);

    lane->to.base = 5;

    ck_assert(!ccs_message_cells(answer.schedule, lane, 0, CCS_END_TARGET, &cell, &outside));
    ck_assert_uint_ge(outside.chunk, 5);
    ck_assert_uint_eq(outside.rank, lane->peer);
}
END_TEST

START_TEST(a_message_is_called_by_phase_channel_and_ranks)
{
    g_auto(CcsAnswer) answer;
    ask(&answer);
    g_autofree char *plain = ccs_message_describe(answer.schedule, 0, 2);
    CcsLane *lane = ccs_schedule_edit_lane(answer.schedule, 0);
    lane->label = ccs_schedule_add_label(answer.schedule, "mine.yaml:3");
    g_autofree char *labelled = ccs_message_describe(answer.schedule, 0, 2);

    ck_assert_str_eq(plain, "reduce-scatter and all-gather of channel 0, message 2 from rank 0 to "
                            "rank 1");
    ck_assert_str_eq(labelled, "mine.yaml:3: reduce-scatter and all-gather of channel 0, message 2 "
                               "from rank 0 to rank 1");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("cells");
    TCase *tcase = tcase_create("cells");

    tcase_add_test(tcase, every_cell_is_one_place);
    tcase_add_test(tcase, a_message_is_read_at_its_source_and_written_at_its_peer);
    tcase_add_test(tcase, a_chunk_beyond_the_end_is_outside);
    tcase_add_test(tcase, a_message_is_called_by_phase_channel_and_ranks);
    suite_add_tcase(suite, tcase);
    return suite;
}
