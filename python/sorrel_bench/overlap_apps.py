"""The rows of `sorrel bench overlap` for apps/summa and apps/ft: one size, one wire, four variants.

All workers are used whatever else runs (`--share fixed`): what is compared are variants, not manners.
"""

import dataclasses
import json
import os
import pathlib
import subprocess

from . import report
from .bars import Bar

VARIANTS = ("ideal", "base", "olap", "graph")
RANKS = 16
WIRE = "latency=50us,bandwidth=1GB/s,nodes=4"
FULL, QUICK = 7, 2


@dataclasses.dataclass(frozen=True)
class App:
    name: str
    title: str
    sources: tuple[str, ...]
    libraries: tuple[str, ...]
    packages: str
    arguments: tuple[str, ...]
    hidden_min: float


APPS = (
    App("summa", "SUMMA 2048", ("main.cpp", "kernel.cpp", "plain.cpp", "graph.cpp"), ("-lopenblas",), "libopenblas-pthread-dev",
        ("--n", "2048", "--grid", "4x4", "--ahead-a", "0", "--ahead-b", "6"), 0.80),
    App("ft", "FT class A", ("main.cpp", "problem.cpp", "transform.cpp", "plain.cpp", "graph.cpp"), ("-lfftw3_threads", "-lfftw3"),
        "libfftw3-dev", ("--class", "A", "--slices", "2"), 0.60),
)  # fmt: skip
PARTS = tuple(app.name for app in APPS)


def blas_words() -> list[str]:
    """Ranks that share a process need the OpenBLAS that has locks: Debian's with threads, and that one also when it runs."""
    folders = sorted(pathlib.Path("/usr/lib").glob("*/openblas-pthread"))
    if not folders:
        return []
    include = pathlib.Path("/usr/include") / folders[0].parent.name / "openblas-pthread"
    return [f"-I{include}", f"-L{folders[0]}", f"-Wl,-rpath,{folders[0]}"]


def build(command: str, app: App, folder: pathlib.Path) -> str | None:
    """The program, or None where a library is missing."""
    here = pathlib.Path(__file__).resolve()
    source = here.parents[2] / "apps" / app.name
    prefix = pathlib.Path(command).resolve().parents[1]
    include = next(p for p in (prefix / "include", here.parents[2] / "include") if (p / "sorrel/graph.hpp").is_file())
    archive = next(p for p in (prefix / "lib/libsorrel_graph.a", prefix / "src/libsorrel_graph.a") if p.is_file())
    program = folder / app.name
    words = [command, "cxx", "-O3", "-march=native", "-fcx-limited-range", "-std=c++20", "-w", f"-I{include}",
             *(blas_words() if app.name == "summa" else ()), *(str(source / name) for name in app.sources), str(archive),
             *app.libraries, "-o", str(program)]  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return str(program) if done.returncode == 0 else None


def seconds_of(command: str, program: str, variant: str, arguments: tuple[str, ...]) -> float:
    words = [command, "run", "-n", str(RANKS), "--share", "fixed", "--wire", WIRE, program, variant, *arguments]
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SORREL_")}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=kept)
    if done.returncode != 0:
        raise SystemExit(f"sorrel: bench: failed: {' '.join(words)}")
    told = done.stdout.split()
    return float(told[told.index("seconds") + 1])


def hidden(seconds: dict[str, float]) -> float | None:
    exposed = seconds["base"] - seconds["ideal"]
    return (seconds["base"] - seconds["graph"]) / exposed if exposed > 0.02 * seconds["ideal"] else None


def bar_of(app: App, seconds: dict[str, float]) -> Bar:
    share = hidden(seconds)
    # A bar is reached by at most its number: what is left exposed.
    left = None if share is None else 1 - share
    return Bar(f"exposed at 50 us, 1 GB/s, {app.title}", left, "of base", "", None, 1 - app.hidden_min,
               f"hides >= {100 * app.hidden_min:.0f} %")  # fmt: skip


def measure(arguments, folder: pathlib.Path) -> tuple[dict[str, dict[str, list[float]]], list[Bar], list[str]]:
    """Samples by app and variant, the bars, and the packages that were missing."""
    rounds = arguments.rounds or (QUICK if arguments.quick else FULL)
    samples: dict[str, dict[str, list[float]]] = {}
    bars: list[Bar] = []
    missing: list[str] = []
    for app in APPS:
        if arguments.only and app.name not in arguments.only:
            continue
        program = build(arguments.command, app, folder)
        if program is None:
            print(f"{app.name}: does not compile; it needs {app.packages}")
            missing.append(app.packages)
            continue
        found: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
        progress = report.Progress(rounds * len(VARIANTS), "run")
        for round_ in range(rounds):
            turn = round_ % len(VARIANTS)
            for variant in VARIANTS[turn:] + VARIANTS[:turn]:
                progress.step(f"{app.name} {variant}")
                found[variant].append(seconds_of(arguments.command, program, variant, app.arguments))
        progress.end()
        samples[app.name] = found
        best = {variant: min(times) for variant, times in found.items()}
        share = hidden(best)
        text = "-" if share is None else f"{100 * share:.0f} %"
        print(f"{app.title}, {RANKS} ranks, 50 us, 1 GB/s, seconds, best of {rounds}: "
              + ", ".join(f"{variant.upper()} {best[variant]:.3f}" for variant in VARIANTS) + f"; hidden {text}")  # fmt: skip
        bars.append(bar_of(app, best))
    return samples, bars, missing


def picture(samples: dict[str, dict[str, list[float]]]) -> str:
    """Bars of each variant's speed, IDEAL's being the tallest: the seed's figure for these."""
    colours = {"ideal": "#999999", "base": "#d95f02", "olap": "#7570b3", "graph": "#1b9e77"}
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{60 + 150 * len(samples)}" height="270" font-family="sans-serif" '
             f'font-size="12">', '<text x="10" y="18">speed, as a share of IDEAL</text>']  # fmt: skip
    for a, (name, found) in enumerate(samples.items()):
        for v, variant in enumerate(VARIANTS):
            share = min(found["ideal"]) / min(found[variant])
            x, height = 20 + 150 * a + 30 * v, 180 * share
            parts.append(f'<rect x="{x}" y="{220 - height:.1f}" width="28" height="{height:.1f}" fill="{colours[variant]}"/>')
            parts.append(f'<text x="{x + 1}" y="{216 - height:.1f}" font-size="10">{share:.2f}</text>')
        parts.append(f'<text x="{20 + 150 * a}" y="236">{name}</text>')
    for v, variant in enumerate(VARIANTS):
        parts.append(f'<rect x="{20 + 70 * v}" y="248" width="10" height="10" fill="{colours[variant]}"/>')
        parts.append(f'<text x="{34 + 70 * v}" y="258">{variant.upper()}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def save(path: pathlib.Path, facts: dict, arguments, results: tuple) -> None:
    """Beside the result of the sweep over wires: NAME.apps.json, and the picture."""
    samples, bars, missing = results
    result = {"machine": facts, "options": {"quick": arguments.quick, "rounds": arguments.rounds}, "missing": missing,
              "samples": samples, "bars": [bar.as_json() for bar in bars]}  # fmt: skip
    path.with_suffix(".apps.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    path.with_suffix(".apps.svg").write_text(picture(samples), encoding="utf-8")
