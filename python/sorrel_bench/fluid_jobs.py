"""The jobs of `sorrel bench throughput`: apps/fluid, built for every runtime, measured and started."""

import dataclasses
import functools
import math
import os
import pathlib
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from .disturbance import RUNS, busy_seconds, least_disturbed

OWN = "Sorrel"
ONE_THREAD = "one thread"
FLAGS = ("-O3", "-march=native", "-w")
# A mix that takes longer than this multiple of its bound is stopped.
PATIENCE = 8.0
# A run is repeated if other work took more of the machine than this.
FOREIGN_SHARE_MAX = 0.05
# Number of measurements of a job by one thread: a disturbed one would spoil a whole row of runs.
MEASUREMENTS = 2


@dataclasses.dataclass(frozen=True)
class Kind:
    """One of the four jobs of McDonald's study (docs/benchmarks.md, "Throughput"): its length in units when alone, and
    its parallel share."""

    letter: str
    name: str
    length: float
    parallel_share: float


KINDS = {
    kind.letter: kind
    for kind in (
        Kind("F", "fluid", 1.0, 0.79),
        Kind("L", "long_fluid", 2.0, 0.82),
        Kind("p", "fluid_pp", 1.0, 0.38),
        Kind("q", "long_fluid_pp", 2.0, 0.47),
    )
}
# Four jobs that end one after the other.
TAILS = {letter: Kind(letter, f"fluid, {length} long", length, 0.82) for letter, length in
         (("1", 0.5), ("2", 1.0), ("3", 1.5), ("4", 2.0))}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Grain:
    name: str
    points: int
    repeat: int
    mixes: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Runtime:
    name: str
    program: str
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    launcher: tuple[str, ...] = ()
    is_elastic: bool = True

    def command(self, arguments: Sequence[str]) -> list[str]:
        return [*self.launcher, self.program, *arguments]


@dataclasses.dataclass
class Run:
    elapsed: float
    cpu: float
    foreign: float
    is_cut_off: bool = False
    bound: float = 1.0
    work: float = 1.0


@dataclasses.dataclass(frozen=True)
class Job:
    """A job of one grain: its command line, and the time that one thread needs for it."""

    arguments: tuple[str, ...]
    work: float
    critical_path: float


