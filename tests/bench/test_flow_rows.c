/* How many rows of flows the database takes per second of CPU time. */
#include <stdio.h>
#include <time.h>

#include "tests/support/check_main.h"
#include "tests/support/folder.h"
#include "trace/trace.h"

#define N_ROWS              2000000
#define LEAST_ROWS_A_SECOND 500000.0

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* As of a ring on 256 ranks with chunks of 4 MiB: the times grow, and differ in all digits. */
static CcsFlow flow_of(uint32_t i)
{
    CcsTime started = (CcsTime)(i / 256) * 13981014;

    return (CcsFlow){.lane = i % 256,
                     .n_alike = 1,
                     .message = i / 256,
                     .phase = i / 256 % 2,
                     .src = i % 256,
                     .dst = (i + 1) % 256,
                     .bytes = 4194304,
                     .is_reduced = i % 2 == 0,
                     .started = started,
                     .entered = started,
                     .injected = started + 13981014,
                     .arrived = started + 14981014};
}

static bool write_run(const char *path, GError **error)
{
    g_autoptr(CcsTopology) topology = ccs_topology_new("bench", "");
    CcsResult result = {.collective = "allreduce",
                        .algorithm = "ring",
                        .protocol = "none",
                        .transport = "ideal",
                        .model = "fluid",
                        .dtype = "float",
                        .op = "sum",
                        .root = -1,
                        .bound_name = "rank",
                        .bottleneck = CCS_NO_LINK,
                        .n_flows = N_ROWS};
    CcsResultRows rows = {.result = &result, .topology = topology};
    int64_t id = 0;

    ccs_topology_seal(topology);
    g_autoptr(CcsTrace) trace = ccs_trace_open(path, CCS_TRACE_FLOWS, error);
    if (trace == NULL || !ccs_trace_begin_run(trace, "bench", NULL, &id, error) ||
        !ccs_trace_add_topology(trace, topology, &id, error) ||
        !ccs_trace_begin_result(trace, &result, id, error))
        return false;
    for (uint32_t i = 0; i < N_ROWS; i++) {
        CcsFlow flow = flow_of(i);
        if (!ccs_trace_add_flow(trace, &flow, error))
            return false;
    }
    return ccs_trace_end_result(trace, &rows, error) && ccs_trace_end_run(trace, error);
}

START_TEST(the_database_takes_half_a_million_flows_per_second_of_cpu_time)
{
    g_autoptr(CcsFolder) folder = ccs_folder_new();
    g_autofree char *path = g_build_filename(folder, "flows.db", NULL);
    g_autoptr(GError) error = NULL;
    double started = cpu_seconds();

    ck_assert_msg(write_run(path, &error), "%s", error == NULL ? "" : error->message);
    double rate = N_ROWS / (cpu_seconds() - started);

    printf("# %.0f rows per second of CPU time\n", rate);
    ck_assert_double_ge(rate, LEAST_ROWS_A_SECOND);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("flow_rows");
    TCase *tcase = tcase_create("flow_rows");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, the_database_takes_half_a_million_flows_per_second_of_cpu_time);
    suite_add_tcase(suite, tcase);
    return suite;
}
