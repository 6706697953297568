#!/usr/bin/env python3
"""Compare what `sorrel report` predicts for other numbers of ranks with runs of these numbers.

Each program is traced with each number of ranks, several times. Prints a row for each pair of numbers: the predicted time in the
traces with the smaller one, and the time in the traces with the larger one, both medians.

  bench/predictions.py -n 16,32,64,128 -- build/release/bin/cg2d --grid 1000
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile


def traced(arguments, ranks, folder):
    """The numbers of the report of one run."""
    trace, numbers = folder / "job.trace", folder / "report.json"
    run = [arguments.sorrel, "run", "-n", str(ranks), "--workers", str(arguments.workers), "--share", "fixed", "--trace", str(trace)]
    for command in (run + arguments.program, [arguments.sorrel, "report", str(trace), "--json", str(numbers)]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-1000:]}")
    return json.loads(numbers.read_text())


def rows_of(reports):
    """reports: by the number of ranks, those of all runs. Rows: from, to, predicted seconds, real seconds."""
    for ranks, of_ranks in sorted(reports.items()):
        for other, of_other in sorted(reports.items()):
            times = [row["seconds"] for report in of_ranks for row in report["predictions"] if row["what"] == f"-n {other}"]
            if times:
                yield ranks, other, statistics.median(times), statistics.median(report["seconds"] for report in of_other)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sorrel", default="build/release/bin/sorrel", metavar="FILE", help="the command of a build (%(default)s)")
    parser.add_argument("-n", dest="counts", default="16,32,64,128", metavar="LIST", help="numbers of ranks; 2, 4, 8 and 16 times each are predicted (%(default)s)")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="(%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs of each (%(default)s)")
    parser.add_argument("program", nargs="+", metavar="PROGRAM", help="after '--': the program and its arguments")
    arguments = parser.parse_args()
    counts = [int(count) for count in arguments.counts.split(",")]
    reports = {count: [] for count in counts}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(arguments.rounds):
            for count in counts:
                print(f"round {turn + 1} of {arguments.rounds}: {count} ranks", file=sys.stderr)
                reports[count].append(traced(arguments, count, pathlib.Path(folder)))
    print("| traced | for | predicted | run | error |\n|---|---|---|---|---|")
    for ranks, other, predicted, real in rows_of(reports):
        print(f"| -n {ranks} | -n {other} | {predicted:.3f} s | {real:.3f} s | {100 * (predicted / real - 1):+.1f} % |")


if __name__ == "__main__":
    main()
