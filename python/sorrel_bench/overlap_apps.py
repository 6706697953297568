"""The figure of `sorrel bench overlap`: apps/jacobi3d, apps/summa and apps/ft, meshes, wires, four variants; and two
bars.

Parts: `summa` and `ft` measure one mesh and one wire for the bars; `jacobi3d_sweep` and the like measure all. Jobs use
all workers (`--share fixed`), so that only the variants differ. A disturbed run is repeated, and all runs of FT
transform by the same plans, which FFTW makes once.
"""

import dataclasses
import json
import os
import pathlib

from . import graph_program, pictures, report
from .bars import Bar, settle
from .disturbance import RUNS
from .graph_program import Wire
from .overlap_charts import VARIANTS, charts, hidden, shares

RANKS = 16
FULL, SWEEP, QUICK = 7, 3, 2


BAR_WIRE = Wire("50us 1GB/s 4 nodes", "latency=50us,bandwidth=1GB/s,nodes=4")
WIRES = (
    Wire("no wire", None),
    Wire("0us 10GB/s 2 nodes", "latency=0us,bandwidth=10GB/s,nodes=2"),
    Wire("20us 10GB/s 4 nodes", "latency=20us,bandwidth=10GB/s,nodes=4"),
    BAR_WIRE,
    Wire("50us 1GB/s 16 nodes", "latency=50us,bandwidth=1GB/s,nodes=16"),
    Wire("200us 1GB/s 8 nodes", "latency=200us,bandwidth=1GB/s,nodes=8"),
    Wire("50us 100MB/s 4 nodes", "latency=50us,bandwidth=100MB/s,nodes=4"),
)


@dataclasses.dataclass(frozen=True)
class App:
    name: str
    sources: tuple[str, ...]
    libraries: tuple[str, ...]
    packages: str
    sizes: dict[str, tuple[str, ...]]  # by title, with arguments; the last one has the bar
    variant_arguments: dict[str, tuple[str, ...]]
    kept_in: str  # an option that names a file shared by all runs, or none
    shared: str  # libraries that ranks of one process may share, or none
    hidden_min: float | None  # None: its bar is elsewhere

    @property
    def title(self) -> str:
        return list(self.sizes)[-1]


APPS = (
    App("jacobi3d", ("main.cpp", "kernel.cpp", "plain.cpp", "graph.cpp"), (), "",
        {"jacobi3d 128^3": ("--n", "128", "--steps", "60"), "jacobi3d 256^3": ("--n", "256", "--steps", "20")}, {}, "", "", None),
    App("summa", ("main.cpp", "kernel.cpp", "plain.cpp", "graph.cpp"), ("-lopenblas",), "libopenblas-pthread-dev",
        {"SUMMA 1024": ("--n", "1024", "--grid", "4x4"), "SUMMA 2048": ("--n", "2048", "--grid", "4x4")},
        {"olap": ("--ahead-a", "0", "--ahead-b", "6"), "graph": ("--ahead-a", "0", "--ahead-b", "1")}, "", "libopenblas.so.0", 0.80),
    App("ft", ("main.cpp", "problem.cpp", "transform.cpp", "plain.cpp", "graph.cpp"), ("-lfftw3_threads", "-lfftw3"),
        "libfftw3-dev", {"FT class W": ("--class", "W"), "FT class A": ("--class", "A")},
        {"olap": ("--slices", "2"), "graph": ("--rooms", "2", "--fill")}, "--plans",
        "libfftw3.so.3,libfftw3_threads.so.3", 0.60),
)  # fmt: skip
PARTS = (*(app.name for app in APPS if app.hidden_min is not None), *(f"{app.name}_sweep" for app in APPS))

Samples = dict[str, dict[str, dict[str, list[dict[str, float]]]]]  # by size, wire, variant: seconds and gflops of each run


def blas_words() -> list[str]:
    """Ranks that share a process need the OpenBLAS with locks: Debian's version with threads, when linking and at run
    time."""
    folders = sorted(pathlib.Path("/usr/lib").glob("*/openblas-pthread"))
    if not folders:
        return []
    include = pathlib.Path("/usr/include") / folders[0].parent.name / "openblas-pthread"
    return [f"-I{include}", f"-L{folders[0]}", f"-Wl,-rpath,{folders[0]}"]


def build(command: str, app: App, folder: pathlib.Path) -> str | None:
    """The program, or None if a library is missing."""
    flags = ("-O3", "-march=native", "-fcx-limited-range", *(blas_words() if app.name == "summa" else ()))
    sources = [graph_program.ROOT / "apps" / app.name / name for name in app.sources]
    program = folder / app.name
    return str(program) if graph_program.build(command, program, sources, flags, app.libraries) is None else None


def run(command: str, wire: Wire, words: list[str]) -> dict[str, float]:
    told = graph_program.quiet_run([command, "run", "-n", str(RANKS), "--share", "fixed", *wire.words(), *words])
    return {word: float(told[word]) for word in ("seconds", "gflops")}


