#!/usr/bin/env python3
"""Run the same collectives on SimGrid and on ccsim, and compare times and costs.

One GiB on islands of 8 GPUs: NVLink 300 GB/s and 1 us, one NIC of 50 GB/s and 2.5 us for each
GPU, a fabric that never limits. SimGrid uses its model CM02 without cross-traffic, and its
senders wait until a message has arrived, which ccsim's do with transport.synchronous.

Both are whole programs, run once each: CPU seconds include reading the machine. The exit status
is 1 if simulated times differ from each other, or from the closed form, by more than 0.1 %."""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from measure import default_program, markdown_head, markdown_row, run

SIZE = 2**30
GPUS = 8  # of a node
NVLINK, NVLINK_US = 300, 1.0  # GB/s in each direction of a GPU
NIC, NIC_US = 50, 2.5
TOLERANCE = 1e-3
MODEL = ["--cfg=network/model:CM02", "--cfg=network/crosstraffic:0", "--cfg=surf/precision:1e-9",
         "--cfg=contexts/stack-size:256", "--log=root.thresh:error"]


def step_us(n_bytes, rate, latency):
    return n_bytes / rate / 1e3 + latency


def ring_us(n):
    return 2 * (n - 1) * step_us(SIZE / n, NIC, NIC_US)


