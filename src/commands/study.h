/* study.h - simulates collectives on a machine, records them, and gathers the results */
#pragma once

#include <glib.h>

#include "collectives/algorithm.h"
#include "commands/machine.h"
#include "commands/run_config.h"
#include "formats/msccl.h"
#include "report/bar.h"
#include "sim/result.h"
#include "sim/sim.h"
#include "trace/trace.h"

/* One algorithm with one setting, to be run for some sizes. */
typedef struct {
    const CcsAlgorithm *algorithm;
    const CcsDataType *type;
    const char *op;
    CcsRank root;
    uint32_t n_channels;       /* 0: as the transport chooses */
    uint32_t n_chunks;         /* pipeline depth; 0: CCS_DEFAULT_CHUNKS */
    uint32_t distance;         /* of sendrecv; 0: 1 */
    const CcsWeights *weights; /* of alltoallv; not owned; NULL: all blocks are equal */
    const CcsMsccl *file;      /* that it is executed from; not owned; NULL: from none */
    const CcsCaseSpec *spec;   /* in a config, with title and estimates; NULL: in none */
    bool is_optional;          /* left out with a note on stderr where the algorithm refuses */
} CcsCase;

#define CCS_DEFAULT_CHUNKS 64U
#define CCS_MAX_CHANNELS   1024U
#define CCS_MAX_CHUNKS     1048576U

/* ccs_case_schedule:
 * Returns: (transfer full): the schedule of @of on @machine, which must outlive it; NULL with
 * CCS_ERROR_INPUT where the algorithm cannot serve this job. */
CcsSchedule *ccs_case_schedule(const CcsCase *of, const CcsMachine *machine, GError **error);

/* Up to this many ranks, each schedule is verified before it is timed. */
#define CCS_VERIFIED_RANKS 128U

/* What went over the links of one class. */
typedef struct {
    uint32_t n_links;   /* that carried something */
    CcsBytes bytes_max; /* over the busiest of them */
    CcsLinkId busiest;  /* by utilisation; CCS_NO_LINK if all are unlimited */
    double utilisation; /* of the busiest */
    double mean;        /* utilisation of all of them */
} CcsClassUse;

typedef struct {
    CcsCase asked;
    const CcsTopology *topology;
    const CcsCommunicator *communicator;
    CcsResult result;
    int64_t run_id;       /* in the database; 0 if there is none */
    CcsClassUse *classes; /* by link class of the topology; owned */
} CcsStudyResult;

/* ccs_default_channels: NICs per node on a cluster, so that each has a channel; 1 inside one node,
 * and where there are no data to cut. */
uint32_t ccs_default_channels(const CcsCommunicator *communicator, CcsCollective collective);

typedef struct CcsStudy CcsStudy;

/* ccs_study_new:
 * Keeps @machine and @trace, in which a run must be open; writes the machine's topology and
 * parameters to it. */
CcsStudy *ccs_study_new(const CcsMachine *machine, CcsTrace *trace, CcsTraceLevel level,
                        GError **error);
void ccs_study_free(CcsStudy *study);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsStudy, ccs_study_free)

/* ccs_study_probe: from now on ccs_study_run() finds out, too, how many digits of each time mean
 * anything: see commands/probe.h. */
void ccs_study_probe(CcsStudy *study);

/* ccs_study_show: how far the study is goes to @bar, which is not owned: a part for each call of
 * ccs_study_run() or ccs_study_play(). */
void ccs_study_show(CcsStudy *study, CcsBar *bar);

/* ccs_study_run: simulates @study_case for each size, in order; a collective without data once,
 * for size 0. */
bool ccs_study_run(CcsStudy *study, const CcsCase *study_case, const CcsBytes *sizes,
                   uint32_t n_sizes, GError **error);

/* ccs_study_play: the same for a @schedule that is there already and is right; of @of only what
 * results tell is used. @observer, which may be NULL, is told what happens too. */
bool ccs_study_play(CcsStudy *study, const CcsCase *of, const CcsSchedule *schedule,
                    const CcsObserver *observer, const CcsBytes *sizes, uint32_t n_sizes,
                    GError **error);

/* All results so far. Strings in them are owned by the machine, or static. */
const CcsStudyResult *ccs_study_results(const CcsStudy *study, uint32_t *ret_n);
