"""`sorrel bench partition`: the planner's predictions compared with measured steps, and the published tables.

Every process grid of P ranks on a cube of N^3 cells, without and with overlap, is timed by the program
libexec/sorrel/partition, without a wire and with one between two simulated nodes. The fastest of many was fast by luck
too. Therefore the fastest, the planner's choice and MPI_Dims_create's cut are timed again, in turn. Regret is the extra
time of the choice over the fastest, by the medians of these turns. Noise is the difference between two timings of the
choice in each turn. Part `halo` compares the most expensive face of a cube, exchanged by Sorrel's halo, with MPICH's
vector datatype. Part `published` compares the predictions for the machines of Prieto, Llorente and Tirado (2000) with
the published values, and measures the time to plan.

The cheapest cases come first, and none is started that would end after --minutes. The result file is updated after each
case; --resume keeps it and measures the missing cases, with a new measurement of the machine.
"""

import argparse
import dataclasses
import json
import math
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from . import machine, pictures, report
from .bars import Bar, settle
from .disturbance import RUNS, Runs, Watch
from .pictures import Chart, Line, Point
from .runner import probe_source

RANKS = (2, 4, 8, 16, 32, 64)
SIZES = (64, 128, 256, 512)
QUICK_RANKS = (2, 8, 16)
QUICK_SIZES = (64, 128)
WIRES = {"no wire": None, "wire": "latency=50us,bandwidth=1GB/s,nodes=2"}
QUICK_WIRE_SIZES = (128,)
HALO_SIZE = 256
PARTS = ("published", "halo", *(f"{n}" for n in SIZES))
REGRET_MEDIAN_MAX = 0.03
REGRET_WORST_MAX = 0.08
LOSS_TO_BALANCED_MAX = 0.02
HALO_SPEEDUP_MIN = 2

# Time of a case before any has been timed: per candidate, and per candidate's cell.
CANDIDATE_SECONDS = 0.02
CELL_SECONDS = 5e-9
MEASURE_SECONDS = 15
CASE_SECONDS_MIN = 300  # a job counts as hung after this time at least

