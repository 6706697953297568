"""`sorrel bench suites`: Intel's MPI Benchmarks and the OSU Micro-Benchmarks over all sizes, with Sorrel and every MPI found, as curves on a page.

It fetches nothing: `--suites DIR` names a folder with a clone or an unpacked archive of each, `mpi-benchmarks` and `osu-micro-benchmarks`. They are
built in a temporary folder with the compiler of each MPI.
"""

import argparse
import dataclasses
import html
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence

from . import html_page, machine, pictures, report
from .bars import OWN
from .disturbance import RUNS
from .implementations import Implementation, Job, installed_peers, sorrel
from .runner import run_program

BUILD_SECONDS_MAX, RUN_SECONDS_MAX = 600, 900
LARGEST_LOG, LARGEST_LOG_QUICK = 22, 12  # of bytes
# Intel's: fewer for long messages, and the longest time of a size, beyond which it has none.
REPETITIONS, REPETITIONS_QUICK, SECONDS_A_SIZE_MAX = "1000", "100", "2"
MINUTES, ROUNDS_MAX = 60, 3
PAGE = "page.html"
FASTER = 1.02  # a peer is faster if Sorrel takes more than this times its median

# The text before rows of numbers: which columns they have.
INTEL_TITLE = re.compile(r"^# Benchmarking (\S+)")
INTEL_MODE = re.compile(r"^# +MODE: (\S+)")
INTEL_HEAD = re.compile(r"^ *(#\S+(?: +\S+)+) *$")
OSU_TITLE = re.compile(r"^# OSU MPI(?:_| )?(.+?) (?:Latency )?Test")


@dataclasses.dataclass(frozen=True)
class Suite:
    name: str
    folder: str  # below --suites
    program: str
    benchmarks: tuple[str, ...]

    @property
    def title(self) -> str:
        return f"{self.name}, {self.program}"


SUITES = (
    Suite("IMB", "mpi-benchmarks", "IMB-MPI1",
          ("PingPong", "PingPing", "Sendrecv", "Exchange", "Allreduce", "Reduce", "Reduce_local", "Reduce_scatter", "Reduce_scatter_block", "Allgather",
           "Allgatherv", "Gather", "Gatherv", "Scatter", "Scatterv", "Alltoall", "Alltoallv", "Bcast", "Barrier")),
    Suite("IMB", "mpi-benchmarks", "IMB-RMA", ("Unidir_put", "Unidir_get", "Accumulate", "Fetch_and_op", "Compare_and_swap")),
    Suite("OSU", "osu-micro-benchmarks", "pt2pt/standard", ("osu_latency", "osu_multi_lat")),
    Suite("OSU", "osu-micro-benchmarks", "one-sided", ("osu_put_latency", "osu_get_latency", "osu_acc_latency", "osu_fop_latency", "osu_cas_latency")),
    Suite("OSU", "osu-micro-benchmarks", "collective/blocking",
          ("osu_allgather", "osu_allgatherv", "osu_allreduce", "osu_alltoall", "osu_alltoallv", "osu_barrier", "osu_bcast", "osu_gather", "osu_gatherv",
           "osu_reduce", "osu_reduce_scatter", "osu_scatter", "osu_scatterv")),
)  # fmt: skip
PARTS = tuple(benchmark for suite in SUITES for benchmark in suite.benchmarks)
# OSU's sources name these in their makefiles.
OSU_FLAGS = ("-O2", "-w", "-DFIELD_WIDTH=18", "-DFLOAT_PRECISION=2", "-D_GNU_SOURCE")

Times = dict[str, dict[int, float]]  # microseconds by operation and number of bytes


def _column(names: Sequence[str]) -> int | None:
    """The time of the slowest process, or the only one."""
    for wanted in ("t_max[usec]", "t_ovrl[usec]", "t[usec]", "t_avg[usec]"):
        if wanted in names:
            return names.index(wanted)
    return None


def _numbers(line: str) -> list[float]:
    try:
        return [float(word) for word in line.split()]
    except ValueError:
        return []


def read_intel(text: str) -> Times:
    """Intel's tables: a title, perhaps a mode, the names of the columns, then rows."""
    found: Times = {}
    title, names = "", []
    for line in text.splitlines():
        if told := INTEL_TITLE.match(line):
            title, names = told[1], []
        elif told := INTEL_MODE.match(line):
            title = f"{title.split(' ')[0]} {told[1].lower()}"
        elif "#repetitions" in line and (told := INTEL_HEAD.match(line)):
            names = told[1].split()
        elif title and names and (row := _numbers(line)) and len(row) == len(names) and (column := _column(names)) is not None:
            size = int(row[names.index("#bytes")]) if "#bytes" in names else 0
            found.setdefault(title, {})[size] = row[column]
    return found


