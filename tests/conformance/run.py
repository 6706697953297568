#!/usr/bin/env python3
"""Runs public MPI test suites with Sorrel, and writes docs/conformance.md.

The suites: mpich (MPICH's test suite, from Debian's source package or --mpich), mpi4py (from PyPI or --mpi4py), imb and osu (Intel's
and OSU's benchmarks with their checks, from folders of built programs: --imb, --osu). Sources, programs and results are kept in a
cache outside of the source tree. A run that is interrupted goes on where it was.

examples:
  run.py --bin build/release/bin mpich                            all chapters, one process
  run.py --bin build/release/bin mpich --chapters coll rma --launch one procs host openmpi
  run.py --bin build/release/bin mpich --match 'coll/allred' --again all
  run.py --bin build/release/bin mpich --launch one mpich-built --chapters pt2pt
  run.py --differences mpich-built openmpi-built                  a table of these launches beside 'one', and the entries that differ
  run.py --bin build/release/bin mpi4py
  run.py --bin build/release/bin osu --osu ~/osu/c/mpi -j 1
  run.py --bin build/release/bin mpich --launch baseline --baseline .venv
  run.py --page docs/conformance.md                               the page, from the results in the cache; runs nothing. The
                                                                  sections of suites without results there stay as they are

exit status: 0 all applicable entries passed, 1 some failed, 2 wrong arguments, 3 a suite cannot be prepared, 130 interrupted
"""
import argparse
import json
import os
import re
import shutil
import sys

import benchmark_suites
import causes as causes_module
import differences
import launch as launches
import mpi4py_suite
import mpich
import page
from process import run_bounded
from runner import Runner
from store import Store, wanted

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SUITES = ("mpich", "imb", "osu", "mpi4py")
CACHE_DEFAULT = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sorrel-conformance")


def parse_arguments(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, prog="run.py")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="of " + ", ".join(SUITES))
    parser.add_argument("--bin", metavar="FOLDER", help="Sorrel's commands (its bin/mpi is searched too); default: PATH")
    parser.add_argument("--cache", metavar="FOLDER", default=CACHE_DEFAULT, help="sources, programs and results; default: %(default)s")
    parser.add_argument("--launch", nargs="+", metavar="NAME", default=["one"],
                        help="of " + ", ".join([*launches.SORREL, launches.BASELINE]) + "; default: one")
    parser.add_argument("--chapters", nargs="+", metavar="CHAPTER", default=[], help="of the suite; default: all")
    parser.add_argument("--match", metavar="REGEX", help="only entries whose key has this regular expression")
    parser.add_argument("--again", choices=("failed", "all"), help="run these though they have a result")
    parser.add_argument("--rebuild", action="store_true",
                        help="configure and build a suite again, after a change of mpi.h or of the Fortran bindings")
    parser.add_argument("--time-limit", metavar="S", type=float, help="at most this for an entry; default: the suite's")
    parser.add_argument("-j", metavar="N", type=int, default=1, help="entries at a time; default: 1")
    parser.add_argument("--mpich", metavar="FOLDER", help="sources of a release of MPICH")
    parser.add_argument("--mpi4py", metavar="FOLDER", help="sources of mpi4py")
    parser.add_argument("--imb", metavar="FOLDER", help="Intel MPI Benchmarks, built with -DCHECK: IMB-MPI1 and so on")
    parser.add_argument("--osu", metavar="FOLDER", help="OSU micro-benchmarks, built")
    parser.add_argument("--baseline", metavar="FOLDER", help="an MPI of the standard ABI, for --launch baseline")
    parser.add_argument("--list", action="store_true", help="print the keys of the entries, and run nothing")
    parser.add_argument("--page", metavar="FILE", help="write the page from the results in the cache")
    parser.add_argument("--differences", nargs="+", metavar="LAUNCH", default=[],
                        help="compare results of these launches of mpich with those of 'one', and run nothing")
    options = parser.parse_args(words)
    if not options.suites and not options.page and not options.differences:
        parser.error("name a suite, or --page FILE, or --differences LAUNCH")
    for name in options.differences:
        if name not in launches.SORREL:
            parser.error(f"{name} is no launch")
    for name in options.suites:
        if name not in SUITES:
            parser.error(f"{name} is no suite; the suites are {', '.join(SUITES)}")
        if name in ("imb", "osu") and not getattr(options, name):
            parser.error(f"{name} needs --{name} FOLDER with its programs")
    if options.j < 1:
        parser.error("-j must be at least 1")
    try:
        options.launch = [launches.find_launch(name, options.baseline) for name in options.launch]
    except (KeyError, ValueError) as error:
        parser.error(str(error) if isinstance(error, ValueError) else f"{error.args[0]} is no launch")
    return options


def open_suite(name, options, compilers):
    if name == "mpich":
        return mpich.Suite(options.cache, options.mpich, compilers)
    if compilers:
        raise mpich.SetupError(f"programs of {name} are not built with the compilers of another MPI")
    if name == "mpi4py":
        return mpi4py_suite.Suite(options.cache, options.mpi4py)
    return benchmark_suites.Suite(name, getattr(options, name))


