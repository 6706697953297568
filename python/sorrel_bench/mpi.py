"""`sorrel bench mpi`: what programs use of MPI beyond messages, beside every MPI found: nonblocking, persistent and
neighbourhood collectives, one-sided communication, derived datatypes, files. Collectives of many ranks beside AMPI. The
share of a nonblocking allreduce that computing hides over simulated nodes. A sweep of sizes, in which jumps are marked.

Each program (bench/mpi) checks its results.
"""

import dataclasses
import json
import pathlib
import tempfile
from collections.abc import Sequence

from . import machine, report, sizes
from .bars import OWN, Bar, settle
from .disturbance import RUNS
from .experiments import Experiment
from .implementations import Implementation, Job, installed_peers, sorrel
from .measurement import measure
from .runner import Plan, Runner, Samples

PROCESSES = ("MPICH", "Open MPI")
PEERS = ("AMPI", *PROCESSES)
RANKS = (2, 16)
WORKERS = 2
# Shares of the faster of the MPIs whose ranks are processes; with 2 ranks and with 16.
FACTORS = {2: 1.0, 16: 0.2}
AMPI_FACTOR = 0.3
EXPOSED_MAX = 0.2


@dataclasses.dataclass(frozen=True)
class Row:
    """One program with its arguments, and the series that its bar is about."""

    part: str
    title: str
    probe: str
    arguments: tuple[str, ...]
    series: str
    # AMPI has no persistent collectives, no flush and no files: these programs do not compile, or abort.
    has_ampi: bool = False


ROWS = (
    Row("iallreduce", "Iallreduce of 8 KiB beside computing", "overlap", ("1024", "1500"), "overlapped", True),
    Row("persistent", "persistent allreduce of one double", "persistent", ("1",), "allreduce"),
    Row("neighbor", "neighbour alltoall, blocks of 1 KiB", "neighbor", ("1024",), "exchange", True),
    Row("put_fence", "put of 1 KiB to two neighbours, fence", "put_fence", ("128",), "step", True),
    Row("fetch_and_op", "fetch_and_op on one counter, flush", "fetch_and_op", (), "addition"),
    Row("get", "passive get of 1 KiB, flush", "passive_get", ("128",), "get"),
    Row("face", "vector type, face of 64^3 doubles", "strided_face", ("64",), "exchange", True),
    Row("write", "collective write, 64 x 512 B a rank", "write_all", ("512", "64"), "write"),
)  # fmt: skip

COLLECTIVES = "collectives"
OVERLAP = "overlap"
PARTS = (*(row.part for row in ROWS), COLLECTIVES, OVERLAP, sizes.PART)
MANY_RANKS = (64, 512)
# Name of the collective, and doubles.
MANY = (
    ("barrier", 1), ("bcast", 1), ("bcast", 1024), ("reduce", 1), ("reduce", 1024), ("allreduce", 1), ("allreduce", 1024),
    ("gather", 1), ("scatter", 1), ("allgather", 1), ("alltoall", 1), ("reduce_scatter", 1), ("scan", 1),
)  # fmt: skip


WIRED = "wired"  # Sorrel on simulated nodes


@dataclasses.dataclass(frozen=True)
class Wire:
    """Ranks on four simulated nodes."""

    ranks: int
    latency: str
    bandwidth: str

    @property
    def name(self) -> str:
        return f"{OVERLAP}_{self.ranks}_{self.bandwidth.replace('/', '_')}"

    @property
    def title(self) -> str:
        return f"Iallreduce of 1 MiB, {self.ranks} ranks, {self.bandwidth}"

    def experiment(self) -> "Chapter":
        wire = f"latency={self.latency},bandwidth={self.bandwidth},nodes=4"
        return Chapter(self.name, self.title, "overlap", self.ranks, WORKERS, (str(1 << 17), "0", wire), only=WIRED)


WIRES = (Wire(16, "50us", "100MB/s"), Wire(16, "50us", "1GB/s"), Wire(4, "50us", "1GB/s"))


def wired(command: str) -> Implementation:
    """Sorrel on simulated nodes; the last argument of a job is the wire."""

    def launch(job: Job) -> list[str]:
        words = ["--workers", str(job.workers), "--share", "fixed", "--wire", job.arguments[-1], "-n", str(job.ranks)]
        return [command, "run", *words, job.program, *job.arguments[:-1]]

    return dataclasses.replace(sorrel(command), name=WIRED, launch=launch)


@dataclasses.dataclass(frozen=True)
class Chapter(Experiment):
    """An experiment in which not every implementation takes part."""

    only: str = ""
    has_ampi: bool = True

    def concerns(self, implementation: Implementation) -> bool:
        if self.only or implementation.name == WIRED:
            return implementation.name == self.only
        return (self.has_ampi or implementation.name != "AMPI") and super().concerns(implementation)


def row_name(row: Row, ranks: int) -> str:
    return f"{row.part}_{ranks}"


def many_name(name: str, count: int, ranks: int) -> str:
    return f"{COLLECTIVES}_{name}_{8 * count}_{ranks}"


