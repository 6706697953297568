"""All pictures of `sorrel bench`: charts of lines, dots and bars, drawn by matplotlib as SVG and PNG.

A module describes its charts; draw() is the only function that knows matplotlib. Without matplotlib there is no picture, and
the caller prints MISSING.
"""

import dataclasses
import importlib.util
import pathlib
import textwrap
from collections.abc import Sequence

MISSING = "No picture: this Python has no matplotlib (python3 -m pip install matplotlib; PYTHON=... selects the interpreter)."
COLOURS = ("#1b6ca8", "#d95f02", "#1b9e77", "#7b5ea7", "#c2a000", "#c03a6b", "#666666", "#4aa3c7", "#8c564b")
MARKS = ("x", "s", "^", "d")
WIDTH, HEIGHT, DPI = 7.2, 4.4, 110  # inches of a chart with its legend
LETTERS = 92  # of a note's line below a chart
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "sorrel", "font.size": 9, "axes.titlesize": 10, "legend.fontsize": 8}


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    y: float
    low: float | None = None  # the ends of the spread, if it is drawn
    high: float | None = None


@dataclasses.dataclass(frozen=True)
class Line:
    name: str
    points: Sequence[Point]
    is_dashed: bool = False
    has_path: bool = True  # False: dots only


@dataclasses.dataclass(frozen=True)
class Mark:
    """A single point of another source, named in the legend."""

    name: str
    x: float
    y: float


@dataclasses.dataclass(frozen=True)
class Chart:
    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    marks: Sequence[Mark] = ()
    is_log_x: bool = True
    is_log_y: bool = True
    x_ticks: Sequence[float] = ()  # none: matplotlib's
    note: str = ""

    @property
    def is_empty(self) -> bool:
        return not any(line.points for line in self.lines) and not self.marks


@dataclasses.dataclass(frozen=True)
class Bars:
    """One bar in each group; None where there is no value."""

    name: str
    points: Sequence[Point | None]  # x is not used
    is_published: bool = False


@dataclasses.dataclass(frozen=True)
class BarChart:
    title: str
    y_label: str
    groups: Sequence[str]
    bars: Sequence[Bars]
    line: float | None = None  # a horizontal line, at a bound
    note: str = ""

    @property
    def is_empty(self) -> bool:
        return all(point is None for bars in self.bars for point in bars.points)


def can_draw() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def _error_bars(points: Sequence[Point]) -> list[list[float]] | None:
    """The distances to both ends, as matplotlib needs them; None if no point has a spread."""
    if not any(p.low is not None and p.high is not None for p in points):
        return None
    return [[max(p.y - p.low, 0) if p.low is not None else 0 for p in points],
            [max(p.high - p.y, 0) if p.high is not None else 0 for p in points]]  # fmt: skip


def size_text(byte_count: float) -> str:
    """A number of bytes in binary units where it is a multiple of one: 32 Ki."""
    for unit, shift in (("Mi", 20), ("Ki", 10)):
        if byte_count >= 1 << shift and byte_count % (1 << shift) == 0:
            return f"{byte_count / (1 << shift):g} {unit}"
    return f"{byte_count:g}"


