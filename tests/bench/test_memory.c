/* How much memory large simulations take. */
#include <stdio.h>
#include <sys/resource.h>

#include "tests/support/check_main.h"
#include "tests/support/folder.h"
#include "tests/support/program.h"

#define MOST_MIB 256

/* astra-sim issue 285: memory grew without bound on 256 ranks. 16.8 million messages go between
 * 16.8 million pairs here. */
START_TEST(an_alltoall_over_4096_ranks_takes_less_than_256_mib)
{
    static const char *const args[] = {"bench", "alltoall", "-T", "m.yaml", "-A",      "pairwise",
                                       "-b",    "1G",       "-e", "1G",     "--no-db", NULL};
    g_autoptr(CcsFolder) folder = ccs_folder_new();
    struct rusage usage;
    g_free(ccs_folder_write(folder, "m.yaml",
                            "node: {gpus: 4096, nvlink: {bandwidth: 300 GB/s, latency: 1 us}}\n"));

    g_auto(CcsProgramRun) run =
        ccs_program_run(&(CcsProgramCall){.args = args, .folder = folder, .seconds = 550});
    ck_assert_msg(run.status == 0, "%s", run.errors);
    getrusage(RUSAGE_CHILDREN, &usage);
    printf("# %ld MiB\n", usage.ru_maxrss / 1024);
    ck_assert_int_lt(usage.ru_maxrss, MOST_MIB * 1024);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("memory");
    TCase *tcase = tcase_create("memory");

    tcase_set_timeout(tcase, 560);
    tcase_add_test(tcase, an_alltoall_over_4096_ranks_takes_less_than_256_mib);
    suite_add_tcase(suite, tcase);
    return suite;
}
