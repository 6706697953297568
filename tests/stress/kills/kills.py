#!/usr/bin/env python3
"""Kill jobs at random moments from their start to their end, and check that nothing is left.

    kills.py kills --build FOLDER [--count N] [--seconds S] [--seed SEED] [--jobs J] [--keep FOLDER] [--only NUMBER]

Killed are the command, one of its processes, the whole group, or the processes that a terminal's ^C reaches. Afterwards
the exit status must be that of the signal, and the job must have ended soon. No process of it, no file and no segment
of shared memory may be left, and the terminal's settings must be unchanged. The moment is random in time, so a seed
repeats the choice and not the race.
"""

from __future__ import annotations

import dataclasses
import fcntl
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "fuzz"))
import session  # noqa: E402
import trial  # noqa: E402

# An operation of a fraction of a second may take this long when other jobs keep the processors busy.
SOON_S = 40
LOAD_MS = "150"
SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV]
VICTIMS = ["command", "process", "group", "terminal"]
# In the environment of every process of a case from its start, even if the process changes its environment later.
MARK = "SORREL_KILLS_CASE"
# One page for all jobs of a user, which stays (src/governor/job_registry.hpp).
PAGE_OF_JOBS = re.compile(r"sorrel-[a-z0-9]+-\d+-[0-9a-f]+")
# Folders of tests and benchmarks, as named by mkdtemp().
FOLDER_OF_TEST = re.compile(r"sorrel[-_][a-z]+[-_]\w{6,8}")
# Folders of Open MPI on a node that a test has made (tests/host/namespaces.sh).
FOLDER_OF_NODE = re.compile(r"ompi\.sorrel-[ab]-\d+\.\d+")


@dataclasses.dataclass
class Case:
    words: list[str]
    victim: str
    signal: signal.Signals
    moment_s: float

    def text(self) -> str:
        return f"{' '.join(self.words)}\n{self.signal.name} to {self.victim} after {self.moment_s * 1e3:.1f} ms\n"


class Kills:
    def __init__(self, build: pathlib.Path, seed: int) -> None:
        sorrel = str(build / "bin/sorrel")
        programs = build / "tests/stress"
        load = str(programs / "load")
        self.shapes = [
            [sorrel, "run", "-n", "4", load, LOAD_MS],
            [sorrel, "run", "-n", "4", "--procs", "2", load, LOAD_MS],
            [sorrel, "run", "-n", "4", "--procs", "4", load, LOAD_MS],
            [sorrel, "run", "-n", "4", "--procs", "4", "--label", load, LOAD_MS],
            [sorrel, "run", "-n", "1", str(programs / "spawn_load"), LOAD_MS],
            [sorrel, "run", "-n", "2", "--procs", "2", "--universe", "20", str(programs / "spawn_load"), LOAD_MS],
        ]
        if (programs / "threads").exists():
            self.shapes.append([sorrel, "run", "--omp", str(programs / "threads"), LOAD_MS])
            self.shapes.append([sorrel, "run", "-n", "2", "--procs", "2", "--omp", str(programs / "hybrid_load"), LOAD_MS])
        self.seed = seed
        self.durations = [duration_of(words) for words in self.shapes]

    def try_one(self, index: int, folder: pathlib.Path) -> tuple[str, str]:
        random_ = random.Random(f"{self.seed}-{index}")
        shape = random_.randrange(len(self.shapes))
        case = Case(
            self.shapes[shape], random_.choice(VICTIMS), random_.choice(SIGNALS),
            random_.uniform(0, 1.1 * self.durations[shape]),
        )  # fmt: skip
        if case.victim == "terminal":
            case.signal = signal.SIGINT
        with Job(case, folder, f"{self.seed}-{index}-{os.getpid()}") as job:
            job.kill(random_)
            fault = job.fault()
            return fault, case.text() + job.text()