def find_commands(options):
    """Puts the folder of --bin in front of PATH. Raises SetupError if a command is not there."""
    if options.bin:
        folder = os.path.abspath(options.bin)
        os.environ["PATH"] = os.pathsep.join([os.path.join(folder, "mpi"), folder, os.environ["PATH"]])
    for command in ("sorrel", "mpicc"):
        if not shutil.which(command):
            raise mpich.SetupError(f"PATH finds no {command}; name the folder of Sorrel's commands by --bin")
    for launch in options.launch:
        word = launch.command(1, "", ())[0]
        if not shutil.which(word):
            raise mpich.SetupError(f"the launch '{launch.name}' needs {word}, which PATH does not find")


def library_version():
    """The version of the Sorrel that PATH finds, with its commit."""
    return run_bounded(["sorrel", "--version"], limit_s=60).text.strip()


def results_path(options, suite, launch):
    return os.path.join(options.cache, "results", f"{suite}.{launch}.jsonl")


def prepare_suite(name, options, launch):
    """The suite of a launch, with its programs' makefiles."""
    suite = open_suite(name, options, launch.compilers)
    print(f"{name}: preparing", flush=True)
    if options.rebuild and os.path.commonpath([suite.build, options.cache]) == options.cache:
        shutil.rmtree(suite.build, ignore_errors=True)
    suite.prepare()
    with open(os.path.join(options.cache, "results", name + ".version"), "w", encoding="utf-8") as file:
        json.dump(suite.version, file)
    return suite


def run_suite(name, options, reviewed):
    """Runs a suite in the launches asked for; returns whether an applicable entry failed."""
    has_failed = False
    for launch in options.launch:
        suite = prepare_suite(name, options, launch)
        chapters = options.chapters or (mpich.CHAPTERS if name == "mpich" else ())
        entries = [e for e in suite.entries(chapters) if not options.match or re.search(options.match, e.key)]
        if options.list:
            print("\n".join(entry.key for entry in entries))
            return False
        store = Store(results_path(options, name, launch.name))
        todo = wanted(entries, store.results, options.again)
        print(f"{name}, {launch.title}: {len(todo)} of {len(entries)} entries to run", flush=True)

        def report(number, result, total=len(todo)):
            if result.outcome.group == "failed" or number % 20 == 0 or number == total:
                print(f"[{number}/{total}] {result.outcome.value:18} {result.seconds:6.1f} s  {result.key}", flush=True)

        Runner(suite, launch, time_limit_s=options.time_limit, library=library_version()).run_all(todo, store, options.j, report)
        results = [store.results[entry.key] for entry in entries]
        print("\n".join(page.chapter_table({launch.name: results}, {launch.name: launch.title}, reviewed)), flush=True)
        has_failed |= any(page.group_of(result, reviewed) == "failed" for result in results)
    return has_failed


def write_page(options, reviewed):
    """Writes the page of all results in the cache, and names causes that no failure has.

    A suite without results keeps its section of an existing page.
    """
    titles = {name: title for name, (title, _) in launches.SORREL.items()} | {launches.BASELINE: "MPICH's library"}
    sections, everything, old = [], [], {}
    if os.path.exists(options.page):
        with open(options.page, encoding="utf-8") as file:
            old = page.sections_of(file.read())
    for name in SUITES:
        by_launch = {}
        for launch in titles:
            if os.path.exists(results_path(options, name, launch)):
                by_launch[launch] = list(Store(results_path(options, name, launch)).results.values())
        if by_launch:
            with open(os.path.join(options.cache, "results", name + ".version"), encoding="utf-8") as file:
                sections.append(page.suite_section(name, json.load(file), by_launch, titles, reviewed))
            everything += [result for results in by_launch.values() for result in results]
        elif name in old:
            sections.append(old[name])
    with open(options.page, "w", encoding="utf-8") as file:
        file.write(page.page(sections))
    for cause in causes_module.unused(reviewed, everything):
        print(f"causes.toml: [{cause.name}] matches no failure", file=sys.stderr)


def print_differences(options):
    """Prints the table of the launches beside the results in one process, and the entries that differ."""
    reference = Store(results_path(options, "mpich", "one")).results
    by_launch = {name: Store(results_path(options, "mpich", name)).results for name in options.differences}
    print("\n".join(differences.table(by_launch, reference, {name: title for name, (title, _) in launches.SORREL.items()})))
    for key, launch, outcome in differences.differing(by_launch, reference):
        print(f"{launch}: {key}: {outcome}")


def main(words=None):
    options = parse_arguments(words)
    options.cache = os.path.abspath(options.cache)
    if os.path.commonpath([options.cache, ROOT]) == ROOT:
        print(f"run.py: the cache {options.cache} must be outside of the source tree", file=sys.stderr)
        return 2
    os.makedirs(os.path.join(options.cache, "results"), exist_ok=True)
    with open(os.path.join(HERE, "causes.toml"), encoding="utf-8") as file:
        reviewed = causes_module.parse_causes(file.read())
    try:
        if options.suites:
            find_commands(options)
        failed = [run_suite(name, options, reviewed) for name in options.suites]
        if options.differences:
            print_differences(options)
        if options.page:
            write_page(options, reviewed)
    except mpich.SetupError as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("run.py: interrupted; the same command goes on where it was", file=sys.stderr)
        return 130
    return 1 if any(failed) else 0


if __name__ == "__main__":
    sys.exit(main())
