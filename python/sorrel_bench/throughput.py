"""`sorrel bench throughput`: several parallel jobs on one machine, as on SGI's in 1996, with today's runtimes.

The jobs are apps/fluid, one kernel for every runtime: same sources, same answer, same flags. A mix of four
jobs is started at once; what counts is when the last one ends, over the least that is possible (the bound:
the larger of all work over all cores and the longest job's critical path).
"""

import dataclasses
import fnmatch
import json
import math
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence

from . import machine, report
from .bars import Bar
from .implementations import _output, _version_in

OWN = "Sorrel"
FLAGS = ("-O3", "-march=native", "-w")
# A mix that takes this many times its bound is stopped.
PATIENCE = 8.0
# More of the machine than this taken by others makes a run worthless: it is done again.
FOREIGN_SHARE_MAX = 0.05
ATTEMPTS_MAX = 4
CONFIDENT_REPETITIONS = 3


@dataclasses.dataclass(frozen=True)
class Kind:
    """One of the four jobs of the seed: how long it takes alone, of the unit, and what is parallel of it."""

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
# Table 2 of the seed, and the savings of its table 3: dynamic threads against static ones, CPU and elapsed.
MIXES = ("FFFF", "FFLL", "FFFL", "pppp", "ppqq", "pppq", "FFpp")
SEED_SAVINGS = {
    # The seed prints 96 % for the CPU of mix 1; 424 s and 324 s make it 24 %.
    "FFFF": (24, 23), "FFLL": (19, 13), "FFFL": (17, 14), "pppp": (59, 57),
    "ppqq": (57, 54), "pppq": (52, 49), "FFpp": (46, 42),
}  # fmt: skip
PARTS = ("coarse", "35us", "5us", "fork_join", "stranger")
SHORT_MIXES = ("FFFF", "FFpp", "FF")


@dataclasses.dataclass(frozen=True)
class Grain:
    name: str
    points: int
    repeat: int
    mixes: tuple[str, ...]


# The points are chosen for loops of about 5 ms, 35 us and 5 us on a core of 2023; what they take is printed.
GRAINS = (
    Grain("coarse", 500, 26, MIXES),
    Grain("35us", 200, 1, SHORT_MIXES),
    Grain("5us", 76, 1, SHORT_MIXES),
)


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


@dataclasses.dataclass(frozen=True)
class Job:
    """A job of one grain: its command line, and what one thread needs for it."""

    arguments: tuple[str, ...]
    work: float
    critical_path: float


