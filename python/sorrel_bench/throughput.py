"""`sorrel bench throughput`: several parallel jobs on one machine, as in McDonald's study of dynamic threads (Silicon
Graphics, IRIX 6.2, about 1996), with current runtimes.

The jobs are apps/fluid, one kernel for every runtime: same sources, same answer, same flags. A mix of four jobs is
started at once. The result is the time until the last one ends, over the least possible time (the bound: the larger of
all work over all cores and the longest job's critical path).
"""

import copy
import dataclasses
import fnmatch
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from . import machine, pictures, report
from .bars import Bar, settle
from .beside import Beside
from .disturbance import RUNS
from .fluid_jobs import (
    KINDS, ONE_THREAD, OWN, PATIENCE, TAILS, Calibration, Grain, Job, Programs, Run, Runtime, bound, quiet_run, start, wait_for,
)  # fmt: skip
from .implementations import _output, _version_in
from .pictures import BarChart, Bars, Point

__all__ = ["KINDS", "TAILS", "Job", "Runtime", "bound", "main", "start", "wait_for"]

CONFIDENT_REPETITIONS = 3
# Table 2 of the study, and the savings of its table 3: dynamic threads against static ones, CPU and elapsed.
MIXES = ("FFFF", "FFLL", "FFFL", "pppp", "ppqq", "pppq", "FFpp")
PUBLISHED_SAVINGS = {
    # Printed there: 96 % for the CPU of mix 1; but 424 s and 324 s make it 24 %.
    "FFFF": (24, 23), "FFLL": (19, 13), "FFFL": (17, 14), "pppp": (59, 57),
    "ppqq": (57, 54), "pppq": (52, 49), "FFpp": (46, 42),
}  # fmt: skip
# The names for --only.
PARTS = ("alone", "coarse", "35us", "5us", "tails", "arrivals", "hogs", "quota", "stranger", "fork_join")
SHORT_MIXES = ("FFFF", "FFpp", "FF")

# The points are chosen for loops of about 5 ms, 35 us and 5 us on a core of 2023; the measured times are printed.
GRAINS = (
    Grain("coarse", 500, 26, MIXES),
    Grain("35us", 200, 1, SHORT_MIXES),
    Grain("5us", 76, 1, SHORT_MIXES),
)
ALONE, TAIL_MIX = "F", "1234"
# Multiples of the bound: the mixes' mean and worst, as MPI ranks, as OpenMP.
MOST_OVER_BOUND = {"coarse": (1.02, 1.05, 1.03, 1.05), "35us": (1.00, None, 1.03, 1.05), "5us": (0.95, None, None, None)}


# ---- the experiment ------------------------------------------------------------------------------------


