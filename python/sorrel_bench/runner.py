"""Builds the probes with every implementation, runs the experiments in turn and keeps every sample."""

import contextlib
import dataclasses
import math
import os
import pathlib
import re
import shlex
import signal
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence

from .disturbance import RUNS
from .experiments import Experiment
from .implementations import Implementation, Job

COMPILE_FLAGS = ("-O3", "-march=native", "-fopenmp-simd", "-w")
# Probes whose ranks write to global variables.
WITH_GLOBALS = frozenset({"startup"})
# Programs whose first argument is not the time of a series.
WITHOUT_SECONDS = frozenset({"cg2d", "imbalance", "overheads"})
RUN_SECONDS_MAX = 60
FAREWELL_SECONDS = 3

RESULT_LINE = re.compile(r"^result (\S+) (\S+) (\S+)\s*$", re.MULTILINE)
CG2D_LINE = re.compile(r"^cg2d: .*time per step mean (\S+) us", re.MULTILINE)


def percentile(values: Sequence[float], share: float) -> float:
    """The least value with at least this share of all values at or below it."""
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


@dataclasses.dataclass
class Series:
    """The output of the runs of one program under one name."""

    unit: str
    runs: list[list[float]] = dataclasses.field(default_factory=list)

    @property
    def values(self) -> list[float]:
        return [value for run in self.runs for value in run]

    @property
    def floor(self) -> float:
        return min(self.values)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def high(self) -> float:
        """The 90th percentile."""
        return percentile(self.values, 0.9)


class Samples:
    """Every sample: by experiment, implementation and the name that the probe prints."""

    def __init__(self) -> None:
        self.series: dict[tuple[str, str, str], Series] = {}

    def add(self, experiment: Experiment, implementation: Implementation, output: str) -> int:
        """Reads a probe's output; returns the number of samples in it."""
        lines = [(name, float(value), unit) for name, value, unit in RESULT_LINE.findall(output)]
        lines += [("step", float(mean), "us") for mean in CG2D_LINE.findall(output)]
        of_run: dict[tuple[str, str], list[float]] = {}
        for name, value, unit in lines:
            of_run.setdefault((name, unit), []).append(value)
        for (name, unit), values in of_run.items():
            self.series.setdefault((experiment.name, implementation.name, name), Series(unit)).runs.append(values)
        return len(lines)

    def get(self, experiment: str, implementation: str, name: str) -> Series | None:
        return self.series.get((experiment, implementation, name))

    def half(self, which: int) -> "Samples":
        """The even runs of every series (0) or the odd ones (1)."""
        half = Samples()
        half.series = {key: Series(s.unit, s.runs[which::2]) for key, s in self.series.items() if len(s.runs) > which}
        return half


@dataclasses.dataclass(frozen=True)
class Failure:
    """A build or a run that failed."""

    implementation: str
    what: str
    message: str


@dataclasses.dataclass(frozen=True)
class Plan:
    experiments: Sequence[Experiment]
    implementations: Sequence[Implementation]
    rounds: int
    series_seconds: float
    cpus: Sequence[int]
    folder: pathlib.Path
    real_time_priority: int = 0

    def includes(self, experiment: Experiment, implementation: Implementation) -> bool:
        # Processes that spin at a real-time priority and outnumber the cores never yield them.
        is_stuck = experiment.ranks > experiment.workers and not implementation.has_light_ranks
        return experiment.concerns(implementation) and not (self.real_time_priority and is_stuck)


def probe_source(probe: str) -> pathlib.Path:
    """The source of a probe: in the source tree, or beside this package in an installed one."""
    here = pathlib.Path(__file__).resolve().parent
    places = (
        here.parents[1] / "bench/probes",
        *(here.parents[1] / "bench" / kind for kind in ("mpi", "virtual", "openmp")),
        here.parents[1] / "apps" / probe,
        *(here.parents[1] / kind for kind in ("probes", "mpi", "virtual", "openmp")),
    )
    for place in places:
        if (place / f"{probe}.c").is_file():
            return place / f"{probe}.c"
    raise FileNotFoundError(f"the source of the probe {probe} was not found: {places[0]}")


