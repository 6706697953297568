"""The figure of overlap: GFLOP/s of the four variants over wires, a row for each mesh, and the hidden share."""

import statistics
from collections.abc import Mapping, Sequence

VARIANTS = ("ideal", "base", "olap", "graph")
COLOURS = {"ideal": "#999999", "base": "#d95f02", "olap": "#7570b3", "graph": "#1b9e77"}
GROUP, BAR, HEIGHT, ROW, LEFT = 140, 28, 130, 210, 24

Rates = Mapping[str, float]  # of a variant


def hidden(seconds: Rates) -> float | None:
    """The hidden share; None if blocking messages cost less than two per cent, because then it is meaningless."""
    exposed = seconds["base"] - seconds["ideal"]
    return (seconds["base"] - seconds["graph"]) / exposed if exposed > 0.02 * seconds["ideal"] else None


def shares(runs: Mapping[str, Sequence[float]]) -> str:
    """The hidden share by the least seconds and by the medians: "86 % / 75 %"."""
    found = (hidden({variant: choose(times) for variant, times in runs.items()}) for choose in (min, statistics.median))
    return " / ".join("-" if share is None else f"{100 * share:.0f} %" for share in found)


def group(left: float, floor: float, top: float, label: str, rates: Rates) -> list[str]:
    """The bars of one wire."""
    parts = []
    for v, variant in enumerate(VARIANTS):
        height = HEIGHT * rates[variant] / top
        x = left + (BAR + 1) * v
        parts.append(f'<rect x="{x}" y="{floor - height:.1f}" width="{BAR}" height="{height:.1f}" fill="{COLOURS[variant]}"/>')
        parts.append(f'<text x="{x + BAR / 2}" y="{floor - height - 4:.1f}" font-size="10" text-anchor="middle">{rates[variant]:.1f}</text>')
    share = hidden({variant: 1 / rate for variant, rate in rates.items()})
    parts.append(f'<text x="{left}" y="{floor + 15}" font-size="11">{label}</text>')
    if share is not None:
        text = f"{100 * share:.0f} % hidden" if share >= 0 else "slower than BASE"
        parts.append(f'<text x="{left}" y="{floor + 29}" font-size="11" fill="#555555">{text}</text>')
    return parts


def picture(title: str, meshes: Mapping[str, Mapping[str, Rates]]) -> str:
    """SVG of GFLOP/s by mesh, wire and variant. Each mesh is scaled to its own best variant."""
    widest = max(len(wires) for wires in meshes.values())
    width, height = max(LEFT + GROUP * widest + LEFT, 480), 44 + ROW * len(meshes)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             f'<text x="{LEFT}" y="20" font-size="14">{title}</text>']  # fmt: skip
    for v, variant in enumerate(VARIANTS):
        x = LEFT + 76 * v
        parts.append(f'<rect x="{x}" y="30" width="10" height="10" fill="{COLOURS[variant]}"/>')
        parts.append(f'<text x="{x + 14}" y="39">{variant.upper()}</text>')
    for m, (mesh, wires) in enumerate(meshes.items()):
        floor = 44 + ROW * m + 168
        top = max(rate for rates in wires.values() for rate in rates.values())
        parts.append(f'<text x="{LEFT}" y="{floor - HEIGHT - 20}" font-weight="bold">{mesh}</text>')
        parts.append(f'<line x1="{LEFT}" y1="{floor}" x2="{LEFT + GROUP * len(wires) - 16}" y2="{floor}" stroke="black"/>')
        for w, (wire, rates) in enumerate(wires.items()):
            parts += group(LEFT + GROUP * w, floor, top, wire, rates)
    return "\n".join([*parts, "</svg>"]) + "\n"
