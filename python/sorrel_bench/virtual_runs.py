"""The programs and runs of `sorrel bench virtual`: builds, turns, rounds, and the value of a run.

A *case* is one command. Every case of every part runs in every round, so the cases of a ratio share their minutes. A run
prints samples of steps; its value is their median (cg2d prints the mean of its steps). In a round a case is started `starts` times, in turn with the others of
its row, and the least value counts; a slow case is started once. A ratio compares values of the same round, and the median over the rounds is printed.
"""

import concurrent.futures
import dataclasses
import pathlib
import re
import shlex
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

from . import report
from .disturbance import RUNS
from .implementations import Implementation
from .runner import CG2D_LINE, COMPILE_FLAGS, RESULT_LINE, is_late, run_program

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD_SECONDS_MAX = 600

Key = tuple[str, str, str]  # part, row, column
Values = dict[str, float]


def read_results(output: str) -> Values:
    """The medians of what a program prints: `result NAME VALUE UNIT` lines, and cg2d's own mean."""
    found: dict[str, list[float]] = {}
    for name, value, _ in RESULT_LINE.findall(output):
        found.setdefault(name, []).append(float(value))
    for mean in CG2D_LINE.findall(output):
        found.setdefault("step", []).append(float(mean))
    return {name: statistics.median(values) for name, values in found.items()}


def read_csv(output: str) -> Values:
    """Two lines: names and numbers, as fem prints them. Other lines may surround them."""
    lines = output.splitlines()
    for names, numbers in zip(lines, lines[1:], strict=False):
        if names.startswith("elements,") and names.count(",") == numbers.count(","):
            return dict(zip(names.split(","), map(float, numbers.split(",")), strict=True))
    return {}


@dataclasses.dataclass(frozen=True)
class Case:
    part: str
    row: str
    column: str
    command: tuple[str, ...]
    cpu_count: int
    read: Callable[[str], Values] = read_results
    is_slow: bool = False
    peer_program: str = ""  # of another implementation: if it reaches its time limit in one case, it is started in no other

    @property
    def key(self) -> Key:
        return (self.part, self.row, self.column)


class Results:
    """For each case a list of rounds, and for each of those the values of the starts."""

    def __init__(self) -> None:
        self.rounds: dict[Key, list[list[Values]]] = {}
        self.troubles: dict[Key, str] = {}
        self.late: set[str] = set()  # programs of peers

    def add(self, key: Key, round_: int, values: Values) -> None:
        rounds = self.rounds.setdefault(key, [])
        while len(rounds) <= round_:
            rounds.append([])
        rounds[round_].append(values)

    def half(self, which: int) -> "Results":
        """The even rounds (0) or the odd ones (1)."""
        half = Results()
        half.rounds = {key: rounds[which::2] for key, rounds in self.rounds.items() if len(rounds) > which}
        return half

    def least_of_rounds(self, key: Key, name: str) -> list[float | None]:
        """The least value of each round; None for a round without one."""
        return [min((v[name] for v in starts if name in v), default=None) for starts in self.rounds.get(key, [])]

    def values(self, key: Key, name: str) -> list[float]:
        return [v[name] for starts in self.rounds.get(key, []) for v in starts if name in v]

    def floor(self, key: Key, name: str) -> float | None:
        return min(self.values(key, name), default=None)

    def median(self, key: Key, name: str) -> float | None:
        values = self.values(key, name)
        return statistics.median(values) if values else None

    def spread(self, key: Key, name: str) -> tuple[float, float] | None:
        """The quartiles of all runs; the extremes if there are fewer than four."""
        values = sorted(self.values(key, name))
        if not values:
            return None
        if len(values) < 4:
            return values[0], values[-1]
        quartiles = statistics.quantiles(values, n=4, method="inclusive")
        return quartiles[0], quartiles[2]

    def ratio(self, key: Key, other: Key, name: str, other_name: str | None = None) -> float | None:
        """The median over the rounds of the ratio of the two least values."""
        pairs = zip(self.least_of_rounds(key, name), self.least_of_rounds(other, other_name or name), strict=False)
        ratios = [value / base for value, base in pairs if value is not None and base]
        return statistics.median(ratios) if ratios else None

    def columns(self, part: str) -> list[str]:
        return list(dict.fromkeys(column for p, _, column in self.rounds if p == part))

    def as_json(self) -> list[dict]:
        return [{"part": p, "row": r, "column": c, "rounds": rounds} for (p, r, c), rounds in self.rounds.items()]


