"""Runs the cases of the studies in turn, and keeps every sample in a file, so that an interrupted command can continue."""

import dataclasses
import json
import os
import pathlib
import re
import shlex
import time
from collections.abc import Callable, Sequence

from .. import report
from ..disturbance import RUNS, Watch
from ..runner import is_late, run_program
from . import estimates
from .estimates import Estimate

Values = dict[str, float]
Key = tuple[str, str, str]  # study, row, column
FORMAT = 1
REPEATS_MAX = 2  # of a disturbed run
SECONDS_OF_UNKNOWN = 3.0  # of a case that never ran
WATCHED_SECONDS_MIN = 0.3  # in a shorter run the kernel's clock is too coarse to see other work


class CaseFailed(Exception):
    """A run failed; the message is one line."""

    def __init__(self, message: str, is_late: bool = False) -> None:
        super().__init__(message)
        self.is_late = is_late  # the time limit was reached


@dataclasses.dataclass(frozen=True)
class Case:
    study: str
    row: str
    column: str
    run: Callable[[], Values]
    peer_program: str = ""  # of another implementation: if it reaches its time limit in one case, it is started in no other

    @property
    def key(self) -> Key:
        return (self.study, self.row, self.column)


@dataclasses.dataclass(frozen=True)
class Row:
    """Cases that are compared: they run one after the other in each round."""

    cases: Sequence[Case]
    rounds_max: int = 1000


def _shown(command: Sequence[str]) -> str:
    """The command with absolute paths cut to folder and name: the page is published."""
    return shlex.join("/".join(pathlib.Path(word).parts[-2:]) if word.startswith("/") else word for word in command)


def command_case(
    key: Key, command: Sequence[str], read: Callable[[str], Values], cpus: Sequence[int], folder: pathlib.Path, seconds_max: float = 120,
    peer_program: str = "",
) -> Case:
    def run() -> Values:
        output, error = run_program(list(command), folder, cpus, seconds_max)
        if error:
            raise CaseFailed(f"{error} ({_shown(command)})", is_late(error))
        values = read(output)
        if not values:
            raise CaseFailed(f"printed no result ({_shown(command)})")
        return values

    return Case(*key, run, peer_program)


PAIR = re.compile(r"(\S+) (-?[\d.]+(?:e[-+]?\d+)?)(?=\s|$)")


def read_pairs(*names: str) -> Callable[[str], Values]:
    """Reads "seconds 0.5 gflops 3.2" out of a line; nothing unless all names are there."""

    def read(output: str) -> Values:
        found = {name: float(value) for name, value in PAIR.findall(output) if name in names}
        return found if len(found) == len(names) else {}

    return read


class Store:
    """The samples of a command, in memory and in a file. Each sample is one line, written at once; a line that was cut short by a
    crash is dropped, and its run is made again."""

    def __init__(self, path: pathlib.Path, head: dict) -> None:
        self.path, self.head = path, head
        self.rounds: dict[Key, dict[int, Values]] = {}
        self.other_work: dict[Key, list[tuple[float, float]]] = {}  # seconds, share
        self.seconds: dict[Key, float] = {}  # of the last run
        self.spent = 0.0
        self.facts: dict[str, object] = {}
        self.troubles: dict[Key, str] = {}
        self._file = None

    def open(self, is_resumed: bool) -> str:
        """Opens the file; returns an error, or nothing."""
        try:
            if is_resumed and self.path.exists():
                if error := self._read():
                    return error
                self._file = self.path.open("a", encoding="utf-8")
            else:
                self._file = self.path.open("w", encoding="utf-8")
                self._write(self.head)
        except OSError as error:
            return f"cannot write {self.path}: {error.strerror}"
        return ""

    def _read(self) -> str:
        text = self.path.read_text(encoding="utf-8", errors="replace")
        whole = text[: text.rfind("\n") + 1]
        try:
            head, *lines = [json.loads(line) for line in whole.splitlines()]
            other = sorted(name for name in self.head if name != "machine" and head.get(name) != self.head[name])
        except (ValueError, AttributeError):
            return f"{self.path} is not a file of `sorrel bench studies`"
        if other:
            return f"{self.path} was measured with another {' and '.join(other)}; choose another --folder, or delete it"
        # The machine of the first command is described in the result.
        self.head = head
        try:
            for line in lines:
                self._take(line)
        except (KeyError, TypeError, ValueError):
            return f"{self.path} is damaged; delete it"
        if len(whole) < len(text):
            self.path.write_text(whole, encoding="utf-8")
        return ""

    def _take(self, line: dict) -> None:
        if "fact" in line:
            self.facts[line["fact"]] = line["value"]
            return
        key = (line["study"], line["row"], line["column"])
        self.spent += line["seconds"]
        self.seconds[key] = line["seconds"]
        self.rounds.setdefault(key, {})[int(line["round"])] = line["values"]
        self.other_work.setdefault(key, []).append((line["seconds"], line["other_work"]))

    def _write(self, line: dict) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def add(self, key: Key, round_: int, values: Values, seconds: float, other_work: float) -> None:
        line = {"study": key[0], "row": key[1], "column": key[2], "round": round_, "seconds": round(seconds, 4),
                "other_work": round(other_work, 4), "values": values}  # fmt: skip
        self._take(line)
        self._write(line)

    def fact(self, name: str, make: Callable[[], object]) -> object:
        """A value that all rounds share, such as the arguments of a job: made once, then kept with the samples."""
        if name not in self.facts:
            self.facts[name] = json.loads(json.dumps(make()))
            self._write({"fact": name, "value": self.facts[name]})
        return self.facts[name]

    # ---- results

    def share_of(self, *keys: Key) -> float:
        """The mean share of the machine that other work took during the runs of these cases."""
        runs = [run for key in keys for run in self.other_work.get(key, [])]
        seconds = sum(run[0] for run in runs)
        return max(0.0, sum(run[0] * run[1] for run in runs) / seconds) if seconds > 0 else 0.0

    def by_round(self, key: Key, name: str) -> dict[int, float]:
        return {r: values[name] for r, values in self.rounds.get(key, {}).items() if name in values}

    def median(self, key: Key, name: str) -> Estimate | None:
        return estimates.estimate(list(self.by_round(key, name).values()), self.share_of(key))

    def ratio(self, key: Key, base: Key, name: str, base_name: str | None = None) -> Estimate | None:
        return estimates.ratio(self.by_round(key, name), self.by_round(base, base_name or name), self.share_of(key, base))


