"""`sorrel bench smp`: how the cores of one machine exchange messages: threads with locks, threads without, processes
through shared memory. The experiments of Mei, "A Preliminary Investigation on Optimizing Charm++ for Homogeneous
Multi-core Machines" (Charm++ Workshop, 2008), with current runtimes.

Its small experiments (queues, messages to self, allocation) run as one program without MPI. kNeighbor and the promises
about processes run with Sorrel as threads and as processes, and with every MPI found.
"""

import dataclasses
import json
import pathlib
import subprocess
import tempfile
from collections.abc import Sequence

from . import machine, pictures, report, smp_host
from .bars import OWN, Bar, settle
from .disturbance import RUNS
from .experiments import Experiment
from .implementations import Implementation, Job, installed_peers, sorrel
from .pictures import Chart, Line, Point
from .runner import RESULT_LINE, Plan, Runner, Series, pinned

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORE_SOURCES = ("core/message_pool.cpp", "base/check.cpp", "base/copy_bytes.cpp")
LIBRARIES = ("-lstdc++",)
PARTS = ("queues", "self", "allocation", "kneighbor", "shm", "host")
PROCESSES = "Sorrel -P"  # a process for each rank
PER_CORE = "Sorrel -C"  # a process for each core
PRODUCERS = tuple(range(1, 9))
SIZES = (0, 64, 1024, 4096, 16384)
KINDS = {"lock": "one queue, a lock", "fetch_increment": "one queue, fetch-and-increment and fence",
         "queue_each": "a queue for each producer", "mailbox": "Sorrel's core/mailbox for each producer"}  # fmt: skip
ALLOCATION = {"locked_heap": "a heap behind one lock", "malloc": "the C library's", "pool": "a pool of each core",
              "message_pool": "Sorrel's core/mailbox and core/message_pool"}  # fmt: skip
# Statements of Mei (2008) in words and numbers. All other results there are curves without numbers.
STUDY = {
    "queues": 'Mei 2008: a queue for each producer and fences give kNeighbor "less than 2% improvement"',
    "self": "Mei 2008, one element a core on 7 cores, the whole scheduler: 1.236 us before and 0.913 us after false sharing went",
    "allocation": 'Mei 2008: "Every memory allocation is protected by a lock"',
}


def _kneighbor(bytes_: int) -> Experiment:
    title = f"kNeighbor, 8 ranks, K=3, {bytes_} B"
    return Experiment(f"kneighbor_{bytes_}", title, "kneighbor", 8, 2, (str(bytes_), "3"))


KNEIGHBOR = tuple(_kneighbor(size) for size in SIZES)
SHM = (
    Experiment("pingpong_8", "8 B half round trip, a core each", "pingpong", 2, 2, ("8", "2")),
    Experiment("pingpong_1Mi", "1 MiB half round trip, a core each", "pingpong", 2, 2, (str(1 << 20), "2")),
    Experiment("startup_64", "start-up, 64 ranks", "startup", 64, 2, starts=3),
    Experiment("cg2d_64", "cg2d 1000x1000, 64 ranks", "cg2d", 64, 2, ("--grid", "1000", "--steps", "100"),
               needs_light_ranks=True),
)  # fmt: skip


def sorrel_processes(command: str, name: str, is_per_core: bool) -> Implementation:
    def launch(job: Job) -> list[str]:
        processes = min(job.workers if is_per_core else job.ranks, job.ranks)
        words = [command, "run", "--procs", str(processes), "--bind", "core"]
        return [*words, "-n", str(job.ranks), job.program, *job.arguments]

    # The ranks are processes, but at most as many run at once as there are cores.
    return dataclasses.replace(sorrel(command), name=name, launch=launch)


# ---- the small experiments --------------------------------------------------------------------------------


