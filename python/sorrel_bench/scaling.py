"""`sorrel bench scaling`: the operations that programs wait for, on 1, 2, 4, ... all cores, beside every MPI and OpenMP library found.

Every program checks its results. A floor hides what most operations take: each row has the median and the 90th percentile beside it.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence

from . import machine, pictures, report
from .bars import OWN, Bar, settle
from .disturbance import RUNS
from .experiments import Experiment
from .implementations import Implementation, Job, installed_peers, sorrel
from .runner import Plan, Runner, Samples, percentile
from .virtual_setting import with_balance

MPI, BALANCE, OPENMP = "MPI", "balance", "OpenMP"  # kinds of implementations
BALANCES = ("steal", "measured")
BALANCER = "GreedyRefineLB"  # of AMPI
LIBRARIES = (("libgomp", "gcc"), ("libomp", "clang"))
RANKS_A_WORKER = 8
BALANCED_STEP_US, BALANCED_STEPS, BALANCED_STEPS_QUICK = "500", "300", "100"
CONSTRUCTS = ("barrier", "for-static", "parallel", "reduction", "single", "tasks-of-all", "tasks-of-one", "task-and-wait", "dependent-chain")
# Constructs whose bar is a share of the best peer's.
SHORT_CONSTRUCTS = CONSTRUCTS[:5]
BURST = 1000  # round trips after a pause
PAUSES = (("0.1 ms asleep", 100, 0), ("10 ms asleep", 10_000, 0), ("100 ms asleep", 100_000, 0), ("100 ms of computing", 100_000, 1),
          ("100 ms of writing", 100_000, 2))  # fmt: skip
GRID, GRID_QUICK = "2000", "500"
MINUTES, MINUTES_QUICK, ROUNDS_MAX = 5, 1, 9
UNSTEADY = 1.5  # median over floor


@dataclasses.dataclass(frozen=True)
class Member(Implementation):
    """An implementation of one kind of experiments only."""

    kind: str = MPI


@dataclasses.dataclass(frozen=True)
class Point(Experiment):
    """An operation on a number of cores."""

    part: str = ""
    series: str = ""
    kind: str = MPI
    # For values that are compared with an ideal: that of the series `compute` times this.
    share: float | None = None
    # A value is the mean of so many samples: one rank's clock sees a short step after a long one.
    window: int = 1
    # Whether ranks that are processes may outnumber the cores.
    has_crowds: bool = False

    @property
    def unit(self) -> str:
        return "x ideal" if self.share is not None else ""

    def concerns(self, implementation: Implementation) -> bool:
        if getattr(implementation, "kind", MPI) != self.kind:
            return False
        is_crowd = self.ranks > self.workers and not self.has_crowds
        return implementation.is_sorrel or implementation.has_light_ranks or not is_crowd


def worker_counts(cores: int) -> list[int]:
    """1, 2, 4, ... and all."""
    return sorted({*(1 << k for k in range(cores.bit_length()) if 1 << k <= cores), cores})


def _message_points(workers: int) -> Iterator[Point]:
    if workers == 2:
        yield Point("pingpong", "8 B half round trip, 2 ranks", "pingpong", 2, 2, ("8", "2"), part="messages", series="half_round_trip")
        yield Point("rate", "a message of 8 B, window of 32, 2 ranks", "message_rate", 2, 2, ("8", "32"), part="messages", series="message")
    if workers >= 2:
        yield Point(f"kneighbor_{workers}", f"kNeighbor 64 B, K=3, {workers} ranks", "kneighbor", workers, workers, ("64", "3"),
                    part="messages", series="iteration")  # fmt: skip


def _reduction_points(workers: int) -> Iterator[Point]:
    for ranks in sorted({workers, 256, 4096}):
        if ranks >= 2 and ranks >= workers:
            yield Point(f"allreduce_{ranks}_{workers}", f"allreduce of one double, {ranks} ranks", "allreduce", ranks, workers,
                        part="allreduce", series="allreduce", starts=1)  # fmt: skip


def _loop_points(workers: int) -> Iterator[Point]:
    for ranks in (workers, RANKS_A_WORKER * workers):
        if ranks >= 2:
            yield Point(f"cg_loop_{ranks}_{workers}", f"CG-like loop, {ranks} ranks", "cg_loop", ranks, workers,
                        part="loop", series="iteration", share=ranks / workers)  # fmt: skip


def _imbalance_points(workers: int, is_quick: bool) -> Iterator[Point]:
    ranks = RANKS_A_WORKER * workers
    steps = BALANCED_STEPS_QUICK if is_quick else BALANCED_STEPS
    if workers >= 2:
        yield Point(f"imbalance_{workers}", f"{ranks} ranks, half of them with all work", "imbalance", ranks, workers,
                    (BALANCED_STEP_US, steps, "0"), part="imbalance", series="step", kind=BALANCE,
                    share=ranks / 2 / workers, window=20)  # fmt: skip


def _openmp_points(workers: int) -> Iterator[Point]:
    for construct in CONSTRUCTS if workers >= 2 else ():
        yield Point(f"{construct}_{workers}", f"OpenMP: {construct}, {workers} threads", "overheads", 1, workers,
                    (str(workers), "samples", construct), part="openmp", series=construct, kind=OPENMP)  # fmt: skip


def _pause_points(workers: int, cores: int) -> Iterator[Point]:
    if workers != 2 and workers != cores - cores % 2:
        return
    for title, us, kind in PAUSES if workers >= 2 else ():
        yield Point(f"cold_{us}_{kind}_{workers}", f"{BURST} round trips after {title}, {workers} ranks", "cold", workers, workers,
                    (str(us), str(BURST), str(kind)), part="pauses", series="burst")  # fmt: skip


def _start_points(workers: int, cores: int) -> Iterator[Point]:
    for ranks in (16, 4096) if workers == cores else ():
        yield Point(f"startup_{ranks}", f"start of {ranks} ranks", "startup", ranks, workers, part="start", series="first_collective",
                    has_crowds=ranks <= 64)  # fmt: skip


def _application_points(workers: int, is_quick: bool) -> Iterator[Point]:
    grid = GRID_QUICK if is_quick else GRID
    for ranks in (workers, 4 * workers, 16 * workers):
        yield Point(f"cg2d_{ranks}_{workers}", f"cg2d {grid}x{grid}, {ranks} rank{'s' if ranks > 1 else ''}", "cg2d", ranks, workers,
                    ("--grid", grid, "--steps", "60"), part="cg2d", series="step")  # fmt: skip


PARTS = ("messages", "allreduce", "loop", "imbalance", "openmp", "pauses", "start", "cg2d")


def points_of(cores: int, parts: Sequence[str], is_quick: bool) -> list[Point]:
    """All points by part, then by the number of cores."""
    found = []
    for workers in worker_counts(cores):
        found += [
            *_message_points(workers), *_reduction_points(workers), *_loop_points(workers), *_imbalance_points(workers, is_quick),
            *_openmp_points(workers), *_pause_points(workers, cores), *_start_points(workers, cores), *_application_points(workers, is_quick),
        ]  # fmt: skip
    return sorted((point for point in found if point.part in parts), key=lambda point: PARTS.index(point.part))


def _of_kind(implementation: Implementation, kind: str) -> Member:
    fields = {field.name: getattr(implementation, field.name) for field in dataclasses.fields(Implementation)}
    return Member(**fields, kind=kind)


def openmp_libraries(command: str) -> list[Member]:
    """The compilers' libraries that are found; and gcc's programs with Sorrel's."""

    def with_threads(words: Sequence[str]) -> Callable[[Job], list[str]]:
        return lambda job: ["env", f"OMP_NUM_THREADS={job.arguments[0]}", *words, job.program, *job.arguments]

    version = sorrel(command).version
    found = [
        Member(name, "", (compiler, "-fopenmp"), with_threads(()), has_light_ranks=True, kind=OPENMP)
        for name, compiler in LIBRARIES if shutil.which(compiler)
    ]  # fmt: skip
    if shutil.which("gcc"):
        found.insert(0, Member(OWN, version, ("gcc", "-fopenmp"), with_threads((command, "run", "--omp")), has_light_ranks=True,
                               is_sorrel=True, kind=OPENMP))  # fmt: skip
    return found


