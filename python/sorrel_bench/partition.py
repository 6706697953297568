"""`sorrel bench partition`: what the planner predicts, beside what a step takes; and the published tables.

Every process grid of P ranks on a cube of N^3 cells, without and with overlap, is timed by the program
libexec/sorrel/partition, without a wire and with one between two pretend nodes; the fastest, the choice and
MPI_Dims_create's cut take turns. Regret is how much longer the planner's choice took than the fastest of these.
Noise is by how much the same cut differs when it is timed twice. Part `halo` holds the dearest face of a cube,
exchanged by Sorrel's halo, against MPICH's vector datatype.
"""

import argparse
import dataclasses
import json
import math
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile

from . import machine, report
from .bars import Bar
from .runner import probe_source

RANKS = (2, 4, 8, 16, 32, 64)
SIZES = (64, 128, 256, 512)
QUICK_RANKS = (2, 8, 16)
QUICK_SIZES = (64, 128)
WIRES = {"no wire": None, "wire": "latency=50us,bandwidth=1GB/s,nodes=2"}
QUICK_WIRE_SIZES = (128,)
HALO_SIZE = 256
PARTS = ("seed", "halo", *(f"{n}" for n in SIZES))
REGRET_MEDIAN_MAX = 0.03
REGRET_WORST_MAX = 0.08
LOSS_TO_BALANCED_MAX = 0.02
HALO_SPEEDUP_MIN = 2