@dataclasses.dataclass(frozen=True)
class Budget:
    rounds: int
    end: float  # of time.monotonic()
    repeats: int = REPEATS_MAX


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"


class Schedule:
    """All rows in each round. A round that has been measured is not repeated, a case that failed is not started again, and no row is
    started that would end after the budget."""

    def __init__(self, rows: Sequence[Row], store: Store, budget: Budget) -> None:
        self._rows, self._store, self._budget = rows, store, budget
        self.left_out: set[str] = set()  # rows without any round, for lack of time
        self._late: set[str] = set()  # programs of peers

    def _missing(self, row: Row, round_: int) -> list[Case]:
        if round_ >= row.rounds_max:
            return []
        first = round_ % len(row.cases)
        order = [*row.cases[first:], *row.cases[:first]]
        return [c for c in order if not self._has_failed(c) and round_ not in self._store.rounds.get(c.key, {})]

    def _has_failed(self, case: Case) -> bool:
        return case.key in self._store.troubles or case.peer_program in self._late

    def _expected(self, cases: Sequence[Case]) -> float:
        return sum(self._store.seconds.get(case.key, SECONDS_OF_UNKNOWN) for case in cases)

    def _left(self, round_: int, index: int) -> float:
        """Seconds until the end: of all rows, or of the budget."""
        rest = [self._missing(row, round_) for row in self._rows[index:]]
        rest += [self._missing(row, later) for later in range(round_ + 1, self._budget.rounds) for row in self._rows]
        return max(0.0, min(sum(map(self._expected, rest)), self._budget.end - time.monotonic()))

    def run(self) -> None:
        total = sum(len(self._missing(row, r)) for r in range(self._budget.rounds) for row in self._rows)
        progress = report.Progress(total, "run")
        for round_ in range(self._budget.rounds):
            for index, row in enumerate(self._rows):
                cases = self._missing(row, round_)
                if not cases:
                    continue
                if time.monotonic() + self._expected(cases) > self._budget.end:
                    if round_ == 0:
                        self.left_out.add(f"{cases[0].study}: {cases[0].row}")
                    continue
                for case in cases:
                    if self._has_failed(case):
                        continue
                    left = _minutes(self._left(round_, index))
                    progress.step(f"round {round_ + 1} of {self._budget.rounds}, about {left} left: {case.study}, {case.row}, {case.column}")
                    self._run(case, round_)
        progress.end()

    def _run(self, case: Case, round_: int) -> None:
        """The least disturbed of some attempts counts."""
        attempts = []
        for _ in range(1 + self._budget.repeats):
            watch = Watch()
            try:
                values = case.run()
            except CaseFailed as error:
                self._store.troubles[case.key] = str(error)
                if error.is_late and case.peer_program:
                    self._late.add(case.peer_program)
                return
            seconds, other_work = watch.end()
            attempts.append((other_work, seconds, values))
            is_quiet = other_work <= estimates.OTHER_WORK_MAX or seconds < WATCHED_SECONDS_MIN
            if is_quiet or time.monotonic() + seconds > self._budget.end:
                break
        other_work, seconds, values = min(attempts, key=lambda attempt: attempt[0])
        RUNS.add(seconds, other_work)
        self._store.add(case.key, round_, values, seconds, other_work)


def build_of(command: str) -> str:
    """Names the build that was measured: version, time and size of the command and its library."""
    path = pathlib.Path(command).resolve()
    files = [path, *sorted(path.parents[1].glob("lib/libmpi_abi.so.1.*"))]
    return " ".join(f"{file.name}:{os.stat(file).st_size}:{int(os.stat(file).st_mtime)}" for file in files)
