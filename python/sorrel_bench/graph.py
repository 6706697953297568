"""`sorrel bench graph`: the cost of a task of a graph: a wavefront of empty tasks, built once and run many times.

Every task follows the task above and the task to the left. Sorrel is compared with oneTBB's flow graph, Taskflow, and
counters written by hand on oneTBB, which no interface can beat by much.
"""

import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile

from . import graph_program, machine, report
from .bars import OWN, Bar, settle
from .disturbance import RUNS

PARTS = ("wavefront",)
FLAGS = ("-O3", "-march=native", "-std=c++20", "-w")
REPLAY_NS_MAX = 15.0
# Building must not depend on the number of tasks: 100 times as many may take at most this many times as long.
BUILD_GROWTH_MAX = 3.0
SIDE, SMALL_SIDE = 1000, 100


@dataclasses.dataclass(frozen=True)
class Peer:
    name: str
    source: str
    header: str
    package: str
    libraries: tuple[str, ...] = ()


PEERS = (
    Peer("oneTBB flow graph", "wavefront_tbb.cpp", "tbb/flow_graph.h", "libtbb-dev", ("-ltbb",)),
    Peer("oneTBB counters", "wavefront_counters.cpp", "tbb/task_group.h", "libtbb-dev", ("-ltbb",)),
    Peer("Taskflow", "wavefront_taskflow.cpp", "taskflow/taskflow.hpp", "its headers below /usr/local/include", ("-pthread",)),
)


class Programs:
    """Builds the wavefront with every installed runtime."""

    def __init__(self, command: str, folder: pathlib.Path) -> None:
        self.missing: list[str] = []
        self.troubles: list[str] = []
        self.found: dict[str, str] = {}
        self._folder = folder
        self._sources = graph_program.ROOT / "bench/graph"
        prefix = pathlib.Path(command).resolve().parents[1]
        include, archive = graph_program.library_of(command)
        own = (f"-I{include}", str(archive), f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib", "-lsorrel")
        self._compile(OWN, "wavefront_sorrel.cpp", own)
        for peer in PEERS:
            if any((pathlib.Path(root) / peer.header).is_file() for root in ("/usr/include", "/usr/local/include")):
                self._compile(peer.name, peer.source, peer.libraries)
            else:
                self.missing.append(f"{peer.name} ({peer.package})")

    def _compile(self, name: str, source: str, flags: tuple[str, ...]) -> None:
        program = self._folder / source.removesuffix(".cpp")
        words = ["c++", *FLAGS, str(self._sources / source), "-o", str(program), *flags]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            self.found[name] = str(program)
        else:
            self.troubles.append(f"{name}: {(done.stderr.strip().splitlines() or ['does not compile'])[-1][:200]}")


def read_times(text: str) -> dict[str, float]:
    """ "build_ns 1.5 first_ns 2 replay_ns 3" as numbers."""
    words = text.split()
    return {words[i]: float(words[i + 1]) for i in range(0, len(words) - 1, 2)}


def _run(program: str, side: int, replays: int) -> dict[str, float]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MP_", "SORREL_"))}
    words = [program, str(side), str(side), str(replays)]
    done = RUNS.watched(lambda: subprocess.run(words, capture_output=True, text=True, check=True, env=kept))
    return read_times(done.stdout)


def floors(samples: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(sample[name] for sample in samples) for name in samples[0]}


def judge(best: dict[str, dict[str, float]], small: dict[str, float]) -> list[Bar]:
    own = best[OWN]
    peer, peer_value = min(
        ((name, times["replay_ns"]) for name, times in best.items() if name != OWN),
        key=lambda found: found[1], default=("", None),
    )  # fmt: skip
    growth = own["build_ns"] * SIDE**2 / (small["build_ns"] * SMALL_SIDE**2)
    return [
        Bar("replay of 1M empty tasks, a task", own["replay_ns"], "ns", peer, peer_value, REPLAY_NS_MAX, "<= 15 ns"),
        Bar("build of 1M tasks over that of 10 000", growth, "x", "", None, BUILD_GROWTH_MAX, "not more"),
    ]


def main(arguments) -> int:
    facts = machine.describe()
    rounds = arguments.rounds or (3 if arguments.quick else 10)
    with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as folder:
        programs = Programs(arguments.command, pathlib.Path(folder))
        if OWN not in programs.found:
            raise SystemExit(f"sorrel: bench: {programs.troubles[0]}")
        samples: dict[str, list[dict[str, float]]] = {name: [] for name in programs.found}
        small = []
        progress = report.Progress(rounds, "round")
        for round_ in range(rounds):
            progress.step("wavefront")
            names = list(programs.found)
            for name in names[round_ % len(names) :] + names[: round_ % len(names)]:
                samples[name].append(_run(programs.found[name], SIDE, 5))
            small.append(_run(programs.found[OWN], SMALL_SIDE, 5))
        progress.end()
    best = {name: floors(found) for name, found in samples.items()}
    bars = judge(best, floors(small))
    halves = [judge({name: floors(found[w::2]) for name, found in samples.items()}, floors(small[w::2])) for w in (0, 1) if w < rounds]
    doubts = settle(bars, halves, RUNS.foreign_share)
    print(f"A wavefront of {SIDE} x {SIDE} empty tasks, {len(os.sched_getaffinity(0))} CPUs, ns a task, least of {rounds}:")
    print(f"{'':<22}{'build':>10}{'first run':>12}{'replay':>10}")
    for name, times in best.items():
        print(f"{name:<22}{times['build_ns']:>10.3f}{times['first_ns']:>12.1f}{times['replay_ns']:>10.1f}")
    report.print_bars(bars)
    report.print_gaps(programs.missing, programs.troubles)
    report.print_end(doubts)
    if arguments.json is not None:
        facts |= machine.after_runs()
        result = {"machine": facts, "options": {"quick": arguments.quick, "rounds": rounds}, "missing": programs.missing,
                  "samples": samples, "samples_small": small, "bars": [bar.as_json() for bar in bars]}  # fmt: skip
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 1 if programs.troubles else 0
