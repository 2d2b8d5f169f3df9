/* machines.h - small machines, uneven in all the ways that engines could get wrong */
#pragma once

#define NODE                                                                                       \
    "node: {gpus: 4, nvlink: {bandwidth: 300 GB/s, latency: 0.7 us}, pcie: {bandwidth: 64 GB/s,"   \
    " latency: 0.1 us}, nics: {count: 4, bandwidth: 50 GB/s, latency: 1 us}}\n"

static const char *const machines[] = {
    "nodes: 1\n" NODE,
    "nodes: 4\n" NODE "fabric: {kind: leaf-spine, spines: 4, ports_per_leaf: 4, latency: 0.3 us}\n",
    "nodes: 8\n" NODE "fabric: {kind: leaf-spine, spines: 2, ports_per_leaf: 2, latency: 0.3 us,"
    " oversubscription: 4}\n",
    "nodes: 4\n" NODE "fabric: {kind: leaf-spine, spines: 3, rail_optimized: false,"
    " ports_per_leaf: 3, latency: 0.3 us}\n",
    /* one slow NIC, one slow NVLink, unequal nodes */
    "nodes: [{}, {nics: {bandwidth: 24.999999 GB/s}}, {}, {}]\n" NODE "fabric: {kind: switch}\n",
    "nodes: [{}, {}, {nvlink: {bandwidth: 77 GB/s}}]\n" NODE "fabric: {kind: switch}\n",
    "nodes: [{gpus: 4}, {gpus: 2, nics: {count: 2}}, {gpus: 3, nics: {count: 3}}]\n" NODE
    "fabric: {kind: leaf-spine, spines: 2, latency: 0.3 us}\n",
    "nodes: 4\n" NODE "fabric: {kind: leaf-spine, spines: 4, ports_per_leaf: 4, latency: 0.3 us}\n"
    "faults:\n  - {kind: link, from: n1.nic1, to: leaf1, bandwidth_factor: 0.5}\n"
    "  - {kind: link, from: n0.gpu2, to: n0.nvswitch, bandwidth_factor: 0.1, latency_factor: 3}\n",
    "nodes: 4\n" NODE "fabric: {kind: leaf-spine, spines: 4, ports_per_leaf: 4, latency: 0.3 us}\n"
    "faults:\n  - {kind: late-gpu, gpu: n2.gpu1, delay: 40 us}\n",
    "nodes: 8\n" NODE "fabric: {kind: leaf-spine, spines: 3, rail_optimized: false,"
    " ports_per_leaf: 4, latency: 0.3 us, routing: ecmp, seed: 7}\n",
    /* one NIC a node; a mesh; no NVLink */
    "nodes: 5\nnode: {gpus: 3, nvlink: {bandwidth: 300 GB/s}, nics: {count: 1, bandwidth: 50 GB/s,"
    " latency: 1 us}}\nfabric: {kind: switch}\n",
    "node: {gpus: 6, nvlink: {kind: mesh, bandwidth: 48 GB/s, latency: 1 us}}\n",
    "nodes: 7\nnode: {gpus: 1, nics: {count: 1, bandwidth: 25 GB/s, latency: 2 us}}\n"
    "fabric: {kind: switch}\n",
};