def duration_of(words: list[str]) -> float:
    """The time of the job if it is not killed."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sorrel-kills-"))
    began = time.monotonic()
    outcome = trial.run(words, folder, trial.clean_environment(folder), limit_s=120)
    took = time.monotonic() - began
    shutil.rmtree(folder)
    if outcome.status != 0:
        sys.exit(f"the job fails before it is killed:\n{outcome.text()}")
    return took


class Job:
    """A job with a terminal of its own; at the end of the context all its remaining processes are killed."""

    def __init__(self, case: Case, folder: pathlib.Path, mark: str) -> None:
        self.case = case
        self.folder = folder
        self.mark = f"{MARK}={mark}".encode()
        self.master, self.slave = os.openpty()
        self.settings = termios.tcgetattr(self.slave)
        self.files = names_of_shared_files()
        self.pids: set[int] = set()
        self.status: int | None = None
        self.took_s = 0.0
        env = trial.clean_environment(folder) | {MARK: mark}
        with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
            self.child = subprocess.Popen(
                case.words, cwd=folder, env=env, stdin=self.slave, stdout=out, stderr=err, preexec_fn=self.take_terminal
            )

    def take_terminal(self) -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        trial.limit_resources()

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        for pid in self.living():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if self.status is None:
            self.child.wait()
        os.close(self.master)
        os.close(self.slave)

    def living(self) -> list[int]:
        """The processes that started with the mark in their environment and are not zombies."""
        found = []
        for entry in os.scandir("/proc"):
            if not entry.name.isdigit():
                continue
            try:
                if self.mark not in pathlib.Path(entry.path, "environ").read_bytes().split(b"\0"):
                    continue
                state = pathlib.Path(entry.path, "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
            except OSError:
                continue
            if state not in "ZX":
                found.append(int(entry.name))
        return found

    def kill(self, random_: random.Random) -> None:
        time.sleep(self.case.moment_s)
        self.pids = {self.child.pid, *self.living()}
        began = time.monotonic()
        self.send(random_)
        try:
            self.status = self.child.wait(SOON_S)
        except subprocess.TimeoutExpired:
            pass
        self.took_s = time.monotonic() - began

    def send(self, random_: random.Random) -> None:
        victim = self.child.pid
        try:
            match self.case.victim:
                case "terminal":
                    os.write(self.master, b"\x03")
                    return
                case "group":
                    os.killpg(victim, self.case.signal)
                    return
                case "process":
                    others = [pid for pid in self.living() if pid != victim]
                    victim = random_.choice(others) if others else victim
            os.kill(victim, self.case.signal)
        except ProcessLookupError:
            pass

    def fault(self) -> str:
        if self.status is None:
            return f"it lives {SOON_S} s after the signal"
        if left := still_there(self.living):
            return f"processes are left: {left}"
        number = int(self.case.signal)
        is_over = b"over\n" in (self.folder / "out").read_bytes()
        if self.status not in (-number, 128 + number) and not (self.status == 0 and is_over):
            return f"status {self.status}"
        if files := self.files_left():
            return f"files are left: {files}"
        if segments := sorted(segments_of(self.pids)):
            return f"segments of System V memory are left: {segments}"
        if own := sorted(path.name for path in self.folder.iterdir() if path.name not in ("out", "err")):
            return f"files are left: {own}"
        if termios.tcgetattr(self.slave) != self.settings:
            return "the terminal's settings have changed"
        return ""

    def files_left(self) -> list[str]:
        """The shared files that are new. Those of other jobs, which start and end meanwhile, go, or a process has them open."""
        left = names_of_shared_files() - self.files
        end = time.monotonic() + SOON_S
        while left and time.monotonic() < end:
            time.sleep(0.05)
            left &= names_of_shared_files()
        return sorted(left - names_in_use())

    def text(self) -> str:
        out, err = ((self.folder / name).read_text(errors="backslashreplace")[:4000] for name in ("out", "err"))
        return f"status {self.status} after {self.took_s:.2f} s\nstdout:\n{out}\nstderr:\n{err}\n"


def still_there(find: Callable[[], list]) -> list:
    """Repeats the search until it finds nothing, or until the time for it is over."""
    end = time.monotonic() + SOON_S
    while (found := find()) and time.monotonic() < end:
        time.sleep(0.01)
    return found


def names_in_use() -> set[str]:
    """Files that a process has mapped."""
    found = set()
    for path in pathlib.Path("/proc").glob("[0-9]*/maps"):
        try:
            lines = path.read_text(errors="replace").splitlines()
        except OSError:
            continue
        found.update(line.split(maxsplit=5)[5] for line in lines if "/dev/shm/" in line)
    return found


def names_of_shared_files() -> set[str]:
    """Files in the folders for shared files; those of tests, and the page of jobs, do not count."""
    return {
        f"{folder}/{name}"
        for folder in ("/dev/shm", "/tmp")
        for name in os.listdir(folder)
        if "sorrel" in name and not PAGE_OF_JOBS.fullmatch(name) and not FOLDER_OF_TEST.fullmatch(name) and not FOLDER_OF_NODE.fullmatch(name)
    }


def segments_of(pids: set[int]) -> set[str]:
    """System V memory that one of these processes has made."""
    lines = pathlib.Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return {words[1] for words in map(str.split, lines) if int(words[4]) in pids}


if __name__ == "__main__":
    sys.exit(session.main(__doc__, {"kills": Kills}))
