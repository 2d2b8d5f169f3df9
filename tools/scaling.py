#!/usr/bin/env python3
"""Measure how the cost of ccsim grows with the number of GPUs, for docs/scaling.md.

Times each collective on topologies/islands8.yaml from 8 GPUs on, doubling until a run passes its
limit of CPU time. Writes a page with a table (default docs/scaling.md) and a plot beside it."""

import argparse
import json
import math
import sys
from pathlib import Path

from measure import SOURCE_ROOT, default_program, markdown_head, markdown_row, plain, run

GPUS = 8  # of a node
COLLECTIVES = [
    ("ring, 1 channel", "allreduce -A ring --channels 1"),
    ("ring, 8 channels", "allreduce -A ring --channels 8"),
    ("hierarchical", "allreduce -A hierarchical --channels 1"),
    ("tree, 64 chunks", "allreduce -A tree --channels 1 --chunks 64"),
    ("pairwise all-to-all", "alltoall -A pairwise --channels 1"),
]

PAGE = """# How the cost grows

What a run of one size (1 GiB, no database) costs on `islands8`, from 8 to {largest:,} GPUs,
the reading of the topology included. A run that passes {limit} s of CPU time ends there, and larger
ones are not tried. Up to 128 GPUs a run verifies its schedule on data first.

![CPU seconds over GPUs]({plot})

## CPU seconds

{seconds}

## Nanoseconds a message

{nanoseconds}

## Largest memory in MB

{memory}

## Renewing this page

`tools/scaling.py` writes it, and its plot, by what `build/src/ccsim` does. That should be a release
build (`meson setup --buildtype=release build`) on a machine that does nothing else.
"""


def measure(asked, question, n_ranks):
    """The cost of one run, with how many messages it had."""
    cost = run([asked.ccsim, "bench", *question.split(), "-T", SOURCE_ROOT / "topologies" /
                "islands8.yaml", "--nodes", n_ranks // GPUS, "-b", "1G", "-e", "1G", "--no-db",
                "--format", "json", "--engine", asked.engine], asked.limit, asked.memory)
    if not cost.is_ok and not cost.is_over_time:
        sys.exit(f"{n_ranks} GPUs: {question}: {cost.failure}")
    cost.n_messages = json.loads(cost.output)["results"][0]["flows"] if cost.is_ok else None
    return cost


def measure_all(asked):
    """By name of the collective, a list of (number of GPUs, cost) up to the limit."""
    points = {}
    for name, question in COLLECTIVES:
        points[name] = []
        n_ranks = GPUS
        while n_ranks <= asked.largest:
            cost = measure(asked, question, n_ranks)
            print(f"{name}, {n_ranks} GPUs: {cost.cpu_s:.2f} s", file=sys.stderr, flush=True)
            points[name].append((n_ranks, cost))
            if not cost.is_ok:
                break
            n_ranks *= 2
    return points


def table_of(points, cell_of):
    """A row for each number of GPUs, a column for each collective."""
    rows = [markdown_head(["GPUs:"] + [f"{name}:" for name in points])]
    for n in sorted({n for runs in points.values() for n, _ in runs}):
        costs = [dict(runs).get(n) for runs in points.values()]
        rows.append(markdown_row([f"{n:,}"] + ["" if cost is None else cell_of(cost)
                                               for cost in costs]))
    return "\n".join(rows)


def write_page(asked, plot, points):
    limit = asked.limit
    seconds = table_of(points, lambda cost: f"{cost.cpu_s:.2f}" if cost.is_ok else f"> {limit}")
    nanoseconds = table_of(points, lambda cost: plain(cost.cpu_s * 1e9 / cost.n_messages)
                           if cost.is_ok else "-")
    memory = table_of(points, lambda cost: cost.memory())
    asked.page.write_text(PAGE.format(limit=limit, largest=asked.largest, plot=plot,
                                      seconds=seconds, nanoseconds=nanoseconds, memory=memory))


