#!/usr/bin/env python3
"""try_programs.py BUILD WORK: `sorrel try` on programs of which it is known what it has to say.

No expectation depends on how long a run takes: each command has three runs, however long they last. How times become a verdict is in
tests/unit/tools/try.
"""
import json
import math
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  {BODY}
  MPI_Finalize();
  return 0;
}
"""
# Its result is the same for all. The number with a unit is a time, and differs.
DIVIDED = 'usleep(400000 / ranks); if (rank == 0) printf("%d ranks, result 42, time %d us\\n", ranks, 400000 / ranks);'
SLEPT_S = 0.4
# Wrong with other than two ranks.
WRONG = 'if (rank == 0) printf("result %d\\n", ranks == 2 ? 42 : 43);'
# As some programs whose ranks form a cube.
CUBE = 'if (ranks != 8) { fprintf(stderr, "needs 8 ranks\\n"); exit(3); } if (rank == 0) printf("result 42\\n");'
# Reads its input, which every run must get.
READER = 'int value = 0; if (rank == 0 && scanf("%d", &value) != 1) exit(4); if (rank == 0) printf("read %d\\n", value);'
# Runs of a command at most. The first command has one more, which shows what of the output is no result.
RUNS = 3
# A command is ended after a twentieth of it, and later. Never spent: the runs are counted.
BUDGET_S = 6000


class Trials:
    def __init__(self, build: pathlib.Path, work: pathlib.Path):
        self.sorrel, self.work = build / "bin/sorrel", work
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        self.environment = {**os.environ, "SORREL_CONFIG": ""}

    def compile(self, name: str, body: str, compiler: list[str]) -> pathlib.Path:
        source = self.work / f"{name}.c"
        source.write_text(PROGRAM.replace("{BODY}", body))
        subprocess.run([*compiler, "-O1", "-o", self.work / name, source], check=True)
        return self.work / name

    def run(self, program: pathlib.Path, *options: str, status: int = 0, given: str = "") -> dict:
        result = self.work / "result.json"
        text = self.work / "input"
        text.write_text(given)
        with text.open() as stream:
            done = subprocess.run([self.sorrel, "try", "--budget", str(BUDGET_S), "--runs", str(RUNS), "--json", result, *options, program],
                                  stdin=stream, text=True, capture_output=True, env=self.environment, check=False)
        print(done.stdout, done.stderr, flush=True)
        expect(done.returncode == status, f"status {done.returncode}, expected {status}")
        said = json.loads(result.read_text())
        expect("".join(said["sentence"].split()) in "".join(done.stdout.split()), "the sentence is not printed")
        for trial in said["trials"]:
            expect(bool(trial["failure"]) or 1 <= len(trial["seconds"]) <= RUNS, f"1 to {RUNS} runs of {trial}")
        return said


def expect(is_so: bool, what: str) -> None:
    if not is_so:
        sys.exit(f"FAILED: {what}")


def is_of_sorrel(trial: dict) -> bool:
    return trial["command"][0].endswith("/sorrel")


def trial_of(said: dict, *words: str) -> dict:
    for trial in said["trials"]:
        if trial["command"][1:1 + len(words)] == list(words):
            return trial
    sys.exit(f"FAILED: no trial of {words}")


def expect_all_agree(said: dict) -> None:
    for trial in said["trials"]:
        expect(trial["failure"] == "" and trial["difference"] == "", f"runs, and prints the same: {trial}")


def mean_of(trial: dict) -> float:
    return sum(trial["seconds"]) / len(trial["seconds"])


def expect_times(said: dict) -> None:
    """The times are those of the runs, and the gain compares two commands with each other."""
    for trial in said["trials"]:
        expect(min(trial["seconds"]) >= SLEPT_S / trial["ranks"], f"a run has slept: {trial}")
        expect(math.isclose(trial["mean"], mean_of(trial)), f"the mean is that of the runs: {trial}")
    others = [trial for trial in said["trials"] if not is_of_sorrel(trial)]
    baseline = min(others, key=mean_of) if others else said["trials"][0]
    gains = {mean_of(baseline) / mean_of(trial) for trial in said["trials"] if is_of_sorrel(trial)}
    expect(any(math.isclose(gain, said["gain"]["value"]) for gain in gains), f"a gain of {said['gain']}, expected one of {gains}")
    if said["verdict"] == "helps":
        expect(said["gain"]["low"] > 1 and said["sentence"].startswith("Use `sorrel run -n "), "a command is recommended")
    else:
        expect(said["verdict"] in ("does not help", "not sure") and "Use `" not in said["sentence"], "no command is recommended")


def keep_folder_of_open_mpi() -> None:
    """An mpirun of another test that ends would remove the folder, if it is empty, just when one here is about to use it."""
    folder = pathlib.Path(tempfile.gettempdir()) / f"ompi.{socket.gethostname()}.{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "kept").mkdir(mode=0o700, exist_ok=True)


def with_other_mpis(trials: Trials, cc: list[str]) -> None:
    """Programs of the other MPIs that are installed are also started by their launchers."""
    keep_folder_of_open_mpi()
    for compiler, launcher in (("mpicc.openmpi", "mpirun.openmpi"), ("mpicc.mpich", "mpiexec.mpich")):
        if not shutil.which(compiler) or not shutil.which(launcher):
            print(f"no {compiler}")
            continue
        said = trials.run(trials.compile("of_" + launcher, DIVIDED, [compiler]), "--ranks", "2,4")
        peers = [trial for trial in said["trials"] if not is_of_sorrel(trial)]
        expect([pathlib.Path(trial["command"][0]).name for trial in peers[:1]] == [launcher], f"not started by {launcher}")
        expect_all_agree(said)
        expect_times(said)
    said = trials.run(trials.compile("standard", DIVIDED, cc), "--ranks", "2")
    expect(all(is_of_sorrel(trial) or "LD_LIBRARY_PATH" in str(trial["environment"]) for trial in said["trials"]),
           "an MPI without the standard interface cannot run the program")


def main() -> int:
    build, work = map(pathlib.Path, sys.argv[1:])
    trials = Trials(build, work)
    cc = [str(build / "bin/sorrel"), "cc"]

    said = trials.run(trials.compile("divided", DIVIDED, cc), "--ranks", "2,4,16", "--csv", str(work / "csv"), "--markdown", str(work / "md"))
    for ranks in ("2", "4", "16"):
        trial_of(said, "run", "-n", ranks)
    expect_all_agree(said)
    expect_times(said)
    expect(len((work / "csv").read_text().splitlines()) == len(said["trials"]) + 1, "a line of CSV for each command")
    expect("| `sorrel run -n 16` | 16 |" in (work / "md").read_text(), "a row of Markdown for each command")

    said = trials.run(trials.compile("wrong", WRONG, cc), "--ranks", "2,16")
    expect(trial_of(said, "run", "-n", "16")["difference"] == "43 in place of 42 in 'result #'", "another result is seen")
    expect("-n 16" not in said["sentence"], "another result is not recommended")
    # Unless the user says that the output does not matter, or that the line does not.
    expect_all_agree(trials.run(work / "wrong", "--ranks", "2,16", "--any-output"))
    expect_all_agree(trials.run(work / "wrong", "--ranks", "2,16", "--ignore", "^result"))

    said = trials.run(trials.compile("cube", CUBE, cc), "--ranks", "2,8")
    expect("status 3: needs 8 ranks" in trial_of(said, "run", "-n", "2")["failure"], "why a command failed is shown")
    expect(trial_of(said, "run", "-n", "8")["failure"] == "", "the others are run")
    said = trials.run(work / "cube", "--ranks", "2,4", status=1)
    expect(said["verdict"] == "cannot compare" and "needs 8 ranks" in said["sentence"], "nothing could be run")

    said = trials.run(trials.compile("reader", READER, cc), "--ranks", "2,16", given="17\n")
    expect_all_agree(said)

    with_other_mpis(trials, cc)
    return 0


if __name__ == "__main__":
    sys.exit(main())