RESULT_LINE = re.compile(r"^result (\S+) (\S+) predicted (\S+) (measured|once) (\S+)$", re.MULTILINE)
TURNS_LINE = re.compile(r"^turns (\S+) (\S+) (\S+) (.+)$", re.MULTILINE)
HALO_LINE = re.compile(r"^zface (?:\S+ )?(\S+)$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Cut:
    """One candidate, in the plan's order: the first is the choice."""

    grid: str
    overlap: str
    predicted: float
    measured: float
    is_finalist: bool = True  # timed in turn with the fastest, not once


@dataclasses.dataclass(frozen=True)
class Turns:
    """One candidate's times, from alternating turns."""

    grid: str
    overlap: str
    seconds: tuple[float, ...]

    def over(self, other: "Turns") -> float:
        """The extra time over another candidate, 0.05 is 5 %; 0 for the same cut."""
        if (self.grid, self.overlap) == (other.grid, other.overlap):
            return 0.0
        return statistics.median(mine / theirs for mine, theirs in zip(self.seconds, other.seconds, strict=True)) - 1


@dataclasses.dataclass(frozen=True)
class Case:
    """One number of ranks on one cube."""

    ranks: int
    n: int
    cuts: tuple[Cut, ...]
    turns: dict[str, Turns]  # of the choice, the fastest, MPI_Dims_create's cut (balanced), and the choice again
    wire: str = "no wire"
    seconds: float = 0.0  # of the case, and the share of the machine that other work took meanwhile
    foreign_share: float = 0.0

    def half(self, which: int) -> "Case":
        """The case by the even turns (0) or the odd ones (1)."""
        turns = {role: dataclasses.replace(turns, seconds=turns.seconds[which::2]) for role, turns in self.turns.items()}
        return dataclasses.replace(self, turns=turns)

    @property
    def choice(self) -> Turns:
        return self.turns["choice"]

    @property
    def fastest(self) -> Turns:
        return self.turns["fastest"]

    @property
    def regret(self) -> float:
        """At least 0: if the fastest is slower in the turns, the choice is as good as it."""
        return max(0.0, self.choice.over(self.fastest))

    @property
    def noise(self) -> float:
        """By the medians, not by single turns."""
        first, again = (statistics.median(self.turns[role].seconds) for role in ("choice", "again"))
        return max(first, again) / min(first, again) - 1

    @property
    def gain_over_balanced(self) -> float:
        """The extra time of MPI_Dims_create's cut, without overlap; below 0 if it was faster."""
        return self.turns["balanced"].over(self.choice)


def read_case(ranks: int, n: int, output: str, wire: str = "no wire") -> Case:
    cuts = tuple(Cut(grid, how, float(p), float(m), kind == "measured") for grid, how, p, kind, m in RESULT_LINE.findall(output))
    turns = {role: Turns(grid, how, tuple(map(float, rounds.split()))) for role, grid, how, rounds in TURNS_LINE.findall(output)}
    if not cuts or set(turns) != {"choice", "fastest", "balanced", "again"}:
        raise ValueError(f"no results of {ranks} ranks on {n}^3")
    return Case(ranks, n, cuts, turns, wire)


def judge(cases: list[Case]) -> list[Bar]:
    def bar(name: str, value: float | None, most: float, peer: str) -> Bar:
        return Bar(name, value, "%", peer, None, 100 * most, f"<= {100 * most:g} %")

    bars = []
    for wire in WIRES:
        some = [case for case in cases if case.wire == wire]
        regrets = [100 * case.regret for case in some]
        gains = [100 * case.gain_over_balanced for case in some]
        bars += [
            bar(f"{wire}: regret of the planner's choice, median", statistics.median(regrets) if regrets else None, REGRET_MEDIAN_MAX, "the fastest cut"),
            bar(f"{wire}: regret of the planner's choice, worst", max(regrets, default=None), REGRET_WORST_MAX, "the fastest cut"),
            bar(f"{wire}: slower than MPI_Dims_create's cut, worst", -min(gains) if gains else None, LOSS_TO_BALANCED_MAX, "MPI_Dims_create"),
        ]  # fmt: skip
    return bars


def runs_of(cases: list[Case]) -> Runs:
    """Includes cases that an earlier command has measured."""
    runs = Runs()
    for case in cases:
        runs.add(case.seconds, case.foreign_share)
    return runs


def settled(cases: list[Case]) -> list[Bar]:
    """The bars of the cases measured so far."""
    bars = judge(cases)
    settle(bars, [judge([case.half(which) for case in cases]) for which in (0, 1)], runs_of(cases).foreign_share)
    return bars


def print_cases(cases: list[Case]) -> None:
    head = f"{'ranks':>6}{'cells':>8}  {'':<8}{'chosen':<10}{'overlap':<13}{'predicted':>10}{'measured':>10}  {'fastest':<10}{'overlap':<13}"
    print(f"\n{head}{'measured':>10} ms{'regret':>9}{'noise':>8}{'gain over Dims_create':>24}")
    for case in cases:
        first, best, balanced = case.choice, case.fastest, case.turns["balanced"]
        print(
            f"{case.ranks:>6}{case.n:>6}^3  {case.wire:<8}{first.grid:<10}{first.overlap:<13}{1e3 * case.cuts[0].predicted:>10.3f}"
            f"{1e3 * statistics.median(first.seconds):>10.3f}  {best.grid:<10}{best.overlap:<13}{1e3 * statistics.median(best.seconds):>10.3f}"
            f"{100 * case.regret:>10.1f} %{100 * case.noise:>6.1f} %{100 * case.gain_over_balanced:>14.1f} % ({balanced.grid})"
        )
    print("\nFastest of each kind of overlap over the fastest without, %:")
    for case in cases:
        plain = min(cut.measured for cut in case.cuts if cut.overlap == "none")
        kinds = {cut.overlap.split("_")[0] for cut in case.cuts} - {"none"}
        over = {kind: min(cut.measured for cut in case.cuts if cut.overlap.startswith(kind)) / plain - 1 for kind in sorted(kinds)}
        words = ", ".join(f"{'faces first' if kind == 'faces' else kind} {100 * value:+.1f}" for kind, value in over.items())
        print(f"{case.ranks:>6}{case.n:>6}^3  {case.wire:<8}{words}")


def charts(cases: list[Case]) -> list[Chart]:
    """Measured over predicted time, a dot for each cut. On the diagonal both are equal."""
    lines = []
    for wire in dict.fromkeys(case.wire for case in cases):
        cuts = [(cut is case.cuts[0], Point(1e3 * cut.predicted, 1e3 * cut.measured)) for case in cases if case.wire == wire for cut in case.cuts]
        for name, is_wanted in ((f"{wire}, other cuts", False), (f"{wire}, choice", True)):
            lines.append(Line(name, [point for is_choice, point in cuts if is_choice == is_wanted], has_path=False))
    times = [1e3 * time for case in cases for cut in case.cuts for time in (cut.predicted, cut.measured)]
    diagonal = Line("equal", [Point(time, time) for time in (min(times), max(times))], is_dashed=True)
    return [Chart("Time of a step of every cut, measured over predicted", "predicted [ms]", "measured [ms]", [*lines, diagonal])]


# ---- the published tables --------------------------------------------------------------------------

PUBLISHED_ROWS = (
    # machine, ranks, published: z over x (for an unknown number of processors), best 3-D cut and best 1-D cut over the
    # best 2-D cut, in %
    ("t3e-900-buffered", 16, 2.0, 7, 0),
    ("t3e-900-buffered", 32, 2.0, 5, 15),
    ("t3e-900-synchronous", 16, 1.6, None, None),
    ("origin2000", 32, 1.3, 8, 22),
    ("sp2", 16, None, None, None),
)


# Bounds of the predictions: machine, ranks, a share of print_published_tables() and its bounds.
PUBLISHED_BOUNDS = (
    ("t3e-900-buffered", 16, "z over x", 1.5, 2.5),
    ("t3e-900-buffered", 16, "3-D over 2-D", 1.02, 1.09),
    ("origin2000", 32, "3-D over 2-D", 1.05, 1.11),
)
PLAN_RANKS = 4096
PLAN_SECONDS_MAX = 0.05


@dataclasses.dataclass(frozen=True)
class PublishedPlan:
    """The plan of the published cube on a published machine."""

    choice: str
    overlap: str
    step: dict[tuple[int, ...], float]  # seconds by process grid, without overlap

    def over_two(self, cut_count: int) -> float:
        """The best grid that cuts this many dimensions, over the best that cuts two."""
        best = {count: min(s for grid, s in self.step.items() if sum(p > 1 for p in grid) == count) for count in (2, cut_count)}
        return best[cut_count] / best[2]

    def ratio(self, name: str, ranks: int) -> float:
        return self.step[(1, 1, ranks)] / self.step[(ranks, 1, 1)] if name == "z over x" else self.over_two(3)


def published_plan(command: str, machine_name: str, ranks: int) -> PublishedPlan:
    words = [command, "plan", "256", "256", "256", "-n", str(ranks), "--machine", machine_name, "--json"]
    words += ["--element", "16", "--flops", "14", "--bytes", "48"]
    plan = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    step = {tuple(c["grid"]): c["seconds"]["step"] for c in plan["candidates"] if c["overlap"] == "none"}
    return PublishedPlan("x".join(str(parts) for parts in plan["best"]["grid"]), plan["best"]["overlap"], step)


def print_published_tables(command: str) -> list[Bar]:
    print("\nA cube of 256^3 complex cells on the machines of Prieto, Llorente and Tirado (2000), model (published):\n")
    print(f"{'machine':<22}{'ranks':>6}  {'choice':<12}{'overlap':<13}{'z over x':>14}{'3-D over 2-D':>18}{'1-D over 2-D':>18}")
    plans = {}
    for name, ranks, published_z, published_3d, published_1d in PUBLISHED_ROWS:
        plan = plans[name, ranks] = published_plan(command, name, ranks)

        def over(cut_count: int, published: int | None, plan: PublishedPlan = plan) -> str:
            known = "" if published is None else f" ({published:+d} %)"
            return f"{100 * (plan.over_two(cut_count) - 1):+.1f} %{known}"

        ratio = f"{plan.ratio('z over x', ranks):.2f}" + ("" if published_z is None else f" ({published_z})")
        print(f"{name:<22}{ranks:>6}  {plan.choice:<12}{plan.overlap:<13}{ratio:>14}{over(3, published_3d):>18}{over(1, published_1d):>18}")
    return [bar for name, ranks, what, least, most in PUBLISHED_BOUNDS for bar in published_bars(plans[name, ranks].ratio(what, ranks), f"{name}, {ranks}: {what}", least, most)]


def published_bars(ratio: float, name: str, least: float, most: float) -> list[Bar]:
    """A bar is an upper bound; a lower bound is an upper bound of the inverse."""
    return [
        Bar(f"{name}, at most", ratio, "", "published", None, most, f"<= {most:g}", is_timed=False),
        Bar(f"{name}, at least {least:g}: inverse", 1 / ratio, "", "published", None, 1 / least, f"<= 1 / {least:g}", is_timed=False),
    ]


def plan_bar(command: str) -> Bar:
    """The time of the whole command: its start, the machine file, every cut of a large cube over thousands of ranks."""
    words = [command, "plan", "2048", "2048", "2048", "-n", str(PLAN_RANKS), "--machine", "t3e-900-buffered"]
    least = math.inf
    for _ in range(5):
        begin = time.monotonic()
        RUNS.watched(lambda: subprocess.run(words, capture_output=True, check=True))
        least = min(least, time.monotonic() - begin)
    return Bar(f"planning {PLAN_RANKS} ranks", 1e3 * least, "ms", "", None, 1e3 * PLAN_SECONDS_MAX, f"<= {1e3 * PLAN_SECONDS_MAX:g} ms")


# ---- measuring -------------------------------------------------------------------------------------


def run_arguments(command: str, ranks: int, workers: int, wire: str) -> list[str]:
    """All workers, even under external load: with fewer, the machine would differ from the measured one."""
    words = [command, "run", "--share", "fixed", "-n", str(ranks), "--workers", str(workers)]
    return [*words, "--wire", WIRES[wire]] if WIRES[wire] else words


def program(command: str, name: str) -> str:
    return str(pathlib.Path(command).parent / "../libexec/sorrel" / name)


def measured_machine(command: str, folder: pathlib.Path, workers: int, wire: str) -> pathlib.Path:
    """The current machine, measured for this benchmark only."""
    path = folder / f"machine-{wire.replace(' ', '-')}.json"
    words = [*run_arguments(command, 2 * workers, workers, wire), program(command, "measure"), "here", str(workers), str(path)]
    subprocess.run(words, check=True)
    return path


@dataclasses.dataclass(frozen=True)
class Job:
    """A case before it is run."""

    wire: str
    n: int
    ranks: int

    def __str__(self) -> str:
        return f"{self.n}^3 cells on {self.ranks} ranks, {self.wire}"

    @property
    def candidates(self) -> int:
        """Ordered ways to write the ranks as a product of three, each with up to three kinds of overlap."""
        divisors = [d for d in range(1, self.ranks + 1) if self.ranks % d == 0]
        return 3 * sum((self.ranks // d) % e == 0 for d in divisors for e in divisors)

    def expected_seconds(self, is_quick: bool) -> float:
        timed = 4 if is_quick else 7.5  # requested by run_case()
        return timed + self.candidates * (CANDIDATE_SECONDS + CELL_SECONDS * self.n**3)


def jobs_of(is_quick: bool, sizes: list[int]) -> list[Job]:
    """The cheapest first."""
    ranks = QUICK_RANKS if is_quick else RANKS
    jobs = [Job(wire, n, p) for wire in WIRES for n in sizes for p in ranks]
    if is_quick:
        jobs = [job for job in jobs if job.wire == "no wire" or job.n in QUICK_WIRE_SIZES]
    return sorted(jobs, key=lambda job: job.expected_seconds(is_quick))


class Clock:
    """Estimate of the time of cases, corrected by those that have been run."""

    def __init__(self, is_quick: bool, minutes: float | None) -> None:
        self._is_quick = is_quick
        self._begin = time.monotonic()
        self._limit_seconds = math.inf if minutes is None else 60 * minutes
        self._spent = self._expected = 0.0

    def seconds_of(self, jobs: list[Job]) -> float:
        expected = sum(job.expected_seconds(self._is_quick) for job in jobs)
        return expected * (self._spent / self._expected if self._expected > 0 else 1)

    def has_time_for(self, job: Job) -> bool:
        return time.monotonic() - self._begin + self.seconds_of([job]) <= self._limit_seconds

    def took(self, job: Job, seconds: float) -> None:
        self._spent += seconds
        self._expected += job.expected_seconds(self._is_quick)


def minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"


def run_case(command: str, job: Job, workers: int, machine_file: pathlib.Path, is_quick: bool) -> Case:
    seconds, rounds = ("0.8", "2") if is_quick else ("1.5", "2")
    words = run_arguments(command, job.ranks, min(workers, job.ranks), job.wire)
    words += [program(command, "partition"), str(machine_file), str(job.n), seconds, rounds]
    limit = max(CASE_SECONDS_MIN, 10 * job.expected_seconds(is_quick))
    try:
        watch = Watch()
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        raise ValueError(f"no end after {limit:.0f} s") from None
    if done.returncode != 0:
        raise ValueError(done.stderr.strip() or f"status {done.returncode}")
    taken, foreign_share = watch.end()
    return dataclasses.replace(read_case(job.ranks, job.n, done.stdout, job.wire), seconds=taken, foreign_share=foreign_share)


def run_halo(command: str, folder: pathlib.Path, is_quick: bool) -> list[list[Bar]]:
    """Both in turn: the bar by the least of all rounds, of the even ones, and of the odd ones."""
    name = f"halo of {HALO_SIZE}^3 cut across the rows"
    compiler, launcher = shutil.which("mpicc.mpich"), shutil.which("mpiexec.mpich")
    if compiler is None or launcher is None:
        print(f"Skipped: {name}, beside MPICH's vector datatype: no MPICH is installed (`sorrel bench partition --peers` does it).")
        return [[], [], []]
    theirs = folder / "zface"
    subprocess.run([compiler, "-O3", str(probe_source("zface")), "-o", str(theirs)], check=True)
    arguments = [str(HALO_SIZE), "10" if is_quick else "30"]
    rounds: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(2 if is_quick else 4):
        for who, words in (
            ("ours", [*run_arguments(command, 2, 2, "no wire"), program(command, "zface"), *arguments]),
            ("theirs", [launcher, "-bind-to", "core", "-n", "2", str(theirs), *arguments]),
        ):
            done = RUNS.watched(lambda w=words: subprocess.run(w, capture_output=True, text=True, check=True))
            rounds[who].append(min(1e6 * float(seconds) for seconds in HALO_LINE.findall(done.stdout)))
    return [[halo_bar(name, {who: min(found) for who, found in some.items()})] for some in (rounds, half_of(rounds, 0), half_of(rounds, 1))]


def half_of(rounds: dict[str, list[float]], which: int) -> dict[str, list[float]]:
    return {who: found[which::2] for who, found in rounds.items()}


def halo_bar(name: str, least: dict[str, float]) -> Bar:
    return Bar(name, least["ours"], "us", "MPICH vector", least["theirs"], least["theirs"] / HALO_SPEEDUP_MIN, "<= MPICH / 2")


class Cases:
    """Runs cases in the given order, as far as the time allows."""

    def __init__(self, arguments: argparse.Namespace, folder: pathlib.Path, workers: int, done: list[Case]) -> None:
        self.done = list(done)
        self.failed: list[str] = []
        self.left_out: list[Job] = []
        self._arguments = arguments
        self._folder = folder
        self._workers = workers
        self._machine_files: dict[str, pathlib.Path] = {}

    def run(self, jobs: list[Job], result: "Result") -> None:
        clock = Clock(self._arguments.quick, self._arguments.minutes)
        wires = {job.wire for job in jobs}
        print(f"{len(jobs)} cases on {self._workers} workers, about {minutes(clock.seconds_of(jobs) + MEASURE_SECONDS * len(wires))}.", flush=True)
        progress = report.Progress(len(jobs), "partition")
        for i, job in enumerate(jobs):
            if not clock.has_time_for(job):
                self.left_out.append(job)
                continue
            progress.step(f"{job}; about {minutes(clock.seconds_of(jobs[i:]))} left")
            self._run(job, clock)
            result.write(self.done)
        progress.end()

    def _run(self, job: Job, clock: Clock) -> None:
        try:
            machine_file = self._machine_file(job.wire)
            begin = time.monotonic()
            self.done.append(run_case(self._arguments.command, job, self._workers, machine_file, self._arguments.quick))
            clock.took(job, time.monotonic() - begin)
        except ValueError as error:
            self.failed.append(f"{job}: {error}")

    def _machine_file(self, wire: str) -> pathlib.Path:
        if wire not in self._machine_files:
            self._machine_files[wire] = measured_machine(self._arguments.command, self._folder, self._workers, wire)
        return self._machine_files[wire]


def case_of(json_case: dict) -> Case:
    cuts = tuple(Cut(**cut) for cut in json_case["cuts"])
    turns = {role: Turns(**{**turns, "seconds": tuple(turns["seconds"])}) for role, turns in json_case["turns"].items()}
    return Case(**{**json_case, "cuts": cuts, "turns": turns})


def cases_of(path: pathlib.Path) -> list[Case]:
    """The contents of a result file; nothing if there is none."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if not text:
        return []
    try:
        return [case_of(case) for case in json.loads(text)["cases"]]
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path} is not a result of `sorrel bench partition`: {error}") from None


@dataclasses.dataclass
class Result:
    """Writes the file of --json, at the end with the picture beside it."""

    path: pathlib.Path | None
    facts: dict

    def write(self, cases: list[Case], bars: list[Bar] | None = None) -> None:
        if self.path is None:
            return
        is_last = bars is not None
        bars = settled(cases) if bars is None else bars
        result = {"benchmark": "partition", "machine": self.facts, "cases": [dataclasses.asdict(case) for case in cases], "bars": [bar.as_json() for bar in bars]}
        self.path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        if cases and is_last:
            pictures.save(charts(cases), self.path)


def main(arguments: argparse.Namespace) -> int:
    result = Result(arguments.json, machine.describe())
    workers = len(machine.distinct_cores())
    wanted = set(arguments.only) or set(PARTS)
    sizes = [n for n in (QUICK_SIZES if arguments.quick and not arguments.only else SIZES) if str(n) in wanted]
    try:
        kept = cases_of(arguments.json) if arguments.resume else []
    except ValueError as error:
        print(f"sorrel: bench: {error}", file=sys.stderr)
        return 2
    bars, *halves = ([], [], [])
    known = {(case.wire, case.n, case.ranks) for case in kept}
    with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as folder:
        cases = Cases(arguments, pathlib.Path(folder), workers, kept)
        jobs = [job for job in jobs_of(arguments.quick, sizes) if (job.wire, job.n, job.ranks) not in known]
        if jobs:
            cases.run(jobs, result)
        if cases.done:
            print_cases(cases.done)
            RUNS.include(runs_of(cases.done))
            bars += judge(cases.done)
            for which, half in enumerate(halves):
                half += judge([case.half(which) for case in cases.done])
        if "halo" in wanted:
            for some, found in zip((bars, *halves), run_halo(arguments.command, pathlib.Path(folder), arguments.quick), strict=True):
                some += found
    if "published" in wanted:
        bars += [*print_published_tables(arguments.command), plan_bar(arguments.command)]
    doubts = settle(bars, halves, RUNS.foreign_share)
    if bars:
        report.print_bars(bars)
    if cases.done:
        print(f"Same cut timed twice: median {100 * statistics.median(case.noise for case in cases.done):.1f} % apart.")
        print(f"Best gain over MPI_Dims_create's cut: {100 * max(case.gain_over_balanced for case in cases.done):.1f} %")
    if cases.left_out:
        print(f"No time was left for {len(cases.left_out)} of {len(jobs)} cases: {'; '.join(str(job) for job in cases.left_out)}")
    report.print_gaps([], cases.failed)
    report.print_end(doubts)
    result.facts |= machine.after_runs()
    result.write(cases.done, bars)
    return 1 if cases.failed else 0
