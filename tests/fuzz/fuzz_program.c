#include "workloads/program.h"

#include <glib.h>

#include "base/error.h"
#include "collectives/progress.h"
#include "tests/fuzz/fuzz.h"
#include "topology/topology_yaml.h"

#define MACHINE                                                                                    \
    "nodes: 4\nnode: {gpus: 1, nics: {count: 1, bandwidth: 1 GB/s}}\nfabric: {kind: switch}\n"

static const CcsCommunicator *communicator(void)
{
    static const CcsCommunicator *made;

    if (made == NULL) {
        CcsTopology *topology =
            ccs_topology_read("machine.yaml", MACHINE, sizeof MACHINE - 1, NULL, NULL, NULL);
        made = ccs_communicator_new(topology, 0, 0, NULL);
    }
    return made;
}

static void check_error(const GError *error, int code)
{
    g_assert(error != NULL && error->code == code && g_utf8_validate(error->message, -1, NULL));
}

/* A schedule that was made has no circle: its lanes can be played in the order of their making. */
static void play(const CcsSchedule *schedule)
{
    g_autoptr(CcsProgress) progress = ccs_progress_new(schedule);

    for (CcsLaneId lane = 0; lane < ccs_schedule_n_lanes(schedule); lane++) {
        g_assert(ccs_progress_may_start(progress, lane));
        uint32_t message = ccs_progress_start(progress, lane);
        ccs_progress_sent(progress, lane);
        ccs_progress_arrived(progress, lane, message);
    }
    g_assert(ccs_progress_is_done(progress));
}

/* Whatever the text, there is a program or an error with a message in valid UTF-8; the program has
 * a deadlock or can be played to its end. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsProgram) program =
        ccs_program_read("fuzz.yaml", (const char *)data, n_bytes, communicator(), &error);

    if (program == NULL) {
        check_error(error, CCS_ERROR_INPUT);
        return 0;
    }
    g_autoptr(CcsSchedule) schedule = ccs_program_schedule(program, &error);
    if (schedule == NULL)
        check_error(error, CCS_ERROR_CHECK);
    else
        play(schedule);
    return 0;
}