@dataclasses.dataclass
class Small:
    """The samples of the program smp.c, by name."""

    series: dict[str, Series] = dataclasses.field(default_factory=dict)

    def add(self, output: str) -> None:
        """Adds the output of one run."""
        of_run: dict[tuple[str, str], list[float]] = {}
        for name, value, unit in RESULT_LINE.findall(output):
            of_run.setdefault((name, unit), []).append(float(value))
        for (name, unit), values in of_run.items():
            self.series.setdefault(name, Series(unit)).runs.append(values)

    def half(self, which: int) -> "Small":
        """The even runs of each name (0) or the odd ones (1)."""
        return Small({name: Series(s.unit, s.runs[which::2]) for name, s in self.series.items() if len(s.runs) > which})

    def unit(self, name: str) -> str:
        return self.series[name].unit if name in self.series else ""

    def median(self, name: str) -> float | None:
        return self.series[name].median if name in self.series else None


def sources() -> list[pathlib.Path]:
    """The program of the small experiments: the mailbox and the pool in it are those of the library."""
    found = [ROOT / "bench/smp/smp.c", ROOT / "bench/smp/core_kinds.cpp", *(ROOT / "src" / name for name in CORE_SOURCES)]
    for path in found:
        if not path.is_file():
            raise SystemExit(f"sorrel: bench: {path} was not found")
    return found


def flags() -> tuple[str, ...]:
    return ("-std=c++20", "-DSORREL_ASSERT_LEVEL=0", f"-I{ROOT / 'src'}", "-pthread")


def run_small(folder: pathlib.Path, parts: Sequence[str], rounds: int, seconds: float, cpus: Sequence[int]) -> Small:
    program = folder / "smp"
    subprocess.run(["cc", "-O3", "-march=native", "-w", *flags(), *map(str, sources()), "-o", str(program), *LIBRARIES], check=True)
    turns = [("queue", str(n)) for n in PRODUCERS] if "queues" in parts else []
    turns += [("self",)] if "self" in parts else []
    turns += [("allocate",)] if "allocation" in parts else []
    small = Small()
    progress = report.Progress(len(turns) * rounds, "run")
    for round_ in range(rounds):
        for words in turns:
            progress.step(f"round {round_ + 1} of {rounds}, {' '.join(words)}")
            with pinned(cpus):
                command = [str(program), str(seconds), *words]
                done = RUNS.watched(lambda c=command: subprocess.run(c, capture_output=True, text=True, check=True))
            small.add(done.stdout)
    progress.end()
    return small


def print_small(small: Small, parts: Sequence[str]) -> None:
    if "queues" in parts:
        print("\nProducers and one consumer, 10 000 items each: an iteration, us (median)\n")
        print(f"{'producers':<44}" + "".join(f"{n:>10}" for n in PRODUCERS))
        for kind, label in KINDS.items():
            cells = (report.number(small.median(f"{kind}_{n}")) for n in PRODUCERS)
            print(f"{label:<44}" + "".join(f"{cell:>10}" for cell in cells))
        print(f"({STUDY['queues']})")
    if "self" in parts:
        print("\nA message to self on every core at once, ns (median)\n")
        together, apart = small.median("close_together"), small.median("apart")
        print(f"the cores' states adjacent {report.number(together)}, on lines of their own {report.number(apart)}")
        print(f"({STUDY['self']})")
    if "allocation" in parts:
        print("\nA message of 256 B allocated on one core and freed on another, ns (median)\n")
        for name, label in ALLOCATION.items():
            print(f"{label:<44}{report.number(small.median(name)):>10}")
        print(f"({STUDY['allocation']})")


def small_bars(small: Small) -> list[Bar]:
    """The methods on which Sorrel's message layer is built must be the best on this machine."""
    bars = []
    most = max(PRODUCERS)
    for name, label, other, other_label in (
        (f"queue_each_{most}", f"a queue each, {most} producers", f"lock_{most}", "lock"),
        ("apart", "states apart, message to self", "close_together", "together"),
        (f"mailbox_{most}", f"core/mailbox, {most} producers", f"lock_{most}", "lock"),
        ("pool", "pool of each core", "malloc", "malloc"),
        ("message_pool", "core/mailbox and core/message_pool", "malloc", "malloc"),
    ):
        value, peer = small.median(name), small.median(other)
        bars.append(Bar(label, value, small.unit(name), other_label, peer, peer, f"<= 1 x {other_label}"))
    return bars