class Programs:
    """Builds the solver for every installed runtime."""

    def __init__(self, command: str, folder: pathlib.Path) -> None:
        self.missing: list[str] = []
        self.troubles: list[str] = []
        self._folder = folder
        root = _root()
        self._fluid, self._bench = root / "apps/fluid", root / "bench/throughput"
        prefix = pathlib.Path(command).resolve().parents[1]
        include = next(p for p in (prefix / "include", root / "include") if (p / "sorrel.h").is_file())
        self._sorrel = (f"-I{include}", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib", "-lsorrel")
        self._command = command

    def _compile(self, name: str, compiler: Sequence[str], sources: Sequence[pathlib.Path], *flags: str) -> str | None:
        program = self._folder / name
        words = [*compiler, *FLAGS, f"-I{self._fluid}", *map(str, sources), "-o", str(program), *flags, "-lm"]
        done = subprocess.run(words, cwd=self._folder, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return str(program)
        self.troubles.append(f"{name}: {(done.stderr.strip().splitlines() or ['does not compile'])[-1][:200]}")
        return None

    @functools.cache  # noqa: B019 - one object for the whole run
    def _kernels(self) -> pathlib.Path:
        """One compiler's object for all runtimes: differences between compilers are not measured."""
        kernels = self._folder / "fluid.o"
        if self._compile(kernels.name, ("cc", "-c"), [self._fluid / "fluid.c"]) is None:
            raise SystemExit(f"sorrel: bench: {self.troubles[-1]}")
        return kernels

    def _solver(self, name: str, compiler: Sequence[str], backend: pathlib.Path, *flags: str) -> str | None:
        return self._compile(name, compiler, [self._kernels(), backend], *flags)

    @functools.cache  # noqa: B019 - one object for the whole run
    def alone(self) -> str:
        program = self._solver("fluid_alone", ("cc",), self._fluid / "alone.c")
        if program is None:
            raise SystemExit(f"sorrel: bench: {self.troubles[-1]}")
        return program

    def runtimes(self) -> list[Runtime]:
        return [*self._own(), Runtime(ONE_THREAD, self.alone()), *self._openmp(), *self._tbb()]

    def _own(self) -> Iterator[Runtime]:
        cores = str(len(os.sched_getaffinity(0)))
        if loops := self._solver("fluid_loops", ("cc",), self._fluid / "loops.c", *self._sorrel):
            yield Runtime(OWN, loops)
            yield Runtime("Sorrel yielding", loops, {"SORREL_SHARE": "yielding"})
            yield Runtime("Sorrel static", loops, {"MP_SET_NUMTHREADS": cores})
            yield Runtime("Sorrel static, block", loops, {"MP_SET_NUMTHREADS": cores, "MP_BLOCKTIME": "1"})
        if ranks := self._compile("fluid_mpi", (self._command, "cc"), [self._fluid / "fluid.c", self._fluid / "mpi.c"]):
            yield Runtime("Sorrel ranks", ranks, {}, (self._command, "run", "-n", cores))

    def _openmp(self) -> Iterator[Runtime]:
        cores = {"OMP_NUM_THREADS": str(len(os.sched_getaffinity(0)))}
        if gomp := self._solver("fluid_gomp", ("gcc",), self._fluid / "openmp.c", "-fopenmp"):
            yield Runtime("libgomp", gomp, cores, is_elastic=False)
            yield Runtime("libgomp passive", gomp, {**cores, "OMP_WAIT_POLICY": "passive"})
            yield Runtime("Sorrel OpenMP", gomp, cores, (self._command, "run", "--omp"))
            yield Runtime("libgomp active", gomp, {**cores, "OMP_WAIT_POLICY": "active"}, is_elastic=False)
            yield Runtime("libgomp dynamic", gomp, {**cores, "OMP_DYNAMIC": "true"})
        else:
            self.missing.append("libgomp")
        libomp = self._first_that_links("fluid_libomp", ("clang", *(f"clang-{v}" for v in range(21, 13, -1))))
        if libomp:
            yield Runtime("libomp", libomp, cores)
            yield Runtime("libomp blocktime 0", libomp, {**cores, "KMP_BLOCKTIME": "0"})
            yield Runtime("libomp load balance", libomp, {**cores, "OMP_DYNAMIC": "true"})
        else:
            self.missing.append("libomp (clang and libomp-dev)")

    def _first_that_links(self, name: str, compilers: Sequence[str]) -> str | None:
        """A clang may be installed without its libomp."""
        troubles = len(self.troubles)
        for compiler in filter(shutil.which, compilers):
            if program := self._solver(name, (compiler,), self._fluid / "openmp.c", "-fopenmp"):
                del self.troubles[troubles:]
                return program
        del self.troubles[troubles:]
        return None

    def _tbb(self) -> Iterator[Runtime]:
        if not pathlib.Path("/usr/include/tbb/parallel_for.h").is_file():
            self.missing.append("oneTBB (libtbb-dev)")
            return
        if tbb := self._solver("fluid_tbb", ("c++",), self._bench / "tbb_rows.cpp", "-ltbb"):
            yield Runtime("oneTBB", tbb)

    def fork_joins(self) -> Iterator[tuple[str, str, Mapping[str, str]]]:
        source = [self._bench / "fork_join.c"]
        if own := self._compile("fork_join", ("cc", "-pthread"), source, *self._sorrel):
            yield OWN, own, {}
        if gomp := self._compile("fork_join_gomp", ("gcc", "-pthread"), source, "-DUSE_OPENMP", "-fopenmp"):
            yield "libgomp", gomp, {}
            yield "libgomp active", gomp, {"OMP_WAIT_POLICY": "active"}
        if "oneTBB (libtbb-dev)" not in self.missing:
            if tbb := self._compile("fork_join_tbb", ("c++", "-pthread", "-x", "c++"), source, "-DUSE_TBB", "-ltbb"):
                yield "oneTBB", tbb, {}


    def paces(self) -> Iterator[Runtime]:
        """bench/throughput/pace.c for the runtimes that can change their share."""
        source = [self._bench / "pace.c"]
        cores = str(len(os.sched_getaffinity(0)))
        if own := self._compile("pace", ("cc",), source, *self._sorrel):
            yield Runtime(OWN, own)
        if ranks := self._compile("pace_mpi", (self._command, "cc"), source, "-DUSE_MPI"):
            yield Runtime("Sorrel ranks", ranks, {}, (self._command, "run", "-n", cores))
        if "oneTBB (libtbb-dev)" not in self.missing:
            if tbb := self._compile("pace_tbb", ("c++", "-x", "c++"), source, "-DUSE_TBB", "-ltbb"):
                yield Runtime("oneTBB", tbb)


def _root() -> pathlib.Path:
    """The source tree, or the sources beside this package in an installed tree."""
    here = pathlib.Path(__file__).resolve().parent
    for root in here.parents:
        if (root / "apps/fluid/fluid.c").is_file():
            return root
    raise SystemExit("sorrel: bench: the sources of apps/fluid were not found")


# ---- running -------------------------------------------------------------------------------------------


def start(
    runtime: Runtime, arguments: Sequence[str], own_session: bool = False,
    first: Callable[[], object] | None = None, output: int = subprocess.DEVNULL,
) -> subprocess.Popen:
    """Starts a job; `first` runs in the new process before the program does."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "KMP_", "MP_", "SORREL_", "GOMP_"))}
    return subprocess.Popen(
        runtime.command(arguments), env={**kept, **runtime.environment}, start_new_session=own_session, preexec_fn=first,
        stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip


def wait_for(processes: Sequence[subprocess.Popen], seconds_max: float) -> tuple[list[float], float, bool]:
    """The time at which each ended, from now; their CPU time; whether they were stopped."""
    began = time.monotonic()
    ends, cpu, was_cut_off = [math.inf] * len(processes), 0.0, False
    left = {process.pid: index for index, process in enumerate(processes)}
    # A timer, since wait4 has no time-out and polling would disturb the machine.
    previous = signal.signal(signal.SIGALRM, lambda *_: None)

    class TookTooLong(Exception):
        pass

    def ring(*_: object) -> None:
        raise TookTooLong

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds_max)
    while left:
        try:
            pid, status, usage = os.wait4(-1, 0)
        except TookTooLong:
            was_cut_off = True
            for running in left:
                os.kill(running, signal.SIGKILL)
            continue
        if pid not in left:
            continue
        index = left.pop(pid)
        ends[index] = time.monotonic() - began
        processes[index].returncode = os.waitstatus_to_exitcode(status)
        cpu += usage.ru_utime + usage.ru_stime
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, previous)
    return ends, cpu, was_cut_off


def run_together(runtime: Runtime, jobs: Sequence[Job], seconds_max: float) -> Run:
    busy, began = busy_seconds(has_stolen=False), time.monotonic()
    processes = [start(runtime, job.arguments) for job in jobs]
    _, cpu, was_cut_off = wait_for(processes, seconds_max)
    elapsed = time.monotonic() - began
    if not was_cut_off and any(process.returncode != 0 for process in processes):
        raise RuntimeError(f"{runtime.name} failed: {' '.join(runtime.command(jobs[0].arguments))}")
    cores = len(os.sched_getaffinity(0))
    foreign = max(0.0, busy_seconds(has_stolen=False) - busy - cpu) / (elapsed * cores)
    return Run(elapsed, cpu, foreign, was_cut_off)


def quiet_run(runtime: Runtime, jobs: Sequence[Job], seconds_max: float) -> Run:
    """As run_together, repeated if other work took too much of the machine; the least disturbed run counts."""
    kept = least_disturbed(
        lambda: run_together(runtime, jobs, seconds_max),
        lambda run: run.foreign,
        lambda run: run.foreign <= FOREIGN_SHARE_MAX or run.is_cut_off,
    )
    RUNS.add(kept.elapsed, kept.foreign)
    return kept


# ---- what a job needs ----------------------------------------------------------------------------------


def _parts(output: str) -> dict[str, float]:
    words = output.replace(",", "").split()
    return {words[i]: float(words[i + 1]) for i in range(len(words) - 1) if words[i] in {"elapsed", "loops", "serial"}}


def _solve(alone: str, *arguments: object) -> dict[str, float]:
    done = subprocess.run([alone, *map(str, arguments)], capture_output=True, text=True, check=True)
    return _parts(done.stdout)


class Calibration:
    """Finds the arguments that give jobs the intended length, the same for every runtime."""

    def __init__(self, alone: str, seconds: float, cores: int) -> None:
        self._alone, self._seconds, self._cores = alone, seconds, cores
        self._costs: dict[str, tuple[float, float]] = {}

    def loop_us(self, grain: Grain) -> float:
        return self._cost_of(grain)[0] * 1e6

    def _cost_of(self, grain: Grain) -> tuple[float, float]:
        """Seconds of a loop, and of the serial work between two loops with one recurrence for each point."""
        if grain.name not in self._costs:
            steps = max(2, int(6e6 / grain.points**2 / grain.repeat))
            probes = [_solve(self._alone, *self._grid(grain), "--steps", steps, "--serial", 1) for _ in range(3)]
            self._costs[grain.name] = tuple(min(p[part] for p in probes) / steps / 6 for part in ("loops", "serial"))
        return self._costs[grain.name]

    @staticmethod
    def _grid(grain: Grain) -> tuple[str, ...]:
        return ("--points", str(grain.points), "--repeat", str(grain.repeat))

    def job(self, grain: Grain, letter: str) -> Job:
        kind = (KINDS | TAILS)[letter]
        loop_s, serial_s = self._cost_of(grain)
        share = kind.parallel_share
        serial = (1 - share) / share * loop_s / serial_s
        steps = max(1, round(self._seconds * kind.length * share / (6 * loop_s)))
        arguments = (*self._grid(grain), "--steps", str(steps), "--serial", f"{serial:.6f}")
        return self.measured(arguments)

    def measured(self, arguments: tuple[str, ...]) -> Job:
        """The current time of the job, by the quickest copy. Every core runs a copy: a core may be slower when the
        other cores are busy, and under external load its speed changes within minutes."""
        runs = [run for _ in range(MEASUREMENTS) for run in self._copies(arguments)]
        work, parts = min(runs, key=lambda run: run[0])
        # Start-up cannot be shared among cores.
        return Job(arguments, work, work - parts["loops"] * (1 - 1 / self._cores))

    def _copies(self, arguments: tuple[str, ...]) -> list[tuple[float, dict[str, float]]]:
        """One copy on each core at the same time: seconds, and the parts that the copy prints."""
        runtime = Runtime(ONE_THREAD, self._alone)
        begins, processes, runs = [], [], []
        for _ in range(self._cores):
            begins.append(time.monotonic())
            processes.append(start(runtime, arguments, output=subprocess.PIPE))
        began = time.monotonic()
        ends, _, _ = wait_for(processes, 100 * self._seconds + 60)
        for begin, end, process in zip(begins, ends, processes, strict=True):
            with process.stdout as output:
                runs.append((began + end - begin, _parts(output.read())))
        return runs


def bound(jobs: Sequence[Job], cores: int) -> float:
    return max(sum(job.work for job in jobs) / cores, max(job.critical_path for job in jobs))
