"""`sorrel bench throughput`: a job beside programs of other runtimes, under a quota, and while other jobs arrive and
leave."""

import bisect
import contextlib
import copy
import dataclasses
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from . import report
from .bars import Bar
from .disturbance import RUNS, Watch
from .fluid_jobs import ONE_THREAD, OWN, PATIENCE, Job, Programs, Runtime, start, wait_for

Pace = Sequence[tuple[int, int]]  # nanoseconds, loops so far

# Folders of /sys/fs/cgroup in which this process may make groups: that of version 1, that of version 2.
CGROUP = pathlib.Path("/sys/fs/cgroup")
PERIOD_US = 100_000
# For each round of the other rows: two runs under a quota differ by several per cent.
QUOTA_ROUNDS = 3
NICEST = 19


@dataclasses.dataclass(frozen=True)
class Row:
    title: str
    unit: str
    most: float
    rule: str


ROWS = {
    "arrives": Row("a job arrives: until the shares are right", "ms", 50, "<= 50 ms"),
    "leaves": Row("a job leaves: until the shares are right", "ms", 50, "<= 50 ms"),
    "hogs, coarse": Row("niced hogs on all cores, coarse", "x idle", 1.05, "<= 1.05 x idle"),
    "hogs, 35us": Row("niced hogs on all cores, 35us", "x idle", 1.05, "<= 1.05 x idle"),
    "quota, coarse": Row("quota of 1 core, coarse", "x 1 thread", 1.05, "<= 1.05 x one thread"),
    "quota, 35us": Row("quota of 1 core, 35us", "x 1 thread", 1.05, "<= 1.05 x one thread"),
    "same session": Row("beside a spinning job of another runtime, same session", "x its time", 1.0, "<= 1 x its time"),
    "own session": Row("beside a spinning job of another runtime, own session", "x its time", 1.0, "<= 1 x its time"),
}


def loops_at(pace: Pace, when: float) -> float:
    """The number of loops done, interpolated linearly between the records."""
    index = bisect.bisect(pace, (when, math.inf))
    if index in (0, len(pace)):
        return 0.0 if index == 0 else float(pace[-1][1])
    (began, before), (ended, after) = pace[index - 1], pace[index]
    return before + (after - before) * (when - began) / (ended - began)


def settled_ms(pace: Pace, change: float, steady: tuple[float, float]) -> float:
    """Milliseconds after `change` until, for 50 ms, the pace is within 15 % of that in the interval `steady`."""
    window, step = 50e6, 5e6
    right = (loops_at(pace, steady[1]) - loops_at(pace, steady[0])) / (steady[1] - steady[0])
    when = change
    while when < steady[1] - window:
        mean = (loops_at(pace, when + window) - loops_at(pace, when)) / window
        if abs(mean - right) <= 0.15 * right:
            break
        when += step
    return (when - change) / 1e6


def read_pace(text: str) -> Pace:
    return [(int(words[1]), int(words[2])) for line in text.splitlines() if (words := line.split())[:1] == ["pace"]]


@contextlib.contextmanager
def quota_of_one_core() -> Iterator[Callable[[], object] | None]:
    """A function that puts a process into a group with the quota of one core; None if no such group can be made."""
    name = f"sorrel-bench-{os.getpid()}"
    places = ((CGROUP / "cpu", "cpu.cfs_quota_us", str(PERIOD_US)), (CGROUP, "cpu.max", f"{PERIOD_US} {PERIOD_US}"))
    for root, file, value in places:
        group = root / name
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / file).write_text(value, encoding="ascii")
            members = group / "cgroup.procs"
            yield lambda members=members: members.write_text(str(os.getpid()), encoding="ascii")
            return
        except OSError:
            continue
        finally:
            with contextlib.suppress(OSError):
                group.rmdir()
    yield None


@contextlib.contextmanager
def niced_hogs(count: int) -> Iterator[None]:
    """In a session of its own, where niceness applies."""
    script = f"import os; os.nice({NICEST})\nwhile True: pass"
    hogs = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(count)]
    time.sleep(0.2)
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


