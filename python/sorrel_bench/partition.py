"""`sorrel bench partition`: what the planner predicts, beside what a step takes; and the published tables.

Every process grid of P ranks on a cube of N^3 cells, without and with overlap, is timed in turn by the program
libexec/sorrel/partition. Regret is how much longer the planner's choice took than the fastest of all.
"""

import argparse
import dataclasses
import json
import math
import pathlib
import re
import statistics
import subprocess
import tempfile

from . import machine, report
from .bars import Bar

RANKS = (2, 4, 8, 16, 32, 64)
SIZES = (64, 128, 256, 512)
QUICK_RANKS = (2, 8, 16)
QUICK_SIZES = (64, 128)
PARTS = ("seed", *(f"{n}" for n in SIZES))
REGRET_MEDIAN_MAX = 0.03
REGRET_WORST_MAX = 0.08
LOSS_TO_BALANCED_MAX = 0.02

RESULT_LINE = re.compile(r"^result (\S+) (\S+) predicted (\S+) measured (\S+)$", re.MULTILINE)
BALANCED_LINE = re.compile(r"^balanced (\S+)$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Cut:
    """One candidate, in the plan's order: the first is the choice."""

    grid: str
    overlap: str
    predicted: float
    measured: float


@dataclasses.dataclass(frozen=True)
class Case:
    """One number of ranks on one cube."""

    ranks: int
    n: int
    cuts: tuple[Cut, ...]
    balanced: str

    @property
    def regret(self) -> float:
        return self.cuts[0].measured / min(cut.measured for cut in self.cuts) - 1

    @property
    def gain_over_balanced(self) -> float:
        """How much longer the cut of MPI_Dims_create took, without overlap; below 0 where it was faster."""
        theirs = next(cut for cut in self.cuts if cut.grid == self.balanced and cut.overlap == "none")
        return theirs.measured / self.cuts[0].measured - 1


def read_case(ranks: int, n: int, output: str) -> Case:
    cuts = tuple(Cut(grid, how, float(p), float(m)) for grid, how, p, m in RESULT_LINE.findall(output))
    balanced = BALANCED_LINE.findall(output)
    if not cuts or not balanced:
        raise ValueError(f"no results of {ranks} ranks on {n}^3")
    return Case(ranks, n, cuts, balanced[0])


def judge(cases: list[Case]) -> list[Bar]:
    def bar(name: str, value: float | None, most: float, peer: str) -> Bar:
        return Bar(name, value, "%", peer, None, 100 * most, f"<= {100 * most:g} %")

    regrets = [100 * case.regret for case in cases]
    gains = [100 * case.gain_over_balanced for case in cases]
    return [
        bar("regret of the planner's choice, median", statistics.median(regrets) if regrets else None, REGRET_MEDIAN_MAX, "the fastest cut"),
        bar("regret of the planner's choice, worst", max(regrets, default=None), REGRET_WORST_MAX, "the fastest cut"),
        bar("slower than MPI_Dims_create's cut, worst", -min(gains) if gains else None, LOSS_TO_BALANCED_MAX, "MPI_Dims_create"),
    ]  # fmt: skip


def print_cases(cases: list[Case]) -> None:
    head = f"{'ranks':>6}{'cells':>8}  {'chosen':<14}{'overlap':<13}{'predicted':>10}{'measured':>10}  {'fastest':<14}{'overlap':<13}"
    print(f"\n{head}{'measured':>10} ms{'regret':>9}{'gain over Dims_create':>24}")
    for case in cases:
        first, best = case.cuts[0], min(case.cuts, key=lambda cut: cut.measured)
        print(
            f"{case.ranks:>6}{case.n:>6}^3  {first.grid:<14}{first.overlap:<13}{1e3 * first.predicted:>10.3f}"
            f"{1e3 * first.measured:>10.3f}  {best.grid:<14}{best.overlap:<13}{1e3 * best.measured:>10.3f}"
            f"{100 * case.regret:>10.1f} %{100 * case.gain_over_balanced:>14.1f} % ({case.balanced})"
        )


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


def measured_machine(command: str, folder: pathlib.Path, workers: int) -> pathlib.Path:
    """This machine as it is now, measured for this bench alone."""
    path = folder / "machine.json"
    program = pathlib.Path(command).parent / "../libexec/sorrel/measure"
    words = [command, "run", "-n", str(2 * workers), "--workers", str(workers), str(program), "here", str(workers), str(path)]
    subprocess.run(words, check=True)
    return path


def run_case(command: str, ranks: int, n: int, workers: int, machine_file: pathlib.Path, is_quick: bool) -> Case:
    program = pathlib.Path(command).parent / "../libexec/sorrel/partition"
    seconds, rounds = ("0.1", "2") if is_quick else ("0.5", "4")
    words = [command, "run", "-n", str(ranks), "--workers", str(min(workers, ranks)), str(program), str(machine_file), str(n), seconds, rounds]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(done.stderr.strip() or f"status {done.returncode}")
    return read_case(ranks, n, done.stdout)


def main(arguments: argparse.Namespace) -> int:
    facts = machine.describe()
    workers = len(machine.distinct_cores())
    wanted = set(arguments.only) or set(PARTS)
    sizes = [n for n in (QUICK_SIZES if arguments.quick else SIZES) if str(n) in wanted]
    ranks = QUICK_RANKS if arguments.quick else RANKS
    cases: list[Case] = []
    failed = False
    if sizes:
        with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as folder:
            progress = report.Progress(1 + len(sizes) * len(ranks), "partition")
            progress.step("measuring this machine")
            machine_file = measured_machine(arguments.command, pathlib.Path(folder), workers)
            for n in sizes:
                for p in ranks:
                    progress.step(f"{n}^3 cells on {p} ranks, {workers} workers")
                    try:
                        cases.append(run_case(arguments.command, p, n, workers, machine_file, arguments.quick))
                    except ValueError as error:
                        failed = True
                        print(f"Failed: {n}^3 on {p} ranks: {error}")
            progress.end()
        print_cases(cases)
    bars = judge(cases)
    if cases:
        report.print_bars(bars)
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