@dataclasses.dataclass(frozen=True)
class Build:
    name: str
    part: str  # that needs it
    compiler: tuple[str, ...]
    sources: tuple[pathlib.Path, ...]
    flags: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ("-lm",)


class Programs:
    """Builds the programs; the paths of those that were built, and what failed."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.troubles: list[str] = []
        self._paths: dict[str, str] = {}

    def build(self, builds: Sequence[Build], jobs: int) -> None:
        progress = report.Progress(len(builds), "building")
        with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
            waiting = {pool.submit(self._build, build): build for build in builds}
            for done in concurrent.futures.as_completed(waiting):
                progress.step(waiting[done].name)
                if error := done.result():
                    self.troubles.append(f"building {waiting[done].name}: {error}")
        progress.end()

    def _build(self, build: Build) -> str:
        folder = self.folder / re.sub(r"\W+", "_", build.name)
        folder.mkdir(exist_ok=True)
        program = folder / "program"
        words = [*build.compiler, *COMPILE_FLAGS, *build.flags, *map(str, build.sources), "-o", str(program), *build.libraries]
        _, error = run_program(words, folder, None, BUILD_SECONDS_MAX)
        if not error:
            self._paths[build.name] = str(program)
        return error

    def path(self, name: str) -> str | None:
        return self._paths.get(name)


def cxx_of(implementation: Implementation) -> tuple[str, ...]:
    """The C++ compiler beside an MPI's C compiler."""
    *before, last = implementation.compiler
    if implementation.is_sorrel:
        return (*before, "cxx")
    folder, slash, name = last.rpartition("/")
    name = name.replace("ampicc", "ampicxx") if "ampicc" in name else name.replace("mpicc", "mpicxx")
    return (*before, f"{folder}{slash}{name}")


@dataclasses.dataclass(frozen=True)
class Budget:
    rounds: int
    starts: int
    deadline: float  # of time.monotonic()


def run_cases(cases: Sequence[Case], budget: Budget, folder: pathlib.Path, cpus: Sequence[int]) -> Results:
    """Runs every case in every round. A row runs `starts` times, or once if a case is slow, in a
    round, each time beginning with another case. A case that failed is not started again. After the deadline no row is
    started, but those of the first round."""
    rows: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        rows.setdefault((case.part, case.row), []).append(case)
    results = Results()
    starts_of = {row: 1 if any(case.is_slow for case in members) else budget.starts for row, members in rows.items()}
    progress = report.Progress(budget.rounds * sum(starts_of[row] * len(members) for row, members in rows.items()), "run")
    for round_ in range(budget.rounds):
        for (part, row), members in rows.items():
            if round_ > 0 and time.monotonic() > budget.deadline:
                continue
            starts = starts_of[part, row]
            for start in range(starts):
                first = (round_ * starts + start) % len(members)
                for case in members[first:] + members[:first]:
                    progress.step(f"round {round_ + 1} of {budget.rounds}, {part}, {row}, {case.column}")
                    _run(case, round_, results, folder, cpus)
    progress.end()
    return results


def _run(case: Case, round_: int, results: Results, folder: pathlib.Path, cpus: Sequence[int]) -> None:
    if case.key in results.troubles or case.peer_program in results.late:
        return
    output, error = RUNS.watched(lambda: run_program(list(case.command), folder, cpus[: case.cpu_count]))
    values = {} if error else case.read(output)
    if values:
        results.add(case.key, round_, values)
    else:
        results.troubles[case.key] = f"{error or 'printed no result'} ({shlex.join(case.command)})"
        if case.peer_program and is_late(error):
            results.late.add(case.peer_program)


def table(title: str, head: Sequence[str], rows: Mapping[str, Sequence[str]], width: int = 12) -> None:
    """Prints columns of text, right-aligned; the first one has the names of the rows."""
    first = max([len(name) for name in rows] + [10]) + 2
    print(f"\n{title}\n")
    print(f"{'':<{first}}" + "".join(f"{name:>{width}}" for name in head))
    for name, cells in rows.items():
        print(f"{name:<{first}}" + "".join(f"{cell:>{width}}" for cell in cells))