class Beside:
    ROWS = ("arrivals", "hogs", "quota", "stranger")
    JOB = "L"
    _SHOWN = (OWN, "Sorrel ranks", "Sorrel OpenMP", "oneTBB")

    def __init__(self, programs: Programs, runtimes: Sequence[Runtime], repetitions: int) -> None:
        self._programs, self._repetitions = programs, repetitions
        self._all = runtimes
        self._runtimes = [r for r in runtimes if r.name in self._SHOWN]
        self._cores = len(os.sched_getaffinity(0))
        self.values: dict[str, dict[str, list[float]]] = {}
        self.missing: list[str] = []

    def _add(self, row: str, runtime: str, value: float) -> None:
        self.values.setdefault(row, {}).setdefault(runtime, []).append(value)

    def measure(self, row: str, jobs: Mapping[str, Job]) -> None:
        getattr(self, f"_measure_{row}")(jobs)

    def _seconds(self, runtime: Runtime, job: Job, first: Callable[[], object] | None = None) -> float | None:
        began = time.monotonic()
        process = start(runtime, job.arguments, first=first)
        _, _, was_cut_off = wait_for([process], PATIENCE * job.work)
        return None if was_cut_off or process.returncode != 0 else time.monotonic() - began

    def _rounds(
        self, jobs: Mapping[str, Job], runtimes: Sequence[Runtime], what: str, times: int = 1
    ) -> Iterator[tuple[str, Job, Runtime]]:
        turns = [(g, job, r) for _ in range(self._repetitions * times) for g, job in jobs.items() for r in runtimes]
        progress = report.Progress(len(turns), what)
        for turn in turns:
            progress.step(f"{turn[0]}, {turn[2].name}")
            # A process started beside a job belongs to this command, and ends with its turn.
            watch = Watch()
            yield turn
            RUNS.add(*watch.end())
        progress.end()

    def _measure_hogs(self, jobs: Mapping[str, Job]) -> None:
        """Idle and loaded in turn, so that both see the same machine."""
        for grain, job, runtime in self._rounds(jobs, self._runtimes, "hogs"):
            idle = self._seconds(runtime, job)
            with niced_hogs(self._cores):
                hogged = self._seconds(runtime, job)
            if idle and hogged:
                self._add(f"hogs, {grain}", runtime.name, hogged / idle)

    def _measure_quota(self, jobs: Mapping[str, Job]) -> None:
        """One thread before each job, so that both see the same machine."""
        one_thread = Runtime(ONE_THREAD, self._programs.alone())
        with quota_of_one_core() as enter:
            if enter is None:
                self.missing.append("a control group that this user may make, for the quota's rows")
                return
            for grain, job, runtime in self._rounds(jobs, self._runtimes, "quota", QUOTA_ROUNDS):
                least = self._seconds(one_thread, job, enter)
                seconds = self._seconds(runtime, job, enter)
                if least and seconds:
                    self._add(f"quota, {grain}", runtime.name, seconds / least)

    def _measure_stranger(self, jobs: Mapping[str, Job]) -> None:
        """The finishing time over that of a spinning job, started together; in one session or two."""
        stranger = next((r for r in self._all if r.name in {"libomp", "libgomp"}), None)
        if stranger is None:
            self.missing.append("libgomp or libomp, for a spinning job")
            return
        spinning = {"KMP_BLOCKTIME": "infinite", "OMP_WAIT_POLICY": "active"}
        stranger = dataclasses.replace(stranger, environment={**stranger.environment, **spinning})
        job = jobs["coarse"]
        for session in ("same session", "own session"):
            for round_ in range(2):
                for _, _, runtime in self._rounds({"coarse": job}, self._runtimes, session):
                    pair = [runtime, stranger] if round_ == 0 else [stranger, runtime]
                    processes = [start(who, job.arguments, session == "own session") for who in pair]
                    ends, _, was_cut_off = wait_for(processes, PATIENCE * job.work)
                    if not was_cut_off:
                        self._add(session, runtime.name, ends[pair.index(runtime)] / ends[pair.index(stranger)])

    def _measure_arrivals(self, _jobs: Mapping[str, Job]) -> None:
        """One runs for 1.5 s; after 0.5 s another one runs for 0.5 s."""
        names = {r.name for r in self._runtimes}
        for _, _, runtime in self._rounds({"": Job((), 0, 0)}, [r for r in self._programs.paces() if r.name in names], "arrivals"):
            first = self._start_pace(runtime, "1.5")
            time.sleep(0.5)
            second = self._start_pace(runtime, "0.5")
            pace, guest = (read_pace(process.communicate(timeout=20)[0]) for process in (first, second))
            if not pace or not guest:
                continue
            came, went = guest[0][0], guest[-1][0]
            shared = (came + 200e6, went - 20e6)
            self._add("arrives", runtime.name, max(settled_ms(p, came, shared) for p in (pace, guest)))
            self._add("leaves", runtime.name, settled_ms(pace, went, (went + 100e6, pace[-1][0])))

    @staticmethod
    def _start_pace(runtime: Runtime, seconds: str) -> subprocess.Popen:
        return subprocess.Popen(runtime.command([seconds]), stdout=subprocess.PIPE, text=True)

    # ---- results

    def _medians(self, row: str) -> dict[str, float]:
        return {runtime: statistics.median(values) for runtime, values in self.values.get(row, {}).items()}

    def half(self, which: int) -> "Beside":
        """The results of the even turns (0) or of the odd ones (1)."""
        half = copy.copy(self)
        half.values = {row: {r: v[which::2] for r, v in each.items() if len(v) > which} for row, each in self.values.items()}
        return half

    def bars(self) -> list[Bar]:
        bars = []
        for key, row in ROWS.items():
            medians = self._medians(key)
            peer = "oneTBB" if "oneTBB" in medians else "-"
            bars.append(Bar(row.title, medians.get(OWN), row.unit, peer, medians.get(peer), row.most, row.rule))
        return bars

    def print_tables(self) -> None:
        if not self.values:
            return
        names = [name for name in self._SHOWN if any(name in row for row in self.values.values())]
        print("\nBeside other programs: medians\n")
        print(f"{'':<46}" + "".join(f"{name:>15}" for name in names) + "  unit")
        for key, row in ROWS.items():
            if medians := self._medians(key):
                cells = [report.number(medians.get(name)) for name in names]
                print(f"{row.title:<46}" + "".join(f"{cell:>15}" for cell in cells) + f"  {row.unit}")

    def as_json(self) -> dict:
        return self.values
