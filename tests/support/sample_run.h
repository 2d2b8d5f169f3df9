/* sample_run.h - a small topology and made-up results on it, to fill a database with */
#pragma once

#include <check.h>
#include <glib.h>

#include "topology/topology.h"
#include "trace/trace.h"

#define SAMPLE_RANKS 2
#define SAMPLE_LINKS 4

/* Two GPUs on one switch; 300 GB/s each way. */
static inline CcsTopology *sample_topology(void)
{
    CcsTopology *topology = ccs_topology_new("pair", "nodes: 1\n");
    CcsRate rate = 300000000000U * CCS_RATE_PER_BYTE;
    CcsVertexId hub = ccs_topology_add_vertex(topology, CCS_VERTEX_NVSWITCH, "n0.nvswitch", 0);

    for (uint32_t i = 0; i < SAMPLE_RANKS; i++) {
        g_autofree char *name = g_strdup_printf("n0.gpu%u", i);
        CcsVertexId gpu = ccs_topology_add_vertex(topology, CCS_VERTEX_GPU, name, 0);
        ccs_topology_add_link(topology, gpu, hub, 0, rate, "nvlink");
        ccs_topology_add_link(topology, hub, gpu, 1500, rate, "nvlink");
    }
    ccs_topology_seal(topology);
    return topology;
}

static inline CcsResult sample_result(const char *algorithm, CcsBytes size, CcsTime time)
{
    return (CcsResult){.collective = "allreduce",
                       .algorithm = algorithm,
                       .protocol = "none",
                       .transport = "ideal",
                       .model = "fluid",
                       .topology = "pair",
                       .n_nodes = 1,
                       .n_ranks = SAMPLE_RANKS,
                       .n_channels = 1,
                       .size = size,
                       .count = size / 4,
                       .dtype = "float",
                       .op = "sum",
                       .root = -1,
                       .time = time,
                       .algbw_GBps = 150,
                       .busbw_GBps = 300,
                       .bound = time / 2,
                       .bound_name = "rank",
                       .efficiency = 0.5,
                       .bottleneck = 2,
                       .bottleneck_utilisation = 0.75,
                       .bytes_sent_max = size,
                       .n_flows = 4,
                       .engine = "incremental",
                       .engine_reason = "because"};
}

static inline CcsFlow sample_flow(uint32_t i)
{
    CcsTime started = (CcsTime)i * 1000000;

    return (CcsFlow){.lane = i % 2,
                     .n_alike = 1,
                     .message = i / 2,
                     .phase = i % 2,
                     .src = i % 2,
                     .dst = (i + 1) % 2,
                     .bytes = 500 + i,
                     .is_reduced = i % 2 == 0,
                     .started = started,
                     .entered = started + 1,
                     .injected = started + 2,
                     .arrived = started + 1500000};
}

/* Writes @result with rows of all kinds and @n_flows flows. */
static inline bool sample_add_result(CcsTrace *trace, const CcsTopology *topology,
                                     const CcsResult *result, uint32_t n_flows, GError **error)
{
    static const CcsRankTotal ranks[SAMPLE_RANKS] = {{.bytes_sent = 500}, {.bytes_sent = 501}};
    static const CcsVertexId gpus[SAMPLE_RANKS] = {1, 2};
    static const CcsLinkTotal links[SAMPLE_LINKS] = {
        [2] = {.bytes = 600000000, .messages = 2, .busy = 2000000, .peak = 65536000000000},
        [3] = {.bytes = 300000000, .messages = 1, .busy = 1000000, .peak = 65536000000000}};
    static const CcsTime critical_path[CCS_N_CAUSES] = {
        [CCS_CAUSE_LAUNCH] = 1000, [CCS_CAUSE_BANDWIDTH] = 3000, [CCS_CAUSE_LATENCY] = 0};
    static const CcsStepTotal steps[] = {{.phase = 0, .step = 0, .messages = 2, .bytes = 1001},
                                         {.phase = 1, .step = 0, .messages = 2, .bytes = 1005}};
    static const char *const phases[] = {"reduce-scatter", "allgather"};
    CcsResultRows rows = {.result = result,
                          .topology = topology,
                          .ranks = ranks,
                          .rank_vertices = gpus,
                          .links = links,
                          .critical_path = critical_path,
                          .steps = steps,
                          .n_steps = G_N_ELEMENTS(steps),
                          .phases = phases,
                          .n_phases = G_N_ELEMENTS(phases)};
    int64_t topology_id = 0;

    if (!ccs_trace_add_topology(trace, topology, &topology_id, error) ||
        !ccs_trace_begin_result(trace, result, topology_id, error))
        return false;
    for (uint32_t i = 0; i < n_flows; i++) {
        CcsFlow flow = sample_flow(i);
        if (!ccs_trace_add_flow(trace, &flow, error))
            return false;
    }
    return ccs_trace_end_result(trace, &rows, error);
}

/* One run with one result in the database @path. */
static inline bool sample_write_run_packing(const char *path, CcsTraceLevel level, uint32_t n_flows,
                                            CcsPacking packing, GError **error)
{
    g_autoptr(CcsTopology) topology = sample_topology();
    g_autoptr(CcsTrace) trace = ccs_trace_open(path, level, error);
    CcsResult result = sample_result("ring", 1000, 4000000);
    int64_t run_id = 0;

    if (trace == NULL)
        return false;
    ccs_trace_set_packing(trace, packing);
    return ccs_trace_begin_run(trace, "ccsim bench", NULL, &run_id, error) &&
           sample_add_result(trace, topology, &result, n_flows, error) &&
           ccs_trace_end_run(trace, error);
}

static inline bool sample_write_run(const char *path, CcsTraceLevel level, uint32_t n_flows,
                                    GError **error)
{
    return sample_write_run_packing(path, level, n_flows, CCS_PACK_AUTO, error);
}
