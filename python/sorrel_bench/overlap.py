"""`sorrel bench overlap`: how much of the time for messages is hidden: the seed's figure with apps/jacobi3d.

Four variants of one program (blocking, by hand, as a graph, and without any message) on pretend nodes joined by
wires of different latency and bandwidth. Hidden is the share of what blocking messages cost that the graph does
without: (base - graph) / (base - ideal).
"""

import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile

from . import machine, overlap_apps, overlap_service, report
from .bars import OWN, Bar

VARIANTS = ("ideal", "base", "olap", "graph")
SOURCES = ("main.cpp", "kernel.cpp", "plain.cpp", "graph.cpp")
WIRE_PARTS = ("off", "20us", "50us", "200us", "50us_slow")
PARTS = (*WIRE_PARTS, *overlap_apps.PARTS, *overlap_service.PARTS)
RANKS = 16
HIDDEN_MIN, OFF_MAX = 0.85, 1.02


@dataclasses.dataclass(frozen=True)
class Wire:
    name: str
    text: str | None

    def words(self) -> list[str]:
        return ["--wire", self.text] if self.text else []


WIRES = (
    Wire("off", None),
    Wire("20us", "latency=20us,bandwidth=10GB/s,nodes=4"),
    Wire("50us", "latency=50us,bandwidth=1GB/s,nodes=4"),
    Wire("200us", "latency=200us,bandwidth=1GB/s,nodes=4"),
    Wire("50us_slow", "latency=50us,bandwidth=100MB/s,nodes=4"),
)


def build(command: str, folder: pathlib.Path) -> str:
    here = pathlib.Path(__file__).resolve()
    source = here.parents[2] / "apps/jacobi3d"
    prefix = pathlib.Path(command).resolve().parents[1]
    include = next(p for p in (prefix / "include", here.parents[2] / "include") if (p / "sorrel/graph.hpp").is_file())
    archive = next(p for p in (prefix / "lib/libsorrel_graph.a", prefix / "src/libsorrel_graph.a") if p.is_file())
    program = folder / "jacobi3d"
    words = [command, "cxx", "-O3", "-march=native", "-std=c++20", "-w", f"-I{include}",
             *(str(source / name) for name in SOURCES), str(archive), "-o", str(program)]  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"sorrel: bench: jacobi3d: {(done.stderr.strip().splitlines() or ['does not compile'])[-1][:200]}")
    return str(program)


def read_line(text: str) -> dict[str, str]:
    """ "variant base n 256 seconds 0.5 ..." by its words."""
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=False))


def hidden(seconds: dict[str, float]) -> float | None:
    """None where blocking messages cost less than two per cent: then there is nothing to hide."""
    exposed = seconds["base"] - seconds["ideal"]
    return (seconds["base"] - seconds["graph"]) / exposed if exposed > 0.02 * seconds["ideal"] else None


def judge(size: int, seconds: dict[str, dict[str, float]]) -> list[Bar]:
    bars = []
    if "50us" in seconds:
        times = seconds["50us"]
        share = hidden(times)
        # A bar is reached by at most its number: what is left exposed.
        left = None if share is None else 1 - share
        bars.append(Bar(f"exposed at 50 us, 1 GB/s, {size}^3", left, "of base", "", None, 1 - HIDDEN_MIN, "hides >= 85 %"))
        bars.append(Bar(f"step at 50 us, 1 GB/s, {size}^3", times["graph"], "s", "OLAP", times["olap"], times["olap"], "<= OLAP"))
    if "off" in seconds:
        times = seconds["off"]
        bars.append(
            Bar(f"wire off, {size}^3", times["graph"], "s", "BASE", times["base"], OFF_MAX * times["base"], "<= 1.02 x BASE")
        )
    return bars


