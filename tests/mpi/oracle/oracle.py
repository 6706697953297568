#!/usr/bin/env python3
"""Random programs that know the right result, with random seeds, shapes and delays of the workers.

    oracle.py oracle|perturbed|each|hosted|regions --build FOLDER [--count N] [--seconds S] [--seed SEED] [--jobs J] [--keep FOLDER]
                                           [--only NUMBER]

`oracle` runs the library as it is, `perturbed` the one whose workers are delayed where they exchange something
(src/core/perturbation.hpp). `each` takes the programs of this folder in turn, with fewer rounds, `hosted` does so under the
launchers of MPICH and Open MPI. `regions` runs random OpenMP regions (tests/omp/programs/random_regions.cpp), half of them with
the delayed library, with 1 to 33 threads on 1 to 4 cores. A case is a program of this folder, or one of the tests of MPI that hold with any number of
ranks, with 2 to 64 ranks on 1 to 33 workers, in one process or several, with moves, loans and simulated nodes.
"""

from __future__ import annotations

import pathlib
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "fuzz"))
import session  # noqa: E402
import trial  # noqa: E402

LIMIT_S = 300
# Rounds: about a second without delays.
PROGRAMS = {"collectives": 120, "datatypes": 60, "messages": 24, "threads": 6, "rma": 16, "files": 12, "freed": 30}
# The first writes longer files than a case may. The second counts pages of memory, which ranks that move touch anew.
LEFT_OUT = ["mpi_files_end_where_they_end", "mpi_ten_thousand_communicators_leak_nothing"]
# Trees with leaves only, with one inner node that has one child, with inner nodes that have many.
WORKERS = [1, 2, 3, 5, 9, 10, 12, 17, 18, 33]


