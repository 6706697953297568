"""Damaged executables as input of `sorrel info` and `sorrel run`.

A damaged program may crash, hang or compute wrongly by its own fault. It is a fault of Sorrel only if the system's
loader accepts the program with Sorrel's library, and the program runs well with a stub of the library.
"""

from __future__ import annotations

import json
import pathlib
import random
import re
import struct
import subprocess

import trial

SUM = 1132
RESULT = [f"rank {rank} of 2: {SUM}" for rank in range(2)]
SHAPES = [["-n", "2"], ["-n", "2"], ["-n", "2", "--workers", "1"], ["-n", "2", "--procs", "2"], ["-n", "2", "--label"]]
INFO_STATUSES = (0, 1, 2)
CRASH_OF_RANK = re.compile(r"sorrel: rank \d+: (.*\(signal \d+\)|stack overflow)")
PT_TLS = struct.pack("<I", 7)


class Executables:
    def __init__(self, build: pathlib.Path, seed: int) -> None:
        self.sorrel = str(build / "bin/sorrel")
        self.library_folder = str(build / "lib")
        self.stand_in_folder = str(build / "tests/fuzz/stand_in")
        self.mutate_elf = str(build / "bin/mutate_elf")
        self.bases = sorted(str(path) for path in (build / "tests/fuzz/subjects").iterdir())
        self.thread_locals = {thread_locals(pathlib.Path(path)) for path in self.bases}
        self.seed = seed

    def try_one(self, index: int, folder: pathlib.Path) -> tuple[str, str]:
        """The error and its details; "" if there is none."""
        mutant = folder / "program"
        number = (self.seed << 32) + index
        made = subprocess.run(
            [self.mutate_elf, str(number), "1", str(folder), *self.bases], check=True, capture_output=True, text=True
        ).stdout
        (folder / str(number)).rename(mutant)
        random_ = random.Random(number)
        env = trial.clean_environment(folder)

        info = trial.run([self.sorrel, "info", *(["--json"] if index % 2 else []), str(mutant)], folder, env)
        if fault := fault_of_info(info):
            return fault, made + info.text()
        shape = random_.choice(SHAPES)
        job = trial.run([self.sorrel, "run", *shape, str(mutant)], folder, env)
        fault = fault_of_job(job)
        if fault and self.is_sound(mutant, folder, env):
            return fault, made + job.text()
        return "", ""

    def is_sound(self, mutant: pathlib.Path, folder: pathlib.Path, env: dict[str, str]) -> bool:
        """Whether the loader takes the program with Sorrel's library, and it runs well with the stub."""
        # Without its thread-locals a program writes outside its own data, and may read the values back by luck.
        if thread_locals(mutant) not in self.thread_locals:
            return False
        own = env | {"LD_BIND_NOW": "1"}
        alone = trial.run([str(mutant)], folder, own | {"LD_LIBRARY_PATH": self.stand_in_folder}, limit_s=30)
        if alone.is_late or alone.status != 0 or alone.out != f"rank 0 of 1: {SUM}\n".encode():
            return False
        traced = own | {"LD_LIBRARY_PATH": self.library_folder, "LD_TRACE_LOADED_OBJECTS": "1", "LD_WARN": "yes"}
        loaded = trial.run([str(mutant)], folder, traced, limit_s=30)
        return not loaded.is_late and loaded.status == 0 and b"undefined symbol" not in loaded.out + loaded.err


def thread_locals(program: pathlib.Path) -> bytes:
    """The header of the segment of thread-locals, empty if there is none."""
    data = program.read_bytes()
    (table,) = struct.unpack_from("<Q", data.ljust(64), 32)
    (count,) = struct.unpack_from("<H", data.ljust(64), 56)
    headers = (data[at : at + 56] for at in range(table, min(table + 56 * count, len(data)), 56))
    return next((header for header in headers if header[:4] == PT_TLS), b"")


def fault_of_info(outcome: trial.Outcome) -> str:
    fault = trial.fault_of_command(outcome) or trial.fault_of_refusal(outcome) or trial.fault_of_text(outcome.out)
    if fault:
        return f"info: {fault}"
    if outcome.status not in INFO_STATUSES:
        return f"info: status {outcome.status}"
    if "--json" in outcome.words and outcome.status != 2:
        try:
            json.loads(outcome.out)
        except ValueError as error:
            return f"info: not JSON: {error}"
    return ""


def fault_of_job(outcome: trial.Outcome) -> str:
    """Empty for a right result, an error before the start and a crash that names its rank; any other result may be the
    program's own fault."""
    if outcome.status == 2 and not outcome.is_late:
        return trial.fault_of_refusal(outcome)
    if outcome.status == 0 and not outcome.is_late:
        lines = sorted(outcome.out.decode(errors="replace").splitlines())
        # --label puts the rank before its line.
        unlabelled = [line[line.find("rank ") :] for line in lines]
        return "" if unlabelled == RESULT else "run: a wrong result without a message"
    if not outcome.is_late and any(CRASH_OF_RANK.match(line) for line in outcome.lines()):
        return ""
    return "run: " + (trial.fault_of_command(outcome) or f"status {outcome.status}")
