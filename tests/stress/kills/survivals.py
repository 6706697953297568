#!/usr/bin/env python3
"""Kill processes of jobs that are to survive that, at random moments, and check that each job ends right.

    survivals.py survivals --build FOLDER [--count N] [--seconds S] [--seed SEED] [--jobs J] [--keep FOLDER] [--only NUMBER]

A case is one job, with its checkpoints in memory or in a folder, of one process or several, alone or beside busy loops, as it is
built or with delayed workers (build/*/perturbed). Ten times one of its processes gets SIGKILL or SIGTERM; the moment is random in
time, before the first checkpoint, too. The job must end with status 0, soon after the last kill, and each of its lives must go on
with the history of a job that was not killed, at a step that was reached before. A seed repeats the choice and not the race.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "fuzz"))
import session  # noqa: E402
import trial  # noqa: E402

KILLS = 10
STEPS = 400
# A job takes a second alone; its pauses take up to a minute if no kill lets it come to a checkpoint.
LIMIT_S = 300
SHAPES = ["--workers 1", "--workers 2", "--procs 2", "--procs 3", "--procs 2 --balance measured"]


@dataclasses.dataclass
class Case:
    words: list[str]
    environment: dict[str, str]
    is_beside_loops: bool
    pause_s: float  # mean, between two kills

    def text(self) -> str:
        settings = [f"{name}={value}" for name, value in self.environment.items()]
        busy = ", beside busy loops" if self.is_beside_loops else ""
        return f"{' '.join([*settings, *self.words])}\na kill each {self.pause_s * 1e3:.0f} ms{busy}\n"


class Survivals:
    def __init__(self, build: pathlib.Path, seed: int) -> None:
        self.build = build
        self.program = str(build / "tests/checkpoint/steps")
        self.seed = seed
        words = [str(build / "bin/sorrel"), "run", "-n", "4", self.program, str(STEPS), "1000000"]
        plain = subprocess.run(words, check=True, stdout=subprocess.PIPE)
        self.history = plain.stdout.decode().splitlines()

    def case_of(self, random_: random.Random, folder: pathlib.Path) -> Case:
        sorrel = self.build / "bin/sorrel"
        environment = {}
        perturbed = self.build / "perturbed/bin/sorrel"
        if perturbed.exists() and random_.random() < 0.3:
            sorrel = perturbed
            environment["SORREL_PERTURB"] = str(random_.randrange(1, 10_000))
        shape = random_.choice(SHAPES)
        if "measured" in shape:
            environment["SORREL_MOVE_SEED"] = str(random_.randrange(1, 1000))
        where = random_.choice(["memory", "memory", str(folder / "save")])
        every = random_.choice([1, 5, 20])
        words = [str(sorrel), "run", "-n", "4", *shape.split(), "--checkpoint", where, "--restarts", "1000", self.program, str(STEPS), str(every)]
        return Case(words, environment, random_.random() < 0.5, random_.choice([0.02, 0.06, 0.2]))

    def try_one(self, index: int, folder: pathlib.Path) -> tuple[str, str]:
        random_ = random.Random(f"{self.seed}-{index}")
        case = self.case_of(random_, folder)
        loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(4 if case.is_beside_loops else 0)]
        try:
            fault, text = self.survive(case, random_, folder)
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
        shutil.rmtree(folder / "save", ignore_errors=True)
        return fault, case.text() + text

    def survive(self, case: Case, random_: random.Random, folder: pathlib.Path) -> tuple[str, str]:
        environment = trial.clean_environment(folder) | case.environment
        with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
            job = subprocess.Popen(case.words, cwd=folder, env=environment, stdout=out, stderr=err, start_new_session=True)
        began = time.monotonic()
        kills = 0
        next_kill = began
        while job.poll() is None and time.monotonic() - began < LIMIT_S:
            if kills < KILLS and time.monotonic() >= next_kill and (victims := processes_of(job.pid)):
                next_kill = time.monotonic() + random_.uniform(0, 2 * case.pause_s)
                time.sleep(random_.uniform(0, 0.01))
                kills += kill(random_.choice(victims), random_.choice([signal.SIGKILL, signal.SIGTERM]))
            time.sleep(0.002)
        is_late = job.poll() is None
        if is_late:
            os.killpg(job.pid, signal.SIGABRT)
        status = job.wait()
        lines = (folder / "out").read_text(errors="backslashreplace").splitlines()
        text = "\n".join([f"{kills} kills, status {status}", "stdout:", *lines[-30:], "stderr:", (folder / "err").read_text()[-4000:], ""])
        if is_late:
            return f"it has not ended after {LIMIT_S} s", text
        if status != 0:
            return f"status {status} after {kills} kills", text
        return self.fault_of(lines), text

    def fault_of(self, lines: list[str]) -> str:
        """The fault in what all lives have printed."""
        done = 0
        for line in lines:
            if line == "restarted":
                continue
            step = int(line.split()[0]) if line.split()[:1] and line.split()[0].isdigit() else 0
            if not 1 <= step <= done + 1 or self.history[step - 1] != line:
                return f"after step {done} it prints '{line}'"
            done = step
        return "" if done == STEPS else f"it has made {done} steps"


def processes_of(command: int) -> list[int]:
    """The processes that the command has started, and not the ones that write checkpoints."""
    try:
        return [int(pid) for pid in pathlib.Path(f"/proc/{command}/task/{command}/children").read_text().split()]
    except OSError:
        return []


def kill(pid: int, number: signal.Signals) -> int:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(session.main(__doc__, {"survivals": Survivals}))
