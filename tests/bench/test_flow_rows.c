/* How many flows the database takes per second of CPU time, as rows and packed; and how few bytes
 * and how little time packed ones take, in a trace with times that differ in all digits. */
#include <stdio.h>
#include <time.h>

#include "tests/support/check_main.h"
#include "tests/support/folder.h"
#include "trace/database.h"
#include "trace/trace.h"

#define N_ROWS                  2000000
#define N_PACKED                10000000
#define LEAST_ROWS_A_SECOND     500000.0
#define LEAST_PACKED_A_SECOND   1000000.0
#define MOST_BYTES_OF_A_FLOW    10.0
#define MOST_SECONDS_FOR_WINDOW 0.2
#define N_LANES                 2048
#define DURATION                13981014 /* of a message, ps */

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* As of a ring with chunks of 4 MiB, of 8 channels on 256 ranks each of which began when it liked.
 * The noise is that of a generator of random numbers. */
static CcsFlow flow_of(uint32_t i, uint32_t *noise)
{
    uint32_t lane = i * 797U % N_LANES; /* each of them once a round, out of order */

    *noise = *noise * 1664525U + 1013904223U;
    CcsTime round = (CcsTime)(i / N_LANES) * DURATION;
    CcsTime started = round + (CcsTime)(i % N_LANES) * (DURATION / N_LANES) + (*noise >> 20);

    return (CcsFlow){.lane = lane,
                     .n_alike = 1,
                     .message = i / N_LANES,
                     .channel = lane % 8,
                     .phase = i / N_LANES % 2,
                     .src = lane / 8,
                     .dst = (lane / 8 + 1) % (N_LANES / 8),
                     .bytes = 4194304,
                     .is_reduced = i % 2 == 0,
                     .started = started,
                     .entered = started,
                     .injected = started + DURATION - (*noise >> 22),
                     .arrived = started + DURATION - (*noise >> 22) + 1000000};
}

static bool write_flows(CcsTrace *trace, uint32_t n_flows, GError **error)
{
    uint32_t noise = 1;

    for (uint32_t i = 0; i < n_flows; i++) {
        CcsFlow flow = flow_of(i, &noise);
        if (!ccs_trace_add_flow(trace, &flow, error))
            return false;
    }
    return true;
}

static bool write_run(const char *path, CcsPacking packing, uint32_t n_flows, GError **error)
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
                        .n_flows = n_flows};
    CcsResultRows rows = {.result = &result, .topology = topology};
    int64_t id = 0;

    ccs_topology_seal(topology);
    g_autoptr(CcsTrace) trace = ccs_trace_open(path, CCS_TRACE_FLOWS, error);
    if (trace == NULL)
        return false;
    ccs_trace_set_packing(trace, packing);
    return ccs_trace_begin_run(trace, "bench", NULL, &id, error) &&
           ccs_trace_add_topology(trace, topology, &id, error) &&
           ccs_trace_begin_result(trace, &result, id, error) &&
           write_flows(trace, n_flows, error) && ccs_trace_end_result(trace, &rows, error) &&
           ccs_trace_end_run(trace, error);
}

/* Returns: flows per second of CPU time. */
static double rate_of(const char *path, CcsPacking packing, uint32_t n_flows)
{
    g_autoptr(GError) error = NULL;
    double started = cpu_seconds();

    ck_assert_msg(write_run(path, packing, n_flows, &error), "%s",
                  error == NULL ? "" : error->message);
    return n_flows / (cpu_seconds() - started);
}

START_TEST(the_database_takes_half_a_million_rows_per_second_of_cpu_time)
{
    g_autoptr(CcsFolder) folder = ccs_folder_new();
    g_autofree char *path = g_build_filename(folder, "flows.db", NULL);
    double rate = rate_of(path, CCS_PACK_NEVER, N_ROWS);

    printf("# %.0f rows per second of CPU time\n", rate);
    ck_assert_double_ge(rate, LEAST_ROWS_A_SECOND);
}
END_TEST

/* The messages under way in 100 us, with the names of their ranks' GPUs. */
static const char window[] =
    "SELECT count(*) FROM (SELECT * FROM flow WHERE result_id = 1 AND started_us < 20100"
    " AND arrived_us > 20000)";

static double read_window(CcsDatabase *database, int64_t *ret_n_flows)
{
    double started = cpu_seconds();

    ck_assert(ccs_database_read_integer(database, window, NULL, 0, ret_n_flows, NULL));
    return cpu_seconds() - started;
}

START_TEST(packed_flows_take_little_time_and_few_bytes)
{
    g_autoptr(CcsFolder) folder = ccs_folder_new();
    g_autofree char *path = g_build_filename(folder, "flows.db", NULL);
    double rate = rate_of(path, CCS_PACK_AUTO, N_PACKED);
    g_autoptr(CcsDatabase) database = ccs_database_open(path, CCS_DATABASE_READ, NULL);
    int64_t n_bytes = 0;
    int64_t n_flows = 0;

    ck_assert(ccs_database_read_integer(
        database, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", NULL, 0,
        &n_bytes, NULL));
    double seconds = read_window(database, &n_flows);
    double bytes = (double)n_bytes / N_PACKED;
    printf("# %.0f packed flows per second of CPU time, %.2f bytes each; %" G_GINT64_FORMAT
           " of 100 us read in %.3f s\n",
           rate, bytes, n_flows, seconds);
    ck_assert_double_ge(rate, LEAST_PACKED_A_SECOND);
    ck_assert_double_le(bytes, MOST_BYTES_OF_A_FLOW);
    ck_assert_int_gt(n_flows, N_LANES * 7);
    ck_assert_double_le(seconds, MOST_SECONDS_FOR_WINDOW);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("flow_rows");
    TCase *tcase = tcase_create("flow_rows");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, the_database_takes_half_a_million_rows_per_second_of_cpu_time);
    tcase_add_test(tcase, packed_flows_take_little_time_and_few_bytes);
    suite_add_tcase(suite, tcase);
    return suite;
}
