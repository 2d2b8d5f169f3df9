/* What the program says about itself, and to whoever calls it wrongly. */
#include "tests/cli/cli.h"
#include "tests/support/check_main.h"

static const char *const commands[] = {"bench",  "run",  "program", "export", "list",  "topo",
                                       "verify", "runs", "sql",     "schema", "unpack"};

START_TEST(version_names_the_program_first)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(NULL, "--version");

    assert_done(&run);
    ck_assert_msg(g_regex_match_simple("^ccsim [0-9]+\\.[0-9]+\\.[0-9]+\n", run.output, 0, 0), "%s",
                  run.output);
}
END_TEST

START_TEST(version_lists_the_libraries_in_use_and_what_is_built_in)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(NULL, "--version");
    g_autofree char *sqlite_version = ccs_query_text(NULL, "SELECT 'sqlite ' || sqlite_version()");

    ck_assert_msg(g_regex_match_simple("glib [0-9.]+, libyaml [0-9.]+, sqlite [0-9.]+, "
                                       "libsmartcols [0-9.]+, zstd [0-9.]+\n",
                                       run.output, 0, 0),
                  "%s", run.output);
    assert_says(run.output, sqlite_version);
    assert_says(run.output, "models: fluid");
    assert_says(run.output, "transports: ideal");
}
END_TEST

static const char *const calls_for_help[] = {"help", "--help", "-h", "help help"};

START_TEST(help_lists_all_commands_on_stdout)
{
    g_auto(CcsProgramRun) run = ccs_program_run_line(NULL, calls_for_help[_i]);

    assert_done(&run);
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        assert_says(run.output, commands[i]);
    assert_says(run.output, "Exit status");
}
END_TEST

START_TEST(each_command_explains_itself_in_the_same_words_on_both_ways)
{
    g_autofree char *by_help = g_strdup_printf("help %s", commands[_i]);
    g_autofree char *by_option = g_strdup_printf("%s --help", commands[_i]);
    g_autofree char *usage = g_strdup_printf("ccsim %s", commands[_i]);
    g_auto(CcsProgramRun) one = ccs_program_run_line(NULL, by_help);
    g_auto(CcsProgramRun) other = ccs_program_run_line(NULL, by_option);

    assert_done(&one);
    assert_says(one.output, usage);
    assert_says(one.output, "--help");
    assert_done(&other);
    ck_assert_str_eq(one.output, other.output);
}
END_TEST

START_TEST(help_that_cannot_be_printed_is_an_error)
{
    g_auto(CcsProgramRun) run = ccs_program_run(&(CcsProgramCall){
        .args = (const char *const[]){"help", commands[_i], NULL}, .output_file = "/dev/full"});

    assert_status(&run, 4);
    assert_says(run.errors, "standard output: error: cannot be written: No space left on device");
}
END_TEST

START_TEST(no_command_is_wrong_usage_and_shows_the_commands)
{
    g_auto(CcsProgramRun) run =
        ccs_program_run(&(CcsProgramCall){.args = (const char *const[]){NULL}});

    assert_refused(&run, 2, "no command is given");
    assert_says(run.errors, "bench");
}
END_TEST

