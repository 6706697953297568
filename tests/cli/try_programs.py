#!/usr/bin/env python3
"""try_programs.py BUILD WORK: `sorrel try` on programs of which it is known what it has to say.

Their time is slept, not computed: it is the same beside other work.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

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
# Two seconds of waiting, divided among the ranks: much more than the start of a job takes on a busy machine. Its result is the same for all.
DIVIDED = 'usleep(2000000 / ranks); if (rank == 0) printf("%d ranks, result 42, time %d us\\n", ranks, 2000000 / ranks);'
FIXED = 'usleep(700000); if (rank == 0) printf("result 42\\n");'
# Faster with more ranks, and wrong.
WRONG = 'usleep(2000000 / ranks); if (rank == 0) printf("result %d\\n", ranks == 2 ? 42 : 43);'
# As some programs whose ranks form a cube.
CUBE = 'if (ranks != 8) { fprintf(stderr, "needs 8 ranks\\n"); exit(3); } usleep(50000); if (rank == 0) printf("result 42\\n");'
# Reads its input, which every run must get.
READER = 'int value = 0; if (rank == 0 && scanf("%d", &value) != 1) exit(4); usleep(2000000 / ranks); if (rank == 0) printf("read %d\\n", value);'


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
            done = subprocess.run([self.sorrel, "try", "--budget", "40", "--json", result, *options, program], stdin=stream, text=True,
                                  capture_output=True, env=self.environment, check=False)
        print(done.stdout, done.stderr, flush=True)
        expect(done.returncode == status, f"status {done.returncode}, expected {status}")
        said = json.loads(result.read_text())
        expect("".join(said["sentence"].split()) in "".join(done.stdout.split()), "the sentence is not printed")
        return said


def expect(is_so: bool, what: str) -> None:
    if not is_so:
        sys.exit(f"FAILED: {what}")


def trial_of(said: dict, *words: str) -> dict:
    for trial in said["trials"]:
        if trial["command"][1:1 + len(words)] == list(words):
            return trial
    sys.exit(f"FAILED: no trial of {words}")


def with_other_mpis(trials: Trials, cc: list[str]) -> None:
    """Programs of the other MPIs that are installed are also started by their launchers."""
    for compiler, launcher in (("mpicc.openmpi", "mpirun.openmpi"), ("mpicc.mpich", "mpiexec.mpich")):
        if not shutil.which(compiler) or not shutil.which(launcher):
            print(f"no {compiler}")
            continue
        said = trials.run(trials.compile("of_" + launcher, DIVIDED, [compiler]), "--ranks", "2,16")
        peers = [trial for trial in said["trials"] if not trial["command"][0].endswith("/sorrel")]
        expect([pathlib.Path(trial["command"][0]).name for trial in peers[:1]] == [launcher], f"not started by {launcher}")
        expect(peers[0]["failure"] == "" and peers[0]["difference"] == "", f"{launcher}: {peers[0]}")
        expect(said["verdict"] == "helps", "more ranks wait less")
    said = trials.run(trials.compile("standard", FIXED, cc), "--ranks", "2")
    expect(all(trial["command"][0].endswith("/sorrel") or "LD_LIBRARY_PATH" in str(trial["environment"]) for trial in said["trials"]),
           "an MPI without the standard interface cannot run the program")


def main() -> int:
    build, work = map(pathlib.Path, sys.argv[1:])
    trials = Trials(build, work)
    cc = [str(build / "bin/sorrel"), "cc"]

    said = trials.run(trials.compile("divided", DIVIDED, cc), "--ranks", "2,4,16", "--csv", str(work / "csv"), "--markdown", str(work / "md"))
    expect(said["verdict"] == "helps", "more ranks wait less")
    expect(said["sentence"].startswith("Use `sorrel run -n 16 ") and f"{work}/divided`: it is " in said["sentence"], "16 ranks wait least")
    expect(1.5 < said["gain"]["value"] < 9, f"a gain of {said['gain']}")
    expect(len((work / "csv").read_text().splitlines()) == len(said["trials"]) + 1, "a line of CSV for each command")
    expect("| `sorrel run -n 16` | 16 |" in (work / "md").read_text(), "a row of Markdown for each command")

    said = trials.run(trials.compile("fixed", FIXED, cc), "--ranks", "2,4")
    # Starts of jobs may differ beside other work; what they are a part of does not.
    expect(said["gain"]["low"] < 1.1, "nothing makes a fixed time shorter")

    said = trials.run(trials.compile("wrong", WRONG, cc), "--ranks", "2,16")
    expect(trial_of(said, "run", "-n", "16")["difference"] == "43 in place of 42 in 'result #'", "another result is seen")
    expect("-n 16" not in said["sentence"], "another result is not recommended")
    said = trials.run(work / "wrong", "--ranks", "2,16", "--any-output")
    expect(said["verdict"] == "helps", "unless the user says that the output does not matter")
    said = trials.run(work / "wrong", "--ranks", "2,16", "--ignore", "^result")
    expect(said["verdict"] == "helps", "or that the line does not")

    said = trials.run(trials.compile("cube", CUBE, cc), "--ranks", "2,8")
    expect("status 3: needs 8 ranks" in trial_of(said, "run", "-n", "2")["failure"], "why a command failed is shown")
    expect(trial_of(said, "run", "-n", "8")["failure"] == "", "the others are run")
    said = trials.run(work / "cube", "--ranks", "2,4", status=1)
    expect(said["verdict"] == "cannot compare" and "needs 8 ranks" in said["sentence"], "nothing could be run")

    said = trials.run(trials.compile("reader", READER, cc), "--ranks", "2,16", given="17\n")
    expect(said["verdict"] == "helps", "every run has read the input")

    with_other_mpis(trials, cc)
    return 0


if __name__ == "__main__":
    sys.exit(main())
