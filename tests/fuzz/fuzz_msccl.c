#include "formats/msccl.h"

#include <string.h>

#include <glib.h>

#include "base/error.h"
#include "collectives/verify.h"
#include "tests/fuzz/fuzz.h"
#include "topology/topology_yaml.h"

#define MOST_RANKS 6U
#define MOST_LANES 400U

/* A switch with so many GPUs. */
static CcsTopology *make_topology(uint32_t n_ranks)
{
    g_autofree char *text =
        g_strdup_printf("nodes: 1\nnode: {gpus: %u, nvlink: {bandwidth: 1 GB/s}}\n", n_ranks);

    return ccs_topology_read("fuzz.yaml", text, strlen(text), NULL, NULL, NULL);
}

static void assert_error(const GError *error, int code)
{
    g_assert_error(error, CCS_ERROR, code);
    g_assert_true(g_utf8_validate(error->message, -1, NULL));
}

/* What has been read does not come to a standstill, whatever it does to the data. */
static void play(const CcsMsccl *msccl, bool is_by_letter)
{
    g_autoptr(CcsTopology) topology = make_topology(msccl->n_ranks);
    g_autoptr(CcsCommunicator) communicator = ccs_communicator_new(topology, 0, 0, NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsSchedule) schedule =
        ccs_msccl_schedule(msccl, communicator,
                           &(CcsMscclUse){.root = msccl->root,
                                          .n_loops = 1,
                                          .is_in_place = msccl->is_in_place,
                                          .is_by_letter = is_by_letter},
                           &error);

    if (schedule == NULL) {
        assert_error(error, CCS_ERROR_INPUT);
        return;
    }
    if (ccs_schedule_n_lanes(schedule) > MOST_LANES || msccl->collective == CCS_PROGRAM)
        return;
    if (!ccs_verify(schedule, &error)) {
        assert_error(error, CCS_ERROR_CHECK);
        g_assert_null(strstr(error->message, "deadlock"));
    }
}

/* Whatever the text, there is a program or an error; a program can be written and read again. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(CcsMsccl) msccl = ccs_msccl_read("fuzz.xml", (const char *)data, size, &error);

    if (msccl == NULL) {
        assert_error(error, CCS_ERROR_INPUT);
        return 0;
    }
    g_assert_no_error(error);
    g_autofree char *text = ccs_msccl_text(msccl);
    g_autoptr(CcsMsccl) again = ccs_msccl_read("fuzz.xml", text, strlen(text), &error);
    g_assert_no_error(error);
    g_autofree char *text_again = ccs_msccl_text(again);
    g_assert_cmpstr(text, ==, text_again);
    if (msccl->n_ranks <= MOST_RANKS && msccl->n_chunks <= 64) {
        play(msccl, false);
        play(msccl, true);
    }
    return 0;
}
