"""`sorrel bench collectives`: measures both algorithms of a collective at each size, finds the size at which the second one
becomes the faster one, and writes these limits as a table that the library reads (SORREL_TUNING, docs/collectives.md).
"""

import dataclasses
import json
import math
import pathlib
import tempfile
from collections.abc import Sequence

from . import machine, report
from .bars import FOREIGN_SHARE_MAX
from .disturbance import RUNS
from .experiments import Experiment
from .implementations import Implementation, Job, sorrel
from .measurement import measure
from .runner import Plan, Runner, Samples

WORKERS = 2
# More than any size that is measured.
ALWAYS = 1 << 24
BELOW, ABOVE = "up to the limit", "above it"


@dataclasses.dataclass(frozen=True)
class Shape:
    """Ranks of a worker, and how the workers are distributed. Each process has one worker, if there are several."""

    ranks_per_worker: int
    processes: int = 1

    @property
    def ranks(self) -> int:
        return self.ranks_per_worker * (WORKERS if self.processes == 1 else self.processes)

    @property
    def title(self) -> str:
        return f"{self.ranks_per_worker} ranks a worker" + (f", {self.processes} processes" if self.processes > 1 else "")

    @property
    def options(self) -> str:
        where = f"--workers {WORKERS}" if self.processes == 1 else f"--procs {self.processes} --workers 1"
        return f"{where} --share fixed -n {self.ranks}"


@dataclasses.dataclass(frozen=True)
class Limit:
    """A limit of the table, and the collective that it concerns."""

    name: str
    collective: str
    shapes: tuple[Shape, ...]
    sizes: tuple[int, ...]  # in bytes


IN_PROCESS = tuple(Shape(ranks) for ranks in (1, 8, 64))
OVER_PROCESSES = tuple(Shape(ranks, processes) for processes in (2, 8) for ranks in (1, 8))
LIMITS = (
    Limit("bcast.staged", "bcast", IN_PROCESS, tuple(1 << k for k in range(8, 17))),
    Limit("allgather.staged", "allgather", IN_PROCESS, tuple(1 << k for k in range(5, 13))),
    Limit("allreduce.direct", "allreduce", OVER_PROCESSES, tuple(1 << k for k in range(6, 17))),
    Limit("reduce.on_arrival", "reduce", IN_PROCESS, tuple(1 << k for k in range(8, 19))),
    Limit("reduce.direct", "reduce", OVER_PROCESSES, tuple(1 << k for k in range(6, 17))),
)
PARTS = tuple(limit.name for limit in LIMITS)
QUICK_SIZES = slice(None, None, 3)


@dataclasses.dataclass(frozen=True)
class Size(Experiment):
    """One size of one shape."""

    shape: Shape = Shape(1)
    limit: str = ""
    bytes: int = 0


