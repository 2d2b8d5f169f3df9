#include "commands/probe.h"

#include "sim/sim.h"
#include "topology/scale.h"

/* The machine, changed, and what runs on it. */
typedef struct {
    CcsMachine *machine;
    CcsSchedule *schedule;     /* of the case; NULL before the first */
    CcsSimulation *simulation; /* likewise */
} Copy;

struct CcsProbe {
    Copy copies[CCS_PROBE_RUNS];
    uint64_t parts; /* no link changes by more than one part in so many */
};

/* A slow link changes by one unit of its rate, which is then more than the part asked for. */
static uint64_t parts_of(const CcsTopology *topology)
{
    CcsRate slowest = (CcsRate)CCS_SCALE_ONE;

    for (CcsLinkId id = 0; id < ccs_topology_n_links(topology); id++)
        slowest = MIN(slowest, ccs_topology_link(topology, id)->bandwidth);
    return slowest;
}

CcsProbe *ccs_probe_new(const CcsMachine *machine)
{
    CcsProbe *probe = g_new0(CcsProbe, 1);

    probe->parts = parts_of(machine->topology);
    probe->copies[0].machine = ccs_machine_scale(machine, 1);
    probe->copies[1].machine = ccs_machine_scale(machine, -1);
    return probe;
}

static void copy_end_case(Copy *copy)
{
    g_clear_pointer(&copy->simulation, ccs_simulation_free);
    g_clear_pointer(&copy->schedule, ccs_schedule_free);
}

void ccs_probe_free(CcsProbe *probe)
{
    if (probe == NULL)
        return;
    for (uint32_t i = 0; i < CCS_PROBE_RUNS; i++) {
        copy_end_case(&probe->copies[i]);
        ccs_machine_free(probe->copies[i].machine);
    }
    g_free(probe);
}

static bool copy_begin_case(Copy *copy, const CcsCase *of, const CcsObserver *observer,
                            GError **error)
{
    copy_end_case(copy);
    copy->schedule = ccs_case_schedule(of, copy->machine, error);
    if (copy->schedule == NULL)
        return false;
    copy->simulation = ccs_simulation_new(copy->schedule, &copy->machine->transport,
                                          copy->machine->model, observer, error);
    return copy->simulation != NULL;
}

bool ccs_probe_set_case(CcsProbe *probe, const CcsCase *of, const CcsObserver *observer,
                        GError **error)
{
    for (uint32_t i = 0; i < CCS_PROBE_RUNS; i++) {
        if (!copy_begin_case(&probe->copies[i], of, observer, error))
            return false;
    }
    return true;
}

bool ccs_probe_run(CcsProbe *probe, CcsBytes size, CcsTime time, uint32_t *ret_digits,
                   GError **error)
{
    CcsTime spread = 0;

    for (uint32_t i = 0; i < CCS_PROBE_RUNS; i++) {
        CcsOutcome outcome;
        if (!ccs_simulation_run(probe->copies[i].simulation, size, &outcome, error))
            return false;
        spread = MAX(spread, ABS(outcome.time - time));
    }
    *ret_digits = ccs_probe_digits(time, spread, probe->parts);
    return true;
}

uint32_t ccs_probe_digits(CcsTime time, CcsTime spread, uint64_t parts)
{
    bool is_explained = (uint64_t)spread <= (uint64_t)time / parts + 1;
    CcsTime left = time / (is_explained ? 1 : spread);
    uint32_t digits = is_explained ? 1 : 0;

    for (; left >= 10 && digits < CCS_PROBE_MAX_DIGITS; left /= 10)
        digits++;
    return digits;
}