def picture(size: int, rates: dict[str, dict[str, float]]) -> str:
    """Bars of GFLOP/s for each wire, and the share that the graph hides."""
    colours = {"ideal": "#999999", "base": "#d95f02", "olap": "#7570b3", "graph": "#1b9e77"}
    top = max(rate for each in rates.values() for rate in each.values())
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{90 + 130 * len(rates)}" height="290" font-family="sans-serif" font-size="12">',
             f'<text x="10" y="18">jacobi3d {size}^3, {RANKS} ranks on 4 pretend nodes: GFLOP/s</text>']  # fmt: skip
    for w, (wire, each) in enumerate(rates.items()):
        for v, variant in enumerate(VARIANTS):
            height = 200 * each[variant] / top
            x = 20 + 130 * w + 27 * v
            parts.append(f'<rect x="{x}" y="{240 - height:.1f}" width="25" height="{height:.1f}" fill="{colours[variant]}"/>')
            parts.append(f'<text x="{x + 1}" y="{236 - height:.1f}" font-size="10">{each[variant]:.1f}</text>')
        share = hidden({variant: 1 / rate for variant, rate in each.items()})
        label = wire if share is None else f"{wire}: {100 * share:.0f} % hidden"
        parts.append(f'<text x="{20 + 130 * w}" y="256">{label}</text>')
    for v, variant in enumerate(VARIANTS):
        parts.append(f'<rect x="{20 + 90 * v}" y="268" width="10" height="10" fill="{colours[variant]}"/>')
        parts.append(f'<text x="{34 + 90 * v}" y="278">{variant.upper()}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main(arguments) -> int:
    facts = machine.describe()
    if not arguments.only or any(part in overlap_apps.PARTS for part in arguments.only):
        with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as folder:
            results = overlap_apps.measure(arguments, pathlib.Path(folder))
        report.print_bars(results[1])
        if arguments.json is not None:
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
        program = build(arguments.command, pathlib.Path(folder))
        progress = report.Progress(rounds * len(wires) * len(VARIANTS), "run")
        for round_ in range(rounds):
            for wire in wires:
                turn = round_ % len(VARIANTS)
                for variant in VARIANTS[turn:] + VARIANTS[:turn]:
                    progress.step(f"{variant}, wire {wire.name}")
                    words = [arguments.command, "run", "-n", str(RANKS), "--share", "fixed", *wire.words(), program, variant,
                             "--n", str(size), "--steps", str(steps)]  # fmt: skip
                    kept = {k: v for k, v in os.environ.items() if not k.startswith("SORREL_")}
                    done = subprocess.run(words, capture_output=True, text=True, check=False, env=kept)
                    if done.returncode != 0:
                        raise SystemExit(f"sorrel: bench: failed: {' '.join(words)}")
                    samples[wire.name][variant].append(float(read_line(done.stdout)["seconds"]) / steps)
        progress.end()
    seconds = {wire: {v: min(found) for v, found in each.items()} for wire, each in samples.items()}
    flop = 7.0 * size**3
    rates = {wire: {v: flop / found * 1e-9 for v, found in each.items()} for wire, each in seconds.items()}
    print(f"jacobi3d {size}^3, {RANKS} ranks on {len(os.sched_getaffinity(0))} CPUs, GFLOP/s, best of {rounds}:")
    print(f"{'wire':<12}" + "".join(f"{variant.upper():>9}" for variant in VARIANTS) + f"{'hidden':>9}")
    for wire, each in rates.items():
        share = hidden(seconds[wire])
        text = "-" if share is None else f"{100 * share:.0f} %"
        print(f"{wire:<12}" + "".join(f"{each[variant]:>9.2f}" for variant in VARIANTS) + f"{text:>9}")
    bars = judge(size, seconds)
    report.print_bars(bars)
    if arguments.json is not None:
        facts["load_after"] = machine.load()
        result = {"machine": facts, "options": {"quick": arguments.quick, "rounds": rounds}, "missing": [],
                  "samples": {OWN: samples}, "bars": [bar.as_json() for bar in bars]}  # fmt: skip
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        arguments.json.with_suffix(".svg").write_text(picture(size, rates), encoding="utf-8")
    return 0