def members_of(command: str, ampi: str | None) -> list[Implementation]:
    plain = [sorrel(command), *installed_peers(command, ampi)]
    balanced = []
    for implementation in plain:
        ways = BALANCES if implementation.is_sorrel else (BALANCER,) if implementation.has_light_ranks else ()
        if ways:
            balanced += [implementation, *(with_balance(implementation, way) for way in ways)]
    return [*plain, *(_of_kind(implementation, BALANCE) for implementation in balanced), *openmp_libraries(command)]


def _windows(run: Sequence[float], length: int) -> list[Sequence[float]]:
    """Parts of this length; a shorter rest is left out, unless it is all."""
    parts = [run[begin : begin + length] for begin in range(0, len(run) - length + 1, length)]
    return parts or [run]


def values_of(samples: Samples, point: Point, implementation: str) -> list[float]:
    """The samples of a point, over the ideal if it has one."""
    found = samples.get(point.name, implementation, point.series)
    if found is None:
        return []
    values = [statistics.fmean(part) for run in found.runs for part in _windows(run, point.window)]
    if point.share is None:
        return values
    compute = samples.get(point.name, implementation, "compute")
    return [value / (compute.floor * point.share) for value in values] if compute else []


@dataclasses.dataclass(frozen=True)
class Figures:
    floor: float
    median: float
    high: float  # the 90th percentile
    worst: float


