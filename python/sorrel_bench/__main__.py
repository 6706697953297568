"""`sorrel bench`: started by the command `sorrel`, which passes its own path."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - the first thing that may fail
    sys.exit("sorrel: bench needs Python 3.11 or newer; set PYTHON to one")

import argparse
import dataclasses
import json
import pathlib
import shutil
import signal
import tempfile
from typing import NoReturn

from . import collectives, graph, machine, mpi, openmp, overlap, partition, programs, report, scaling, smp, suites, throughput, virtual
from .bars import judge, settle
from .disturbance import RUNS
from .experiments import EXPERIMENTS, select
from .implementations import Implementation, install_peers, installed_peers, sorrel, translated
from .measurement import measure
from .runner import Plan
from .studies import command as studies

BENCHES = {
    "probes": "small MPI programs, each timing one operation, with Sorrel and every MPI found",
    "scaling": "operations that programs wait for on 1, 2, 4, ... all cores, with Sorrel and every MPI and OpenMP library found",
    "throughput": "four parallel jobs at once, with Sorrel and every runtime for loops found",
    "partition": "every cut of a cube over ranks, predicted and measured; the planner's published tables",
    "smp": "how cores pass messages: queues, allocation, threads, processes, host MPIs",
    "openmp": "the cost of OpenMP's constructs in programs that are not recompiled, and ranks with OpenMP inside",
    "graph": "the cost of a task of a graph, with Sorrel, oneTBB and Taskflow",
    "mpi": "collectives of every kind, one-sided communication, derived types and files, with Sorrel and every MPI found",
    "collectives": "the sizes at which collectives should change their algorithm on this machine, as a table for the library",
    "virtual": "many ranks on few cores: their cost by grain size, unequal ranks, allocation in every step",
    "overlap": "the share of communication time that a graph hides, over wires between simulated nodes",
    "programs": "MPI programs as distributions ship them: answers, memory and times beside those of the MPI they were built for",
    "suites": "Intel's MPI Benchmarks and OSU's over all sizes, from their sources, with Sorrel and every MPI found, as curves on a page",
    "studies": "every table and figure of five published studies, the published numbers beside, as one page with pictures",
}
OTHERS = {"scaling": scaling, "throughput": throughput, "partition": partition, "smp": smp, "graph": graph, "openmp": openmp, "overlap": overlap,
          "virtual": virtual, "mpi": mpi, "collectives": collectives, "programs": programs, "suites": suites, "studies": studies}  # fmt: skip
PEERS = ("AMPI", "MPICH", "Open MPI")
BUSY_LOAD = 0.5

EPILOG = """\
Measurements are run in turn, Sorrel and its peers A B A B, on the same
cores. Nothing else should run on the machine meanwhile.

Examples:
  sorrel bench probes              about five minutes with all peers
  sorrel bench probes --quick --json out.json
  sorrel bench probes --quick --against OTHER/build/release/bin/sorrel
  sorrel bench probes --only 'pingpong*' --only yield_8
  sorrel bench scaling --json scaling.json
                                   five minutes; draws scaling.svg and
                                   scaling.png
  sorrel bench partition --only 128 --json cuts.json
                                   also draws cuts.svg and cuts.png
  sorrel bench partition --minutes 20 --json cuts.json
                                   the cheapest cases; repeat with
                                   --resume for the rest
  sorrel bench partition --only published
  sorrel bench mpi --only get --only write --ampi DIR
  sorrel bench collectives --table limits.txt
                                   the table of this machine, for
                                   SORREL_TUNING
  sorrel bench virtual --quick     two minutes; small sizes, to see that
                                   it works
  sorrel bench virtual --json virtual.json
                                   fifteen minutes; draws virtual.svg
                                   and virtual.png
  sorrel bench virtual --only cg --rounds 9 --ampi DIR
  sorrel bench virtual --only proxies --proxies ~/proxies
                                   after a clone of LULESH and miniVite
  sorrel bench programs --only lammps --only hpcc
                                   of those that apt has installed
  sorrel bench suites --suites ~/suites
                                   an hour; ~/suites has clones
                                   mpi-benchmarks and
                                   osu-micro-benchmarks;
                                   suites-page/page.html shows all
  sorrel bench suites --suites ~/suites --only Allreduce --quick
  sorrel bench studies             an hour; studies/page.html shows all;
                                   the same command continues after an
                                   interruption
  sorrel bench studies 003 --quick --folder /tmp/cuts
                                   Prieto et al. only, a few minutes
