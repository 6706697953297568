#!/usr/bin/env python3
"""Report include cycles between units below src/ that are larger than layers.toml allows.

    check_units.py [ROOT]

A unit is a stem: its .cpp and .hpp taken together. A .cpp file that includes a header of a higher unit closes a cycle that
include guards hide and that a check of headers does not see. Prints one line for each cycle that is too large, with its
units; exit status 1 if there is any.
"""

import pathlib
import sys
import tomllib

from check_layers import QUOTED_INCLUDE, SOURCE_ENDINGS, module_of

DEFAULT_CYCLE_MAX = 3

Graph = dict[str, set[str]]


def unit_of(path: str) -> str:
    return path.rsplit(".", 1)[0]


def read_units(root: pathlib.Path) -> Graph:
    """The units that each unit includes."""
    sources = root / "src"
    units: Graph = {}
    for path in sorted(sources.rglob("*")):
        if path.suffix not in SOURCE_ENDINGS:
            continue
        included = units.setdefault(unit_of(path.relative_to(sources).as_posix()), set())
        for line in path.read_text(encoding="utf-8").splitlines():
            match = QUOTED_INCLUDE.match(line)
            if match and (sources / match[1]).is_file():
                included.add(unit_of(match[1]))
    return units


def cycles(units: Graph) -> list[list[str]]:
    """Strongly connected components of more than one unit (Tarjan 1972), the largest first."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(unit: str) -> None:
        order[unit] = low[unit] = len(order)
        stack.append(unit)
        for target in units.get(unit, set()):
            if target not in order:
                visit(target)
                low[unit] = min(low[unit], low[target])
            elif target in stack:
                low[unit] = min(low[unit], order[target])
        if low[unit] == order[unit]:
            component = stack[stack.index(unit) :]
            del stack[len(stack) - len(component) :]
            if len(component) > 1:
                found.append(sorted(component))

    sys.setrecursionlimit(max(sys.getrecursionlimit(), 2 * len(units) + 1000))
    for unit in sorted(units):
        if unit not in order:
            visit(unit)
    return sorted(found, key=len, reverse=True)


def check(root: pathlib.Path) -> list[str]:
    table = tomllib.loads((root / "layers.toml").read_text(encoding="utf-8"))
    allowed = table.get("cycle_max", {})
    faults = []
    for cycle in cycles(read_units(root)):
        module = module_of(cycle[0] + ".cpp", table["may_include"])
        most = allowed.get(module, DEFAULT_CYCLE_MAX)
        if len(cycle) > most:
            faults.append(f"src/{module}: {len(cycle)} units include each other, at most {most} may: {', '.join(cycle)}")
    return faults


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print(*(found or ["units: no include cycle is larger than layers.toml allows"]), sep="\n")
    sys.exit(1 if found else 0)
