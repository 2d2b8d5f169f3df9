/* MSCCL files on the command line. */
#include "tests/support/check_main.h"

#include "tests/cli/cli.h"

static CcsFolder *folder;

static void set_up(void)
{
    folder = ccs_folder_new();
}

static void tear_down(void)
{
    g_clear_pointer(&folder, ccs_folder_remove);
}

static CcsProgramRun run(const char *line)
{
    return ccs_program_run_line(folder, line);
}

/* What @line prints under the JSON key @key of its result @index. */
static double number_of(const char *line, uint32_t index, const char *key)
{
    g_auto(CcsProgramRun) one = run(line);
    g_autofree char *place = g_strdup_printf("$.results[%u].%s", index, key);

    assert_status(&one, 0);
    return ccs_json_number(one.output, place);
}

#define OUTPUT " --no-db --format json -b 1000003 -e 1000003"

static const struct {
    const char *written;
    const char *machine;
} pairs[] = {
    {"allreduce -A ring --channels 2", "-T cluster32"},
    {"broadcast -A chain -r 5 --channels 3 --chunks 7", "-T cluster32"},
    {"alltoall -A hierarchical --channels 1", "-T cluster32 --nodes 2"},
    {"reducescatter -A ring --channels 3", "-T nvlink8"},
    {"allreduce -A hierarchical --channels 1", "-T cluster32 --ranks 13"},
    {"reduce -A binomial", "-T reference"},
    {"gather -A flat", "-T reference"},
};

START_TEST(a_file_takes_the_time_of_the_algorithm_that_it_was_written_from)
{
    g_autofree char *write =
        g_strdup_printf("export msccl %s %s -o a.xml", pairs[_i].written, pairs[_i].machine);
    g_autofree char *algorithm =
        g_strdup_printf("bench %s %s" OUTPUT, pairs[_i].written, pairs[_i].machine);
    g_autofree char *file = g_strdup_printf("bench a.xml %s" OUTPUT, pairs[_i].machine);
    g_auto(CcsProgramRun) written = run(write);

    assert_status(&written, 0);
    ck_assert_str_eq(written.output, "");
    ck_assert_double_eq(number_of(file, 0, "time_us"), number_of(algorithm, 0, "time_us"));
    ck_assert_double_eq(number_of(file, 0, "flows"), number_of(algorithm, 0, "flows"));
}
END_TEST

START_TEST(a_result_bears_the_name_of_the_file)
{
    g_auto(CcsProgramRun) written = run("export msccl allreduce -A tree --ranks 4 -o a.xml");
    g_auto(CcsProgramRun) timed = run("bench a.xml -T nvlink8 -b 1M -e 1M --format json");
    g_autofree char *algorithm = ccs_json_text(timed.output, "$.results[0].algorithm");
    g_autofree char *collective = ccs_json_text(timed.output, "$.results[0].collective");

    assert_done(&written);
    assert_done(&timed);
    ck_assert_str_eq(algorithm, "allreduce_tree");
    ck_assert_str_eq(collective, "allreduce");
    ck_assert_double_eq(ccs_json_number(timed.output, "$.results[0].ranks"), 4);
}
END_TEST

START_TEST(a_file_comes_from_stdin_and_goes_to_stdout)
{
    g_auto(CcsProgramRun) written = run("export msccl allgather --ranks 3");
    const char *args[] = {"verify", "-", NULL};
    g_auto(CcsProgramRun) verified =
        ccs_program_run(&(CcsProgramCall){.args = args, .folder = folder, .input = written.output});

    assert_done(&written);
    assert_status(&verified, 0);
    assert_says(verified.output, "right");
}
END_TEST

