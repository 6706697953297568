"""The command `sorrel bench studies`."""

import argparse
import importlib.util
import json
import pathlib
import shlex
import sys
import time

from .. import machine, pictures, report
from ..implementations import installed_peers, sorrel
from ..virtual_runs import Programs

NEEDED = ("numpy", "scipy", "matplotlib")
TITLES = {
    "000": "AMPI, ranks as threads", "001": "Sorensen and Baden, task graphs", "002": "McDonald, dynamic threads",
    "003": "Prieto, Llorente and Tirado, partitioning", "004": "Mei, message layers", "beyond": "more cores and nodes, simulated",
}  # fmt: skip
NUMBERS = tuple(TITLES)
ROUNDS, QUICK_ROUNDS = 7, 1
MINUTES, QUICK_MINUTES = 55, 4.5


def missing_modules() -> str:
    """An error that names what this Python lacks, or nothing."""
    lacking = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if not lacking:
        return ""
    return f"bench: studies needs {' and '.join(lacking)}: python3 -m pip install {' '.join(lacking)} (PYTHON=... selects the interpreter)"


def modules_of(numbers: list[str]) -> list:
    from . import ampi, beyond, dynamic_threads, message_layer, partitioning, thyme  # noqa: PLC0415 - they need numpy and scipy

    every = (ampi, thyme, dynamic_threads, partitioning, message_layer, beyond)
    return [module for module in every if not numbers or module.NUMBER in numbers]


def main(arguments: argparse.Namespace) -> int:
    from . import samples  # noqa: PLC0415
    from .setting import Setting  # noqa: PLC0415

    began = time.monotonic()
    modules = modules_of(arguments.studies)
    facts = machine.describe()
    cpus = machine.distinct_cores()
    print(f"{facts['processor']}, {len(facts['cpus_allowed'])} of {facts['cpus']} CPUs, Linux {facts['kernel']}")
    folder = arguments.folder
    head = {"format": samples.FORMAT, "build": samples.build_of(arguments.command), "options": {"quick": arguments.quick}, "cpus": len(cpus), "machine": facts}
    store = samples.Store(folder / "samples.jsonl", head)
    if error := store.open(is_resumed=not arguments.again):
        print(f"sorrel: bench: {error}", file=sys.stderr)
        return 2
    if store.rounds:
        print(f"Continues {folder}: {sum(map(len, store.rounds.values()))} runs are kept (--again discards them).")
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    own, peers = sorrel(arguments.command), installed_peers(arguments.command, arguments.ampi)
    light = [own, *(i for i in peers if i.has_light_ranks)]
    setting = Setting(arguments.command, light, len(cpus), arguments.quick, Programs(programs.resolve()), cpus=cpus, store=store,
                      peers=[i for i in peers if not i.has_light_ranks], study_command=arguments.study_build)  # fmt: skip
    # Each study on its own number of processors.
    settings = [setting.limited_to(module.PROCESSORS) for module in modules]
    builds = {build.name: build for module, limited in zip(modules, settings, strict=True) for build in module.builds(limited)}
    setting.programs.build(list(builds.values()), len(cpus))
    rows = [row for module, limited in zip(modules, settings, strict=True) for row in module.rows(limited)]
    minutes = arguments.minutes or (QUICK_MINUTES if arguments.quick else MINUTES)
    budget = samples.Budget(arguments.rounds or (QUICK_ROUNDS if arguments.quick else ROUNDS), began + 60 * minutes - store.spent, 0 if arguments.quick else samples.REPEATS_MAX)
    schedule = samples.Schedule(rows, store, budget)
    schedule.run()
    facts = store.head["machine"] | machine.after_runs() | {"other_work": store.share_of(*store.rounds)}
    given = [*(["--quick"] if arguments.quick else []), *(["--ampi", "DIR"] if arguments.ampi else []),
             *(["--study-build", "SORREL"] if arguments.study_build else [])]  # fmt: skip
    command = shlex.join(["sorrel", "bench", "studies", *arguments.studies, *given])
    troubles = [*setting.programs.troubles, *(f"{', '.join(key)}: {text}" for key, text in store.troubles.items())]
    show([result_of(module, store, limited) for module, limited in zip(modules, settings, strict=True)], facts, command, folder)
    report.print_gaps([f"no time was left for {row}" for row in sorted(schedule.left_out)], troubles)
    print(f"\n{folder / 'page.html'} has the tables and pictures, {folder / 'results.json'} the numbers.")
    return 1 if any(is_own(text) for text in troubles) else 0


def is_own(trouble: str) -> bool:
    """Whether a failure is Sorrel's: the runs of other MPIs may fail."""
    return not any(f", {name}" in trouble.split(":")[0] for name in ("AMPI", "MPICH", "Open MPI", "libgomp"))


def result_of(module, store, setting):
    from .results import Result, processors_text  # noqa: PLC0415

    return Result(module.NUMBER, module.TITLE, module.SOURCE, module.tables(store, setting), module.figures(store, setting),
                  module.claims(store, setting), module.missing(setting), processors_text(setting.cpus, module.PROCESSORS))  # fmt: skip


def show(results: list, facts: dict, command: str, folder: pathlib.Path) -> None:
    """Prints the results and writes the pictures, results.json and page.html."""
    from . import page  # noqa: PLC0415
    from .results import print_result, result_as_json  # noqa: PLC0415

    drawn = {}
    for result in results:
        print_result(result)
        for figure in result.figures:
            if files := pictures.draw(figure.charts, folder / figure.name, figure.columns):
                drawn[figure.name] = files[0]
    told = {"benchmark": "studies", "command": command, "machine": facts, "studies": [result_as_json(result) for result in results]}
    (folder / "results.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    page.write(folder / "page.html", results, facts, command, drawn, "" if pictures.can_draw() else pictures.MISSING)
