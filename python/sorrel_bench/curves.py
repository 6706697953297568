"""Charts of curves as SVG: linear or logarithmic axes with labels and units, a legend, spread, and single marks."""

import dataclasses
import html
import math
from collections.abc import Callable, Sequence

WIDTH, HEIGHT = 520, 300  # of the area inside the axes
LEFT, TOP, BOTTOM, LEGEND = 78, 48, 62, 250
COLOURS = ("#1b6ca8", "#d95f02", "#1b9e77", "#7b5ea7", "#c2a000", "#c03a6b", "#666666", "#4aa3c7", "#8c564b")
LOG_MULTIPLES = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 6, 8), (1, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9))
LETTER = 6.4  # mean width of a letter of 12 px


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
    x_ticks: Sequence[float] = ()  # none: chosen by the range
    note: str = ""

    def values(self, axis: str) -> list[float]:
        found = [getattr(item, axis) for line in self.lines for item in line.points]
        found += [getattr(mark, axis) for mark in self.marks]
        if axis == "y":
            found += [end for line in self.lines for p in line.points for end in (p.low, p.high) if end is not None]
        return found


def label_of(value: float) -> str:
    """A number as people write it: 0.05, 1.5, 20, 1000, 100 000."""
    if value == 0:
        return "0"
    text = f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    if "e" in text:
        text = f"{value:.10f}".rstrip("0")
    return f"{int(text):,}".replace(",", " ") if text.lstrip("-").isdigit() and abs(value) >= 10000 else text