def figures_of(samples: Samples, point: Point, implementation: str) -> Figures | None:
    values = values_of(samples, point, implementation)
    if not values:
        return None
    return Figures(min(values), percentile(values, 0.5), percentile(values, 0.9), max(values))


def own_names(point: Point) -> list[str]:
    """The implementations that are Sorrel."""
    return [OWN, *(f"{OWN} {way}" for way in BALANCES)] if point.kind == BALANCE else [OWN]


def peers_of(samples: Samples, point: Point) -> list[str]:
    names = dict.fromkeys(name for (experiment, name, series) in samples.series if (experiment, series) == (point.name, point.series))
    return [name for name in names if name not in own_names(point)]


def _best(samples: Samples, point: Point, names: Sequence[str]) -> tuple[float | None, str]:
    """The least median."""
    found = [(figures.median, name) for name in names if (figures := figures_of(samples, point, name))]
    return min(found, default=(None, "-"))


def _unit_of(samples: Samples, point: Point, implementation: str) -> str:
    found = samples.get(point.name, implementation, point.series)
    return point.unit or (found.unit if found else "")


# A bar: the most of the peer's median (None: the best peer), or a number if the peer is "".
def _rule_of(point: Point) -> tuple[float, str | None] | None:
    name, is_one_a_core = point.name, point.ranks == point.workers
    if name.startswith("kneighbor"):
        return 0.65, "Open MPI"
    if name.startswith("allreduce"):
        return (0.75, "MPICH") if is_one_a_core else (0.07, "AMPI") if point.ranks == 256 else (0.15, "AMPI")
    if name.startswith("cg_loop"):
        return None if is_one_a_core else ({1: 1.05, 2: 1.08, 4: 1.12, 8: 1.15}.get(point.workers, 1.20), "")
    if name.startswith("imbalance"):
        return 1.08, ""
    if point.series in SHORT_CONSTRUCTS:
        return 0.7, None
    if point.kind == OPENMP or point.part in ("messages", "cg2d"):
        return 1.0, None
    if point.part == "pauses":
        return 0.8, "Open MPI"
    return None


def bars_of(samples: Samples, points: Sequence[Point]) -> list[Bar]:
    """Bars of medians; of the worst sample too, after a pause."""
    bars = []
    for point in points:
        rule = _rule_of(point)
        if rule is None:
            continue
        most, wanted = rule
        names = own_names(point)[1:] if point.kind == BALANCE else own_names(point)
        value, own = _best(samples, point, names)
        peers = [name for name in peers_of(samples, point) if wanted in (None, "", name)]
        peer_value, peer = _best(samples, point, peers)
        bar = most if wanted == "" else None if peer_value is None else most * peer_value
        text = f"<= {most:g} x ideal" if wanted == "" else f"<= {most:g} x {wanted or 'the best peer'}"
        bars.append(Bar(f"{point.title} on {point.workers}", value, _unit_of(samples, point, own), peer, peer_value, bar, text))
        if point.part == "pauses":
            worst = [figures.worst if (figures := figures_of(samples, point, name)) else None for name in (OWN, "Open MPI")]
            bars.append(Bar(f"{point.title} on {point.workers}, worst", worst[0], _unit_of(samples, point, OWN), "Open MPI", worst[1],
                            worst[1], "<= 1 x Open MPI"))  # fmt: skip
    return bars


def lines_of(samples: Samples, points: Sequence[Point]) -> Iterator[str]:
    """A line for each point and implementation; ratio: the peer's median over Sorrel's best, so above 1 Sorrel needs less."""
    yield f"{'operation':<48}{'cores':>6} {'with':<22}{'floor':>10}{'median':>10}{'90 %':>10} {'unit':<8}{'median ratio':>13}"
    for point in points:
        own_median, _ = _best(samples, point, own_names(point))
        shown = ""
        for name in (*own_names(point), *peers_of(samples, point)):
            figures = figures_of(samples, point, name)
            if figures is None:
                continue
            is_peer = name not in own_names(point)
            ratio = report.number(figures.median / own_median) if is_peer and own_median else ""
            mark = " !" if not is_peer and figures.median > UNSTEADY * figures.floor else ""
            heading = "" if shown == point.name else f"{point.title:<48}{point.workers:>6}"
            yield (
                f"{heading:<54} {name:<22}{report.number(figures.floor):>10}{report.number(figures.median):>10}"
                f"{report.number(figures.high):>10} {_unit_of(samples, point, name):<8}{ratio:>13}{mark}"
            )
            shown = point.name