class Programs:
    """Builds the solver for every runtime that is here."""

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

    def _solver(self, name: str, compiler: Sequence[str], backend: str, *flags: str) -> str | None:
        return self._compile(name, compiler, [self._fluid / "fluid.c", self._fluid / backend], *flags)

    def alone(self) -> str:
        program = self._solver("fluid_alone", ("cc",), "alone.c")
        if program is None:
            raise SystemExit(f"sorrel: bench: {self.troubles[-1]}")
        return program

    def runtimes(self) -> list[Runtime]:
        return [*self._own(), *self._openmp(), *self._tbb()]

    def _own(self) -> Iterator[Runtime]:
        cores = str(len(os.sched_getaffinity(0)))
        if loops := self._solver("fluid_loops", ("cc",), "loops.c", *self._sorrel):
            yield Runtime(OWN, loops)
            yield Runtime("Sorrel polite", loops, {"SORREL_SHARE": "polite"})
            yield Runtime("Sorrel static", loops, {"MP_SET_NUMTHREADS": cores})
            yield Runtime("Sorrel static, block", loops, {"MP_SET_NUMTHREADS": cores, "MP_BLOCKTIME": "1"})
        if ranks := self._solver("fluid_mpi", (self._command, "cc"), "mpi.c"):
            yield Runtime("Sorrel ranks", ranks, {}, (self._command, "run", "-n", cores, "--bind", "none"))

    def _openmp(self) -> Iterator[Runtime]:
        cores = {"OMP_NUM_THREADS": str(len(os.sched_getaffinity(0)))}
        if gomp := self._solver("fluid_gomp", ("gcc",), "openmp.c", "-fopenmp"):
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
        """A clang may be here without its libomp."""
        troubles = len(self.troubles)
        for compiler in filter(shutil.which, compilers):
            if program := self._solver(name, (compiler,), "openmp.c", "-fopenmp"):
                del self.troubles[troubles:]
                return program
        del self.troubles[troubles:]
        return None

    def _tbb(self) -> Iterator[Runtime]:
        if not pathlib.Path("/usr/include/tbb/parallel_for.h").is_file():
            self.missing.append("oneTBB (libtbb-dev)")
            return
        objects = []
        for source, compiler in ((self._fluid / "fluid.c", "cc"), (self._bench / "tbb_rows.cpp", "c++")):
            objects.append(self._folder / f"{source.stem}.o")
            words = [compiler, *FLAGS, f"-I{self._fluid}", "-c", str(source), "-o", str(objects[-1])]
            subprocess.run(words, capture_output=True, check=False)
        if tbb := self._compile("fluid_tbb", ("c++",), objects, "-ltbb"):
            yield Runtime("oneTBB", tbb)

    def fork_joins(self) -> Iterator[tuple[str, str, Mapping[str, str]]]:
        source = [self._bench / "fork_join.c"]
        if own := self._compile("fork_join", ("cc",), source, *self._sorrel):
            yield OWN, own, {}
        if gomp := self._compile("fork_join_gomp", ("gcc",), source, "-DUSE_OPENMP", "-fopenmp"):
            yield "libgomp", gomp, {}
            yield "libgomp active", gomp, {"OMP_WAIT_POLICY": "active"}
        if "oneTBB (libtbb-dev)" not in self.missing:
            if tbb := self._compile("fork_join_tbb", ("c++", "-x", "c++"), source, "-DUSE_TBB", "-ltbb"):
                yield "oneTBB", tbb, {}


def _root() -> pathlib.Path:
    """The source tree, or what an installed one has beside this package."""
    here = pathlib.Path(__file__).resolve().parent
    for root in here.parents:
        if (root / "apps/fluid/fluid.c").is_file():
            return root
    raise SystemExit("sorrel: bench: the sources of apps/fluid are not there")


# ---- running -------------------------------------------------------------------------------------------