class Oracle:
    """Each case is a function of the seed and its number."""

    is_perturbed = False
    # Fewer rounds where something else makes them slow, or where seeds count.
    fewer_rounds = 1

    def __init__(self, build: pathlib.Path, seed: int) -> None:
        self.sorrel = str(build / ("perturbed/bin/sorrel" if self.is_perturbed else "bin/sorrel"))
        self.build = build
        self.seed = seed
        programs = (build / "tests/mpi/programs").glob("mpi_*")
        self.tests = sorted(str(path) for path in programs if path.is_file() and path.name not in LEFT_OUT)

    def try_one(self, index: int, folder: pathlib.Path) -> tuple[str, str]:
        dice = random.Random(f"{self.seed}-{index}")
        words = [*self.launcher(index), self.sorrel, "run", *self.shape(dice), *self.program(index, dice, folder)]
        settings = {"SORREL_SEED": str(dice.randrange(1, 1 << 31))}
        if self.is_perturbed:
            settings["SORREL_PERTURB"] = f"{dice.randrange(1, 1 << 31)},{dice.randint(1, 6)}"
        if "auto" in words and dice.random() < 0.8:
            settings["SORREL_BALANCE_START"] = "1"
        if ("measured" in words or "auto" in words) and dice.random() < 0.7:
            settings |= {"SORREL_MOVE_SEED": str(dice.randrange(1, 1000)), "MALLOC_PERTURB_": "165"}
        settings |= self.more_settings(dice)
        if dice.random() < 0.2:
            settings["SORREL_SPIN"] = dice.choice(["0", "1000", "1000000"])
        outcome = trial.run(words, folder, trial.clean_environment(folder) | {"SORREL_CONFIG": ""} | settings, LIMIT_S)
        again = " ".join([*(f"{name}={value}" for name, value in settings.items()), *words])
        fault = trial.fault_of_command(outcome)
        if not fault and outcome.status != 0:
            fault = f"status {outcome.status}"
        return fault, f"{again}\n{outcome.text()}"

    def launcher(self, _index: int) -> list[str]:
        return []

    def more_settings(self, _dice: random.Random) -> dict[str, str]:
        return {}

    def program(self, _index: int, dice: random.Random, folder: pathlib.Path) -> list[str]:
        if self.tests and dice.random() < 0.3:
            return [dice.choice(self.tests)]
        return self.rounds_of(dice.choice(["collectives", *PROGRAMS]), folder)

    def rounds_of(self, name: str, folder: pathlib.Path) -> list[str]:
        rounds = max(2, PROGRAMS[name] // self.fewer_rounds)
        return [str(self.build / "tests/mpi/oracle" / name), *([str(folder / "data")] if name == "files" else []), str(rounds)]

    def shape(self, dice: random.Random) -> list[str]:
        workers = dice.choice(WORKERS)
        ranks = max(2, dice.choice([workers, workers, workers + 1, 2 * workers, 3 * workers - 1]))
        processes = dice.choice([1, 1, 2, 3]) if ranks >= 3 else 1
        if processes > 1:
            workers = min(workers, 12)
        words = ["-n", str(min(ranks, 66)), "--workers", str(workers)]
        if processes > 1:
            words += ["--procs", str(processes)]
        words += ["--balance", dice.choice(["off", "steal", "measured", "auto"])]
        if dice.random() < 0.3:
            words += ["--share", "fixed"]
        if processes == 1 and workers % 2 == 0 and "off" in words and dice.random() < 0.1:
            words += ["--wire", "latency=5us,bandwidth=2GB/s,nodes=2,jitter=20us"]
        return words


class Perturbed(Oracle):
    is_perturbed = True
    fewer_rounds = 8


class Each(Oracle):
    fewer_rounds = 6

    def program(self, index: int, _dice: random.Random, folder: pathlib.Path) -> list[str]:
        return self.rounds_of(list(PROGRAMS)[index % len(PROGRAMS)], folder)


class Hosted(Each):
    """Two or three processes of a host MPI, over memory that they share or over the MPI alone."""

    def __init__(self, build: pathlib.Path, seed: int) -> None:
        super().__init__(build, seed)
        self.under = str(pathlib.Path(__file__).resolve().parents[2] / "host/under.sh")

    def launcher(self, index: int) -> list[str]:
        dice = random.Random(f"{self.seed}-{index}-host")
        # Each program under each host.
        host = ["mpich", "openmpi"][index // len(PROGRAMS) % 2]
        return ["env", f"SORREL_HOST_MEMORY={dice.randint(0, 1)}", self.under, host, str(dice.choice([2, 2, 3]))]

    def shape(self, dice: random.Random) -> list[str]:
        return ["-n", str(dice.randint(3, 24)), "--workers", str(dice.choice([1, 2, 3, 5]))]


class PlainRegions(Oracle):
    def shape(self, _dice: random.Random) -> list[str]:
        return ["--omp"]

    def program(self, _index: int, dice: random.Random, _folder: pathlib.Path) -> list[str]:
        threads = dice.choice([1, 2, 3, 4, 5, 9, 17, 33])
        rounds = max(4, 400 // threads // (4 if self.is_perturbed else 1))
        return [str(self.build / "bin/omp_random_regions"), str(dice.randrange(1, 1 << 30)), str(rounds), str(threads)]

    def more_settings(self, dice: random.Random) -> dict[str, str]:
        settings = {"OMP_WAIT_POLICY": dice.choice(["active", "passive"])}
        if dice.random() < 0.7:
            settings["MP_SET_NUMTHREADS"] = str(dice.randint(1, 4))
        if dice.random() < 0.2:
            settings |= {"OMP_PLACES": "threads", "SORREL_SHARE": "fixed"}
        if dice.random() < 0.3:
            settings["OMP_SCHEDULE"] = dice.choice(["static,2", "dynamic", "guided,3", "monotonic:dynamic,2"])
        return settings


class PerturbedRegions(PlainRegions):
    is_perturbed = True


class Regions:
    """Both in turn. Cases run side by side, so each has an object that stays as it is."""

    def __init__(self, build: pathlib.Path, seed: int) -> None:
        self.kinds = [PlainRegions(build, seed), PerturbedRegions(build, seed)]

    def try_one(self, index: int, folder: pathlib.Path) -> tuple[str, str]:
        return self.kinds[index % 2].try_one(index, folder)


if __name__ == "__main__":
    sys.exit(session.main(__doc__, {"oracle": Oracle, "perturbed": Perturbed, "each": Each, "hosted": Hosted, "regions": Regions}))
