#!/usr/bin/env python3
"""End jobs by the death of a rank that they have started, and check that nothing is left.

    spawns.py spawns --build FOLDER [--count N] [--seconds S] [--seed SEED] [--jobs J] [--keep FOLDER] [--only NUMBER]

A job starts ranks, disconnects from them, and starts more. One of them ends without MPI_Finalize, by a signal, an exit or
MPI_Abort, while all others wait for it; or it has disconnected first. The job must end with the status that belongs to this
ending, and name it. No process of it and no file, in shared memory or elsewhere, may be left.
"""

from __future__ import annotations

import pathlib
import random
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from kills import Case, Job, still_there  # noqa: E402

import session  # noqa: E402

LIMIT_S = 150
ROUNDS_MS = 20
WITHOUT_FINALIZE = "ended with status {} without calling MPI_Finalize"
# Ending of the rank: the status of the job, or the signal that ends it, and what its output says.
ENDINGS = {
    "SIGKILL": (signal.SIGKILL, ""),
    "SIGSEGV": (signal.SIGSEGV, "Segmentation fault (signal 11)"),
    "abort": (signal.SIGABRT, "aborted (signal 6)"),
    "exit": (7, WITHOUT_FINALIZE.format(7)),
    "exit0": (1, WITHOUT_FINALIZE.format(0)),
    "_exit": (7, WITHOUT_FINALIZE.format(7)),
    "return": (7, WITHOUT_FINALIZE.format(7)),
    "MPI_Abort": (7, "MPI_Abort"),
    "disconnected": (7, WITHOUT_FINALIZE.format(7)),
}
# Options of `run`, and how many ranks may start others.
SHAPES = [
    (["-n", "1"], 1),
    (["-n", "3", "--workers", "3"], 3),
    (["-n", "2", "--procs", "2", "--universe", "20"], 2),
    (["-n", "5", "--procs", "3", "--universe", "20"], 5),
]


class EndingJob(Job):
    def wait(self) -> None:
        try:
            self.status = self.child.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            pass

    def fault_of(self, ending: str) -> str:
        status, text = ENDINGS[ending]
        if self.status is None:
            return f"it lives {LIMIT_S} s after its start"
        if left := still_there(self.living):
            return f"processes are left: {left}"
        if self.status not in ((-status, 128 + status) if isinstance(status, signal.Signals) else (status,)):
            return f"status {self.status} instead of that of {ending}"
        printed = (self.folder / "err").read_text(errors="replace")
        if text not in printed:
            return f"no '{text}' in its output"
        if b"over\n" in (self.folder / "out").read_bytes() and ending != "disconnected":
            return "the rank that waits for the one that has ended went on"
        if files := self.files_left():
            return f"files are left: {files}"
        if own := sorted(path.name for path in self.folder.iterdir() if path.name not in ("out", "err")):
            return f"files are left: {own}"
        return ""


class Spawns:
    def __init__(self, build: pathlib.Path, seed: int) -> None:
        self.sorrel = str(build / "bin/sorrel")
        self.program = str(build / "tests/stress/spawn_load")
        self.seed = seed

    def try_one(self, index: int, folder: pathlib.Path) -> tuple[str, str]:
        # Every ending comes in turn, so that a short session has all of them.
        ending = list(ENDINGS)[index % len(ENDINGS)]
        random_ = random.Random(f"{self.seed}-{index}")
        options, roots = SHAPES[(index // len(ENDINGS) + index) % len(SHAPES)]
        words = [self.sorrel, "run", *options, self.program, str(ROUNDS_MS), ending, str(random_.randrange(roots))]
        with EndingJob(Case(words, "process", signal.SIGKILL, 0), folder, f"{self.seed}-{index}-spawns") as job:
            job.wait()
            return job.fault_of(ending), " ".join(words) + "\n" + job.text()


if __name__ == "__main__":
    sys.exit(session.main(__doc__, {"spawns": Spawns}))