class Throughput:
    def __init__(self, programs: Programs, seconds: float, repetitions: int, wanted: Sequence[str] = ()) -> None:
        self.cores = len(os.sched_getaffinity(0))
        self.programs = programs
        self.calibration = Calibration(programs.alone(), seconds, self.cores)
        self.runtimes = [r for r in programs.runtimes() if not wanted or any(fnmatch.fnmatch(r.name, p) for p in wanted)]
        self.repetitions = repetitions
        self.jobs: dict[str, dict[str, Job]] = {}
        self.runs: dict[tuple[str, str, str], list[Run]] = {}
        self.fork_join: dict[str, dict[str, list[float]]] = {}  # by runtime and gap, ns of each round
        self.line_ns: list[float] = []

    def job(self, grain: Grain, letter: str) -> Job:
        jobs = self.jobs.setdefault(grain.name, {})
        if letter not in jobs:
            jobs[letter] = self.calibration.job(grain, letter)
        return jobs[letter]

    def turns(self, mixes: Sequence[tuple[Grain, str]]) -> list[tuple[Grain, str, list[Runtime]]]:
        """All runs in order; the first runtime changes with each round."""
        order = []
        for round_ in range(self.repetitions):
            first = round_ % len(self.runtimes)
            order += [(grain, mix, self.runtimes[first:] + self.runtimes[:first]) for grain, mix in mixes]
        return order

    def run_all(self, mixes: Sequence[tuple[Grain, str]]) -> None:
        for grain, mix in mixes:
            for letter in mix:
                self.job(grain, letter)
        turns = self.turns(mixes)
        progress = report.Progress(len(turns) * len(self.runtimes), "run")
        for grain, mix, runtimes in turns:
            before, runs = self.needs(grain, mix), []
            for runtime in runtimes:
                progress.step(f"{grain.name} {mix}, {runtime.name}")
                runs.append(self.run(grain, mix, runtime, before))
            after = self.needs(grain, mix)
            for place, (runtime, run) in enumerate(zip(runtimes, runs, strict=True), start=1):
                if run is not None:
                    self.keep(grain, mix, runtime, run, between(before, after, place / (len(runs) + 1)))
        progress.end()

    def needs(self, grain: Grain, mix: str) -> list[Job]:
        """The current time of each job of a mix."""
        needs = {letter: self.calibration.measured(self.job(grain, letter).arguments) for letter in sorted(set(mix))}
        return [needs[letter] for letter in mix]

    def run(self, grain: Grain, mix: str, runtime: Runtime, jobs: Sequence[Job]) -> Run | None:
        if any(run.is_cut_off for run in self.runs.get((grain.name, mix, runtime.name), [])):
            return None
        # A runtime that spins without limit may take very long with short loops.
        return quiet_run(runtime, jobs, PATIENCE * bound(jobs, self.cores) + 1)

    def keep(self, grain: Grain, mix: str, runtime: Runtime, run: Run, jobs: Sequence[Job]) -> None:
        held = dataclasses.replace(run, bound=bound(jobs, self.cores), work=sum(job.work for job in jobs))
        self.runs.setdefault((grain.name, mix, runtime.name), []).append(held)

    def measure_fork_joins(self) -> None:
        for name, program, environment in self.programs.fork_joins():
            for _ in range(self.repetitions):
                done = RUNS.watched(lambda p=program, e=environment: subprocess.run(
                    [p], env={**os.environ, **e}, capture_output=True, text=True, check=True))  # fmt: skip
                for line in done.stdout.splitlines():
                    _, gap, value, _ = line.split()
                    if gap == "line":
                        self.line_ns.append(float(value))
                        continue
                    self.fork_join.setdefault(name, {}).setdefault(gap, []).append(float(value))

    # ---- results

    def half(self, which: int) -> "Throughput":
        """The results of the even rounds (0) or of the odd ones (1)."""
        half = copy.copy(self)
        half.runs = {key: runs[which::2] for key, runs in self.runs.items()}
        half.fork_join = {n: {gap: v[which::2] for gap, v in gaps.items() if len(v) > which} for n, gaps in self.fork_join.items()}
        return half

    def fork_join_ns(self) -> dict[str, dict[str, float]]:
        """The least of the rounds."""
        return {name: {gap: min(values) for gap, values in gaps.items()} for name, gaps in self.fork_join.items()}

    def over_bound(self, grain: str, mix: str, runtime: str) -> float | None:
        runs = self.runs.get((grain, mix, runtime), [])
        if not runs or any(run.is_cut_off for run in runs):
            return None
        return statistics.median(run.elapsed / run.bound for run in runs)

    def cpu_of(self, grain: str, mix: str, runtime: str) -> float | None:
        """Processor time over that of one thread."""
        runs = self.runs.get((grain, mix, runtime), [])
        if not runs or any(run.is_cut_off for run in runs):
            return None
        return statistics.median(run.cpu / run.work for run in runs)

    def mean_and_worst(self, grain: Grain, runtime: str) -> tuple[float | None, float | None]:
        ratios = [self.over_bound(grain.name, mix, runtime) for mix in grain.mixes]
        known = [ratio for ratio in ratios if ratio is not None]
        if not known or len(known) < len(ratios):
            return None, None
        return statistics.geometric_mean(known), max(known)

    def bars(self) -> list[Bar]:
        bars = [bar for grain in GRAINS for bar in self._bars_of_mixes(grain)]
        tails = {r.name: self.over_bound("coarse", TAIL_MIX, r.name) for r in self.runtimes}
        bars.append(self._bar("jobs that end at different times", tails, OWN, 1.06))
        least = self.fork_join_ns()
        own = least.get(OWN, {})
        for gap, label, us in (("hot", "hot", 0.12), ("after_2ms", "after 2 ms", 0.6), ("after_250ms", "cold", 10)):
            values = {name: gaps[gap] / 1e3 for name, gaps in least.items() if gap in gaps}
            peer, peer_value = best_peer(values)
            value = own[gap] / 1e3 if gap in own else None
            bars.append(Bar(f"fork-join of 2: {label}", value, "us", peer, peer_value, us, f"<= {us:g} us"))
        return bars

    def _bar(self, name: str, values: Mapping[str, float | None], who: str, most: float) -> Bar:
        return Bar(name, values.get(who), "x bound", *best_peer(values), most, f"<= {most:g} x bound")

    def _bars_of_mixes(self, grain: Grain) -> Iterator[Bar]:
        both = {r.name: self.mean_and_worst(grain, r.name) for r in self.runtimes}
        means, worst = ({name: pair[which] for name, pair in both.items()} for which in (0, 1))
        mean_most, worst_most, ranks_most, openmp_most = MOST_OVER_BOUND[grain.name]
        yield self._bar(f"mixes, {grain.name}: geometric mean", means, OWN, mean_most)
        if worst_most is not None:
            yield self._bar(f"mixes, {grain.name}: worst", worst, OWN, worst_most)
        if ranks_most is not None:
            yield self._bar(f"mixes as MPI ranks, {grain.name}", means, "Sorrel ranks", ranks_most)
        if openmp_most is not None:
            yield self._bar(f"mixes as OpenMP, {grain.name}", means, "Sorrel OpenMP", openmp_most)
        alone = {r.name: self.over_bound(grain.name, ALONE, r.name) for r in self.runtimes}
        peer, peer_value = best_peer(alone)
        name = f"one job, idle machine, {grain.name}"
        yield Bar(name, alone.get(OWN), "x bound", peer, peer_value, peer_value, "<= 1 x the fastest")

    def print_tables(self) -> None:
        for grain in GRAINS:
            columns = [mix for mix in (ALONE, *grain.mixes, TAIL_MIX) if (grain.name, mix) in {key[:2] for key in self.runs}]
            if not columns:
                continue
            print(f"\n{grain.name}, loops of {self.calibration.loop_us(grain):.1f} us: elapsed over bound\n")
            print(f"{'':<22}" + "".join(f"{mix:>8}" for mix in columns) + f"{'mean':>8}{'CPU':>8}")
            for runtime in self.runtimes:
                self._print_row(grain, columns, runtime.name)
        self.print_savings()

    def _print_row(self, grain: Grain, columns: Sequence[str], runtime: str) -> None:
        ratios = [self.over_bound(grain.name, mix, runtime) for mix in columns]
        mean, _ = self.mean_and_worst(grain, runtime)
        cpus = [cpu for mix in columns if (cpu := self.cpu_of(grain.name, mix, runtime)) is not None]
        cells = [f"{ratio:.2f}" if ratio is not None else f">{PATIENCE:.0f}" for ratio in ratios]
        cells.append(f"{mean:.2f}" if mean is not None else "-")
        cells.append(f"{statistics.geometric_mean(cpus):.2f}" if cpus else "-")
        print(f"{runtime:<22}" + "".join(f"{cell:>8}" for cell in cells))

    def print_savings(self) -> None:
        """Table 3 of the study: the savings of dynamic threads over static ones that spin."""
        if not any(grain == "coarse" and mix in MIXES for grain, mix, _ in self.runs):
            return
        print("\nSavings of Sorrel over libgomp's default, coarse loops; in parentheses McDonald's (1996), dynamic over static\n")
        print(f"{'mix':<8}{'CPU':>14}{'elapsed':>14}")
        for mix, (published_cpu, published_elapsed) in PUBLISHED_SAVINGS.items():
            cells = []
            for of, published in ((self.cpu_of, published_cpu), (self.over_bound, published_elapsed)):
                own, default = of("coarse", mix, OWN), of("coarse", mix, "libgomp")
                saving = f"{100 * (1 - own / default):.0f} %" if own and default else "-"
                cells.append(f"{saving} ({published} %)")
            print(f"{mix:<8}{cells[0]:>14}{cells[1]:>14}")

    def print_fork_joins(self) -> None:
        """The fork-join times, and the cache line transfer on which they depend: it differs by a factor of three
        between runs of a virtual machine."""
        if not self.fork_join:
            return
        least = self.fork_join_ns()
        gaps = list(next(iter(least.values())))
        print("\nFork-join of 2: the least of the rounds' medians, us\n")
        print(f"{'':<22}" + "".join(f"{gap.replace('_', ' '):>14}" for gap in gaps))
        for name, values in least.items():
            print(f"{name:<22}" + "".join(f"{values[gap] / 1e3:>14.2f}" for gap in gaps))
        if lines := sorted(self.line_ns):
            print(f"A cache line took {statistics.median(lines):.0f} ns from one processor to another meanwhile, {lines[0]:.0f} at least.")

    def foreign(self) -> float:
        return max((run.foreign for runs in self.runs.values() for run in runs), default=0.0)