def hierarchical_us(n):
    return (2 * (GPUS - 1) * step_us(SIZE / GPUS, NVLINK, NVLINK_US) +
            2 * (n // GPUS - 1) * step_us(SIZE / n, NIC, NIC_US))


def direct_us(n):
    return step_us((n - GPUS) * SIZE / n, NIC, NIC_US)


def pairwise_us(n):
    return (n - 1) * step_us(SIZE / n, NIC, NIC_US)


def pairwise_xor_us(n):
    return ((n - GPUS) * step_us(SIZE / n, NIC, NIC_US) +
            (GPUS - 1) * step_us(SIZE / n, NVLINK, NVLINK_US))


# SimGrid's name, what it is, what ccsim is asked, the closed form. In ccsim's own pairwise
# all-to-all a message need not be expected by its receiver; a program of sends and receives says
# that it must.
WORKLOADS = {
    "ring": ("allreduce, ring", "allreduce -A ring", ring_us),
    "hierarchical": ("allreduce, hierarchical", "allreduce -A hierarchical", hierarchical_us),
    "direct": ("all-to-all, all at once", "alltoall -A direct", direct_us),
    "pairwise-xor": ("all-to-all, pairwise by XOR", "alltoall -A pairwise", pairwise_xor_us),
    "pairwise": ("all-to-all, pairwise by shift, with receives", None, pairwise_us),
}


def topology_text(n_nodes):
    """GPU i has its NIC as a port of its own, which no other GPU hands messages to."""
    ports = [(f"n{i // GPUS}.gpu{i % GPUS}", f"port{i}") for i in range(n_nodes * GPUS)]
    lines = [f"name: islands\nnodes: {n_nodes}",
             f"node: {{gpus: {GPUS}, nvlink: {{bandwidth: {NVLINK} GB/s, "
             f"latency: {NVLINK_US} us}}}}",
             "vertices:\n  - {name: fabric, kind: switch}"]
    lines += [f"  - {{name: {port}, kind: switch}}" for _, port in ports]
    lines.append("links:")
    for gpu, port in ports:
        lines.append(f"  - {{from: {gpu}, to: {port}, bandwidth: {NIC} GB/s, "
                     f"latency: {NIC_US / 2} us, class: nic, both_ways: true}}")
        lines.append(f"  - {{from: {port}, to: fabric, bandwidth: 50 TB/s, class: fabric, "
                     f"both_ways: true}}")
    return "\n".join(lines) + "\n"


def program_text(n):
    """The pairwise all-to-all by shift, as calls of every rank."""
    calls = [f"      - irecv: {{from: rank - {k} mod n, request: incoming}}\n"
             f"      - send: {{to: rank + {k} mod n, size: {SIZE // n} B}}\n"
             f"      - wait: incoming\n" for k in range(1, n)]
    return ("title: pairwise all-to-all\neager_threshold: 0 B\nprogram:\n  - ranks: all\n"
            "    calls:\n" + "".join(calls))


def ask_ccsim(asked, folder, workload, n):
    topology = Path(folder) / f"islands{n}.yaml"
    topology.write_text(topology_text(n // GPUS))
    question = WORKLOADS[workload][1]
    if question is None:
        program = Path(folder) / f"pairwise{n}.yaml"
        program.write_text(program_text(n))
        command = [asked.ccsim, "program", program]
    else:
        command = [asked.ccsim, "bench", *question.split(), "--channels", 1, "-b", SIZE, "-e", SIZE]
    command += ["-T", topology, "--set", "transport.synchronous=true", "--no-db", "--format",
                "json", "--engine", asked.engine]
    cost = run(command, asked.limit, asked.memory)
    cost.time_us = json.loads(cost.output)["results"][0]["time_us"] if cost.is_ok else None
    return cost


def ask_simgrid(asked, workload, n):
    machine = [n // GPUS, GPUS, SIZE, NVLINK, NVLINK_US, NIC, NIC_US]
    cost = run([asked.simgrid, workload, *machine, *MODEL], asked.limit, asked.memory)
    cost.time_us = float(cost.output) if cost.is_ok else None
    return cost


def percent(time, reference):
    return f"{100 * (time / reference - 1):+.4f}" if time is not None and reference else "-"


def row_of(workload, n, theirs, ours):
    title, _, formula = WORKLOADS[workload]
    cells = [title, n]
    for cost in (theirs, ours):
        cells.append(f"{cost.time_us:.3f}" if cost.is_ok else cost.failure)
    cells += [percent(ours.time_us, theirs.time_us), percent(ours.time_us, formula(n))]
    for cost in (theirs, ours):
        more_than = "> " if cost.is_over_time else ""
        cells += [f"{more_than}{cost.cpu_s:.3f}", cost.memory()]
    ratio = theirs.cpu_s / max(ours.cpu_s, 0.001)
    may_be_more = "> " if theirs.is_over_time else ""
    is_known = ours.is_ok and (theirs.is_ok or theirs.is_over_time)
    return cells + [f"{may_be_more}{ratio:.1f}" if is_known else "-"]


def agree(workload, n, theirs, ours):
    """False also if one of them failed for another reason than its limit."""
    for cost in (theirs, ours):
        if not cost.is_ok and not cost.is_over_time:
            return False
    times = [cost.time_us for cost in (theirs, ours) if cost.is_ok]
    reference = WORKLOADS[workload][2](n)
    return all(abs(time / reference - 1) <= TOLERANCE for time in times)


def ranks_list(text):
    ranks = [int(word) for word in text.split(",")]
    if any(n < 2 * GPUS or n & (n - 1) for n in ranks):
        raise argparse.ArgumentTypeError(f"powers of two from {2 * GPUS} on")
    return ranks


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ranks", nargs="?", type=ranks_list, default=[64], metavar="N[,N...]",
                        help="numbers of GPUs (64)")
    parser.add_argument("--ccsim", default=default_program(), help="the program")
    parser.add_argument("--simgrid", default=None, metavar="PROGRAM",
                        help="simgrid_peer (that of ccsim's build folder)")
    parser.add_argument("--engine", default="auto", metavar="TIER", help="of ccsim (%(default)s)")
    parser.add_argument("--only", default="", metavar="TEXT", help="workloads whose names have it")
    parser.add_argument("--limit", type=int, default=60, metavar="SECONDS",
                        help="CPU time that each program may take (%(default)s)")
    parser.add_argument("--memory", type=float, default=8, metavar="GB",
                        help="memory that each may take (%(default)s)")
    asked = parser.parse_args()
    if asked.simgrid is None:
        asked.simgrid = str(Path(asked.ccsim).resolve().parent.parent / "tests" / "bench" /
                            "simgrid_peer")
    return asked


def main():
    asked = parse_arguments()
    is_fine = True

    print(markdown_head(["workload", "GPUs:", "SimGrid us:", "ccsim us:", "differs %:",
                         "from formula %:", "SimGrid CPU s:", "MB:", "ccsim CPU s:", "MB:",
                         "ratio:"]), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for n in asked.ranks:
            for workload in WORKLOADS:
                if asked.only not in workload:
                    continue
                theirs = ask_simgrid(asked, workload, n)
                ours = ask_ccsim(asked, folder, workload, n)
                is_fine = agree(workload, n, theirs, ours) and is_fine
                print(markdown_row(row_of(workload, n, theirs, ours)), flush=True)
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
