#!/usr/bin/env python3
"""How long ranks take to another process: each has some memory, and the half that works changes now and then.

The time of a rank is that from the begin of the packing until all processes have taken over what has come, over the number of ranks that moved
(the line of `sorrel run --verbose`). The wait of all ranks beside it is that of the stop.

  bench/moves_between.py
  bench/moves_between.py --sorrel build/dev/bin/sorrel --kib 16 1024 --rounds 5
  SORREL_HOST_MEMORY=0 SORREL_PULL=0 bench/moves_between.py --launch 'mpiexec.mpich -n 2'      # as between nodes
"""

import argparse
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(__file__).parent / "virtual" / "carry.c"
PROBES = pathlib.Path(__file__).parent / "probes"


def moves_in(text):
    """Ranks, steps, MiB, seconds of the moves, seconds held; nothing if the job does not say."""
    found = re.search(r"balance: (\d+) ranks moved between processes in (\d+) steps, ([0-9.]+) MiB in ([0-9.]+) s, held for ([0-9.]+) s", text)
    return tuple(float(number) for number in found.groups()) if found else None


def row_of(kib, rounds):
    """A row of the table; rounds: what moves_in() has returned for each."""
    each = [1e3 * seconds / ranks for ranks, _, _, seconds, _ in rounds if ranks > 0]
    held = [1e3 * held / steps for _, steps, _, _, held in rounds if steps > 0]
    if not each:
        return f"| {kib} KiB | no rank moved | |"
    return (f"| {kib} KiB | {statistics.median(each):.3f} ms ({min(each):.3f} to {max(each):.3f}) | {statistics.median(held):.2f} ms "
            f"({sum(ranks for ranks, *_ in rounds):.0f} ranks, {sum(steps for _, steps, *_ in rounds):.0f} steps) |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sorrel", type=pathlib.Path, default="build/release/bin/sorrel", metavar="FILE", help="the command of a build (%(default)s)")
    parser.add_argument("--kib", type=int, nargs="+", default=[64, 1024, 16384], metavar="N", help="memory of each rank (64 1024 16384)")
    parser.add_argument("--ranks", type=int, default=16, metavar="N", help="(%(default)s)")
    parser.add_argument("--procs", type=int, default=2, metavar="N", help="(%(default)s)")
    parser.add_argument("--launch", default="", metavar="COMMAND", help="another MPI's launcher, instead of --procs")
    parser.add_argument("--steps", type=int, default=3000, metavar="N", help="of each run, some 4 ms each (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="(%(default)s)")
    arguments = parser.parse_args()
    print("| Memory of a rank | Move of a rank: median (least to most) | All ranks wait for a step |\n|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/carry"
        subprocess.run([arguments.sorrel, "cc", "-O2", "-I", PROBES, PROGRAM, "-o", program], check=True)
        for kib in arguments.kib:
            rounds = []
            for round_number in range(arguments.rounds):
                print(f"{kib} KiB, run {round_number + 1} of {arguments.rounds}", file=sys.stderr, flush=True)
                processes = [] if arguments.launch else ["--procs", str(arguments.procs)]
                command = [*shlex.split(arguments.launch), arguments.sorrel, "run", "-n", str(arguments.ranks), *processes, "--workers", "1",
                           "--balance", "measured", "--verbose", program, str(kib), str(arguments.steps), "150"]
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                moves = moves_in(done.stdout)
                if done.returncode != 0 or moves is None:
                    sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout[-1000:]}")
                rounds.append(moves)
            print(row_of(kib, rounds), flush=True)


if __name__ == "__main__":
    main()