# ---- kNeighbor and the promises about processes ------------------------------------------------------------


def best_peer(runner: Runner, experiment: str, series: str, names: Sequence[str]) -> tuple[str, float | None]:
    found = [(s.floor, name) for name in names if (s := runner.samples.get(experiment, name, series))]
    value, name = min(found, default=(None, "-"))
    return name, value


def shm_bars(runner: Runner) -> list[Bar]:
    hosts = [i.name for i in runner.plan.implementations if not i.name.startswith(OWN) and i.name != "AMPI"]

    def floor(experiment: str, who: str, series: str) -> float | None:
        found = runner.samples.get(experiment, who, series)
        return found.floor if found else None

    def against(name: str, experiment: str, series: str, unit: str, factor: float) -> Bar:
        peer, peer_value = best_peer(runner, experiment, series, hosts)
        most = None if peer_value is None else factor * peer_value
        rule = f"<= {factor:.2g} x the best host MPI"
        return Bar(name, floor(experiment, PROCESSES, series), unit, peer, peer_value, most, rule)

    def fixed(name: str, experiment: str, series: str, unit: str, most: float) -> Bar:
        peer, peer_value = best_peer(runner, experiment, series, hosts)
        return Bar(name, floor(experiment, PROCESSES, series), unit, peer, peer_value, most, f"<= {most:g} {unit}")

    together = floor("cg2d_64", OWN, "step")
    return [
        against("8 B half round trip, two processes", "pingpong_8", "half_round_trip", "ns", 1.0),
        against("1 MiB half round trip, two processes", "pingpong_1Mi", "half_round_trip", "ns", 0.9),
        # 13 us compared with Open MPI's 15, and 60 with 114.
        against("kNeighbor 64 B, 8 processes on 2 cores", "kneighbor_64", "iteration", "us", 13 / 15),
        against("kNeighbor 4 KiB, 8 processes on 2 cores", "kneighbor_4096", "iteration", "us", 60 / 114),
        fixed("start-up of 64 processes", "startup_64", "first_collective", "ms", 400),
        Bar("cg2d, 64 ranks in 2 processes", floor("cg2d_64", PER_CORE, "step"), "us", "2 workers", together,
            None if together is None else 1.05 * together, "<= 1.05 x one process"),
    ]  # fmt: skip


def charts(runner: Runner) -> list[Chart]:
    """An iteration of kNeighbor over the size of its messages, a line for each implementation."""
    lines = []
    for name in (i.name for i in runner.plan.implementations):
        found = [(size, s.floor) for size in SIZES if (s := runner.samples.get(f"kneighbor_{size}", name, "iteration"))]
        lines.append(Line(name, [Point(size, floor) for size, floor in found]))
    return [Chart("kNeighbor, 8 ranks on 2 cores, K=3", "bytes of a message", "an iteration [us]", lines, is_log_x=False)]


# ---- the command ---------------------------------------------------------------------------------------------


def run_probes(arguments, folder: pathlib.Path, parts: Sequence[str], cpus: Sequence[int]) -> Runner:
    experiments = [*(KNEIGHBOR if "kneighbor" in parts else ()), *(SHM if "shm" in parts else ())]
    if "shm" in parts and "kneighbor" not in parts:
        experiments += [e for e in KNEIGHBOR if e.name in ("kneighbor_64", "kneighbor_4096")]
    own = [sorrel(arguments.command), sorrel_processes(arguments.command, PROCESSES, False),
           sorrel_processes(arguments.command, PER_CORE, True)]  # fmt: skip
    return run_all(arguments, folder, experiments, [*own, *installed_peers(arguments.command, arguments.ampi)], cpus)


