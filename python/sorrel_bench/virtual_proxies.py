"""Public proxies that allocate in every step, in `sorrel bench virtual --proxies DIR`: DIR has their repositories.

LULESH (LLNL/LULESH, explicit hydrodynamics) allocates and frees arrays of its mesh in every step; miniVite
(ECP-ExaGraph/miniVite, communities of a graph) fills vectors and hash tables in every iteration.
"""

import dataclasses
import pathlib
import re
from collections.abc import Callable

from .bars import OWN, Bar
from .report import number
from .virtual_runs import Build, Case, Results, Values, cxx_of, table
from .virtual_setting import SOURCES, Setting

PART = "proxies"
RANKS = (1, 8)
MOST_OF_AMPI = 0.95


@dataclasses.dataclass(frozen=True)
class Proxy:
    name: str
    folder: str
    sources: str  # a pattern in the folder
    flags: tuple[str, ...]
    arguments: Callable[[int, bool], tuple[str, ...]]  # of ranks and --quick
    time: re.Pattern[str]
    seconds_per_unit: float


def _lulesh(ranks: int, is_quick: bool) -> tuple[str, ...]:
    return ("-s", "30" if ranks == 1 else "20", "-i", "5" if is_quick else "40")


def _minivite(_ranks: int, is_quick: bool) -> tuple[str, ...]:
    return ("-n", "2000" if is_quick else "20000", "-l")


PROXIES = (
    # Its time is that of a zone in a step, of one rank.
    Proxy("LULESH", "LULESH", "lulesh*.cc", ("-DUSE_MPI=1",), _lulesh, re.compile(r"^Grind time \(us/z/c\)\s*=\s*(\S+) \(per dom\)", re.MULTILINE), 1e-6),
    Proxy("miniVite", "miniVite", "main.cpp", ("-std=c++11", "-include", str(SOURCES / "without_files.h")), _minivite,
          re.compile(r"^Average total time \(in s\), #Processes: ([^,\s]+),", re.MULTILINE), 1.0),
)  # fmt: skip


def found(setting: Setting) -> list[Proxy]:
    folder = setting.proxies
    return [p for p in PROXIES if folder is not None and any((folder / p.folder).glob(p.sources))]


def missing(setting: Setting) -> list[str]:
    have = found(setting)
    return [f"{p.name} (--proxies DIR, with DIR/{p.folder})" for p in PROXIES if p not in have]


def row(proxy: Proxy, ranks: int) -> str:
    return f"{proxy.name}, {ranks} rank{'s' if ranks > 1 else ''}"


def reader(proxy: Proxy) -> Callable[[str], Values]:
    def read(output: str) -> Values:
        told = proxy.time.search(output)
        return {"time": float(told[1]) * proxy.seconds_per_unit} if told else {}

    return read


def builds(setting: Setting) -> list[Build]:
    made = []
    for proxy in found(setting):
        sources = tuple(sorted(pathlib.Path(setting.proxies, proxy.folder).glob(proxy.sources)))
        for i in setting.implementations:
            flags = (*proxy.flags, *i.private_globals)
            made.append(Build(f"{proxy.name} {i.name}", PART, cxx_of(i), sources, flags))
    return made


def cases(setting: Setting) -> list[Case]:
    made = []
    for proxy in found(setting):
        for ranks in RANKS:
            for i in setting.implementations:
                job = (f"{proxy.name} {i.name}", proxy.arguments(ranks, setting.is_quick), ranks, min(ranks, setting.workers))
                made += setting.case(PART, row(proxy, ranks), i, job, read=reader(proxy))
    return made


def bars(results: Results, _setting: Setting) -> list[Bar]:
    made = []
    for proxy in PROXIES:
        for ranks in RANKS:
            name = row(proxy, ranks)
            ratio = results.ratio((PART, name, OWN), (PART, name, "AMPI"), "time")
            made.append(Bar(f"{name}: over AMPI", ratio, "x AMPI", "", None, MOST_OF_AMPI, "<= 0.95 x AMPI"))
    return made


def print_tables(results: Results, setting: Setting) -> None:
    columns = results.columns(PART)
    if not columns:
        return
    rows = {}
    for proxy in found(setting):
        for ranks in RANKS:
            name = row(proxy, ranks)
            cells = []
            for column in columns:
                times = (f((PART, name, column), "time") for f in (results.floor, results.median))
                cells += [number(t / proxy.seconds_per_unit) if t else "-" for t in times]
            rows[name] = [*cells, number(results.ratio((PART, name, OWN), (PART, name, "AMPI"), "time"))]
    head = [word for column in columns for word in (column, "median")]
    table("Public proxies: LULESH us for a zone and a step, miniVite s; least and median; Sorrel over AMPI", [*head, "/AMPI"], rows)
