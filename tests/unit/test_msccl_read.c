/* What an MSCCL file may not say, and where it is told so. */
#include <string.h>

#include "base/error.h"
#include "formats/msccl.h"
#include "tests/support/check_main.h"

/* Two GPUs that exchange and add up: right as it is. */
static const char *const exchange[] = {
    "<algo name='pair' proto='Simple' nchannels='1' nchunksperloop='2' ngpus='2' coll='allreduce'"
    " inplace='1' outofplace='0' minBytes='0' maxBytes='0'>",
    "<gpu id='0' i_chunks='2' o_chunks='0' s_chunks='3'>",
    "<tb id='0' send='1' recv='1' chan='0'>",
    "<step s='0' type='s' srcbuf='i' srcoff='0' dstbuf='i' dstoff='0' cnt='2' depid='-1' deps='-1'"
    " hasdep='0'/>",
    "<step s='1' type='rrc' srcbuf='i' srcoff='0' dstbuf='i' dstoff='0' cnt='2' depid='-1'"
    " deps='-1' hasdep='0'/>",
    "</tb>",
    "<tb id='1' send='-1' recv='-1' chan='0'>",
    "<step s='0' type='cpy' srcbuf='i' srcoff='0' dstbuf='s' dstoff='0' cnt='1' depid='0' deps='1'"
    " hasdep='0'/>",
    "</tb>",
    "</gpu>",
    "<gpu id='1' i_chunks='2' o_chunks='0' s_chunks='0'>",
    "<tb id='4' send='0' recv='0' chan='0'>",
    "<step s='0' type='s' srcbuf='i' srcoff='0' dstbuf='i' dstoff='0' cnt='2' depid='-1' deps='-1'"
    " hasdep='0'/>",
    "<step s='1' type='rrc' srcbuf='i' srcoff='0' dstbuf='i' dstoff='0' cnt='2' depid='-1'"
    " deps='-1' hasdep='0'/>",
    "</tb>",
    "</gpu>",
    "</algo>",
};

/* The file with @from replaced by @to in line @line, from 1; a line break for each in the list. */
static char *changed(uint32_t line, const char *from, const char *to)
{
    GString *text = g_string_new(NULL);

    for (uint32_t i = 0; i < G_N_ELEMENTS(exchange); i++) {
        g_autoptr(GString) one = g_string_new(exchange[i]);
        if (i + 1 == line)
            ck_assert_uint_eq(g_string_replace(one, from, to, 1), 1);
        g_string_append_printf(text, "%s\n", one->str);
    }
    return g_string_free(text, false);
}