def read_osu(text: str, name: str) -> Times:
    """OSU's tables: rows of bytes and microseconds; a barrier has the time alone. Of several columns the mean is the first."""
    rows = [row for line in text.splitlines() if not line.startswith("#") and (row := _numbers(line))]
    of_size = {int(row[0]): row[1] for row in rows if len(row) >= 2}
    return {name: of_size or {0: row[0] for row in rows if len(row) == 1}} if rows else {}


class Curves:
    """Every sample, by operation, implementation and number of bytes."""

    def __init__(self) -> None:
        self.samples: dict[tuple[str, str, int], list[float]] = {}

    def add(self, suite: Suite, implementation: str, times: Times) -> int:
        for operation, of_size in times.items():
            for size, value in of_size.items():
                self.samples.setdefault((f"{suite.name} {operation}", implementation, size), []).append(value)
        return sum(map(len, times.values()))

    @property
    def operations(self) -> list[str]:
        return list(dict.fromkeys(operation for operation, _, _ in self.samples))

    def sizes(self, operation: str) -> list[int]:
        return sorted({size for found, _, size in self.samples if found == operation})

    def median(self, operation: str, implementation: str, size: int) -> float | None:
        values = self.samples.get((operation, implementation, size))
        return statistics.median(values) if values else None

    def best_peer(self, operation: str, size: int, peers: Sequence[str]) -> tuple[float, str] | None:
        found = [(median, peer) for peer in peers if (median := self.median(operation, peer, size)) is not None]
        return min(found, default=None)


@dataclasses.dataclass(frozen=True)
class Point:
    operation: str
    size: int
    own: float
    peer: float
    peer_name: str

    @property
    def ratio(self) -> float:
        """1 for two times below the clock's resolution."""
        return self.own / self.peer if self.peer > 0 else (1.0 if self.own <= 0 else float("inf"))

    @property
    def is_behind(self) -> bool:
        return self.ratio > FASTER


def points_of(curves: Curves, peers: Sequence[str]) -> list[Point]:
    """Where Sorrel and a peer have a time."""
    points = []
    for operation in curves.operations:
        for size in curves.sizes(operation):
            own, peer = curves.median(operation, OWN, size), curves.best_peer(operation, size, peers)
            if own is not None and peer is not None:
                points.append(Point(operation, size, own, *peer))
    return points


def summary(points: Sequence[Point]) -> Iterator[str]:
    """A line for each operation, then one for all."""
    yield f"{'operation':<32}{'points':>8}{'behind':>8}{'median ratio':>14}{'worst ratio':>13}  at"
    for operation in dict.fromkeys(point.operation for point in points):
        own = [point for point in points if point.operation == operation]
        worst = max(own, key=lambda point: point.ratio)
        behind = sum(point.is_behind for point in own)
        yield (
            f"{operation:<32}{len(own):>8}{behind:>8}{statistics.median(point.ratio for point in own):>14.2f}{worst.ratio:>13.2f}  "
            f"{pictures.size_text(worst.size)} B, {worst.peer_name}"
        )
    yield f"A peer is faster at {sum(point.is_behind for point in points)} of {len(points)} points (ratio: Sorrel's median over the best peer's)."


def charts_of(curves: Curves, implementations: Sequence[str]) -> dict[str, pictures.Chart]:
    """Medians by the number of bytes. An operation of no bytes has no curve."""
    charts = {}
    for operation in curves.operations:
        sizes = [size for size in curves.sizes(operation) if size > 0]
        lines = [
            pictures.Line(name, [pictures.Point(size, value) for size in sizes if (value := curves.median(operation, name, size))])
            for name in implementations
        ]
        charts[operation] = pictures.Chart(operation, "bytes", "us", lines, note="Medians of the rounds.")
    return charts