static const struct {
    const char *line;
    int status;
    const char *message;
} misspelled[] = {
    {"bnech", 2, "unknown command 'bnech' (did you mean 'bench'?)"},
    {"nonsense", 2, "unknown command 'nonsense'; see 'ccsim help'"},
    {"help bnech", 2, "unknown command 'bnech' (did you mean 'bench'?)"},
    {"help bench run", 2, "'run' is one argument too many"},
    {"bench allreduce -T nvlink8 --formt csv", 2, "--formt (did you mean '--format'?)"},
    {"bench allreduce -T nvlink8 --chanels=2", 2, "--chanels=2 (did you mean '--channels'?)"},
    {"bench allreduce -T nvlink8 -Z", 2, "-Z; see 'ccsim bench --help'"},
    {"bench allreduce -T nvlink8 --ranks", 2, "--ranks; see 'ccsim bench --help'"},
    {"bench allreduce -T nvlink8 --ranks two", 2, "two"},
    {"bench allredcue -T nvlink8", 2, "'allredcue' (did you mean 'allreduce'?)"},
    {"bench -T nvlink8", 2, "one collective must be named"},
    {"bench allreduce allgather -T nvlink8", 2, "one collective must be named"},
    {"bench allreduce", 2, "no topology: give one with -T FILE"},
    {"bench allreduce -T nvlnk8", 3, "did you mean 'nvlink8'?"},
    {"bench allreduce -T nvlink8 -A rign", 2, "'rign' (did you mean 'ring'?)"},
    {"bench allreduce -T nvlink8 -A pairwise", 2, "allreduce has no algorithm 'pairwise'; it has"},
    {"bench allreduce -T nvlink8 --format cvs", 2, "'cvs' (did you mean 'csv'?)"},
    {"bench allreduce -T nvlink8 --trace flow", 2, "'flow' (did you mean 'flows'?)"},
    {"bench allreduce -T nvlink8 --transport idael", 2, "'idael' (did you mean 'ideal'?)"},
    {"bench allreduce -T nvlink8 --model fliud", 2, "'fliud' (did you mean 'fluid'?)"},
    {"bench allreduce -T nvlink8 -d flaot", 2, "'flaot' (did you mean 'float'?)"},
    {"bench allreduce -T nvlink8 -o smu", 2, "'smu' (did you mean 'sum'?)"},
    {"bench allreduce -T nvlink8 --set node.gpsu=4", 3, "'gpsu' (did you mean 'gpus'?)"},
    {"bench allreduce -T nvlink8 --set node.gpus", 3, "there is no '=': write PATH=VALUE"},
    {"bench allreduce -T nvlink8 --set 'transport.lunch=1 us'", 3, "did you mean 'launch'?"},
    {"bench allreduce -T nvlink8 --set transport.synchronous=maybe", 3, "must be true or false"},
    {"run", 2, "one config must be named"},
    {"run textbook-8gpus", 3, "did you mean 'textbook-8gpu'?"},
    {"run textbook-8gpu --format cvs", 2, "'cvs' (did you mean 'csv'?)"},
    {"list algoritms", 2, "'algoritms' (did you mean 'algorithms'?)"},
    {"list --format nccl", 2, "'nccl'"},
    {"topo", 2, "say what to do with which topology"},
    {"topo shwo nvlink8", 2, "'shwo' (did you mean 'show'?)"},
    {"topo show nvlnk8", 3, "did you mean 'nvlink8'?"},
    {"runs now", 2, "'now' is one argument too many"},
    {"sql 'SELECT 1' 'SELECT 2'", 2, "'SELECT 2' is one argument too many"},
    {"schema", 2, "one of topology, config, transport or program must be named"},
    {"program", 2, "one program must be named"},
    {"program program-overlap", 2, "no topology: give one with -T FILE"},
    {"program program-overlpa -T flat8", 3, "did you mean 'program-overlap'?"},
    {"program program-overlap -T flat8 --format nccl", 2, "--format nccl shows collectives"},
    {"schema topologie", 2, "'topologie' (did you mean 'topology'?)"},
};

START_TEST(what_is_misspelled_or_missing_is_named_with_the_nearest_word)
{
    g_autoptr(CcsFolder) folder = ccs_folder_new();
    g_auto(CcsProgramRun) run = ccs_program_run_line(folder, misspelled[_i].line);

    assert_refused(&run, misspelled[_i].status, misspelled[_i].message);
    assert_none(folder, "ccsim.db");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("help");
    TCase *tcase = tcase_create("help");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, version_names_the_program_first);
    tcase_add_test(tcase, version_lists_the_libraries_in_use_and_what_is_built_in);
    tcase_add_loop_test(tcase, help_lists_all_commands_on_stdout, 0, G_N_ELEMENTS(calls_for_help));
    tcase_add_loop_test(tcase, each_command_explains_itself_in_the_same_words_on_both_ways, 0,
                        G_N_ELEMENTS(commands));
    tcase_add_loop_test(tcase, help_that_cannot_be_printed_is_an_error, 0, G_N_ELEMENTS(commands));
    tcase_add_test(tcase, no_command_is_wrong_usage_and_shows_the_commands);
    tcase_add_loop_test(tcase, what_is_misspelled_or_missing_is_named_with_the_nearest_word, 0,
                        G_N_ELEMENTS(misspelled));
    suite_add_tcase(suite, tcase);
    return suite;
}