CHARTS = (
    ("kNeighbor 64 B, one rank a core", "us", lambda p: p.name.startswith("kneighbor")),
    ("Allreduce of one double, one rank a core", "us", lambda p: p.part == "allreduce" and p.ranks == p.workers),
    ("Allreduce of one double, 256 ranks", "us", lambda p: p.part == "allreduce" and p.ranks == 256),
    (f"CG-like loop, {RANKS_A_WORKER} ranks a worker", "times the ideal", lambda p: p.part == "loop" and p.ranks > p.workers),
    ("OpenMP barrier", "ns", lambda p: p.series == "barrier"),
    ("Half of the ranks have all work", "times the ideal", lambda p: p.part == "imbalance"),
)


def charts_of(samples: Samples, points: Sequence[Point]) -> list[pictures.Chart]:
    """Medians by the number of cores; the spread is from the floor to the 90th percentile."""
    charts = []
    for title, unit, is_shown in CHARTS:
        shown = [point for point in points if is_shown(point)]
        lines = []
        for name in dict.fromkeys(n for point in shown for n in (*own_names(point), *peers_of(samples, point))):
            found = [(point.workers, figures) for point in shown if (figures := figures_of(samples, point, name))]
            lines.append(pictures.Line(name, [pictures.Point(x, f.median, f.floor, f.high) for x, f in found]))
        ticks = [point.workers for point in shown]
        charts.append(pictures.Chart(title, "cores", unit, lines, x_ticks=ticks, note="Medians; from the floor to the 90th percentile."))
    return charts


def run_rounds(runner: Runner, minutes: float, rounds_max: int) -> int:
    """Rounds until the time is over, at least one; returns their number."""
    started = time.monotonic()
    builds = runner.builds()
    progress = report.Progress(len(builds), "building")
    for probe, implementation in builds:
        progress.step(f"{probe} with {implementation.name}")
        runner.build(probe, implementation)
    progress.end()
    begun, done = time.monotonic(), 0
    turns = runner.turns()
    a_round = len(turns) // runner.plan.rounds
    progress = report.Progress(len(turns), "run")
    while done < rounds_max:
        seconds = (time.monotonic() - begun) / done if done else 0.0
        if done and time.monotonic() - started + seconds > 60 * minutes:
            break
        for _, experiment, implementation in turns[done * a_round : (done + 1) * a_round]:
            progress.step(f"round {done + 1}, {experiment.title}, {implementation.name}")
            runner.run(experiment, implementation)
        done += 1
    progress.end()
    return done


def main(arguments) -> int:
    facts = machine.describe()
    cpus = machine.distinct_cores()
    print(f"{facts['processor']}, {len(cpus)} cores of {facts['cpus']} CPUs, Linux {facts['kernel']}")
    parts = [part for part in PARTS if not arguments.only or part in arguments.only]
    points = points_of(len(cpus), parts, arguments.quick)
    minutes = arguments.minutes or (MINUTES_QUICK if arguments.quick else MINUTES)
    rounds_max = arguments.rounds or (1 if arguments.quick else ROUNDS_MAX)
    with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as folder:
        members = members_of(arguments.command, arguments.ampi)
        print("Found: " + ", ".join(dict.fromkeys(f"{m.name} {m.version}".strip() for m in members)), flush=True)
        plan = Plan(points, members, rounds_max, 0.05 if arguments.quick else 0.15, cpus, pathlib.Path(folder))
        runner = Runner(plan)
        rounds = run_rounds(runner, minutes, rounds_max)
    bars = [bar for bar in bars_of(runner.samples, points) if bar.value is not None]
    doubts = settle(bars, [bars_of(runner.samples.half(which), points) for which in (0, 1)], RUNS.foreign_share)
    print(f"\n{rounds} round{'s' if rounds > 1 else ''}; ! behind a row of Sorrel's: the median is more than {UNSTEADY} times the floor.\n")
    for line in lines_of(runner.samples, points):
        print(line)
    report.print_bars(bars, "medians")
    missing = [name for name in ("AMPI", "MPICH", "Open MPI", "libgomp", "libomp") if all(m.name != name for m in members)]
    report.print_failures(runner, missing)
    report.print_end(doubts)
    if arguments.json is not None:
        facts |= machine.after_runs()
        result = report.as_json(runner, bars, facts, missing) | {"benchmark": "scaling"}
        result["options"] |= {"rounds": rounds, "parts": parts, "minutes": minutes}
        arguments.json.write_text(json.dumps(result, indent=1) + os.linesep, encoding="utf-8")
        pictures.save(charts_of(runner.samples, points), arguments.json, columns=2)
    return 1 if any(error.implementation.startswith(OWN) for error in runner.troubles) else 0
