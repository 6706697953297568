#!/usr/bin/env python3
"""Run every fuzzer, the kills, the heap overruns, and random programs of MPI and task graphs, for a bounded time or for fixed numbers of cases.

    stress.py --build FOLDER [--minutes M] [--full] [--seed SEED] [--part NAME]...

Failed cases are kept below FOLDER/failures. Exit status 1 if any case failed.
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]


@dataclasses.dataclass
class Part:
    name: str
    share: float  # of the time
    full_count: int
    command: list[str]


def parts(build: pathlib.Path) -> list[Part]:
    def parser(name: str, share: float, *corpus: pathlib.Path) -> Part:
        words = [build / f"bin/fuzz_{name}", "--keep", build / "failures", *corpus]
        return Part(f"parser.{name}", share, 300_000, [str(word) for word in words])

    def session(script: str, kind: str, share: float, full_count: int) -> Part:
        words = [sys.executable, TESTS / script, kind, "--build", build, "--keep", build / "failures"]
        return Part(kind, share, full_count, [str(word) for word in words])

    corpus = TESTS / "fuzz/corpus"
    return [
        parser("elf_file", 0.05, build / "tests/fuzz/subjects"),
        parser("machine_file", 0.05, corpus / "machine_file", TESTS.parent / "machines"),
        parser("options", 0.05, corpus / "options"),
        parser("lists", 0.03, corpus / "lists"),
        parser("openmp_environment", 0.04, corpus / "openmp_environment"),
        session("fuzz/fuzz.py", "executables", 0.22, 10_000),
        session("fuzz/fuzz.py", "machines", 0.08, 2000),
        session("fuzz/fuzz.py", "options", 0.1, 2000),
        session("fuzz/fuzz.py", "environments", 0.1, 2000),
        session("stress/kills/kills.py", "kills", 0.2, 1000),
        session("stress/kills/spawns.py", "spawns", 0.1, 1000),
        session("stress/kills/survivals.py", "survivals", 0.1, 200),
        session("mpi/oracle/oracle.py", "oracle", 0.2, 3000),
        session("mpi/oracle/oracle.py", "perturbed", 0.2, 3000),
        session("mpi/oracle/oracle.py", "regions", 0.1, 2000),
        session("stress/heap_overruns.py", "heap_overruns", 0.08, 200),
        Part("graphs", 0.08, 10_000, [str(build / "bin/graph_random_programs"), "--keep", str(build / "failures")]),
    ]


def read_arguments(names: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="stress", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="folder of a build with tests")
    parser.add_argument("--minutes", type=float, default=10, help="for all parts together (10)")
    parser.add_argument("--full", action="store_true", help="fixed numbers of cases, however long they take")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of every part (default: the time)")
    parser.add_argument("--part", action="append", choices=names, help="only this part; repeatable")
    return parser.parse_args()


def main() -> int:
    arguments = read_arguments([part.name for part in parts(pathlib.Path())])
    build = arguments.build.resolve()
    chosen = [part for part in parts(build) if not arguments.part or part.name in arguments.part]
    (build / "failures").mkdir(exist_ok=True)
    whole = sum(part.share for part in chosen)
    failed = []
    for number, part in enumerate(chosen, start=1):
        seconds = 1e9 if arguments.full else 60 * arguments.minutes * part.share / whole
        count = part.full_count if arguments.full else 1_000_000_000
        what = f"{count} cases" if arguments.full else f"{seconds:.0f} s"
        print(f"stress: {number} of {len(chosen)}: {part.name}, {what}, seed {arguments.seed}", flush=True)
        words = [*part.command, "--seed", str(arguments.seed), "--count", str(count), "--seconds", str(seconds)]
        if subprocess.run(words).returncode != 0:
            failed.append(part.name)
    if failed:
        print(f"stress: FAILED: {', '.join(failed)}; see {build / 'failures'}")
        return 1
    print("stress: no failure")
    return 0


if __name__ == "__main__":
    sys.exit(main())
