"""Study 003: Prieto, Llorente and Tirado, "A Review of Regular Domain Partitioning": strided messages, the cuts of figure 2, overlap.

Published numbers come from the text, whose figure 2 is a picture. Columns "model" are the planner's predictions for the published
machines (machines/*.json); they are computed, not measured.
"""

import json
import re
import subprocess

from ..bars import OWN
from ..graph_program import ROOT, Wire
from ..implementations import Job
from ..partition import measured_machine
from ..pictures import BarChart, Bars, Chart, Line, Mark, Point
from ..virtual_runs import Build
from .estimates import Claim, Estimate
from .results import Figure, Table, point, points
from .samples import Row, Store, Values
from .setting import Setting, cases, graph_build

NUMBER = "003"
PROCESSORS = 16  # of the study
TITLE = "Partitioning of regular domains"
SOURCE = "Prieto, Llorente, Tirado: A Review of Regular Domain Partitioning; Cray T3E-900, SGI Origin2000, IBM SP2"
AUTHORS = "Prieto, Llorente, Tirado"
STRIDES = (1, 2, 3, 4, 5, 8, 16, 32)
MESSAGES = tuple(8 * 8**i for i in range(7))
MODES = ("buffered", "synchronous")
LARGE = 262144  # "a 256-Kbyte message"
RANKS = (16, 32)
CUTS = {
    16: {"x": "16x1x1", "y": "1x16x1", "z": "1x1x16", "2-D xy": "4x4x1", "2-D xz": "4x1x4", "3-D": "4x2x2"},
    32: {"x": "32x1x1", "y": "1x32x1", "z": "1x1x32", "2-D xy": "8x4x1", "2-D xz": "8x1x4", "3-D": "4x4x2"},
}
ROUNDS_OF_256 = 5
WIRE = Wire("50us 1GB/s, 4 nodes", "latency=50us,bandwidth=1GB/s,nodes=4")
# Machine file, ranks: z over x; the best 3-D and the best 1-D cut over the best 2-D cut, %.
PUBLISHED_CUTS = {
    ("t3e-900-buffered", 16): (2.0, 7, 0), ("t3e-900-buffered", 32): (2.0, 5, 15), ("t3e-900-synchronous", 16): (1.6, None, None),
    ("origin2000", 32): (1.3, 8, 22),
}  # fmt: skip
# Machine file, ranks, cells on a side: overlapping over not overlapping, or the inverse; the text's words.
PUBLISHED_OVERLAP = {
    ("sp2", 16, 128): "1.3 times faster", ("sp2", 16, 256): "2.5 times faster", ("t3e-900-buffered", 16, 256): "5 % slower",
    ("t3e-900-buffered", 32, 256): "7.3 % slower", ("origin2000", 32, 256): "7.5 % slower",
}  # fmt: skip
MODELS = ("t3e-900-buffered", "origin2000")
MODEL_SIZES = (64, 128, 256)
HERE = "here"  # the machine file of this machine
# Steps of a V-cycle on each level that is cut: exchanges of ghosts with a pass over the cells. Five of a level itself, and the residual of the
# finest level or the correction of the level above.
STEPS_OF_LEVEL = 6
BLOCK_EXTENT_MIN = 4  # of a cut dimension, on the coarsest level that the program cuts
CYCLE = re.compile(r"([\d.]+) ms per cycle")
TITLES = re.compile(r"^One pair, (buffered|synchronous) sends", re.MULTILINE)


def builds(setting: Setting) -> list[Build]:
    own = setting.with_name(OWN)
    return [graph_build(setting, "multigrid", NUMBER, ("multigrid.cpp", "level.cpp", "gather.cpp"), ("-O3", "-march=native")),
            Build("strides", NUMBER, own.compiler, (ROOT / "apps/strides/strides.c",))]  # fmt: skip


