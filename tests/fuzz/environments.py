"""Bad environment variables, for every kind of program that reads some."""

from __future__ import annotations

import pathlib
import random
import re

import trial
import values

# The names that the libraries look up, so that a new variable is tested at once.
NAME = re.compile(r'"((?:SORREL|OMP|GOMP|MP)_[A-Z_]*[A-Z])"')
PLAUSIBLE = ["0", "1", "2", "3", "64", "4096", "1,2", "true", "false", "4M", "1G", "dynamic,4", "static", "spread", "{0}:4"]
MPI_RESULT = re.compile(rb"(rank \d+ of \d+: 1132\n)+")


class Environments:
    def __init__(self, build: pathlib.Path, seed: int) -> None:
        sorrel = str(build / "bin/sorrel")
        programs = build / "tests/fuzz"
        mpi = str(programs / "subjects/plain")
        self.shapes = [
            ([sorrel, "run", "-n", "2", mpi], MPI_RESULT),
            ([sorrel, "run", "-n", "2", "--procs", "2", mpi], MPI_RESULT),
            ([mpi], MPI_RESULT),
            ([str(programs / "loop_subject")], re.compile(rb"sum 499500\n")),
        ]
        if (programs / "omp_subject").exists():
            omp = str(programs / "omp_subject")
            self.shapes.append(([sorrel, "run", "--omp", omp], re.compile(rb"sum 499500\n")))
        sources = pathlib.Path(__file__).resolve().parents[2] / "src"
        self.names = sorted({name for path in sources.rglob("*.[ch]pp") for name in NAME.findall(path.read_text())})
        self.seed = seed

    def try_one(self, index: int, folder: pathlib.Path) -> tuple[str, str]:
        random_ = random.Random(f"{self.seed}-{index}")
        words, result = random_.choice(self.shapes)
        set_ = {
            random_.choice(self.names): random_.choice(PLAUSIBLE) if random_.random() < 0.3 else values.bad(random_)
            for _ in range(random_.randint(1, 3))
        }
        outcome = trial.run(words, folder, trial.clean_environment(folder) | set_)
        fault = trial.fault_of_command(outcome) or trial.fault_of_refusal(outcome)
        if not fault and outcome.is_signalled:
            fault = f"status {outcome.status}"
        if not fault and outcome.status == 0 and not result.fullmatch(outcome.out):
            fault = "a wrong result without a message"
        if not fault and outcome.status != 0 and not any(line.startswith("sorrel: ") for line in outcome.lines()):
            fault = "it failed without a line of Sorrel's"
        shown = "".join(f"{name}={value[:200]!r}\n" for name, value in set_.items())
        return fault, shown + outcome.text()