def run_all(
    arguments, folder: pathlib.Path, experiments: Sequence[Experiment], mpis: Sequence[Implementation], cpus: Sequence[int]
) -> Runner:
    runner = Runner(
        Plan(
            experiments=[e for e in experiments if e.workers <= len(cpus)],
            implementations=mpis,
            rounds=arguments.rounds or (1 if arguments.quick else 5),
            series_seconds=0.05 if arguments.quick else 0.15,
            cpus=cpus,
            folder=folder,
        )
    )
    for probe, implementation in runner.builds():
        runner.build(probe, implementation)
    turns = runner.turns()
    progress = report.Progress(len(turns), "run")
    for _, experiment, implementation in turns:
        progress.step(f"{experiment.title}, {implementation.name}")
        runner.run(experiment, implementation)
    progress.end()
    return runner


def bars_of(small: Small, runner: Runner | None, host_runner: Runner | None) -> list[Bar]:
    """The bars of what was measured."""
    bars = [*small_bars(small), *(shm_bars(runner) if runner else ()), *(smp_host.bars(host_runner) if host_runner else ())]
    return [bar for bar in bars if bar.value is not None]


def main(arguments) -> int:
    facts = machine.describe()
    parts = [part for part in PARTS if not arguments.only or part in arguments.only]
    print(f"{facts['processor']}, {len(facts['cpus_allowed'])} of {facts['cpus']} CPUs, Linux {facts['kernel']}")
    cpus = machine.distinct_cores()
    if len(cpus) < 2:
        print("Skipped: kneighbor, shm and host need 2 cores; the rest shows threads that share one.")
    with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as name:
        folder = pathlib.Path(name)
        small = Small()
        if set(parts) & {"queues", "self", "allocation"}:
            rounds = arguments.rounds or (1 if arguments.quick else 3)
            small = run_small(folder, parts, rounds, 0.05 if arguments.quick else 0.2, cpus)
        runner = run_probes(arguments, folder, parts, cpus) if {"kneighbor", "shm"} & set(parts) else None
        host_runner = None
        if "host" in parts and len(cpus) >= 2:
            peers = smp_host.implementations(arguments.command, installed_peers(arguments.command, None))
            host_runner = run_all(arguments, folder, smp_host.EXPERIMENTS, peers, cpus)
    print_small(small, parts)
    bars = bars_of(small, runner, host_runner)
    halves = [bars_of(small.half(w), runner and runner.half(w), host_runner and host_runner.half(w)) for w in (0, 1)]
    doubts = settle(bars, halves, RUNS.foreign_share)
    if runner is not None:
        print(f"\n{OWN}: ranks are threads of one process; {PROCESSES}: every rank a process; {PER_CORE}: a process a core.")
        report.print_samples(runner)
    if host_runner is not None:
        smp_host.print_table(host_runner)
    report.print_bars(bars)
    runners = [r for r in (runner, host_runner) if r is not None]
    missing = [n for n in ("MPICH", "Open MPI") if runners and all(i.name != n for i in runners[0].plan.implementations)]
    for of_part in runners:
        report.print_failures(of_part, missing)
    report.print_end(doubts)
    if arguments.json is not None:
        facts |= machine.after_runs()
        write_results(arguments, facts, small, runner, host_runner, bars, missing)
    return 1 if any(t.implementation.startswith(OWN) for r in runners for t in r.troubles) else 0


def write_results(
    arguments,
    facts: dict,
    small: Small,
    runner: Runner | None,
    host_runner: Runner | None,
    bars: Sequence[Bar],
    missing: Sequence[str],
) -> None:
    result = report.as_json(runner, bars, facts, missing) if runner else {"machine": facts, "bars": [b.as_json() for b in bars]}
    result["benchmark"] = "smp"
    result["small"] = [{"name": n, "unit": s.unit, "values": s.values} for n, s in small.series.items()]
    if host_runner is not None:
        result["host"] = report.as_json(host_runner, [], facts, missing)["samples"]
    arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if runner is not None:
        pictures.save(charts(runner), arguments.json)
