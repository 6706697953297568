"""`sorrel bench overlap`: the share of the communication time that is hidden, as in Sorensen and Baden's figures of
Thyme.

Four variants of one program (blocking, by hand, as a graph, and without messages) on simulated nodes, over wires of
different latency and bandwidth. The hidden share is the part of the cost of blocking messages that the graph avoids:
(base - graph) / (base - ideal).
"""

import json
import os
import pathlib
import tempfile

from . import graph_program, machine, overlap_apps, overlap_service, pictures, report
from .bars import OWN, Bar, settle
from .disturbance import RUNS
from .graph_program import Wire
from .overlap_charts import VARIANTS, charts, hidden, shares

SOURCES = ("main.cpp", "kernel.cpp", "plain.cpp", "graph.cpp")
FLAGS = ("-O3", "-march=native")
WIRE_PARTS = ("off", "20us", "50us", "200us", "50us_slow")
PARTS = (*WIRE_PARTS, *overlap_apps.PARTS, *overlap_service.PARTS)
RANKS = 16
HIDDEN_MIN, OFF_MAX = 0.85, 1.02
WIRES = (
    Wire("off", None),
    Wire("20us", "latency=20us,bandwidth=10GB/s,nodes=4"),
    Wire("50us", "latency=50us,bandwidth=1GB/s,nodes=4"),
    Wire("200us", "latency=200us,bandwidth=1GB/s,nodes=4"),
    Wire("50us_slow", "latency=50us,bandwidth=100MB/s,nodes=4"),
)


def judge(size: int, seconds: dict[str, dict[str, float]]) -> list[Bar]:
    bars = []
    if "50us" in seconds:
        times = seconds["50us"]
        share = hidden(times)
        # A bar is an upper bound, so it bounds the exposed share.
        left = None if share is None else 1 - share
        bars.append(Bar(f"exposed at 50 us, 1 GB/s, {size}^3", left, "of base", "", None, 1 - HIDDEN_MIN, "hides >= 85 %"))
        bars.append(Bar(f"step at 50 us, 1 GB/s, {size}^3", times["graph"], "s", "OLAP", times["olap"], times["olap"], "<= OLAP"))
    if "off" in seconds:
        times = seconds["off"]
        bars.append(
            Bar(f"wire off, {size}^3", times["graph"], "s", "BASE", times["base"], OFF_MAX * times["base"], "<= 1.02 x BASE")
        )
    return bars


def main(arguments) -> int:
    doubts: list[str] = []
    status = measure(arguments, doubts)
    report.print_end("\n".join(filter(None, doubts)))
    return status


def measure(arguments, doubts: list[str]) -> int:
    """Appends settle()'s sentences about the parts to `doubts`."""
    facts = machine.describe()
    if not arguments.only or any(part in overlap_apps.PARTS for part in arguments.only):
        with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as folder:
            results = overlap_apps.measure(arguments, pathlib.Path(folder))
        report.print_bars(results[1])
        doubts.append(results[3])
        if arguments.json is not None:
            facts |= machine.after_runs()
            overlap_apps.save(arguments.json, facts, arguments, results)
    if not arguments.only or any(part in overlap_service.PARTS for part in arguments.only):
        with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as folder:
            overlap_service.measure(arguments, facts, pathlib.Path(folder))
    if arguments.only and not any(part in WIRE_PARTS for part in arguments.only):
        return 0
    size, steps = (128, 40) if arguments.quick else (256, 20)
    rounds = arguments.rounds or (2 if arguments.quick else 5)
    wires = [wire for wire in WIRES if not arguments.only or wire.name in arguments.only]
    samples: dict[str, dict[str, list[float]]] = {wire.name: {v: [] for v in VARIANTS} for wire in wires}
    with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as folder:
        sources = [graph_program.ROOT / "apps/jacobi3d" / name for name in SOURCES]
        program = graph_program.must_build(arguments.command, pathlib.Path(folder) / "jacobi3d", sources, FLAGS)
        progress = report.Progress(rounds * len(wires) * len(VARIANTS), "run")
        for round_ in range(rounds):
            for wire in wires:
                turn = round_ % len(VARIANTS)
                for variant in VARIANTS[turn:] + VARIANTS[:turn]:
                    progress.step(f"{variant}, wire {wire.name}")
                    words = [arguments.command, "run", "-n", str(RANKS), "--share", "fixed", *wire.words(), program, variant,
                             "--n", str(size), "--steps", str(steps)]  # fmt: skip
                    samples[wire.name][variant].append(float(graph_program.quiet_run(words)["seconds"]) / steps)
        progress.end()
    seconds = {wire: {v: min(found) for v, found in each.items()} for wire, each in samples.items()}
    flop = 7.0 * size**3
    rates = {wire: {v: flop / found * 1e-9 for v, found in each.items()} for wire, each in seconds.items()}
    print(f"jacobi3d {size}^3, {RANKS} ranks on {len(os.sched_getaffinity(0))} CPUs, GFLOP/s, best of {rounds}; hidden by least seconds / by medians:")
    print(f"{'wire':<12}" + "".join(f"{variant.upper():>9}" for variant in VARIANTS) + f"{'hidden':>16}")
    for wire, each in rates.items():
        print(f"{wire:<12}" + "".join(f"{each[variant]:>9.2f}" for variant in VARIANTS) + f"{shares(samples[wire]):>16}")
    bars = judge(size, seconds)
    halves = [
        judge(size, {wire: {v: min(found[w::2]) for v, found in each.items()} for wire, each in samples.items()})
        for w in (0, 1) if w < rounds
    ]  # fmt: skip
    doubts.append(settle(bars, halves, RUNS.foreign_share))
    report.print_bars(bars)
    if arguments.json is not None:
        facts |= machine.after_runs()
        result = {"machine": facts, "options": {"quick": arguments.quick, "rounds": rounds}, "missing": [],
                  "samples": {OWN: samples}, "bars": [bar.as_json() for bar in bars]}  # fmt: skip
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        pictures.save(charts(f"{RANKS} ranks on 4 simulated nodes", {f"jacobi3d {size}^3": rates}), arguments.json)
    return 0
