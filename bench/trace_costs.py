#!/usr/bin/env python3
"""What tracing costs: the times that two programs print, without a trace, with `--trace`, and by a library without events.

Each round runs all kinds one after the other, each time in another order. Prints the medians of the ratios within the rounds.

  bench/trace_costs.py
  cmake --preset release -B build/without -DSORREL_EVENTS=OFF && cmake --build build/without --target sorrel mpi_abi
  bench/trace_costs.py --without build/without/bin/sorrel
"""

import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

# Name, ranks, program and arguments.
SUBJECTS = [
    ("kneighbor, 64 B, 8 ranks", 8, ["kneighbor", "--samples", "50"]),
    ("kneighbor, 64 B, 64 ranks", 64, ["kneighbor", "--samples", "20"]),
    ("cg2d, 64 ranks", 64, ["cg2d", "--grid", "1000", "--steps", "300"]),
]


def time_of(text):
    """The median or mean in a program's output, in microseconds; nothing if it prints none."""
    found = re.search(r"(?:median|mean) ([0-9.]+) us", text)
    return float(found[1]) if found else None


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    time = time_of(done.stdout)
    if done.returncode != 0 or time is None:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-1000:]}")
    return time


def percent_of(times, others):
    """How much longer `times` are than `others` of the same rounds: the median, the least and the most, in percent."""
    ratios = [100 * (time / other - 1) for time, other in zip(times, others)]
    return statistics.median(ratios), min(ratios), max(ratios)


def row_of(name, times):
    """A row of the table; times: of each kind, those of all rounds."""
    row = f"| {name} | {statistics.median(times['plain']):.1f} us |"
    for kind, base in (("traced", "plain"), ("plain", "without")):
        if kind in times and base in times:
            row += " {:+.1f} % ({:+.1f} to {:+.1f}) |".format(*percent_of(times[kind], times[base]))
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sorrel", type=pathlib.Path, default="build/release/bin/sorrel", metavar="FILE", help="the command of a build (%(default)s)")
    parser.add_argument("--without", type=pathlib.Path, metavar="FILE", help="the command of a build with SORREL_EVENTS=OFF")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="(%(default)s)")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="runs of each kind (%(default)s)")
    arguments = parser.parse_args()
    print("| Program | an iteration | `--trace` |" + (" events |" if arguments.without else ""))
    print("|---|---|---|" + ("---|" if arguments.without else ""))
    for name, ranks, words in SUBJECTS:
        program = [str(arguments.sorrel.parent / words[0]), *words[1:]]
        times = {}
        with tempfile.TemporaryDirectory() as folder:
            kinds = {"plain": [arguments.sorrel], "traced": [arguments.sorrel, "--trace", f"{folder}/job.trace"]}
            if arguments.without:
                kinds["without"] = [arguments.without]
            for turn in range(arguments.rounds):
                print(f"{name}: round {turn + 1} of {arguments.rounds}", file=sys.stderr)
                order = list(kinds)
                for kind in order[turn % len(order) :] + order[: turn % len(order)]:
                    sorrel, *options = map(str, kinds[kind])
                    command = [sorrel, "run", "-n", str(ranks), "--workers", str(arguments.workers), "--share", "fixed", *options, *program]
                    times.setdefault(kind, []).append(run(command))
        print(row_of(name, times), flush=True)


if __name__ == "__main__":
    main()