def _draw_lines(axes, chart: Chart) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator  # noqa: PLC0415 - optional

    for index, line in enumerate(chart.lines):
        if not line.points:
            continue
        path = ("--" if line.is_dashed else "-") if line.has_path else ""
        marker = "" if line.is_dashed else "o"
        axes.errorbar([p.x for p in line.points], [p.y for p in line.points], _error_bars(line.points), linestyle=path, marker=marker,
                      markersize=4, capsize=2, color=COLOURS[index % len(COLOURS)], label=line.name)  # fmt: skip
    for index, mark in enumerate(chart.marks):
        axes.plot([mark.x], [mark.y], MARKS[index % len(MARKS)], color="black", markersize=8, markeredgewidth=2, fillstyle="none", label=mark.name)
    if chart.is_log_x:
        axes.set_xscale("log")
    if chart.is_log_y:
        axes.set_yscale("log")
    plain = FuncFormatter(lambda value, _: f"{value:,.10g}".replace(",", " "))
    if chart.x_ticks:
        axes.set_xticks(chart.x_ticks)
        axes.xaxis.set_minor_locator(NullLocator())
    has_sizes = chart.is_log_x and "byte" in chart.x_label
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: size_text(value)) if has_sizes else plain)
    axes.yaxis.set_major_formatter(plain)
    if chart.is_log_y:
        low, high = axes.get_ylim()
        axes.yaxis.set_minor_formatter(plain if high / low < 20 else NullFormatter())
    else:
        least = min([p.y for line in chart.lines for p in line.points] + [m.y for m in chart.marks])
        if least >= 0:
            axes.set_ylim(bottom=0)
    axes.set_xlabel(chart.x_label)


def _draw_bars(axes, chart: BarChart) -> None:
    width = 0.8 / max(len(chart.bars), 1)
    for index, bars in enumerate(chart.bars):
        places = [(group, p) for group, p in enumerate(bars.points) if p is not None]
        if not places:
            continue
        points = [p for _, p in places]
        axes.bar([group - 0.4 + (index + 0.5) * width for group, _ in places], [p.y for p in points], width * 0.94, yerr=_error_bars(points),
                 color="white" if bars.is_published else COLOURS[index % len(COLOURS)], edgecolor="black" if bars.is_published else None,
                 hatch="///" if bars.is_published else None, capsize=2, label=bars.name)  # fmt: skip
    if chart.line is not None:
        axes.axhline(chart.line, color="black", linestyle="--", linewidth=1)
    axes.set_xticks(range(len(chart.groups)), chart.groups, fontsize=8)
    axes.set_xlim(-0.6, len(chart.groups) - 0.4)


def draw(charts: Sequence[Chart | BarChart], path: pathlib.Path, columns: int = 1) -> list[pathlib.Path]:
    """Writes path.svg and path.png with the charts that have values, in rows of `columns`; returns the files. None are written if no
    chart has values or matplotlib is not installed."""
    shown = [chart for chart in charts if not chart.is_empty]
    if not shown or not can_draw():
        return []
    from matplotlib import rc_context  # noqa: PLC0415 - optional
    from matplotlib.figure import Figure  # noqa: PLC0415

    row_count = -(-len(shown) // columns)
    with rc_context(SETTINGS):
        figure = Figure(figsize=(WIDTH * columns, HEIGHT * row_count), layout="constrained")
        grid = figure.subplots(row_count, columns, squeeze=False).flatten()
        for axes, chart in zip(grid, shown, strict=False):
            (_draw_lines if isinstance(chart, Chart) else _draw_bars)(axes, chart)
            axes.set_title(textwrap.fill(chart.title, 80), loc="left", fontweight="bold")
            axes.set_ylabel(chart.y_label)
            axes.grid(visible=True, axis="both" if isinstance(chart, Chart) else "y", color="#e4e4e4")
            axes.set_axisbelow(True)
            axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
            if chart.note:
                axes.annotate(textwrap.fill(chart.note, LETTERS), (0, 0), (0, -42), xycoords="axes fraction", textcoords="offset points",
                              va="top", fontsize=8, color="#555555")  # fmt: skip
        for axes in grid[len(shown):]:
            axes.set_axis_off()
        files = [path.with_name(path.name + ending) for ending in (".svg", ".png")]
        for file in files:
            # Equal data give equal files: no date.
            figure.savefig(file, dpi=DPI, metadata={"Date": None} if file.suffix == ".svg" else None)
    return files


def save(charts: Sequence[Chart | BarChart], json_file: pathlib.Path, columns: int = 1) -> None:
    """Draws the charts beside a result file, under its name without the ending; prints a line if this is impossible."""
    if not can_draw():
        print(MISSING)
        return
    draw(charts, json_file.with_suffix(""), columns)
