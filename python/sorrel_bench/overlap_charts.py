"""The figure of overlap: GFLOP/s of the four variants over wires, a chart for each mesh, and the hidden share."""

import statistics
from collections.abc import Mapping, Sequence

from .pictures import BarChart, Bars, Point

VARIANTS = ("ideal", "base", "olap", "graph")

Rates = Mapping[str, float]  # of a variant


def hidden(seconds: Rates) -> float | None:
    """The hidden share; None if blocking messages cost less than two per cent, because then it is meaningless."""
    exposed = seconds["base"] - seconds["ideal"]
    return (seconds["base"] - seconds["graph"]) / exposed if exposed > 0.02 * seconds["ideal"] else None


def shares(runs: Mapping[str, Sequence[float]]) -> str:
    """The hidden share by the least seconds and by the medians: "86 % / 75 %"."""
    found = (hidden({variant: choose(times) for variant, times in runs.items()}) for choose in (min, statistics.median))
    return " / ".join("-" if share is None else f"{100 * share:.0f} %" for share in found)


def charts(title: str, meshes: Mapping[str, Mapping[str, Rates]]) -> list[BarChart]:
    """GFLOP/s by mesh, wire and variant; a chart for each mesh."""
    found = []
    for mesh, wires in meshes.items():
        groups = []
        for wire, rates in wires.items():
            share = hidden({variant: 1 / rate for variant, rate in rates.items()})
            hint = "" if share is None else f"\n{100 * share:.0f} % hidden" if share >= 0 else "\nslower than BASE"
            groups.append(wire.replace(" ", "\n", 1) + hint)
        bars = [Bars(variant.upper(), [Point(0, rates[variant]) for rates in wires.values()]) for variant in VARIANTS]
        found.append(BarChart(f"{title}: {mesh}", "GFLOP/s", groups, bars))
    return found