def experiments_of(limits: Sequence[Limit], is_quick: bool) -> list[Size]:
    return [
        Size(
            f"{limit.name}_{shape.processes}_{shape.ranks_per_worker}_{size}", f"{limit.name}, {shape.title}, {size} B",
            "collective", shape.ranks, WORKERS, (limit.collective, str(size // 8), shape.options),
            shape=shape, limit=limit.name, bytes=size,
        )
        for limit in limits for shape in limit.shapes for size in limit.sizes[QUICK_SIZES if is_quick else slice(None)]
    ]  # fmt: skip


def with_limits(command: str, name: str, bytes_: int, folder: pathlib.Path) -> Implementation:
    """Sorrel with every limit at one value. The last argument of a job is its shape, as options of `sorrel run`."""
    table = folder / f"{bytes_}.table"
    table.write_text("".join(f"{limit.name} {bytes_} any any any\n" for limit in LIMITS), encoding="utf-8")

    def launch(job: Job) -> list[str]:
        options = job.arguments[-1].split()
        return ["env", f"SORREL_TUNING={table}", command, "run", *options, job.program, *job.arguments[:-1]]

    return dataclasses.replace(sorrel(command), name=name, launch=launch)


def limit_between(sizes: Sequence[int], below: Sequence[float], above: Sequence[float]) -> int:
    """The limit that makes the product of all times least: the largest size of the first algorithm, or 0."""
    gains = [math.log(b) - math.log(a) for a, b in zip(below, above, strict=True)]
    sums = [sum(gains[:count]) for count in range(len(gains) + 1)]
    count = sums.index(max(sums))
    return sizes[count - 1] if count else 0


@dataclasses.dataclass(frozen=True)
class Row:
    """A measured limit."""

    limit: str
    shape: Shape
    bytes: int
    # By size: the time of each algorithm.
    times: dict[int, tuple[float, float]]


def rows_of(limits: Sequence[Limit], experiments: Sequence[Size], samples: Samples) -> list[Row]:
    rows = []
    for limit in limits:
        for shape in limit.shapes:
            times = {}
            for e in experiments:
                if (e.limit, e.shape) != (limit.name, shape):
                    continue
                found = [samples.get(e.name, name, limit.collective) for name in (BELOW, ABOVE)]
                if all(found):
                    times[e.bytes] = (found[0].floor, found[1].floor)
            if times:
                below, above = zip(*times.values(), strict=True)
                rows.append(Row(limit.name, shape, limit_between(list(times), below, above), times))
    return rows


def table_of(rows: Sequence[Row], heading: str) -> str:
    """The rows as the library reads them: the largest shape of each kind is for all larger ones, too."""
    lines = [f"# {heading}", "# limit             bytes  ranks of a worker  processes  nodes"]
    for i, row in enumerate(rows):
        following = rows[i + 1] if i + 1 < len(rows) and rows[i + 1].limit == row.limit else None
        has_same = following is not None and following.shape.processes == row.shape.processes
        # In one process, and over several ones, other limits count.
        is_last = following is None and row.shape.processes > 1
        ranks = row.shape.ranks_per_worker if has_same else "any"
        lines.append(f"{row.limit:<18} {row.bytes:>7}  {ranks!s:>17}  {'any' if is_last else row.shape.processes!s:>9}  {'any':>5}")
    return "\n".join(lines) + "\n"


def print_rows(rows: Sequence[Row]) -> None:
    print(f"\n{'limit':<18} {'shape':<34} {'bytes':>7}  first over second algorithm, by size")
    for row in rows:
        ratios = "  ".join(f"{size}: {below / above:.2f}" for size, (below, above) in row.times.items())
        print(f"{row.limit:<18} {row.shape.title:<34} {row.bytes:>7}  {ratios}")


def run(arguments, limits: Sequence[Limit], experiments: Sequence[Size], cpus: Sequence[int]) -> Runner:
    with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as name:
        folder = pathlib.Path(name)
        return measure(
            Plan(
                experiments=experiments,
                implementations=[
                    with_limits(arguments.command, BELOW, ALWAYS, folder), with_limits(arguments.command, ABOVE, 0, folder),
                ],
                rounds=arguments.rounds or (2 if arguments.quick else 5),
                series_seconds=0.05 if arguments.quick else 0.1,
                cpus=cpus,
                folder=folder,
            )
        )  # fmt: skip


def main(arguments) -> int:
    facts = machine.describe()
    heading = f"{facts['processor']}, {len(facts['cpus_allowed'])} of {facts['cpus']} CPUs, Linux {facts['kernel']}"
    print(heading, flush=True)
    cpus = machine.distinct_cores()
    if len(cpus) < WORKERS:
        raise SystemExit(f"sorrel: bench: collectives needs {WORKERS} cores; this process may use {len(cpus)}")
    limits = [limit for limit in LIMITS if not arguments.only or limit.name in arguments.only]
    experiments = experiments_of(limits, arguments.quick)
    runner = run(arguments, limits, experiments, cpus)
    rows = rows_of(limits, experiments, runner.samples)
    print_rows(rows)
    report.print_failures(runner, [])
    if RUNS.foreign_share > FOREIGN_SHARE_MAX:
        print(f"Other work took {100 * RUNS.foreign_share:.0f} % of the processors: measure again on a quiet machine.")
    text = table_of(rows, f"sorrel bench collectives: {heading}")
    print(f"\n{text}", end="")
    if arguments.table is not None:
        arguments.table.write_text(text, encoding="utf-8")
        print(f"written to {arguments.table}; use it with SORREL_TUNING={arguments.table} sorrel run ...")
    if arguments.json is not None:
        result = report.as_json(runner, [], facts | machine.after_runs(), []) | {"benchmark": "collectives", "table": text}
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 1 if runner.troubles else 0