# The plot: both axes logarithmic. Colours are those of Okabe and Ito, told apart by all eyes.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"]
WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 170, 20, 50


class Axes:
    """Where values lie on the plot."""

    def __init__(self, points, limit):
        runs = [point for line in points.values() for point in line if point[1].is_ok]
        self.first_n = GPUS
        self.last_n = max(max((n for n, _ in runs), default=GPUS), 2 * GPUS)
        self.least_s = 10 ** math.floor(math.log10(min((max(c.cpu_s, 1e-3) for _, c in runs),
                                                       default=1e-3)))
        self.most_s = 10 ** math.ceil(math.log10(limit))

    def x(self, n):
        share = math.log(n / self.first_n) / math.log(self.last_n / self.first_n)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, seconds):
        share = (math.log(max(seconds, self.least_s) / self.least_s) /
                 math.log(self.most_s / self.least_s))
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def draw_text(x, y, text, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{text}</text>'


def draw_line(x1, y1, x2, y2):
    return f'<path class="grid" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>'


def draw_grid(axes):
    parts = []
    n = axes.first_n
    while n <= axes.last_n:
        parts.append(draw_line(axes.x(n), TOP, axes.x(n), HEIGHT - BOTTOM))
        if round(math.log2(n / axes.first_n)) % 2 == 0:
            parts.append(draw_text(axes.x(n), HEIGHT - BOTTOM + 18, f"{n:,}"))
        n *= 2
    seconds = axes.least_s
    while seconds <= axes.most_s * 1.01:
        parts.append(draw_line(LEFT, axes.y(seconds), WIDTH - RIGHT, axes.y(seconds)))
        parts.append(draw_text(LEFT - 8, axes.y(seconds) + 4, f"{seconds:g}", "end"))
        seconds *= 10
    parts.append(draw_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "GPUs"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(draw_text(18, middle, "CPU seconds", more=f' transform="rotate(-90 18 {middle})"'))
    return parts


def label_heights(ends):
    """Moves labels that would cover each other apart. @ends: heights by name."""
    heights = {}
    last = -math.inf
    for name, height in sorted(ends.items(), key=lambda item: item[1]):
        last = heights[name] = max(height, last + 15)
    return heights


def draw(points, limit):
    """The plot as SVG."""
    axes = Axes(points, limit)
    lines = {name: [(axes.x(n), axes.y(cost.cpu_s)) for n, cost in runs if cost.is_ok]
             for name, runs in points.items()}
    lines = {name: line for name, line in lines.items() if line}
    heights = label_heights({name: line[-1][1] for name, line in lines.items()})
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
             f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
             "<style>.grid{stroke:#ddd;fill:none}</style>",
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', *draw_grid(axes)]
    for (name, line), colour in zip(lines.items(), COLOURS):
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in line)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in line]
        parts.append(draw_text(WIDTH - RIGHT + 10, heights[name] + 4, name, "start",
                               f' fill="{colour}"'))
    return "\n".join(parts + ["</svg>", ""])


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", nargs="?", type=Path, default=SOURCE_ROOT / "docs" / "scaling.md",
                        help="the page to write (docs/scaling.md); the plot has its name and .svg")
    parser.add_argument("--ccsim", default=default_program(), help="the program")
    parser.add_argument("--engine", default="auto", metavar="TIER", help="of ccsim (%(default)s)")
    parser.add_argument("--largest", type=int, default=131072, metavar="GPUS",
                        help="where to stop (%(default)s)")
    parser.add_argument("--limit", type=int, default=10, metavar="SECONDS",
                        help="CPU time that a run may take (%(default)s)")
    parser.add_argument("--memory", type=float, default=8, metavar="GB",
                        help="memory that a run may take (%(default)s)")
    return parser.parse_args()


def main():
    asked = parse_arguments()
    points = measure_all(asked)
    plot = asked.page.with_suffix(".svg")

    plot.write_text(draw(points, asked.limit))
    write_page(asked, plot.name, points)
    return 0


if __name__ == "__main__":
    sys.exit(main())