RESULT_LINE = re.compile(r"^result (\S+) (\S+) predicted (\S+) (measured|once) (\S+)$", re.MULTILINE)
BALANCED_LINE = re.compile(r"^balanced (\S+)$", re.MULTILINE)
AGAIN_LINE = re.compile(r"^again (\S+)$", re.MULTILINE)
HALO_LINE = re.compile(r"^zface (?:\S+ )?(\S+)$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Cut:
    """One candidate, in the plan's order: the first is the choice."""

    grid: str
    overlap: str
    predicted: float
    measured: float
    is_finalist: bool = True  # timed in turn with the fastest, not once


@dataclasses.dataclass(frozen=True)
class Case:
    """One number of ranks on one cube."""

    ranks: int
    n: int
    cuts: tuple[Cut, ...]
    balanced: str
    again: float  # the choice, timed twice
    wire: str = "no wire"

    @property
    def fastest(self) -> Cut:
        return min((cut for cut in self.cuts if cut.is_finalist), key=lambda cut: cut.measured)

    @property
    def regret(self) -> float:
        return self.cuts[0].measured / self.fastest.measured - 1

    @property
    def noise(self) -> float:
        return max(self.cuts[0].measured, self.again) / min(self.cuts[0].measured, self.again) - 1

    @property
    def gain_over_balanced(self) -> float:
        """How much longer the cut of MPI_Dims_create took, without overlap; below 0 where it was faster."""
        theirs = next(cut for cut in self.cuts if cut.grid == self.balanced and cut.overlap == "none")
        return theirs.measured / self.cuts[0].measured - 1


def read_case(ranks: int, n: int, output: str, wire: str = "no wire") -> Case:
    cuts = tuple(Cut(grid, how, float(p), float(m), kind == "measured") for grid, how, p, kind, m in RESULT_LINE.findall(output))
    balanced, again = BALANCED_LINE.findall(output), AGAIN_LINE.findall(output)
    if not cuts or not balanced or not again:
        raise ValueError(f"no results of {ranks} ranks on {n}^3")
    return Case(ranks, n, cuts, balanced[0], float(again[0]), wire)


def judge(cases: list[Case]) -> list[Bar]:
    def bar(name: str, value: float | None, most: float, peer: str) -> Bar:
        return Bar(name, value, "%", peer, None, 100 * most, f"<= {100 * most:g} %")

    bars = []
    for wire in WIRES:
        some = [case for case in cases if case.wire == wire]
        regrets = [100 * case.regret for case in some]
        gains = [100 * case.gain_over_balanced for case in some]
        bars += [
            bar(f"{wire}: regret of the planner's choice, median", statistics.median(regrets) if regrets else None, REGRET_MEDIAN_MAX, "the fastest cut"),
            bar(f"{wire}: regret of the planner's choice, worst", max(regrets, default=None), REGRET_WORST_MAX, "the fastest cut"),
            bar(f"{wire}: slower than MPI_Dims_create's cut, worst", -min(gains) if gains else None, LOSS_TO_BALANCED_MAX, "MPI_Dims_create"),
        ]  # fmt: skip
    return bars


def print_cases(cases: list[Case]) -> None:
    head = f"{'ranks':>6}{'cells':>8}  {'':<8}{'chosen':<10}{'overlap':<13}{'predicted':>10}{'measured':>10}  {'fastest':<10}{'overlap':<13}"
    print(f"\n{head}{'measured':>10} ms{'regret':>9}{'noise':>8}{'gain over Dims_create':>24}")
    for case in cases:
        first, best = case.cuts[0], case.fastest
        print(
            f"{case.ranks:>6}{case.n:>6}^3  {case.wire:<8}{first.grid:<10}{first.overlap:<13}{1e3 * first.predicted:>10.3f}"
            f"{1e3 * first.measured:>10.3f}  {best.grid:<10}{best.overlap:<13}{1e3 * best.measured:>10.3f}"
            f"{100 * case.regret:>10.1f} %{100 * case.noise:>6.1f} %{100 * case.gain_over_balanced:>14.1f} % ({case.balanced})"
        )
    print("\nFastest of each kind of overlap over the fastest without, %:")
    for case in cases:
        plain = min(cut.measured for cut in case.cuts if cut.overlap == "none")
        kinds = {cut.overlap.split("_")[0] for cut in case.cuts} - {"none"}
        over = {kind: min(cut.measured for cut in case.cuts if cut.overlap.startswith(kind)) / plain - 1 for kind in sorted(kinds)}
        words = ", ".join(f"{'faces first' if kind == 'faces' else kind} {100 * value:+.1f}" for kind, value in over.items())
        print(f"{case.ranks:>6}{case.n:>6}^3  {case.wire:<8}{words}")


def picture(cases: list[Case]) -> str:
    """Measured over predicted time, a dot for each cut; the choices are filled."""
    points = [(cut.predicted, cut.measured, i == 0) for case in cases for i, cut in enumerate(case.cuts)]
    largest = max(max(p, m) for p, m, _ in points)
    smallest = min(min(p, m) for p, m, _ in points)
    size, edge = 560, 50

    def place(value: float) -> float:
        span = math.log(largest / smallest) or 1
        return size * math.log(value / smallest) / span

    dots = [
        f"<circle cx='{edge + place(p):.1f}' cy='{edge + size - place(m):.1f}' r='{4 if chosen else 2.5}' "
        f"fill='{'#4477aa' if chosen else 'none'}' stroke='#4477aa'/>"
        for p, m, chosen in points
    ]
    return "\n".join([
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{size + 2 * edge}' height='{size + 2 * edge}' font-family='sans-serif' font-size='13'>",
        "<rect width='100%' height='100%' fill='white'/>",
        f"<path d='M{edge} {edge + size} L{edge + size} {edge}' stroke='#bbbbbb'/>",
        f"<rect x='{edge}' y='{edge}' width='{size}' height='{size}' fill='none' stroke='black'/>",
        f"<text x='{edge}' y='30'>Time of a step, measured (up) over predicted (right), logarithmic, "
        f"{1e3 * smallest:.3g} to {1e3 * largest:.3g} ms; filled: the planner's choice</text>",
        *dots, "</svg>\n",
    ])  # fmt: skip


# ---- the published tables --------------------------------------------------------------------------

SEED_ROWS = (
    # machine, ranks, published: best 3-D cut and best 1-D cut over the best 2-D cut, in %
    ("t3e-900-buffered", 16, 7, 0),
    ("t3e-900-buffered", 32, 5, 15),
    ("t3e-900-synchronous", 16, None, None),
    ("origin2000", 32, 8, 22),
    ("sp2", 16, None, None),
)


def print_seed_tables(command: str) -> None:
    print("\nA cube of 256^3 complex cells on the machines of 'A Review of Regular Domain Partitioning', model (published):\n")
    print(f"{'machine':<22}{'ranks':>6}  {'choice':<12}{'overlap':<13}{'z over x':>9}{'3-D over 2-D':>18}{'1-D over 2-D':>18}")
    for name, ranks, published_3d, published_1d in SEED_ROWS:
        words = [command, "plan", "256", "256", "256", "-n", str(ranks), "--machine", name, "--json"]
        words += ["--element", "16", "--flops", "14", "--bytes", "48"]
        plan = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
        plain = [(c["grid"], c["seconds"]["step"]) for c in plan["candidates"] if c["overlap"] == "none"]
        best = {cuts: min(s for grid, s in plain if sum(p > 1 for p in grid) == cuts) for cuts in (1, 2, 3)}
        step = {tuple(grid): s for grid, s in plain}

        def over(cuts: int, published: int | None, best: dict[int, float] = best) -> str:
            known = "" if published is None else f" ({published:+d} %)"
            return f"{100 * (best[cuts] / best[2] - 1):+.1f} %{known}"

        choice = "x".join(str(parts) for parts in plan["best"]["grid"])
        ratio = step[(1, 1, ranks)] / step[(ranks, 1, 1)]
        print(f"{name:<22}{ranks:>6}  {choice:<12}{plan['best']['overlap']:<13}{ratio:>9.2f}{over(3, published_3d):>18}{over(1, published_1d):>18}")


# ---- measuring -------------------------------------------------------------------------------------


def run_words(command: str, ranks: int, workers: int, wire: str) -> list[str]:
    """All workers, whoever else is there: half a machine would be another one than was measured."""
    words = [command, "run", "--share", "fixed", "-n", str(ranks), "--workers", str(workers)]
    return [*words, "--wire", WIRES[wire]] if WIRES[wire] else words


def program(command: str, name: str) -> str:
    return str(pathlib.Path(command).parent / "../libexec/sorrel" / name)


def measured_machine(command: str, folder: pathlib.Path, workers: int, wire: str) -> pathlib.Path:
    """This machine as it is now, measured for this bench alone."""
    path = folder / f"machine-{wire.replace(' ', '-')}.json"
    words = [*run_words(command, 2 * workers, workers, wire), program(command, "measure"), "here", str(workers), str(path)]
    subprocess.run(words, check=True)
    return path


def run_case(command: str, ranks: int, n: int, workers: int, wire: str, machine_file: pathlib.Path, is_quick: bool) -> Case:
    seconds, rounds = ("0.8", "3") if is_quick else ("2", "4")
    words = [*run_words(command, ranks, min(workers, ranks), wire), program(command, "partition"), str(machine_file), str(n), seconds, rounds]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(done.stderr.strip() or f"status {done.returncode}")
    return read_case(ranks, n, done.stdout, wire)


def run_halo(command: str, folder: pathlib.Path, is_quick: bool) -> list[Bar]:
    """Both in turn, the least of all rounds."""
    name = f"halo of {HALO_SIZE}^3 cut across the rows"
    compiler, launcher = shutil.which("mpicc.mpich"), shutil.which("mpiexec.mpich")
    if compiler is None or launcher is None:
        print(f"Left out: {name}, beside MPICH's vector datatype: no MPICH is installed (`sorrel bench partition --peers` does it).")
        return []
    theirs = folder / "zface"
    subprocess.run([compiler, "-O3", str(probe_source("zface")), "-o", str(theirs)], check=True)
    arguments = [str(HALO_SIZE), "10" if is_quick else "30"]
    least = {"ours": math.inf, "theirs": math.inf}
    for _ in range(2 if is_quick else 4):
        for who, words in (
            ("ours", [*run_words(command, 2, 2, "no wire"), program(command, "zface"), *arguments]),
            ("theirs", [launcher, "-bind-to", "core", "-n", "2", str(theirs), *arguments]),
        ):
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            least[who] = min(least[who], *(1e6 * float(seconds) for seconds in HALO_LINE.findall(done.stdout)))
    return [Bar(name, least["ours"], "us", "MPICH vector", least["theirs"], least["theirs"] / HALO_SPEEDUP_MIN, "<= MPICH / 2")]


def run_cases(arguments: argparse.Namespace, folder: pathlib.Path, workers: int, sizes: list[int]) -> tuple[list[Case], bool]:
    """And whether one has failed."""
    ranks = QUICK_RANKS if arguments.quick else RANKS
    wired = [n for n in sizes if not arguments.quick or n in QUICK_WIRE_SIZES]
    to_do = [("no wire", n) for n in sizes] + [("wire", n) for n in wired]
    progress = report.Progress(len(WIRES) + len(to_do) * len(ranks), "partition")
    machine_files: dict[str, pathlib.Path] = {}
    cases: list[Case] = []
    failed = False
    for wire, n in to_do:
        if wire not in machine_files:
            progress.step(f"measuring this machine, {wire}")
            machine_files[wire] = measured_machine(arguments.command, folder, workers, wire)
        for p in ranks:
            progress.step(f"{n}^3 cells on {p} ranks, {workers} workers, {wire}")
            try:
                cases.append(run_case(arguments.command, p, n, workers, wire, machine_files[wire], arguments.quick))
            except ValueError as error:
                failed = True
                print(f"Failed: {n}^3 on {p} ranks, {wire}: {error}")
    progress.end()
    return cases, failed


def main(arguments: argparse.Namespace) -> int:
    facts = machine.describe()
    workers = len(machine.distinct_cores())
    wanted = set(arguments.only) or set(PARTS)
    sizes = [n for n in (QUICK_SIZES if arguments.quick and not arguments.only else SIZES) if str(n) in wanted]
    cases: list[Case] = []
    bars: list[Bar] = []
    failed = False
    with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as folder:
        if sizes:
            cases, failed = run_cases(arguments, pathlib.Path(folder), workers, sizes)
            print_cases(cases)
            bars += judge(cases)
        if "halo" in wanted:
            bars += run_halo(arguments.command, pathlib.Path(folder), arguments.quick)
    if bars:
        report.print_bars(bars)
    if cases:
        print(f"Same cut timed twice: median {100 * statistics.median(case.noise for case in cases):.1f} % apart.")
        print(f"Best gain over MPI_Dims_create's cut: {100 * max(case.gain_over_balanced for case in cases):.1f} %")
    if "seed" in wanted:
        print_seed_tables(arguments.command)
    facts["load_after"] = machine.load()
    if arguments.json is not None:
        result = {"benchmark": "partition", "machine": facts, "cases": [dataclasses.asdict(case) for case in cases], "bars": [bar.as_json() for bar in bars]}
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        if cases:
            arguments.json.with_suffix(".svg").write_text(picture(cases), encoding="utf-8")
    return 1 if failed else 0