def experiments_of(parts: Sequence[str], is_quick: bool = False) -> list[Experiment]:
    found: list[Experiment] = [
        Chapter(row_name(row, ranks), f"{row.title}, {ranks} ranks", row.probe, ranks, WORKERS, row.arguments, has_ampi=row.has_ampi)
        for row in ROWS if row.part in parts for ranks in RANKS
    ]  # fmt: skip
    if COLLECTIVES in parts:
        found += [
            Chapter(many_name(name, count, ranks), f"{name} of {8 * count} B, {ranks} ranks, 2 workers", "collective", ranks, WORKERS,
                    (name, str(count)), needs_light_ranks=True)
            for name, count in MANY for ranks in MANY_RANKS
        ]  # fmt: skip
    if sizes.PART in parts:
        largest = str(sizes.LARGEST_QUICK if is_quick else sizes.LARGEST)
        found += [
            Chapter(sizes.name_of(ranks, workers), f"all sizes, {sizes.title_of(ranks, workers)}", sizes.PROBE, ranks, workers,
                    (largest,), needs_light_ranks=ranks > workers)
            for ranks, workers in sizes.SHAPES
        ]  # fmt: skip
    return [*found, *(wire.experiment() for wire in WIRES if OVERLAP in parts)]


def exposed(samples: Samples, wire: Wire) -> float | None:
    """The share of the allreduce alone that is not hidden: by how much computing takes longer with it."""
    floors = {}
    for series in ("pure", "compute", "overlapped"):
        found = samples.get(wire.name, WIRED, series)
        if found is None:
            return None
        floors[series] = found.floor
    return max(0.0, floors["overlapped"] - floors["compute"]) / floors["pure"]


def judge(samples: Samples) -> list[Bar]:
    def floor(experiment: str, implementation: str, series: str) -> float | None:
        found = samples.get(experiment, implementation, series)
        return found.floor if found else None

    bars = []
    for row in ROWS:
        for ranks in RANKS:
            name, factor = row_name(row, ranks), FACTORS[ranks]
            peers = [(value, peer) for peer in PROCESSES if (value := floor(name, peer, row.series)) is not None]
            peer_value, peer = min(peers, default=(None, "-"))
            most = None if peer_value is None else factor * peer_value
            title = f"{row.title}, {ranks} ranks"
            bars.append(Bar(title, floor(name, OWN, row.series), "us", peer, peer_value, most, f"<= {factor:g} x the faster of two"))
    for collective, count in MANY:
        for ranks in MANY_RANKS:
            name = many_name(collective, count, ranks)
            value, peer_value = (floor(name, who, collective) for who in (OWN, "AMPI"))
            most = None if peer_value is None else AMPI_FACTOR * peer_value
            title = f"{collective} of {8 * count} B, {ranks} ranks, 2 workers"
            bars.append(Bar(title, value, "us", "AMPI", peer_value, most, f"<= {AMPI_FACTOR:g} x AMPI"))
    for wire in WIRES:
        rule = f"hidden >= {100 * (1 - EXPOSED_MAX):.0f} %" if wire == WIRES[0] else "no bar"
        most = EXPOSED_MAX if wire == WIRES[0] else None
        bars.append(Bar(f"exposed: {wire.title}", exposed(samples, wire), "share", "-", None, most, rule))
    return [bar for bar in bars if bar.value is not None]


def measure_mpis(arguments, folder: pathlib.Path, cpus: Sequence[int], parts: Sequence[str]) -> Runner:
    mpis = [sorrel(arguments.command), *installed_peers(arguments.command, arguments.ampi)]
    print("MPIs: " + ", ".join(f"{i.name} {i.version}" for i in mpis), flush=True)
    return measure(
        Plan(
            experiments=experiments_of(parts, arguments.quick),
            implementations=[*mpis, *([wired(arguments.command)] if OVERLAP in parts else [])],
            rounds=arguments.rounds or (2 if arguments.quick else 5),
            series_seconds=0.05 if arguments.quick else 0.15,
            cpus=cpus,
            folder=folder,
        )
    )


def main(arguments) -> int:
    facts = machine.describe()
    parts = [part for part in PARTS if not arguments.only or part in arguments.only]
    print(f"{facts['processor']}, {len(facts['cpus_allowed'])} of {facts['cpus']} CPUs, Linux {facts['kernel']}")
    cpus = machine.distinct_cores()
    if len(cpus) < WORKERS:
        raise SystemExit(f"sorrel: bench: mpi needs {WORKERS} cores; this process may use {len(cpus)}")
    with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as name:
        runner = measure_mpis(arguments, pathlib.Path(name), cpus, parts)
    bars = judge(runner.samples)
    doubts = settle(bars, [judge(runner.samples.half(which)) for which in (0, 1)], RUNS.foreign_share)
    missing = [peer for peer in PEERS if all(i.name != peer for i in runner.plan.implementations)]
    report.print_samples(runner, lambda experiment: experiment.probe != sizes.PROBE)
    report.print_bars(bars)
    for shape in sizes.SHAPES:
        for line in sizes.lines_of(runner.samples, *shape, [i.name for i in runner.plan.implementations]):
            print(line)
    report.print_failures(runner, missing)
    report.print_end(doubts)
    if arguments.json is not None:
        result = report.as_json(runner, bars, facts | machine.after_runs(), missing) | {"benchmark": "mpi"}
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 1 if any(trouble.implementation in (OWN, WIRED) for trouble in runner.troubles) else 0
