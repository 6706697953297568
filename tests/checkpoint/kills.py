#!/usr/bin/env python3
"""Kill a job at random moments while it writes checkpoints, and restart it each time.

    kills.py SORREL STEPS_PROGRAM COUNT [--procs P [--moves]] [--seed SEED]

The job saves itself after each step. All its processes get SIGKILL, also those that write; a job of several processes
is killed in this way half of the time, and loses one of its processes otherwise. It is then restarted with any number
of processes. The last restart runs to the end, and the history that all runs have printed must be that of a job that
was not killed. The moment is random in time, so a seed repeats the choice and not the race. With --moves, ranks also
change their process at random, and are killed meanwhile.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

RANK_COUNT = 4


def processes_of(job: subprocess.Popen[bytes]) -> list[int]:
    """Those that the command has started, and not the ones that write."""
    try:
        return [int(pid) for pid in pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()]
    except OSError:
        return []


def kill(job: subprocess.Popen[bytes], is_one: bool, random_: random.Random) -> None:
    processes = processes_of(job) if is_one else []
    try:
        if processes:
            os.kill(random_.choice(processes), signal.SIGKILL)
        else:
            os.killpg(job.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def start(words: list[str], folder: pathlib.Path) -> subprocess.Popen[bytes]:
    with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
        return subprocess.Popen(words, stdout=out, stderr=err, start_new_session=True)


def fail(folder: pathlib.Path, text: str) -> None:
    for name in ("out", "err"):
        print(f"--- {name}\n{(folder / name).read_text(errors='replace')[-2000:]}")
    sys.exit(text)


def whole_lines(folder: pathlib.Path) -> list[str]:
    text = (folder / "out").read_text()
    return [line for line in text.splitlines(keepends=True) if line.endswith("\n") and line != "restarted\n"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sorrel")
    parser.add_argument("program")
    parser.add_argument("count", type=int)
    parser.add_argument("--procs", type=int, default=1)
    parser.add_argument("--moves", action="store_true")
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    sorrel, program, count = options.sorrel, options.program, options.count
    random_ = random.Random(options.seed)
    has_several = options.procs > 1
    ranks = ["-n", str(RANK_COUNT), *(["--procs", str(options.procs)] if has_several else ["--workers", "2"])]
    # Enough for all lives of the job: at most one step for each millisecond of them.
    steps = str(60 * count)
    with tempfile.TemporaryDirectory(prefix="sorrel-checkpoint-") as name:
        folder = pathlib.Path(name)
        save = str(folder / "save")
        plain = subprocess.run([sorrel, "run", *ranks, program, steps, "1000000"], check=True, stdout=subprocess.PIPE)
        history = plain.stdout.decode().splitlines(keepends=True)
        first = [sorrel, "run", *ranks, "--checkpoint", save, *(["--balance", "measured"] if options.moves else []), program, steps, "1"]
        if options.moves:
            os.environ["SORREL_MOVE_SEED"] = str(random_.randrange(1000))
        done = restored = 0
        for number in range(count + 1):
            is_saved = done > 0 and any(pathlib.Path(save).glob("ckpt.*/MANIFEST"))
            procs = ["--procs", str(random_.randint(1, RANK_COUNT - 1))] if has_several else []
            job = start([sorrel, "restart", *procs, save] if is_saved else first, folder)
            is_last = number == count
            # A kill at the begin tells nothing: the job has to come to its next checkpoint.
            limit = time.monotonic() + 60
            while not is_last and len(whole_lines(folder)) < 2 and job.poll() is None:
                if time.monotonic() > limit:
                    fail(folder, f"run {number} does not begin")
                time.sleep(0.002)
            if not is_last:
                time.sleep(random_.uniform(0, 0.06))
                kill(job, has_several and random_.random() < 0.5, random_)
            status = job.wait()
            if is_last and status != 0 or not is_last and status not in (0, -signal.SIGKILL, 128 + signal.SIGKILL):
                fail(folder, f"run {number} ended with {status}")
            lines = whole_lines(folder)
            begin = int(lines[0].split()[0]) - 1 if lines else 0
            if begin > done or history[begin : begin + len(lines)] != lines:
                fail(folder, f"run {number} prints another history from step {begin + 1} on, after step {done}")
            restored += is_saved
            done = max(done, begin + len(lines))
            if done == len(history):
                break
        if done != len(history):
            fail(folder, f"the job has made {done} of {len(history)} steps")
        print(f"{restored} of {number} killed jobs were restored")
        if restored < number - 1:
            sys.exit("jobs were not restored")


if __name__ == "__main__":
    main()
