"""What a study gives: tables, figures and claims; and their text for the terminal."""

import dataclasses
from collections.abc import Sequence

from ..pictures import BarChart, Chart, Point
from ..report import number
from .estimates import CONFIDENCE, Claim, Estimate

Cell = str | Estimate | None
FLAG = " (!)"
FLAG_TEXT = "(!): below the physical bound, so the value or the bound is wrong: speeds of the machine change between runs."
INTERVAL_TEXT = f"[a, b]: bootstrap interval of the median, {100 * CONFIDENCE:.0f} %; without it there were too few rounds."


@dataclasses.dataclass(frozen=True)
class Table:
    name: str  # of its JSON
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]  # the first cell is the row's name
    notes: Sequence[str] = ()

    @property
    def is_empty(self) -> bool:
        return all(cell in (None, "-") for row in self.rows for cell in row[1:])


@dataclasses.dataclass(frozen=True)
class Figure:
    name: str  # of its files
    title: str
    charts: Sequence[Chart | BarChart]
    columns: int = 1


@dataclasses.dataclass(frozen=True)
class Result:
    number: str
    title: str
    source: str
    tables: Sequence[Table]
    figures: Sequence[Figure]
    claims: Sequence[Claim]
    missing: Sequence[str]  # what of the study has no figures here, and why
    processors: str = ""  # here and in the study


def processors_text(cpus: Sequence[int], published: int | None) -> str:
    """What the runs of a study had; each of `cpus` belongs to a core of its own."""
    cores = f"{len(cpus)} core{'s' if len(cpus) != 1 else ''}"
    text = f"Runs had CPUs {', '.join(map(str, cpus))}: {cores}, no two CPUs of one core."
    if published is None:
        return text
    if len(cpus) == published:
        return f"{text} The study used as many."
    return f"{text} The study used {published}: what needs more cores than there are takes turns on them, and says little about real ones."


def shown(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    interval = "" if cell.low is None else f" [{number(cell.low)}, {number(cell.high)}]"
    return f"{number(cell.median)}{interval}{FLAG if cell.is_below_bound else ''}"


def cell_as_json(cell: Cell) -> object:
    return cell.as_json() if isinstance(cell, Estimate) else cell


def table_as_json(table: Table) -> dict:
    rows = [[cell_as_json(cell) for cell in row] for row in table.rows]
    return {"name": table.name, "title": table.title, "head": list(table.head), "rows": rows, "notes": list(table.notes)}


def result_as_json(result: Result) -> dict:
    return {
        "study": result.number, "title": result.title, "source": result.source, "tables": [table_as_json(t) for t in result.tables],
        "figures": [f.name for f in result.figures], "claims": [c.as_json() for c in result.claims], "missing": list(result.missing),
        "processors": result.processors,
    }  # fmt: skip


def point(x: float, value: Estimate | None) -> Point | None:
    return None if value is None else Point(x, value.median, value.low, value.high)


def points(pairs: Sequence[tuple[float, Estimate | None]]) -> list[Point]:
    return [p for x, value in pairs if (p := point(x, value))]


def print_table(table: Table) -> None:
    texts = [list(table.head), *([shown(cell) for cell in row] for row in table.rows)]
    widths = [max(len(row[i]) for row in texts if i < len(row)) for i in range(len(table.head))]
    print(f"\n{table.title}\n")
    for row in texts:
        cells = [f"{text:<{width}}" if i == 0 else f"{text:>{width}}" for i, (text, width) in enumerate(zip(row, widths, strict=False))]
        print("  ".join(cells).rstrip())
    for note in table.notes:
        print(note)
    if any(isinstance(cell, Estimate) and cell.is_below_bound for row in table.rows for cell in row):
        print(FLAG_TEXT)


def print_result(result: Result) -> None:
    print(f"\n==== {result.number}: {result.title}\n     {result.source}\n     {result.processors}")
    for table in result.tables:
        if not table.is_empty:
            print_table(table)
    print("\nClaims of the study:")
    for claim in result.claims:
        verdict, reason = claim.verdict
        print(f"  {verdict}: {claim.text} ({claim.source})\n    because: {reason}")
    for text in result.missing:
        print(f"Missing: {text}")