"""
HELP_WIDTH = 72


def refuse(message: str) -> NoReturn:
    print(f"sorrel: {message}", file=sys.stderr)
    sys.exit(2)


class Parser(argparse.ArgumentParser):
    """Reports bad input in one line, as the command does."""

    def error(self, message: str) -> NoReturn:
        refuse(f"bench: {message}; see `sorrel bench --help`")


def help_format(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, width=HELP_WIDTH)


def read_arguments() -> argparse.Namespace:
    parser = Parser(
        prog="sorrel bench", description="Measures Sorrel and its peers.", epilog=EPILOG,
        formatter_class=help_format, allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("name", metavar="NAME", choices=[*BENCHES, "list"], help=f"{', '.join(BENCHES)}; list prints all")
    parser.add_argument("studies", metavar="STUDY", nargs="*", help=f"studies: only these of {', '.join(studies.NUMBERS)}")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write machine, samples and bars to this file")
    parser.add_argument("--peers", action="store_true", help="first install MPICH and Open MPI with apt-get")
    parser.add_argument("--ampi", metavar="DIR", help="folder of AMPI, if ampicc is not in PATH")
    parser.add_argument("--against", metavar="COMMAND", help="probes: only against another build's `sorrel`")
    parser.add_argument("--translated", action="store_true", help="probes: only against the same programs built with Open MPI and MPICH, run by Sorrel")
    parser.add_argument("--only", metavar="PATTERN", action="append", default=[], help="only these experiments; repeatable")
    parser.add_argument(
        "--runtime", metavar="PATTERN", action="append", default=[], help="throughput: only these runtimes; repeatable"
    )
    parser.add_argument(
        "--seconds", type=float, metavar="S", help="throughput: time of the shorter jobs alone (0.7, --quick: 0.15)"
    )
    parser.add_argument("--rounds", type=int, metavar="N", help="how often each program is started (5, --quick: 2)")
    parser.add_argument("--minutes", type=float, metavar="M", help="partition: start no case that would end later; scaling: start no round that would end later (5); virtual: start no later round (15); suites: start no round that would end later (60); studies: of all runs (55, --quick: 4.5)")
    parser.add_argument("--resume", action="store_true", help="partition: keep the cases of --json FILE, run the missing ones")
    parser.add_argument("--proxies", metavar="DIR", type=pathlib.Path, help="virtual: folder with clones of LULESH and miniVite")
    parser.add_argument("--suites", metavar="DIR", type=pathlib.Path, help="suites: folder with clones of mpi-benchmarks and osu-micro-benchmarks")
    parser.add_argument("--table", metavar="FILE", type=pathlib.Path, help="collectives: write the table of limits to this file; programs: the table in Markdown")
    parser.add_argument("--folder", metavar="DIR", type=pathlib.Path, help="studies: samples, page and pictures (studies; --quick: studies-quick); suites: page and pictures (suites-page)")
    parser.add_argument("--study-build", metavar="SORREL", help="studies: `sorrel` of a build by `cmake --preset study`, for the steps of 004")
    parser.add_argument("--again", action="store_true", help="studies: discard the samples in the folder")
    parser.add_argument("--command", help=argparse.SUPPRESS, default="sorrel")
    return parser.parse_intermixed_args()


def print_list() -> None:
    for name, summary in BENCHES.items():
        print(f"{name:<12}{summary}")
        if name == "probes":
            for experiment in EXPERIMENTS:
                print(f"  {experiment.name:<28}{experiment.title}")
        elif name == "studies":
            print(f"  studies: {', '.join(f'{number} {title}' for number, title in studies.TITLES.items())}")
        else:
            print(f"  parts for --only: {', '.join(OTHERS[name].PARTS)}")


def quoted(words: list[str]) -> str:
    return " or ".join(f"'{word}'" for word in words)


def check(arguments: argparse.Namespace) -> None:
    """All errors of the arguments are found before the first measurement."""
    if arguments.name in ("partition", "scaling", "smp", "graph", "openmp", "overlap", "virtual", "mpi", "collectives", "programs", "suites"):
        parts = OTHERS[arguments.name].PARTS
        if unknown := [part for part in arguments.only if part not in parts]:
            refuse(f"bench: {arguments.name} has no part called {quoted(unknown)}; it has {', '.join(parts)}")
    elif arguments.name == "throughput":
        if not any(throughput.is_wanted(arguments, part) for part in throughput.PARTS):
            refuse(f"bench: throughput has no part called {quoted(arguments.only)}; it has {', '.join(throughput.PARTS)}")
    elif arguments.name != "studies" and not select(arguments.only):
        refuse(f"bench: no experiment is called {quoted(arguments.only)}; see `sorrel bench list`")
    check_studies(arguments)
    if arguments.rounds is not None and not 1 <= arguments.rounds <= 1000:
        refuse("bench: --rounds must be a number from 1 to 1000")
    if arguments.seconds is not None and not 0.02 <= arguments.seconds <= 60:
        refuse("bench: --seconds must be a number from 0.02 to 60")
    if arguments.minutes is not None and not 0 < arguments.minutes <= 1440:
        refuse("bench: --minutes must be a number above 0, up to 1440")
    if arguments.resume and arguments.json is None:
        refuse("bench: --resume needs the file of --json")
    if arguments.ampi is not None and not (arguments.ampi and pathlib.Path(arguments.ampi).is_dir()):
        refuse(f"bench: --ampi must be a folder, not '{arguments.ampi}'")
    if arguments.proxies is not None and not arguments.proxies.is_dir():
        refuse(f"bench: --proxies must be a folder, not '{arguments.proxies}'")
    if arguments.against is not None and (arguments.name != "probes" or shutil.which(arguments.against) is None):
        refuse(f"bench: --against needs probes and the `sorrel` of another build, not '{arguments.against}'")
    if arguments.study_build is not None and (arguments.name != "studies" or shutil.which(arguments.study_build) is None):
        refuse(f"bench: --study-build needs studies and the `sorrel` of a build by `cmake --preset study`, not '{arguments.study_build}'")
    if arguments.study_build is not None:
        # The programs run in another folder.
        arguments.study_build = str(pathlib.Path(shutil.which(arguments.study_build)).resolve())
    if arguments.table is not None and arguments.name not in ("collectives", "programs"):
        refuse("bench: --table is for collectives and programs only")
    for file in (arguments.json, arguments.table):
        if file is None:
            continue
        try:
            file.open("a").close()
        except OSError as error:
            refuse(f"bench: cannot write {file}: {error.strerror}")
    if arguments.peers and (error := install_peers()):
        refuse(f"bench: {error}")


def check_studies(arguments: argparse.Namespace) -> None:
    if arguments.name != "studies":
        if arguments.studies:
            refuse(f"bench: {arguments.name} takes no argument {quoted(arguments.studies)}; see `sorrel bench --help`")
        if arguments.again or (arguments.folder is not None and arguments.name != "suites"):
            refuse("bench: --folder is for studies and suites only, --again for studies")
        check_suites(arguments)
        return
    if unknown := [number for number in arguments.studies if number not in studies.NUMBERS]:
        refuse(f"bench: there is no study {quoted(unknown)}; there are {', '.join(studies.NUMBERS)}")
    if arguments.json is not None or arguments.resume or arguments.only:
        refuse("bench: studies writes to --folder DIR and continues by itself; --json, --resume and --only are for other benchmarks")
    if error := studies.missing_modules():
        refuse(error)
    if arguments.folder is None:
        arguments.folder = pathlib.Path("studies-quick" if arguments.quick else "studies")
    try:
        arguments.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        refuse(f"bench: cannot make {arguments.folder}: {error.strerror}")


def check_suites(arguments: argparse.Namespace) -> None:
    if arguments.name != "suites":
        if arguments.suites is not None:
            refuse("bench: --suites is for suites only")
        return
    if arguments.suites is None or not suites.found_suites(arguments.suites):
        wanted = " or ".join(dict.fromkeys(suite.folder for suite in suites.SUITES))
        refuse(f"bench: suites needs --suites DIR, a folder with {wanted}")
    arguments.folder = arguments.folder or pathlib.Path("suites-page")


def others(arguments: argparse.Namespace) -> list[Implementation]:
    if arguments.against is not None:
        return [dataclasses.replace(sorrel(arguments.against), name="other")]
    if arguments.translated:
        return translated(arguments.command)
    return installed_peers(arguments.command, arguments.ampi)


def make_plan(arguments: argparse.Namespace, folder: pathlib.Path, real_time_priority: int) -> Plan:
    cpus = machine.distinct_cores()
    experiments = [e for e in select(arguments.only) if e.workers <= len(cpus)]
    left_out = len(select(arguments.only)) - len(experiments)
    if left_out:
        print(f"Skipped: {left_out} experiments that need 2 cores; this process may use {len(cpus)}.")
    return Plan(
        experiments=experiments,
        implementations=[sorrel(arguments.command), *others(arguments)],
        rounds=arguments.rounds or (2 if arguments.quick else 5),
        series_seconds=0.05 if arguments.quick else 0.15,
        cpus=cpus,
        folder=folder,
        real_time_priority=real_time_priority,
    )


def probes(arguments: argparse.Namespace) -> int:
    facts = machine.describe()
    print(f"{facts['processor']}, {len(facts['cpus_allowed'])} of {facts['cpus']} CPUs, Linux {facts['kernel']}")
    if facts["load_before"] > BUSY_LOAD:
        print(f"The machine is busy (load {facts['load_before']:.1f}): expect figures that are too high.")
    if facts["real_time_priority"]:
        machine.raise_priority()
        print("Real-time priority: MPIs whose ranks are processes are skipped where these outnumber the cores.")
    with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as folder:
        plan = make_plan(arguments, pathlib.Path(folder), facts["real_time_priority"])
        print("MPIs: " + ", ".join(f"{i.name} {i.version}" for i in plan.implementations), flush=True)
        runner = measure(plan)
    facts |= machine.after_runs()
    if arguments.against is not None:
        report.print_samples(runner)
        report.print_failures(runner, [])
        return 1 if runner.troubles else 0
    missing = [name for name in PEERS if all(i.name != name for i in plan.implementations)]
    # A part of the experiments has no samples for the other bars.
    bars = [bar for bar in judge(runner.samples) if not arguments.only or bar.value is not None]
    doubts = settle(bars, [judge(runner.samples.half(which)) for which in (0, 1)], RUNS.foreign_share)
    report.print_samples(runner)
    report.print_bars(bars)
    report.print_failures(runner, missing)
    report.print_end(doubts)
    if arguments.json is not None:
        result = report.as_json(runner, bars, facts, missing)
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 1 if any(error.implementation == "Sorrel" for error in runner.troubles) else 0


def main() -> int:
    arguments = read_arguments()
    if arguments.name == "list":
        print_list()
        return 0
    check(arguments)
    # On SIGTERM the command exits regularly: it leaves no process behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return OTHERS[arguments.name].main(arguments) if arguments.name in OTHERS else probes(arguments)
    except KeyboardInterrupt:
        print("\nsorrel: bench: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
