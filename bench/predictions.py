#!/usr/bin/env python3
"""Compare what `sorrel report` predicts for other numbers of ranks, or for --balance, with such runs.

The program is traced in each way, several times. Prints a row for each pair: the predicted time in the traces of the first way, and the
time in the traces of the second one; medians, and floors.

  bench/predictions.py -n 16,32,64,128 -- build/release/bin/cg2d --grid 1000
  mpicc -O2 -I bench/probes -o imbalance bench/virtual/imbalance.c
  bench/predictions.py -n 16 --balance steal,measured -- ./imbalance 1000 200 0
  bench/predictions.py -n 8,64 --words 30,15 -- ./lulesh -s {} -i 40
  mpicc -O2 -I bench/probes -o latency bench/virtual/latency.c
  bench/predictions.py -n 4,8,16,32 --wire nodes=2,latency=2ms --only-from 4 -- ./latency ring 1000 40
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile


def traced(arguments, ranks, balance, folder):
    """The numbers of the report of one run."""
    trace, numbers = folder / "job.trace", folder / "report.json"
    run = [arguments.sorrel, "run", "-n", str(ranks), "--workers", str(arguments.workers), "--share", "fixed", "--balance", balance, "--trace", str(trace)]
    if arguments.wire:
        run += ["--wire", arguments.wire]
    program = [word.replace("{}", arguments.words.get(ranks, "{}")) for word in arguments.program]
    for command in (run + program, [arguments.sorrel, "report", str(trace), "--json", str(numbers)]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-1000:]}")
    return json.loads(numbers.read_text())


def rows_of(reports):
    """reports: by the number of ranks and the balance, those of all runs. Rows: from, to, predicted seconds, real seconds."""
    for (ranks, balance), of_ranks in sorted(reports.items()):
        for (other, other_balance), of_other in sorted(reports.items()):
            if balance != "off" or (other != ranks) == (other_balance != "off"):
                continue
            what = f"-n {other}" if other != ranks else f"--balance {other_balance}"
            times = [row["seconds"] for report in of_ranks for row in report["predictions"] if row["what"] == what]
            if not times and other > ranks:
                yield f"-n {ranks}", what, [], [report["seconds"] for report in of_other]
            if times:
                yield f"-n {ranks}", what, times, [report["seconds"] for report in of_other]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sorrel", default="build/release/bin/sorrel", metavar="FILE", help="the command of a build (%(default)s)")
    parser.add_argument("-n", dest="counts", default="16,32,64,128", metavar="LIST", help="numbers of ranks; 2, 4, 8 and 16 times each are predicted (%(default)s)")
    parser.add_argument("--balance", default="", metavar="LIST", help="of steal and measured: runs with these, too")
    parser.add_argument("--words", default="", metavar="LIST", help="for each number of ranks, what {} in the program's arguments stands for")
    parser.add_argument("--wire", metavar="PARTS", help="simulated nodes, as for `sorrel run --wire`")
    parser.add_argument("--only-from", type=int, metavar="N", help="rows of predictions from traces of so many ranks only")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="(%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs of each (%(default)s)")
    parser.add_argument("program", nargs="+", metavar="PROGRAM", help="after '--': the program and its arguments")
    arguments = parser.parse_args()
    counts = [int(count) for count in arguments.counts.split(",")]
    arguments.words = dict(zip(counts, filter(None, arguments.words.split(","))))
    reports = {(count, balance): [] for count in counts for balance in ["off", *filter(None, arguments.balance.split(","))]}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(arguments.rounds):
            for count, balance in reports:
                print(f"round {turn + 1} of {arguments.rounds}: {count} ranks, --balance {balance}", file=sys.stderr)
                reports[count, balance].append(traced(arguments, count, balance, pathlib.Path(folder)))
    print("| traced | for | predicted | run | error | error of floors |\n|---|---|---|---|---|---|")
    for traced_as, other, predicted, real in rows_of(reports):
        if arguments.only_from not in (None, int(traced_as.split()[1])):
            continue
        if not predicted:
            print(f"| {traced_as} | {other} | not predicted | {statistics.median(real):.3f} s | | |")
            continue
        told, took = statistics.median(predicted), statistics.median(real)
        floors = min(predicted) / min(real)
        print(f"| {traced_as} | {other} | {told:.3f} s | {took:.3f} s | {100 * (told / took - 1):+.1f} % | {100 * (floors - 1):+.1f} % |")


if __name__ == "__main__":
    main()