def between(before: Sequence[Job], after: Sequence[Job], part: float) -> list[Job]:
    """The current time of jobs, interpolated between two measurements."""

    def mean(first: float, second: float) -> float:
        return first + part * (second - first)

    return [
        dataclasses.replace(a, work=mean(a.work, b.work), critical_path=mean(a.critical_path, b.critical_path))
        for a, b in zip(before, after, strict=True)
    ]


def best_peer(values: Mapping[str, float | None]) -> tuple[str, float | None]:
    peers = {k: v for k, v in values.items() if not k.startswith((OWN, ONE_THREAD)) and v is not None}
    return min(peers.items(), key=lambda pair: pair[1]) if peers else ("-", None)


# ---- the picture ---------------------------------------------------------------------------------------


def charts(experiment: Throughput) -> list[BarChart]:
    """A chart for each grain: the mixes' geometric mean and one job alone, elapsed over bound, a bar for each runtime."""
    found = []
    for grain in GRAINS:
        measured = {mix for name, mix, _ in experiment.runs if name == grain.name}
        groups = [(title, value_of) for title, value_of, needed in (
            ("four jobs, mean of the mixes", lambda r, g=grain: experiment.mean_and_worst(g, r)[0], set(grain.mixes)),
            ("one job alone", lambda r, g=grain: experiment.over_bound(g.name, ALONE, r), {ALONE}),
        ) if needed <= measured]  # fmt: skip
        bars = []
        for runtime in experiment.runtimes:
            values = [value_of(runtime.name) for _, value_of in groups]
            bars.append(Bars(runtime.name, [None if value is None else Point(0, value) for value in values]))
        note = f"No bar: stopped in one mix or more, after {PATIENCE:g} times the bound."
        found.append(BarChart(f"{grain.name} loops", "elapsed over bound", [title for title, _ in groups], bars, line=1.0, note=note))
    return found