def best(runs: dict[str, list[dict[str, float]]], word: str) -> dict[str, float]:
    choose = min if word == "seconds" else max
    return {variant: choose(run[word] for run in found) for variant, found in runs.items()}


def bar_of(app: App, seconds: dict[str, float]) -> Bar:
    share = hidden(seconds)
    # A bar is an upper bound, so it bounds the exposed share.
    left = None if share is None else 1 - share
    return Bar(f"exposed at 50 us, 1 GB/s, {app.title}", left, "of base", "", None, 1 - app.hidden_min,
               f"hides >= {100 * app.hidden_min:.0f} %")  # fmt: skip


def plan_of(app: App, arguments) -> list[tuple[str, Wire, int]]:
    """The sizes, the wires for each, and the number of rounds."""
    is_wanted = {part: part in PARTS and (not arguments.only or part in arguments.only) for part in (app.name, f"{app.name}_sweep")}
    quick = QUICK if arguments.quick else None
    plan = []
    if is_wanted[f"{app.name}_sweep"]:
        plan += [(size, wire, arguments.rounds or quick or SWEEP) for size in app.sizes for wire in WIRES]
    if is_wanted[app.name]:
        plan = [row for row in plan if row[:2] != (app.title, BAR_WIRE)]
        plan.append((app.title, BAR_WIRE, arguments.rounds or quick or FULL))
    return plan


def bars_of(app: App, runs: dict[str, list[dict[str, float]]]) -> tuple[Bar, list[list[Bar]]]:
    """The bar by all rounds, and by the even and the odd ones alone."""
    rounds = min(len(found) for found in runs.values())
    halves = [{variant: found[w::2] for variant, found in runs.items()} for w in (0, 1) if w < rounds]
    return bar_of(app, best(runs, "seconds")), [[bar_of(app, best(half, "seconds"))] for half in halves]


def measure(arguments, folder: pathlib.Path) -> tuple[Samples, list[Bar], list[str], str]:
    """Samples, the bars, the missing packages, and settle()'s sentence about the bars."""
    samples: Samples = {}
    bars: list[Bar] = []
    halves: list[list[Bar]] = []
    missing: list[str] = []
    for app in APPS:
        plan = plan_of(app, arguments)
        if not plan:
            continue
        program = build(arguments.command, app, folder)
        if program is None:
            print(f"{app.name}: does not compile; it needs {app.packages}")
            missing.append(app.packages)
            continue
        kept = (app.kept_in, str(folder / f"{app.name}.kept")) if app.kept_in else ()
        shared = ("--shared", app.shared) if app.shared else ()
        progress = report.Progress(sum(rounds for _, _, rounds in plan) * len(VARIANTS), "run")
        for size, wire, rounds in plan:
            found: dict[str, list[dict[str, float]]] = {variant: [] for variant in VARIANTS}
            for round_ in range(rounds):
                turn = round_ % len(VARIANTS)
                for variant in VARIANTS[turn:] + VARIANTS[:turn]:
                    progress.step(f"{size} {variant}, {wire.name}")
                    words = [*shared, program, variant, *app.sizes[size], *app.variant_arguments.get(variant, ()), *kept]
                    found[variant].append(run(arguments.command, wire, words))
            samples.setdefault(size, {})[wire.name] = found
        progress.end()
        if app.hidden_min is not None and BAR_WIRE.name in samples.get(app.title, {}):
            bar, of_halves = bars_of(app, samples[app.title][BAR_WIRE.name])
            bars.append(bar)
            halves += of_halves
    print_samples(samples)
    return samples, bars, missing, settle(bars, halves, RUNS.foreign_share)


def print_samples(samples: Samples) -> None:
    print(f"{RANKS} ranks on {len(os.sched_getaffinity(0))} CPUs, GFLOP/s, best of each; hidden by least seconds / by medians:")
    print(f"{'':<16}{'wire':<22}" + "".join(f"{variant.upper():>9}" for variant in VARIANTS) + f"{'hidden':>16}")
    for size, wires in samples.items():
        for name, runs in wires.items():
            text = shares({variant: [run["seconds"] for run in found] for variant, found in runs.items()})
            rates = best(runs, "gflops")
            print(f"{size:<16}{name:<22}" + "".join(f"{rates[variant]:>9.2f}" for variant in VARIANTS) + f"{text:>16}")


def save(path: pathlib.Path, facts: dict, arguments, results: tuple) -> None:
    """Writes NAME.apps.json and its picture beside the result of jacobi3d."""
    samples, bars, missing, _ = results
    result = {"machine": facts, "options": {"quick": arguments.quick, "rounds": arguments.rounds}, "missing": missing,
              "samples": samples, "bars": [bar.as_json() for bar in bars]}  # fmt: skip
    path.with_suffix(".apps.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if not samples:
        return
    # Wires in the order of WIRES, not in that of the measurements.
    order = [wire.name for wire in WIRES]
    rates = {size: {name: best(wires[name], "gflops") for name in order if name in wires} for size, wires in samples.items()}
    pictures.save(charts(f"{RANKS} ranks on simulated nodes", rates), path.with_suffix(".apps.json"))