#define COPY(coll, bytes, from)                                                                    \
    "<algo nchannels='1' nchunksperloop='2' ngpus='2' coll='" coll "'" bytes ">\n"                 \
    "<gpu id='0' i_chunks='1' o_chunks='2' s_chunks='0'>\n"                                        \
    "<tb id='0' send='1' recv='1' chan='0'>\n"                                                     \
    "<step s='0' type='s' srcbuf='i' srcoff='0' cnt='1'/>\n"                                       \
    "<step s='1' type='r' dstbuf='o' dstoff='1' cnt='1'/>\n"                                       \
    "</tb><tb id='1' send='-1' recv='-1' chan='0'>\n"                                              \
    "<step s='0' type='cpy' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0' cnt='1'/>\n"               \
    "</tb></gpu><gpu id='1' i_chunks='1' o_chunks='2' s_chunks='0'>\n"                             \
    "<tb id='0' send='0' recv='0' chan='0'>\n"                                                     \
    "<step s='0' type='s' srcbuf='i' srcoff='0' cnt='1'/>\n"                                       \
    "<step s='1' type='r' dstbuf='o' dstoff='0' cnt='1'/>\n"                                       \
    "</tb><tb id='1' send='-1' recv='-1' chan='0'>\n"                                              \
    "<step s='0' type='cpy' srcbuf='" from "' srcoff='0' dstbuf='o' dstoff='1' cnt='1'/>\n"        \
    "</tb></gpu></algo>\n"

START_TEST(stdin_has_one_name)
{
    const char *verify[] = {"verify", "-", NULL};
    g_auto(CcsProgramRun) wrong =
        ccs_program_run(&(CcsProgramCall){.args = verify, .folder = folder, .input = "<algo/>"});
    g_auto(CcsProgramRun) custom = ccs_program_run(
        &(CcsProgramCall){.args = verify, .folder = folder, .input = COPY("custom", "", "o")});

    assert_refused(&wrong, 3, "(standard input):1:1: error: 'ngpus' is missing");
    assert_refused(&custom, 3, "(standard input) cannot be verified");
}
END_TEST

START_TEST(a_wrong_file_is_told_by_the_line_and_ends_in_1)
{
    write_file(folder, "a.xml", COPY("allgather", "", "o"));
    g_auto(CcsProgramRun) verified = run("verify a.xml");
    g_auto(CcsProgramRun) timed = run("bench a.xml -T nvlink8 -b 8 -e 8");

    assert_status(&verified, 1);
    assert_says(verified.output, "wrong: ");
    assert_says(verified.errors, "a.xml:13:1: ");
    assert_status(&timed, 1);
    assert_says(timed.errors, "a.xml:13:1: ");
}
END_TEST

/* Each in COPY: what is changed, and what the message names. */
static const struct {
    const char *from;
    const char *to;
    const char *problem;
} faults[] = {
    {"type='s' srcbuf='i'", "type='s' srcbuf='o'", "a.xml:4:1: "}, /* nothing may be there yet */
    {"type='r' dstbuf='o' dstoff='1'", "type='r' dstbuf='o' dstoff='0'", "a.xml:"},
    {"type='cpy' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0'",
     "type='cpy' srcbuf='i' srcoff='0' dstbuf='o' dstoff='1'", "a.xml:"},
    {"<step s='0' type='cpy' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0' cnt='1'/>", "",
     "rank 0 ends with the wrong data in output chunk 0, which nothing has written to"},
};

START_TEST(a_wrong_step_is_named)
{
    g_autoptr(GString) text = g_string_new(COPY("allgather", "", "i"));
    ck_assert_uint_eq(g_string_replace(text, faults[_i].from, faults[_i].to, 1), 1);
    write_file(folder, "a.xml", text->str);
    g_auto(CcsProgramRun) verified = run("verify a.xml");

    assert_status(&verified, 1);
    assert_says(verified.errors, faults[_i].problem);
}
END_TEST

#define SWAP_GPU(id, peer, sent)                                                                   \
    "<gpu id='" id "' i_chunks='2' o_chunks='2' s_chunks='0'>\n"                                   \
    "<tb id='0' send='" peer "' recv='" peer "' chan='0'>\n"                                       \
    "<step s='0' type='s' srcbuf='i' srcoff='" sent "' cnt='1'/>\n"                                \
    "<step s='1' type='r' dstbuf='o' dstoff='" peer "' cnt='1'/>\n"                                \
    "</tb><tb id='1' send='-1' recv='-1' chan='0'>\n"                                              \
    "<step s='0' type='cpy' srcbuf='i' srcoff='" id "' dstbuf='o' dstoff='" id "' cnt='1'/>\n"     \
    "</tb></gpu>\n"