def log_ticks(low: float, high: float) -> list[float]:
    """Round multiples of powers of ten in the range: the sparsest choice that has at least four."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    slack = 1e-9
    within: list[float] = []
    for multiples in LOG_MULTIPLES:
        ticks = [float(f"{m * 10.0**p:.6g}") for p in powers for m in multiples]
        within = [tick for tick in ticks if low * (1 - slack) <= tick <= high * (1 + slack)]
        if len(within) >= 4:
            break
    return within


def linear_ticks(low: float, high: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten; between four and ten."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def bounds(values: Sequence[float], is_log: bool) -> tuple[float, float]:
    """The range of an axis, with a margin. A linear one begins at 0 if it has no negative value."""
    low, high = min(values), max(values)
    if is_log:
        margin = max((high / low) ** 0.05, 1.1)
        return low / margin, high * margin
    if low >= 0:
        return 0.0, high * 1.08 if high > 0 else 1.0
    margin = 0.08 * (high - low)
    return low - margin, high + margin


def scale(low: float, high: float, is_log: bool, start: float, end: float) -> Callable[[float], float]:
    """The function from values to positions."""
    if is_log:
        low, high = math.log(low), math.log(high)
        return lambda value: start + (math.log(value) - low) / (high - low) * (end - start)
    return lambda value: start + (value - low) / (high - low) * (end - start)


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{html.escape(text)}</text>'


def _wrapped(text: str, letters: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= letters:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _axes(chart: Chart, x: Callable[[float], float], y: Callable[[float], float], ranges: tuple) -> list[str]:
    (x_low, x_high), (y_low, y_high) = ranges
    right, bottom = LEFT + WIDTH, TOP + HEIGHT
    parts = [f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#444"/>',
             _text(LEFT, 24, chart.title, 'font-size="15" font-weight="bold"')]  # fmt: skip
    x_ticks = chart.x_ticks or (log_ticks if chart.is_log_x else linear_ticks)(x_low, x_high)
    for value in x_ticks:
        parts.append(f'<line x1="{x(value):.1f}" y1="{TOP}" x2="{x(value):.1f}" y2="{bottom}" stroke="#e4e4e4"/>')
        parts.append(_text(x(value), bottom + 18, label_of(value), 'text-anchor="middle"'))
    for value in (log_ticks if chart.is_log_y else linear_ticks)(y_low, y_high):
        parts.append(f'<line x1="{LEFT}" y1="{y(value):.1f}" x2="{right}" y2="{y(value):.1f}" stroke="#e4e4e4"/>')
        parts.append(_text(LEFT - 7, y(value) + 4, label_of(value), 'text-anchor="end"'))
    middle = TOP + HEIGHT / 2
    parts.append(_text(LEFT + WIDTH / 2, bottom + 40, chart.x_label, 'text-anchor="middle"'))
    parts.append(_text(20, middle, chart.y_label, f'text-anchor="middle" transform="rotate(-90 20 {middle})"'))
    return parts


def _line(line: Line, colour: str, x: Callable[[float], float], y: Callable[[float], float]) -> list[str]:
    path = " ".join(f"{x(p.x):.1f},{y(p.y):.1f}" for p in line.points)
    dash = ' stroke-dasharray="6 4"' if line.is_dashed else ""
    parts = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>']
    for p in line.points:
        if p.low is not None and p.high is not None:
            parts.append(f'<line x1="{x(p.x):.1f}" y1="{y(p.low):.1f}" x2="{x(p.x):.1f}" y2="{y(p.high):.1f}" stroke="{colour}"/>')
        if not line.is_dashed:
            parts.append(f'<circle cx="{x(p.x):.1f}" cy="{y(p.y):.1f}" r="3" fill="{colour}"/>')
    return parts


def _cross(x: float, y: float, colour: str) -> str:
    return f'<path d="M{x - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10" stroke="{colour}" stroke-width="2.5" fill="none"/>'


def _legend(items: Sequence[tuple[str, str]], note: str) -> list[str]:
    """Names beside the symbols, from the top; then the note."""
    left, top = LEFT + WIDTH + 16, TOP + 8
    letters = int((LEGEND - 40) / LETTER)
    parts = []
    for symbol, name in items:
        parts.append(symbol.format(x=left, end=left + 22, middle=left + 11, y=top))
        for text in _wrapped(name, letters):
            parts.append(_text(left + 30, top + 4, text))
            top += 16
        top += 3
    for text in _wrapped(note, letters + 5):
        top += 15
        parts.append(_text(left, top, text, 'fill="#555" font-size="11"'))
    return parts


def _chart(chart: Chart) -> str:
    ranges = (bounds(chart.values("x"), chart.is_log_x), bounds(chart.values("y"), chart.is_log_y))
    x = scale(*ranges[0], chart.is_log_x, LEFT, LEFT + WIDTH)
    y = scale(*ranges[1], chart.is_log_y, TOP + HEIGHT, TOP)
    parts = _axes(chart, x, y, ranges)
    items = []
    for i, line in enumerate(chart.lines):
        colour = COLOURS[i % len(COLOURS)]
        parts += _line(line, colour, x, y)
        dash = ' stroke-dasharray="6 4"' if line.is_dashed else ""
        items.append((f'<line x1="{{x}}" y1="{{y}}" x2="{{end}}" y2="{{y}}" stroke="{colour}" stroke-width="2"{dash}/>', line.name))
    for mark in chart.marks:
        parts.append(_cross(x(mark.x), y(mark.y), "black"))
        items.append(('<path d="M{middle} {y}m-5 -5l10 10m0 -10l-10 10" stroke="black" stroke-width="2.5"/>', mark.name))
    return "\n".join(parts + _legend(items, chart.note))


def picture(charts: Sequence[Chart]) -> str:
    """One SVG with the charts below each other. Charts without a value are left out; "" if none is left."""
    shown = [chart for chart in charts if chart.values("y")]
    if not shown:
        return ""
    height = TOP + HEIGHT + BOTTOM
    width = LEFT + WIDTH + LEGEND
    bodies = [f'<g transform="translate(0 {i * height})">\n{_chart(chart)}\n</g>' for i, chart in enumerate(shown)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height * len(shown)}" '
        f'viewBox="0 0 {width} {height * len(shown)}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(bodies) + "\n</svg>\n"
    )
