"""The finite elements of `sorrel bench virtual`: apps/fem with 1 to 64 chunks a worker, and with a zone that moves."""

import dataclasses
import pathlib
import shutil
import subprocess
from collections.abc import Sequence

from .bars import OWN, Bar
from .pictures import Chart, Line, Point
from .report import number
from .virtual_cg import shown
from .virtual_runs import ROOT, Build, Case, Results, cxx_of, read_csv, table
from .virtual_setting import SOURCES, Setting, balanced, on, own_columns, worker_counts

PART, ZONE, EVEN = "fem", "zone", "even"
CHUNKS = (1, 2, 4, 8, 16, 32, 64)
QUICK_CHUNKS = (1, 16)
BEST_OF_STUDY = 16
ORDERS = ("near", "file")
# 300 000 tetrahedra where there is no gmsh; 24 000 with --quick.
BOX, QUICK_BOX = ("--cells", "100x25x20", "--size", "0.4x0.1x0.08"), ("--cells", "40x10x10")
ZONE_ROW, EVEN_ROW = "moving zone", "no zone"
CHUNKS_A_WORKER = 16
LEAST_GAIN, MOST_OF_OFF, MOST_OF_PERFECT, MOST_OF_AMPI, MOST_OF_EVEN = 1.10, 0.75, 1.08, 0.8, 1.01


def make_mesh(folder: pathlib.Path) -> pathlib.Path | None:
    """The plate of apps/fem, if gmsh is installed."""
    geometry, mesh = ROOT / "apps/fem/plate.geo", folder / "plate.msh"
    if shutil.which("gmsh") is None or not geometry.is_file():
        return None
    words = ["gmsh", "-3", "-format", "msh41", "-bin", str(geometry), "-o", str(mesh)]
    done = subprocess.run(words, capture_output=True, check=False, timeout=600)
    return mesh if done.returncode == 0 and mesh.is_file() else None


def builds(setting: Setting) -> list[Build]:
    sources = tuple(sorted((ROOT / "apps/fem").glob("*.cpp")))
    setting.has_metis = pathlib.Path("/usr/include/metis.h").is_file()
    metis = ("-DFEM_HAS_METIS",) if setting.has_metis else ()
    libraries = ("-lmetis", "-lm") if setting.has_metis else ("-lm",)
    found = []
    for i in setting.implementations:
        moves = ("-include", str(SOURCES / "ampi_moves.h")) if i.name == "AMPI" else ()
        found.append(Build(f"fem {i.name}", PART, cxx_of(i), sources, ("-std=c++20", *metis, *moves), libraries))
    return found


def mesh_words(setting: Setting) -> tuple[str, ...]:
    if setting.is_quick:
        return QUICK_BOX
    return ("--mesh", str(setting.mesh)) if setting.mesh else BOX


def orders(setting: Setting, workers: int = 1) -> Sequence[str]:
    """The nodes of a box are in order in any case. What caches gain is seen on one worker."""
    return ORDERS if setting.mesh and not setting.is_quick and workers == 1 else ORDERS[:1]


def chunks_of(setting: Setting) -> Sequence[int]:
    return QUICK_CHUNKS if setting.is_quick else CHUNKS


def row(chunks: int, workers: int, order: str) -> str:
    return f"{chunks} a worker, {on(workers)}, {order}"


def _job(setting: Setting, implementation, arguments: tuple[str, ...], ranks: int, workers: int) -> tuple:
    return (f"fem {implementation.name.split()[0] if implementation.has_light_ranks else implementation.name}",
            (*mesh_words(setting), "--csv", *arguments), ranks, workers)  # fmt: skip


def _shared(setting: Setting, found: list[Case]) -> list[Case]:
    """Sorrel's ranks share METIS, which rank 0 alone calls."""
    if not setting.has_metis:
        return found
    return [
        dataclasses.replace(c, command=(*c.command[:2], "--shared", "libmetis.so.5", *c.command[2:]))
        if c.command[:1] == (setting.command,)
        else c
        for c in found
    ]


