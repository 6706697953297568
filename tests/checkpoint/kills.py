#!/usr/bin/env python3
"""Kill a job at random moments while it writes checkpoints, and restart it each time.

    kills.py SORREL STEPS_PROGRAM COUNT [--procs P [--moves] [--survive]] [--seed SEED]

The job saves itself after each step. All its processes get SIGKILL, also those that write; a job of several processes
is killed in this way half of the time, and loses one of its processes otherwise. It is then restarted with any number
of processes. The last restart runs to the end, and the history that all runs have printed must be that of a job that
was not killed. The moment is random in time, so a seed repeats the choice and not the race. With --moves, ranks also
change their process at random, and are killed meanwhile.

If STEPS_FOLDER is in the environment, the program writes files there, which must be equal, too.

With --survive, the job is started once, with its checkpoints in memory. One process at a time is killed, at random
moments; the job must go on by itself, and end with status 0. Prints how long it took from a kill to the next line.
"""

from __future__ import annotations

import argparse
import collections.abc
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

RANK_COUNT = 4


def processes_of(job: subprocess.Popen[bytes]) -> list[int]:
    """The processes that the command has started, and not the ones that write."""
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


def survive(options: argparse.Namespace, random_: random.Random, folder: pathlib.Path) -> None:
    ranks = ["-n", str(RANK_COUNT), "--procs", str(options.procs)]
    # More than the job makes until its first kill, also on a machine where this process has to wait for a processor.
    steps = str(100 * options.count + 500)
    plain = subprocess.run([options.sorrel, "run", *ranks, options.program, steps, "1000000"], check=True, stdout=subprocess.PIPE)
    history = plain.stdout.decode().splitlines(keepends=True)
    saved = ["--checkpoint", "memory", "--restarts", str(options.count), *(["--balance", "measured"] if options.moves else [])]
    job = start([options.sorrel, "run", *ranks, *saved, options.program, steps, "1"], folder)

    def lives() -> list[list[str]]:
        """The lines of each life of the job, which but for the first begin with a line "restarted"."""
        return [life.splitlines(keepends=True) for life in (folder / "out").read_text().split("restarted\n")]

    def wait_for(what: str, is_there: collections.abc.Callable[[], bool]) -> bool:
        limit = time.monotonic() + 60
        while not is_there():
            if job.poll() is not None:
                return False
            if time.monotonic() > limit:
                os.killpg(job.pid, signal.SIGKILL)
                fail(folder, f"no {what}")
            time.sleep(0.001)
        return True

    seconds = []
    for number in range(options.count):
        # When the third step is over, the checkpoint of the first one is whole, and the next life says "restarted": that of MPI_Init does not.
        if not wait_for("progress", lambda: len(lives()) == len(seconds) + 1 and len(lives()[-1]) >= 3):
            break
        time.sleep(random_.uniform(0, 0.06))
        begin = time.monotonic()
        kill(job, True, random_)
        if not wait_for(f"restart after kill {number + 1}", lambda: len(lives()) == number + 2):
            break
        seconds.append(time.monotonic() - begin)
    status = job.wait()
    if status != 0:
        fail(folder, f"the job ended with {status} after {len(seconds)} restarts")
    done = 0
    for life in lives():
        begin = int(life[0].split()[0]) - 1 if life else 0
        if begin > done or history[begin : begin + len(life)] != life:
            fail(folder, f"another history from step {begin + 1} on, after step {done}")
        done = begin + len(life)
    if done != len(history) or not seconds:
        fail(folder, f"the job has made {done} of {len(history)} steps with {len(seconds)} restarts")
    print(f"{len(seconds)} killed processes; from a kill to the next line {statistics.median(seconds) * 1e3:.0f} ms, at most {max(seconds) * 1e3:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sorrel")
    parser.add_argument("program")
    parser.add_argument("count", type=int)
    parser.add_argument("--procs", type=int, default=1)
    parser.add_argument("--moves", action="store_true")
    parser.add_argument("--survive", action="store_true")
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    sorrel, program, count = options.sorrel, options.program, options.count
    random_ = random.Random(options.seed)
    if options.moves:
        os.environ["SORREL_MOVE_SEED"] = str(random_.randrange(1000))
    if options.survive:
        with tempfile.TemporaryDirectory(prefix="sorrel-checkpoint-") as name:
            survive(options, random_, pathlib.Path(name))
        return
    has_several = options.procs > 1
    ranks = ["-n", str(RANK_COUNT), *(["--procs", str(options.procs)] if has_several else ["--workers", "2"])]
    # Enough for all lives of the job: at most one step for each millisecond of them.
    steps = str(60 * count)
    with tempfile.TemporaryDirectory(prefix="sorrel-checkpoint-") as name:
        folder = pathlib.Path(name)
        save = str(folder / "save")
        # It is not saved, and says so.
        plain = subprocess.run([sorrel, "run", *ranks, program, steps, "1"], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        history = [line for line in plain.stdout.decode().splitlines(keepends=True) if line != "refused\n"]
        files = os.environ.get("STEPS_FOLDER")
        if files:
            pathlib.Path(files).rename(folder / "expected")
            pathlib.Path(files).mkdir()
        first = [sorrel, "run", *ranks, "--checkpoint", save, *(["--balance", "measured"] if options.moves else []), program, steps, "1"]
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
        if files and subprocess.run(["diff", "-r", folder / "expected", files], check=False).returncode != 0:
            fail(folder, "the files differ")
        print(f"{restored} of {number} killed jobs were restored")
        if restored < number - 1:
            sys.exit("jobs were not restored")


if __name__ == "__main__":
    main()