START_TEST(the_wrong_chunk_is_told_with_the_steps_that_sent_and_stored_it)
{
    write_file(folder, "a.xml",
               "<algo nchannels='1' nchunksperloop='2' ngpus='2' coll='alltoall'>\n" SWAP_GPU(
                   "0", "1", "1") SWAP_GPU("1", "0", "1") "</algo>\n");
    g_auto(CcsProgramRun) verified = run("verify a.xml");

    assert_status(&verified, 1);
    assert_says(verified.errors,
                "a.xml:5:1: program of channel 0, message 0 from rank 0 to rank 0:"
                " rank 0 ends with the wrong data in output chunk 1, which this has"
                " written to last, with what came by a.xml:11:1: ");
}
END_TEST

/* A broadcast from GPU 0 to all of @n but the last @n_missing. */
static char *star(uint32_t n, uint32_t n_missing)
{
    GString *text = g_string_new(NULL);

    g_string_printf(text,
                    "<algo name='star' nchannels='1' nchunksperloop='1' ngpus='%u'"
                    " coll='broadcast' inplace='1'>\n"
                    "<gpu id='0' i_chunks='1' o_chunks='1' s_chunks='0'>\n",
                    n);
    for (uint32_t rank = 1; rank < n - n_missing; rank++)
        g_string_append_printf(text,
                               "<tb id='%u' send='%u' recv='-1' chan='0'>"
                               "<step s='0' type='s' srcbuf='i' srcoff='0' cnt='1'/></tb>\n",
                               rank, rank);
    g_string_append(text, "</gpu>");
    for (uint32_t rank = 1; rank < n; rank++)
        g_string_append_printf(
            text, "<gpu id='%u' i_chunks='1' o_chunks='1' s_chunks='0'>%s</gpu>\n", rank,
            rank >= n - n_missing ? ""
                                  : "<tb id='0' send='-1' recv='0' chan='0'>"
                                    "<step s='0' type='r' dstbuf='o' dstoff='0' cnt='1'/></tb>");
    g_string_append(text, "</algo>\n");
    return g_string_free(text, false);
}

START_TEST(a_file_for_many_ranks_is_verified_before_it_is_timed)
{
    g_autofree char *right = star(200, 0);
    g_autofree char *wrong = star(200, 1);
    write_file(folder, "right.xml", right);
    write_file(folder, "wrong.xml", wrong);
    g_auto(CcsProgramRun) of_right = run("bench right.xml -T flat8 --nodes 200 -b 8 -e 8");
    g_auto(CcsProgramRun) of_wrong = run("bench wrong.xml -T flat8 --nodes 200 -b 8 -e 8");

    assert_done(&of_right);
    assert_refused(&of_wrong, 1, "algorithm 'star' is wrong: ");
    assert_says(of_wrong.errors, "rank 199 ends with the wrong data");
}
END_TEST

START_TEST(what_a_file_is_not_made_for_is_noted)
{
    write_file(folder, "a.xml", COPY("allgather", " minBytes='16' maxBytes='64'", "i"));
    g_auto(CcsProgramRun) outside = run("bench a.xml -T nvlink8 -b 8 -e 128");
    g_auto(CcsProgramRun) inside = run("bench a.xml -T nvlink8 -b 16 -e 64");

    assert_status(&outside, 0);
    assert_says(outside.errors,
                "2 of 5 sizes lie outside of what a.xml is made for, 16 bytes to 64");
    assert_done(&inside);
}
END_TEST