def cases(setting: Setting) -> list[Case]:
    found = []
    for chunks in chunks_of(setting):
        for workers in worker_counts(setting):
            for order in orders(setting, workers):
                for implementation in setting.implementations:
                    if not implementation.has_light_ranks and (chunks > 1 or workers < setting.workers):
                        continue
                    steps = "10" if setting.is_quick else "60"
                    job = _job(setting, implementation, ("--steps", steps, "--order", order), chunks * workers, workers)
                    found += setting.case(PART, row(chunks, workers, order), implementation, job, read=read_csv, is_slow=True)
    return _shared(setting, found)


def zone_cases(setting: Setting, part: str) -> list[Case]:
    """The moving zone, or no zone, with every balancer. A job has 16 chunks a worker; processes are as many as cores."""
    steps = 40 if setting.is_quick else 400 if part == ZONE else 200
    zone = ("--zone", "0.2", "--zone-period", str(steps)) if part == ZONE else ()
    arguments = ("--steps", str(steps), "--energy-every", "10", *zone)
    found = []
    for implementation in balanced(setting):
        chunks = CHUNKS_A_WORKER if implementation.has_light_ranks else 1
        job = _job(setting, implementation, arguments, chunks * setting.workers, setting.workers)
        found += setting.case(part, ZONE_ROW if part == ZONE else EVEN_ROW, implementation, job, read=read_csv, is_slow=True)
    return _shared(setting, found)


# ---- figures

SECONDS = "seconds_per_step"


def least(results: Results, key_of, names: Sequence[str]) -> tuple[float, str] | None:
    found = [(floor, name) for name in names if (floor := results.floor(key_of(name), SECONDS))]
    return min(found, default=None)


def perfect_seconds(results: Results, workers: int) -> float | None:
    """The work of all ranks, shared equally by the workers: the least that any Sorrel run measured."""
    found = [
        work * CHUNKS_A_WORKER for column in own_columns(results.columns(ZONE))
        if (work := results.floor((ZONE, ZONE_ROW, column), "work_mean"))
    ]  # fmt: skip
    return min(found, default=None) if workers else None


def bars(results: Results, setting: Setting) -> list[Bar]:
    found = []
    order = orders(setting)[-1]
    keys = {c: (PART, row(c, 1, order), OWN) for c in chunks_of(setting)}
    ratios = {c: r for c in keys if c > 1 and (r := results.ratio(keys[c], keys[1], SECONDS))}
    best = min(ratios, key=ratios.__getitem__, default=None)
    found.append(Bar(f"fem, 1 worker, {order} order: best chunks over 1", ratios.get(best), "x 1 chunk", "", None,
                     1 / LEAST_GAIN, f">= 1.1 x faster ({best} chunks)"))  # fmt: skip
    found.append(Bar(f"fem, 1 worker, {order} order: {BEST_OF_STUDY} chunks over 1", ratios.get(BEST_OF_STUDY), "x 1 chunk", "",
                     None, 1.0, "not slower"))  # fmt: skip
    return found + zone_bars(results, setting)