def _busy_seconds() -> float:
    """Of all processors since the machine's start, niced work included."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(word) for word in file.readline().split()[1:]]
    user, nice, system, _idle, _wait, interrupts, soft_interrupts, *_ = fields
    return (user + nice + system + interrupts + soft_interrupts) / os.sysconf("SC_CLK_TCK")


def start(runtime: Runtime, arguments: Sequence[str], own_session: bool = False) -> subprocess.Popen:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "KMP_", "MP_", "SORREL_", "GOMP_"))}
    return subprocess.Popen(
        runtime.command(arguments), env={**kept, **runtime.environment}, start_new_session=own_session,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def wait_for(processes: Sequence[subprocess.Popen], seconds_max: float) -> tuple[list[float], float, bool]:
    """When each ended, counted from now; their CPU time; whether they were stopped."""
    began = time.monotonic()
    ends, cpu, was_cut_off = [math.inf] * len(processes), 0.0, False
    left = {process.pid: index for index, process in enumerate(processes)}
    # A timer, since wait4 has no time-out: the machine is not to be disturbed by polling.
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
    busy, began = _busy_seconds(), time.monotonic()
    processes = [start(runtime, job.arguments) for job in jobs]
    _, cpu, was_cut_off = wait_for(processes, seconds_max)
    elapsed = time.monotonic() - began
    if not was_cut_off and any(process.returncode != 0 for process in processes):
        raise RuntimeError(f"{runtime.name} failed: {' '.join(runtime.command(jobs[0].arguments))}")
    cores = len(os.sched_getaffinity(0))
    foreign = max(0.0, _busy_seconds() - busy - cpu) / (elapsed * cores)
    return Run(elapsed, cpu, foreign, was_cut_off)


def quiet_run(runtime: Runtime, jobs: Sequence[Job], seconds_max: float) -> Run:
    """As run_together, again if others took too much of the machine meanwhile; the least disturbed counts."""
    best: Run | None = None
    for _ in range(ATTEMPTS_MAX):
        run = run_together(runtime, jobs, seconds_max)
        if best is None or run.foreign < best.foreign:
            best = run
        if run.foreign <= FOREIGN_SHARE_MAX or run.is_cut_off:
            break
    assert best is not None
    return best


# ---- what a job needs ----------------------------------------------------------------------------------


def _solve(alone: str, *arguments: object) -> dict[str, float]:
    done = subprocess.run([alone, *map(str, arguments)], capture_output=True, text=True, check=True)
    words = done.stdout.replace(",", "").split()
    return {words[i]: float(words[i + 1]) for i in range(len(words) - 1) if words[i] in {"elapsed", "loops", "serial"}}


class Calibration:
    """Finds the arguments that make the four jobs of a grain last as long as they should."""

    def __init__(self, alone: str, seconds: float, cores: int) -> None:
        self._alone, self._seconds, self._cores = alone, seconds, cores
        self.loop_us: dict[str, float] = {}

    def jobs(self, grain: Grain) -> dict[str, Job]:
        steps = max(2, int(6e6 / grain.points**2 / grain.repeat))
        grid = ("--points", str(grain.points), "--repeat", str(grain.repeat))
        probes = [_solve(self._alone, *grid, "--steps", steps, "--serial", 1) for _ in range(3)]
        loop_s = min(p["loops"] for p in probes) / steps / 6
        serial_s = min(p["serial"] for p in probes) / steps / 6
        self.loop_us[grain.name] = loop_s * 1e6
        return {letter: self._job(grain, kind, loop_s, serial_s) for letter, kind in KINDS.items()}

    def _job(self, grain: Grain, kind: Kind, loop_s: float, serial_s: float) -> Job:
        share = kind.parallel_share
        serial = (1 - share) / share * loop_s / serial_s
        steps = max(1, round(self._seconds * kind.length * share / (6 * loop_s)))
        grid = ("--points", str(grain.points), "--repeat", str(grain.repeat))
        arguments = (*grid, "--steps", str(steps), "--serial", f"{serial:.6f}")
        runs = []
        for _ in range(3):
            began = time.monotonic()
            parts = _solve(self._alone, *arguments)
            runs.append((time.monotonic() - began, parts))
        work, parts = min(runs, key=lambda run: run[0])
        # Start-up is nobody's to share.
        critical_path = work - parts["loops"] * (1 - 1 / self._cores)
        return Job(arguments, work, critical_path)


def bound(jobs: Sequence[Job], cores: int) -> float:
    return max(sum(job.work for job in jobs) / cores, max(job.critical_path for job in jobs))


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
        self.fork_join: dict[str, dict[str, float]] = {}
        self.beside: dict[str, list[float]] = {}

    def calibrate(self, grains: Sequence[Grain]) -> None:
        for grain in grains:
            self.jobs[grain.name] = self.calibration.jobs(grain)

    def bound_of(self, grain: str, mix: str) -> float:
        return bound([self.jobs[grain][letter] for letter in mix], self.cores)

    def turns(self, grains: Sequence[Grain]) -> list[tuple[Grain, str, Runtime]]:
        """One job alone first, then the mixes; the runtimes alternate, and each round another one begins."""
        order = []
        for round_ in range(self.repetitions):
            for grain in grains:
                for mix in ("F", *grain.mixes):
                    first = round_ % len(self.runtimes)
                    order += [(grain, mix, r) for r in self.runtimes[first:] + self.runtimes[:first]]
        return order

    def run(self, grain: Grain, mix: str, runtime: Runtime) -> None:
        runs = self.runs.setdefault((grain.name, mix, runtime.name), [])
        if any(run.is_cut_off for run in runs):
            return
        jobs = [self.jobs[grain.name][letter] for letter in mix]
        # A runtime that spins as long as it likes is known to take for ever with short loops.
        runs.append(quiet_run(runtime, jobs, PATIENCE * self.bound_of(grain.name, mix) + 1))

    def measure_fork_joins(self) -> None:
        for name, program, environment in self.programs.fork_joins():
            for _ in range(self.repetitions):
                done = subprocess.run([program], env={**os.environ, **environment}, capture_output=True, text=True, check=True)
                for line in done.stdout.splitlines():
                    _, gap, value, _ = line.split()
                    before = self.fork_join.setdefault(name, {}).get(gap, math.inf)
                    self.fork_join[name][gap] = min(before, float(value))

    def measure_beside_a_stranger(self) -> None:
        """Our finishing time over that of a job that spins, started together; one or two sessions."""
        stranger = next((r for r in self.runtimes if r.name in {"libomp", "libgomp"}), None)
        own = next((r for r in self.runtimes if r.name == OWN), None)
        job = self.jobs.get("coarse", {}).get("L")
        if stranger is None or own is None or job is None:
            return
        spinning = {"KMP_BLOCKTIME": "infinite", "OMP_WAIT_POLICY": "active"}
        stranger = dataclasses.replace(stranger, environment={**stranger.environment, **spinning})
        for name, own_session in (("same session", False), ("own session", True)):
            for round_ in range(2 * self.repetitions):
                pair = [own, stranger] if round_ % 2 == 0 else [stranger, own]
                processes = [start(runtime, job.arguments, own_session) for runtime in pair]
                ends, _, was_cut_off = wait_for(processes, PATIENCE * job.work)
                if not was_cut_off:
                    self.beside.setdefault(name, []).append(ends[pair.index(own)] / ends[pair.index(stranger)])

    # ---- results

    def over_bound(self, grain: str, mix: str, runtime: str) -> float | None:
        runs = self.runs.get((grain, mix, runtime), [])
        if not runs or any(run.is_cut_off for run in runs):
            return None
        return statistics.median(run.elapsed for run in runs) / self.bound_of(grain, mix)

    def cpu_of(self, grain: str, mix: str, runtime: str) -> float | None:
        runs = self.runs.get((grain, mix, runtime), [])
        if not runs or any(run.is_cut_off for run in runs):
            return None
        return statistics.median(run.cpu for run in runs)

    def mean_and_worst(self, grain: Grain, runtime: str, mixes: Sequence[str]) -> tuple[float | None, float | None]:
        ratios = [self.over_bound(grain.name, mix, runtime) for mix in mixes]
        known = [ratio for ratio in ratios if ratio is not None]
        if not known or len(known) < len(ratios):
            return None, None
        return statistics.geometric_mean(known), max(known)

    def best_peer(self, values: Mapping[str, float | None]) -> tuple[str, float | None]:
        peers = {k: v for k, v in values.items() if not k.startswith(OWN) and v is not None}
        return min(peers.items(), key=lambda pair: pair[1]) if peers else ("-", None)

    def bars(self, grains: Sequence[Grain]) -> list[Bar]:
        most = {"coarse": (1.02, 1.05), "35us": (1.00, None), "5us": (0.95, None)}
        bars = []
        names = [runtime.name for runtime in self.runtimes]
        for grain in grains:
            means = {name: self.mean_and_worst(grain, name, grain.mixes) for name in names}
            for which, label in ((0, "geometric mean"), (1, "worst")):
                if most[grain.name][which] is None:
                    continue
                peer, peer_value = self.best_peer({name: pair[which] for name, pair in means.items()})
                bars.append(Bar(f"mixes, {grain.name}: {label}", means.get(OWN, (None, None))[which], "x bound", peer,
                                peer_value, most[grain.name][which], f"<= {most[grain.name][which]:g} x bound"))  # fmt: skip
            if grain.name != "5us":
                value = means.get("Sorrel ranks", (None, None))[0]
                bars.append(Bar(f"mixes as MPI ranks, {grain.name}", value, "x bound", "-", None, 1.03, "<= 1.03 x bound"))
            if grain.name in ("coarse", "35us"):
                value = means.get("Sorrel OpenMP", (None, None))[0]
                limit = 1.03 if grain.name == "coarse" else 1.05
                rule = f"<= {limit:g} x bound"
                bars.append(Bar(f"mixes as OpenMP, {grain.name}", value, "x bound", "-", None, limit, rule))
            alone = {name: self.over_bound(grain.name, "F", name) for name in names}
            peer, peer_value = self.best_peer(alone)
            bars.append(Bar(f"one job, idle machine, {grain.name}", alone.get(OWN), "x bound", peer, peer_value,
                            peer_value, "<= 1 x the fastest"))  # fmt: skip
        own = self.fork_join.get(OWN, {})
        for gap, label, us in (("hot", "hot", 0.12), ("after_2ms", "after 2 ms", 0.6), ("after_250ms", "cold", 10)):
            values = {name: gaps[gap] / 1e3 for name, gaps in self.fork_join.items() if gap in gaps}
            peer, peer_value = self.best_peer(values)
            value = own[gap] / 1e3 if gap in own else None
            bars.append(Bar(f"fork-join of 2: {label}", value, "us", peer, peer_value, us, f"<= {us:g} us"))
        for session in ("same session", "own session"):
            ratios = self.beside.get(session)
            value = statistics.median(ratios) if ratios else None
            bars.append(Bar(f"beside a spinning stranger, {session}", value, "x its time", "-", None, 1.0, "<= 1 x its time"))
        return bars

    def print_tables(self, grains: Sequence[Grain]) -> None:
        for grain in grains:
            columns = ("F", *grain.mixes)
            print(f"\n{grain.name}, loops of {self.calibration.loop_us[grain.name]:.1f} us: elapsed over bound\n")
            print(f"{'':<22}" + "".join(f"{mix:>8}" for mix in columns) + f"{'mean':>8}{'CPU':>8}")
            for runtime in self.runtimes:
                ratios = [self.over_bound(grain.name, mix, runtime.name) for mix in columns]
                mean, _ = self.mean_and_worst(grain, runtime.name, grain.mixes)
                cpu = [
                    (self.cpu_of(grain.name, mix, runtime.name), sum(self.jobs[grain.name][x].work for x in mix))
                    for mix in grain.mixes
                ]
                cpus = [used / work for used, work in cpu if used is not None]
                cells = [f"{ratio:.2f}" if ratio is not None else f">{PATIENCE:.0f}" for ratio in ratios]
                tail = f"{mean:.2f}" if mean is not None else "-"
                tail_cpu = f"{statistics.geometric_mean(cpus):.2f}" if cpus else "-"
                print(f"{runtime.name:<22}" + "".join(f"{cell:>8}" for cell in cells) + f"{tail:>8}{tail_cpu:>8}")
        self.print_savings()

    def print_savings(self) -> None:
        """The seed's table 3: what dynamic threads save against static ones that spin."""
        if "coarse" not in self.jobs:
            return
        print("\nSavings of Sorrel over libgomp's default, coarse loops; in parentheses the seed's, dynamic over static\n")
        print(f"{'mix':<8}{'CPU':>14}{'elapsed':>14}")
        for mix, (seed_cpu, seed_elapsed) in SEED_SAVINGS.items():
            cells = []
            for of, seed in ((self.cpu_of, seed_cpu), (self.over_bound, seed_elapsed)):
                own, default = of("coarse", mix, OWN), of("coarse", mix, "libgomp")
                saving = f"{100 * (1 - own / default):.0f} %" if own and default else "-"
                cells.append(f"{saving} ({seed} %)")
            print(f"{mix:<8}{cells[0]:>14}{cells[1]:>14}")

    def foreign(self) -> float:
        return max((run.foreign for runs in self.runs.values() for run in runs), default=0.0)


