#!/usr/bin/env python3
"""METG(50 %) of Task Bench's MPI backends and of Sorrel's: the smallest task with which half of the peak is reached.

    metg.py CHECKOUT [--sorrel PATH-OF-THE-COMMAND] [--width 8] [--rounds 9] [--cores 2]

Builds in a temporary folder. Takes the best of all rounds for each size of task, and one peak for all: the highest rate
of any backend at any size. A task's size is wall time x cores / tasks.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BACKENDS = ("nonblock", "bulk_synchronous")
# Iterations of the kernel; the number of steps follows, so that all runs take about equally long.
ITERATIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096)
RUN_SECONDS_MAX = 60


@dataclasses.dataclass
class Program:
    name: str
    words: list[str]


@dataclasses.dataclass
class Point:
    task_us: float
    rate: float


def make(words: list[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"metg: {' '.join(words)}\n{done.stderr[-2000:]}")


def build(arguments: argparse.Namespace, folder: pathlib.Path) -> list[Program]:
    core = folder / "core"
    shutil.copytree(arguments.checkout / "core", core)
    make(["make", "-s", "-C", str(core), "libcore.a"])
    library = str(core / "libcore.a")
    prefix = pathlib.Path(arguments.sorrel).resolve().parents[1]
    compilers = {"Sorrel": str(prefix / "bin/mpi/mpicxx")}
    if mpich := shutil.which("mpicxx.mpich"):
        compilers["MPICH"] = mpich
    cores = str(arguments.cores)
    launchers = {"Sorrel": [arguments.sorrel, "run", "-n", cores, "--share", "fixed"],
                 "MPICH": ["mpiexec.mpich", "-bind-to", "core", "-n", cores]}  # fmt: skip
    programs = []
    for mpi, compiler in compilers.items():
        for backend in BACKENDS:
            program = str(folder / f"{backend}.{mpi}")
            make([compiler, "-std=c++11", "-O3", "-w", f"-I{core}", str(arguments.checkout / f"mpi/{backend}.cc"),
                  library, "-o", program])  # fmt: skip
            programs.append(Program(f"{mpi}, MPI {backend}", [*launchers[mpi], program]))
    program = str(folder / "graph")
    archive = next(p for p in (prefix / "lib/libsorrel_graph.a", prefix / "src/libsorrel_graph.a") if p.is_file())
    make(["g++", "-std=c++20", "-O3", "-march=native", "-w", f"-I{HERE.parents[1] / 'include'}", f"-I{core}",
          str(HERE / "graph.cpp"), str(archive), library, f"-L{prefix / 'lib'}", "-lsorrel",
          f"-Wl,-rpath,{prefix / 'lib'}", "-o", program])  # fmt: skip
    return [*programs, Program("Sorrel, Graph", [program])]


def run(program: Program, arguments: argparse.Namespace, iterations: int) -> Point:
    steps = max(200, min(8000, 400_000 // iterations))
    words = [*program.words, "-type", "stencil_1d", "-width", str(arguments.width), "-steps", str(steps),
             "-kernel", "compute_bound", "-iter", str(iterations)]  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=RUN_SECONDS_MAX)
    seconds = re.search(r"Elapsed Time ([0-9.e+-]+)", done.stdout)
    rate = re.search(r"FLOP/s ([0-9.e+-]+)", done.stdout)
    if done.returncode != 0 or not seconds or not rate:
        raise SystemExit(f"metg: {' '.join(words)}\n{done.stderr[-2000:]}")
    return Point(float(seconds[1]) * 1e6 * arguments.cores / (arguments.width * steps), float(rate[1]))


def metg(points: list[Point], peak: float) -> float | None:
    """The size at which the curve crosses half of the peak, interpolated between two measured sizes."""
    points = sorted(points, key=lambda point: point.task_us)
    enough = [i for i, point in enumerate(points) if point.rate >= peak / 2]
    if not enough:
        return None
    at = enough[0]
    if at == 0:
        return points[0].task_us
    low, high = points[at - 1], points[at]
    return low.task_us + (peak / 2 - low.rate) / (high.rate - low.rate) * (high.task_us - low.task_us)


def main() -> int:
    parser = argparse.ArgumentParser(description="METG(50 %) of Task Bench on Sorrel and MPICH")
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--sorrel", default=shutil.which("sorrel") or "sorrel")
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--cores", type=int, default=min(2, len(os.sched_getaffinity(0))))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sorrel-metg-") as folder:
        programs = build(arguments, pathlib.Path(folder))
        best: dict[str, dict[int, Point]] = {program.name: {} for program in programs}
        for round_ in range(arguments.rounds):
            for iterations in ITERATIONS:
                for program in programs:
                    point = run(program, arguments, iterations)
                    known = best[program.name].get(iterations)
                    if known is None or point.task_us < known.task_us:
                        best[program.name][iterations] = point
            print(f"\rround {round_ + 1} of {arguments.rounds}", end="", file=sys.stderr)
        print(file=sys.stderr)
    peak = max(point.rate for points in best.values() for point in points.values())
    print(f"stencil_1d, width {arguments.width}, {arguments.cores} cores, best of {arguments.rounds}, "
          f"peak {peak * 1e-9:.1f} GFLOP/s")  # fmt: skip
    print(f"{'':<32}{'METG(50 %)':>14}{'least task':>14}{'peak':>8}")
    for name, points in best.items():
        least = min(point.task_us for point in points.values())
        own = max(point.rate for point in points.values())
        size = metg(list(points.values()), peak)
        text = "not reached" if size is None else f"{size:.3f} us"
        print(f"{name:<32}{text:>14}{least:>11.3f} us{own / peak:>8.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