static const struct {
    uint32_t line;
    const char *from;
    const char *to;
    const char *problem;
} refusals[] = {
    /* the whole */
    {1, "<algo", "<algos", "f.xml:1:1: error: 'algos' has no place in the file"},
    {1, " ngpus='2'", "", "f.xml:1:1: error: 'ngpus' is missing"},
    {1, "ngpus='2'", "ngpus='two'", "f.xml:1:67: error: 'ngpus' must be a number from 1 to 4096"},
    {1, "ngpus='2'", "ngpus='0'", "f.xml:1:67: error: 'ngpus' must be a number from 1"},
    {1, "ngpus='2'", "ngpus='99999999999999999999'", "f.xml:1:67: error: 'ngpus' must be a number"},
    {1, "ngpus='2'", "ngpus='3'", "f.xml:1:1: error: GPU 2 is missing, of 3 that 'ngpus' names"},
    {1, "loop='2'", "loop='0'", "f.xml:1:48: error: 'nchunksperloop' must be a number from 1"},
    {1, "allreduce", "allreduse",
     "f.xml:1:77: error: 'coll' cannot be 'allreduse' (did you mean 'allreduce'?)"},
    {1, "loop='2' ngpus='2' coll='allreduce'", "loop='3' ngpus='2' coll='allgather'",
     "f.xml:1:48: error: 'nchunksperloop' must be a multiple of 'ngpus' for allgather"},
    {1, "proto='Simple'", "proto='simple'", "f.xml:1:19: error: 'proto' cannot be 'simple' (did"},
    {1, "inplace='1'", "inplace='2'", "f.xml:1:94: error: 'inplace' must be a number from 0 to 1"},
    {1, "inplace='1'", "inplace='0'", "f.xml:1:106: error: one of 'inplace' and 'outofplace'"},
    {1, "ngpus='2'", "ngpus='2' ccsim_channels='3'",
     "f.xml:1:77: error: 'ccsim_channels' does not divide the chunks"},
    {1, "minBytes='0' maxBytes='0'", "minBytes='65' maxBytes='64'",
     "f.xml:1:121: error: 'minBytes' must not be above 'maxBytes', 64, but is 65"},
    {1, "ngpus='2'", "ngpus='2' ngpus='2'", "f.xml:1:77: error: 'ngpus' is there twice"},
    {1, "ngpus='2'", "x='1' ngpus='2' x='1'", "f.xml:1:83: error: 'x' is there twice"},
    {1, "ngpus='2'", "ngpus='2' ccsim_root='2'",
     "f.xml:1:77: error: 'ccsim_root' must be a number"},
    /* GPUs */
    {2, "<gpu", "<gpus", "f.xml:2:1: error: 'gpus' has no place in algo"},
    {2, "id='0'", "id='2'", "f.xml:2:6: error: 'id' must be a number from 0 to 1, not '2'"},
    {11, "id='1'", "id='0'", "f.xml:11:6: error: GPU 0 is there already, in line 2"},
    {2, "i_chunks='2'", "i_chunks='3'",
     "f.xml:2:13: error: 'i_chunks' must be a number from 0 to 2"},
    {2, " s_chunks='3'", "", "f.xml:2:1: error: 's_chunks' is missing"},
    {2, "s_chunks='3'", "s_chunks='3' ccsim_order='0 1'",
     "f.xml:2:52: error: 'ccsim_order' says nothing about allreduce"},
    /* blocks */
    {3, "<tb", "<step", "f.xml:3:1: error: 'step' has no place in gpu"},
    {3, "send='1'", "send='0'", "f.xml:3:12: error: 'send' is the GPU itself"},
    {3, "send='1'", "send='2'", "f.xml:3:12: error: 'send' must be a number from -1 to 1, not '2'"},
    {3, "recv='1'", "recv='-2'", "f.xml:3:21: error: 'recv' must be a number from -1 to 1"},
    {3, "chan='0'", "chan='1'",
     "f.xml:3:30: error: 'chan' must be below 'nchannels', which is 1, not '1'"},
    {1, "nchannels='1'", "nchannels='0'",
     "f.xml:3:30: error: 'chan' must be below 'nchannels', which is 0, not '0'"},
    {3, "chan='0'", "chan='-1'", "f.xml:3:30: error: 'chan' must be a number from 0 to"},
    {7, "id='1'", "id='0'", "f.xml:7:5: error: GPU 0 has a block 0 already"},
    {7, "send='-1'", "send='1'",
     "f.xml:7:1: error: block 1 has 'send' and 'chan' of block 0, in line 3"},
    {7, "recv='-1'", "recv='1'",
     "f.xml:7:1: error: block 1 has 'recv' and 'chan' of block 0, in line 3"},
    /* steps */
    {4, "<step", "<op", "f.xml:4:1: error: 'op' belongs to another form of these files"},
    {4, "s='0'", "s='1'", "f.xml:4:7: error: 's' must be 0: the steps of a block are counted"},
    {5, "s='1'", "s='0'", "f.xml:5:7: error: 's' must be 1: the steps of a block are counted"},
    {4, "type='s'", "type='send'", "f.xml:4:13: error: 'type' cannot be 'send'"},
    {4, " type='s'", "", "f.xml:4:1: error: 'type' is missing"},
    {4, "cnt='2'", "cnt='0'", "f.xml:4:66: error: 'cnt' must be a number from 1 to 1048576"},
    {4, "cnt='2'", "cnt='3'",
     "f.xml:4:33: error: chunks 0 to 2 do not lie in buffer 'i', which has 2"},
    {4, "srcoff='0'", "srcoff='-1'", "f.xml:4:33: error: 'srcoff' must be a number from 0"},
    {5, "dstoff='0'", "dstoff='1'",
     "f.xml:5:57: error: chunks 1 to 2 do not lie in buffer 'i', which has 2"},
    {4, "srcbuf='i'", "srcbuf='x'", "f.xml:4:22: error: 'srcbuf' cannot be 'x'"},
    {8, "dstbuf='s'", "dstbuf='i'", "f.xml:8:57: error: its source and its target overlap"},
    {7, "<tb id='1' send='-1' recv='-1' chan='0'>",
     "<tb id='1' send='-1' recv='-1' chan='0'><step s='0' type='s' srcbuf='i' srcoff='0' cnt='1'/>",
     "f.xml:7:53: error: 's' sends, but its block has no GPU to send to"},
    {8, "type='cpy'", "type='r'",
     "f.xml:8:13: error: 'r' receives, but its block has no GPU to receive from"},
    /* what waits for what */
    {8, "deps='1'", "deps='-1'", "f.xml:8:76: error: 'depid' and 'deps' must both name something"},
    {8, "depid='0'", "depid='7'", "f.xml:8:1: error: it waits for block 7, which its GPU does not"},
    {8, "deps='1'", "deps='2'",
     "f.xml:8:1: error: it waits for step 2 of block 0, which has 2 steps"},
    {4, "depid='-1' deps='-1'", "depid='0' deps='1'",
     "f.xml:4:1: error: it waits for step 1 of its own block, which does not come before it"},
    {4, "depid='-1' deps='-1'", "depid='1' deps='0'",
     "f.xml:4:1: error: steps wait for each other in a circle: this one waits for"},
    {8, "depid='0' deps='1'", "ccsim_unordered='1'",
     "f.xml:8:76: error: 'ccsim_unordered' says nothing about a step that does not wait"},
    {8, "depid='0'", "depid='0' ccsim_unordered='1'",
     "f.xml:8:1: error: 'ccsim_unordered' is for steps that add to where they read"},
    {8, "depid='0'", "ccsim_early='2' depid='0'",
     "f.xml:8:76: error: 'ccsim_early' must be a number from 0 to 1"},
    /* what is sent and what is received */
    {13, "cnt='2'", "cnt='1'",
     "f.xml:5:1: error: this receives 2 chunks of a message that has 1, sent in line 13"},
    {12, "send='0'", "send='-1'", "f.xml:13:13: error: 's' sends, but its block has no GPU"},
    {14, "type='rrc'", "type='re' ", "f.xml:14:57: error: its source and its target overlap"},
    {14, "<step s='1' type='rrc'", "<!-- '", "f.xml:"},
    /* what is no XML, or not this kind */
    {6, "</tb>", "</gpu>", "f.xml:6:"},
    {17, "</algo>", "", "f.xml:"},
    {17, "</algo>", "</algo><algo/>", "f.xml:17:"},
    {2, "<gpu", "text <gpu", "f.xml:2:"},
    {1, "<algo", "<!DOCTYPE algo [<!ENTITY a 'b'>]><algo", "f.xml:1:"},
    {4, "type='s'", "type='s", "f.xml:"},
    {4, "/>", "><a><a><a></a></a></a></step>", "f.xml:4:106: error: 'a' has no place in step"},
};

