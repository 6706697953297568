"""Session - many cases of one kind, some at the same time, each a function of the seed and its number.

A kind is a class: constructed from a build's folder and a seed, it has try_one(number, folder), which returns the error
and its details; "" if there is none. A failed case is kept; --only repeats it.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import itertools
import os
import pathlib
import shutil
import sys
import tempfile
import time

FAILURES_MAX = 20
PROGRESS_S = 15


def read_arguments(description: str, kinds: dict[str, type]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=kinds)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="folder of a build, such as build/dev")
    parser.add_argument("--count", type=int, default=1_000_000_000, help="so many cases")
    parser.add_argument("--seconds", type=float, default=60, help="no case begins later (60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1), help="cases at a time")
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("failures"), help="what fails goes here")
    parser.add_argument("--only", type=int, help="this case alone")
    return parser.parse_args()


class Session:
    def __init__(self, arguments: argparse.Namespace, kind: object) -> None:
        self.arguments = arguments
        self.kind = kind
        self.began = time.monotonic()
        self.tried = 0
        self.failed = 0

    def run(self) -> int:
        if self.arguments.only is not None:
            self.finish(self.arguments.only, self.try_one(self.arguments.only))
            return 1 if self.failed else 0
        numbers = iter(range(self.arguments.count))
        shown_at = self.began
        with concurrent.futures.ThreadPoolExecutor(self.arguments.jobs) as pool:
            running: dict[concurrent.futures.Future, int] = {}
            while True:
                if not self.is_over():
                    for number in itertools.islice(numbers, 2 * self.arguments.jobs - len(running)):
                        running[pool.submit(self.try_one, number)] = number
                if not running:
                    break
                done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    self.finish(running.pop(future), future.result())
                if time.monotonic() - shown_at > PROGRESS_S:
                    shown_at = time.monotonic()
                    self.say(f"{self.tried} tried, {self.failed} failed")
        self.say(f"{self.tried} tried with seed {self.arguments.seed}, {self.failed} failed")
        return 1 if self.failed else 0

    def is_over(self) -> bool:
        return time.monotonic() - self.began > self.arguments.seconds or self.failed >= FAILURES_MAX

    def say(self, text: str) -> None:
        print(f"{self.arguments.kind}: {text}", flush=True)

    def try_one(self, number: int) -> tuple[str, str, pathlib.Path]:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="sorrel-fuzz-"))
        fault, text = self.kind.try_one(number, folder)
        if not fault:
            shutil.rmtree(folder, ignore_errors=True)
        return fault, text, folder

    def finish(self, number: int, result: tuple[str, str, pathlib.Path]) -> None:
        self.tried += 1
        fault, text, folder = result
        if not fault:
            return
        self.failed += 1
        seed = self.arguments.seed
        kept = self.arguments.keep.resolve() / f"{self.arguments.kind}-{seed}-{number}"
        shutil.rmtree(kept, ignore_errors=True)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(folder, kept)
        again = f"{os.path.relpath(sys.argv[0])} {self.arguments.kind} --build {self.arguments.build} --seed {seed} --only {number}"
        (kept / "report").write_text(f"{fault}\n{again}\n{text}", errors="backslashreplace")
        self.say(f"FAILED: case {number} of seed {seed}: {fault}; kept in {kept}\n  {again}")



def main(description: str, kinds: dict[str, type]) -> int:
    arguments = read_arguments(description, kinds)
    return Session(arguments, kinds[arguments.kind](arguments.build.resolve(), arguments.seed)).run()