START_TEST(a_custom_program_is_executed_but_not_verified)
{
    write_file(folder, "a.xml", COPY("custom", "", "o"));
    g_auto(CcsProgramRun) timed = run("bench a.xml -T nvlink8 -b 1M -e 1M");
    g_auto(CcsProgramRun) verified = run("verify a.xml");

    assert_status(&timed, 0);
    assert_says(timed.errors, "what 'custom' promises is not known");
    assert_refused(&verified, 3, "a.xml cannot be verified: what 'custom' promises is not known");
}
END_TEST

/* GPUs that do nothing. */
#define IDLE(channels, chunks)                                                                     \
    "<algo ngpus='1' nchannels='" channels "' nchunksperloop='" chunks                             \
    "' coll='allreduce' inplace='1'>\n<gpu id='0' i_chunks='" chunks "' o_chunks='" chunks         \
    "' s_chunks='0'/></algo>\n"

START_TEST(a_file_without_channels_is_timed)
{
    write_file(folder, "a.xml", IDLE("0", "1"));
    g_auto(CcsProgramRun) timed =
        run("bench a.xml -T nvlink8 -b 1M -e 1M --set node.nvlink.bandwidth='100 GB/s'"
            " --format json");

    assert_status(&timed, 0);
    ck_assert_double_eq(ccs_json_number(timed.output, "$.results[0].channels"), 1);
}
END_TEST

static const struct {
    const char *line;
    int status;
    const char *problem;
} refusals[] = {
    {"bench idle.xml -T nvlink8 --chunks 1048576", 3, "idle.xml:1:1: error: there is too much"},
    {"verify idle.xml --chunks 1048576", 3, "idle.xml:1:1: error: there is too much"},
    {"verify idle.xml --chunks 16385", 3, "idle.xml:1:1: error: there is too much"},
    {"verify good.xml --chunks 8000000", 2, "--chunks must be from 1 to"},
    {"bench none.xml -T nvlink8", 4, "none.xml: error: No such file or directory"},
    {"bench . -T nvlink8", 2, "unknown collective '.'"},
    {"bench ./ -T nvlink8", 4, "./: error: is a directory, not a file"},
    {"bench good.xml -T nvlink8 --ranks 4", 3, "good.xml is for 2 GPUs, and the job has 4"},
    {"bench good.xml", 2, "no topology"},
    {"bench bad.xml -T nvlink8", 3, "bad.xml:1:1: error: 'ngpus' is missing"},
    {"verify bad.xml", 3, "bad.xml:1:1: error: 'ngpus' is missing"},
    {"verify good.xml -r 2", 2, "-r must be 'all' or a rank from 0 to 1, not '2'"},
    {"export", 2, "a format and a collective must be named"},
    {"export msccl", 2, "a format and a collective must be named"},
    {"export msclc allreduce --ranks 2", 2, "unknown format 'msclc' (did you mean 'msccl'?)"},
    {"export msccl allreduse --ranks 2", 2, "unknown collective 'allreduse'"},
    {"export msccl allreduce", 2, "how many ranks? say it by --ranks N, or by a topology"},
    {"export msccl allreduce -A rong --ranks 2", 2, "allreduce has no algorithm 'rong'"},
    {"export msccl allreduce --ranks 0", 2, "--ranks must be from 1 to"},
    {"export msccl broadcast --ranks 2 -r 2", 2, "-r must be a rank from 0 to 1, not 2"},
    {"export msccl allreduce --ranks 9 -T nvlink8", 3, "9 ranks do not fit"},
    {"export msccl barrier --ranks 2", 3, "MSCCL files cannot say what barrier does"},
    {"export msccl allreduce --ranks 2 -o none/a.xml", 4, "none/a.xml"},
};

START_TEST(what_cannot_be_done_is_refused)
{
    write_file(folder, "good.xml", COPY("allgather", "", "i"));
    write_file(folder, "bad.xml", "<algo/>");
    write_file(folder, "idle.xml", IDLE("1", "4096"));
    g_auto(CcsProgramRun) one = run(refusals[_i].line);

    assert_refused(&one, refusals[_i].status, refusals[_i].problem);
}
END_TEST

