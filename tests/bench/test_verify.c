/* How much CPU time it takes to verify the whole catalogue. */
#include <stdio.h>
#include <sys/resource.h>

#include "tests/cli/cli.h"
#include "tests/support/check_main.h"

#define MOST_SECONDS 10.0

static double seconds_of(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec * 1e-6;
}

START_TEST(all_algorithms_up_to_64_ranks_take_less_than_ten_seconds)
{
    struct rusage usage;
    g_auto(CcsProgramRun) run =
        ccs_program_run_line(NULL, "verify --ranks 1-17,24,31-33,64 --format csv");

    assert_done(&run);
    getrusage(RUSAGE_CHILDREN, &usage);
    double seconds = seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
    printf("# %.2f s of CPU time\n", seconds);
    fflush(stdout);
    ck_assert_double_lt(seconds, MOST_SECONDS);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("verify");
    TCase *tcase = tcase_create("verify");

    tcase_set_timeout(tcase, 100);
    tcase_add_test(tcase, all_algorithms_up_to_64_ranks_take_less_than_ten_seconds);
    suite_add_tcase(suite, tcase);
    return suite;
}