START_TEST(a_wrong_file_is_refused_at_its_place)
{
    g_autofree char *text = changed(refusals[_i].line, refusals[_i].from, refusals[_i].to);
    g_autoptr(GError) error = NULL;

    ck_assert_ptr_null(ccs_msccl_read("f.xml", text, strlen(text), &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    ck_assert_msg(g_str_has_prefix(error->message, refusals[_i].problem), "%d: %s\n expected: %s",
                  _i, error->message, refusals[_i].problem);
}
END_TEST

START_TEST(a_file_must_have_a_program)
{
    static const char *const texts[] = {"", " \n", "<!-- nothing -->", "<?xml version='1.0'?>"};
    g_autoptr(GError) error = NULL;

    ck_assert_ptr_null(ccs_msccl_read("f.xml", texts[_i], strlen(texts[_i]), &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    ck_assert_msg(g_str_has_prefix(error->message, "f.xml:"), "%s", error->message);
}
END_TEST

START_TEST(an_element_has_so_many_attributes_at_most)
{
    g_autoptr(GString) many = g_string_new("<algo");
    for (int i = 0; i < 65; i++)
        g_string_append_printf(many, " a%d='1'", i);
    g_autofree char *text = changed(1, "<algo", many->str);
    g_autoptr(GError) error = NULL;

    ck_assert_ptr_null(ccs_msccl_read("f.xml", text, strlen(text), &error));
    ck_assert_msg(g_str_has_prefix(error->message, "f.xml:1:1: error: there are more than 64"),
                  "%s", error->message);
}
END_TEST

START_TEST(a_byte_order_mark_is_skipped)
{
    g_autofree char *text = changed(1, "<algo", "\xef\xbb\xbf<algo");
    g_autofree char *wrong = changed(1, "<algo", "\xef\xbb\xbf<algos");
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsMsccl) msccl = ccs_msccl_read("f.xml", text, strlen(text), NULL);

    ck_assert_ptr_nonnull(msccl);
    ck_assert_ptr_null(ccs_msccl_read("f.xml", wrong, strlen(wrong), &error));
    ck_assert(g_str_has_prefix(error->message, "f.xml:1:1: error: 'algos'"));
    ck_assert_ptr_nonnull(strstr(error->message, "\n <algos"));
}
END_TEST

START_TEST(the_line_is_shown_with_a_caret)
{
    g_autofree char *text = changed(4, "cnt='2'", "cnt='none'");
    g_autoptr(GError) error = NULL;

    ck_assert_ptr_null(ccs_msccl_read("f.xml", text, strlen(text), &error));
    ck_assert_ptr_nonnull(strstr(error->message, "dstoff='0' cnt='none'"));
    ck_assert(g_str_has_suffix(error->message, " ^"));
}
END_TEST

START_TEST(a_file_may_be_longer_on_one_line_than_a_message)
{
    g_autofree char *zeros = g_strnfill(100000, '0');
    g_autofree char *count = g_strdup_printf("cnt='%s'", zeros);
    g_autofree char *text = changed(4, "cnt='2'", count);
    g_autoptr(GError) error = NULL;

    ck_assert_ptr_null(ccs_msccl_read("f.xml", text, strlen(text), &error));
    ck_assert_uint_lt(strlen(error->message), 500);
}
END_TEST

START_TEST(what_a_file_says_is_there)
{
    g_autofree char *text = changed(1, "maxBytes='0'", "maxBytes='65536'");
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsMsccl) msccl = ccs_msccl_read("f.xml", text, strlen(text), &error);

    ck_assert_msg(msccl != NULL, "%s", error == NULL ? "" : error->message);
    ck_assert_str_eq(msccl->name, "pair");
    ck_assert_int_eq(msccl->collective, CCS_ALLREDUCE);
    ck_assert_uint_eq(msccl->n_ranks, 2);
    ck_assert_uint_eq(msccl->n_chunks, 2);
    ck_assert(msccl->is_in_place && !msccl->is_out_of_place);
    ck_assert_uint_eq(msccl->max_bytes, 65536);
    ck_assert_uint_eq(msccl->gpus[0].n_blocks, 2);
    ck_assert_uint_eq(ccs_msccl_block(msccl, 1, 0)->id, 4);
    const CcsMscclStep *copy = ccs_msccl_step(msccl, ccs_msccl_block(msccl, 0, 1)->first_step);
    ck_assert_int_eq(copy->type, CCS_MSCCL_COPY);
    ck_assert_int_eq(copy->target, CCS_BUFFER_SCRATCH);
    ck_assert_uint_eq(copy->waits_for, 1);
}
END_TEST

START_TEST(comments_and_unknown_attributes_do_not_count)
{
    g_autofree char *text = changed(3, "<tb", "<!-- <tb id='0'/> --><tb more='so'");
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsMsccl) msccl = ccs_msccl_read("f.xml", text, strlen(text), &error);

    ck_assert_msg(msccl != NULL, "%s", error == NULL ? "" : error->message);
    ck_assert_uint_eq(ccs_msccl_block(msccl, 0, 0)->place.column, 22);
}
END_TEST

START_TEST(a_step_before_it_in_another_block_need_not_come_before_it_in_the_file)
{
    g_autofree char *text = changed(5, "depid='-1' deps='-1'", "depid='0' deps='0'");
    g_autoptr(CcsMsccl) msccl = ccs_msccl_read("f.xml", text, strlen(text), NULL);

    ck_assert_ptr_nonnull(msccl); /* an earlier step of its own block */
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("msccl_read");
    TCase *tcase = tcase_create("msccl_read");

    tcase_add_loop_test(tcase, a_wrong_file_is_refused_at_its_place, 0, G_N_ELEMENTS(refusals));
    tcase_add_loop_test(tcase, a_file_must_have_a_program, 0, 4);
    tcase_add_test(tcase, an_element_has_so_many_attributes_at_most);
    tcase_add_test(tcase, a_byte_order_mark_is_skipped);
    tcase_add_test(tcase, the_line_is_shown_with_a_caret);
    tcase_add_test(tcase, a_file_may_be_longer_on_one_line_than_a_message);
    tcase_add_test(tcase, what_a_file_says_is_there);
    tcase_add_test(tcase, comments_and_unknown_attributes_do_not_count);
    tcase_add_test(tcase, a_step_before_it_in_another_block_need_not_come_before_it_in_the_file);
    suite_add_tcase(suite, tcase);
    return suite;
}