# ---- the picture ---------------------------------------------------------------------------------------


def picture(experiment: Throughput, grains: Sequence[Grain]) -> str:
    """An SVG: a bar for each runtime and grain, elapsed over bound, geometric mean of the mixes."""
    rows = [(runtime.name, grain.name, experiment.mean_and_worst(grain, runtime.name, grain.mixes)[0])
            for grain in grains for runtime in experiment.runtimes]  # fmt: skip
    scale, left, height = 220.0, 210, 18
    parts = []
    for index, (name, grain, value) in enumerate(rows):
        y = 40 + index * height
        shown = min(value, 3.0) if value is not None else 3.0
        color = "#3a6ea5" if name.startswith(OWN) else "#b0b0b0"
        label = f"{value:.2f}" if value is not None else "did not end"
        parts.append(
            f'<text x="{left - 6}" y="{y + 12}" text-anchor="end">{name}, {grain}</text>'
            f'<rect x="{left}" y="{y}" width="{shown * scale:.1f}" height="{height - 4}" fill="{color}"/>'
            f'<text x="{left + shown * scale + 4:.1f}" y="{y + 12}">{label}</text>'
        )
    bottom = 40 + len(rows) * height
    line = f'<line x1="{left + scale}" y1="34" x2="{left + scale}" y2="{bottom}" stroke="black" stroke-dasharray="3"/>'
    title = '<text x="10" y="20">Four jobs at once: elapsed time over the bound, geometric mean of the mixes</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + 3 * scale + 90:.0f}" height="{bottom + 10}" '
        f'font-family="sans-serif" font-size="12">{title}{"".join(parts)}{line}</svg>\n'
    )


