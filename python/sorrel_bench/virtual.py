"""`sorrel bench virtual`: many ranks on few cores, as in the published study of AMPI: conjugate gradients with 1 to 4096 ranks, finite
elements with 1 to 64 chunks a worker; and what moves ranks and allocates for them.

The study's figures are curves; its text has the numbers used here.
"""

import json
import pathlib
import tempfile
import time
from collections.abc import Callable

from . import machine, pictures, report, virtual_cg, virtual_fem, virtual_proxies, virtual_ranks
from .bars import OWN, Bar, settle
from .disturbance import RUNS
from .implementations import installed_peers, sorrel
from .virtual_runs import Budget, Case, Programs, Results, run_cases
from .virtual_setting import AMPI_BALANCERS, BALANCES, Setting, accepted_balances

CASES: dict[str, Callable[[Setting], list[Case]]] = {
    virtual_cg.PART: virtual_cg.cases,
    virtual_cg.COUNT: virtual_cg.count_cases,
    virtual_ranks.HEAP: virtual_ranks.heap_cases,
    virtual_ranks.ALLOCATE: virtual_ranks.allocate_cases,
    virtual_proxies.PART: virtual_proxies.cases,
    virtual_ranks.IMBALANCE: virtual_ranks.imbalance_cases,
    virtual_fem.PART: virtual_fem.cases,
    virtual_fem.ZONE: lambda setting: virtual_fem.zone_cases(setting, virtual_fem.ZONE),
    virtual_fem.EVEN: lambda setting: virtual_fem.zone_cases(setting, virtual_fem.EVEN),
}
PARTS = tuple(CASES)
MODULES = {
    virtual_cg: (virtual_cg.PART, virtual_cg.COUNT),
    virtual_ranks: (virtual_ranks.HEAP, virtual_ranks.ALLOCATE, virtual_ranks.IMBALANCE),
    virtual_proxies: (virtual_proxies.PART,),
    virtual_fem: (virtual_fem.PART, virtual_fem.ZONE, virtual_fem.EVEN),
}
# The table over grain size has the counts beside the times.
TOGETHER = {virtual_cg.PART, virtual_cg.COUNT}
BALANCED = {virtual_ranks.IMBALANCE, virtual_fem.ZONE, virtual_fem.EVEN}
ROUNDS, QUICK_ROUNDS, STARTS, MINUTES, QUICK_MINUTES = 5, 1, 2, 15, 2
PEERS = ("AMPI", "MPICH", "Open MPI")


def parts_of(arguments) -> list[str]:
    wanted = set(arguments.only or PARTS)
    if wanted & TOGETHER:
        wanted |= TOGETHER
    return [part for part in PARTS if part in wanted]


def prepare(arguments, folder: pathlib.Path, parts: list[str], cpus: list[int]) -> Setting:
    """Builds what the parts need."""
    implementations = [sorrel(arguments.command), *installed_peers(arguments.command, arguments.ampi)]
    setting = Setting(arguments.command, implementations, len(cpus), arguments.quick, Programs(folder))
    setting.proxies = arguments.proxies and arguments.proxies.resolve()
    print("MPIs: " + ", ".join(f"{i.name} {i.version}" for i in implementations), flush=True)
    modules = [module for module, of in MODULES.items() if set(of) & set(parts)]
    if virtual_fem in modules and not arguments.quick:
        setting.mesh = virtual_fem.make_mesh(folder)
        print(f"Mesh: {'the plate of apps/fem, by gmsh' if setting.mesh else 'a box; gmsh is not installed'}", flush=True)
    # A program of Sorrel shows which values --balance has; one program serves all parts of finite elements.
    needed = {*parts, *([virtual_fem.PART] if virtual_fem in modules else ())}
    probe = f"imbalance {OWN}" if BALANCED & set(parts) else ""
    builds = [b for module in MODULES for b in module.builds(setting) if b.part in needed or b.name == probe]
    setting.programs.build(builds, len(cpus))
    if program := setting.programs.path(probe):
        setting.balances = accepted_balances(arguments.command, program, folder)
        print("Values of --balance: " + (", ".join(setting.balances) or f"none of {', '.join(BALANCES)} in this build"), flush=True)
    return setting


def bars_of(results: Results, setting: Setting, parts: list[str]) -> list[Bar]:
    found = [bar for module, of in MODULES.items() if set(of) & set(parts) for bar in module.bars(results, setting)]
    return [bar for bar in found if bar.value is not None]


def charts_of(results: Results, setting: Setting) -> list[pictures.Chart]:
    return [*virtual_cg.charts(results, setting), *virtual_fem.charts(results, setting)]


def missing_of(setting: Setting, parts: list[str]) -> list[str]:
    names = {i.name for i in setting.implementations}
    proxies = virtual_proxies.missing(setting) if virtual_proxies.PART in parts else []
    return [*(name for name in PEERS if name not in names), *proxies]


def main(arguments) -> int:
    facts = machine.describe()
    cpus, parts = machine.distinct_cores(), parts_of(arguments)
    print(f"{facts['processor']}, {len(facts['cpus_allowed'])} of {facts['cpus']} CPUs, Linux {facts['kernel']}")
    minutes = arguments.minutes or (QUICK_MINUTES if arguments.quick else MINUTES)
    with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as name:
        folder = pathlib.Path(name)
        setting = prepare(arguments, folder, parts, cpus)
        cases = [case for part in parts for case in CASES[part](setting)]
        rounds = arguments.rounds or (QUICK_ROUNDS if arguments.quick else ROUNDS)
        budget = Budget(rounds, 1 if arguments.quick else STARTS, time.monotonic() + 60 * minutes)
        results = run_cases(cases, budget, folder, cpus)
    bars = bars_of(results, setting, parts)
    halves = [bars_of(results.half(which), setting, parts) for which in (0, 1)]
    doubts = settle(bars, halves, RUNS.foreign_share)
    for module, of in MODULES.items():
        if set(of) & set(parts):
            module.print_tables(results, setting)
    report.print_bars(bars)
    troubles = [*setting.programs.troubles, *(f"{', '.join(key)}: {text}" for key, text in results.troubles.items())]
    missing = missing_of(setting, parts)
    report.print_gaps(missing, troubles)
    report.print_end(doubts)
    if arguments.json is not None:
        options = {"quick": arguments.quick, "rounds": rounds, "minutes": minutes, "parts": parts, "workers": setting.workers}
        write(arguments, options, facts | machine.after_runs(), setting, results, bars, missing, troubles)
    return 1 if any(text.startswith("building") or key_is_own(text) for text in troubles) else 0


def key_is_own(text: str) -> bool:
    """Whether a trouble is one of Sorrel's: "part, row, Sorrel ...: message"."""
    return any(f", {name}:" in text.split(" (")[0] for name in (OWN, *(f"{OWN} {b}" for b in BALANCES)))


def write(
    arguments, options: dict, facts: dict, setting: Setting, results: Results, bars: list[Bar], missing: list[str], troubles: list[str]
) -> None:
    result = {
        "benchmark": "virtual", "machine": facts,
        "options": options | {"balances": list(setting.balances), "ampi_balancers": list(AMPI_BALANCERS)},
        "implementations": [{"name": i.name, "version": i.version} for i in setting.implementations],
        "missing": missing, "troubles": troubles, "samples": results.as_json(), "bars": [b.as_json() for b in bars],
    }  # fmt: skip
    arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    pictures.save(charts_of(results, setting), arguments.json)