@contextlib.contextmanager
def pinned(cpus: Sequence[int]) -> Iterator[None]:
    """Programs started inside this context run on these CPUs only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _last_words(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip(" -=*")]
    return lines[-1][:300] if lines else "no message"


def _family(ancestor: int) -> list[int]:
    """A process and all its descendants, in any session or group."""
    children: dict[int, list[int]] = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name, in parentheses, may hold any character; state and parent follow it.
            parent = int(stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(stat.parent.name))
    family = [ancestor]
    for process in family:
        family += children.get(process, [])
    return family


def _stop(process: subprocess.Popen) -> None:
    """First terminates the launcher, then kills all its descendants."""
    family = _family(process.pid)
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(FAREWELL_SECONDS)
    for member in reversed(family):
        with contextlib.suppress(ProcessLookupError):
            os.kill(member, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=FAREWELL_SECONDS)


def _begin(command: list[str], folder: pathlib.Path) -> subprocess.Popen:
    return subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, errors="replace", start_new_session=True,
    )  # fmt: skip


_LATE = "took longer than"


def is_late(error: str) -> bool:
    """Whether an error of run_program() is its time limit."""
    return error.startswith(_LATE)


def _finish(process: subprocess.Popen, seconds_max: float = RUN_SECONDS_MAX) -> tuple[str, str]:
    """The output of a program, and an error, or nothing."""
    try:
        output, errors = process.communicate(timeout=seconds_max)
    except subprocess.TimeoutExpired:
        _stop(process)
        return "", f"{_LATE} {seconds_max:g} s"
    except BaseException:
        _stop(process)
        raise
    if process.returncode != 0:
        return output, f"exit status {process.returncode}: {_last_words(errors or output)}"
    return output, ""


def run_program(
    command: list[str], folder: pathlib.Path, cpus: Sequence[int] | None, seconds_max: float = RUN_SECONDS_MAX
) -> tuple[str, str]:
    """Runs a program on these CPUs (None: on all), for a limited time. Its output, and an error, or nothing."""
    with pinned(cpus) if cpus is not None else contextlib.nullcontext():
        process = _begin(command, folder)
    return _finish(process, seconds_max)


class Runner:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.samples = Samples()
        self.troubles: list[Failure] = []
        self._programs: dict[tuple[str, str], pathlib.Path] = {}
        self._given_up: set[tuple[str, str]] = set()

    def half(self, which: int) -> "Runner":
        """This runner with the samples of every second run only."""
        half = Runner(self.plan)
        half.samples = self.samples.half(which)
        return half

    def builds(self) -> list[tuple[str, Implementation]]:
        """The probes that are needed with each implementation."""
        return sorted(
            {(e.probe, i) for e in self.plan.experiments for i in self.plan.implementations if self.plan.includes(e, i)},
            key=lambda pair: (pair[0], pair[1].name),
        )

    def build(self, probe: str, implementation: Implementation) -> None:
        folder = self.plan.folder / re.sub(r"\W+", "_", implementation.name)
        folder.mkdir(exist_ok=True)
        flags = implementation.private_globals if probe in WITH_GLOBALS else ()
        program = folder / probe
        source = probe_source(probe)
        command = [*implementation.compiler, *COMPILE_FLAGS, *flags, f"-I{probe_source('yield').parent}", str(source), "-o", str(program), "-lm"]
        _, error = _finish(_begin(command, folder))
        if error:
            self.troubles.append(Failure(implementation.name, f"building {probe}", error))
        else:
            self._programs[probe, implementation.name] = program

    def turns(self) -> list[tuple[int, Experiment, Implementation]]:
        """All runs in order: the implementations alternate, and the first one changes with each round."""
        order = []
        for round_ in range(self.plan.rounds):
            for experiment in self.plan.experiments:
                taking_part = [i for i in self.plan.implementations if self.plan.includes(experiment, i)]
                first = round_ % len(taking_part)
                order += [(round_, experiment, i) for i in taking_part[first:] + taking_part[:first]]
        return order

    def run(self, experiment: Experiment, implementation: Implementation) -> None:
        """One turn. A program that failed once is not started again."""
        key = (experiment.name, implementation.name)
        program = self._programs.get((experiment.probe, implementation.name))
        if program is None or key in self._given_up:
            return
        starts = experiment.starts if implementation.has_light_ranks else 1
        for _ in range(starts):
            error = RUNS.watched(lambda: self._start(experiment, implementation, program))
            if error:
                self._given_up.add(key)
                self.troubles.append(Failure(implementation.name, experiment.title, error))
                return

    def _command(self, experiment: Experiment, implementation: Implementation, words: tuple[str, ...]) -> list[str]:
        """The command that starts `words`. This process and the launchers of processes stay one above the original
        real-time priority: otherwise spinning ranks would prevent them from ending the ranks."""
        priority = self.plan.real_time_priority
        lowered = ("chrt", "-f", str(priority)) if priority else ()
        if not implementation.has_light_ranks:
            words = (*lowered, *words)
        launched = implementation.launch(Job(words[0], words[1:], experiment.ranks, experiment.workers))
        return [*lowered, *launched] if implementation.has_light_ranks else launched

    def _start(self, experiment: Experiment, implementation: Implementation, program: pathlib.Path) -> str:
        words: tuple[str, ...] = (str(program), *experiment.arguments)
        if experiment.probe not in WITHOUT_SECONDS:
            words = (str(program), str(self.plan.series_seconds), *experiment.arguments)
        if experiment.probe == "startup":
            words = (*words, str(time.time_ns()))
        command = self._command(experiment, implementation, words)
        output, error = run_program(command, program.parent, self.plan.cpus[: experiment.workers])
        if not error and self.samples.add(experiment, implementation, output) == 0:
            error = f"printed no result: {_last_words(output)}"
        return error and f"{error} ({shlex.join(command)})"