# ---- the command ---------------------------------------------------------------------------------------


def _versions() -> dict[str, str]:
    return {name: _version_in(_output(*command)) for name, command in
            {"gcc": ("gcc", "--version"), "clang": ("sh", "-c", "clang --version || clang-16 --version")}.items()}  # fmt: skip


def is_wanted(arguments, part: str) -> bool:
    return not arguments.only or any(fnmatch.fnmatch(part, pattern) for pattern in arguments.only)


def wanted_mixes(arguments) -> list[tuple[Grain, str]]:
    mixes = []
    for grain in GRAINS:
        if is_wanted(arguments, grain.name) or is_wanted(arguments, "alone"):
            mixes.append((grain, ALONE))
        if is_wanted(arguments, grain.name):
            mixes += [(grain, mix) for mix in grain.mixes]
        if grain.name == "coarse" and is_wanted(arguments, "tails"):
            mixes.append((grain, TAIL_MIX))
    return mixes


def main(arguments) -> int:
    facts = machine.describe()
    print(f"{facts['processor']}, {len(facts['cpus_allowed'])} of {facts['cpus']} CPUs, Linux {facts['kernel']}")
    seconds = arguments.seconds or (0.15 if arguments.quick else 0.7)
    with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as folder:
        repetitions = arguments.rounds or (1 if arguments.quick else CONFIDENT_REPETITIONS)
        experiment = Throughput(
            Programs(arguments.command, pathlib.Path(folder)), seconds, repetitions, arguments.runtime
        )
        print("Runtimes: " + ", ".join(runtime.name for runtime in experiment.runtimes), flush=True)
        experiment.run_all(wanted_mixes(arguments))
        if is_wanted(arguments, "fork_join"):
            experiment.measure_fork_joins()
        beside = Beside(experiment.programs, experiment.runtimes, repetitions)
        for row in Beside.ROWS:
            if is_wanted(arguments, row):
                beside.measure(row, {grain.name: experiment.job(grain, Beside.JOB) for grain in GRAINS[:2]})
    bars = [bar for bar in [*experiment.bars(), *beside.bars()] if bar.value is not None or not arguments.only]
    halves = [[*experiment.half(which).bars(), *beside.half(which).bars()] for which in (0, 1)]
    doubts = settle(bars, halves, RUNS.foreign_share)
    experiment.print_tables()
    experiment.print_fork_joins()
    beside.print_tables()
    report.print_bars(bars)
    if experiment.runs:
        print(f"\nOther work took at most {100 * experiment.foreign():.0f} % of the machine during a run of a mix.")
    report.print_gaps([*experiment.programs.missing, *beside.missing], experiment.programs.troubles)
    report.print_end(doubts)
    if arguments.json is not None:
        facts |= machine.after_runs()
        arguments.json.write_text(json.dumps(_as_json(experiment, beside, bars, facts), indent=1) + "\n", encoding="utf-8")
        pictures.save(charts(experiment), arguments.json)
    return 1 if experiment.programs.troubles else 0


def _as_json(experiment: Throughput, beside: Beside, bars: Sequence[Bar], facts: dict) -> dict:
    return {
        "machine": {**facts, **_versions()},
        "options": {"rounds": experiment.repetitions},
        "missing": experiment.programs.missing + beside.missing,
        "jobs": {
            grain: {letter: dataclasses.asdict(job) for letter, job in jobs.items()} for grain, jobs in experiment.jobs.items()
        },
        "samples": [
            {"grain": grain, "mix": mix, "runtime": runtime, **dataclasses.asdict(run)}
            for (grain, mix, runtime), runs in experiment.runs.items()
            for run in runs
        ],
        "fork_join_ns": experiment.fork_join_ns(),
        "line_ns": experiment.line_ns,
        "beside": beside.as_json(),
        "bars": [bar.as_json() for bar in bars],
    }
