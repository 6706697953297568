#!/usr/bin/env python3
"""Jobs of one process in which a random rank writes beyond a block of the heap: none may hang.

    heap_overruns.py heap_overruns --build FOLDER [--count N] [--seconds S] [--seed SEED] [--jobs J] [--only NUMBER]

A job that fails must print an error. A job whose damage the C library does not detect may end well.
"""

from __future__ import annotations

import pathlib
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fuzz"))
import session  # noqa: E402
import trial  # noqa: E402


class HeapOverruns:
    def __init__(self, build: pathlib.Path, seed: int) -> None:
        self.sorrel = str(build / "bin/sorrel")
        self.program = str(build / "tests/stress/heap_overruns")
        self.seed = seed

    def try_one(self, index: int, folder: pathlib.Path) -> tuple[str, str]:
        workers = random.Random(f"{self.seed}-{index}").choice(["1", "2", "4"])
        words = [self.sorrel, "run", "-n", "4", "--workers", workers, self.program, str(self.seed * 1_000_000 + index)]
        outcome = trial.run(words, folder, trial.clean_environment(folder))
        fault = ""
        if outcome.is_late:
            fault = "it hangs"
        elif outcome.is_left:
            fault = "a process is left"
        elif outcome.status != 0 and not any(line.startswith("sorrel: ") for line in outcome.lines()):
            fault = "it failed without a line of Sorrel's"
        return fault, outcome.text()


if __name__ == "__main__":
    sys.exit(session.main(__doc__, {"heap_overruns": HeapOverruns}))
