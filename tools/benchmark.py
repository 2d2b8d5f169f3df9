#!/usr/bin/env python3
"""Time ccsim on large clusters, and say which goals it meets.

Each case runs once, on 1 GiB, without a database, under a limit of CPU time. Times are CPU
seconds of the whole program, reading the topology included. The exit status is 0 if every case
ran, or hit its limit: goals that are not met are shown, not punished."""

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

from measure import SOURCE_ROOT, default_program, markdown_head, markdown_row, plain, run

TOPOLOGY = SOURCE_ROOT / "topologies" / "islands8.yaml"
SLOW_NIC = "{kind: link, from: n0.nic0, to: leaf0, bandwidth_factor: 0.5}"
GPUS = 8  # of a node
LATEST_US = 100  # of random starts


def on(n_ranks, faults=None, sets=()):
    """The machine of a case. @faults: "slow-nic", "late-ranks" or None."""
    return {"n_ranks": n_ranks, "faults": faults, "sets": sets}


def ring_messages(n, channels):
    return channels * n * 2 * (n - 1)


def hierarchical_messages(n):
    return n * (2 * (GPUS - 1) + 2 * (n // GPUS - 1))


# Name, machine, what ccsim is asked, messages, goals: seconds, or ns a message, and MB (1e6 bytes).
CASES = [
    ("ring, 8 channels, 65,536 GPUs", on(65536),
     "allreduce -A ring --channels 8", ring_messages(65536, 8), {"s": 0.6, "MB": 150}),
    ("hierarchical, 65,536 GPUs", on(65536),
     "allreduce -A hierarchical --channels 1", hierarchical_messages(65536), {"s": 0.6, "MB": 150}),
    ("hierarchical, 65,536 GPUs, one NIC at half rate", on(65536, "slow-nic"),
     "allreduce -A hierarchical --channels 1", hierarchical_messages(65536), {"s": 1.0, "MB": 150}),
    ("pairwise all-to-all, 65,536 GPUs", on(65536),
     "alltoall -A pairwise --channels 1", 65536 * 65535, {"s": 0.2, "MB": 64}),
    ("ring, 1 channel, 65,536 GPUs, random start of every rank", on(65536, "late-ranks"),
     "allreduce -A ring --channels 1", ring_messages(65536, 1), {"s": 1.0}),
    ("ring, 8 channels, 1024 GPUs, one NIC at half rate", on(1024, "slow-nic"),
     "allreduce -A ring --channels 8", ring_messages(1024, 8), {"s": 4.0, "MB": 32}),
    ("pairwise all-to-all, 1024 GPUs, hashed routes", on(1024, sets=["fabric.routing=ecmp"]),
     "alltoall -A pairwise --channels 1", 1024 * 1023, {"s": 1.5}),
    ("tree, 64 chunks, 65,536 GPUs", on(65536),
     "allreduce -A tree --channels 1 --chunks 64", 65535 * 2 * 64, {"s": 3.0}),
    ("incremental engine, ring, 1 channel, 1024 GPUs", on(1024),
     "allreduce -A ring --channels 1 --engine incremental", ring_messages(1024, 1),
     {"ns": 130, "MB": 16}),
]


def late_ranks(n_ranks):
    random.seed(1)
    return [f"{{kind: late-gpu, gpu: n{i // GPUS}.gpu{i % GPUS}, "
            f"delay: {random.uniform(0.001, LATEST_US):.3f} us}}" for i in range(n_ranks)]


def write_topology(folder, machine):
    """A copy of the topology with the faults of @machine. Returns its path."""
    if machine["faults"] is None:
        return TOPOLOGY
    faults = [SLOW_NIC] if machine["faults"] == "slow-nic" else late_ranks(machine["n_ranks"])
    path = Path(folder) / f"{machine['faults']}-{machine['n_ranks']}.yaml"
    lines = "".join(f"  - {fault}\n" for fault in faults)
    path.write_text(f"{TOPOLOGY.read_text()}\nfaults:\n{lines}")
    return path


def command_of(ccsim, folder, case, extra):
    _, machine, question, _, _ = case
    command = [ccsim, "bench", *question.split(), "-T", write_topology(folder, machine),
               "--nodes", machine["n_ranks"] // GPUS, "-b", "1G", "-e", "1G", "--no-db",
               "--format", "json"]
    for assignment in machine["sets"]:
        command += ["--set", assignment]
    return command + extra


def say_goals(goals):
    return ", ".join(f"{goal:g} {'ns a message' if unit == 'ns' else unit}"
                     for unit, goal in goals.items())


def judge(goals, cost, ns):
    got = {"s": cost.cpu_s, "MB": cost.peak_mb, "ns": ns}
    missed = [unit for unit, goal in goals.items() if got[unit] > goal]
    return "yes" if not missed else "no: " + ", ".join(
        "ns a message" if unit == "ns" else unit for unit in missed)


def row_of(case, cost, limit):
    name, _, _, n_messages, goals = case
    cells = [name, f"{n_messages:,}"]
    if not cost.is_ok:
        seconds = f"> {limit}" if cost.is_over_time else "-"
        return cells + [seconds, cost.memory(), "-", "-", say_goals(goals),
                        f"no: {cost.failure}"]
    result = json.loads(cost.output)["results"][0]
    ns = cost.cpu_s * 1e9 / n_messages
    if result["flows"] != n_messages:
        return cells + ["-"] * 4 + [say_goals(goals), f"no: it has {result['flows']:,} messages"]
    return cells + [f"{cost.cpu_s:.2f}", cost.memory(), plain(ns),
                    f"{result['time_us']:,.3f}", say_goals(goals), judge(goals, cost, ns)]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ccsim", default=default_program(), help="the program")
    parser.add_argument("--limit", type=int, default=20, metavar="SECONDS",
                        help="CPU time that a case may take (%(default)s)")
    parser.add_argument("--memory", type=float, default=8, metavar="GB",
                        help="memory that a case may take (%(default)s)")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose names have it")
    parser.add_argument("--list", action="store_true", help="show the command lines, run nothing")
    parser.add_argument("extra", nargs="*", metavar="-- OPTION...",
                        help="options for every ccsim bench, such as --engine reference")
    return parser.parse_args()


def main():
    asked = parse_arguments()
    cases = [case for case in CASES if asked.only in case[0]]
    n_failed = 0

    with tempfile.TemporaryDirectory() as folder:
        if asked.list:
            for case in cases:
                print(*command_of(asked.ccsim, folder, case, asked.extra))
            return 0
        print(markdown_head(["case", "messages:", "CPU s:", "peak MB:", "ns a message:",
                             "simulated us:", "goal", "met"]), flush=True)
        for case in cases:
            cost = run(command_of(asked.ccsim, folder, case, asked.extra), asked.limit,
                       asked.memory)
            n_failed += not cost.is_ok and not cost.is_over_time
            print(markdown_row(row_of(case, cost, asked.limit)), flush=True)
    return 1 if n_failed > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