# ---- the command ---------------------------------------------------------------------------------------


def _versions() -> dict[str, str]:
    return {name: _version_in(_output(*command)) for name, command in
            {"gcc": ("gcc", "--version"), "clang": ("sh", "-c", "clang --version || clang-16 --version")}.items()}  # fmt: skip


def is_wanted(arguments, part: str) -> bool:
    return not arguments.only or any(fnmatch.fnmatch(part, pattern) for pattern in arguments.only)


def main(arguments) -> int:
    facts = machine.describe()
    print(f"{facts['processor']}, {len(facts['cpus_allowed'])} of {facts['cpus']} CPUs, Linux {facts['kernel']}")
    grains = [grain for grain in GRAINS if is_wanted(arguments, grain.name)]
    seconds = 0.15 if arguments.quick else 0.7
    with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as folder:
        repetitions = arguments.rounds or (1 if arguments.quick else CONFIDENT_REPETITIONS)
        experiment = Throughput(
            Programs(arguments.command, pathlib.Path(folder)), seconds, repetitions, arguments.runtime
        )
        print("Runtimes: " + ", ".join(runtime.name for runtime in experiment.runtimes), flush=True)
        experiment.calibrate(GRAINS[:1] if not grains and is_wanted(arguments, "stranger") else grains)
        turns = experiment.turns(grains)
        progress = report.Progress(len(turns), "run")
        for grain, mix, runtime in turns:
            progress.step(f"{grain.name} {mix}, {runtime.name}")
            experiment.run(grain, mix, runtime)
        progress.end()
        if is_wanted(arguments, "fork_join"):
            experiment.measure_fork_joins()
        if is_wanted(arguments, "stranger"):
            experiment.measure_beside_a_stranger()
    bars = [bar for bar in experiment.bars(grains) if not arguments.only or bar.value is not None]
    experiment.print_tables(grains)
    report.print_bars(bars)
    print(f"\nOther work took at most {100 * experiment.foreign():.0f} % of the machine during a run.")
    report.print_gaps(experiment.programs.missing, experiment.programs.troubles)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(_as_json(experiment, bars, facts, arguments), indent=1) + "\n", encoding="utf-8")
        arguments.json.with_suffix(".svg").write_text(picture(experiment, grains), encoding="utf-8")
    return 1 if experiment.programs.troubles else 0


def _as_json(experiment: Throughput, bars: Sequence[Bar], facts: dict, arguments) -> dict:
    return {
        "machine": {**facts, **_versions()},
        "options": {"quick": arguments.quick, "rounds": experiment.repetitions},
        "missing": experiment.programs.missing,
        "jobs": {
            grain: {letter: dataclasses.asdict(job) for letter, job in jobs.items()} for grain, jobs in experiment.jobs.items()
        },
        "samples": [
            {"grain": grain, "mix": mix, "runtime": runtime, "bound": experiment.bound_of(grain, mix), **dataclasses.asdict(run)}
            for (grain, mix, runtime), runs in experiment.runs.items()
            for run in runs
        ],
        "fork_join_ns": experiment.fork_join,
        "beside_a_stranger": experiment.beside,
        "bars": [bar.as_json() for bar in bars],
    }