START_TEST(options_without_effect_on_what_is_written_are_told)
{
    g_auto(CcsProgramRun) one = run("export msccl allreduce -A ring --ranks 2 -r 1 --chunks 3");

    assert_status(&one, 0);
    assert_says(one.errors, "-r has no effect: allreduce has no root");
    assert_says(one.errors, "--chunks has no effect: none of the algorithms is pipelined");
    assert_says_not(one.output, "ccsim_root");
}
END_TEST

START_TEST(options_without_effect_on_a_file_that_is_verified_are_told)
{
    g_autofree char *rooted = star(3, 0);
    write_file(folder, "a.xml", COPY("allgather", "", "i"));
    write_file(folder, "b.xml", rooted);
    g_auto(CcsProgramRun) plain = run("verify a.xml -r 1 --channels 5 --ranks 3");
    g_auto(CcsProgramRun) all = run("verify b.xml -r all");
    g_auto(CcsProgramRun) other = run("verify b.xml -r 1");

    assert_status(&plain, 0);
    assert_says(plain.errors, "-r has no effect: allgather has no root");
    assert_says(plain.errors, "--channels has no effect: a.xml has its own");
    assert_says(plain.errors, "--ranks has no effect: a.xml says how many there are");
    assert_status(&all, 0);
    assert_says(all.errors, "-r all has no effect: b.xml is for one root, 0");
    assert_status(&other, 1);
}
END_TEST

START_TEST(a_file_may_have_more_gpus_than_verify_tries)
{
    g_autofree char *many = star(1100, 0);
    write_file(folder, "a.xml", many);
    g_auto(CcsProgramRun) one = run("verify a.xml --orders 0");

    assert_status(&one, 0);
    assert_says(one.output, "1100");
}
END_TEST

START_TEST(options_without_effect_on_a_file_are_told)
{
    write_file(folder, "a.xml", COPY("allgather", "", "i"));
    g_auto(CcsProgramRun) one =
        run("bench a.xml -T nvlink8 -b 8 -e 8 -A ring --channels 2 -r 1 -o max");

    assert_status(&one, 0);
    assert_says(one.errors, "-A has no effect: a.xml is the algorithm");
    assert_says(one.errors, "--channels has no effect: a.xml has its own");
    assert_says(one.errors, "-r has no effect: allgather has no root");
    assert_says(one.errors, "-o has no effect: allgather does not reduce");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("msccl");
    TCase *tcase = tcase_create("msccl");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, a_file_takes_the_time_of_the_algorithm_that_it_was_written_from, 0,
                        G_N_ELEMENTS(pairs));
    tcase_add_test(tcase, a_result_bears_the_name_of_the_file);
    tcase_add_test(tcase, a_file_comes_from_stdin_and_goes_to_stdout);
    tcase_add_test(tcase, stdin_has_one_name);
    tcase_add_test(tcase, a_wrong_file_is_told_by_the_line_and_ends_in_1);
    tcase_add_loop_test(tcase, a_wrong_step_is_named, 0, G_N_ELEMENTS(faults));
    tcase_add_test(tcase, the_wrong_chunk_is_told_with_the_steps_that_sent_and_stored_it);
    tcase_add_test(tcase, a_file_for_many_ranks_is_verified_before_it_is_timed);
    tcase_add_test(tcase, what_a_file_is_not_made_for_is_noted);
    tcase_add_test(tcase, a_custom_program_is_executed_but_not_verified);
    tcase_add_test(tcase, a_file_without_channels_is_timed);
    tcase_add_loop_test(tcase, what_cannot_be_done_is_refused, 0, G_N_ELEMENTS(refusals));
    tcase_add_test(tcase, options_without_effect_on_what_is_written_are_told);
    tcase_add_test(tcase, options_without_effect_on_a_file_that_is_verified_are_told);
    tcase_add_test(tcase, a_file_may_have_more_gpus_than_verify_tries);
    tcase_add_test(tcase, options_without_effect_on_a_file_are_told);
    suite_add_tcase(suite, tcase);
    return suite;
}
