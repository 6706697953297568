"""Random lists of options as arguments of every command of `sorrel` and of mpiexec."""

from __future__ import annotations

import pathlib
import random
import re
import shutil
import subprocess

import trial
import values

# Options that install packages or measure for minutes.
LEFT_OUT = {"--peers", "--measure"}
# Valid values of options, small enough that a job ends soon.
GOOD = {
    "-n": ["1", "2", "3", "7", "64", "500"], "--procs": ["1", "2", "3", "auto"], "--workers": ["1", "2", "5"],
    "--stack": ["16K", "64K", "1M", "1G", "3MiB"], "--bind": ["core", "none"], "--share": ["fair", "yielding", "fixed"],
    "--wire": values.WIRES, "--seed": ["0", "17", "18446744073709551615"], "--host": ["none", "openmpi", "mpich", "abi"],
    "--machine": ["sp2", "origin2000", "t3e-900-buffered"], "--periodic": ["0", "012", "3"], "--memory": ["64M", "1", "2G"],
    "--rows": ["1", "8", "1000000"], "--element": ["1", "16"], "--fields": ["1", "3"], "--halo": ["1", "2", "200"],
    "--plot": ["times.svg"], "--only": ["ring"], "--rounds": ["1"],
}  # fmt: skip
GOOD["--ranks"] = GOOD["-np"] = GOOD["-n"]
COMMANDS = ["run", "run", "run", "info", "plan", "plan", "cc", "cxx", "bench", "mpiexec", ""]
# 1 and 127 of a compiler: its own errors.
STATUSES = {"info": {0, 1, 2}, "plan": {0, 2}, "bench": {0, 2}, "cc": {0, 1, 2, 127}, "cxx": {0, 1, 2, 127}, "": {0, 2}}
FOREIGN = ["-np", "-x", "-genv", "-wdir", "--map-by", "-bind-to", "-l", "--oversubscribe", "-mca", "--hostfile", "-env"]
QUESTIONS = ["-show", "-showme", "-showme:libs", "-showme:command", "-showme:", "-compile_info", "--help"]


class Options:
    def __init__(self, build: pathlib.Path, seed: int) -> None:
        self.sorrel = str(build / "bin/sorrel")
        self.mpiexec = str(build / "bin/mpi/mpiexec")
        self.program = str(build / "tests/fuzz/subjects/plain")
        self.seed = seed
        self.names = {command: self.options_of(command) for command in set(COMMANDS) - {"", "mpiexec"}}
        self.names["mpiexec"] = FOREIGN + self.names["run"]
        self.names[""] = ["--help", "--version", "-h"]

    def options_of(self, command: str) -> list[str]:
        """The options in a command's help, so that a new option is tested at once."""
        text = subprocess.run([self.sorrel, command, "--help"], capture_output=True, text=True, check=True).stdout
        return sorted(set(re.findall(r"(?<![\w-])--?[a-z][a-z_-]*", text)) - LEFT_OUT)

    def try_one(self, index: int, folder: pathlib.Path) -> tuple[str, str]:
        random_ = random.Random(f"{self.seed}-{index}")
        command = random_.choice(COMMANDS)
        words = [self.mpiexec] if command == "mpiexec" else [self.sorrel, command] if command else [self.sorrel]
        words += self.arguments(command, random_)
        # One argument may have 128 KiB.
        outcome = trial.run(words, folder, trial.clean_environment(folder))
        fault = trial.fault_of_command(outcome) or trial.fault_of_refusal(outcome)
        allowed = STATUSES.get(command)
        if not fault and allowed is not None and outcome.status not in allowed:
            fault = f"status {outcome.status}"
        if not fault and outcome.is_signalled:
            fault = f"status {outcome.status}"
        if not fault and b"Traceback" in outcome.err:
            fault = "a traceback"
        return fault, outcome.text()

    def arguments(self, command: str, random_: random.Random) -> list[str]:
        words = []
        for _ in range(random_.choice([0, 1, 1, 2, 2, 3, 4, 6])):
            words += self.option(command, random_)
        if command in ("run", "mpiexec", "info"):
            if random_.random() < 0.2:
                words.append("--")
            if random_.random() < 0.8:
                words.append(self.program if random_.random() < 0.8 else no_program(random_))
            if random_.random() < 0.3:
                words.append(no_program(random_))
        elif command == "plan":
            words += [random_.choice(["1", "64", "100", "1000", "1000000000"]) for _ in range(random_.choice([0, 1, 2, 3, 4]))]
            words += [] if random_.random() < 0.2 else ["-n", random_.choice(["1", "6", "4096", "1000000"])]
            # Without --machine it would measure for seconds.
            words += ["--machine", random_.choice(GOOD["--machine"]) if random_.random() < 0.9 else values.bad(random_)]
        elif command in ("cc", "cxx"):
            words.insert(random_.randrange(len(words) + 1), random_.choice(QUESTIONS))
        elif command == "bench":
            # Only arguments with which it does not measure.
            words += ["list"] if random_.random() < 0.3 else ["--rounds", "many"]
        elif random_.random() < 0.5:
            words.append(values.bad(random_))
        return words

    def option(self, command: str, random_: random.Random) -> list[str]:
        if random_.random() < 0.05:
            return [no_program(random_)]
        name = random_.choice(self.names[command])
        # An invalid value may stand where the program is expected.
        value = random_.choice(GOOD[name]) if name in GOOD and random_.random() < 0.4 else no_program(random_)
        match random_.randrange(4):
            case 0:
                return [name]
            case 1:
                return [f"{name}={value}"]
            case 2:
                return [name + value]
            case _:
                return [name, value]


def no_program(random_: random.Random) -> str:
    """A name of no program: neither true nor yes nor the command itself, which would be run."""
    while shutil.which(name := values.bad(random_)) or name == "/proc/self/exe":
        pass
    return name