def table_of(curves: Curves, operation: str, implementations: Sequence[str], points: Mapping[tuple[str, int], Point]) -> str:
    head = "".join(f"<th>{html.escape(name)}, us</th>" for name in implementations)
    rows = []
    for size in curves.sizes(operation):
        medians = (curves.median(operation, name, size) for name in implementations)
        cells = "".join(f"<td>{report.number(median)}</td>" for median in medians)
        point = points.get((operation, size))
        ratio = "" if point is None else f'<span class="{"fails" if point.is_behind else "holds"}">{point.ratio:.2f}</span>'
        rows.append(f"<tr><td>{size}</td>{cells}<td>{ratio}</td></tr>")
    return f"<table><tr><th>bytes</th>{head}<th>over the best peer</th></tr>\n" + "\n".join(rows) + "</table>"


def write_page(path: pathlib.Path, curves: Curves, implementations: Sequence[str], facts: Mapping, notes: Sequence[str]) -> None:
    """One HTML file, whose pictures are inside it."""
    found = points_of(curves, implementations[1:])
    points = {(point.operation, point.size): point for point in found}
    parts = []
    for operation, chart in charts_of(curves, implementations).items():
        picture = pictures.draw([chart], path.with_name(re.sub(r"\W+", "_", operation)))
        parts.append(html_page.image(operation, picture[0]) if picture else f"<h3>{html.escape(operation)}</h3>")
        parts.append(table_of(curves, operation, implementations, points))
    if not pictures.can_draw():
        notes = [*notes, pictures.MISSING]
    lines = "\n".join(summary(found)) if found else "No operation has times of Sorrel and of a peer."
    text = "".join(f"<p>{html.escape(note)}</p>" for note in notes) + f"<pre>{html.escape(lines)}</pre>"
    path.write_text(html_page.document("Intel's MPI Benchmarks and OSU's, over all sizes", text, facts, "\n".join(parts)), encoding="utf-8")


@dataclasses.dataclass
class Setting:
    folder: pathlib.Path  # of the sources
    work: pathlib.Path
    ranks: int
    cpus: Sequence[int]
    is_quick: bool
    only: Sequence[str]
    failures: list[str] = dataclasses.field(default_factory=list)
    programs: dict[tuple[str, str], pathlib.Path] = dataclasses.field(default_factory=dict)

    def wanted(self, suite: Suite) -> list[str]:
        return [name for name in suite.benchmarks if not self.only or name in self.only]

    def build(self, suite: Suite, implementation: Implementation) -> None:
        own = self.work / f"{implementation.name.replace(' ', '_')}_{suite.program.replace('/', '_')}"
        source = self.folder / suite.folder
        # Without warnings, which its makefiles make errors.
        compiler = " ".join(implementation.compiler)
        if suite.name == "IMB":
            shutil.copytree(source, own, ignore=shutil.ignore_patterns(".git"))
            cxx = compiler.removesuffix(" cc") + " cxx" if implementation.is_sorrel else re.sub(r"mpicc(?=[^/]*$)", "mpicxx", compiler)
            self._make(["make", "-C", str(own / "src_cpp"), f"TARGET={suite.program.removeprefix('IMB-')}", f"CC={compiler} -w", f"CXX={cxx} -w"],
                       suite, implementation)  # fmt: skip
            self.programs[suite.program, implementation.name] = own / "src_cpp" / suite.program
            return
        own.mkdir()
        util = source / "c/util"
        helpers = [str(util / f"osu_util{part}.c") for part in ("", "_mpi", "_graph", "_papi", "_validation") if (util / f"osu_util{part}.c").is_file()]
        for name in self.wanted(suite):
            command = [*implementation.compiler, *OSU_FLAGS, f"-I{util}", str(source / "c/mpi" / suite.program / f"{name}.c"), *helpers, "-lm", "-o",
                       str(own / name)]  # fmt: skip
            self._make(command, suite, implementation)
            self.programs[name, implementation.name] = own / name

    def _make(self, command: list[str], suite: Suite, implementation: Implementation) -> None:
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, stdin=subprocess.DEVNULL, timeout=BUILD_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.failures.append(f"{suite.title} with {implementation.name}: building took longer than {BUILD_SECONDS_MAX} s")
            return
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines() or ["no message"]
            self.failures.append(f"{suite.title} with {implementation.name}: {errors[0][:200]}")

    def run(self, suite: Suite, implementation: Implementation, curves: Curves) -> None:
        largest = LARGEST_LOG_QUICK if self.is_quick else LARGEST_LOG
        if suite.name == "IMB":
            repetitions = REPETITIONS_QUICK if self.is_quick else REPETITIONS
            words = (*self.wanted(suite), "-npmin", str(self.ranks), "-msglog", f"0:{largest}", "-iter", repetitions, "-time", SECONDS_A_SIZE_MAX)
            self._run(suite, implementation, suite.program, words, curves)
            return
        for name in self.wanted(suite):
            words = ("-m", f":{1 << largest}", "-i", "50" if self.is_quick else "2000", "-x", "5" if self.is_quick else "200")
            self._run(suite, implementation, name, words, curves)

    def _run(self, suite: Suite, implementation: Implementation, name: str, words: tuple[str, ...], curves: Curves) -> None:
        program = self.programs.get((name, implementation.name))
        if program is None or not program.is_file():
            return
        job = Job(str(program), words, self.ranks, self.ranks)
        output, error = RUNS.watched(lambda: run_program(implementation.launch(job), self.work, self.cpus, RUN_SECONDS_MAX))
        count = curves.add(suite, implementation.name, read_intel(output) if suite.name == "IMB" else read_osu(output, name))
        if error or count == 0:
            self.failures.append(f"{name} with {implementation.name}: {error or 'no times in its output'}")