def read_strides(output: str) -> Values:
    """MB/s by mode, bytes and stride, as "buffered 262144 32"; of one pair, not of all pairs at once."""
    found: Values = {}
    parts = TITLES.split(output.split("All pairs")[0])[1:]
    for mode, text in zip(parts[::2], parts[1::2], strict=True):
        rows = [line.split() for line in text.splitlines() if line.split()]
        head = next((row for row in rows if row[:1] == ["bytes"]), [])
        for row in rows[rows.index(head) + 1 :] if head else []:
            if len(row) == len(head):
                found |= {f"{mode} {row[0]} {stride}": float(value) for stride, value in zip(head[1:], row[1:], strict=True)}
    return found


def read_cycle(output: str) -> Values:
    found = CYCLE.search(output)
    return {"cycle": float(found[1])} if found else {}


def _sizes(setting: Setting) -> tuple[int, ...]:
    return (128,) if setting.is_quick else (64, 128, 256)


def _ranks(setting: Setting) -> tuple[int, ...]:
    return RANKS[:1] if setting.is_quick else RANKS


def _cuts(ranks: int, n: int, is_quick: bool) -> dict[str, str]:
    """The cuts whose blocks have eight cells or more along each dimension: with fewer, one level alone is cut, and the cycles do not
    converge. The most important ones for the largest cube."""
    found = {name: grid for name, grid in CUTS[ranks].items() if all(n // int(parts) >= 8 for parts in grid.split("x"))}
    return {k: v for k, v in found.items() if k in ("x", "z", "2-D xy", "3-D")} if n > 128 or is_quick else found


def _row(ranks: int, n: int) -> str:
    return f"{n}^3 on {ranks}"


def _overlap_row(ranks: int, n: int, wire: str) -> str:
    return f"overlap, {n}^3 on {ranks}, {wire}"


def _overlap_size(setting: Setting) -> int:
    return 64 if setting.is_quick else 128


def model(command: str, machine: str, ranks: int, n: int) -> dict[str, dict[str, float]]:
    """Predicted seconds of a step by process grid and kind of overlap, for complex cells; none if no cut fits."""
    words = [command, "plan", str(n), str(n), str(n), "-n", str(ranks), "--machine", machine, "--json", "--element", "16", "--flops", "14", "--bytes", "48"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {}
    plan = json.loads(done.stdout)
    found: dict[str, dict[str, float]] = {}
    for candidate in plan["candidates"]:
        found.setdefault("x".join(map(str, candidate["grid"])), {})[candidate["overlap"]] = candidate["seconds"]["step"]
    return found


def levels(n: int, grid: str) -> list[int]:
    """Cells on a side of the levels that apps/multigrid cuts, the finest first."""
    cut = [int(parts) for parts in grid.split("x") if int(parts) > 1]
    found = [n]
    while found[-1] % 2 == 0 and found[-1] > 2 and all(found[-1] // 2 // parts >= BLOCK_EXTENT_MIN for parts in cut):
        found.append(found[-1] // 2)
    return found


def _predict_here(setting: Setting) -> None:
    """Measures this machine for the planner, and keeps its predictions for every level of the timed cuts."""

    def predictions() -> dict:
        path = measured_machine(setting.command, setting.programs.folder, setting.workers, "no wire")
        sizes = {(ranks, level) for ranks in _ranks(setting) for n in _sizes(setting) for grid in CUTS[ranks].values() for level in levels(n, grid)}
        return {f"{ranks} {n}": model(setting.command, str(path), ranks, n) for ranks, n in sorted(sizes)}

    setting.store.fact(f"model {HERE}", predictions)


def rows(setting: Setting) -> list[Row]:
    if not setting.is_quick:
        _predict_here(setting)
    for machine, ranks in {*((m, r) for m in MODELS for r in RANKS), *PUBLISHED_CUTS, *((m, r) for m, r, _ in PUBLISHED_OVERLAP)}:
        for n in MODEL_SIZES:
            setting.store.fact(f"model {machine} {ranks} {n}", lambda m=machine, r=ranks, n=n: model(setting.command, m, r, n))
    own = setting.with_name(OWN)
    words = ("--strides", ",".join(map(str, STRIDES)), *(("--quick",) if setting.is_quick else ()))
    found = [Row(cases([setting.launch_case((NUMBER, "strides", OWN), own, "strides", Job("", words, 2, min(2, setting.workers)), read_strides)]))]
    program = setting.programs.path("multigrid")
    if program is None:
        return found

    def multigrid(row: str, column: str, ranks: int, wire: Wire | None, *arguments: str):
        command = [setting.command, "run", "-n", str(ranks), "--workers", str(setting.workers), "--share", "fixed", *(wire.words() if wire else ()), program, *arguments]
        return setting.command_case((NUMBER, row, column), command, read_cycle)

    for n in _sizes(setting):
        for ranks in _ranks(setting):
            cuts = [multigrid(_row(ranks, n), name, ranks, None, "--n", str(n), "--grid", grid) for name, grid in _cuts(ranks, n, setting.is_quick).items()]
            found.append(Row(cuts, ROUNDS_OF_256 if n > 128 else 1000))
    n = _overlap_size(setting)
    for ranks in _ranks(setting):
        for wire in (None, WIRE):
            row = _overlap_row(ranks, n, wire.name if wire else "no wire")
            found.append(Row([multigrid(row, how, ranks, wire, "--n", str(n), "--grid", CUTS[ranks]["2-D xy"], "--exchange", how) for how in ("before", "graph")]))
    return [row for row in found if row.cases]


def _rate(store: Store, mode: str, size: int, stride: int) -> Estimate | None:
    return store.median((NUMBER, "strides", OWN), f"{mode} {size} {stride}")


def _rate_ratio(store: Store, first: tuple[str, int], second: tuple[str, int], size: int = LARGE) -> Estimate | None:
    """Ratio of the rates of two (mode, stride)."""
    key = (NUMBER, "strides", OWN)
    return store.ratio(key, key, f"{first[0]} {size} {first[1]}", f"{second[0]} {size} {second[1]}")


def _cycle(store: Store, ranks: int, n: int, cut: str) -> Estimate | None:
    return store.median((NUMBER, _row(ranks, n), cut), "cycle")


def _best(store: Store, ranks: int, n: int, names: tuple[str, ...]) -> str | None:
    found = [(value.median, name) for name in names if (value := _cycle(store, ranks, n, name))]
    return min(found)[1] if found else None


def _over(store: Store, ranks: int, n: int, first: str | None, second: str | None) -> Estimate | None:
    if first is None or second is None:
        return None
    return store.ratio((NUMBER, _row(ranks, n), first), (NUMBER, _row(ranks, n), second), "cycle")


def _largest(store: Store, ranks: int) -> int:
    """The largest cube that was measured often enough, or else the largest one."""
    found = [(value.low is not None, n) for n in MODEL_SIZES if (value := _cycle(store, ranks, n, "2-D xy"))]
    return max(found)[1] if found else MODEL_SIZES[0]


def _model(store: Store, machine: str, ranks: int, n: int = 256) -> dict[str, float]:
    """Predicted seconds of the steps without overlap, by grid."""
    plan = store.facts.get(f"model {machine} {ranks} {n}", {})
    return {grid: kinds["none"] for grid, kinds in plan.items() if "none" in kinds}


def _predicted_cycle(store: Store, ranks: int, n: int, cut: str) -> float | None:
    """Seconds of a V-cycle by the planner's model of this machine, without the levels that one rank solves."""
    grid = CUTS[ranks][cut]
    plans = store.facts.get(f"model {HERE}", {})
    steps = [plans.get(f"{ranks} {level}", {}).get(grid, {}).get("none") for level in levels(n, grid)]
    return None if any(step is None for step in steps) else STEPS_OF_LEVEL * sum(steps)


def _prediction_tables(store: Store, setting: Setting) -> list[Table]:
    body, choices = [], []
    for ranks in _ranks(setting):
        for n in _sizes(setting):
            timed = {cut: (value, predicted) for cut in _cuts(ranks, n, setting.is_quick)
                     if (value := _cycle(store, ranks, n, cut)) and (predicted := _predicted_cycle(store, ranks, n, cut))}  # fmt: skip
            body += [[f"{_row(ranks, n)}, {cut}", value, f"{1e3 * predicted:.1f}", value.scaled(1e-3 / predicted)] for cut, (value, predicted) in timed.items()]
            if len(timed) > 1:
                chosen, fastest = min(timed, key=lambda cut: timed[cut][1]), min(timed, key=lambda cut: timed[cut][0].median)
                choices.append([_row(ranks, n), chosen, fastest, _over(store, ranks, n, chosen, fastest)])
    note = f"Predicted: {STEPS_OF_LEVEL} steps of the planner's model on each level that is cut, for this machine, measured before the runs; without the levels that one rank solves."
    return [Table("multigrid_predicted", "Multigrid: a V-cycle, ms, and its prediction", ["", "here", "predicted", "here over predicted"], body, [note]),
            Table("multigrid_choice", "Multigrid: the cut that is predicted to be the fastest, among those timed",
                  ["", "predicted fastest", "fastest", "time of the first over the second"], choices)]  # fmt: skip


def _least_by_dimensions(step: dict[str, float], count: int) -> float | None:
    return min((s for grid, s in step.items() if sum(p != "1" for p in grid.split("x")) == count), default=None)


def _model_ratio(step: dict[str, float], count: int) -> str:
    least, two = _least_by_dimensions(step, count), _least_by_dimensions(step, 2)
    return f"{100 * (least / two - 1):+.1f} %" if least and two else "-"


def _per_cent(value: int | None) -> str:
    return "-" if value is None else f"{value:+d} %"


def _overlap_gain(store: Store, machine: str, ranks: int, n: int) -> str:
    """The model's best time with overlap against the best without."""
    plan = store.facts.get(f"model {machine} {ranks} {n}", {})
    plain = min((k["none"] for k in plan.values() if "none" in k), default=None)
    overlapped = min((s for k in plan.values() for how, s in k.items() if how != "none"), default=None)
    if not plain or not overlapped:
        return "-"
    return f"{plain / overlapped:.2f} times faster" if overlapped <= plain else f"{100 * (overlapped / plain - 1):.1f} % slower"


def tables(store: Store, setting: Setting) -> list[Table]:
    found = []
    published = {"buffered": {1: "160", 32: "1 / 5 of stride 1"}, "synchronous": {1: "300", 2: "72", 3: "122", 4: "71", 5: "122", 8: "68", 16: "68", 32: "68"}}
    for mode in MODES:
        body = [[f"{size} B", *(_rate(store, mode, size, stride) for stride in STRIDES)] for size in MESSAGES]
        body.append(["T3E, published", *(published[mode].get(stride, "-") for stride in STRIDES)])
        notes = ["The text says for which size only at stride 32 against 1 (256 KiB, buffered): approximately five times."]
        if mode == "buffered":
            notes.append("Origin2000, published: about 120 MB/s for contiguous 2 MB; 9.0 to 10.2 MB/s from stride 16 on.")
        found.append(Table(f"strides_{mode}", f"Ping-pong of strided doubles, {mode}, MB/s", ["bytes", *(f"stride {s}" for s in STRIDES)], body, notes))
    for ranks in _ranks(setting):
        body = [[f"{n}^3", *(_cycle(store, ranks, n, cut) for cut in CUTS[ranks]), _over(store, ranks, n, "z", "x")] for n in _sizes(setting)]
        found.append(Table(f"cuts_{ranks}", f"Figure 2, {ranks} ranks on this machine: a V-cycle of multigrid, complex cells, ms", ["cells", *CUTS[ranks], "z over x"], body,
                           ["A cut is left out if its blocks would be thinner than eight cells."]))
    found += _prediction_tables(store, setting)
    body = []
    for (machine, ranks), (z, three, one) in PUBLISHED_CUTS.items():
        step = _model(store, machine, ranks)
        n = _largest(store, ranks)
        ratio = f"{step[CUTS[ranks]['z']] / step[CUTS[ranks]['x']]:.2f}" if step else "-"
        body.append([f"{machine}, {ranks}", f"{z}", ratio, _over(store, ranks, n, "z", "x"), _per_cent(three), _model_ratio(step, 3),
                     _per_cent(one), _model_ratio(step, 1)])  # fmt: skip
    found.append(Table("published_cuts", "256^3 cells: cuts on the published machines (published, model), and this machine",
                       ["machine, ranks", "z over x, published", "model", "here", "3-D over 2-D, published", "model", "1-D over 2-D, published", "model"], body,
                       ["here: the largest cube with an interval, on as many ranks. The text gives z over x without a number of processors."]))  # fmt: skip
    body = [[f"{m}, {r} ranks, {n}^3", text, _overlap_gain(store, m, r, n)] for (m, r, n), text in PUBLISHED_OVERLAP.items()]
    found.append(Table("published_overlap", "Overlap of computation and communication: published and model", ["", "published", "model"], body,
                       ["The text gives no number of ranks for the SP2."]))  # fmt: skip
    n = _overlap_size(setting)
    body = [[_overlap_row(r, n, w), *(store.median((NUMBER, _overlap_row(r, n, w), how), "cycle") for how in ("before", "graph")),
             store.ratio((NUMBER, _overlap_row(r, n, w), "before"), (NUMBER, _overlap_row(r, n, w), "graph"), "cycle")]
            for r in _ranks(setting) for w in ("no wire", WIRE.name)]  # fmt: skip
    found.append(Table("overlap", "Overlap here, multigrid, 2-D cut, a V-cycle, ms", ["", "ghosts before sweeps", "overlapped", "gain, times"], body))
    return found


def figures(store: Store, setting: Setting) -> list[Figure]:
    charts: list[BarChart] = []
    for ranks in _ranks(setting):
        names = list(CUTS[ranks])
        bars = []
        for cut in names:
            values = []
            for n in _sizes(setting):
                value, cells = _cycle(store, ranks, n, cut), n**3
                values.append(point(0, value.scaled(1e6 / cells)) if value else None)
            bars.append(Bars(cut, values))
        charts.append(BarChart(f"This machine, {ranks} ranks on {setting.workers} CPUs: multigrid", "V-cycle, ns a cell", [f"{n}^3" for n in _sizes(setting)], bars))
    models = []
    for machine in MODELS:
        for ranks in RANKS:
            bars = []
            for cut, grid in CUTS[ranks].items():
                steps = [_model(store, machine, ranks, n).get(grid) for n in MODEL_SIZES]
                bars.append(Bars(cut, [Point(0, 1e9 * s / n**3) if s else None for s, n in zip(steps, MODEL_SIZES, strict=True)]))
            models.append(BarChart(f"Model of {machine}, {ranks} ranks (computed, not measured)", "step, ns a cell", [f"{n}^3" for n in MODEL_SIZES], bars))
    rates = [Line(f"{mode}, stride {stride}", points([(size, _rate(store, mode, size, stride)) for size in MESSAGES])) for mode in MODES for stride in (1, 3, 8, 32)]
    marks = [Mark("T3E published, buffered: 160 MB/s", MESSAGES[-1], 160), Mark("T3E published, synchronous: 300 MB/s", MESSAGES[-1], 300),
             Mark("Origin2000 published, 2 MB: 120 MB/s", MESSAGES[-1], 120)]  # fmt: skip
    measured = [line for line in rates if line.points]
    strides = [Chart("Strided doubles between two ranks", "bytes of a message", "MB/s", measured, marks, x_ticks=MESSAGES)] if measured else []
    return [Figure("003_fig_2", "Figure 2: decompositions, here", charts, 2), Figure("003_fig_2_model", "Figure 2: decompositions, model of the published machines", models, 2),
            Figure("003_strides", "Strided messages", strides)]  # fmt: skip


def claims(store: Store, setting: Setting) -> list[Claim]:
    pair = (("buffered", 1), ("buffered", 32))
    found = [
        Claim("With buffered sends, contiguous 256 KiB travel about five times as fast as stride 32 (within a factor of two)", AUTHORS, "5", "stride 1 over stride 32",
              _rate_ratio(store, *pair), least=2.5, most=10),
        Claim("From the stride of a cache line on, bandwidth stays almost constant (within 25 %)", AUTHORS, "almost constant", "stride 32 over stride 8",
              _rate_ratio(store, ("buffered", 32), ("buffered", 8)), least=0.8, most=1.25),
        Claim("Contiguous data travel faster with synchronous sends than with buffered ones", AUTHORS, "300 / 160 = 1.9", "synchronous over buffered",
              _rate_ratio(store, ("synchronous", 1), ("buffered", 1)), least=1.0),
        Claim("Odd strides travel faster than multiples of four", AUTHORS, "122 / 71 = 1.7", "stride 5 over stride 4",
              _rate_ratio(store, ("synchronous", 5), ("synchronous", 4)), least=1.0),
    ]  # fmt: skip
    for ranks in _ranks(setting):
        n = _largest(store, ranks)
        best_1, best_2 = _best(store, ranks, n, ("x", "y", "z")), _best(store, ranks, n, ("2-D xy", "2-D xz"))
        where = f"{AUTHORS}, figure 2"
        found.append(Claim(f"{n}^3 on {ranks}: cuts along x are faster than along z", AUTHORS, "2.0, 1.6 (T3E), 1.3 (Origin)", "z over x", _over(store, ranks, n, "z", "x"), least=1.0))
        found.append(Claim(f"{n}^3 on {ranks}: a 2-D cut is faster than the best 3-D cut", where, "7 % (T3E, 16), 5 % (T3E, 32), 8 % (Origin, 32)" , "3-D over 2-D",
                           _over(store, ranks, n, "3-D", best_2), least=1.0))  # fmt: skip
        if ranks == 32:
            found.append(Claim(f"{n}^3 on {ranks}: a 2-D cut is faster than the best 1-D cut", where, "15 % (T3E), 22 % (Origin)", "1-D over 2-D",
                               _over(store, ranks, n, best_1, best_2), least=1.0))  # fmt: skip
        m = _overlap_size(setting)
        fast, slow = _overlap_row(ranks, m, "no wire"), _overlap_row(ranks, m, WIRE.name)
        found.append(Claim(f"{m}^3 on {ranks}, no wire: overlapping does not pay where communication is fast", AUTHORS, "5 to 7.5 % slower", "overlapped over not",
                           store.ratio((NUMBER, fast, "graph"), (NUMBER, fast, "before"), "cycle"), least=1.0))  # fmt: skip
        found.append(Claim(f"{m}^3 on {ranks}, {WIRE.name}: overlapping pays on a slow network", AUTHORS, "1.3 to 2.5 times faster (SP2)", "not overlapped over overlapped",
                           store.ratio((NUMBER, slow, "before"), (NUMBER, slow, "graph"), "cycle"), least=1.0))  # fmt: skip
    return found


def missing(setting: Setting) -> list[str]:
    found = ["256^3 and 32 ranks: left out by --quick"] if setting.is_quick else []
    if setting.programs.path("multigrid") is None:
        found.append("The multigrid program could not be built")
    return [*found, "Contention over hops of a torus: one machine has none; the T3E's model includes it", "Figure 2: the published bars are a picture; the text has their ratios"]
