"""`sorrel bench smp --only host`: the cost that Sorrel adds to a host MPI on one node. The ping-pong of each host MPI
by itself, and of Sorrel in processes that the same launcher has started: with its packets over that MPI, and through
memory that the processes share, which is the default."""

import dataclasses
from collections.abc import Sequence

from . import report
from .bars import Bar
from .experiments import Experiment
from .implementations import Implementation, Job, sorrel
from .runner import Runner

MARGIN_NS = 250
EXPERIMENTS = (
    Experiment("pingpong_8", "8 B", "pingpong", 2, 2, ("8", "2")),
    Experiment("pingpong_1Mi", "1 MiB", "pingpong", 2, 2, (str(1 << 20), "2")),
)
SERIES = "half_round_trip"


@dataclasses.dataclass(frozen=True)
class Way:
    """The path of packets between processes that a host's launcher has started."""

    title: str
    shares_memory: bool

    def name(self, host: str) -> str:
        return f"Sorrel, {self.title}, {host}"


OVER = Way("over it", False)
MEMORY = Way("shared memory", True)
WAYS = (OVER, MEMORY)


def under(host: Implementation, command: str, way: Way) -> Implementation:
    """Sorrel, started by the launcher of `host`."""

    def launch(job: Job) -> list[str]:
        setting = f"SORREL_HOST_MEMORY={int(way.shares_memory)}"
        run = (setting, command, "run", "--workers", "1", "-n", str(job.ranks), job.program, *job.arguments)
        return host.launch(dataclasses.replace(job, program="/usr/bin/env", arguments=run))

    return dataclasses.replace(sorrel(command), name=way.name(host.name), launch=launch, has_light_ranks=False)


def implementations(command: str, peers: Sequence[Implementation]) -> list[Implementation]:
    """Each host by itself, and Sorrel under it, next to each other in time."""
    return [i for host in peers if host.name != "AMPI" for i in (host, *(under(host, command, way) for way in WAYS))]


def hosts_of(runner: Runner) -> list[str]:
    return [i.name for i in runner.plan.implementations if not i.name.startswith("Sorrel")]


def bars(runner: Runner) -> list[Bar]:
    found = []
    for host in hosts_of(runner):
        own = runner.samples.get("pingpong_8", host, SERIES)
        for way in WAYS:
            samples = runner.samples.get("pingpong_8", way.name(host), SERIES)
            for kind in ("floor", "median"):
                value, peer = (getattr(s, kind) if s else None for s in (samples, own))
                most = None if peer is None else peer + MARGIN_NS
                title = f"8 B, started by {host}, {way.title}, {kind}"
                found.append(Bar(title, value, "ns", host, peer, most, f"<= {host} + {MARGIN_NS} ns"))
    return found


def print_table(runner: Runner) -> None:
    print("\nHalf a round trip of two processes that a host MPI's launcher has started, floor / median")
    for experiment in EXPERIMENTS:
        print(f"\n{experiment.title:<22}{'host itself':>20}" + "".join(f"{way.title:>20}" for way in WAYS))
        for host in hosts_of(runner):
            names = (host, *(way.name(host) for way in WAYS))
            cells = []
            for name in names:
                series = runner.samples.get(experiment.name, name, SERIES)
                cells.append(f"{report.number(series.floor)} / {report.number(series.median)} {series.unit}" if series else "-")
            print(f"{host:<22}" + "".join(f"{cell:>20}" for cell in cells))
