#!/usr/bin/env python3
"""Checks what `sorrel run --procs auto` learns: six programs in both forms, and the form that auto uses after its trials.

Every program runs in one process and in a process for each core, in turn, and the quickest run of each form counts. Then `--procs auto`
runs it until its trials are over, with a cache folder of their own. Its choice is right if that form is at most 5 % slower than the other
one. Exits 1 if a choice is wrong, 77 if other work disturbed the trials. Nothing else should run on the machine.

  bench/forms.py
  bench/forms.py --sorrel build/release/bin/sorrel --rounds 7
"""

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SLOWER_MOST = 1.05  # of the chosen form over the other one
TRIALS_MOST = 12
LEARNT, DISTURBED = re.compile(r"--procs auto: (\d+) process\w*: .*earlier runs took"), 77


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    source: str
    ranks: int
    arguments: tuple[str, ...]


PROGRAMS = (
    Program("cg2d, 64 ranks", "apps/cg2d/cg2d.c", 64, ("--grid", "1000", "--steps", "300")),
    Program("cg2d, 4 ranks", "apps/cg2d/cg2d.c", 4, ("--grid", "1000", "--steps", "300")),
    Program("kneighbor, 8 ranks, 64 B", "apps/kneighbor/kneighbor.c", 8, ("--samples", "300", "--iterations", "300")),
    Program("kneighbor, 8 ranks, 64 KiB", "apps/kneighbor/kneighbor.c", 8, ("--bytes", "65536", "--samples", "30")),
    Program("gas flow, allocates, 8 ranks", "bench/virtual/hydro.c", 8, ("24", "150")),
    Program("half of 16 ranks have work", "bench/virtual/imbalance.c", 16, ("500", "400", "0")),
)


@dataclasses.dataclass(frozen=True)
class Outcome:
    program: str
    one_process: float  # seconds, the quickest run
    process_per_core: float
    processes: int  # of the learnt form

    @property
    def is_right(self) -> bool:
        chosen, other = (self.one_process, self.process_per_core) if self.processes == 1 else (self.process_per_core, self.one_process)
        return chosen <= SLOWER_MOST * other


def row_of(outcome: Outcome) -> str:
    form = "one process" if outcome.processes == 1 else f"{outcome.processes} processes"
    verdict = "right" if outcome.is_right else "WRONG"
    return f"{outcome.program:<32}{outcome.one_process:>12.3f}{outcome.process_per_core:>18.3f}   {form:<14}{verdict}"


def seconds_of(command: list[str]) -> float:
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"forms: {' '.join(command)} ended with status {done.returncode}:\n{done.stderr}")
    return time.monotonic() - began


def learnt(command: list[str], cache: pathlib.Path) -> int | None:
    """The number of processes after the trials; None if they did not end."""
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    for _ in range(TRIALS_MOST):
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        if found := LEARNT.search(done.stderr):
            return int(found[1])
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sorrel", default="build/release/bin/sorrel", metavar="FILE", help="the command of a build (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs of each form (%(default)s)")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        print("forms: two cores are needed", file=sys.stderr)
        return DISTURBED
    print(f"{'seconds of a whole run':<32}{'one process':>12}{f'{cores} processes':>18}   auto")
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="sorrel-forms-") as name:
        folder = pathlib.Path(name)
        for number, program in enumerate(PROGRAMS):
            path = folder / f"program{number}"
            include = f"-I{ROOT / 'bench/probes'}"
            subprocess.run([options.sorrel, "cc", "-O3", "-march=native", "-w", include, str(ROOT / program.source), "-o", str(path), "-lm"], check=True)
            words = ["-n", str(program.ranks), str(path), *program.arguments]
            forms = ([options.sorrel, "run", *words], [options.sorrel, "run", "--procs", str(min(cores, program.ranks)), *words])
            times = [[seconds_of(form) for form in forms] for _ in range(options.rounds)]
            processes = learnt([options.sorrel, "run", "--verbose", "--procs", "auto", *words], folder / "cache")
            if processes is None:
                print(f"forms: {program.name}: other work disturbed the trials", file=sys.stderr)
                return DISTURBED
            outcomes.append(Outcome(program.name, *(min(column) for column in zip(*times, strict=True)), processes))
            print(row_of(outcomes[-1]), flush=True)
    return 0 if all(outcome.is_right for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
