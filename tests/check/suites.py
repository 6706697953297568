#!/usr/bin/env python3
"""Runs the programs of a public suite of MPI errors under the checker, and prints a table of what was found.

    suites.py corrbench SORREL MPICC FOLDER MPICH        MPI-CorrBench's micro-benches/0-level (github.com/tudasc/MPI-Corrbench).
                                                         MPICH: the folder test/mpi of its sources, which the correct programs need
    suites.py bugbench SORREL MPICC FOLDER RESULTS       MPI-BugBench or RMARaceBench, with what another tool found: RESULTS is the
                                                         results.csv of an artifact (github.com/tudasc/
                                                         Static-Dynamic-SC-Correctness-2025-Artifact, folder classification-quality)

No suite is part of this repository. A correct program must give no finding, every other one at least one. Programs that do not compile,
and those of which RESULTS says nothing, are left out.
"""
import argparse
import collections
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import typing

CORRBENCH_CATEGORIES = ["pt2pt", "coll", "rma", "usertypes", "datatype"]
TIME_MAX = 60
PUBLISHED = "MUST"
# What MPICH's configure would write.
MPICH_HEADERS = {"mpitestconf.h": "#define HAVE_UNISTD_H 1\n#define HAVE_STDARG_H 1\n#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX\n", "mtest_mpix.h": ""}
MPICH_SOURCES = ["mtest_common.c", "mtest.c", "mtest_single.c"]


class Program(typing.NamedTuple):
    source: pathlib.Path
    category: str
    is_correct: bool
    ranks: int
    published: str = ""  # what the other tool says: TP, TN, FP, FN, TO (not in time), ...


class Counts:
    """Counts of a category, for one tool."""

    def __init__(self):
        self.errors = self.found = self.correct = self.false_alarms = 0

    def add(self, is_correct, has_findings):
        if is_correct:
            self.correct += 1
            self.false_alarms += has_findings
        else:
            self.errors += 1
            self.found += has_findings

    def row(self):
        return f"{self.found} of {self.errors} | {self.false_alarms} of {self.correct}"


def corrbench_programs(folder):
    for source in sorted(folder.rglob("*.c")):
        parts = source.relative_to(folder).parts
        category = next((part for part in parts if part in CORRBENCH_CATEGORIES), None)
        # Programs with OpenMP need threads.
        if category is not None and "openmp" not in parts:
            yield Program(source, category, "correct" in parts, 2)


def bugbench_programs(folder, results):
    with open(results, encoding="utf-8", newline="") as file:
        published = {row[""]: row for row in csv.DictReader(file)}
    for source in sorted(folder.rglob("*.c")):
        row = published.get(source.name)
        if row is None:
            continue
        text = source.read_text(encoding="utf-8")
        is_correct = re.search(r"^\s*\|\s*OK\b|^\s*RACE_KIND:\s*none|-no\.c$", text + source.name, re.MULTILINE) is not None
        ranks = re.search(r"mpirun -np (\d+)|#define PROC_NUM (\d+)", text)
        yield Program(source, row["discipline"], is_correct, int(next(filter(None, ranks.groups()))) if ranks else 2, row[PUBLISHED])


def mpich_words(mpicc, mpich, folder):
    """What compiles programs of MPICH's suite."""
    for name, text in MPICH_HEADERS.items():
        (folder / name).write_text(text, encoding="utf-8")
    includes = ["-I", folder, "-I", mpich / "include"]
    for name in MPICH_SOURCES:
        subprocess.run([mpicc, "-w", "-c", *includes, mpich / "util" / name, "-o", folder / f"{name}.o"], check=True)
    return includes + [folder / f"{name}.o" for name in MPICH_SOURCES]


def check(sorrel, mpicc, words, program, folder):
    """The kinds of findings, and why there is no answer, or ""; nothing for a program that does not compile."""
    executable = folder / "program"
    needs_words = "mpitest" in program.source.read_text(encoding="utf-8", errors="replace")
    command = [mpicc, "-g", "-w", program.source, *(words if needs_words else []), "-o", executable, "-lm"]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        return None
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    command = [sorrel, "run", "-n", str(program.ranks), "--check", "--check-json", report, executable]
    try:
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=TIME_MAX, cwd=folder, check=False)
    except subprocess.TimeoutExpired:
        return [], "not in time"
    if not report.exists():
        return [], f"no report, status {done.returncode}"
    kinds = sorted({finding["kind"] for finding in json.loads(report.read_text(encoding="utf-8"))["findings"]})
    return kinds, "" if kinds or done.returncode == 0 else f"status {done.returncode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=["corrbench", "bugbench"])
    parser.add_argument("sorrel")
    parser.add_argument("mpicc")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("other", metavar="RESULTS|MPICH", type=pathlib.Path)
    options = parser.parse_args()
    is_published = options.suite == "bugbench"
    programs = list(bugbench_programs(options.folder, options.other) if is_published else corrbench_programs(options.folder))
    if not programs:
        parser.error(f"{options.folder} has no programs of {options.suite}")
    own, other = collections.defaultdict(Counts), collections.defaultdict(Counts)
    unexpected = []
    left_out = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        words = [] if is_published else mpich_words(options.mpicc, options.other, folder)
        for index, program in enumerate(programs):
            if sys.stderr.isatty():
                print(f"\r{index + 1} of {len(programs)} ", end="", file=sys.stderr, flush=True)
            checked = check(options.sorrel, options.mpicc, words, program, folder)
            if checked is None:
                left_out += 1
                continue
            kinds, failure = checked
            for category in (program.category, "all"):
                own[category].add(program.is_correct, bool(kinds))
                other[category].add(program.is_correct, program.published.endswith(("TP", "FP")))
            if program.is_correct == bool(kinds) or failure:
                what = ", ".join(filter(None, [*kinds, failure])) or "nothing"
                unexpected.append(f"{program.source.relative_to(options.folder)}: {what}")
    columns = "| Category | `--check`: found | false alarms |" + (f" {PUBLISHED}: found | false alarms |" if is_published else "")
    print(f"{columns}\n|{'---|' * (columns.count('|') - 1)}")
    for category in [*(category for category in own if category != "all"), "all"]:
        print(f"| {category} | {own[category].row()} |" + (f" {other[category].row()} |" if is_published else ""))
    print(f"\n{left_out} programs do not compile. Missed, and false alarms:")
    print("\n".join(unexpected))


if __name__ == "__main__":
    main()
