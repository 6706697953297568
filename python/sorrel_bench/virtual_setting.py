"""What the parts of `sorrel bench virtual` share: the implementations, the options, paths, names of rows and columns."""

import dataclasses
import pathlib
import re
import subprocess
from collections.abc import Sequence

from .bars import OWN
from .implementations import Implementation, Job
from .runner import run_program
from .virtual_runs import ROOT, Case, Programs, Values, read_results

SOURCES = ROOT / "bench/virtual"
BALANCES = ("off", "steal", "measured", "auto")
# ampicc links them, and the allocator that lets ranks move, by default.
AMPI_BALANCERS = ("GreedyRefineLB", "GreedyLB")


@dataclasses.dataclass
class Setting:
    command: str
    implementations: Sequence[Implementation]
    workers: int  # all
    is_quick: bool
    programs: Programs
    balances: Sequence[str] = ()  # the values that this build of Sorrel has
    mesh: pathlib.Path | None = None  # of gmsh
    has_metis: bool = False
    proxies: pathlib.Path | None = None  # the folder of --proxies

    def with_name(self, name: str) -> Implementation | None:
        return next((i for i in self.implementations if i.name == name), None)

    def case(
        self,
        part: str,
        row: str,
        implementation: Implementation,
        job: tuple[str, tuple[str, ...], int, int],
        read=read_results,
        is_slow: bool = False,
    ) -> list[Case]:
        """A case of a program that was built, with arguments, ranks and workers; none if it was not built."""
        name, arguments, ranks, workers = job
        path = self.programs.path(name)
        if path is None:
            return []
        words = implementation.launch(Job(path, arguments, ranks, workers))
        peer_program = "" if implementation.is_sorrel else path
        return [Case(part, row, implementation.name, tuple(words), workers, read, is_slow, peer_program)]


def probes_folder() -> pathlib.Path:
    """The folder of probe.h: in the source tree, or in an installed one."""
    return next(p for p in (ROOT / "bench/probes", ROOT / "probes") if (p / "probe.h").is_file())


def on(workers: int) -> str:
    return "1 worker" if workers == 1 else f"{workers} workers"


def worker_counts(setting: Setting) -> list[int]:
    return sorted({1, setting.workers})


def with_balance(implementation: Implementation, balance: str) -> Implementation:
    """Sorrel with `--balance`, or AMPI with a balancer."""

    def launch(job: Job) -> list[str]:
        words = implementation.launch(job)
        if implementation.is_sorrel:
            return [*words[:2], "--balance", balance, *words[2:]]
        return [*words, "+balancer", balance]

    return dataclasses.replace(implementation, name=f"{implementation.name} {balance}", launch=launch)


def balanced(setting: Setting) -> list[Implementation]:
    """Sorrel and AMPI with every balancer, or without the option; and the MPIs whose ranks are processes."""
    found = []
    for implementation in setting.implementations:
        if implementation.is_sorrel:
            found += [with_balance(implementation, b) for b in setting.balances] or [implementation]
        elif implementation.has_light_ranks:
            found += [implementation, *(with_balance(implementation, b) for b in AMPI_BALANCERS)]
        else:
            found.append(implementation)
    return found


def accepted_balances(command: str, program: str, folder: pathlib.Path) -> list[str]:
    """The values of --balance with which Sorrel starts a program of two ranks."""
    told = subprocess.run([command, "run", "--help"], capture_output=True, text=True, check=False).stdout
    if "--balance" not in told:
        return []
    words = ("--workers", "1", "-n", "2", program, "1", "1", "0")
    return [b for b in BALANCES if not run_program([command, "run", "--balance", b, *words], folder, None)[1]]


def own_columns(columns: Sequence[str]) -> list[str]:
    return [c for c in columns if re.match(rf"{OWN}\b", c)]


def over_ideal(busy: int, workers: int):
    """Reads bench/virtual/imbalance.c: the mean step, and its ratio to an equal share of the work for every worker."""

    def read(output: str) -> Values:
        steps = [float(v) for v in re.findall(r"^result step (\S+) us", output, re.MULTILINE)]
        compute = re.search(r"^result compute (\S+) us", output, re.MULTILINE)
        if not steps or not compute:
            return {}
        mean = sum(steps) / len(steps)
        return {"step": mean, "over_ideal": mean * workers / (float(compute[1]) * busy)}

    return read