def zone_bars(results: Results, setting: Setting) -> list[Bar]:
    def key_of(column: str, part: str = ZONE) -> tuple[str, str, str]:
        return (part, ZONE_ROW if part == ZONE else EVEN_ROW, column)

    columns = results.columns(ZONE)
    own = least(results, key_of, [c for c in own_columns(columns) if not c.endswith(" off")])
    ampi = least(results, key_of, [c for c in columns if c.startswith("AMPI")])
    if own is None:
        return []
    value, best_name = own
    over_off = results.ratio(key_of(best_name), key_of(f"{OWN} off"), SECONDS)
    perfect = perfect_seconds(results, setting.workers)
    peer = (ampi[1], results.ratio(key_of(best_name), key_of(ampi[1]), SECONDS)) if ampi else ("AMPI", None)
    even = [(ratio, c) for c in own_columns(results.columns(EVEN))
            if not c.endswith(" off") and (ratio := results.ratio(key_of(c, EVEN), key_of(f"{OWN} off", EVEN), SECONDS))]  # fmt: skip
    worst, worst_name = max(even, default=(None, "balancing"))
    return [
        Bar("fem, moving zone: best balancing over off", over_off, "x off", "", None, MOST_OF_OFF, f">= 25 % less ({best_name})"),
        Bar("fem, moving zone: best balancing over perfect", value / perfect if perfect else None, "x", "", None, MOST_OF_PERFECT,
            f"<= 1.08 x perfect ({best_name})"),
        Bar("fem, moving zone: best balancing over AMPI's", peer[1], "x", "", None, MOST_OF_AMPI, f"<= 0.8 x {peer[0]}"),
        Bar("fem, no zone: balancing over off", worst, "x off", "", None, MOST_OF_EVEN, f"<= 1.01 x off ({worst_name})"),
    ]  # fmt: skip


# ---- output


def print_tables(results: Results, setting: Setting) -> None:
    if columns := results.columns(PART):
        rows = {}
        for workers in worker_counts(setting):
            for order in orders(setting, workers):
                for chunks in chunks_of(setting):
                    name = row(chunks, workers, order)
                    cells = [number(1e3 * v) if (v := f((PART, name, c), SECONDS)) else "-" for c in columns for f in (results.floor, results.median)]
                    ratio = results.ratio((PART, name, OWN), (PART, row(1, workers, order), OWN), SECONDS)
                    rows[name] = [*cells, number(ratio)]
        head = [word for column in columns for word in (column, "median")]
        mesh = "334 604 elements of gmsh" if setting.mesh and not setting.is_quick else "a box"
        table(f"fem, {mesh}: a step, ms, least and median of the runs; Sorrel over 1 chunk a worker", [*head, "/1 chunk"], rows)
    for part, name in ((ZONE, ZONE_ROW), (EVEN, EVEN_ROW)):
        if columns := results.columns(part):
            perfect = perfect_seconds(results, setting.workers) if part == ZONE else None
            rows = {}
            for column in columns:
                key = (part, name, column)
                floor, off = results.floor(key, SECONDS), results.ratio(key, (part, name, f"{OWN} off"), SECONDS)
                rows[column] = [number(floor and 1e3 * floor), number(1e3 * (results.median(key, SECONDS) or 0)), number(off),
                                number(floor / perfect if floor and perfect else None)]  # fmt: skip
            if perfect:
                rows["perfect balance"] = [number(1e3 * perfect), "-", "-", number(1.0)]
            table(f"fem, {name}, {CHUNKS_A_WORKER} chunks a worker, {on(setting.workers)}: a step, ms",
                  ["least", "median", "/off", "/perfect"], rows)  # fmt: skip


def charts(results: Results, setting: Setting) -> list[Chart]:
    lines = []
    for workers in worker_counts(setting):
        for order in orders(setting, workers):
            for column in results.columns(PART):
                points = []
                for chunks in chunks_of(setting):
                    key = (PART, row(chunks, workers, order), column)
                    if spread := results.spread(key, SECONDS):
                        points.append(Point(chunks, 1e3 * results.median(key, SECONDS), 1e3 * spread[0], 1e3 * spread[1]))
                lines.append(Line(f"{column}, {on(workers)}, {order} order", points))
    return [
        Chart("Finite elements: time of a step over chunks", "chunks a worker", "time of a step, median [ms]", shown(lines),
              x_ticks=chunks_of(setting), is_log_y=False,
              note=f"Published study: 300 000 elements on 8 processors were fastest with {BEST_OF_STUDY} chunks a processor. "
              "Bars: quartiles.")
    ]  # fmt: skip