def found_suites(folder: pathlib.Path) -> list[Suite]:
    return [suite for suite in SUITES if (folder / suite.folder).is_dir()]


def measure(setting: Setting, suites: Sequence[Suite], members: Sequence[Implementation], minutes: float, rounds_max: int) -> tuple[Curves, int]:
    """Rounds until the time is over, at least one. Failures of a round are those of all."""
    turns = [(suite, member) for suite in suites if setting.wanted(suite) for member in members]
    progress = report.Progress(len(turns), "building")
    for suite, member in turns:
        progress.step(f"{suite.title} with {member.name}")
        setting.build(suite, member)
    progress.end()
    curves, rounds, begun = Curves(), 0, time.monotonic()
    progress = report.Progress(rounds_max * len(turns), "run")
    while rounds < rounds_max and (rounds == 0 or (time.monotonic() - begun) * (rounds + 1) / rounds < 60 * minutes):
        for suite, member in turns:
            progress.step(f"round {rounds + 1}, {suite.title}, {member.name}")
            setting.run(suite, member, curves)
        rounds += 1
    progress.end()
    return curves, rounds


def main(arguments: argparse.Namespace) -> int:
    suites = found_suites(arguments.suites)
    facts = machine.describe()
    cpus = machine.distinct_cores()
    # Processes of an MPI that spin need a core each.
    members = [m for m in (sorrel(arguments.command), *installed_peers(arguments.command, None)) if m.name == OWN or not m.has_light_ranks]
    ranks = len(cpus)
    print(f"{facts['processor']}, {ranks} cores of {facts['cpus']} CPUs, Linux {facts['kernel']}: {ranks} ranks, one a core")
    print("MPIs: " + ", ".join(f"{m.name} {m.version}" for m in members), flush=True)
    rounds_max = arguments.rounds or (1 if arguments.quick else ROUNDS_MAX)
    with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as work:
        setting = Setting(arguments.suites.resolve(), pathlib.Path(work), ranks, cpus, arguments.quick, arguments.only)
        curves, rounds = measure(setting, suites, members, arguments.minutes or MINUTES, rounds_max)
    names = [member.name for member in members]
    facts |= machine.after_runs()
    notes = [f"{rounds} round{'s' if rounds > 1 else ''}, {ranks} ranks, one a core. Other work during the runs: {100 * RUNS.foreign_share:.1f} % of the machine."]
    failures = list(dict.fromkeys(setting.failures))
    notes += [f"Failed: {failure}" for failure in failures]
    missing = [suite.folder for suite in SUITES if suite not in suites]
    notes += [f"Not found: {folder}" for folder in dict.fromkeys(missing)]
    found = points_of(curves, names[1:])
    print()
    for line in summary(found) if found else ("No operation has times of Sorrel and of a peer.",):
        print(line)
    for note in notes:
        print(note)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    write_page(arguments.folder / PAGE, curves, names, facts, notes)
    print(f"{arguments.folder / PAGE} has the tables and curves.")
    if arguments.json is not None:
        samples = [{"operation": o, "implementation": i, "bytes": size, "us": values} for (o, i, size), values in curves.samples.items()]
        result = {"benchmark": "suites", "machine": facts, "rounds": rounds, "ranks": ranks, "failures": failures, "samples": samples}
        arguments.json.write_text(json.dumps(result, indent=1) + os.linesep, encoding="utf-8")
    return 1 if any(f" with {OWN}: " in failure for failure in failures) else 0
